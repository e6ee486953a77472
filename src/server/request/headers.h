/*
 * headers.h: the headers of a request. The HTTP library accepts two lengths, a length together with
 * a transfer encoding, and malformed names. Such a request is rejected and its connection is
 * closed, because its end is ambiguous (request smuggling).
 */
#ifndef SERVER_HEADERS_H
#define SERVER_HEADERS_H

#include <stdint.h>
#include "base/slice.h"
#include "server/response/response_format.h"

typedef struct headers {
    unsigned hosts, lengths, encodings, authorizations;
    bool bad_name;   /* a header name that is not a token */
    bool bad_length; /* not a plain decimal number */
    bool chunked;    /* the transfer encoding is exactly "chunked" */
    bool expects;    /* the client waits for a 100 before it sends the body */
    bool encoded;    /* the body has a content encoding */
    uint64_t length;
    slice host;
    slice origin;       /* ptr NULL: absent; of several the last */
    slice content_type; /* likewise */
    slice request_id;   /* ptr NULL: absent, or not 1 to 128 visible ASCII characters */
    slice traceparent;
    slice authorization;   /* the last one */
    slice idempotency_key; /* ptr NULL: absent; len 0: given twice, or empty */
    slice if_match;        /* likewise */
    none_match none_match;
    codings codings;  /* Accept-Encoding */
    slice last_event; /* Last-Event-ID */
    slice caller_id;  /* X-Caller-Id; as idempotency_key */
    slice call_id;    /* X-Call-Id; likewise */
    slice lsn;        /* Cardbox-Lsn; likewise */
} headers;

#define HEADERS_INIT ((headers){.codings = CODINGS_INIT})

/* Adds one header. */
void headers_add(headers *h, slice name, slice value);

/* The reason to reject the request, as static text; NULL: its form is correct. */
const char *headers_error(const headers *h, bool is_http11);

/* True if the Content-Type is application/json or application/...+json, with any parameters, or
 * absent. */
bool headers_is_json(const headers *h);

/* True if the Content-Type is application/x-ndjson, with any parameters. */
bool headers_is_ndjson(const headers *h);

/* True if a page of another site sent the request, by its Origin, and it has no token. */
bool headers_is_foreign(const headers *h);

/* True if an Idempotency-Key, X-Caller-Id or X-Call-Id is absent, or 1 to 512 visible ASCII
 * characters and blanks. */
bool headers_is_key(slice value);

/* Reads a Cardbox-Lsn, such as "16/B374D848". False: it is malformed. */
bool headers_read_lsn(slice value, uint64_t *place);

/* The version in an If-Match with one ETag of ours. For `*`, which means any version, it is 0.
 * False: a list, a weak ETag or another text. */
bool headers_read_if_match(slice value, int64_t *version);

#endif

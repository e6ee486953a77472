/*
 * headers.h: the headers of a request. libmicrohttpd 0.9.75 accepts two Content-Length headers, a
 * Content-Length together with a Transfer-Encoding, and malformed header names. The server rejects
 * such a request and closes its connection, because the end of the request may be ambiguous
 * (request smuggling).
 */
#ifndef SERVER_HEADERS_H
#define SERVER_HEADERS_H

#include <stdint.h>
#include "base/slice.h"
#include "server/response/response_format.h"

typedef struct headers {
    unsigned hosts, lengths, encodings, authorizations;
    bool bad_name;   /* a header has a name that is not a token */
    bool bad_value;  /* a header has a value with a control character other than a tab */
    bool bad_length; /* a Content-Length is not a decimal number of at most 18 digits */
    bool chunked;    /* the transfer encoding is exactly "chunked" */
    bool expects;    /* the client waits for the status 100 before it sends the body */
    bool encoded;    /* a Content-Encoding is not "identity" */
    uint64_t length;
    slice host;
    slice origin;       /* ptr NULL: absent; if there are several, the last one */
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

void headers_add(headers *h, slice name, slice value);

/* Returns the reason to reject the request, as static text; NULL: the form of its headers is
 * correct. */
const char *headers_error(const headers *h, bool is_http11);

/* True if the Content-Type is application/json or application/...+json, with any parameters, or
 * absent. */
bool headers_is_json(const headers *h);

/* True if the Content-Type is application/x-ndjson, with any parameters. */
bool headers_is_ndjson(const headers *h);

/* True if a page of another site may have sent the request: it has no Authorization header, and its
 * Origin is not the host and port of its Host header. */
bool headers_is_foreign(const headers *h);

/* True if the value of an Idempotency-Key, X-Caller-Id or X-Call-Id is absent, or has 1 to 512
 * visible ASCII characters and blanks. */
bool headers_is_key(slice value);

/* Reads the value of a Cardbox-Lsn, such as "16/B374D848". Returns false if the value is malformed.
 */
bool headers_read_lsn(slice value, uint64_t *place);

/* Reads the box version in the one ETag of an If-Match. If the value is `*`, which means any
 * version, *version is 0. Returns false for a list, a weak ETag or another text. */
bool headers_read_if_match(slice value, int64_t *version);

#endif

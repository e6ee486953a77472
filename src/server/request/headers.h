/*
 * headers.h: what the header fields of a request say about its form. Closes what the HTTP library
 * leaves open: two lengths, a length beside an encoding, odd encodings and field names. A request
 * whose end is in doubt is refused and its connection closed, or the next one could be smuggled.
 */
#ifndef SERVER_HEADERS_H
#define SERVER_HEADERS_H

#include <stdint.h>
#include "base/slice.h"
#include "server/response/response_format.h"

typedef struct headers {
    unsigned hosts, lengths, encodings, authorizations;
    bool bad_name;   /* a field name that is no token */
    bool bad_length; /* no plain decimal number */
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
    codings codings;  /* that are accepted */
    slice last_event; /* Last-Event-ID */
    slice caller_id;  /* X-Caller-Id; as idempotency_key */
    slice call_id;    /* X-Call-Id; likewise */
    slice lsn;        /* Cardbox-Lsn; likewise */
} headers;

#define HEADERS_INIT ((headers){.codings = CODINGS_INIT})

/* Takes one field into account. */
void headers_add(headers *h, slice name, slice value);

/* Why a request of this form is refused, as static text; NULL: it is not. */
const char *headers_error(const headers *h, bool is_http11);

/* application/json or application/anything+json, whatever its parameters; or nothing. */
bool headers_is_json(const headers *h);

/* application/x-ndjson, whatever its parameters. */
bool headers_is_ndjson(const headers *h);

/* Whether the request comes from a page of another site, in a browser that lends it no token:
 * nobody at the browser has asked for it. */
bool headers_is_foreign(const headers *h);

/* Whether an Idempotency-Key or its like is one, or absent: 1 to 512 visible ASCII characters and
 * blanks. */
bool headers_is_key(slice value);

/* The place in the database's log that a Cardbox-Lsn names, as "16/B374D848". False: none. */
bool headers_read_lsn(slice value, uint64_t *place);

/* The version that an If-Match names: "<version>-..." gives it, * is any that exists and gives 0.
 * False: a list, a weak tag or none of ours. */
bool headers_read_if_match(slice value, int64_t *version);

#endif

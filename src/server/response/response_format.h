/*
 * response_format.h: ETags and If-None-Match, and the choice of the content coding. Knows no HTTP
 * library.
 */
#ifndef SERVER_RESPONSE_FORMAT_H
#define SERVER_RESPONSE_FORMAT_H

#include <stdint.h>
#include "base/slice.h"

/* Maximum bytes of an ETag with version, hash and coding, its quotes and a NUL. */
#define ETAG_SIZE 72

/* Writes a strong ETag of a text: "HASH" if version is 0, else "VERSION-HASH". */
void etag_make(char out[ETAG_SIZE], slice text, int64_t version);

/* Changes an ETag to that of the compressed body, which ends in "-gz". */
void etag_mark_gzip(char etag[ETAG_SIZE]);

/* True if the value of an If-None-Match is `*` or contains `etag`, with or without the mark of
 * gzip. */
bool etag_list_has(slice list, const char *etag);

/* Writes the ETag of a card's JSON, made from the card's etag. `varies`: clients that accept gzip
 * get the JSON compressed. The ETag contains `varies`, so that a 304 can be answered without the
 * JSON. */
void etag_make_card(char out[ETAG_SIZE], int64_t etag, bool varies);

/* The values of the first four If-None-Match headers of a request; others are ignored. */
typedef struct none_match {
    slice list[4];
    unsigned count;
} none_match;

/* Adds the value of one If-None-Match header. */
void none_match_note(none_match *n, slice value);

/* True if one of the If-None-Match headers matches `etag`. */
bool none_match_has(const none_match *n, const char *etag);

/* Returns the card's etag from the first ETag of a card in the headers, and in *varies the `varies`
 * of this ETag; 0: there is no such ETag. */
int64_t none_match_card(const none_match *n, bool *varies);

/* The weights of codings in Accept-Encoding, in thousandths; -1: absent. */
typedef struct codings {
    int gzip, identity, any;
} codings;

#define CODINGS_INIT ((codings){-1, -1, -1})

/* Adds the value of one Accept-Encoding header. */
void codings_note(codings *c, slice value);

/* True if gzip is accepted, and the weight of gzip is at least that of `identity`. */
bool codings_gzip(const codings *c);

#endif

/*
 * response_format.h: ETags and If-None-Match, and the choice of the content coding. Knows no HTTP
 * library.
 */
#ifndef SERVER_RESPONSE_FORMAT_H
#define SERVER_RESPONSE_FORMAT_H

#include <stdint.h>
#include "base/slice.h"

/* Bytes of an ETag with its quotes and its NUL: version, hash, coding. */
#define ETAG_SIZE 72

/* A strong ETag of a text: "HASH", or "VERSION-HASH" unless version is 0. */
void etag_make(char out[ETAG_SIZE], slice text, int64_t version);

/* Changes the ETag to that of the gzip coding, which ends in "-gz". */
void etag_mark_gzip(char etag[ETAG_SIZE]);

/* True if the value of an If-None-Match contains `etag`, in either coding. */
bool etag_list_has(slice list, const char *etag);

/* The ETag of a card object, made from the card's etag. `varies`: clients that accept gzip get it
 * compressed. So the headers of a 304 follow from the ETag alone. */
void etag_make_card(char out[ETAG_SIZE], int64_t etag, bool varies);

/* The values of a request's If-None-Match fields; further ones are ignored. */
typedef struct none_match {
    slice list[4];
    unsigned count;
} none_match;

/* Adds the value of one header. */
void none_match_note(none_match *n, slice value);

/* True if one of the headers contains `etag`. */
bool none_match_has(const none_match *n, const char *etag);

/* The etag in the first ETag of a card, and whether that varies; 0: there is none. */
int64_t none_match_card(const none_match *n, bool *varies);

/* The weights in Accept-Encoding, in thousandths; -1: absent. */
typedef struct codings {
    int gzip, identity, any;
} codings;

#define CODINGS_INIT ((codings){-1, -1, -1})

/* Adds the value of one header. */
void codings_note(codings *c, slice value);

/* True if gzip is accepted and preferred to the plain text, or equal to it. */
bool codings_gzip(const codings *c);

#endif

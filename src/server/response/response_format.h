/*
 * response_format.h: which representation of an answer a client is given: whether it has it already
 * (ETag and If-None-Match), and in which coding. Knows no HTTP library.
 */
#ifndef SERVER_RESPONSE_FORMAT_H
#define SERVER_RESPONSE_FORMAT_H

#include <stdint.h>
#include "base/slice.h"

/* Bytes of an entity tag with its quotes and its NUL: version, hash, coding. */
#define ETAG_SIZE 72

/* A strong entity tag of a text: "HASH", or "VERSION-HASH" unless version is 0. */
void etag_make(char out[ETAG_SIZE], slice text, int64_t version);

/* The same text in gzip has a tag of its own, which ends in "-gz". */
void etag_mark_gzip(char etag[ETAG_SIZE]);

/* Whether the value of an If-None-Match names the text that `etag` is of, in either coding. */
bool etag_list_has(slice list, const char *etag);

/* The tag of a card object, made of the card's etag. `varies`: clients that accept gzip get it
 * compressed. So a tag alone tells all headers of a 304. */
void etag_make_card(char out[ETAG_SIZE], int64_t etag, bool varies);

/* The values of a request's If-None-Match fields; further ones are ignored. */
typedef struct none_match {
    slice list[4];
    unsigned count;
} none_match;

/* Takes the value of one field into account. */
void none_match_note(none_match *n, slice value);

/* Whether one of them names the text that `etag` is of. */
bool none_match_has(const none_match *n, const char *etag);

/* The etag in the first tag of a card, and whether its object varies; 0: there is no such tag. */
int64_t none_match_card(const none_match *n, bool *varies);

/* What the Accept-Encoding fields of a request say: weights in thousandths, -1: not named. */
typedef struct codings {
    int gzip, identity, any;
} codings;

#define CODINGS_INIT ((codings){-1, -1, -1})

/* Takes the value of one field into account. */
void codings_note(codings *c, slice value);

/* Whether gzip is welcome, at least as much as the plain text. */
bool codings_gzip(const codings *c);

#endif

/*
 * validation.h: the validation of a request. It collects the faults in the form of the original
 * service, or the reason why the body is no JSON, or a number that is too large. Readers continue
 * after a fault, and the result is checked once at the end. Knows no HTTP and no database.
 */
#ifndef SERVER_VALIDATION_H
#define SERVER_VALIDATION_H

#include "base/arena.h"
#include "base/scan.h"

/* Faults that are reported, and bytes of a faulty value that are shown. */
#define VALIDATION_FAULTS_MAX 100
#define VALIDATION_INPUT_MAX  256

typedef enum validation_result {
    VALIDATION_OK,
    VALIDATION_MALFORMED, /* not JSON, a member twice, a broken escape: see `message` */
    VALIDATION_FAULTS,    /* well-formed, but not what is wanted: `items` has the faults */
    VALIDATION_TOO_MANY,  /* more than `most` of `too_many` */
    VALIDATION_NOMEM
} validation_result;

typedef struct validation {
    arena *memory;       /* for decoded texts */
    slice text;          /* the body */
    size_t position;     /* in it, of what is malformed */
    const char *message; /* NULL: nothing is */
    const char *member;  /* a query parameter that is malformed; NULL: the body is */
    const char *too_many;
    int64_t most;
    buf items; /* JSON objects with commas between */
    size_t faults;
    bool nomem;
} validation;

/* The position of a value: ["body","cards",3,...]. */
typedef struct validation_path {
    const char *in;   /* "body", "query", "header" or "path" */
    const char *list; /* the list that contains it; NULL: none */
    size_t index;
} validation_path;

extern const validation_path VALIDATION_BODY; /* the body itself */

void validation_init(validation *s, slice text, arena *memory);

/* Frees the memory of the faults. */
void validation_free(validation *s);

/* In order of precedence: malformed, faults, wrong counts. */
validation_result validation_check(const validation *s);

/*
 * Adds a fault of a member (NULL: of the whole value), or of its element `index` (negative: of
 * the member itself). `input` is JSON and is shown if it is short; ptr NULL: none.
 */
void validation_add(validation *s, const validation_path *at, const char *member, int64_t index,
                    const char *type, const char *message, slice input);

/* Adds the fault of an unknown member, by its name as a JSON string token. */
void validation_unknown(validation *s, const validation_path *at, slice token, const char *message);

/* Only the first call of each kind has an effect. */
void validation_malformed(validation *s, const char *member, size_t position, const char *message);
void validation_too_many(validation *s, const char *member, int64_t most);

/* The body, which must be one object. SCAN_NONE: it is not, and the fault is recorded. */
scan_value validation_body(validation *s, unsigned depth_max);

/* The decoded string token; ptr NULL if UTF-8 can't represent it, or out of memory. */
slice validation_decode(validation *s, slice token);

#endif

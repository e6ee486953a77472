/*
 * validation.h: the validation of a request. It collects the faults in the form that the source
 * documents require, the first reason why body or query are malformed, and the first list that is
 * too long. Readers continue after a fault, and the result is checked once at the end. Knows no
 * HTTP and no database.
 */
#ifndef SERVER_VALIDATION_H
#define SERVER_VALIDATION_H

#include "base/arena.h"
#include "base/scan.h"

/* Maximum faults that are reported, and maximum bytes of a faulty value that is shown. */
#define VALIDATION_FAULTS_MAX 100
#define VALIDATION_INPUT_MAX  256

typedef enum validation_result {
    VALIDATION_OK,
    VALIDATION_MALFORMED, /* the body is not JSON, a member occurs twice, or an escape is broken;
                             `message` has the reason */
    VALIDATION_FAULTS,    /* well-formed, but with invalid values or names; `items` has the faults,
                             and validation_summary has them in words */
    VALIDATION_TOO_MANY,  /* the list `too_many` has more than `most` elements */
    VALIDATION_NOMEM
} validation_result;

typedef struct validation {
    arena *memory;       /* for decoded texts */
    slice text;          /* the body */
    size_t position;     /* offset of the byte at which the body is malformed */
    const char *message; /* why the body or the query is malformed; NULL: both are well-formed */
    const char *member;  /* name of the malformed query parameter; NULL: the body is malformed */
    const char *too_many;
    int64_t most;
    buf items;       /* the faults as JSON objects, separated by commas */
    buf first_fault; /* in words */
    size_t faults;
    bool nomem;
} validation;

/* The path to the object that is read, such as ["body","cards",3]. */
typedef struct validation_path {
    const char *in;     /* "body", "query", "header" or "path" */
    const char *member; /* the member that is the object or its list; NULL: all of `in` */
    size_t index;       /* index of the object in its list; SIZE_MAX: `member` is the object */
} validation_path;

extern const validation_path VALIDATION_BODY; /* the path of the body itself */

void validation_init(validation *s, slice text, arena *memory);

void validation_free(validation *s);

/* Returns the result. If several are true, out of memory precedes malformed, then faults, then a
 * list that is too long. */
validation_result validation_check(const validation *s);

/* Returns the first fault in words and the number of further faults, as a string in the arena of
 * the validation. NULL: out of memory. */
const char *validation_summary(const validation *s);

/*
 * Adds a fault of the member `member` (NULL: of the whole object), or of its element `index`
 * (negative: of the member itself). `input` is the faulty value as JSON, which is reported if it
 * has at most VALIDATION_INPUT_MAX bytes; ptr NULL: none.
 */
void validation_add(validation *s, const validation_path *at, const char *member, int64_t index,
                    const char *type, const char *message, slice input);

/* Adds the fault of an unknown member or parameter. `token` is the name as a JSON string. */
void validation_unknown(validation *s, const validation_path *at, slice token, const char *message);

/* Records that a text is malformed, or that a list is too long. Only the first call of each
 * function has an effect. */
void validation_malformed(validation *s, const char *member, size_t position, const char *message);
void validation_too_many(validation *s, const char *member, int64_t most);

/* Returns the body, which must be a JSON object. SCAN_NONE: the body is empty, malformed or no
 * object, and that was recorded. */
scan_value validation_body(validation *s, unsigned depth_max);

/* Returns the text of a JSON string. ptr NULL: the string has \u0000 or half a surrogate pair, or
 * memory ran out. */
slice validation_decode(validation *s, slice token);

#endif

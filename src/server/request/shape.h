/*
 * shape.h: the validation of a request. It collects the faults in the form of the original service,
 * or the reason why the body is no JSON, or a number that is too large. Readers continue after a
 * fault, and the result is checked once at the end. Knows no HTTP and no database.
 */
#ifndef SERVER_SHAPE_H
#define SERVER_SHAPE_H

#include "base/arena.h"
#include "base/scan.h"

/* Faults that are reported, and bytes of a faulty value that are shown. */
#define SHAPE_FAULTS_MAX 100
#define SHAPE_INPUT_MAX  256

typedef enum shape_result {
    SHAPE_OK,
    SHAPE_MALFORMED, /* not JSON, a member twice, a broken escape: see `message` */
    SHAPE_FAULTS,    /* well-formed, but not what is wanted: `items` has the faults */
    SHAPE_TOO_MANY,  /* more than `most` of `too_many` */
    SHAPE_NOMEM
} shape_result;

typedef struct shape {
    arena *memory;       /* for decoded texts */
    view text;           /* the body */
    size_t position;     /* in it, of what is malformed */
    const char *message; /* NULL: nothing is */
    const char *member;  /* a query parameter that is malformed; NULL: the body is */
    const char *too_many;
    int64_t most;
    buf items; /* JSON objects with commas between */
    size_t faults;
    bool nomem;
} shape;

/* The position of a value: ["body","cards",3,...]. */
typedef struct shape_place {
    const char *in;   /* "body", "query", "header" or "path" */
    const char *list; /* the list that contains it; NULL: none */
    size_t index;
} shape_place;

extern const shape_place SHAPE_BODY; /* the body itself */

void shape_init(shape *s, view text, arena *memory);

/* Frees the memory of the faults. */
void shape_free(shape *s);

/* In order of precedence: malformed, faults, wrong counts. */
shape_result shape_check(const shape *s);

/*
 * Adds a fault of a member (NULL: of the whole value), or of its element `index` (negative: of the
 * member itself). `input` is JSON and is shown if it is short; ptr NULL: none.
 */
void shape_fault(shape *s, const shape_place *at, const char *member, int64_t index,
                 const char *type, const char *message, view input);

/* Adds the fault of an unknown member, by its name as a JSON string token. */
void shape_unknown(shape *s, const shape_place *at, view token, const char *message);

/* Only the first call of each kind has an effect. */
void shape_malformed(shape *s, const char *member, size_t position, const char *message);
void shape_too_many(shape *s, const char *member, int64_t most);

/* The body, which must be one object. SCAN_NONE: it is not, and the fault is recorded. */
scan_value shape_body(shape *s, unsigned depth_max);

/* The decoded string token; ptr NULL if UTF-8 can't represent it, or out of memory. */
view shape_decode(shape *s, view token);

#endif

/*
 * delta.h: assembles a JSON object from the objects of a stream, called deltas, as APIs of models
 * document them. Strings of the same member are concatenated, objects are merged, and elements of
 * arrays are merged by their `index`. Unknown members are assembled too. Texts, numbers and the
 * order of members stay as they arrived.
 */
#ifndef WORKER_DELTA_H
#define WORKER_DELTA_H

#include "base/arena.h"
#include "base/scan.h"

enum {
    DELTA_BYTES_MAX = 16 * 1024 * 1024, /* maximum bytes of an assembled object, with its values */
    DELTA_MEMBERS_MAX = 256, /* maximum members of an object, and how many of the last elements of
                                an array are searched for an index */
    DELTA_DEPTH_MAX = 100    /* maximum nesting of a delta */
};

typedef struct delta_value delta_value;

/* The values of one assembled message. */
typedef struct delta_tree {
    arena memory;
    delta_value *values; /* all values, whose texts are freed at the end */
    size_t bytes;        /* bytes of all values so far */
    bool has_failed;     /* a limit was exceeded, or memory is exhausted: values are incomplete */
} delta_tree;

void delta_init(delta_tree *d);
void delta_free(delta_tree *d);

/* Returns an empty object; NULL: d->has_failed. */
delta_value *delta_object(delta_tree *d);

/* Merges `value`, which scan_check accepted, into `into`. null and empty strings are replaced by
 * any other value. Names of things, such as `id`, `role` or `type`, and numbers are set once. An
 * element of an array is merged into the one with the same `index`, `type` and `id`, or else
 * appended. A string that meets an array of parts becomes a part of text. May set d->has_failed. */
void delta_merge(delta_tree *d, delta_value *into, scan_value value);

/* Merges a value into the member `key`, a JSON string, of an object. */
void delta_merge_member(delta_tree *d, delta_value *object, slice key, scan_value value);

/* A member of an assembled object, or an element of an array. */
typedef struct delta_member {
    slice key; /* the name of a member, a JSON string */
    const delta_value *value;
} delta_member;

/* Reads the next member of an object, or element of an array; `*at` is NULL for the first one.
 * False: there is none. */
bool delta_next(delta_member *out, const delta_value **at, const delta_value *object);

/* Returns the kind of a value, and the member of an object with a name, as scan_find does; NULL:
 * there is none. */
scan_kind delta_kind(const delta_value *value);
const delta_value *delta_find(const delta_value *object, const char *name);

/* Returns the inside of an assembled string, with its escapes; empty for any other value. */
slice delta_inside(const delta_value *value);

/* Appends a value as JSON. */
void delta_put(buf *out, const delta_value *value);

#endif

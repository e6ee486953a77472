/*
 * path.h: the paths of request targets. A path is split at '/', then each segment is decoded, so
 * that a card id in a path may contain '/'. Knows no routes.
 */
#ifndef SERVER_PATH_H
#define SERVER_PATH_H

#include "base/arena.h"

/* Maximum segments of a path, more than any route has. */
#define PATH_SEGMENTS_MAX 8

typedef enum path_result {
    PATH_OK,
    PATH_UNKNOWN,   /* no route has such a path: a segment is empty, there are too many segments, or
                       the path does not begin with '/' */
    PATH_MALFORMED, /* the path has a bad escape, NUL, invalid UTF-8, white space or a control
                       character */
    PATH_NOMEM
} path_result;

typedef struct url_path {
    slice segments[PATH_SEGMENTS_MAX];
    size_t count;
    bool folder; /* the path ends in '/'; true for the root */
} url_path;

/* Splits a target into path and query at its first '?'. Scheme and host of an absolute target,
 * "http://host/path", are dropped. */
void target_split(slice target, slice *raw_path, slice *query);

/* Returns the "host:port" of an absolute target; ptr NULL: the target is not absolute. */
slice target_authority(slice target);

/* Splits a path and decodes its segments. Segments without escapes point into `raw`, segments with
 * escapes into `memory`. If the path is malformed, *reason is static text that explains why. */
path_result path_decode(url_path *out, slice raw, arena *memory, const char **reason);

/* Decodes %XX, and if `plus_is_blank` '+' too. Returns false if an escape is malformed. `out` has
 * at least text.len bytes, and may be text.ptr. */
bool percent_decode(char *out, size_t *len, slice text, bool plus_is_blank);

#endif

/*
 * path.h: paths of request targets: split at '/', then each segment is decoded strictly, so that an
 * id may contain any character that a card id may have. Knows no routes.
 */
#ifndef SERVER_PATH_H
#define SERVER_PATH_H

#include "base/arena.h"

/* More segments than any route has. */
#define PATH_SEGMENTS_MAX 8

typedef enum path_result {
    PATH_OK,
    PATH_UNKNOWN,   /* well-formed, but not a path of ours: an empty segment inside, or too many */
    PATH_MALFORMED, /* bad escape, NUL, invalid UTF-8, white space */
    PATH_NOMEM
} path_result;

typedef struct url_path {
    slice segments[PATH_SEGMENTS_MAX];
    size_t count;
    bool folder; /* the path ends in '/'; true for the root */
} url_path;

/* Cuts a target at its first '?'. An absolute one, "http://host/path", loses scheme and host. */
void target_split(slice target, slice *raw_path, slice *query);

/* The "host:port" of an absolute target; ptr NULL: the target is not absolute. */
slice target_authority(slice target);

/* Splits a path and decodes its segments. Segments that need no decoding are views of `raw`, the
 * others are in `memory`. If it is malformed, `reason` becomes static text that explains why. */
path_result path_decode(url_path *out, slice raw, arena *memory, const char **reason);

/* Decodes %XX, and in a query '+' too. False: a bad escape. `out` has at least text.len bytes, and
 * may be text.ptr. */
bool percent_decode(char *out, size_t *len, slice text, bool plus_is_blank);

#endif

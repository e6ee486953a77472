/*
 * line.h: the lines of a session file. Every byte of the file belongs to exactly one line, so that
 * the file can be written again byte for byte. A bad line has a reason. Entries are not interpreted
 * here.
 */
#ifndef MODEL_LINE_H
#define MODEL_LINE_H

#include <stdint.h>
#include <cardbox/limits.h>
#include "base/scan.h"

/* Maximum bytes of a line's JSON. */
#define SESSION_LINE_MAX CARDBOX_CONTENT_MAX

typedef enum session_line_kind {
    SESSION_LINE_BLANK, /* only white space and NULs */
    SESSION_LINE_ENTRY, /* an object */
    SESSION_LINE_HEADER,
    SESSION_LINE_BAD
} session_line_kind;

typedef struct session_line {
    session_line_kind kind;
    uint64_t number; /* from 1 */
    uint64_t offset; /* offset of the line's first byte in the file */
    uint64_t length; /* length of the whole line with its end */
    slice whole;     /* the bytes of the line; if it is over the limit, only the last ones */
    slice text; /* the JSON without the bytes around it; of a bad line the text without white space
                   around it */
    scan_value value;   /* the object of an entry or a header */
    unsigned flags;     /* SCAN_HAS_ of the text */
    bool is_torn;       /* the file's last line is bad and has no end: its write was interrupted */
    bool has_nul;       /* NUL bytes around the text were skipped, which a crash may have left */
    const char *reason; /* static text: why the line is bad */
    uint64_t reason_at; /* offset of the error in the line */
} session_line;

/*
 * A file in memory, or a stream. For a stream: provide bytes with session_lines_give, take lines
 * until there are none, then provide `rest` followed by the next bytes, until the last ones.
 */
typedef struct session_lines {
    slice rest;
    bool is_last;     /* `rest` is the end of the file */
    uint64_t number;  /* number of lines returned so far */
    uint64_t offset;  /* offset of `rest` in the file */
    uint64_t skipped; /* skipped bytes of a line over the limit */
} session_lines;

/* Returns the lines of a file in memory. */
session_lines session_lines_of(slice bytes);

/* Returns a stream without bytes. */
session_lines session_lines_stream(void);

/* Provides the next part of a stream: `rest`, which may have moved to another buffer, and the
 * new bytes. */
void session_lines_give(session_lines *lines, slice bytes, bool is_last);

/* Returns the next line. Its slices point into the bytes provided. False: there is none, or
 * only the beginning of one, which stays in lines->rest. */
bool session_lines_next(session_lines *lines, session_line *out);

#endif

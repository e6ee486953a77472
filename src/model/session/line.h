/*
 * line.h: the lines of a session file. Every byte of the file belongs to exactly one line, so that
 * the file can be written again byte for byte. A bad line has a reason. Entries are not interpreted
 * here.
 */
#ifndef MODEL_LINE_H
#define MODEL_LINE_H

#include <stdint.h>
#include <cardbox/limits.h>
#include "base/arena.h"
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

/* Reads a text as one line. False: it is empty. */
bool session_line_of(session_line *out, slice text);

/* Maximum lines that a session_gaps stores. Lines after more are not found by an index. */
#define SESSION_GAPS_MAX ((size_t)100000)

/* The lines of a file, from 0, other than headers and entries. In version 1,
 * firstKeptEntryIndex counts only the other lines. Starts as all zeros. */
typedef struct session_gaps {
    int64_t *lines;
    size_t count, capacity;
} session_gaps;

/* Adds the next such line. Returns false if out of memory. */
bool session_gaps_add(session_gaps *gaps, int64_t line, arena *memory);

/* Returns the number, from 0, of the line with an index, which must be before line `end`; -1: there
 * is none, or there are too many gaps before it. */
int64_t session_gaps_line(const session_gaps *gaps, scan_value index, int64_t end);

#endif

/*
 * line.h: the lines of a session file. Every byte of the file belongs to exactly one line, so that
 * the file can be written again byte for byte. Lines are classified, but the members of entries are
 * not interpreted here.
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
    slice whole; /* the line's bytes; if a stream has a line over the limit, only its last bytes */
    slice text;  /* the JSON, or the bytes of a bad line, without white space and NULs around */
    scan_value value; /* the object of an entry or a header */
    unsigned flags;   /* SCAN_HAS_ flags of the text */
    bool is_torn;     /* the last line of the file, if it is bad and has no line feed: its write was
                         probably interrupted */
    bool has_nul;     /* NUL bytes around the text were skipped; a crash of the writer may have left
                         them */
    const char *reason; /* static text: why the line is bad */
    uint64_t reason_at; /* offset of a bad line's error in the line */
} session_line;

/*
 * A reader of the lines of a file in memory or of a stream. For a stream, pass bytes to
 * session_lines_give, and call session_lines_next until it returns false. Then pass `rest` followed
 * by the next bytes, and so on to the end of the stream.
 */
typedef struct session_lines {
    slice rest;
    bool is_last;     /* `rest` reaches to the end of the file */
    uint64_t number;  /* number of lines returned so far */
    uint64_t offset;  /* offset of `rest` in the file */
    uint64_t skipped; /* skipped bytes of a line over the limit */
} session_lines;

/* Returns a reader of the lines of a file in memory. */
session_lines session_lines_of(slice bytes);

/* Returns a reader of a stream that has no bytes yet. */
session_lines session_lines_stream(void);

/* Passes the next part of a stream to its reader. `bytes` begins with the bytes of `rest`, which
 * may be in another buffer now, and continues with new ones. */
void session_lines_give(session_lines *lines, slice bytes, bool is_last);

/* Reads the next line into `out`, whose slices point into the bytes that were passed. Returns false
 * if there is no line, or only the beginning of one, which stays in lines->rest. */
bool session_lines_next(session_lines *lines, session_line *out);

/* Reads the first line of a text. Returns false if the text is empty. */
bool session_line_of(session_line *out, slice text);

/* Maximum lines that a session_gaps stores. A line with this many gaps before it is not found by
 * its index. */
#define SESSION_GAPS_MAX ((size_t)100000)

/* The numbers, from 0, of a file's blank and bad lines, here called gaps. The firstKeptEntryIndex
 * of a compaction of version 1 does not count gaps. Initialise a session_gaps to zeros. */
typedef struct session_gaps {
    int64_t *lines;
    size_t count, capacity;
} session_gaps;

/* Adds the number of the next gap. If the maximum is reached, does nothing. Returns false if out of
 * memory. */
bool session_gaps_add(session_gaps *gaps, int64_t line, arena *memory);

/* Returns the number, from 0, of the line with a firstKeptEntryIndex. The line must be before line
 * `end`. -1: there is none, or there are too many gaps before it. */
int64_t session_gaps_line(const session_gaps *gaps, scan_value index, int64_t end);

#endif

/*
 * line.h: the lines of a session file. Every byte of the file belongs to exactly one line, so that
 * the file can be written again byte for byte. A line is blank, an entry, a header or bad; entry.h
 * reads the members of entries and headers.
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
    SESSION_LINE_BLANK, /* empty, or only white space and NULs */
    SESSION_LINE_ENTRY, /* an object that is no header */
    SESSION_LINE_HEADER,
    SESSION_LINE_BAD
} session_line_kind;

typedef struct session_line {
    session_line_kind kind;
    uint64_t number; /* from 1 */
    uint64_t offset; /* offset of the line's first byte in the file */
    uint64_t length; /* length of the whole line, including the line feed */
    slice whole; /* the bytes of the line; for a line over the limit in a stream, its last bytes */
    slice text;  /* the JSON, or the bytes of a bad line, without white space and NULs around */
    scan_value value; /* the object of an entry or a header */
    unsigned flags;   /* SCAN_HAS_ flags of the text */
    bool is_torn;     /* true for the last line of the file, if it is bad and has no line feed: its
                         write was probably interrupted */
    bool has_nul;     /* true: NUL bytes around the text were skipped, for example of a crash */
    const char *reason; /* static text: why the line is bad */
    uint64_t reason_at; /* offset in the line of the error of a bad line */
} session_line;

/*
 * A reader of the lines of a file in memory or of a stream. For a stream, the caller passes bytes
 * to session_lines_give, calls session_lines_next until it returns false, and passes `rest`
 * followed by the next bytes. The caller repeats this to the end of the stream.
 */
typedef struct session_lines {
    slice rest;
    bool is_last;     /* true: `rest` ends at the end of the file */
    uint64_t number;  /* number of lines returned so far */
    uint64_t offset;  /* offset of `rest` in the file */
    uint64_t skipped; /* number of skipped bytes of a line over the limit */
} session_lines;

/* Returns a reader of the lines of a file in memory. */
session_lines session_lines_of(slice bytes);

/* Returns a reader of a stream that has no bytes yet. */
session_lines session_lines_stream(void);

/* Passes the next part of a stream to its reader. `bytes` begins with a copy of the bytes of
 * lines->rest, or with these bytes themselves, and continues with the next bytes of the stream. */
void session_lines_give(session_lines *lines, slice bytes, bool is_last);

/* Reads the next line into `out`, whose slices point into the bytes that were passed. Returns false
 * if no complete line is left. */
bool session_lines_next(session_lines *lines, session_line *out);

/* Reads the first line of a text. Returns false if the text is empty. */
bool session_line_of(session_line *out, slice text);

/* Maximum lines that a session_gaps stores. If this many gaps are before a line, the line is not
 * found by its index. */
#define SESSION_GAPS_MAX ((size_t)100000)

/* The numbers, from 0, of a file's blank and bad lines, here called gaps. The firstKeptEntryIndex
 * of a compaction of version 1 does not count gaps. Initialise a session_gaps to zeros. */
typedef struct session_gaps {
    int64_t *lines;
    size_t count, capacity;
} session_gaps;

/* Adds the line number of the next gap, unless `gaps` has SESSION_GAPS_MAX lines. Returns false if
 * memory is exhausted. */
bool session_gaps_add(session_gaps *gaps, int64_t line, arena *memory);

/* Returns the number, from 0, of the line that the firstKeptEntryIndex `index` names. Returns -1 if
 * no such line is before line `end`, or if too many gaps are before this line. */
int64_t session_gaps_line(const session_gaps *gaps, scan_value index, int64_t end);

#endif

/*
 * line.h: the lines of a session file. Every byte of the file belongs to exactly one line, so that
 * what was read can be written again byte for byte, and every line that is no good says why. Knows
 * JSON as a grammar and nothing of what an entry means.
 */
#ifndef MODEL_LINE_H
#define MODEL_LINE_H

#include <stdint.h>
#include <cardbox/limits.h>
#include "base/scan.h"

/* Bytes of a line's JSON: it becomes the content of a card. */
#define SESSION_LINE_MAX CARDBOX_CONTENT_MAX

typedef enum session_line_kind {
    SESSION_LINE_BLANK, /* nothing but white space and NULs */
    SESSION_LINE_ENTRY, /* an object */
    SESSION_LINE_HEADER,
    SESSION_LINE_BAD
} session_line_kind;

typedef struct session_line {
    session_line_kind kind;
    uint64_t number; /* from 1 */
    uint64_t offset; /* of the line's first byte in the file */
    uint64_t length; /* bytes of the whole line with its end */
    slice whole;     /* those bytes; only the last of them where the line was too long to be held */
    slice text;      /* the JSON alone; of a bad line what is between white space */
    scan_value value;   /* the object of an entry or a header */
    unsigned flags;     /* SCAN_HAS_ of the text */
    bool is_torn;       /* the file's last line, bad and without an end: a write that broke off */
    bool has_nul;       /* NUL bytes around the text were passed over, as crashes leave them */
    const char *reason; /* of a bad line, static */
    uint64_t reason_at; /* the byte in the line that it is about, from 0 */
} session_line;

/*
 * A file, or a stream of which a part is at hand. For a stream: give what is there, take lines
 * until there are no more, then give what is left in `rest` and what came since as the next part,
 * until the last one.
 */
typedef struct session_lines {
    slice rest;
    bool is_last;     /* nothing comes after `rest` */
    uint64_t number;  /* lines given so far */
    uint64_t offset;  /* of rest's first byte in the file */
    uint64_t skipped; /* bytes of a line under way that is too long to be held */
} session_lines;

/* A whole file in memory. */
session_lines session_lines_of(slice bytes);

/* An empty stream. */
session_lines session_lines_stream(void);

/* The next part of a stream: what was left over (at the same place of a longer buffer or another)
 * and then the new bytes. */
void session_lines_give(session_lines *lines, slice bytes, bool is_last);

/* The next line; its views point into the bytes that were given. False: there is none, or a part of
 * one only, which stays in lines->rest. */
bool session_lines_next(session_lines *lines, session_line *out);

#endif

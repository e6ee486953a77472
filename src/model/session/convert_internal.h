/*
 * convert_internal.h: what converting is made of: an entry's text with holes, where its content
 * went into the other dialect's fields, and the two writers. For the convert*.c files only.
 */
#ifndef MODEL_CONVERT_INTERNAL_H
#define MODEL_CONVERT_INTERNAL_H

#include "model/session/convert.h"

/* Where a piece of an entry's text is to be found in the converted line. */
typedef enum hole_kind {
    HOLE_CONTENT,   /* plain: `b` bytes from `a` on inside "content" */
    HOLE_THINKING,  /* the same of "thinking" */
    HOLE_OUTPUT,    /* the same of "output" */
    HOLE_PARAMS,    /* the params of the `a`-th of "toolCalls" */
    HOLE_DETAILS,   /* "details", in both dialects */
    HOLE_STRING,    /* pi: the inside of the message's content, a string */
    HOLE_TEXT,      /* the inside of the `a`-th block's text */
    HOLE_THOUGHT,   /* the inside of the `a`-th block's thinking */
    HOLE_ARGUMENTS, /* the `a`-th block's arguments */
    HOLE_JSON       /* what the `a`-th block's text says: it is JSON */
} hole_kind;
enum { HOLE_KINDS = HOLE_JSON + 1 };

typedef struct hole {
    view at; /* in the entry's text */
    hole_kind kind;
    size_t a, b;
} hole;

typedef struct holes {
    hole *all;
    size_t count, capacity;
    arena *memory;
} holes;

/* Out of memory: memory->failed. */
void holes_add(holes *h, view at, hole_kind kind, size_t a, size_t b);

/* Appends an entry's text as a JSON array of strings and holes, each an array of its name and
 * numbers. */
void holes_put(buf *out, view text, holes *h);

/* Appends the text that such an array stands for, its holes filled from the converted line. False:
 * it is no such array. */
bool holes_fill(buf *out, scan_value pieces, scan_value line);

/* Whether a text is nested so deeply that it would be too deep inside another line: it travels as a
 * string, without holes. */
bool convert_is_deep(view text);

/* Appends `,"name":` and a JSON value, if there is one. */
void convert_put_member(buf *out, const char *name, view value);

/* Appends {"id":...,"parentId":...,"timestamp":... of a converted entry. */
void convert_put_link(buf *out, const session_item *item, view id);

/* Appends the line of a label or of a name, which means the same in both dialects. False: it is
 * another entry, or hangs elsewhere than its line says. */
bool convert_put_same(buf *out, const session_item *item);

/* --- pi to plain: one entry, one line; false: it has no counterpart and travels whole, or a model
 * saw more of it --- */

bool convert_to_plain(buf *out, const session_item *item, view id, arena *memory);

/* A header as an entry of plain's, whose id is given. */
view convert_header_to_plain(buf *out, const session_header *header, arena *memory);

/* --- plain to pi: an entry, or a run of an assistant's and of tools, is one line --- */

/* `name` is that of the tool whose result the entry is: JSON, or empty. False: as above. */
bool convert_to_pi(buf *out, const session_item *run, size_t count, view name, arena *memory);

/* A header for a session that has none. */
void convert_make_header(buf *out, view id, view timestamp);

#endif

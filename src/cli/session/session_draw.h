/*
 * session_draw.h: draws the tree of a session: branches, the head, labels, long runs folded. Does
 * not depend on the database or on the format of entries.
 */
#ifndef CLI_SESSION_DRAW_H
#define CLI_SESSION_DRAW_H

#include <stdio.h>
#include "base/slice.h"

#define SESSION_TREE_ROOT SIZE_MAX

typedef struct session_tree_entry {
    slice id;
    size_t parent; /* its index; SESSION_TREE_ROOT: none */
    slice role;    /* "user", "assistant", "result", ... */
    slice text;    /* as it comes from outside */
    slice label;   /* empty: none */
    slice tools;   /* the tools that it calls: "read, write"; may be empty */
    bool is_head;
} session_tree_entry;

typedef struct session_tree_options {
    int width; /* columns; 0: any */
    bool all;  /* fold nothing */
    bool ids;  /* show them */
} session_tree_options;

/* Prints a line an entry, siblings in the order of the entries. False: out of memory. */
bool session_tree_print(FILE *out, const session_tree_entry *entries, size_t count,
                        const session_tree_options *options);

#endif

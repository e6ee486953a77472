/*
 * text_flow.h: text that arrives in chunks, printed beside a margin and wrapped to the width of the
 * terminal.
 */
#ifndef CLI_TEXT_FLOW_H
#define CLI_TEXT_FLOW_H

#include <limits.h>
#include "cli/view/term.h"

typedef struct text_flow {
    int width;  /* INT_MAX: no terminal, or a narrow one; nothing is wrapped */
    int margin; /* columns that stay free at the left; the caller prints those of the first line */
    int column;
    bool is_new_line; /* the margin is not printed yet */
} text_flow;

text_flow text_flow_begin(int margin);

/* Prints a chunk; characters that a terminal may interpret are replaced. */
void text_flow_add(text_flow *f, slice text);

/* Ends the line. */
void text_flow_end(text_flow *f);

#endif

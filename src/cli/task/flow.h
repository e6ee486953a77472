/*
 * flow.h: text that comes in pieces, set beside a margin: wrapped between words on a terminal while
 * it is being said; elsewhere only set in. Knows nothing of who says it.
 */
#ifndef CLI_FLOW_H
#define CLI_FLOW_H

#include "cli/view/term.h"

typedef struct flow {
    int width;  /* 0: no terminal, or a narrow one: nothing is wrapped */
    int margin; /* columns that stay free at the left; the first line's are printed already */
    int column;
    bool is_new_line; /* the margin is not printed yet */
    buf word;         /* the one at the end of the line */
} flow;

flow flow_begin(int margin);

/* From outside: what is incompatible for a terminal is replaced. */
void flow_add(flow *f, slice text);

/* Ends the line and frees what it holds. */
void flow_end(flow *f);

#endif

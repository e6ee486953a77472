/*
 * squeeze.h: text as gzip, in one go or piece by piece. Knows neither requests nor where it goes.
 */
#ifndef SERVER_SQUEEZE_H
#define SERVER_SQUEEZE_H

#include "base/view.h"

typedef struct squeeze squeeze;

/* NULL: no memory. */
squeeze *squeeze_new(void);
void squeeze_free(squeeze *s);

/* The whole text, to be freed; NULL: no memory. `s` may be used again. */
char *squeeze_all(squeeze *s, view text, size_t *len);

/* Compresses from the front of `text`, which moves on, into `out`; `last`: nothing follows it.
 * Gives the bytes written; *ended: all is out. */
size_t squeeze_some(squeeze *s, view *text, bool last, char *out, size_t room, bool *ended);

#endif

/*
 * search_terms.h: the terms of documents and of searches: those of their words, and those of
 * filters such as the role.
 */
#ifndef STORE_SEARCH_TERMS_H
#define STORE_SEARCH_TERMS_H

#include "model/search/search.h"

/* Maximum bytes of the text of a document: its content and its tool calls, of SEARCH_TEXT_CHARS
 * characters each, and a line feed for each. */
enum { SEARCH_DOCUMENT_BYTES = 2 * (4 * SEARCH_TEXT_CHARS + 1) };

/* Sets `out` to the text of a document, which fits into SEARCH_DOCUMENT_BYTES. The arguments are
 * JSON that may be cut, or ptr NULL. If memory runs out, `out` has failed. */
void search_document_text(buf *out, slice content, slice tool_calls);

/* The values of the filters of a document, or of a search; ptr NULL: none. */
typedef struct search_filters {
    slice kind, type, role, session_id, task_id;
} search_filters;

/* Returns the terms of words and those of the filters together, sorted and unique. `count` is the
 * number of `terms`, and then that of the result. NULL: `memory` has failed. */
int64_t *search_terms_join(size_t *count, slice tenant, const int64_t *terms,
                           const search_filters *filters, arena *memory);

#endif

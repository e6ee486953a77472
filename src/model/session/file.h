/*
 * file.h: a whole session file in memory: its header, its entries, their tree, and the report.
 */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "model/session/report.h"
#include "model/session/tree.h"

typedef struct session_file {
    session_dialect dialect;
    bool has_header;
    session_header header;
    session_entry *entries; /* all valid entries, also duplicates and conflicts, which are not part
                               of the tree */
    size_t count, capacity;
    session_tree tree;
    session_report report;
    session_gaps gaps;
    arena memory;
} session_file;

/* Reads a file. For an entry without an id, an id is made from the header's id and the entry's line
 * number. The slices in `out` point into `bytes` and into out->memory. Returns false if memory is
 * exhausted. The caller frees `out` with session_file_free in all cases. */
bool session_file_read(session_file *out, slice bytes);

void session_file_free(session_file *file);

#endif

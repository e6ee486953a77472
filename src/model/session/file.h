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
    session_entry *entries; /* all valid entries, including duplicates and conflicts, which are not
                               in the tree */
    size_t count, capacity;
    session_tree tree;
    session_report report;
    session_gaps gaps;
    arena memory;
} session_file;

/* Reads a file. An entry without an id gets one made from the header's id and its line number. The
 * slices point into `bytes` and into `out->memory`. Returns false if out of memory. The caller
 * frees `out` in all cases. */
bool session_file_read(session_file *out, slice bytes);

void session_file_free(session_file *file);

#endif

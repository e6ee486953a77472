/*
 * file.h: a whole session file: its header, its entries, their tree, and the report. Reads no file:
 * the caller has the bytes.
 */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "model/session/ordinals.h"
#include "model/session/report.h"
#include "model/session/tree.h"

typedef struct session_file {
    session_dialect dialect;
    bool has_header;
    session_header header;
    session_entry *entries; /* all that could be read, also those out of the tree */
    size_t count, capacity;
    session_tree tree;
    session_report report;
    session_ordinals ordinals;
    arena memory;
} session_file;

/*
 * Reads a file. The ids of entries without one are made of the header's id, or of `session_id`
 * where the file has none: of nothing, for what is stored (see session_entry_read). The views point
 * into `bytes`. False: out of memory. To be freed in any case.
 */
bool session_file_read(session_file *out, slice bytes, slice session_id);

void session_file_free(session_file *file);

#endif

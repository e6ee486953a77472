/*
 * session_report.h: the report of an import: what the database answers about lines and late
 * parents, and the result for <cardbox/session_file.h>.
 */
#ifndef STORE_SESSION_REPORT_H
#define STORE_SESSION_REPORT_H

#include "cardbox/session_file.h"
#include "model/session/report.h"
#include "store/session/session_write.h"

/* Counts a line of the file by the words of import_lines(); `id` of an entry. */
void session_report_line(session_report *report, slice outcome, slice issue, uint64_t line,
                         slice id);

/* The ids of the entries that were reported as dangling, for STATEMENT_session_link. */
size_t session_report_dangling(session_report *report, const slice **ids);

/* Its rows: these entries are linked, dangling or in a cycle. */
void session_report_link(session_report *report, const store_rows *rows,
                         const session_linked *linked);

cardbox_status session_report_take(cardbox_session_report **out, session_report *report,
                                   const char *session_id, cardbox_error *err);

#endif

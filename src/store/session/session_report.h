/*
 * session_report.h: the report of an import: adds the outcomes of lines and of links to late
 * parents, and makes the result for <cardbox/session_file.h>.
 */
#ifndef STORE_SESSION_REPORT_H
#define STORE_SESSION_REPORT_H

#include "cardbox/session_file.h"
#include "model/session/report.h"
#include "store/session/session_write.h"

/* Adds a line's outcome and issue, as import_lines() returned them. `id` is its entry's, or empty.
 */
void session_report_outcome(session_report *report, slice outcome, slice issue, uint64_t line,
                            slice id);

/* Returns the number of entries that were reported as dangling. *ids receives their ids, for
 * STATEMENT_session_link. */
size_t session_report_dangling(session_report *report, const slice **ids);

/* Updates the issues of these entries from the rows of STATEMENT_session_link: each entry is
 * linked, dangling, or part of a cycle. */
void session_report_link(session_report *report, const store_rows *rows,
                         const session_linked *linked);

/* Makes the SDK's report. */
cardbox_status session_report_new(cardbox_session_report **out, session_report *report,
                                  const char *session_id, cardbox_error *err);

#endif

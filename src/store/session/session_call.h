/*
 * session_call.h: functions that several files with public functions of sessions share.
 */
#ifndef STORE_SESSION_CALL_H
#define STORE_SESSION_CALL_H

#include "cardbox/session.h"
#include "cardbox/session_file.h"
#include "store/client/call.h"
#include "store/session/session_write.h"

/* Checks the handle, the project and the ids. `entry_id` may be NULL. */
cardbox_status check_session(cardbox *db, const char *tenant, const char *session_id,
                             const char *entry_id, cardbox_error *err);

/* Like check_session, for functions with a result: `out` must not be NULL. */
cardbox_status check_session_read(void *out, cardbox *db, const char *tenant,
                                  const char *session_id, const char *entry_id, cardbox_error *err);

/* Runs STATEMENT_session_get or STATEMENT_session_counts. CARDBOX_NOT_FOUND: the statement returned
 * no row. */
cardbox_status session_run(store_rows **rows, cardbox *db, statement_id id, slice tenant,
                           slice session, cardbox_error *err);

/* Runs STATEMENT_session_path and reads its rows. The caller frees the rows in all cases. */
cardbox_status session_run_path(store_rows **rows, session_path *path, cardbox *db,
                                const session_path_read *read, arena *memory, cardbox_error *err);

/* Appends the entries of a batch to its session. The caller frees the rows in all cases. */
cardbox_status session_run_append(store_rows **rows, cardbox *db, const session_batch *batch,
                                  client_safety safety, cardbox_error *err);

#endif

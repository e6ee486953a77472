/*
 * failure_log.h: logs statements that PostgreSQL rejected, at most one line for each kind in an
 * interval. Thread-safe.
 */
#ifndef SERVER_FAILURE_LOG_H
#define SERVER_FAILURE_LOG_H

#include "app/log.h"
#include "base/slice.h"
#include "cardbox/status.h"

/* PostgreSQL's message in quotes, cut at 200 bytes. SQLSTATE classes 22 and 23 name values that
 * clients sent, so they give "-". */
const char *failure_message(char out[LOG_QUOTE_SIZE], const cardbox_error *err);

/* Logs `event` with the SQLSTATE, the statement, the request's id (may be empty) and the message,
 * at most once a second for each SQLSTATE and statement. */
void failure_log(log_level level, const char *event, const cardbox_error *err, slice request);

/* The same at most once a minute for each SQLSTATE: the database as a whole lacks something. */
void failure_log_database(const cardbox_error *err);

#endif

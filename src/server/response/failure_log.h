/*
 * failure_log.h: logs failed statements, at most one line in an interval for each kind of failure.
 * Thread-safe.
 */
#ifndef SERVER_FAILURE_LOG_H
#define SERVER_FAILURE_LOG_H

#include "app/log.h"
#include "base/slice.h"
#include "cardbox/status.h"

/* Writes PostgreSQL's message in quotes, cut at 200 bytes. For the SQLSTATE classes 22 and 23 it
 * writes "-", because their messages contain values that clients sent. Returns `out`. */
const char *failure_message(char out[LOG_QUOTE_SIZE], const cardbox_error *err);

/* Logs `event` with the SQLSTATE, the statement, the request's id (may be empty) and the message,
 * at most once a second for each SQLSTATE and statement. */
void failure_log(log_level level, const char *event, const cardbox_error *err, slice request);

/* Logs that the database lacks a resource that all statements need, at most once a minute for each
 * SQLSTATE. */
void failure_log_database(const cardbox_error *err);

#endif

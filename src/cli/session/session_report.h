/*
 * session_report.h: how people see what became of a session's lines. Takes the report as the JSON
 * object that programs get, so that both say the same. Knows no session.
 */
#ifndef CLI_SESSION_REPORT_H
#define CLI_SESSION_REPORT_H

#include "base/slice.h"

/* Prints a report: its counts, those that are 0 left out, then its first issues with their lines.
 * False: out of memory. */
bool session_report_print(slice report);

/* Whether it tells of lines that are in no tree: bad ones, conflicts, cycles. */
bool session_report_is_bad(slice report);

#endif

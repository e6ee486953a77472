/*
 * session_report.h: prints reports of sessions' lines for people. It reads the JSON object that
 * programs get.
 */
#ifndef CLI_SESSION_REPORT_H
#define CLI_SESSION_REPORT_H

#include "base/slice.h"

/* Prints the counts that are not 0, then the first issues with their lines.
 * False: out of memory. */
bool session_report_print(slice report);

/* True if the report has lines that are in no tree: bad ones, conflicts, cycles. */
bool session_report_is_bad(slice report);

#endif

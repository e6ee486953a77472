/*
 * stale_statistics.h: analyzes tables that have grown since their last ANALYZE, so that plans stay
 * good; see analyze_grown.sql.
 */
#ifndef STORE_STALE_STATISTICS_H
#define STORE_STALE_STATISTICS_H

#include "cardbox/client.h"

enum { TABLE_NAME_SIZE = 64 }; /* size of a table's name with its NUL */

/* Analyzes one table whose statistics are stale, and returns its name; "": there is none.
 * CARDBOX_FORBIDDEN: the role is not a member of cardbox_service. */
cardbox_status stale_statistics_analyze(char table[TABLE_NAME_SIZE], cardbox *db,
                                        cardbox_error *err);

#endif

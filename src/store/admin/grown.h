/*
 * grown.h: tables that have grown out of the plans that connections keep; analyze_grown.sql says
 * why.
 */
#ifndef STORE_GROWN_H
#define STORE_GROWN_H

#include "cardbox/client.h"

enum { GROWN_NAME_SIZE = 64 }; /* bytes of a table's name with its 0 */

/* Has one analyzed and names it; "": there is none. FORBIDDEN: the role is no service's. */
cardbox_status grown_analyze(char table[GROWN_NAME_SIZE], cardbox *db, cardbox_error *err);

#endif

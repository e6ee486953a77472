/*
 * aside.c: what the connections of the threads beside the loops have in common. Nothing is retried:
 * their next turn does it anew.
 */
#include "server/aside/aside.h"

cardbox_status aside_open(cardbox **db, const settings *set, const char *name, unsigned patience_ms,
                          cardbox_error *err)
{
    cardbox_options how = CARDBOX_OPTIONS_INIT;
    if (*db != NULL)
        return CARDBOX_OK;
    how.conninfo = set->dsn;
    how.application_name = name;
    how.pool_max = 1;
    how.connect_timeout_ms = patience_ms;
    how.statement_timeout_ms = patience_ms;
    how.no_retry = true;
    how.no_named_statements = set->no_named_statements;
    return cardbox_open(db, &how, err);
}

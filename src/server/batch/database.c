/*
 * database.c: opens and closes the connectors.
 */
#include "server/batch/database.h"

bool database_open(database *d, const settings *set)
{
    d->primary.connector = connector_new(&d->primary.open_count);
    if (set->standby_dsn != NULL)
        d->standby.connector = connector_new(&d->standby.open_count);
    return d->primary.connector != NULL &&
           (set->standby_dsn == NULL || d->standby.connector != NULL);
}

bool database_close(database *d)
{
    bool ended = connector_free(d->primary.connector);
    return connector_free(d->standby.connector) && ended;
}

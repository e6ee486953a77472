/*
 * database.c: opens, ticks and closes the parts of a database together.
 */
#include "server/batch/database.h"
#include "server/batch/batcher.h"
#include "server/batch/db_conns.h"

enum { OF_STANDBY = 4096 /* numbers of standbys begin here: more than the primary has */ };

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

cardbox_status loop_database_open(loop_database *d, server_state *server, struct stats *s,
                                  const loop_handles *at, cardbox_error *err)
{
    loop_handles of_standby = *at;
    of_standby.first_tag += OF_STANDBY;
    cardbox_status status = db_conns_new(&d->primary, server, false, at, err);
    if (status == CARDBOX_OK && server->set->standby_dsn != NULL)
        status = db_conns_new(&d->standby, server, true, &of_standby, err);
    if (status != CARDBOX_OK)
        return status;
    d->batcher = batcher_new(server, s, d->primary, d->standby);
    return d->batcher == NULL ? CARDBOX_NOMEM : CARDBOX_OK;
}

void loop_database_close(loop_database *d)
{
    db_conns_free(d->primary); /* ends pending queries, and their batches */
    db_conns_free(d->standby);
    batcher_free(d->batcher);
}

void loop_database_ready(loop_database *d, uint64_t number)
{
    if (number >= OF_STANDBY)
        db_conns_on_socket(d->standby, number - OF_STANDBY);
    else
        db_conns_on_socket(d->primary, number);
}

void loop_database_tick(loop_database *d, int64_t now_ms)
{
    db_conns_tick(d->primary, now_ms);
    if (d->standby != NULL)
        db_conns_tick(d->standby, now_ms);
    batcher_tick(d->batcher, now_ms);
}

int64_t loop_database_next_ms(const loop_database *d)
{
    int64_t next_ms = db_conns_next_ms(d->primary), batcher_ms = batcher_next_ms(d->batcher);
    int64_t standby_ms = d->standby == NULL ? INT64_MAX : db_conns_next_ms(d->standby);
    if (standby_ms < next_ms)
        next_ms = standby_ms;
    return batcher_ms < next_ms ? batcher_ms : next_ms;
}

/*
 * database.c: opens, ticks and closes the parts of a database together.
 */
#include "server/batch/database.h"
#include "server/batch/join.h"
#include "server/batch/db_conns.h"

enum { OF_REPLICA = 4096 /* numbers of standbys begin here: more than the primary has */ };

bool database_open(database *d, const settings *set)
{
    d->primary.connector = connector_new(&d->primary.held);
    if (set->read_dsn != NULL)
        d->replica.connector = connector_new(&d->replica.held);
    return d->primary.connector != NULL && (set->read_dsn == NULL || d->replica.connector != NULL);
}

bool database_close(database *d)
{
    bool ended = connector_free(d->primary.connector);
    return connector_free(d->replica.connector) && ended;
}

cardbox_status loop_database_open(loop_database *d, server_state *server, struct stats *s,
                                  const loop_place *at, cardbox_error *err)
{
    loop_place of_replica = *at;
    of_replica.first_tag += OF_REPLICA;
    cardbox_status status = db_conns_new(&d->primary, server, false, at, err);
    if (status == CARDBOX_OK && server->set->read_dsn != NULL)
        status = db_conns_new(&d->replica, server, true, &of_replica, err);
    if (status != CARDBOX_OK)
        return status;
    d->joiner = joiner_new(server, s, d->primary, d->replica);
    return d->joiner == NULL ? CARDBOX_NOMEM : CARDBOX_OK;
}

void loop_database_close(loop_database *d)
{
    db_conns_free(d->primary); /* ends pending queries, and their batches */
    db_conns_free(d->replica);
    joiner_free(d->joiner);
}

void loop_database_ready(loop_database *d, uint64_t number)
{
    if (number >= OF_REPLICA)
        db_conns_ready(d->replica, number - OF_REPLICA);
    else
        db_conns_ready(d->primary, number);
}

void loop_database_tick(loop_database *d, int64_t now_ms)
{
    db_conns_tick(d->primary, now_ms);
    if (d->replica != NULL)
        db_conns_tick(d->replica, now_ms);
    joiner_tick(d->joiner, now_ms);
}

int64_t loop_database_next_ms(const loop_database *d)
{
    int64_t next_ms = db_conns_next_ms(d->primary), joiner_ms = joiner_next_ms(d->joiner);
    int64_t replica_ms = d->replica == NULL ? INT64_MAX : db_conns_next_ms(d->replica);
    if (replica_ms < next_ms)
        next_ms = replica_ms;
    return joiner_ms < next_ms ? joiner_ms : next_ms;
}

/*
 * background.c: starts and stops the threads that repeat a task (auth_watcher, gc_thread,
 * notifier, search_indexer), and opens their database connections. A failed statement is not
 * retried; the thread may repeat it in its next run.
 */
#include "server/background/background.h"
#include <stdlib.h>
#include <string.h>

enum { STOP_MS = 1000 };

void *background_new(size_t size, server_state *server)
{
    background *b = calloc(1, size);
    if (b != NULL)
        b->server = server;
    return b;
}

void *background_start(void *thread, periodic_task task)
{
    background *b = thread;
    if (b == NULL || periodic_start(&b->periodic, task, b))
        return b;
    free(b);
    return NULL;
}

bool background_stop(void *thread)
{
    background *b = thread;
    if (b == NULL)
        return true;
    if (!periodic_stop(&b->periodic, STOP_MS))
        return false;
    cardbox_close(b->db);
    free(b);
    return true;
}

cardbox_status background_db_open(cardbox **db, const settings *set, const char *name,
                                  unsigned timeout_ms, cardbox_error *err)
{
    cardbox_options how = CARDBOX_OPTIONS_INIT;
    if (*db != NULL)
        return CARDBOX_OK;
    how.conninfo = set->dsn;
    how.application_name = name;
    how.pool_max = 1;
    how.connect_timeout_ms = timeout_ms;
    how.statement_timeout_ms = timeout_ms;
    how.no_retry = true;
    how.no_named_statements = set->no_named_statements;
    return cardbox_open(db, &how, err);
}

cardbox_status background_db_open_when_served(cardbox **db, server_state *server, const char *name,
                                              unsigned timeout_ms)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (!slots_any_loop_serves(server))
        return CARDBOX_UNAVAILABLE;
    cardbox_status status = background_db_open(db, server->set, name, timeout_ms, &err);
    if (status != CARDBOX_OK)
        background_db_report(server, SLOTS_BACKGROUND, &err);
    return status;
}

void background_db_report(server_state *server, slots_user asker, const cardbox_error *err)
{
    if (strcmp(err->sqlstate, SLOTS_NONE) != 0)
        return;
    slots_refused(&server->database.primary, asker, err->sqlstate, err->message);
    server_wake_loops(server);
}

void background_db_close_if_scarce(cardbox **db, const server_state *server)
{
    if (!slots_are_scarce(&server->database.primary))
        return;
    cardbox_close(*db);
    *db = NULL;
}

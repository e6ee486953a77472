/*
 * work_listener.c: a connection that listens for notifications of new work. A notification does not
 * name a task: a notified worker looks for due tasks in the database. A missed
 * notification only delays the work until a worker looks again.
 */
#include <limits.h>
#include <poll.h>
#include "base/clock.h"
#include "db/conn.h"
#include "store/task/work.h"

static cardbox_status start_listening(work_listener *listener, const slice *tenants, size_t count,
                                      cardbox_error *err)
{
    params p = PARAMS_INIT;
    tasks_tenants_params(&p, tenants, count);
    cardbox_status status = conn_run(listener, STATEMENT_tasks_listen, &p, NULL, err);
    params_free(&p);
    return status;
}

cardbox_status work_listener_open(work_listener **out, const cardbox_options *options,
                                  const slice *tenants, size_t count, cardbox_error *err)
{
    cardbox_options complete;
    work_listener *listener = NULL;
    options_complete(&complete, options);
    cardbox_status status = conn_open(&listener, &complete, err);
    if (status == CARDBOX_OK)
        status = start_listening(listener, tenants, count, err);
    if (status != CARDBOX_OK) {
        work_listener_close(listener);
        return status;
    }
    *out = listener;
    return CARDBOX_OK;
}

void work_listener_close(work_listener *listener)
{
    conn_close(listener);
}

/* Removes all pending notifications. Returns true if there were any. */
static bool was_notified(work_listener *listener)
{
    PGnotify *notice;
    bool found = false;
    while ((notice = PQnotifies(listener->pg)) != NULL) {
        PQfreemem(notice);
        found = true;
    }
    return found;
}

work_listener_event work_listener_wait(work_listener *listener, int wake_fd, int64_t timeout_ms)
{
    int64_t end_ms = clock_ms() + timeout_ms;
    if (listener != NULL && conn_is_forked(listener))
        return LISTENER_LOST; /* the connection belongs to the parent process */
    for (;;) {
        if (listener != NULL && was_notified(listener))
            return LISTENER_NOTIFIED;
        int64_t left = end_ms - clock_ms();
        struct pollfd fds[] = {
            {.fd = wake_fd, .events = POLLIN},
            {.fd = listener != NULL ? PQsocket(listener->pg) : -1, .events = POLLIN}};
        if (poll(fds, 2, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left) == 0)
            return LISTENER_TIMEOUT;
        if (fds[0].revents != 0)
            return LISTENER_WOKEN;
        if (listener != NULL && fds[1].revents != 0 && PQconsumeInput(listener->pg) == 0)
            return LISTENER_LOST;
    }
}

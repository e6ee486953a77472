/*
 * bell.c: a connection that only listens. It says that there may be work, never what: so what it
 * misses while it is lost, the next look at the table finds.
 */
#include <limits.h>
#include <poll.h>
#include "base/clock.h"
#include "db/conn.h"
#include "store/task/work.h"

static cardbox_status listen(work_bell *bell, const slice *tenants, size_t count,
                             cardbox_error *err)
{
    params p;
    params_init(&p, REQUEST_MAX);
    tasks_tenants_params(&p, tenants, count);
    cardbox_status status = conn_run(bell, STATEMENT_tasks_listen, &p, NULL, err);
    params_free(&p);
    return status;
}

cardbox_status bell_open(work_bell **out, const cardbox_options *options, const slice *tenants,
                         size_t count, cardbox_error *err)
{
    cardbox_options complete;
    work_bell *bell = NULL;
    options_complete(&complete, options);
    cardbox_status status = conn_open(&bell, &complete, err);
    if (status == CARDBOX_OK)
        status = listen(bell, tenants, count, err);
    if (status != CARDBOX_OK) {
        bell_close(bell);
        return status;
    }
    *out = bell;
    return CARDBOX_OK;
}

void bell_close(work_bell *bell)
{
    conn_close(bell);
}

/* Takes all that was announced: one look at the table answers it. */
static bool has_rung(work_bell *bell)
{
    PGnotify *notice;
    bool rang = false;
    while ((notice = PQnotifies(bell->pg)) != NULL) {
        PQfreemem(notice);
        rang = true;
    }
    return rang;
}

bell_event bell_wait(work_bell *bell, int wake_fd, int64_t timeout_ms)
{
    int64_t end_ms = clock_ms() + timeout_ms;
    if (bell != NULL && conn_is_forked(bell))
        return BELL_LOST; /* what arrives is the parent's */
    for (;;) {
        if (bell != NULL && has_rung(bell))
            return BELL_RANG;
        int64_t left = end_ms - clock_ms();
        struct pollfd fds[] = {{.fd = wake_fd, .events = POLLIN},
                               {.fd = bell != NULL ? PQsocket(bell->pg) : -1, .events = POLLIN}};
        if (poll(fds, 2, left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left) == 0)
            return BELL_SILENT;
        if (fds[0].revents != 0)
            return BELL_WOKEN;
        if (bell != NULL && fds[1].revents != 0 && PQconsumeInput(bell->pg) == 0)
            return BELL_LOST;
    }
}

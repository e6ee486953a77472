/*
 * sweeper.c: a turn is one batch; while there is more the next one follows after a pause, which
 * leaves the database to those who use it. Not the keeper's thread: a batch may take longer than a
 * token may stay good after it was revoked.
 */
#include "server/aside/sweeper.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "server/aside/aside.h"
#include "server/aside/ticker.h"
#include "store/operate/collect.h"

enum { PAUSE_MS = 100, PATIENCE_MS = 5000 };

struct sweeper {
    const settings *set;
    ticker ticker;
    cardbox *db;
    collect_sum sum; /* of this round */
};

static void tell(sweeper *s)
{
    if (collect_rows(&s->sum) > 0)
        log_info("swept",
                 "cards=%" PRId64 " revisions=%" PRId64 " boxes=%" PRId64 " changes=%" PRId64
                 " segments=%" PRId64 " chains=%" PRId64 " entries=%" PRId64,
                 s->sum.rows[COLLECT_CARDS], s->sum.rows[COLLECT_REVISIONS],
                 s->sum.rows[COLLECT_BOXES], s->sum.rows[COLLECT_CHANGES],
                 s->sum.rows[COLLECT_SEGMENTS], s->sum.rows[COLLECT_CHAINS],
                 s->sum.rows[COLLECT_ENTRIES]);
    s->sum = (collect_sum){.rows = {0}};
}

static int64_t turn(void *arg)
{
    sweeper *s = arg;
    char why[LOG_QUOTE_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    collect_state state = COLLECT_OVER;
    cardbox_status status = aside_open(&s->db, s->set, "cardboxd-sweeper", PATIENCE_MS, &err);
    if (status == CARDBOX_OK)
        status = collect_batch(&s->sum, &state, s->db, s->set->retention_days, COLLECT_BATCH, &err);
    /* The loops tell of a database that is away. */
    if (status != CARDBOX_OK && status != CARDBOX_UNAVAILABLE)
        log_warn("not_swept", "reason=%s", log_quote(why, err.message, strlen(err.message)));
    if (status == CARDBOX_OK && state == COLLECT_MORE)
        return PAUSE_MS;
    tell(s);
    return (int64_t)s->set->sweep_interval_s * 1000;
}

sweeper *sweeper_start(const settings *set)
{
    sweeper *s = set->sweep_interval_s == 0 ? NULL : calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    s->set = set;
    if (ticker_start(&s->ticker, turn, s))
        return s;
    free(s);
    return NULL;
}

void sweeper_stop(sweeper *s)
{
    if (s == NULL)
        return;
    ticker_stop(&s->ticker);
    cardbox_close(s->db);
    free(s);
}

/*
 * gc.c: `cardbox gc`: removes expired and deleted rows in bounded batches.
 */
#include <inttypes.h>
#include <unistd.h>
#include "base/clock.h"
#include "cli/view/table.h"
#include "store/admin/gc.h"

/* Milliseconds before the next attempt while another session has a lock that gc needs. */
enum { WAIT_STEP_MS = 20 };

/* Removes batches until gc has nothing to do. If another session has a lock that gc needs, tries
 * again until --wait-s seconds have passed since the last batch, or since the start. */
static cardbox_status gc_all(cli_call *call, gc_sum *sum, gc_state *state)
{
    term_progress progress = {.label = "gc", .unit = "rows"};
    gc_sum expected = {{0}, {0}};
    cardbox_status status = CARDBOX_OK;
    int64_t deadline_ms = clock_ms() + call->wait_s * 1000;

    if (isatty(STDERR_FILENO))
        status = gc_count(&expected, call->db, call->retention_days, &call->err);
    progress.total = (uint64_t)gc_rows(&expected);
    *state = GC_MORE;
    while (status == CARDBOX_OK && *state != GC_OVER) {
        status = gc_batch(sum, state, call->db, call->retention_days, call->batch, &call->err);
        term_progress_show(&progress, (uint64_t)gc_rows(sum), (uint64_t)gc_rows(sum));
        if (*state == GC_MORE)
            deadline_ms = clock_ms() + call->wait_s * 1000;
        else if (*state >= GC_BUSY && clock_ms() >= deadline_ms)
            break;
        else if (*state >= GC_BUSY)
            clock_sleep_ms(WAIT_STEP_MS);
    }
    term_progress_clear(&progress);
    return status;
}

static cli_exit print_json(cli_call *call, const gc_sum *sum)
{
    json_t *all = json_pack("{s:b}", "dry_run", call->dry_run);

    for (int kind = 0; kind < GC_KINDS; kind++)
        json_object_set_new(all, gc_name((gc_kind)kind),
                            json_pack("{s:I, s:I}", "rows", (json_int_t)sum->rows[kind], "bytes",
                                      (json_int_t)sum->bytes[kind]));
    cli_check_memory(json_object_size(all) > GC_KINDS);
    return cli_print_json(all);
}

static cli_exit print_sum(cli_call *call, const gc_sum *sum)
{
    static const table_column columns[] = {
        {"kind", TABLE_LEFT}, {"rows", TABLE_RIGHT}, {"bytes", TABLE_RIGHT}};
    table t;

    if (call->json)
        return print_json(call, sum);
    table_init(&t, columns, 3);
    for (int kind = 0; kind < GC_KINDS; kind++) {
        if (sum->rows[kind] == 0)
            continue;
        table_text(&t, gc_name((gc_kind)kind));
        table_int(&t, sum->rows[kind]);
        table_int(&t, sum->bytes[kind]);
    }
    table_finish(&t, 0);
    printf("%" PRId64 " rows %s\n", gc_rows(sum), call->dry_run ? "would be removed" : "removed");
    return CLI_DONE;
}

static cli_exit run_gc(cli_call *call)
{
    gc_sum sum = {{0}, {0}};
    gc_state state = GC_OVER;
    gc_blocker blocker;
    cli_exit end = CLI_DONE;
    cardbox_status status = call->dry_run
                                ? gc_count(&sum, call->db, call->retention_days, &call->err)
                                : gc_all(call, &sum, &state);

    if (status == CARDBOX_OK || gc_rows(&sum) > 0) /* a failure does not undo earlier batches */
        end = print_sum(call, &sum);
    if (status != CARDBOX_OK)
        return cli_failed(call);
    if (state < GC_BUSY)
        return end;
    gc_blocker_get(&blocker, call->db, state);
    return cli_error_and(CLI_FAILED, "waited %ld s for %s: %s", call->wait_s,
                         state == GC_BUSY ? "the lock of gc" : "locked tables", blocker.text);
}

const cli_command cli_gc = {
    .name = "gc",
    .summary = "remove expired and deleted rows for good",
    .description = "Removes from all projects expired cards, deleted cards and boxes after the "
                   "retention period, and rows of boxes and sessions that nothing can read. By "
                   "default servers remove these rows too, and may run at the same time.",
    .examples = "gc --dry-run\n"
                "gc --retention-days 7 --batch 500",
    .options = CLI_IN_DATABASE(
        CLI_FLAG("dry-run", dry_run, "only count the rows"),
        CLI_INT("retention-days", retention_days, "N",
                "days to keep deleted cards, boxes and ids of sessions (default 30)", 0,
                GC_RETENTION_MAX),
        CLI_INT("batch", batch, "N", "maximum rows removed in a transaction (default 1000)", 1,
                100000),
        CLI_INT("wait-s", wait_s, "N", "seconds to wait for locks of other sessions (default 60)",
                0, 86400)),
    .run = run_gc,
};

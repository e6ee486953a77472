/*
 * gc.c: `cardbox gc`: removes expired and deleted rows in bounded batches.
 */
#include <inttypes.h>
#include <unistd.h>
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/view/table.h"
#include "store/admin/collect.h"

/* How long to wait for locks of others, and how often to try again. */
enum { WAIT_S = 60, WAIT_STEP_MS = 20 };

/* Runs one batch, and waits for locks of others. */
static cardbox_status collect_one_batch(cardbox *db, const cli_options *options, collect_sum *sum,
                                        collect_state *state, cardbox_error *err)
{
    int64_t deadline_ms = clock_ms() + options->wait_s * 1000;
    cardbox_status status;

    for (;;) {
        status = collect_batch(sum, state, db, options->retention_days, options->batch, err);
        if (status != CARDBOX_OK || *state < COLLECT_BUSY || clock_ms() >= deadline_ms)
            return status;
        clock_sleep_ms(WAIT_STEP_MS);
    }
}

static cardbox_status collect_all(cardbox *db, const cli_options *options, collect_sum *sum,
                                  collect_state *state, cardbox_error *err)
{
    term_progress progress = {.label = "gc", .unit = "rows"};
    collect_sum expected = {{0}, {0}};
    cardbox_status status = CARDBOX_OK;

    if (isatty(STDERR_FILENO))
        status = collect_count(&expected, db, options->retention_days, err);
    progress.total = (uint64_t)collect_rows(&expected);
    *state = COLLECT_MORE;
    while (status == CARDBOX_OK && *state == COLLECT_MORE) {
        status = collect_one_batch(db, options, sum, state, err);
        term_progress_show(&progress, (uint64_t)collect_rows(sum), (uint64_t)collect_rows(sum));
    }
    term_progress_clear(&progress);
    return status;
}

static cli_exit print_json(const cli_options *options, const collect_sum *sum)
{
    json_t *all = json_pack("{s:b}", "dry_run", options->dry_run);

    for (int kind = 0; kind < COLLECT_KINDS; kind++)
        json_object_set_new(all, collect_name((collect_kind)kind),
                            json_pack("{s:I, s:I}", "rows", (json_int_t)sum->rows[kind], "bytes",
                                      (json_int_t)sum->bytes[kind]));
    if (json_object_size(all) <= COLLECT_KINDS) { /* out of memory */
        json_decref(all);
        all = NULL;
    }
    return cli_print_json(all);
}

static cli_exit print_sum(const cli_options *options, const collect_sum *sum)
{
    static const table_column columns[] = {
        {"kind", TABLE_LEFT}, {"rows", TABLE_RIGHT}, {"bytes", TABLE_RIGHT}};
    table t;

    if (options->json)
        return print_json(options, sum);
    table_init(&t, columns, 3);
    for (int kind = 0; kind < COLLECT_KINDS; kind++) {
        if (sum->rows[kind] == 0)
            continue;
        table_text(&t, collect_name((collect_kind)kind));
        table_int(&t, sum->rows[kind]);
        table_int(&t, sum->bytes[kind]);
    }
    bool printed = table_finish(&t, 0);
    printf("%" PRId64 " rows %s\n", collect_rows(sum),
           options->dry_run ? "would be removed" : "removed");
    return printed ? CLI_DONE : cli_nomem();
}

static cli_exit print_lock_holder(cardbox *db, const cli_options *options, collect_state state)
{
    collect_holder holder;

    collect_holder_get(&holder, db, state);
    cli_error("waited %ld s for %s: %s", options->wait_s,
              state == COLLECT_BUSY ? "the lock of collectors" : "locked tables", holder.text);
    return CLI_FAILED;
}

static cli_exit run_gc(cardbox *db, const cli_options *options)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    collect_sum sum = {{0}, {0}};
    collect_state state = COLLECT_OVER;
    cardbox_status status;
    cli_exit end = CLI_DONE;

    if (options->dry_run)
        status = collect_count(&sum, db, options->retention_days, &err);
    else
        status = collect_all(db, options, &sum, &state, &err);
    if (status == CARDBOX_OK || collect_rows(&sum) > 0) /* removed rows stay removed */
        end = print_sum(options, &sum);
    if (status != CARDBOX_OK)
        return cli_failed(&err);
    return state >= COLLECT_BUSY ? print_lock_holder(db, options, state) : end;
}

const cli_command cli_gc = {
    .name = "gc",
    .summary = "remove what has expired or was deleted",
    .description = "Removes expired cards, deleted cards and boxes whose retention is over, and "
                   "unreachable rows of boxes and sessions, in all projects. Servers do the same; "
                   "both may run at any time.",
    .examples = "gc --dry-run\n"
                "gc --retention-days 7 --batch 500",
    .options =
        (const opt_spec[]){
            CLI_DSN,
            CLI_FLAG("dry-run", dry_run, "only count"),
            CLI_INT("retention-days", retention_days, "N",
                    "how long deleted cards and boxes are kept (default 30)", 0,
                    COLLECT_RETENTION_MAX),
            CLI_INT("batch", batch, "N", "most rows in one transaction (default 1000)", 1, 100000),
            CLI_INT("wait-s", wait_s, "N",
                    "seconds to wait for locks of other sessions (default 60)", 0, 86400),
            CLI_JSON,
            CLI_OPTIONS_END,
        },
    .defaults = &(const cli_options){.retention_days = COLLECT_RETENTION_DAYS,
                                     .batch = COLLECT_BATCH,
                                     .wait_s = WAIT_S},
    .with_database = run_gc,
};

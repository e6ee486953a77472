/*
 * gc.c: `cardbox gc`: removes dead cards in bounded batches, so that nobody waits for it.
 */
#include <inttypes.h>
#include "cli/commands.h"
#include "cli/term.h"
#include "store/operate.h"

#define SECONDS_PER_DAY 86400

typedef struct gc_options {
    cli_common common;
    long retention_days;
    long batch;
    bool dry_run;
} gc_options;

typedef struct gc_sum {
    int64_t cards, bytes;
} gc_sum;

static cardbox_status collect(cardbox *db, const gc_options *options, gc_sum *sum,
                              cardbox_error *err)
{
    int64_t retention = options->retention_days * SECONDS_PER_DAY, cards = 1, bytes;
    term_progress progress = {.label = "gc", .unit = "cards"};
    cardbox_status status = CARDBOX_OK;

    if (options->dry_run)
        return operate_gc_count(db, retention, &sum->cards, &sum->bytes, err);
    while (status == CARDBOX_OK && cards > 0) {
        status = operate_gc(db, retention, options->batch, &cards, &bytes, err);
        if (status != CARDBOX_OK)
            break;
        sum->cards += cards;
        sum->bytes += bytes;
        term_progress_show(&progress, 0, (uint64_t)sum->cards);
    }
    term_progress_clear(&progress);
    return status;
}

static void print_sum(const gc_options *options, const gc_sum *sum)
{
    if (options->common.json)
        printf("{\"dry_run\":%s,\"cards\":%" PRId64 ",\"bytes\":%" PRId64 "}\n",
               options->dry_run ? "true" : "false", sum->cards, sum->bytes);
    else
        printf("%" PRId64 " card%s (%" PRId64 " bytes) %s\n", sum->cards,
               sum->cards == 1 ? "" : "s", sum->bytes,
               options->dry_run ? "would be removed" : "removed");
}

static cli_exit run(const void *given, char **arguments, int count)
{
    const gc_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    gc_sum sum = {0, 0};
    cardbox *db = NULL;
    cardbox_status status;

    (void)arguments;
    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    status = collect(db, options, &sum, &err);
    cardbox_close(db);
    if (status == CARDBOX_OK || sum.cards > 0) /* what was removed stays so */
        print_sum(options, &sum);
    return status == CARDBOX_OK ? CLI_DONE : cli_failed(&err);
}

static const opt_spec specs[] = {
    CLI_DSN(gc_options),
    {"dry-run", OPT_FLAG, offsetof(gc_options, dry_run), NULL, NULL, "only count", 0, 0},
    {"retention-days", OPT_INT, offsetof(gc_options, retention_days), NULL, "N",
     "how long deleted cards are kept (default 30)", 0, 36500},
    {"batch", OPT_INT, offsetof(gc_options, batch), NULL, "N",
     "most cards in one transaction (default 1000)", 1, 100000},
    CLI_JSON(gc_options),
    CLI_OPTIONS_END,
};

static const gc_options defaults = {.retention_days = 30, .batch = 1000};

const cli_command cli_gc = {
    .name = "gc",
    .arguments = "",
    .summary = "remove cards that have expired or were deleted",
    .description =
        "Of all projects: expired cards at once, deleted ones when the retention is over.",
    .examples = "gc --dry-run\n"
                "gc --retention-days 7 --batch 500",
    .options = specs,
    .defaults = &defaults,
    .size = sizeof(gc_options),
    .run = run,
};

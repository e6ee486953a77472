/*
 * export.c: `cardbox export`. Writes what the store gives to a file or the standard output.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/buf.h"
#include "cli/commands.h"
#include "cli/term.h"
#include "store/transfer/transfer.h"

typedef struct export_options {
    cli_common common;
} export_options;

typedef struct export_target {
    const char *name; /* NULL: the standard output */
    buf partial;      /* what the file is called until it is whole; empty: written in place */
    FILE *out;
    term_progress progress;
    export_counts counts;
    int failure; /* errno of a write */
} export_target;

static bool take_piece(void *arg, view piece, const export_counts *counts)
{
    export_target *target = arg;
    uint64_t done = counts->of[TRANSFER_CARD] + counts->of[TRANSFER_BOX];

    target->counts = *counts;
    target->progress.total = counts->total;
    term_progress_show(&target->progress, done, done);
    if (fwrite(piece.ptr, 1, piece.len, target->out) == piece.len)
        return true;
    target->failure = errno;
    return false;
}

/* A file gets its name when it is whole, so that half an export is never taken for one. What is
 * there and no plain file (a pipe, /dev/null) is written to as it is. */
static bool open_target(export_target *target)
{
    struct stat about;

    target->out = stdout;
    if (target->name == NULL)
        return true;
    if (stat(target->name, &about) != 0 || S_ISREG(about.st_mode))
        buf_printf(&target->partial, "%s.partial", target->name);
    target->out = fopen(target->partial.len > 0 ? buf_str(&target->partial) : target->name, "we");
    if (target->out != NULL)
        return true;
    cli_error("cannot write %s: %s", target->name, strerror(errno));
    return false;
}

static bool close_target(export_target *target, bool whole)
{
    bool renamed = true;

    if (target->out == stdout)
        return whole;
    if (target->out != NULL && fclose(target->out) != 0 && target->failure == 0)
        target->failure = errno;
    whole = whole && target->failure == 0;
    if (target->partial.len == 0)
        return whole;
    if (whole)
        renamed = rename(buf_str(&target->partial), target->name) == 0;
    if (!renamed)
        target->failure = errno;
    if (!whole || !renamed)
        remove(buf_str(&target->partial));
    return whole && renamed;
}

static cli_exit run(const void *given, char **arguments, int count)
{
    const export_options *options = given;
    bool to_file = count > 0 && strcmp(arguments[0], "-") != 0;
    export_target target = {.name = to_file ? arguments[0] : NULL,
                            .partial = BUF_INIT(FILENAME_MAX),
                            .progress = {.label = "export", .unit = "lines"}};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = CARDBOX_UNAVAILABLE;
    cardbox *db = NULL;
    bool whole = false;

    if (cli_open(&db, &options->common) && open_target(&target)) {
        status = export_run(db, options->common.project, take_piece, &target, &err);
        term_progress_clear(&target.progress);
        if (status != CARDBOX_OK)
            cli_failed(&err);
        whole = close_target(&target, status == CARDBOX_OK && target.failure == 0);
    }
    if (target.failure != 0 && to_file) /* of stdout the end of the program speaks */
        cli_error("cannot write %s: %s", target.name, strerror(target.failure));
    if (whole && to_file)
        printf("%llu cards and %llu boxes in %s\n",
               (unsigned long long)target.counts.of[TRANSFER_CARD],
               (unsigned long long)target.counts.of[TRANSFER_BOX], target.name);
    if (whole && target.counts.of[TRANSFER_CARD] + target.counts.of[TRANSFER_BOX] == 0)
        cli_note("no cards and no boxes in project %s", options->common.project);
    buf_free(&target.partial);
    cardbox_close(db);
    return whole ? CLI_DONE : CLI_FAILED;
}

static const opt_spec specs[] = {
    CLI_DSN(export_options),
    CLI_PROJECT(export_options),
    CLI_OPTIONS_END,
};

static const export_options defaults = {0};

const cli_command cli_export = {
    .name = "export",
    .arguments = "[FILE]",
    .summary = "write all cards and boxes of a project as NDJSON",
    .description =
        "One line a card or box, as of one moment. FILE gets its name when it is whole; "
        "-, the\ndefault, is the standard output. `cardbox import` reads it back.\n"
        "An export has each box's present list, and neither its versions and log nor the "
        "append\nkeys: for a backup, use pg_dump.",
    .examples = "export --project demo demo.ndjson\n"
                "export --project demo | gzip > demo.ndjson.gz",
    .options = specs,
    .defaults = &defaults,
    .size = sizeof(export_options),
    .most = 1,
    .needs_project = true,
    .run = run,
};

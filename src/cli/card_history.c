/*
 * card_history.c: `cardbox card revisions` and `delete`, and how everything is deleted that has an
 * id, over the public SDK.
 */
#include <inttypes.h>
#include "cli/card_view.h"
#include "cli/commands.h"

/* --- delete --- */

static void print_deleted(const char *kind, const char *id, bool json)
{
    buf line = BUF_INIT(8 * CARDBOX_CARD_ID_MAX);

    if (json) {
        buf_printf(&line, "{\"%s_id\":", kind);
        buf_json_string(&line, view_of(id));
        buf_text(&line, ",\"deleted\":true}");
    } else {
        buf_printf(&line, "%s %s is deleted", kind, id);
    }
    puts(buf_str(&line));
    buf_free(&line);
}

cli_exit cli_delete(const char *kind, cli_delete_one delete_one, const cli_common *common,
                    char **ids, int count)
{
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    if (!cli_open(&db, common))
        return CLI_FAILED;
    for (int i = 0; i < count; i++) {
        cardbox_error err = CARDBOX_ERROR_INIT;

        if (delete_one(db, common->project, ids[i], &err) == CARDBOX_OK) {
            print_deleted(kind, ids[i], common->json);
        } else {
            cli_error("%.600s: %s%s", ids[i], err.message, cli_hint(&err));
            status = CLI_FAILED;
        }
    }
    cardbox_close(db);
    return status;
}

typedef struct delete_options {
    cli_common common;
} delete_options;

static cli_exit run_delete(const void *given, char **arguments, int count)
{
    const delete_options *options = given;

    return cli_delete("card", cardbox_delete_card, &options->common, arguments, count);
}

static const opt_spec delete_specs[] = {
    CLI_DSN(delete_options),
    CLI_PROJECT(delete_options),
    CLI_JSON(delete_options),
    CLI_OPTIONS_END,
};

static const delete_options delete_defaults = {0};

const cli_command cli_card_delete = {
    .name = "card delete",
    .arguments = "CARD...",
    .summary = "delete cards",
    .description = "They can't be read from now on; `cardbox card add --restore` brings one back "
                   "until the\nretention period is over. A sealed card can't be deleted.",
    .examples = "card delete --project demo demo-019-deliverable",
    .options = delete_specs,
    .defaults = &delete_defaults,
    .size = sizeof(delete_options),
    .least = 1,
    .most = -1,
    .needs_project = true,
    .run = run_delete,
};

/* --- revisions --- */

typedef struct revisions_options {
    cli_common common;
    long before;
} revisions_options;

/* The card object with the revision's number and time before it. */
static bool print_revisions_json(const cardbox_revisions *revisions, const char *project)
{
    buf line = BUF_INIT(SIZE_MAX / 2);
    bool fine = true;

    for (size_t i = 0; fine && i < cardbox_revisions_count(revisions); i++) {
        const cardbox_revision *one = cardbox_revisions_at(revisions, i);

        buf_reset(&line, 1 << 20);
        buf_printf(&line,
                   "{\"revision\":%" PRId64 ",\"replaced_at\":\"%s\",\"card\":", one->revision,
                   one->replaced_at);
        card_view_json(&line, one->card, project);
        fine = buf_ok(&line);
        if (fine) /* without the end of the card's line */
            printf("%.*s}\n", (int)line.len - 1, buf_str(&line));
    }
    buf_free(&line);
    return fine;
}

static bool print_revisions(const cardbox_revisions *revisions)
{
    static const table_column columns[] = {{"revision", TABLE_RIGHT},
                                           {"type", TABLE_LEFT},
                                           {"until", TABLE_LEFT},
                                           {"content", TABLE_FLEXIBLE}};
    table rows;
    bool printed;

    table_init(&rows, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < cardbox_revisions_count(revisions); i++) {
        const cardbox_revision *one = cardbox_revisions_at(revisions, i);
        buf summary = BUF_INIT(4 * (size_t)CARDBOX_CONTENT_MAX);

        card_view_summary(&summary, one->card);
        table_int(&rows, one->revision);
        table_text(&rows, one->card->type);
        table_text(&rows, one->replaced_at);
        table_text(&rows, buf_str(&summary));
        buf_free(&summary);
    }
    printed = rows.count == 0 || table_print(stdout, &rows, 2, term_width());
    table_free(&rows);
    return printed;
}

static cli_exit run_revisions(const void *given, char **arguments, int count)
{
    static const cli_origin origins[] = {{"card_id", "the card's id"}, {0}};
    const revisions_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_revisions *revisions = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_card_revisions(&revisions, db, options->common.project, arguments[0],
                               options->before, (unsigned)options->common.limit,
                               &err) != CARDBOX_OK)
        status = cli_refused(&err, origins);
    else if (!(options->common.json ? print_revisions_json(revisions, options->common.project)
                                    : print_revisions(revisions)))
        status = cli_nomem();
    else if (cardbox_revisions_count(revisions) == 0 && !options->common.json)
        cli_note("card %s was never repaired", arguments[0]);
    cardbox_revisions_free(revisions);
    cardbox_close(db);
    return status;
}

static const opt_spec revisions_specs[] = {
    CLI_DSN(revisions_options),
    CLI_PROJECT(revisions_options),
    {"before", OPT_INT, offsetof(revisions_options, before), NULL, "N",
     "only revisions below this one", 1, INT32_MAX},
    CLI_LIMIT(revisions_options),
    CLI_JSON(revisions_options),
    CLI_OPTIONS_END,
};

static const revisions_options revisions_defaults = {0};

const cli_command cli_card_revisions = {
    .name = "card revisions",
    .arguments = "CARD",
    .summary = "show what a card said before it was repaired, newest first",
    .examples = "card revisions --project demo demo-001-instruction\n"
                "card revisions --project demo --json demo-001-instruction",
    .options = revisions_specs,
    .defaults = &revisions_defaults,
    .size = sizeof(revisions_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_revisions,
};

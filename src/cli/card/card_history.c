/*
 * card_history.c: `cardbox card revisions`, over the public SDK.
 */
#include <inttypes.h>
#include "cli/card/card_view.h"
#include "cli/commands.h"
#include "cli/view/listing.h"

typedef struct revisions_options {
    cli_common common;
    long before;
} revisions_options;

typedef struct revisions_of {
    const cardbox_revisions *revisions;
    const char *project;
} revisions_of;

/* The card object with the revision's number and time before it. */
static void add_object(buf *out, const void *given, size_t i)
{
    const revisions_of *of = given;
    const cardbox_revision *one = cardbox_revisions_at(of->revisions, i);

    buf_json_open_take(out, json_pack("{s:I, s:s}", "revision", (json_int_t)one->revision,
                                      "replaced_at", one->replaced_at));
    buf_text(out, ",\"card\":");
    card_view_json(out, one->card, of->project);
    buf_char(out, '}');
}

static void add_row(table *rows, const void *given, size_t i)
{
    const revisions_of *of = given;
    const cardbox_revision *one = cardbox_revisions_at(of->revisions, i);
    buf summary = BUF_INIT(4 * (size_t)CARDBOX_CONTENT_MAX);

    card_view_summary(&summary, one->card);
    table_int(rows, one->revision);
    table_text(rows, one->card->type);
    table_text(rows, one->replaced_at);
    table_text(rows, buf_str(&summary));
    buf_free(&summary);
}

static cli_exit print_revisions(const cardbox_revisions *revisions, const cli_common *common,
                                const char *card)
{
    static const table_column columns[] = {{"revision", TABLE_RIGHT},
                                           {"type", TABLE_LEFT},
                                           {"until", TABLE_LEFT},
                                           {"content", TABLE_FLEXIBLE}};
    revisions_of of = {revisions, common->project};
    listing found = {.of = &of,
                     .count = cardbox_revisions_count(revisions),
                     .add_object = add_object,
                     .add_row = add_row,
                     LISTING_COLUMNS(columns),
                     .indent = 2};

    return listing_print(&found, common->json, "card %s was never repaired", card);
}

static cli_exit run_revisions(cardbox *db, const void *given, char **arguments)
{
    const revisions_options *options = given;
    const cli_common *common = &options->common;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_revisions *revisions = NULL;

    if (cardbox_card_revisions(&revisions, db, common->project, arguments[0], options->before,
                               (unsigned)common->limit, &err) != CARDBOX_OK)
        return cli_failed(&err);
    cli_exit status = print_revisions(revisions, common, arguments[0]);
    cardbox_revisions_free(revisions);
    return status;
}

static const opt_spec revisions_specs[] =
    CLI_IN_PROJECT(CLI_INT(revisions_options, "before", before, "N",
                           "only revisions below this one", 1, INT32_MAX),
                   CLI_LIMIT);

const cli_command cli_card_revisions = {
    .name = "card revisions",
    .arguments = "CARD",
    .summary = "show what a card said before it was repaired, newest first",
    .examples = "card revisions --project demo demo-001-instruction\n"
                "card revisions --project demo --json demo-001-instruction",
    .options = revisions_specs,
    .origins = {{"card_id", "the card's id"}},
    .with_database = run_revisions,
};

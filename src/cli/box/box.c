/*
 * box.c: `cardbox box get`, `cards` and `log`, and as of when a box is read. Over the public SDK.
 */
#include <inttypes.h>
#include "cli/box/box_as_of.h"
#include "cli/card/card_view.h"
#include "cli/commands.h"
#include "cli/view/listing.h"

/* --- as of when --- */

bool box_as_of_read(cardbox_read_options *out, const box_as_of *at)
{
    if ((at->version > 0) + (at->length > 0) + (at->time != NULL) > 1) {
        cli_error("give one of --at-version, --at-length and --at-time");
        return false;
    }
    out->at_version = at->version;
    out->at_length = at->length;
    out->at_time = at->time;
    return true;
}

/* --- what is shown of one --- */

/* The line above what a box holds. */
static void print_head(const char *box_id, int64_t version, int64_t length)
{
    term_put_title("box ", box_id);
    printf("   version %" PRId64 "   %" PRId64 " card%s\n", version, length,
           length == 1 ? "" : "s");
}

/* --- get --- */

typedef struct get_options {
    cli_common common;
    box_as_of at;
} get_options;

static cli_exit print_json(const cardbox_box *box)
{
    buf line = BUF_INIT(SIZE_MAX / 2);

    card_view_box(&line, box, true);
    return cli_print_line(&line, true);
}

static cli_exit print_box(const cardbox_box *box)
{
    static const table_column columns[] = {{"#", TABLE_RIGHT}, {"card", TABLE_ID}};
    table ids;

    print_head(box->box_id, box->version, box->length);
    for (size_t i = 0; i < box->parent_count; i++)
        printf("  from box %s\n", box->parent_ids[i]);
    table_init(&ids, columns, 2);
    for (size_t i = 0; i < box->card_count; i++) {
        table_int(&ids, box->first + (int64_t)i + 1);
        table_text(&ids, box->card_ids[i]);
    }
    return table_finish(&ids, 2) ? CLI_DONE : cli_nomem();
}

static cli_exit run_get(const void *given, char **arguments)
{
    const get_options *options = given;
    cardbox_read_options part = {0};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_boxes *boxes = NULL;
    cardbox *db = NULL;
    cli_exit status;

    if (!box_as_of_read(&part, &options->at))
        return CLI_USAGE;
    db = cli_open(&options->common);
    if (db == NULL)
        return CLI_FAILED;
    if (cardbox_load_box(&boxes, db, options->common.project, arguments[0], &part, &err) !=
        CARDBOX_OK)
        status = cli_failed(&err);
    else
        status = (options->common.json ? print_json : print_box)(cardbox_boxes_at(boxes, 0));
    cardbox_boxes_free(boxes);
    return status;
}

static const opt_spec get_specs[] = CLI_IN_PROJECT(BOX_AS_OF(get_options));

const cli_command cli_box_get = {
    .name = "box get",
    .arguments = "BOX",
    .summary = "show the ids in a box",
    .examples = "box get --project demo 01970000-0000-7000-8000-000000000001\n"
                "box get --project demo --at-version 1 --json 01970000-0000-7000-8000-000000000001",
    .options = get_specs,
    .origins = {BOX_AS_OF_ORIGINS},
    .alone = run_get,
};

/* --- cards --- */

typedef struct cards_options {
    cli_common common;
    box_as_of at;
    long tail;
    bool ids;
} cards_options;

/* A box's places, and the cards of those that have one, in the same order. */
typedef struct places {
    const cardbox_box *box;
    const cardbox_cards *cards;
    size_t *next; /* of the cards */
    const cards_options *options;
} places;

/* The card at a place, if it is the next of those that were found; NULL: it is missing, and keeps
 * its place. */
static const cardbox_card *card_at(const places *of, size_t i)
{
    const cardbox_card *card = cardbox_cards_at(of->cards, *of->next);

    if (card == NULL || strcmp(card->card_id, of->box->card_ids[i]) != 0)
        return NULL;
    (*of->next)++;
    return card;
}

static void add_card_row(table *rows, const void *given, size_t i)
{
    const places *of = given;
    int64_t position = of->box->first + (int64_t)i + 1;

    card_view_add_row(rows, card_at(of, i), of->box->card_ids[i], position, of->options->ids);
}

/* One line a place, so that line N is card N of what was asked for. */
static void add_card_object(buf *out, const void *given, size_t i)
{
    const places *of = given;
    const cardbox_card *card = card_at(of, i);

    if (card != NULL) {
        card_view_json(out, card, of->options->common.project);
        return;
    }
    buf_json_take(out, json_pack("{s:s, s:b}", "card_id", of->box->card_ids[i], "missing", 1));
}

/* Reads the ids and then the cards of the same places in the same version, so that the two fit
 * together. */
static cardbox_status read_cards(cardbox_boxes **boxes, cardbox_cards **cards, cardbox *db,
                                 const char *project, const char *box_id,
                                 const cardbox_read_options *asked, cardbox_error *err)
{
    cardbox_read_options part = {0};
    cardbox_status status = cardbox_load_box(boxes, db, project, box_id, asked, err);
    const cardbox_box *box = status == CARDBOX_OK ? cardbox_boxes_at(*boxes, 0) : NULL;

    if (box == NULL || box->card_count == 0)
        return status;
    part.at_version = box->version;
    part.offset = (size_t)box->first;
    part.limit = box->card_count;
    return cardbox_get_box_cards(cards, db, project, box_id, &part, err);
}

static cli_exit print_cards(const cardbox_box *box, const cardbox_cards *cards,
                            const cards_options *options)
{
    bool json = options->common.json;
    size_t next = 0;
    places of = {box, cards, &next, options};
    listing found = {.of = &of,
                     .count = box->card_count,
                     .add_object = add_card_object,
                     .add_row = add_card_row,
                     LISTING_COLUMNS(card_view_columns),
                     .indent = 2};

    if (options->ids)
        found.columns = card_view_list_columns;
    if (!json)
        print_head(box->box_id, box->version, box->length);
    if (!json && box->card_count == 0)
        return CLI_DONE;
    return listing_print(&found, json, "no cards");
}

static cli_exit run_cards(const void *given, char **arguments)
{
    const cards_options *options = given;
    cardbox_read_options part = {.tail = (size_t)options->tail};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_boxes *boxes = NULL;
    cardbox_cards *cards = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    if (!box_as_of_read(&part, &options->at))
        return CLI_USAGE;
    db = cli_open(&options->common);
    if (db == NULL)
        return CLI_FAILED;
    if (read_cards(&boxes, &cards, db, options->common.project, arguments[0], &part, &err) !=
        CARDBOX_OK)
        status = cli_failed(&err);
    else
        status = print_cards(cardbox_boxes_at(boxes, 0), cards, options);
    cardbox_cards_free(cards);
    cardbox_boxes_free(boxes);
    return status;
}

static const opt_spec cards_specs[] = CLI_IN_PROJECT(
    CLI_INT(cards_options, "tail", tail, "N", "only the last N", 1, INT32_MAX),
    BOX_AS_OF(cards_options), CLI_FLAG(cards_options, "ids", ids, "show the ids of the cards"));

const cli_command cli_box_cards = {
    .name = "box cards",
    .arguments = "BOX",
    .summary = "show the cards in a box",
    .description = "A card that does not exist keeps its place: with --json as "
                   "{\"card_id\":ID,\"missing\":true}.",
    .examples = "box cards --project demo 01970000-0000-7000-8000-000000000001\n"
                "box cards --project demo --tail 3 --json 01970000-0000-7000-8000-000000000001",
    .options = cards_specs,
    .origins = {BOX_AS_OF_ORIGINS},
    .alone = run_cards,
};

/* --- log --- */

typedef struct log_options {
    cli_common common;
    long before;
} log_options;

static void add_log_object(buf *out, const void *of, size_t i)
{
    const cardbox_log_entry *entry = cardbox_log_at(of, i);

    buf_json_take(out, json_pack("{s:I, s:s, s:I, s:I, s:s?, s:s}", "version",
                                 (json_int_t)entry->version, "op", entry->op, "length",
                                 (json_int_t)entry->length, "added", (json_int_t)entry->added,
                                 "append_key", entry->append_key, "at", entry->at));
}

static void add_log_row(table *rows, const void *of, size_t i)
{
    const cardbox_log_entry *entry = cardbox_log_at(of, i);

    table_int(rows, entry->version);
    table_text(rows, entry->op);
    table_int(rows, entry->added);
    table_int(rows, entry->length);
    card_view_add_age(rows, entry->at);
    table_text(rows, entry->at);
    table_text(rows, entry->append_key);
}

static cli_exit print_log(const cardbox_log *log, bool json)
{
    static const table_column columns[] = {{"version", TABLE_RIGHT}, {"op", TABLE_LEFT},
                                           {"added", TABLE_RIGHT},   {"length", TABLE_RIGHT},
                                           {"age", TABLE_RIGHT},     {"at", TABLE_SPARE},
                                           {"key", TABLE_FLEXIBLE}};
    listing found = {.of = log,
                     .count = cardbox_log_count(log),
                     .add_object = add_log_object,
                     .add_row = add_log_row,
                     LISTING_COLUMNS(columns),
                     .indent = 2};

    return listing_print(&found, json, "no such versions");
}

static cli_exit run_log(cardbox *db, const void *given, char **arguments)
{
    const log_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_log *log = NULL;

    if (cardbox_box_log(&log, db, options->common.project, arguments[0], options->before,
                        (unsigned)options->common.limit, &err) != CARDBOX_OK)
        return cli_failed(&err);
    cli_exit status = print_log(log, options->common.json);
    cardbox_log_free(log);
    return status;
}

static const opt_spec log_specs[] = CLI_IN_PROJECT(
    CLI_INT(log_options, "before", before, "N", "only versions below this one", 1, INT32_MAX),
    CLI_LIMIT);

const cli_command cli_box_log = {
    .name = "box log",
    .arguments = "BOX",
    .summary = "show the changes of a box, newest first",
    .examples = "box log --project demo 01970000-0000-7000-8000-000000000001\n"
                "box log --project demo --limit 1 --json 01970000-0000-7000-8000-000000000001",
    .options = log_specs,
    .with_database = run_log,
};

/*
 * box.c: `cardbox box get`, `seal`, `cards`, `context` and `log`.
 */
#include <inttypes.h>
#include "cli/card/card_view.h"
#include "cli/view/context_view.h"
#include "cli/view/table.h"
#include "store/box/box_context.h"

/* --- as of when --- */

/* Options that select an earlier list of ids of a box. */
#define BOX_AS_OF                                                                                  \
    CLI_INT("at-version", part.at_version, "N", "the list at this version", 1, INT32_MAX),         \
        CLI_INT("at-length", part.at_length, "N", "the first N present ids", 1, INT32_MAX),        \
        CLI_TEXT("at-time", part.at_time, "TIME",                                                  \
                 "the list at a time, such as 2025-01-02T03:04:05Z")

#define BOX_AS_OF_ORIGINS                                                                          \
    {"at_version", "--at-version"}, {"at_length", "--at-length"},                                  \
    {                                                                                              \
        "at_time", "--at-time"                                                                     \
    }

static bool check_as_of(const cli_call *call)
{
    int given =
        (call->part.at_version > 0) + (call->part.at_length > 0) + (call->part.at_time != NULL);

    return given <= 1 ||
           cli_error_and(false, "give one of --at-version, --at-length and --at-time");
}

/* --- title --- */

static void print_title(const cardbox_box *box)
{
    term_put_title("box ", box->box_id);
    printf("   version %" PRId64 "   %" PRId64 " card%s%s\n", box->version, box->length,
           box->length == 1 ? "" : "s", box->sealed ? "   sealed" : "");
}

/* --- get --- */

static cli_exit print_box(const cardbox_box *box, bool json)
{
    static const table_column columns[] = {{"#", TABLE_RIGHT}, {"card", TABLE_ID}};
    buf line = BUF_INIT(SIZE_MAX / 2);
    table ids;

    if (json) {
        card_view_box(&line, box, true);
        return cli_print_json_text(&line);
    }
    print_title(box);
    for (size_t i = 0; i < box->parent_count; i++)
        printf("  from box %s\n", box->parent_ids[i]);
    table_init(&ids, columns, 2);
    for (size_t i = 0; i < box->card_count; i++) {
        table_int(&ids, box->first + (int64_t)i + 1);
        table_text(&ids, box->card_ids[i]);
    }
    table_finish(&ids, 2);
    return CLI_DONE;
}

static cli_exit show_box(cli_call *call)
{
    cardbox_boxes *boxes = NULL;

    if (cardbox_load_box(&boxes, call->db, call->project, call->arguments[0], &call->part,
                         &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit status = print_box(cardbox_boxes_at(boxes, 0), call->json);
    cardbox_boxes_free(boxes);
    return status;
}

const cli_command cli_box_get = {
    .name = "box get",
    .arguments = "BOX",
    .summary = "show the ids in a box",
    .examples = "box get --project demo 01970000-0000-7000-8000-000000000001\n"
                "box get --project demo --at-version 1 --json 01970000-0000-7000-8000-000000000001",
    .options = CLI_IN_PROJECT(BOX_AS_OF),
    .origins = {BOX_AS_OF_ORIGINS},
    .check = check_as_of,
    .run = show_box,
};

/* --- seal --- */

static cli_exit seal_box(cli_call *call)
{
    if (cardbox_seal_box(NULL, call->db, call->project, call->arguments[0], &call->err) !=
        CARDBOX_OK)
        return cli_failed(call);
    return show_box(call);
}

const cli_command cli_box_seal = {
    .name = "box seal",
    .arguments = "BOX",
    .summary = "seal a box and show it: its list can't be changed any more",
    .description = "A sealed box can't be deleted, but it can be forked. Sealing a sealed box "
                   "changes nothing.",
    .examples = "box seal --project demo 01970000-0000-7000-8000-000000000001",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = seal_box,
};

/* --- cards --- */

/* The list that is printed: the ids of a box, and the box's cards that exist, in the same order. */
typedef struct box_positions {
    const cardbox_box *box;
    const cardbox_cards *cards;
    size_t *next; /* index in `cards` of the next card that is not printed yet */
    const cli_call *call;
} box_positions;

/* Returns the card whose id is at index i of the box; NULL: this card does not exist. Must be
 * called once for each index, in ascending order. */
static const cardbox_card *card_at(const box_positions *of, size_t i)
{
    const cardbox_card *card = cardbox_cards_at(of->cards, *of->next);

    if (card == NULL || strcmp(card->card_id, of->box->card_ids[i]) != 0)
        return NULL;
    (*of->next)++;
    return card;
}

static void add_card_row(table *rows, const void *given, size_t i)
{
    const box_positions *of = given;
    int64_t position = of->box->first + (int64_t)i + 1;

    card_view_add_row(rows, card_at(of, i), of->box->card_ids[i], position, of->call->ids);
}

/* Appends an object for a missing card too, so that line N of the output is about the Nth id. */
static void add_card_object(buf *out, const void *given, size_t i)
{
    const box_positions *of = given;
    const cardbox_card *card = card_at(of, i);

    if (card != NULL) {
        card_view_json(out, card, of->call->project);
        return;
    }
    buf_json_take(out, json_pack("{s:s, s:b}", "card_id", of->box->card_ids[i], "missing", 1));
}

/* Reads ids of a box, and then the cards at the same version and positions. */
static cardbox_status read_cards(cardbox_boxes **boxes, cardbox_cards **cards, cli_call *call)
{
    cardbox_read_options part = {0};
    const char *box_id = call->arguments[0];
    cardbox_status status =
        cardbox_load_box(boxes, call->db, call->project, box_id, &call->part, &call->err);
    const cardbox_box *box = status == CARDBOX_OK ? cardbox_boxes_at(*boxes, 0) : NULL;

    if (box == NULL || box->card_count == 0)
        return status;
    part = (cardbox_read_options){
        .at_version = box->version, .offset = (size_t)box->first, .limit = box->card_count};
    return cardbox_get_box_cards(cards, call->db, call->project, box_id, &part, &call->err);
}

static cli_exit print_cards(const cardbox_box *box, const cardbox_cards *cards, cli_call *call)
{
    static const listing CARDS = {add_card_object, add_card_row, 2, {CARD_COLUMNS}},
                         CARDS_WITH_IDS = {
                             add_card_object, add_card_row, 2, {CARD_COLUMNS_WITH_IDS}};
    size_t next = 0;
    box_positions of = {box, cards, &next, call};

    if (!call->json)
        print_title(box);
    if (!call->json && box->card_count == 0)
        return CLI_DONE;
    return listing_print(call->ids ? &CARDS_WITH_IDS : &CARDS, &of, box->card_count, NULL,
                         call->json, "no cards");
}

static cli_exit show_cards(cli_call *call)
{
    cardbox_boxes *boxes = NULL;
    cardbox_cards *cards = NULL;
    cli_exit status = read_cards(&boxes, &cards, call) == CARDBOX_OK
                          ? print_cards(cardbox_boxes_at(boxes, 0), cards, call)
                          : cli_failed(call);

    cardbox_cards_free(cards);
    cardbox_boxes_free(boxes);
    return status;
}

const cli_command cli_box_cards = {
    .name = "box cards",
    .arguments = "BOX",
    .summary = "show the cards in a box",
    .description = "A card that does not exist is printed as missing, with --json as "
                   "{\"card_id\":ID,\"missing\":true}.",
    .examples = "box cards --project demo 01970000-0000-7000-8000-000000000001\n"
                "box cards --project demo --tail 3 --json 01970000-0000-7000-8000-000000000001",
    .options = CLI_IN_PROJECT(CLI_INT("tail", part.tail, "N", "only the last N", 1, INT32_MAX),
                              BOX_AS_OF, CLI_FLAG("ids", ids, "show the ids of the cards")),
    .origins = {BOX_AS_OF_ORIGINS},
    .check = check_as_of,
    .run = show_cards,
};

/* --- context --- */

/* Reads the boxes of --then. Returns false after it has printed a usage error. The ids are stored
 * in `ids`. */
static bool read_then(cardbox_then *out, char ids[][CARDBOX_UUID_SIZE], const opt_list *given)
{
    if (given->count > CARDBOX_THEN_MAX)
        return cli_error_and(false, "--then can be given at most %d times", CARDBOX_THEN_MAX);
    for (size_t i = 0; i < given->count; i++) {
        box_then box;
        if (!box_then_parse(&box, slice_of(given->at[i])))
            return cli_error_and(false, "--then must be BOX or BOX@VERSION, not %s", given->at[i]);
        uuid16_format(ids[i], &box.box_id);
        out[i] = (cardbox_then){ids[i], box.version};
    }
    return true;
}

static cli_exit show_context(cli_call *call)
{
    cardbox_then then[CARDBOX_THEN_MAX];
    char ids[CARDBOX_THEN_MAX][CARDBOX_UUID_SIZE];
    cardbox_context *built = NULL;

    if (!read_then(then, ids, &call->then))
        return CLI_USAGE;
    call->context.then = then;
    call->context.then_count = call->then.count;
    if (cardbox_build_box_context(&built, call->db, call->project, call->arguments[0], &call->part,
                                  &call->context, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    context_view_print(built, call->json);
    cardbox_context_free(built);
    return CLI_DONE;
}

const cli_command cli_box_context = {
    .name = "box context",
    .arguments = "BOX",
    .summary = "print the messages for a model, built from a box's cards",
    .description = "Prints a JSON array of messages. If the format has a separate system text, "
                   "prints an object with \"system\" and \"messages\". A report on stderr has the "
                   "numbers of cards and repairs. With --json, one object has messages and report.",
    .examples = "box context --project demo 01970000-0000-7000-8000-000000000001 | jq '.[].role'\n"
                "box context --project demo --tail 3 --json 01970000-0000-7000-8000-000000000001\n"
                "box context --project demo --then 01970000-0000-7000-8000-000000000002 "
                "01970000-0000-7000-8000-000000000001\n"
                "box context --project demo --as ops-agent 01970000-0000-7000-8000-000000000001",
    .options = CLI_IN_PROJECT(
        CONTEXT_VIEW_OPTIONS,
        CLI_LIST("then", then, "BOX[@VERSION]",
                 "a box whose cards follow, at a version; may be repeated"),
        CLI_TEXT("as", context.as, "ID", "the context as the author ID sees it"),
        CLI_INT("tail", part.tail, "N", "only the last N cards", 1, INT32_MAX), BOX_AS_OF),
    .origins = {BOX_AS_OF_ORIGINS, {"as", "--as"}},
    .check = check_as_of,
    .run = show_context,
};

/* --- log --- */

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

static const listing LOG = {.add_object = add_log_object,
                            .add_row = add_log_row,
                            .indent = 2,
                            .columns = {{"version", TABLE_RIGHT},
                                        {"op", TABLE_LEFT},
                                        {"added", TABLE_RIGHT},
                                        {"length", TABLE_RIGHT},
                                        {"age", TABLE_RIGHT},
                                        {"at", TABLE_SPARE},
                                        {"key", TABLE_FLEXIBLE}}};

static cli_exit show_log(cli_call *call)
{
    cardbox_log *log = NULL;

    if (cardbox_box_log(&log, call->db, call->project, call->arguments[0], call->before,
                        (unsigned)call->limit, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit status =
        listing_print(&LOG, log, cardbox_log_count(log), NULL, call->json, "no such versions");
    cardbox_log_free(log);
    return status;
}

const cli_command cli_box_log = {
    .name = "box log",
    .arguments = "BOX",
    .summary = "show the changes of a box, newest first",
    .examples = "box log --project demo 01970000-0000-7000-8000-000000000001\n"
                "box log --project demo --limit 1 --json 01970000-0000-7000-8000-000000000001",
    .options = CLI_IN_PROJECT(CLI_INT("before", before, "N", "only versions below N", 1, INT32_MAX),
                              CLI_LIMIT),
    .run = show_log,
};

/*
 * box.c: `cardbox box get`, `cards` and `log`, over the public SDK. What changes boxes is in
 * box_change.c.
 */
#include <inttypes.h>
#include "cli/card_view.h"
#include "cli/commands.h"

/* The line above what a box holds. */
static void print_head(const char *box_id, int64_t version, int64_t length)
{
    printf("%sbox %s%s   version %" PRId64 "   %" PRId64 " card%s\n", term_on(STYLE_BOLD), box_id,
           term_off(STYLE_BOLD), version, length, length == 1 ? "" : "s");
}

static void add_ids(buf *out, const char *name, const char *const *ids, size_t count)
{
    buf_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i > 0 ? "," : "");
        buf_json_string(out, view_of(ids[i]));
    }
    buf_char(out, ']');
}

/* --- get --- */

typedef struct get_options {
    cli_common common;
    long at_version;
} get_options;

static bool print_json(const cardbox_box *box)
{
    buf line = BUF_INIT(SIZE_MAX / 2);
    bool fine;

    buf_printf(&line, "{\"box_id\":\"%s\"", box->box_id);
    add_ids(&line, "card_ids", box->card_ids, box->card_count);
    buf_printf(&line, ",\"version\":%" PRId64 ",\"length\":%" PRId64, box->version, box->length);
    add_ids(&line, "parent_ids", box->parent_ids, box->parent_count);
    buf_printf(&line, ",\"created_at\":\"%s\",\"updated_at\":\"%s\"}\n", box->created_at,
               box->updated_at);
    fine = buf_ok(&line);
    fwrite(buf_str(&line), 1, line.len, stdout);
    buf_free(&line);
    return fine;
}

static bool print_box(const cardbox_box *box)
{
    static const table_column columns[] = {{"#", TABLE_RIGHT}, {"card", TABLE_FLEXIBLE}};
    table ids;
    bool printed;

    print_head(box->box_id, box->version, box->length);
    for (size_t i = 0; i < box->parent_count; i++)
        printf("  from box %s\n", box->parent_ids[i]);
    table_init(&ids, columns, 2);
    for (size_t i = 0; i < box->card_count; i++) {
        table_int(&ids, box->first + (int64_t)i + 1);
        table_text(&ids, box->card_ids[i]);
    }
    printed = box->card_count == 0 || table_print(stdout, &ids, 2, term_width());
    table_free(&ids);
    return printed;
}

static cli_exit run_get(const void *given, char **arguments, int count)
{
    const get_options *options = given;
    cardbox_read_options part = {.at_version = options->at_version};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_boxes *boxes = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_load_box(&boxes, db, options->common.project, arguments[0], &part, &err) !=
        CARDBOX_OK) {
        status = cli_failed(&err);
    } else {
        const cardbox_box *box = cardbox_boxes_at(boxes, 0);

        if (!(options->common.json ? print_json(box) : print_box(box)))
            status = cli_nomem();
    }
    cardbox_boxes_free(boxes);
    cardbox_close(db);
    return status;
}

static const opt_spec get_specs[] = {
    CLI_DSN(get_options),
    CLI_PROJECT(get_options),
    {"at-version", OPT_INT, offsetof(get_options, at_version), NULL, "N",
     "as it was at this version", 1, INT32_MAX},
    CLI_JSON(get_options),
    CLI_OPTIONS_END,
};

static const get_options get_defaults = {0};

const cli_command cli_box_get = {
    .name = "box get",
    .arguments = "BOX",
    .summary = "show the ids in a box",
    .examples = "box get --project demo 01970000-0000-7000-8000-000000000001\n"
                "box get --project demo --at-version 1 --json 01970000-0000-7000-8000-000000000001",
    .options = get_specs,
    .defaults = &get_defaults,
    .size = sizeof(get_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_get,
};

/* --- cards --- */

typedef struct cards_options {
    cli_common common;
    long tail;
    long at_version;
} cards_options;

/* A table whose numbers are positions in the box: a card that is missing keeps its place. */
static bool print_table(const cardbox_box *box, const cardbox_cards *cards)
{
    card_table rows;
    size_t next = 0;

    print_head(box->box_id, box->version, box->length);
    card_table_init(&rows, true);
    for (size_t i = 0; i < box->card_count; i++) {
        const cardbox_card *card = cardbox_cards_at(cards, next);
        int64_t position = box->first + (int64_t)i + 1;

        if (card != NULL && strcmp(card->card_id, box->card_ids[i]) == 0) {
            card_table_add(&rows, card, position);
            next++;
        } else {
            card_table_add_missing(&rows, box->card_ids[i], position);
        }
    }
    return card_table_print(&rows);
}

/* Reads the ids and then the cards of the same version, so that the two fit together. */
static cardbox_status read_cards(cardbox_boxes **boxes, cardbox_cards **cards, cardbox *db,
                                 const cards_options *options, const char *box_id,
                                 cardbox_error *err)
{
    cardbox_read_options part = {.tail = (size_t)options->tail, .at_version = options->at_version};
    cardbox_status status =
        cardbox_load_box(boxes, db, options->common.project, box_id, &part, err);

    if (status != CARDBOX_OK)
        return status;
    part.at_version = cardbox_boxes_at(*boxes, 0)->version;
    return cardbox_get_box_cards(cards, db, options->common.project, box_id, &part, err);
}

static cli_exit run_cards(const void *given, char **arguments, int count)
{
    const cards_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_boxes *boxes = NULL;
    cardbox_cards *cards = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;
    bool printed;

    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (read_cards(&boxes, &cards, db, options, arguments[0], &err) != CARDBOX_OK) {
        status = cli_failed(&err);
    } else {
        printed = options->common.json ? card_view_print_json(cards, options->common.project)
                                       : print_table(cardbox_boxes_at(boxes, 0), cards);
        if (!printed)
            status = cli_nomem();
    }
    cardbox_cards_free(cards);
    cardbox_boxes_free(boxes);
    cardbox_close(db);
    return status;
}

static const opt_spec cards_specs[] = {
    CLI_DSN(cards_options),
    CLI_PROJECT(cards_options),
    {"tail", OPT_INT, offsetof(cards_options, tail), NULL, "N", "only the last N", 1, INT32_MAX},
    {"at-version", OPT_INT, offsetof(cards_options, at_version), NULL, "N",
     "as it was at this version", 1, INT32_MAX},
    CLI_JSON(cards_options),
    CLI_OPTIONS_END,
};

static const cards_options cards_defaults = {0};

const cli_command cli_box_cards = {
    .name = "box cards",
    .arguments = "BOX",
    .summary = "show the cards in a box",
    .examples = "box cards --project demo 01970000-0000-7000-8000-000000000001\n"
                "box cards --project demo --tail 3 --json 01970000-0000-7000-8000-000000000001",
    .options = cards_specs,
    .defaults = &cards_defaults,
    .size = sizeof(cards_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_cards,
};

/* --- log --- */

typedef struct log_options {
    cli_common common;
    long before;
} log_options;

static bool print_log_json(const cardbox_log *log)
{
    buf line = BUF_INIT(64 * CARDBOX_KEY_MAX);
    bool fine = true;

    for (size_t i = 0; fine && i < cardbox_log_count(log); i++) {
        const cardbox_log_entry *entry = cardbox_log_at(log, i);

        buf_reset(&line, 4096);
        buf_printf(&line,
                   "{\"version\":%" PRId64 ",\"op\":\"%s\",\"length\":%" PRId64
                   ",\"added\":%" PRId64 ",\"append_key\":",
                   entry->version, entry->op, entry->length, entry->added);
        if (entry->append_key != NULL)
            buf_json_string(&line, view_of(entry->append_key));
        else
            buf_text(&line, "null");
        buf_printf(&line, ",\"at\":\"%s\"}", entry->at);
        fine = buf_ok(&line);
        puts(buf_str(&line));
    }
    buf_free(&line);
    return fine;
}

static bool print_log(const cardbox_log *log)
{
    static const table_column columns[] = {{"version", TABLE_RIGHT}, {"op", TABLE_LEFT},
                                           {"added", TABLE_RIGHT},   {"length", TABLE_RIGHT},
                                           {"age", TABLE_RIGHT},     {"at", TABLE_LEFT},
                                           {"key", TABLE_FLEXIBLE}};
    table rows;
    bool printed;

    table_init(&rows, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < cardbox_log_count(log); i++) {
        const cardbox_log_entry *entry = cardbox_log_at(log, i);
        char age[AGE_SIZE];

        table_int(&rows, entry->version);
        table_text(&rows, entry->op);
        table_int(&rows, entry->added);
        table_int(&rows, entry->length);
        table_add(&rows, view_of(card_view_age(age, entry->at)), STYLE_DIM);
        table_text(&rows, entry->at);
        table_text(&rows, entry->append_key);
    }
    printed = table_print(stdout, &rows, 2, term_width());
    table_free(&rows);
    return printed;
}

static cli_exit run_log(const void *given, char **arguments, int count)
{
    const log_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_log *log = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_box_log(&log, db, options->common.project, arguments[0], options->before,
                        (unsigned)options->common.limit, &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else if (!(options->common.json ? print_log_json(log) : print_log(log)))
        status = cli_nomem();
    cardbox_log_free(log);
    cardbox_close(db);
    return status;
}

static const opt_spec log_specs[] = {
    CLI_DSN(log_options),
    CLI_PROJECT(log_options),
    {"before", OPT_INT, offsetof(log_options, before), NULL, "N", "only versions below this one", 1,
     INT32_MAX},
    CLI_LIMIT(log_options),
    CLI_JSON(log_options),
    CLI_OPTIONS_END,
};

static const log_options log_defaults = {0};

const cli_command cli_box_log = {
    .name = "box log",
    .arguments = "BOX",
    .summary = "show the changes of a box, newest first",
    .examples = "box log --project demo 01970000-0000-7000-8000-000000000001\n"
                "box log --project demo --limit 1 --json 01970000-0000-7000-8000-000000000001",
    .options = log_specs,
    .defaults = &log_defaults,
    .size = sizeof(log_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_log,
};

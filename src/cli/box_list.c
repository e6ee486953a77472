/*
 * box_list.c: `cardbox box list` and `cardbox card boxes`, over the public SDK.
 */
#include <inttypes.h>
#include "cli/card_view.h"
#include "cli/commands.h"

typedef struct list_options {
    cli_common common;
    const char *cursor;
} list_options;

static bool print_json(const cardbox_boxes *boxes)
{
    buf line = BUF_INIT(SIZE_MAX / 2);
    bool fine = true;

    for (size_t i = 0; fine && i < cardbox_boxes_count(boxes); i++) {
        const cardbox_box *box = cardbox_boxes_at(boxes, i);

        buf_reset(&line, 4096);
        buf_printf(&line,
                   "{\"box_id\":\"%s\",\"version\":%" PRId64 ",\"length\":%" PRId64
                   ",\"parent_ids\":[",
                   box->box_id, box->version, box->length);
        for (size_t k = 0; k < box->parent_count; k++) {
            buf_text(&line, k > 0 ? "," : "");
            buf_json_string(&line, view_of(box->parent_ids[k]));
        }
        buf_printf(&line, "],\"created_at\":\"%s\",\"updated_at\":\"%s\"}", box->created_at,
                   box->updated_at);
        fine = buf_ok(&line);
        puts(buf_str(&line));
    }
    buf_free(&line);
    return fine;
}

static bool print_table(const cardbox_boxes *boxes)
{
    static const table_column columns[] = {{"box", TABLE_WHOLE},     {"version", TABLE_RIGHT},
                                           {"length", TABLE_RIGHT},  {"changed", TABLE_RIGHT},
                                           {"created", TABLE_RIGHT}, {"from", TABLE_FLEXIBLE}};
    table rows;
    bool printed;

    table_init(&rows, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < cardbox_boxes_count(boxes); i++) {
        const cardbox_box *box = cardbox_boxes_at(boxes, i);
        char age[AGE_SIZE];

        table_text(&rows, box->box_id);
        table_int(&rows, box->version);
        table_int(&rows, box->length);
        table_add(&rows, view_of(card_view_age(age, box->updated_at)), STYLE_DIM);
        table_add(&rows, view_of(card_view_age(age, box->created_at)), STYLE_DIM);
        table_text(&rows, box->parent_count > 0 ? box->parent_ids[0] : NULL);
    }
    printed = cardbox_boxes_count(boxes) == 0 || table_print(stdout, &rows, 0, term_width());
    table_free(&rows);
    return printed;
}

static const cli_origin LIST_ORIGINS[] = {{"cursor", "--cursor"}, {NULL, NULL}};

static cli_exit run_list(const void *given, char **arguments, int count)
{
    const list_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_boxes *boxes = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)arguments;
    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_list_boxes(&boxes, db, options->common.project, options->cursor,
                           (unsigned)options->common.limit, &err) != CARDBOX_OK)
        status = cli_refused(&err, LIST_ORIGINS);
    else if (!(options->common.json ? print_json(boxes) : print_table(boxes)))
        status = cli_nomem();
    else if (cardbox_boxes_count(boxes) == 0 && !options->common.json)
        cli_note("no boxes in project %s", options->common.project);
    /* Not on stdout, where programs read boxes. */
    if (cardbox_boxes_cursor(boxes) != NULL)
        cli_note("older ones: --cursor %s", cardbox_boxes_cursor(boxes));
    cardbox_boxes_free(boxes);
    cardbox_close(db);
    return status;
}

static const opt_spec list_specs[] = {
    CLI_DSN(list_options),
    CLI_PROJECT(list_options),
    {"cursor", OPT_TEXT, offsetof(list_options, cursor), NULL, "CURSOR",
     "go on where an earlier list ended", 0, 0},
    CLI_LIMIT(list_options),
    CLI_JSON(list_options),
    CLI_OPTIONS_END,
};

static const list_options list_defaults = {0};

const cli_command cli_box_list = {
    .name = "box list",
    .arguments = "",
    .summary = "list boxes, newest first",
    .examples = "box list --project demo\n"
                "box list --project demo --limit 1 --json",
    .options = list_specs,
    .defaults = &list_defaults,
    .size = sizeof(list_options),
    .needs_project = true,
    .run = run_list,
};

/* --- the boxes of a card --- */

typedef struct with_card_options {
    cli_common common;
} with_card_options;

static cli_exit run_with_card(const void *given, char **arguments, int count)
{
    static const cli_origin origins[] = {{"card_id", "the card's id"}, {0}};
    const with_card_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_boxes *boxes = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_boxes_with_card(&boxes, db, options->common.project, arguments[0],
                                (unsigned)options->common.limit, &err) != CARDBOX_OK)
        status = cli_refused(&err, origins);
    else if (!(options->common.json ? print_json(boxes) : print_table(boxes)))
        status = cli_nomem();
    else if (cardbox_boxes_count(boxes) == 0 && !options->common.json)
        cli_note("no box of project %s holds %s now", options->common.project, arguments[0]);
    cardbox_boxes_free(boxes);
    cardbox_close(db);
    return status;
}

static const opt_spec with_card_specs[] = {
    CLI_DSN(with_card_options),
    CLI_PROJECT(with_card_options),
    CLI_LIMIT(with_card_options),
    CLI_JSON(with_card_options),
    CLI_OPTIONS_END,
};

static const with_card_options with_card_defaults = {0};

const cli_command cli_card_boxes = {
    .name = "card boxes",
    .arguments = "CARD",
    .summary = "list the boxes that hold a card now",
    .description = "The box that changed last comes first.",
    .examples = "card boxes --project demo demo-001-instruction",
    .options = with_card_specs,
    .defaults = &with_card_defaults,
    .size = sizeof(with_card_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_with_card,
};

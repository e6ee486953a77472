/*
 * card.c: `cardbox card get`, `add` and `list`, over the public SDK.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/arena.h"
#include "cli/card_view.h"
#include "cli/commands.h"

/* --- get --- */

typedef struct get_options {
    cli_common common;
} get_options;

static void add_fact(table *facts, const char *name, const char *value, term_style style)
{
    if (value == NULL || *value == '\0')
        return;
    table_add(facts, view_of(name), STYLE_DIM);
    table_add(facts, view_of(value), style);
}

static void add_moment(table *facts, const char *name, const char *moment)
{
    char age[AGE_SIZE], text[96];

    if (moment == NULL)
        return;
    snprintf(text, sizeof(text), "%s (%s ago)", moment, card_view_age(age, moment));
    add_fact(facts, name, text, STYLE_PLAIN);
}

/* Everything that a card has, then what it says. */
static bool print_card(const cardbox_card *card)
{
    static const table_column columns[] = {{"", TABLE_LEFT}, {"", TABLE_FLEXIBLE}};
    const char *role = card_view_role(card);
    table facts;
    bool printed;

    printf("%scard %s%s\n", term_on(STYLE_BOLD), card->card_id, term_off(STYLE_BOLD));
    table_init(&facts, columns, 2);
    add_fact(&facts, "type", card->type, STYLE_PLAIN);
    add_fact(&facts, "role", role, card_view_style(role));
    add_fact(&facts, "author", card->author_id, STYLE_PLAIN);
    add_moment(&facts, "created", card->created_at);
    add_fact(&facts, "expires", card->expires_at, STYLE_PLAIN);
    add_fact(&facts, "sealed", card->sealed ? "yes" : NULL, STYLE_PLAIN);
    add_fact(&facts, "tool call", card->tool_call_id, STYLE_PLAIN);
    add_fact(&facts, "tool calls", card->tool_calls, STYLE_PLAIN);
    add_fact(&facts, "metadata", card->metadata, STYLE_PLAIN);
    printed = table_print(stdout, &facts, 2, term_width());
    table_free(&facts);
    putchar('\n');
    term_print_text(stdout, view_of(cardbox_card_text(card)));
    return printed;
}

static cli_exit print_cards(const cardbox_cards *cards, const cli_common *common)
{
    bool printed = true;

    if (common->json)
        printed = card_view_print_json(cards, common->project);
    for (size_t i = 0; !common->json && printed && i < cardbox_cards_count(cards); i++) {
        if (i > 0)
            putchar('\n');
        printed = print_card(cardbox_cards_at(cards, i));
    }
    for (size_t i = 0; i < cardbox_cards_missing_count(cards); i++)
        cli_error("card not found: %s", cardbox_cards_missing_at(cards, i));
    if (!printed)
        return cli_nomem();
    return cardbox_cards_missing_count(cards) > 0 ? CLI_FAILED : CLI_DONE;
}

static cli_exit run_get(const void *given, char **arguments, int count)
{
    const get_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_cards *cards = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_FAILED;

    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_get_cards(&cards, db, options->common.project,
                          (const char *const *)(const void *)arguments, (size_t)count,
                          &err) == CARDBOX_OK)
        status = print_cards(cards, &options->common);
    else
        cli_failed(&err);
    cardbox_cards_free(cards);
    cardbox_close(db);
    return status;
}

static const opt_spec get_specs[] = {
    CLI_DSN(get_options),
    CLI_PROJECT(get_options),
    CLI_JSON(get_options),
    CLI_OPTIONS_END,
};

static const get_options get_defaults = {0};

const cli_command cli_card_get = {
    .name = "card get",
    .arguments = "CARD...",
    .summary = "show cards",
    .description =
        "With --json a card is what the HTTP API answers: its content without the "
        "\"__type__\" of\nits class. `cardbox export` gives contents as they are stored.",
    .examples = "card get --project demo demo-010-result\n"
                "card get --project demo --json demo-001-instruction demo-002-profile",
    .options = get_specs,
    .defaults = &get_defaults,
    .size = sizeof(get_options),
    .least = 1,
    .most = -1,
    .needs_project = true,
    .run = run_get,
};

/* --- add --- */

typedef struct add_options {
    cli_common common;
    const char *id, *type, *role, *author, *step;
    const char *content, *text, *metadata, *tool_calls, *tool_call_id;
    long ttl;
    bool sealed, strict, restore;
} add_options;

static const cli_origin CONTENT_ORIGINS[] = {
    {"content", "--content"}, {"field", "--content: field"}, {"text", "--text"}, {0}};
static const cli_origin ADD_ORIGINS[] = {{"card_id", "--id"},
                                         {"metadata", "--metadata"},
                                         {"tool_calls", "--tool-calls"},
                                         {"tool_call_id", "--tool-call-id"},
                                         {"type", "--type"},
                                         {"role", "--role"},
                                         {"author_id", "--author"},
                                         {"step_id", "--step"},
                                         {0}};

/* The content in its stored form; free it with cardbox_free. NULL: why was said, and *why is what
 * the command ends with. */
static char *make_content(cli_exit *why, const add_options *options, const char *argument)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    const char *json = argument ? argument : options->content;
    const char *given = json ? json : options->text;
    buf input = BUF_INIT(CARDBOX_CONTENT_MAX);
    char *content = NULL;
    cardbox_status status = CARDBOX_OK;

    *why = CLI_FAILED;
    if (strcmp(given, "-") == 0) {
        if (!cli_read_input(&input))
            goto done;
        given = buf_str(&input);
    }
    if (given == buf_str(&input) && memchr(given, '\0', input.len) != NULL && json == NULL) {
        cli_error("the standard input is no text: it has a NUL byte");
        goto done;
    }
    if (json == NULL)
        status = cardbox_text_content(&content, given, &err);
    else
        status = cardbox_content_check(&content, given, input.len, &err);
    if (status != CARDBOX_OK)
        *why = given == buf_str(&input) ? cli_failed(&err) : cli_refused(&err, CONTENT_ORIGINS);
done:
    buf_free(&input);
    return content;
}

static void print_added(const add_options *options, const char *id, cardbox_outcome outcome)
{
    buf line = BUF_INIT(8 * CARDBOX_CARD_ID_MAX);

    if (options->common.json) {
        buf_text(&line, "{\"card_id\":");
        buf_json_string(&line, view_of(id));
        buf_printf(&line, ",\"outcome\":\"%s\"}", cardbox_outcome_name(outcome));
    } else {
        buf_printf(&line, "%s  %s", id, cardbox_outcome_name(outcome));
    }
    puts(buf_str(&line));
    buf_free(&line);
}

static cli_exit add_card(const add_options *options, const char *content)
{
    cardbox_card card = CARDBOX_CARD_INIT;
    cardbox_add_options how = CARDBOX_ADD_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_outcome outcome = CARDBOX_OUTCOME_NONE;
    char id[CARDBOX_UUID_SIZE];
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    cardbox_uuid7(id);
    card.card_id = options->id ? options->id : id;
    card.content = content;
    card.metadata = options->metadata;
    card.tool_calls = options->tool_calls;
    card.tool_call_id = options->tool_call_id;
    card.type = options->type;
    card.role = options->role;
    card.author_id = options->author;
    card.step_id = options->step;
    card.ttl_seconds = (int32_t)options->ttl;
    card.sealed = options->sealed;
    how.strict = options->strict;
    how.restore = options->restore;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_add_card(&outcome, db, options->common.project, &card, &how, &err) == CARDBOX_OK)
        print_added(options, card.card_id, outcome);
    else
        status = cli_refused(&err, ADD_ORIGINS);
    cardbox_close(db);
    return status;
}

static cli_exit run_add(const void *given, char **arguments, int count)
{
    const add_options *options = given;
    const char *argument = count > 0 ? arguments[0] : NULL;
    char *content = NULL;
    cli_exit status;

    if (argument != NULL && strcmp(argument, "-") != 0) {
        cli_error("unexpected argument \"%s\": give --content JSON, --text TEXT, or - to read JSON "
                  "from the standard input",
                  argument);
        return CLI_USAGE;
    }
    if ((argument != NULL) + (options->content != NULL) + (options->text != NULL) != 1) {
        cli_error("give one of --content JSON, --text TEXT, and - to read JSON from the standard "
                  "input");
        return CLI_USAGE;
    }
    content = make_content(&status, options, argument);
    if (content != NULL)
        status = add_card(options, content);
    cardbox_free(content);
    return status;
}

#define ADD_TEXT(name, field, value, help)                                                         \
    {                                                                                              \
        name, OPT_TEXT, offsetof(add_options, field), NULL, value, help, 0, 0                      \
    }
#define ADD_FLAG(name, field, help)                                                                \
    {                                                                                              \
        name, OPT_FLAG, offsetof(add_options, field), NULL, NULL, help, 0, 0                       \
    }

static const opt_spec add_specs[] = {
    CLI_DSN(add_options),
    CLI_PROJECT(add_options),
    ADD_TEXT("id", id, "ID", "its id (default: a new UUIDv7)"),
    ADD_TEXT("type", type, "TYPE", "metadata.type, such as task.instruction"),
    ADD_TEXT("role", role, "ROLE", "metadata.role (default: that of the type)"),
    ADD_TEXT("author", author, "ID", "metadata.author_id"),
    ADD_TEXT("step", step, "ID", "metadata.step_id"),
    ADD_TEXT("content", content, "JSON", "content; - reads it from the standard input"),
    ADD_TEXT("text", text, "TEXT", "content of plain text; - reads it from the standard input"),
    ADD_TEXT("metadata", metadata, "JSON", "an object"),
    ADD_TEXT("tool-calls", tool_calls, "JSON", "an array"),
    ADD_TEXT("tool-call-id", tool_call_id, "ID", "the call that this is, or is the result of"),
    {"ttl", OPT_INT, offsetof(add_options, ttl), NULL, "SECONDS", "how long it lives", 1,
     INT32_MAX},
    ADD_FLAG("sealed", sealed, "it can never be changed or deleted again"),
    ADD_FLAG("strict", strict, "refuse other content under an id that exists"),
    ADD_FLAG("restore", restore, "bring back a deleted or expired card"),
    CLI_JSON(add_options),
    CLI_OPTIONS_END,
};

static const add_options add_defaults = {0};

const cli_command cli_card_add = {
    .name = "card add",
    .arguments = "[-]",
    .summary = "write a card",
    .description = "Its content is --content JSON, --text TEXT, or JSON from the standard input if "
                   "the argument\nis -. Prints the card's id and what happened: inserted, "
                   "unchanged, repaired or restored.\nContent of a known class (its "
                   "\"__type__\") is checked.",
    .examples = "card add --project demo --type task.instruction --text 'Summarise the report'\n"
                "card add --project demo --id c-1 --content '{\"any\":[\"JSON\"]}' --strict\n"
                "card add --project demo --id c-2 - < content.json\n"
                "card add --project demo --type agent.thought --text - < thought.txt",
    .options = add_specs,
    .defaults = &add_defaults,
    .size = sizeof(add_options),
    .most = 1,
    .needs_project = true,
    .run = run_add,
};

/* --- list --- */

typedef struct list_options {
    cli_common common;
    const char *type, *role, *step, *trace, *turn, *call, *after, *before, *cursor;
    opt_list meta;
} list_options;

static bool print_list(const cardbox_cards *cards, const cli_common *common)
{
    card_table rows;

    if (common->json)
        return card_view_print_json(cards, common->project);
    card_table_init(&rows, false, true);
    for (size_t i = 0; i < cardbox_cards_count(cards); i++)
        card_table_add(&rows, cardbox_cards_at(cards, i), 0);
    return card_table_print(&rows);
}

static const cli_origin LIST_ORIGINS[] = {
    {"created_after", "--after"},        {"created_before", "--before"}, {"cursor", "--cursor"},
    {"a metadata key", "--meta: a key"}, {"tool_call_id", "--call"},     {0}};

/* Cuts KEY=VALUE at the first =, so that a value may have more of them. False: why was said. */
static bool read_matches(cardbox_match *out, arena *memory, const opt_list *given)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->at[i], *equals = strchr(text, '=');

        if (equals == NULL || equals == text || given->count > CARDBOX_FILTERS_MAX) {
            cli_error("--meta takes KEY=VALUE, at most %d times, not \"%s\"", CARDBOX_FILTERS_MAX,
                      text);
            return false;
        }
        out[i].key = arena_copy(memory, (view){text, (size_t)(equals - text)});
        out[i].value = equals + 1;
    }
    return true;
}

static bool is_filtered(const list_options *options)
{
    const char *const filters[] = {options->type,  options->role,   options->step,
                                   options->trace, options->turn,   options->call,
                                   options->after, options->before, options->cursor};

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        if (filters[i] != NULL)
            return true;
    }
    return options->meta.count > 0;
}

static cli_exit print_found(const cardbox_cards *cards, const list_options *options)
{
    if (!print_list(cards, &options->common))
        return cli_nomem();
    if (cardbox_cards_count(cards) == 0 && !options->common.json)
        cli_note("no%s cards in project %s", is_filtered(options) ? " such" : "",
                 options->common.project);
    /* Not on stdout, where programs read cards. */
    if (cardbox_cards_cursor(cards) != NULL)
        cli_note("older ones: --cursor %s", cardbox_cards_cursor(cards));
    return CLI_DONE;
}

static cli_exit list_cards(const list_options *options, const cardbox_match *matches)
{
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_cards *cards = NULL;
    cardbox *db = NULL;
    cli_exit status;

    filter.type = options->type;
    filter.role = options->role;
    filter.step_id = options->step;
    filter.trace_id = options->trace;
    filter.agent_turn_id = options->turn;
    filter.tool_call_ids = &options->call;
    filter.tool_call_count = options->call != NULL;
    filter.matches = matches;
    filter.match_count = options->meta.count;
    filter.created_after = options->after;
    filter.created_before = options->before;
    filter.cursor = options->cursor;
    filter.limit = (unsigned)options->common.limit;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_list_cards(&cards, db, options->common.project, &filter, &err) != CARDBOX_OK)
        status = cli_refused(&err, LIST_ORIGINS);
    else
        status = print_found(cards, options);
    cardbox_cards_free(cards);
    cardbox_close(db);
    return status;
}

static cli_exit run_list(const void *given, char **arguments, int count)
{
    const list_options *options = given;
    cardbox_match matches[CARDBOX_FILTERS_MAX];
    arena memory = ARENA_INIT;
    cli_exit status = CLI_USAGE;

    (void)arguments;
    (void)count;
    if (read_matches(matches, &memory, &options->meta))
        status = memory.failed ? cli_nomem() : list_cards(options, matches);
    arena_reset(&memory);
    return status;
}

#define LIST_TEXT(name, field, value, help)                                                        \
    {                                                                                              \
        name, OPT_TEXT, offsetof(list_options, field), NULL, value, help, 0, 0                     \
    }

static const opt_spec list_specs[] = {
    CLI_DSN(list_options),
    CLI_PROJECT(list_options),
    LIST_TEXT("type", type, "TYPE", "only with this metadata.type"),
    LIST_TEXT("role", role, "ROLE", "only with this metadata.role"),
    LIST_TEXT("step", step, "ID", "only with this metadata.step_id"),
    LIST_TEXT("trace", trace, "ID", "only with this metadata.trace_id"),
    LIST_TEXT("turn", turn, "ID", "only with this metadata.agent_turn_id"),
    LIST_TEXT("call", call, "ID", "only of this tool call"),
    {"meta", OPT_LIST, offsetof(list_options, meta), NULL, "KEY=VALUE",
     "only with this in the metadata; may be given several times", 0, 0},
    LIST_TEXT("after", after, "TIME", "only created later, such as 2025-01-02T03:04:05Z"),
    LIST_TEXT("before", before, "TIME", "only created earlier"),
    LIST_TEXT("cursor", cursor, "CURSOR", "go on where an earlier list ended"),
    CLI_LIMIT(list_options),
    CLI_JSON(list_options),
    CLI_OPTIONS_END,
};

static const list_options list_defaults = {0};

const cli_command cli_card_list = {
    .name = "card list",
    .arguments = "",
    .summary = "list cards, newest first",
    .examples = "card list --project demo --type tool.result --limit 20\n"
                "card list --project demo --step step-1 --json\n"
                "card list --project demo --meta author_id=agent-1 --meta host=db-2",
    .options = list_specs,
    .defaults = &list_defaults,
    .size = sizeof(list_options),
    .needs_project = true,
    .run = run_list,
};

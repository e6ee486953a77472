/*
 * card.c: `cardbox card get`, `add`, `list` and `revisions`.
 */
#include "base/arena.h"
#include "cli/card/card_view.h"
#include "cli/files.h"
#include "cli/view/table.h"

/* --- get --- */

static void add_moment(table *facts, const char *name, const char *moment)
{
    char age[AGE_SIZE], text[96];

    if (moment == NULL)
        return;
    snprintf(text, sizeof(text), "%s (%s ago)", moment, card_view_age(age, moment));
    table_fact(facts, name, text, STYLE_PLAIN);
}

static void print_card(const cardbox_card *card)
{
    static const table_column columns[] = {{"", TABLE_LEFT}, {"", TABLE_FLEXIBLE}};
    const char *role = card_view_role(card);
    table facts;

    term_put_title("card ", card->card_id);
    putchar('\n');
    table_init(&facts, columns, 2);
    table_fact(&facts, "type", card->type, STYLE_PLAIN);
    table_fact(&facts, "role", role, card_view_style(slice_of(role)));
    table_fact(&facts, "author", card->author_id, STYLE_PLAIN);
    add_moment(&facts, "created", card->created_at);
    table_fact(&facts, "expires", card->expires_at, STYLE_PLAIN);
    table_fact(&facts, "sealed", card->sealed ? "yes" : NULL, STYLE_PLAIN);
    table_fact(&facts, "tool call", card->tool_call_id, STYLE_PLAIN);
    table_fact(&facts, "tool calls", card->tool_calls, STYLE_PLAIN);
    table_fact(&facts, "metadata", card->metadata, STYLE_PLAIN);
    table_print(stdout, &facts, 2, 0); /* width 0: cells are not cut to the terminal's width */
    table_free(&facts);
    putchar('\n');
    term_print_text(stdout, slice_of(cardbox_card_text(card)));
}

/* `rows` is a cardbox_cards or a cardbox_revisions. */
typedef struct of_project {
    const void *rows;
    const char *project;
} of_project;

static void add_card_object(buf *out, const void *given, size_t i)
{
    const of_project *of = given;

    card_view_json(out, cardbox_cards_at(of->rows, i), of->project);
}

static void add_card_row(table *rows, const void *given, size_t i)
{
    const of_project *of = given;
    const cardbox_card *card = cardbox_cards_at(of->rows, i);

    card_view_add_row(rows, card, card->card_id, 0, true);
}

static const listing CARDS = {add_card_object, add_card_row, 2, {CARD_COLUMNS_WITH_IDS}};

static cli_exit show_cards(cli_call *call)
{
    cardbox_cards *cards = NULL;

    if (cardbox_cards_get(&cards, call->db, call->project,
                          (const char *const *)(const void *)call->arguments, call->argument_count,
                          &call->err) != CARDBOX_OK)
        return cli_failed(call);
    of_project of = {cards, call->project};
    size_t missing = cardbox_cards_missing_count(cards);
    if (call->json)
        listing_objects(&CARDS, &of, cardbox_cards_count(cards));
    for (size_t i = 0; !call->json && i < cardbox_cards_count(cards); i++) {
        if (i > 0)
            putchar('\n');
        print_card(cardbox_cards_at(cards, i));
    }
    for (size_t i = 0; i < missing; i++)
        cli_error("card not found: %s", cardbox_cards_missing_at(cards, i));
    cardbox_cards_free(cards);
    return missing > 0 ? CLI_FAILED : CLI_DONE;
}

const cli_command cli_card_get = {
    .name = "card get",
    .arguments = "CARD...",
    .summary = "show cards",
    .description = "With --json a card has the form of the HTTP API: its content lacks the "
                   "\"__type__\" of a known class. `cardbox export` writes contents as stored.",
    .examples = "card get --project demo demo-010-result\n"
                "card get --project demo --json demo-001-instruction demo-002-profile",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = show_cards,
};

/* --- add --- */

/* Returns the content of the new card in its stored form. The caller frees the content with
 * cardbox_free(). NULL: an error was printed, and *why is the exit status. */
static char *make_content(cli_exit *why, cli_call *call)
{
    const char *json = call->arguments[0] ? call->arguments[0] : call->content;
    const char *given = json ? json : call->text;
    bool is_read = strcmp(given, "-") == 0;
    buf input = BUF_INIT(CARDBOX_CONTENT_MAX);
    char *content = NULL;
    cardbox_status status = CARDBOX_OK;

    *why = CLI_FAILED;
    if (is_read) {
        if (!source_read(&input, given))
            goto done;
        given = buf_str(&input);
    }
    if (json == NULL && memchr(given, '\0', input.len) != NULL) {
        cli_error("the standard input is not text: it has a NUL byte");
        goto done;
    }
    status = json == NULL ? cardbox_text_content(&content, given, &call->err)
                          : cardbox_content_check(&content, given, input.len, &call->err);
    if (status != CARDBOX_OK && is_read)
        cli_error("%s", call->err.message);
    else if (status != CARDBOX_OK)
        *why = cli_failed(call);
done:
    buf_free(&input);
    return content;
}

static cli_exit add_card(cli_call *call)
{
    cli_exit why;
    char *content = make_content(&why, call);
    cardbox_outcome outcome = CARDBOX_OUTCOME_NONE;
    char id[CARDBOX_UUID_SIZE];

    if (content == NULL)
        return why;
    cardbox_uuid7(id);
    if (call->card.card_id == NULL)
        call->card.card_id = id;
    call->card.content = content;
    call->card.ttl_seconds = (int32_t)call->ttl;
    cardbox_status status =
        cardbox_add_card(&outcome, call->db, call->project, &call->card, &call->add, &call->err);
    cardbox_free(content);
    if (status != CARDBOX_OK)
        return cli_failed(call);
    return cli_print(call->json,
                     json_pack("{s:s, s:s}", "card_id", call->card.card_id, "outcome",
                               cardbox_outcome_name(outcome)),
                     "%s  %s", call->card.card_id, cardbox_outcome_name(outcome));
}

static bool check_content(const cli_call *call)
{
    const char *argument = call->arguments[0];

    if (argument != NULL && strcmp(argument, "-") != 0)
        cli_error("unexpected argument \"%s\": give --content JSON, --text TEXT, or - to read JSON "
                  "from the standard input",
                  argument);
    else if ((argument != NULL) + (call->content != NULL) + (call->text != NULL) != 1)
        cli_error("give one of --content JSON, --text TEXT, and - to read JSON from the standard "
                  "input");
    else
        return true;
    return false;
}

const cli_command cli_card_add = {
    .name = "card add",
    .arguments = "[-]",
    .summary = "write a card",
    .description =
        "The card's content is --content JSON, --text TEXT, or JSON from the standard input if the "
        "argument is -. The command prints the card's id and the outcome: inserted, unchanged, "
        "repaired or restored. Content whose \"__type__\" is a known class is checked.",
    .examples = "card add --project demo --type task.instruction --text 'Summarise the report'\n"
                "card add --project demo --id c-1 --content '{\"any\":[\"JSON\"]}' --strict\n"
                "card add --project demo --id c-2 - < content.json\n"
                "card add --project demo --type agent.thought --text - < thought.txt",
    .options = CLI_IN_PROJECT(
        CLI_TEXT("id", card.card_id, "ID", "id of the card (default: a new UUIDv7)"),
        CLI_TEXT("type", card.type, "TYPE", "metadata.type, such as task.instruction"),
        CLI_TEXT("role", card.role, "ROLE", "metadata.role; default: the type's role, if any"),
        CLI_TEXT("author", card.author_id, "ID", "metadata.author_id"),
        CLI_TEXT("step", card.step_id, "ID", "metadata.step_id"),
        CLI_TEXT("content", content, "JSON", "content; - reads it from the standard input"),
        CLI_TEXT("text", text, "TEXT", "content of plain text; - reads it from the standard input"),
        CLI_TEXT("metadata", card.metadata, "JSON", "an object"),
        CLI_TEXT("tool-calls", card.tool_calls, "JSON", "an array"),
        CLI_TEXT("tool-call-id", card.tool_call_id, "ID",
                 "id of the tool call that the card represents or answers"),
        CLI_INT("ttl", ttl, "SECONDS", "lifetime of the card", 1, INT32_MAX),
        CLI_FLAG("sealed", card.sealed, "nobody can change or delete it until it expires"),
        CLI_FLAG("strict", add.strict, "reject other content for an id that exists"),
        CLI_FLAG("restore", add.restore, "if the card is deleted or expired, restore it")),
    .origins = {{"content", "--content"},
                {"field", "--content: field"},
                {"text", "--text"},
                {"card_id", "--id"},
                {"metadata", "--metadata"},
                {"tool_calls", "--tool-calls"},
                {"tool_call_id", "--tool-call-id"},
                {"type", "--type"},
                {"role", "--role"},
                {"author_id", "--author"},
                {"step_id", "--step"}},
    .check = check_content,
    .run = add_card,
};

/* --- list --- */

static bool read_matches(cardbox_match *out, arena *memory, const opt_list *given)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->at[i], *equals = strchr(text, '=');

        if (equals == NULL || equals == text || given->count > CARDBOX_FILTERS_MAX)
            return cli_error_and(false, "--meta takes KEY=VALUE, at most %d times, not \"%s\"",
                                 CARDBOX_FILTERS_MAX, text);
        out[i].key = arena_copy(memory, (slice){text, (size_t)(equals - text)});
        out[i].value = equals + 1;
    }
    return true;
}

static cli_exit list_matching(cli_call *call)
{
    cardbox_card_filter *filter = &call->filter;
    cardbox_cards *cards = NULL;

    filter->tool_call_ids = &call->tool_call_id;
    filter->tool_call_count = call->tool_call_id != NULL;
    filter->match_count = call->meta.count;
    filter->cursor = call->cursor;
    filter->limit = (unsigned)call->limit;
    if (cardbox_cards_list(&cards, call->db, call->project, filter, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    of_project of = {cards, call->project};
    bool is_filtered = filter->type || filter->role || filter->step_id || filter->trace_id ||
                       filter->agent_turn_id || call->tool_call_id || filter->created_after ||
                       filter->created_before || filter->cursor || filter->match_count > 0;
    cli_exit status = listing_print(
        &CARDS, &of, cardbox_cards_count(cards), cardbox_cards_cursor(cards), call->json,
        "no%s cards in project %s", is_filtered ? " such" : "", call->project);
    cardbox_cards_free(cards);
    return status;
}

static cli_exit list_cards(cli_call *call)
{
    cardbox_match matches[CARDBOX_FILTERS_MAX];
    arena memory = ARENA_INIT;
    cli_exit status = CLI_USAGE;

    if (read_matches(matches, &memory, &call->meta)) {
        cli_check_memory(!memory.failed);
        call->filter.matches = matches;
        status = list_matching(call);
    }
    arena_reset(&memory);
    return status;
}

const cli_command cli_card_list = {
    .name = "card list",
    .summary = "list cards, newest first",
    .examples = "card list --project demo --type tool.result --limit 20\n"
                "card list --project demo --step step-1 --json\n"
                "card list --project demo --meta author_id=read_log --meta step_id=step-1",
    .options = CLI_IN_PROJECT(
        CLI_TEXT("type", filter.type, "TYPE", "only cards with this metadata.type"),
        CLI_TEXT("role", filter.role, "ROLE", "only cards with this metadata.role"),
        CLI_TEXT("step", filter.step_id, "ID", "only cards with this metadata.step_id"),
        CLI_TEXT("trace", filter.trace_id, "ID", "only cards with this metadata.trace_id"),
        CLI_TEXT("turn", filter.agent_turn_id, "ID", "only cards with this metadata.agent_turn_id"),
        CLI_TEXT("call", tool_call_id, "ID", "only cards of this tool call"),
        CLI_LIST("meta", meta, "KEY=VALUE",
                 "only cards with this metadata member; may be repeated"),
        CLI_TEXT("after", filter.created_after, "TIME",
                 "only cards created after a time: 2025-01-02T03:04:05Z"),
        CLI_TEXT("before", filter.created_before, "TIME", "only cards created before"), CLI_CURSOR,
        CLI_LIMIT),
    .origins = {{"created_after", "--after"},
                {"created_before", "--before"},
                {"a metadata key", "--meta: a key"},
                {"tool_call_id", "--call"}},
    .run = list_cards,
};

/* --- revisions --- */

static void add_revision_object(buf *out, const void *given, size_t i)
{
    const of_project *of = given;
    const cardbox_revision *one = cardbox_revisions_at(of->rows, i);

    buf_json_open_take(out, json_pack("{s:I, s:s}", "revision", (json_int_t)one->revision,
                                      "replaced_at", one->replaced_at));
    buf_name(out, "card");
    card_view_json(out, one->card, of->project);
    buf_char(out, '}');
}

static void add_revision_row(table *rows, const void *given, size_t i)
{
    const of_project *of = given;
    const cardbox_revision *one = cardbox_revisions_at(of->rows, i);
    buf summary = BUF_INIT(4 * (size_t)CARDBOX_CONTENT_MAX);

    card_view_summary(&summary, one->card);
    table_int(rows, one->revision);
    table_text(rows, one->card->type);
    table_text(rows, one->replaced_at);
    table_text(rows, buf_str(&summary));
    buf_free(&summary);
}

static const listing REVISIONS = {add_revision_object,
                                  add_revision_row,
                                  2,
                                  {{"revision", TABLE_RIGHT},
                                   {"type", TABLE_LEFT},
                                   {"until", TABLE_LEFT},
                                   {"content", TABLE_FLEXIBLE}}};

static cli_exit show_revisions(cli_call *call)
{
    cardbox_revisions *revisions = NULL;

    if (cardbox_card_revisions(&revisions, call->db, call->project, call->arguments[0],
                               call->before, (unsigned)call->limit, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    of_project of = {revisions, call->project};
    cli_exit status = listing_print(&REVISIONS, &of, cardbox_revisions_count(revisions), NULL,
                                    call->json, "no such revisions of %s", call->arguments[0]);
    cardbox_revisions_free(revisions);
    return status;
}

const cli_command cli_card_revisions = {
    .name = "card revisions",
    .arguments = "CARD",
    .summary = "show the earlier contents of a card, newest first",
    .examples = "card revisions --project demo demo-014-deliverable\n"
                "card revisions --project demo --json demo-014-deliverable",
    .options = CLI_IN_PROJECT(
        CLI_INT("before", before, "N", "only revisions below N", 1, INT32_MAX), CLI_LIMIT),
    .origins = {{"card_id", "the card's id"}},
    .run = show_revisions,
};

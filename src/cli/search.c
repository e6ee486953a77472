/*
 * search.c: `cardbox search`.
 */
#include "cli/card/card_view.h"

/* In a table, at most this number of characters of a snippet stand before its first match, so that
 * a narrow terminal shows the match. */
enum { BEFORE_MAX = 20 };

static void add_member(json_t *object, const char *name, const char *text)
{
    if (text != NULL)
        json_object_set_new(object, name, json_string(text));
}

/* Appends the hit as the JSON object of the HTTP API. */
static void add_hit_object(buf *out, const void *hits, size_t i)
{
    const cardbox_search_hit *hit = cardbox_search_hits_at(hits, i);
    json_t *object = json_object(), *offsets = json_array();

    add_member(object, "kind", hit->kind);
    add_member(object, "id", hit->id);
    add_member(object, "session_id", hit->session_id);
    add_member(object, "task_id", hit->task_id);
    add_member(object, "type", hit->type);
    add_member(object, "role", hit->role);
    add_member(object, "created_at", hit->created_at);
    add_member(object, "snippet", hit->snippet);
    for (size_t k = 0; k < hit->offset_count; k++)
        json_array_append_new(
            offsets, json_pack("[i, i]", (int)hit->offsets[k].from, (int)hit->offsets[k].to));
    cli_check_memory(json_array_size(offsets) == hit->offset_count);
    json_object_set_new(object, "offsets", offsets);
    buf_json_take(out, object);
}

/* Returns the number of characters to leave out at the beginning of the snippet. At most BEFORE_MAX
 * remain before the first match, and they begin with a word. *rest receives the remaining text.
 * Nothing is left out if the output is no terminal. */
static int32_t skip_beginning(slice *rest, const cardbox_search_hit *hit)
{
    int32_t first = hit->offset_count > 0 ? hit->offsets[0].from : 0, at = 0;
    bool is_word = true;

    *rest = slice_of(hit->snippet);
    if (term_width() == 0)
        return 0;
    while (rest->len > 0 && at < first && (first - at > BEFORE_MAX || (at > 0 && !is_word))) {
        is_word = rest->ptr[0] == ' ';
        size_t bytes = slice_utf8_step(*rest);
        *rest = (slice){rest->ptr + bytes, rest->len - bytes};
        at++;
    }
    return at;
}

static void add_snippet(table *rows, const cardbox_search_hit *hit)
{
    slice rest;
    int32_t skipped = skip_beginning(&rest, hit);
    int32_t moved = skipped > 0 ? skipped - 1 : 0; /* TERM_ELLIPSIS is one character */
    buf text = BUF_INIT(sizeof(TERM_ELLIPSIS) + rest.len);

    if (skipped > 0)
        buf_text(&text, TERM_ELLIPSIS);
    buf_slice(&text, rest);
    cli_check_memory(buf_ok(&text));
    table_text(rows, buf_str(&text));
    for (size_t i = 0; i < hit->offset_count; i++)
        table_highlight(rows, (size_t)(hit->offsets[i].from - moved),
                        (size_t)(hit->offsets[i].to - moved));
    buf_free(&text);
}

static void add_hit_row(table *rows, const void *hits, size_t i)
{
    const cardbox_search_hit *hit = cardbox_search_hits_at(hits, i);

    table_text(rows, hit->kind);
    table_text(rows, hit->session_id != NULL ? hit->session_id : hit->task_id);
    table_text(rows, hit->id);
    table_add(rows, slice_of(hit->role), card_view_style(slice_of(hit->role)));
    card_view_add_age(rows, hit->created_at);
    add_snippet(rows, hit);
}

static const listing HITS = {add_hit_object,
                             add_hit_row,
                             0,
                             {{"kind", TABLE_WORD},
                              {"session or task", TABLE_SHORT_ID},
                              {"id", TABLE_ID},
                              {"role", TABLE_SPARE},
                              {"age", TABLE_SPARE_RIGHT},
                              {"text", TABLE_FLEXIBLE}}};

static void join_words(buf *out, char **words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (i > 0)
            buf_char(out, ' ');
        buf_text(out, words[i]);
    }
    cli_check_memory(out->failure != BUF_NOMEM);
}

static cli_exit search(cli_call *call)
{
    buf query = BUF_INIT(SIZE_MAX / 4);
    cardbox_search_hits *hits = NULL;

    join_words(&query, call->arguments);
    call->search.cursor = call->cursor;
    call->search.limit = (unsigned)call->limit;
    cardbox_status status =
        cardbox_search(&hits, call->db, call->project, buf_str(&query), &call->search, &call->err);
    buf_free(&query);
    if (status != CARDBOX_OK)
        return cli_failed(call);
    cli_exit done = listing_print(&HITS, hits, cardbox_search_hits_count(hits),
                                  cardbox_search_hits_cursor(hits), call->json,
                                  "nothing found in project %s", call->project);
    cardbox_search_hits_free(hits);
    return done;
}

const cli_command cli_search = {
    .name = "search",
    .arguments = "WORD...",
    .summary = "search cards, messages and session entries, newest first",
    .description =
        "Finds the contents that have all given words. Capital letters and accents do not matter. "
        "An identifier such as getUserName is found as a whole and by its parts. In Chinese, "
        "Japanese and Korean text a word is any sequence of characters. A running cardboxd indexes "
        "new contents within a second. On a terminal, the found words are highlighted.",
    .examples = "search --project demo disk full\n"
                "search --project demo --role tool --limit 5 read_log\n"
                "search --project demo --json --after 2026-01-31T12:00:00Z report",
    .options = CLI_IN_PROJECT(
        CLI_TEXT("kind", search.kind, "KIND", "only hits of this kind: card, message or entry"),
        CLI_TEXT("type", search.type, "TYPE", "only with this metadata.type or entry type"),
        CLI_TEXT("role", search.role, "ROLE", "only with this role"),
        CLI_TEXT("session", search.session_id, "SESSION", "only entries of this session"),
        CLI_TEXT("task", search.task_id, "TASK", "only messages of this task"),
        CLI_TEXT("after", search.created_after, "TIME",
                 "only hits created after a time: 2025-01-02T03:04:05Z"),
        CLI_TEXT("before", search.created_before, "TIME", "only hits created before"), CLI_CURSOR,
        CLI_INT(
            "limit", limit, "N",
            "maximum number of hits, 1 to " CLI_DIGITS(
                CARDBOX_SEARCH_PAGE_MAX) " (default " CLI_DIGITS(CARDBOX_SEARCH_PAGE_DEFAULT) ")",
            1, CARDBOX_SEARCH_PAGE_MAX)),
    .origins = {{"created_after", "--after"},
                {"created_before", "--before"},
                {"kind", "--kind"},
                {"type", "--type"},
                {"role", "--role"},
                {"session_id", "--session"},
                {"task_id", "--task"},
                {"the query", "the words"}},
    .run = search,
};

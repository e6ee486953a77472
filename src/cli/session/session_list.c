/*
 * session_list.c: `cardbox session list` and `show`, over the public SDK.
 */
#include <inttypes.h>
#include "cli/card/card_view.h"
#include "cli/commands.h"
#include "cli/session/session_rows.h"
#include "model/session/preview.h"

/* What a session is called; nothing if it has no name. */
static void add_name(buf *out, const cardbox_session *session)
{
    if (session->name != NULL)
        session_say_value(out, scan_whole(slice_of(session->name)));
}

/* --- list --- */

static void add_object(buf *out, const void *of, size_t i)
{
    session_object(out, cardbox_sessions_at(of, i));
    buf_char(out, '}');
}

static void add_row(table *rows, const void *of, size_t i)
{
    const cardbox_session *session = cardbox_sessions_at(of, i);
    buf name = BUF_INIT(SIZE_MAX / 4);
    char entries[TERM_NUMBER_SIZE];

    add_name(&name, session);
    if (session->forked_from != NULL)
        buf_printf(&name, "%sfork of %s", name.len > 0 ? ", " : "", session->forked_from);
    table_text(rows, session->session_id);
    table_text(rows, session_dialect_name((int)session->dialect));
    table_text(rows, term_number(entries, (uint64_t)session->entries));
    card_view_add_age(rows, session->updated_at);
    card_view_add_age(rows, session->created_at);
    table_text(rows, buf_str(&name));
    buf_free(&name);
}

static cli_exit print_list(const cardbox_sessions *sessions, const cli_common *common)
{
    static const table_column columns[] = {
        {"session", TABLE_ID},    {"dialect", TABLE_LEFT},        {"entries", TABLE_RIGHT},
        {"changed", TABLE_RIGHT}, {"created", TABLE_SPARE_RIGHT}, {"name", TABLE_FLEXIBLE}};
    listing found = {.of = sessions,
                     .count = cardbox_sessions_count(sessions),
                     .add_object = add_object,
                     .add_row = add_row,
                     LISTING_COLUMNS(columns),
                     .cursor = cardbox_sessions_cursor(sessions)};

    return listing_print(&found, common->json, "no sessions in project %s", common->project);
}

static cli_exit run_list(cardbox *db, const void *given, char **arguments)
{
    const cli_common *common = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *sessions = NULL;

    (void)arguments;
    if (cardbox_list_sessions(&sessions, db, common->project, common->cursor,
                              (unsigned)common->limit, &err) != CARDBOX_OK)
        return cli_failed(&err);
    cli_exit status = print_list(sessions, common);
    cardbox_sessions_free(sessions);
    return status;
}

const cli_command cli_session_list = {
    .name = "session list",
    .summary = "list sessions, newest first",
    .examples = "session list --project demo\n"
                "session list --project demo --limit 1 --json",
    .options = cli_page_specs,
    .with_database = run_list,
};

/* --- show --- */

static void add_number(table *facts, const char *name, int64_t number)
{
    char text[TERM_NUMBER_SIZE];

    if (number != 0)
        table_fact(facts, name, term_number(text, (uint64_t)number), STYLE_PLAIN);
}

static cli_exit print_facts(const cardbox_session *session, const cardbox_session_counts *counts)
{
    static const table_column columns[] = {{"", TABLE_LEFT}, {"", TABLE_FLEXIBLE}};
    buf name = BUF_INIT(SIZE_MAX / 4);
    table facts;

    add_name(&name, session);
    term_put_title("session ", session->session_id);
    putchar('\n');
    table_init(&facts, columns, 2);
    table_fact(&facts, "name", buf_str(&name), STYLE_PLAIN);
    table_fact(&facts, "dialect", session_dialect_name((int)session->dialect), STYLE_PLAIN);
    add_number(&facts, "entries", session->entries);
    add_number(&facts, "roots", counts->roots);
    add_number(&facts, "leaves", counts->leaves);
    add_number(&facts, "branch points", counts->branch_points);
    add_number(&facts, "dangling parents", counts->dangling_parents);
    add_number(&facts, "max depth", counts->max_depth);
    table_fact(&facts, "head", session->head_entry_id, STYLE_PLAIN);
    table_fact(&facts, "forked from", session->forked_from, STYLE_PLAIN);
    add_number(&facts, "version", session->version);
    table_fact(&facts, "created", session->created_at, STYLE_PLAIN);
    table_fact(&facts, "updated", session->updated_at, STYLE_PLAIN);
    buf_free(&name);
    return table_finish(&facts, 2) ? CLI_DONE : cli_nomem();
}

static cli_exit print_object(const cardbox_session *session, const cardbox_session_counts *counts)
{
    buf line = BUF_INIT(SIZE_MAX / 4);

    session_object(&line, session);
    buf_printf(&line,
               ",\"roots\":%" PRId64 ",\"leaves\":%" PRId64 ",\"branch_points\":%" PRId64
               ",\"max_depth\":%" PRId64 ",\"dangling_parents\":%" PRId64 "}",
               counts->roots, counts->leaves, counts->branch_points, counts->max_depth,
               counts->dangling_parents);
    return cli_print_line(&line, true);
}

static cli_exit run_show(cardbox *db, const void *given, char **arguments)
{
    const cli_common *common = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_counts counts = {.entries = 0};
    cardbox_sessions *found = NULL;
    cli_exit status;

    if (cardbox_get_session(&found, db, common->project, arguments[0], &err) != CARDBOX_OK ||
        cardbox_session_count(&counts, db, common->project, arguments[0], &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else
        status =
            (common->json ? print_object : print_facts)(cardbox_sessions_at(found, 0), &counts);
    cardbox_sessions_free(found);
    return status;
}

const cli_command cli_session_show = {
    .name = "session show",
    .arguments = "SESSION",
    .summary = "say what a session has: entries, leaves, its head",
    .examples = "session show --project demo demo-session",
    .options = cli_plain_specs,
    .with_database = run_show,
};

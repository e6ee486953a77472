/*
 * session_list.c: `cardbox session list` and `cardbox session show`.
 */
#include <inttypes.h>
#include "cli/card/card_view.h"
#include "cli/session/session_internal.h"

/* --- list --- */

static void add_session_object(buf *out, const void *of, size_t i)
{
    session_object(out, cardbox_sessions_at(of, i));
    buf_char(out, '}');
}

static void add_session_row(table *rows, const void *of, size_t i)
{
    const cardbox_session *session = cardbox_sessions_at(of, i);
    buf name = BUF_INIT(SIZE_MAX / 4);
    char entries[TERM_NUMBER_SIZE];

    if (session->name != NULL)
        session_value_text(&name, scan_whole(slice_of(session->name)));
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

static const listing SESSIONS = {add_session_object,
                                 add_session_row,
                                 0,
                                 {{"session", TABLE_ID},
                                  {"dialect", TABLE_LEFT},
                                  {"entries", TABLE_RIGHT},
                                  {"changed", TABLE_RIGHT},
                                  {"created", TABLE_SPARE_RIGHT},
                                  {"name", TABLE_FLEXIBLE}}};

static cli_exit list_sessions(cli_call *call)
{
    cardbox_sessions *sessions = NULL;

    if (cardbox_sessions_list(&sessions, call->db, call->project, call->cursor,
                              (unsigned)call->limit, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit status = listing_print(&SESSIONS, sessions, cardbox_sessions_count(sessions),
                                    cardbox_sessions_cursor(sessions), call->json,
                                    "no sessions in project %s", call->project);
    cardbox_sessions_free(sessions);
    return status;
}

const cli_command cli_session_list = {
    .name = "session list",
    .summary = "list sessions, newest first",
    .examples = "session list --project demo\n"
                "session list --project demo --limit 1 --json",
    .options = CLI_IN_PROJECT(CLI_CURSOR, CLI_LIMIT),
    .run = list_sessions,
};

/* --- show --- */

static cli_exit print_session(const cardbox_session *session, const cardbox_session_counts *counts,
                              bool json)
{
    buf line = BUF_INIT(SIZE_MAX / 4);

    session_object(&line, session);
    buf_printf(&line,
               ",\"roots\":%" PRId64 ",\"leaves\":%" PRId64 ",\"branch_points\":%" PRId64
               ",\"max_depth\":%" PRId64 ",\"dangling_parents\":%" PRId64 "}",
               counts->roots, counts->leaves, counts->branch_points, counts->max_depth,
               counts->dangling_parents);
    if (json)
        return cli_print_json_text(&line);
    term_put_title("session ", session->session_id);
    putchar('\n');
    cli_check_memory(buf_ok(&line));
    session_report_print(buf_as_slice(&line));
    buf_free(&line);
    return CLI_DONE;
}

static cli_exit show_session(cli_call *call)
{
    cardbox_session_counts counts = {.entries = 0};
    cardbox_sessions *found = NULL;
    const char *id = call->arguments[0];
    cardbox_status status = cardbox_session_get(&found, call->db, call->project, id, &call->err);

    if (status == CARDBOX_OK)
        status = cardbox_session_count(&counts, call->db, call->project, id, &call->err);
    cli_exit end = status == CARDBOX_OK
                       ? print_session(cardbox_sessions_at(found, 0), &counts, call->json)
                       : cli_failed(call);
    cardbox_sessions_free(found);
    return end;
}

const cli_command cli_session_show = {
    .name = "session show",
    .arguments = "SESSION",
    .summary = "show a session's head and its numbers of entries and leaves",
    .examples = "session show --project demo demo-session",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = show_session,
};

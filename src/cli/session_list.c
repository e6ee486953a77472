/*
 * session_list.c: `cardbox session list` and `show`, over the public SDK.
 */
#include <inttypes.h>
#include "cli/card_view.h"
#include "cli/commands.h"
#include "cli/session_rows.h"

/* --- list --- */

typedef struct list_options {
    cli_common common;
    const char *cursor;
} list_options;

static bool print_json(const cardbox_sessions *sessions)
{
    buf line = BUF_INIT(SIZE_MAX / 4);
    bool fine = true;

    for (size_t i = 0; fine && i < cardbox_sessions_count(sessions); i++) {
        buf_reset(&line, 4096);
        session_object(&line, cardbox_sessions_at(sessions, i));
        buf_char(&line, '}');
        fine = buf_ok(&line);
        puts(buf_str(&line));
    }
    buf_free(&line);
    return fine;
}

/* What a session is called; "" if it has no name. */
static const char *name_of(buf *out, const cardbox_session *session)
{
    buf_reset(out, 4096);
    if (session->name != NULL)
        card_view_value(out, scan_whole(view_of(session->name)));
    return buf_str(out);
}

static bool print_table(const cardbox_sessions *sessions)
{
    static const table_column columns[] = {{"session", TABLE_WHOLE}, {"dialect", TABLE_LEFT},
                                           {"entries", TABLE_RIGHT}, {"changed", TABLE_RIGHT},
                                           {"created", TABLE_RIGHT}, {"name", TABLE_FLEXIBLE},
                                           {"from", TABLE_WHOLE}};
    buf name = BUF_INIT(SIZE_MAX / 4);
    table rows;
    bool printed;

    table_init(&rows, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < cardbox_sessions_count(sessions); i++) {
        const cardbox_session *session = cardbox_sessions_at(sessions, i);
        char age[AGE_SIZE];

        table_text(&rows, session->session_id);
        table_text(&rows, session_dialect_name(session->dialect));
        table_int(&rows, session->entries);
        table_add(&rows, view_of(card_view_age(age, session->updated_at)), STYLE_DIM);
        table_add(&rows, view_of(card_view_age(age, session->created_at)), STYLE_DIM);
        table_text(&rows, name_of(&name, session));
        table_text(&rows, session->forked_from);
    }
    printed = rows.count == 0 || table_print(stdout, &rows, 0, term_width());
    table_free(&rows);
    buf_free(&name);
    return printed;
}

static cli_exit run_list(const void *given, char **arguments, int count)
{
    static const cli_origin origins[] = {{"cursor", "--cursor"}, {0}};
    const list_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *sessions = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)arguments;
    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_list_sessions(&sessions, db, options->common.project, options->cursor,
                              (unsigned)options->common.limit, &err) != CARDBOX_OK)
        status = cli_refused(&err, origins);
    else if (!(options->common.json ? print_json(sessions) : print_table(sessions)))
        status = cli_nomem();
    else if (cardbox_sessions_count(sessions) == 0 && !options->common.json)
        cli_note("no sessions in project %s", options->common.project);
    /* Not on stdout, where programs read sessions. */
    if (sessions != NULL && cardbox_sessions_cursor(sessions) != NULL)
        cli_note("older ones: --cursor %s", cardbox_sessions_cursor(sessions));
    cardbox_sessions_free(sessions);
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

const cli_command cli_session_list = {
    .name = "session list",
    .arguments = "",
    .summary = "list sessions, newest first",
    .examples = "session list --project demo\n"
                "session list --project demo --limit 1 --json",
    .options = list_specs,
    .defaults = &list_defaults,
    .size = sizeof(list_options),
    .needs_project = true,
    .run = run_list,
};

/* --- show --- */

typedef struct show_options {
    cli_common common;
} show_options;

static void add_fact(table *facts, const char *name, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    table_add(facts, view_of(name), STYLE_DIM);
    table_text(facts, value);
}

static void add_number(table *facts, const char *name, int64_t number)
{
    char text[TERM_NUMBER_SIZE];

    if (number != 0)
        add_fact(facts, name, term_number(text, (uint64_t)number));
}

static bool print_facts(const cardbox_session *session, const cardbox_session_counts *counts)
{
    static const table_column columns[] = {{"", TABLE_LEFT}, {"", TABLE_FLEXIBLE}};
    buf name = BUF_INIT(SIZE_MAX / 4);
    table facts;
    bool printed;

    printf("%ssession %s%s\n", term_on(STYLE_BOLD), session->session_id, term_off(STYLE_BOLD));
    table_init(&facts, columns, 2);
    add_fact(&facts, "name", name_of(&name, session));
    add_fact(&facts, "dialect", session_dialect_name(session->dialect));
    add_number(&facts, "entries", session->entries);
    add_number(&facts, "roots", counts->roots);
    add_number(&facts, "leaves", counts->leaves);
    add_number(&facts, "branch points", counts->branch_points);
    add_number(&facts, "dangling parents", counts->dangling_parents);
    add_number(&facts, "max depth", counts->max_depth);
    add_fact(&facts, "head", session->head_entry_id);
    add_fact(&facts, "forked from", session->forked_from);
    add_number(&facts, "version", session->version);
    add_fact(&facts, "created", session->created_at);
    add_fact(&facts, "updated", session->updated_at);
    printed = table_print(stdout, &facts, 2, term_width());
    table_free(&facts);
    buf_free(&name);
    return printed;
}

static bool print_object(const cardbox_session *session, const cardbox_session_counts *counts)
{
    buf line = BUF_INIT(SIZE_MAX / 4);
    bool fine;

    session_object(&line, session);
    buf_printf(&line,
               ",\"roots\":%" PRId64 ",\"leaves\":%" PRId64 ",\"branch_points\":%" PRId64
               ",\"max_depth\":%" PRId64 ",\"dangling_parents\":%" PRId64 "}",
               counts->roots, counts->leaves, counts->branch_points, counts->max_depth,
               counts->dangling_parents);
    fine = buf_ok(&line);
    puts(buf_str(&line));
    buf_free(&line);
    return fine;
}

static cli_exit run_show(const void *given, char **arguments, int count)
{
    const show_options *options = given;
    const char *project = options->common.project;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_counts counts = {.entries = 0};
    cardbox_sessions *found = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_get_session(&found, db, project, arguments[0], &err) != CARDBOX_OK ||
        cardbox_session_count(&counts, db, project, arguments[0], &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else if (!(options->common.json ? print_object : print_facts)(cardbox_sessions_at(found, 0),
                                                                  &counts))
        status = cli_nomem();
    cardbox_sessions_free(found);
    cardbox_close(db);
    return status;
}

static const opt_spec show_specs[] = {
    CLI_DSN(show_options),
    CLI_PROJECT(show_options),
    CLI_JSON(show_options),
    CLI_OPTIONS_END,
};

static const show_options show_defaults = {0};

const cli_command cli_session_show = {
    .name = "session show",
    .arguments = "SESSION",
    .summary = "say what a session has: entries, leaves, its head",
    .examples = "session show --project demo demo-session",
    .options = show_specs,
    .defaults = &show_defaults,
    .size = sizeof(show_options),
    .least = 1,
    .most = 1,
    .needs_project = true,
    .run = run_show,
};

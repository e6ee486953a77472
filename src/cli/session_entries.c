/*
 * session_entries.c: `cardbox session path`, `leaves`, `branch-points`, `children`, `labels` and
 * `diff`: lists of a session's entries, over the public SDK.
 */
#include "cli/commands.h"
#include "cli/session_rows.h"

typedef struct entries_options {
    cli_common common;
    const char *cursor;
} entries_options;

/* Prints a list, and where the next page begins. */
static cli_exit print_entries(const cardbox_entries *entries, const char *head, bool json,
                              const char *none)
{
    if (!(json ? session_entries_json(entries, true) : session_entries_table(entries, head)))
        return cli_nomem();
    if (cardbox_entries_count(entries) == 0 && !json)
        cli_note("%s", none);
    return CLI_DONE;
}

/* --- lists, a page at a time --- */

static const cli_origin LIST_ORIGINS[] = {{"cursor", "--cursor"}, {0}};

/* `entry` is whose children are wanted, or NULL. */
static cli_exit list_entries(cardbox *db, const entries_options *options, const char *session,
                             cardbox_entry_list list, const char *entry, const char *none)
{
    const char *project = options->common.project;
    cardbox_entry_page page = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *found = NULL;
    cardbox_entries *entries = NULL;
    cli_exit status;

    page.entry_id = entry;
    page.cursor = options->cursor;
    page.limit = (unsigned)options->common.limit;
    page.json_max = SESSION_PREVIEW_MAX;
    if (cardbox_get_session(&found, db, project, session, &err) != CARDBOX_OK ||
        cardbox_session_entries(&entries, db, project, session, list, &page, &err) != CARDBOX_OK)
        status = cli_refused(&err, LIST_ORIGINS);
    else
        status = print_entries(entries, cardbox_sessions_at(found, 0)->head_entry_id,
                               options->common.json, none);
    /* Not on stdout, where programs read entries. */
    if (entries != NULL && cardbox_entries_cursor(entries) != NULL)
        cli_note("further ones: --cursor %s", cardbox_entries_cursor(entries));
    cardbox_entries_free(entries);
    cardbox_sessions_free(found);
    return status;
}

static cli_exit run_one_list(const entries_options *options, char **arguments, int count,
                             cardbox_entry_list list, const char *none)
{
    cardbox *db = NULL;
    cli_exit status;

    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    status = list_entries(db, options, arguments[0], list, count > 1 ? arguments[1] : NULL, none);
    cardbox_close(db);
    return status;
}

static cli_exit run_leaves(const void *options, char **arguments, int count)
{
    return run_one_list(options, arguments, count, CARDBOX_ENTRIES_LEAVES, "the session is empty");
}

static cli_exit run_branch_points(const void *options, char **arguments, int count)
{
    return run_one_list(options, arguments, count, CARDBOX_ENTRIES_BRANCH_POINTS,
                        "the session has no branches");
}

static cli_exit run_children(const void *options, char **arguments, int count)
{
    return run_one_list(options, arguments, count, CARDBOX_ENTRIES_CHILDREN,
                        "there are no such entries");
}

static cli_exit run_labels(const void *options, char **arguments, int count)
{
    return run_one_list(options, arguments, count, CARDBOX_ENTRIES_LABELLED,
                        "no entry has a label");
}

static const opt_spec list_specs[] = {
    CLI_DSN(entries_options),
    CLI_PROJECT(entries_options),
    {"cursor", OPT_TEXT, offsetof(entries_options, cursor), NULL, "CURSOR",
     "go on where an earlier list ended", 0, 0},
    CLI_LIMIT(entries_options),
    CLI_JSON(entries_options),
    CLI_OPTIONS_END,
};

static const entries_options entries_defaults = {0};

#define ENTRIES_COMMAND(variable, words, takes, most_arguments, says, example, runs)               \
    const cli_command variable = {                                                                 \
        .name = (words),                                                                           \
        .arguments = (takes),                                                                      \
        .summary = (says),                                                                         \
        .examples = (example),                                                                     \
        .options = list_specs,                                                                     \
        .defaults = &entries_defaults,                                                             \
        .size = sizeof(entries_options),                                                           \
        .least = 1,                                                                                \
        .most = (most_arguments),                                                                  \
        .needs_project = true,                                                                     \
        .run = (runs),                                                                             \
    }

ENTRIES_COMMAND(cli_session_leaves, "session leaves", "SESSION", 1,
                "list the entries that nothing follows",
                "session leaves --project demo demo-session", run_leaves);
ENTRIES_COMMAND(cli_session_branch_points, "session branch-points", "SESSION", 1,
                "list the entries that more than one follows",
                "session branch-points --project demo demo-session", run_branch_points);
ENTRIES_COMMAND(cli_session_children, "session children", "SESSION [ENTRY]", 2,
                "list what follows an entry, or the roots",
                "session children --project demo demo-session 5e55000a", run_children);
ENTRIES_COMMAND(cli_session_labels, "session labels", "SESSION", 1,
                "list the entries that have a label", "session labels --project demo demo-session",
                run_labels);

/* --- path --- */

typedef struct path_options {
    cli_common common;
    long from;
} path_options;

static cli_exit run_path(const void *given, char **arguments, int count)
{
    const path_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *entries = NULL;
    cardbox *db = NULL;
    cli_exit status;

    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_session_path(&entries, db, options->common.project, arguments[0],
                             count > 1 ? arguments[1] : NULL, (size_t)options->from,
                             (size_t)options->common.limit, true, &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else
        status = print_entries(entries, NULL, options->common.json, "the path has no such entries");
    cardbox_entries_free(entries);
    cardbox_close(db);
    return status;
}

static const opt_spec path_specs[] = {
    CLI_DSN(path_options),
    CLI_PROJECT(path_options),
    {"from", OPT_INT, offsetof(path_options, from), NULL, "DEPTH",
     "only from this depth on; a root has 0", 0, INT32_MAX},
    {"limit", OPT_INT, offsetof(path_options, common.limit), NULL, "N",
     "at most N entries (default all)", 1, INT32_MAX},
    CLI_JSON(path_options),
    CLI_OPTIONS_END,
};

static const path_options path_defaults = {0};

const cli_command cli_session_path = {
    .name = "session path",
    .arguments = "SESSION [ENTRY]",
    .summary = "show the way from the root to an entry, or to the head",
    .examples = "session path --project demo demo-session\n"
                "session path --project demo --from 10 --json demo-session 5e550010",
    .options = path_specs,
    .defaults = &path_defaults,
    .size = sizeof(path_options),
    .least = 1,
    .most = 2,
    .needs_project = true,
    .run = run_path,
};

/* --- diff --- */

typedef struct diff_options {
    cli_common common;
} diff_options;

static bool print_diff_json(const cardbox_entries *entries)
{
    static const char *const sides[] = {"both", "a", "b"};
    buf line = BUF_INIT(SIZE_MAX / 4);
    bool fine = true;

    for (size_t i = 0; fine && i < cardbox_entries_count(entries); i++) {
        const cardbox_entry *entry = cardbox_entries_at(entries, i);

        buf_reset(&line, 1 << 20);
        buf_printf(&line, "{\"side\":\"%s\",\"entry\":", sides[entry->side]);
        session_entry_object(&line, entry, false);
        buf_char(&line, '}');
        fine = buf_ok(&line);
        puts(buf_str(&line));
    }
    buf_free(&line);
    return fine;
}

static cli_exit run_diff(const void *given, char **arguments, int count)
{
    const diff_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *entries = NULL;
    cardbox *db = NULL;
    cli_exit status = CLI_DONE;

    (void)count;
    if (!cli_open(&db, &options->common))
        return CLI_FAILED;
    if (cardbox_session_diff(&entries, db, options->common.project, arguments[0], arguments[1],
                             arguments[2], (unsigned)options->common.limit, SESSION_PREVIEW_MAX,
                             &err) != CARDBOX_OK)
        status = cli_failed(&err);
    else if (!(options->common.json ? print_diff_json(entries)
                                    : session_entries_table(entries, NULL)))
        status = cli_nomem();
    cardbox_entries_free(entries);
    cardbox_close(db);
    return status;
}

static const opt_spec diff_specs[] = {
    CLI_DSN(diff_options),  CLI_PROJECT(diff_options), CLI_LIMIT(diff_options),
    CLI_JSON(diff_options), CLI_OPTIONS_END,
};

static const diff_options diff_defaults = {0};

const cli_command cli_session_diff = {
    .name = "session diff",
    .arguments = "SESSION A B",
    .summary = "show where the ways to two entries part",
    .description = "First the last entry that is on both ways, then what is on the way to A alone, "
                   "then to B.",
    .examples = "session diff --project demo demo-session 5e550010 5e550015",
    .options = diff_specs,
    .defaults = &diff_defaults,
    .size = sizeof(diff_options),
    .least = 3,
    .most = 3,
    .needs_project = true,
    .run = run_diff,
};

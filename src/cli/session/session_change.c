/*
 * session_change.c: `cardbox session fork`, `head` and `label`, over the public SDK.
 */
#include <inttypes.h>
#include "base/clock.h"
#include "base/isotime.h"
#include "cli/commands.h"
#include "cli/session/session_pages.h"

/* Somebody else may write between our look at the head and the label behind it. */
#define LABEL_ATTEMPTS 8

/* --- fork --- */

typedef struct fork_options {
    cli_common common;
    const char *new_id;
} fork_options;

static cli_exit run_fork(cardbox *db, const void *given, char **arguments)
{
    const fork_options *options = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char made[CARDBOX_UUID_SIZE];
    const char *id = options->new_id ? options->new_id : made;
    const char *entry = arguments[1];
    session_found_id found;
    int64_t entries = 0;
    cardbox_status status;

    cardbox_uuid7(made);
    if (!session_find_entry(db, options->common.project, arguments[0], &entry, &found))
        return CLI_FAILED;
    status =
        cardbox_session_fork(&entries, db, options->common.project, arguments[0], entry, id, &err);
    if (status != CARDBOX_OK)
        return cli_failed(&err);
    return cli_print(options->common.json,
                     json_pack("{s:s, s:I}", "session_id", id, "entries", (json_int_t)entries),
                     "session %s   %" PRId64 " entr%s", id, entries, entries == 1 ? "y" : "ies");
}

static const opt_spec fork_specs[] = CLI_IN_PROJECT(
    CLI_TEXT(fork_options, "new-id", new_id, "ID", "id of the fork (default: a new UUIDv7)"),
    CLI_TEXT(fork_options, "session", new_id, "ID", "the same, as session import has it"));

const cli_command cli_session_fork = {
    .name = "session fork",
    .arguments = "SESSION [ENTRY]",
    .summary = "make a new session of the way to an entry, or to the head",
    .examples = "session fork --project demo demo-session 5e55000a\n"
                "session fork --project demo --new-id second-try demo-session",
    .options = fork_specs,
    .origins = {{"new_session_id", "--new-id"}},
    .with_database = run_fork,
};

/* --- head --- */

typedef struct head_options {
    cli_common common;
    const char *expected;
} head_options;

static cli_exit print_head(const char *session, const char *head, int64_t version, bool json)
{
    return cli_print(json,
                     json_pack("{s:s, s:s?, s:I}", "session_id", session, "head_entry_id", head,
                               "version", (json_int_t)version),
                     "session %s   version %" PRId64 "   head %s", session, version,
                     head ? head : "nowhere: it is empty");
}

static cli_exit show_head(cardbox *db, const head_options *options, const char *session)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *found = NULL;
    cli_exit status;

    if (cardbox_get_session(&found, db, options->common.project, session, &err) == CARDBOX_OK) {
        const cardbox_session *one = cardbox_sessions_at(found, 0);

        status =
            print_head(one->session_id, one->head_entry_id, one->version, options->common.json);
    } else {
        status = cli_failed(&err);
    }
    cardbox_sessions_free(found);
    return status;
}

static cli_exit move_head(cardbox *db, const head_options *options, const char *session,
                          const char *entry)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    session_found_id found;
    int64_t version = 0;

    if (!session_find_entry(db, options->common.project, session, &entry, &found))
        return CLI_FAILED;
    if (cardbox_session_move_head(&version, db, options->common.project, session, entry,
                                  options->expected, &err) != CARDBOX_OK)
        return cli_failed(&err);
    return print_head(session, entry, version, options->common.json);
}

static cli_exit run_head(const void *given, char **arguments)
{
    const head_options *options = given;
    cardbox *db = NULL;

    if (arguments[1] == NULL && options->expected != NULL) {
        cli_error("--expected goes with an ENTRY to move the head to");
        return CLI_USAGE;
    }
    db = cli_open(&options->common);
    if (db == NULL)
        return CLI_FAILED;
    return arguments[1] != NULL ? move_head(db, options, arguments[0], arguments[1])
                                : show_head(db, options, arguments[0]);
}

static const opt_spec head_specs[] = CLI_IN_PROJECT(
    CLI_TEXT(head_options, "expected", expected, "ENTRY", "move it only if it is here now"));

const cli_command cli_session_head = {
    .name = "session head",
    .arguments = "SESSION [ENTRY]",
    .summary = "show where a session goes on, or move it to another entry",
    .examples = "session head --project demo demo-session\n"
                "session head --project demo --expected 5e550019 demo-session 5e550010",
    .options = head_specs,
    .alone = run_head,
};

/* --- label --- */

/* The line of a label; without one it takes the entry's label away. */
static void add_label(buf *out, const char *parent, const char *target, const char *label)
{
    char id[CARDBOX_UUID_SIZE], now[ISOTIME_SIZE];

    cardbox_uuid7(id);
    isotime_format_micros(now, clock_wall_micros());
    if (label != NULL && *label == '\0')
        label = NULL;
    buf_json_take(out, json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s*}", "type", "label", "id", id,
                                 "parentId", parent, "timestamp", now, "targetId", target, "label",
                                 label));
}

/* Puts the label behind the head, if nobody has moved it meanwhile. */
static cardbox_status put_label(cardbox *db, const char *project, const char *session,
                                const char *target, const char *label, int64_t *version,
                                cardbox_error *err)
{
    cardbox_session_append_options how = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    cardbox_sessions *found = NULL;
    buf line = BUF_INIT(1 << 20);
    const char *lines[1];
    cardbox_status status = cardbox_get_session(&found, db, project, session, err);

    if (status == CARDBOX_OK) {
        const cardbox_session *now = cardbox_sessions_at(found, 0);

        add_label(&line, now->head_entry_id, target, label);
        lines[0] = buf_str(&line);
        how.expected_version = now->version;
        status = cardbox_session_append(version, db, project, session, lines, 1, &how, err);
    }
    cardbox_sessions_free(found);
    buf_free(&line);
    return status;
}

static cli_exit run_label(cardbox *db, const void *given, char **arguments)
{
    const cli_common *common = given;
    const char *project = common->project, *label = arguments[2];
    const char *entry = arguments[1];
    session_found_id found;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *path = NULL;
    cardbox_status status;
    int64_t version = 0;

    if (!session_find_entry(db, project, arguments[0], &entry, &found))
        return CLI_FAILED;
    /* The target must exist. */
    status = cardbox_session_path(&path, db, project, arguments[0], entry, 0, 1, false, &err);
    cardbox_entries_free(path);
    for (int i = 0; status == CARDBOX_OK && version == 0 && i < LABEL_ATTEMPTS; i++) {
        status = put_label(db, project, arguments[0], entry, label, &version, &err);
        if (status == CARDBOX_CONFLICT && i + 1 < LABEL_ATTEMPTS)
            status = CARDBOX_OK;
    }
    if (status != CARDBOX_OK)
        return cli_failed(&err);
    return cli_print(common->json, json_pack("{s:I}", "version", (json_int_t)version),
                     "entry %s   %s%s   version %" PRId64, entry, label ? "label " : "no label",
                     label ? label : "", version);
}

const cli_command cli_session_label = {
    .name = "session label",
    .arguments = "SESSION ENTRY [LABEL]",
    .summary = "give an entry a label, or take it away",
    .description = "A label is an entry of its own, behind the head, to which the head moves.",
    .examples = "session label --project demo demo-session 5e550010 'went wrong here'\n"
                "session label --project demo demo-session 5e550010",
    .options = cli_plain_specs,
    .with_database = run_label,
};

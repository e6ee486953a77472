/*
 * session_change.c: `cardbox session fork`, `head` and `label`.
 */
#include <inttypes.h>
#include "cli/session/session_internal.h"

/* --- fork --- */

static cli_exit fork_session(cli_call *call)
{
    char made[CARDBOX_UUID_SIZE];
    const char *id = call->new_id ? call->new_id : made;
    const char *entry = call->arguments[1];
    int64_t entries = 0;

    cardbox_uuid7(made);
    if (!session_find_entry(call, &entry))
        return CLI_FAILED;
    if (cardbox_session_fork(&entries, call->db, call->project, call->arguments[0], entry, id,
                             &call->err) != CARDBOX_OK)
        return cli_failed(call);
    return cli_print(call->json,
                     json_pack("{s:s, s:I}", "session_id", id, "entries", (json_int_t)entries),
                     "session %s   %" PRId64 " entr%s", id, entries, entries == 1 ? "y" : "ies");
}

const cli_command cli_session_fork = {
    .name = "session fork",
    .arguments = "SESSION [ENTRY]",
    .summary = "make a new session from the path to an entry, or to the head",
    .examples = "session fork --project demo demo-session 5e55000a\n"
                "session fork --project demo --new-id second-try demo-session",
    .options =
        CLI_IN_PROJECT(CLI_TEXT("new-id", new_id, "ID", "id of the fork (default: a new UUIDv7)"),
                       CLI_TEXT("session", new_id, "ID", "the same as --new-id")),
    .origins = {{"new_session_id", "--new-id"}},
    .run = fork_session,
};

/* --- head --- */

static bool check_expected(const cli_call *call)
{
    return call->arguments[1] != NULL || call->expected_head == NULL ||
           cli_error_and(false, "--expected needs the ENTRY to which the head moves");
}

static cli_exit move_or_show_head(cli_call *call)
{
    const char *project = call->project, *session = call->arguments[0], *entry = call->arguments[1];
    cardbox_sessions *found = NULL;
    int64_t version = 0;
    cardbox_status status;

    if (!session_find_entry(call, &entry))
        return CLI_FAILED;
    if (entry != NULL)
        status = cardbox_session_move_head(&version, call->db, project, session, entry,
                                           call->expected_head, &call->err);
    else
        status = cardbox_session_get(&found, call->db, project, session, &call->err);
    if (status != CARDBOX_OK)
        return cli_failed(call);
    if (entry == NULL) {
        entry = cardbox_sessions_at(found, 0)->head_entry_id;
        version = cardbox_sessions_at(found, 0)->version;
    }
    cli_exit end = cli_print(call->json,
                             json_pack("{s:s, s:s?, s:I}", "session_id", session, "head_entry_id",
                                       entry, "version", (json_int_t)version),
                             "session %s   version %" PRId64 "   head %s", session, version,
                             entry ? entry : "none: the session is empty");
    cardbox_sessions_free(found);
    return end;
}

const cli_command cli_session_head = {
    .name = "session head",
    .arguments = "SESSION [ENTRY]",
    .summary = "show the head of a session, or move it to another entry",
    .examples = "session head --project demo demo-session\n"
                "session head --project demo --expected 5e550019 demo-session 5e550010",
    .options = CLI_IN_PROJECT(CLI_TEXT("expected", expected_head, "ENTRY",
                                       "move the head only if this entry is the head now")),
    .check = check_expected,
    .run = move_or_show_head,
};

/* --- label --- */

static cli_exit label_entry(cli_call *call)
{
    const char *session = call->arguments[0], *entry = call->arguments[1];
    const char *label = call->arguments[2], *lines[1];
    cardbox_entries *path = NULL;
    buf line = BUF_INIT(1 << 20);
    int64_t version = 0;

    if (!session_find_entry(call, &entry))
        return CLI_FAILED;
    /* Checks that the labelled entry exists. */
    cardbox_status status = cardbox_session_path(&path, call->db, call->project, session, entry, 0,
                                                 1, false, &call->err);
    cardbox_entries_free(path);
    if (label != NULL && *label == '\0')
        label = NULL;
    /* The append adds the id, the time, and the session's head as the parent. */
    buf_json_take(
        &line, json_pack("{s:s, s:s, s:s*}", "type", "label", "targetId", entry, "label", label));
    lines[0] = buf_str(&line);
    if (status == CARDBOX_OK)
        status = cardbox_session_append(&version, call->db, call->project, session, lines, 1, NULL,
                                        &call->err);
    buf_free(&line);
    if (status != CARDBOX_OK)
        return cli_failed(call);
    return cli_print(call->json, json_pack("{s:I}", "version", (json_int_t)version),
                     "entry %s   %s%s   version %" PRId64, entry, label ? "label " : "no label",
                     label ? label : "", version);
}

const cli_command cli_session_label = {
    .name = "session label",
    .arguments = "SESSION ENTRY [LABEL]",
    .summary = "set the label of an entry, or remove it",
    .description =
        "A label is an entry of its own. It is appended to the head, and becomes the head.",
    .examples = "session label --project demo demo-session 5e550010 'went wrong here'\n"
                "session label --project demo demo-session 5e550010",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),
    .run = label_entry,
};

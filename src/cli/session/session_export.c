/*
 * session_export.c: `cardbox session export`.
 */
#include "cli/session/session_internal.h"
#include "cli/files.h"
#include "cardbox/session_file.h"

typedef struct export_state {
    cli_target target;
    term_progress progress;
    uint64_t bytes;
} export_state;

static bool write_piece(void *arg, const char *bytes, size_t len)
{
    export_state *state = arg;

    state->bytes += len;
    term_progress_show(&state->progress, state->bytes, state->bytes);
    return target_write(&state->target, (slice){bytes, len});
}

static cli_exit export_session(cli_call *call)
{
    export_state state = {.progress = {.label = "export", .unit = "bytes"}};
    char bytes[TERM_NUMBER_SIZE];
    cardbox_status status = CARDBOX_UNAVAILABLE;
    const char *entry = call->entry;

    if (!session_find_entry(call, &entry))
        return CLI_FAILED;
    if (target_open(&state.target, call->arguments[1])) {
        status = cardbox_session_export(call->db, call->project, call->arguments[0], entry,
                                        write_piece, &state, &call->err);
        term_progress_clear(&state.progress);
        if (status != CARDBOX_OK)
            cli_failed(call);
    }
    bool complete = target_close(&state.target, status == CARDBOX_OK);
    if (complete && state.target.name != NULL)
        printf("session %s in %s, %s bytes\n", call->arguments[0], state.target.name,
               term_number(bytes, state.bytes));
    return complete ? CLI_DONE : CLI_FAILED;
}

const cli_command cli_session_export = {
    .name = "session export",
    .arguments = "SESSION [FILE]",
    .summary = "write a session as JSON Lines",
    .description =
        "Writes the lines as they were imported and appended. FILE is renamed from FILE.partial "
        "when it is complete; -, the default, is the standard output.",
    .examples = "session export --project demo demo-session session.jsonl\n"
                "session export --project demo --entry 5e550010 demo-session > branch.jsonl",
    .options = CLI_OPTIONS(
        CLI_DSN, CLI_PROJECT,
        CLI_TEXT("entry", entry, "ENTRY", "only the header and the path to this entry")),
    .run = export_session,
};

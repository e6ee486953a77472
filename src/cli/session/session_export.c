/*
 * session_export.c: `cardbox session export`.
 */
#include "cli/session/session_internal.h"
#include "cli/files.h"
#include "cardbox/context.h"
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

/* Writes the messages of a context: an array, or an object if there is a separate system text. */
static cardbox_status write_messages(export_state *state, cli_call *call, const char *entry)
{
    cardbox_context_options options = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_context *built = NULL;
    buf text = BUF_INIT(SIZE_MAX / 4);

    options.format = session_formats[call->file_format];
    cardbox_status status = cardbox_build_context_options(
        &built, call->db, call->project, call->arguments[0], entry, &options, &call->err);
    const char *system = cardbox_context_system(built);
    if (status == CARDBOX_OK && system != NULL) {
        bool is_responses = options.format == CARDBOX_FORMAT_RESPONSES;
        buf_char(&text, '{');
        buf_member(&text, is_responses ? "instructions" : "system", slice_of(system));
        buf_name(&text, "messages");
    }
    if (status == CARDBOX_OK)
        buf_text(&text, cardbox_context_json(built));
    buf_text(&text, system != NULL ? "}\n" : "\n");
    cli_check_memory(buf_ok(&text));
    if (status == CARDBOX_OK)
        write_piece(state, text.data, text.len);
    buf_free(&text);
    cardbox_context_free(built);
    return status;
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
        status = call->file_format >= 0
                     ? write_messages(&state, call, entry)
                     : cardbox_session_export(call->db, call->project, call->arguments[0], entry,
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
    .summary = "write a session as JSON Lines, or the messages of its context",
    .description =
        "Writes the lines as they were imported and appended. With --format, writes the context of "
        "the head as a JSON array of messages; if there is a separate system text, as an object "
        "with \"messages\". `session import` reads both. FILE is renamed from FILE.partial "
        "when it is complete; -, the default, is the standard output.",
    .examples = "session export --project demo demo-session session.jsonl\n"
                "session export --project demo --entry 5e550010 demo-session > branch.jsonl\n"
                "session export --project demo --format openai demo-session messages.json",
    .options = CLI_OPTIONS(
        CLI_DSN, CLI_PROJECT,
        CLI_TEXT("entry", entry, "ENTRY",
                 "only the header and the path to this entry, or the context of this entry"),
        CLI_CHOICE("format", file_format, SESSION_FORMATS,
                   "write the messages of the context for this API, instead of lines")),
    .run = export_session,
};

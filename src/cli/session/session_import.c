/*
 * session_import.c: `cardbox session import`: passes the bytes of a file to the SDK, and prints the
 * report.
 */
#include <errno.h>
#include "cli/session/session_internal.h"
#include "cli/files.h"
#include "model/session/foreign.h"
#include "model/session/whole.h"

#define BEGINNING_BYTES SESSION_BEGINNING_BYTES

/* Maximum bytes of a file that is one JSON value. An export of ChatGPT may have many conversations,
 * and the SDK reads each as a file of its own. */
#define WHOLE_MAX ((size_t)2 * 1024 * 1024 * 1024)

typedef struct import_state {
    cli_source from;
    slice beginning_bytes; /* bytes that are read from the file, but not returned by read_file() */
    term_progress progress;
    uint64_t bytes, lines;
    int failure; /* errno of a failed read; 0: no read has failed */
    arena memory;
} import_state;

static ptrdiff_t read_file(void *arg, char *to, size_t size)
{
    import_state *state = arg;
    size_t count = state->beginning_bytes.len < size ? state->beginning_bytes.len : size;

    if (count > 0) {
        memcpy(to, state->beginning_bytes.ptr, count);
        state->beginning_bytes =
            (slice){state->beginning_bytes.ptr + count, state->beginning_bytes.len - count};
    } else {
        count = fread(to, 1, size, state->from.in);
    }
    if (count == 0 && ferror(state->from.in)) {
        state->failure = errno;
        return -1;
    }
    state->bytes += count;
    for (size_t i = 0; i < count; i++)
        state->lines += to[i] == '\n';
    term_progress_show(&state->progress, state->bytes, state->lines);
    return (ptrdiff_t)count;
}

/* --- the beginning of the file --- */

/* Reads the beginning of the file, up to the first header or entry. */
static void read_beginning(session_beginning *begin, import_state *state)
{
    char *bytes = arena_take(&state->memory, BEGINNING_BYTES);

    cli_check_memory(bytes != NULL);
    state->beginning_bytes = (slice){bytes, fread(bytes, 1, BEGINNING_BYTES, state->from.in)};
    cli_check_memory(session_beginning_read(begin, state->beginning_bytes, &state->memory));
}

/* Returns the value of --session. Without this option and without an id in the file's header,
 * returns the name of a regular file, such as "one" for "logs/one.jsonl". NULL: the SDK uses the id
 * in the header, or fails if there is none. */
static const char *choose_session(import_state *state, const session_beginning *begin,
                                  const cli_call *call)
{
    const char *slash = strrchr(state->from.name, '/');
    const char *name = slash ? slash + 1 : state->from.name, *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);

    if (call->session != NULL || begin->id != NULL || !state->from.is_file ||
        state->from.in == stdin)
        return call->session;
    return arena_copy(&state->memory, (slice){name, length});
}

/* --- the report of an import --- */

static void print_title(const cardbox_session_report *report)
{
    cardbox_import_counts counts = cardbox_session_report_counts(report);
    char appended[TERM_NUMBER_SIZE];

    fputs("session ", stdout);
    term_put_text(stdout, slice_of(cardbox_session_report_id(report)));
    fputs(": ", stdout);
    if (counts.lines == 0)
        puts("the file is empty");
    else if (counts.appended > 0)
        printf("%s entr%s appended\n", term_number(appended, counts.appended),
               counts.appended == 1 ? "y" : "ies");
    else if (counts.kept > 0)
        puts("no entry is new; other lines are kept");
    else if (counts.not_kept > 0)
        puts("nothing new");
    else
        puts("nothing new: the session has all lines already");
}

/* Returns true if a file has lines, and none that a context may contain. */
static bool has_no_messages(scan_value report)
{
    int64_t lines = 0, in_context = 0;

    return scan_integer(scan_find(report, "lines").text, &lines) && lines > 0 &&
           scan_integer(scan_find(report, "in_context").text, &in_context) && in_context == 0;
}

static cli_exit print_report(const cardbox_session_report *report, bool json)
{
    slice text = slice_of(cardbox_session_report_json(report));
    uint64_t not_kept = cardbox_session_report_counts(report).not_kept;

    if (json) {
        term_print_json(text.ptr);
    } else {
        print_title(report);
        session_report_print(text);
    }
    if (has_no_messages(scan_whole(text)))
        cli_warning("no line of the file is a message: contexts have nothing of it");
    if (not_kept > 0)
        cli_warning("%llu lines could not be kept: an export will lack them",
                    (unsigned long long)not_kept);
    return not_kept > 0 || session_report_is_bad(text) ? CLI_FAILED : CLI_DONE;
}

/* --- conversations of ChatGPT --- */

/* Reads the rest of a file that may be one JSON value. Returns {NULL, 0} if the file is too large.
 */
static slice read_all(import_state *state)
{
    buf bytes = BUF_INIT(WHOLE_MAX);
    char part[BEGINNING_BYTES];
    size_t got;

    buf_slice(&bytes, state->beginning_bytes);
    while (buf_ok(&bytes) && (got = fread(part, 1, sizeof(part), state->from.in)) > 0)
        buf_add(&bytes, part, got);
    if (!buf_ok(&bytes)) {
        buf_free(&bytes);
        return (slice){NULL, 0};
    }
    slice all = arena_keep(&state->memory, &bytes);
    cli_check_memory(all.ptr != NULL);
    return all;
}

static cardbox_import_options import_options(const cli_call *call)
{
    cardbox_import_options options = CARDBOX_IMPORT_OPTIONS_INIT;

    options.force = call->force;
    options.restore = call->restore;
    options.format = call->file_format < 0 ? NULL : &session_formats[call->file_format];
    return options;
}

static cli_exit import_conversation(cli_call *call, slice text)
{
    cardbox_session_report *report = NULL;
    const cardbox_import_options options = import_options(call);
    cardbox_status status = cardbox_session_import_bytes(&report, call->db, call->project, NULL,
                                                         &options, text.ptr, text.len, &call->err);
    cli_exit end = status == CARDBOX_OK ? print_report(report, call->json) : cli_failed(call);

    cardbox_session_report_free(report);
    return end;
}

/* Imports each conversation as a session of its own, with its own id. */
static cli_exit import_conversations(cli_call *call, scan_value conversations)
{
    scan_walk walk = scan_enter(conversations);
    scan_value conversation;
    cli_exit end = CLI_DONE;

    if (call->session != NULL) {
        cli_error("each conversation of the file is a session with its own id: import it without "
                  "--session");
        return CLI_FAILED;
    }
    while (scan_element(&walk, &conversation)) {
        if (import_conversation(call, conversation.text) != CLI_DONE)
            end = CLI_FAILED;
    }
    return end;
}

/* --- one session --- */

static cli_exit import_session(cli_call *call, import_state *state, const session_beginning *begin)
{
    cardbox_session_report *report = NULL;
    const char *session = choose_session(state, begin, call);
    const cardbox_import_options options = import_options(call);
    cardbox_status status = cardbox_session_import(&report, call->db, call->project, session,
                                                   &options, read_file, state, &call->err);
    cli_exit end;

    term_progress_clear(&state->progress);
    if (report != NULL && status == CARDBOX_OK) {
        end = print_report(report, call->json);
    } else if (state->failure != 0) {
        cli_error("cannot read %s: %s; earlier lines may be imported", state->from.name,
                  strerror(state->failure));
        end = CLI_FAILED;
    } else {
        end = cli_failed(call);
        if (status != CARDBOX_CONFLICT && status != CARDBOX_GONE && status != CARDBOX_INVALID)
            cli_note("repeat the import: lines that are stored do not change");
    }
    cardbox_session_report_free(report);
    return end;
}

static cli_exit import(cli_call *call, import_state *state)
{
    session_beginning begin;
    scan_value value;

    read_beginning(&begin, state);
    bool is_end = state->beginning_bytes.len < BEGINNING_BYTES;
    if (!call->force && session_may_be_whole(state->beginning_bytes, is_end)) {
        slice all = read_all(state);
        if (all.ptr == NULL) {
            cli_error("%s is one JSON value of more than %zu MiB", state->from.name,
                      WHOLE_MAX / (1024 * 1024));
            return CLI_FAILED;
        }
        state->beginning_bytes = all;
        session_whole_kind kind = session_whole_of(&value, all);
        if (kind == SESSION_WHOLE_CONVERSATIONS)
            return import_conversations(call, value);
        if (kind == SESSION_WHOLE_CONVERSATION && call->session == NULL &&
            session_conversation_id(value, &state->memory).len > 0)
            return import_conversation(call, value.text);
    }
    return import_session(call, state, &begin);
}

static cli_exit import_file(cli_call *call)
{
    import_state state = {.progress = {.label = "import", .unit = "lines"}, .memory = ARENA_INIT};

    if (!source_open(&state.from, call->arguments[0]))
        return CLI_FAILED;
    state.progress.total = state.from.size;
    cli_exit status = cli_open(call) ? import(call, &state) : CLI_FAILED;
    arena_reset(&state.memory);
    source_close(&state.from);
    return status;
}

const cli_command cli_session_import = {
    .name = "session import",
    .arguments = "[FILE]",
    .summary = "import all lines of a session from JSON Lines",
    .description =
        "FILE is JSON Lines of plain, pi, Claude Code or codex, or one JSON value: an array of "
        "messages of a model's API, or ChatGPT's conversations.json. Each conversation of ChatGPT "
        "becomes a session. - (the default) is the standard input. Lines that are not "
        "entries are stored too, for exports. Bad lines are reported; the exit status is then 1. "
        "Importing the same file again writes nothing. Importing a longer version appends its new "
        "lines. Files of other programs or of another session, and files without an entry or "
        "header in the first 64 KiB, are rejected.",
    .examples = "session import --project demo session.jsonl\n"
                "session import --project demo --session s-2 --format anthropic messages.json\n"
                "session import --project demo --session s-1 --json < session.jsonl",
    .options = CLI_IN_PROJECT(
        CLI_TEXT("session", session, "ID",
                 "the session's id (default: that of the header, or the file's name)"),
        CLI_CHOICE("format", file_format, SESSION_FORMATS,
                   "the API of an array of messages (default: by the shape of the messages)"),
        CLI_FLAG(
            "force", force,
            "store the lines of any file as they are, also of another dialect or session id, or "
            "without an entry or header at its beginning"),
        CLI_FLAG(
            "restore", restore,
            "import also if a session with this id was deleted; its entries do not come back")),
    .origins = {{"session_id", "--session"}},
    .without_database = true, /* import_file() opens the file before the database */
    .run = import_file,
};

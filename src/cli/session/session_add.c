/*
 * session_add.c: `cardbox session add`: appends messages as a model's API returned them.
 */
#include <inttypes.h>
#include "cli/session/session_internal.h"
#include "cli/files.h"

const cardbox_format session_formats[] = {CARDBOX_FORMAT_OPENAI, CARDBOX_FORMAT_RESPONSES,
                                          CARDBOX_FORMAT_ANTHROPIC};

/* --- the file --- */

/* Appends the lines of a file to an array. Returns false after it has printed an error. */
static bool join_lines(buf *out, slice text)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    scan_error fault;

    buf_char(out, '[');
    for (uint64_t number = 1; at < end; number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        slice line = slice_trim((slice){at, (size_t)((feed == NULL ? end : feed) - at)}, " \t\r");

        at = feed == NULL ? end : feed + 1;
        if (line.len == 0)
            continue;
        if (!scan_check(line, CARDBOX_JSON_DEPTH_MAX, NULL, NULL, &fault))
            return cli_error_and(false, "line %" PRIu64 " is not JSON: %s at byte %zu", number,
                                 fault.message, fault.position);
        buf_comma(out);
        buf_slice(out, line);
    }
    buf_char(out, ']');
    cli_check_memory(buf_ok(out));
    return true;
}

/* Reads an array, an object, or lines with an object on each. */
static bool read_messages(buf *out, const char *file)
{
    buf text = BUF_INIT(CARDBOX_CONTENT_MAX);
    bool ok = source_read(&text, file);

    if (ok && scan_check(buf_as_slice(&text), CARDBOX_JSON_DEPTH_MAX, NULL, NULL, NULL))
        buf_slice(out, buf_as_slice(&text));
    else
        ok = ok && join_lines(out, buf_as_slice(&text));
    buf_free(&text);
    return ok;
}

/* --- the command --- */

/* Adds what the loop of an agent does next, with the names of the tools that it runs. */
static void add_next(buf *out, const json_t *answer)
{
    const json_t *calls = json_object_get(answer, "open_calls"), *call;
    size_t i;

    buf_printf(out, "next %s", json_string_value(json_object_get(answer, "next")));
    json_array_foreach (calls, i, call)
        buf_printf(out, "%s%s", i == 0 ? ": " : ", ",
                   json_string_value(json_object_get(call, "name")));
}

static cli_exit print_answer(const char *answer, const char *session, bool json)
{
    char number[TERM_NUMBER_SIZE];
    buf line = BUF_INIT(1 << 20);
    json_error_t unused;

    cli_check_memory(answer != NULL);
    if (json) {
        term_print_json(answer);
        return CLI_DONE;
    }
    json_t *read = json_text_read(slice_of(answer), 0, &unused);
    cli_check_memory(read != NULL);
    size_t count = json_array_size(json_object_get(read, "ids"));
    buf_printf(&line, "session %s   version %" PRId64 "   %s message%s added   ", session,
               (int64_t)json_integer_value(json_object_get(read, "version")),
               term_number(number, count), count == 1 ? "" : "s");
    add_next(&line, read);
    buf_printf(&line, "   last %s", json_string_value(json_object_get(read, "leaf")));
    term_print_text(stdout, buf_as_slice(&line));
    buf_free(&line);
    json_decref(read);
    return CLI_DONE;
}

static cli_exit add_messages(cli_call *call, const char *messages)
{
    cardbox_session_add_options options = CARDBOX_SESSION_ADD_OPTIONS_INIT;
    const char *session = call->arguments[0];
    char *answer = NULL;

    options.key = call->append.key;
    options.expected_version = call->append.expected_version;
    options.parent_id = call->add_parent;
    options.model = call->add_model;
    options.restore = call->restore;
    cardbox_status status =
        cardbox_session_add(&answer, call->db, call->project, session,
                            session_formats[call->add_format], messages, &options, &call->err);
    cli_exit end =
        status == CARDBOX_OK ? print_answer(answer, session, call->json) : cli_failed(call);
    cardbox_free(answer);
    return end;
}

static cli_exit add_file(cli_call *call)
{
    buf messages = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    cli_exit status = CLI_FAILED;

    if (read_messages(&messages, call->arguments[1]) && cli_open(call)) {
        buf_char(&messages, '\0');
        cli_check_memory(buf_ok(&messages));
        status = add_messages(call, messages.data);
    }
    buf_free(&messages);
    return status;
}

const cli_command cli_session_add = {
    .name = "session add",
    .arguments = "SESSION [FILE]",
    .summary = "append messages of a model's API, all or none",
    .description =
        "FILE, or the standard input, is a JSON array of messages, one message, or one message on "
        "each line. The messages are those of requests and answers of the API: chat completions "
        "(openai), items of the Responses API (responses), or messages of the Messages API "
        "(anthropic), also whole answers. `session context` in the same format returns them "
        "byte for byte, unless a repair must change them. A missing session is created. The "
        "command prints what the loop of an agent does next: tools, with the names of those that "
        "have no result yet, model or user. With --json, it also prints the ids of the new "
        "entries, and the ids and arguments of these calls.",
    .examples = "session add --project demo s-1 messages.json\n"
                "session add --project demo --format anthropic --key turn-4 s-1 - < answer.json",
    .options = CLI_IN_PROJECT(
        CLI_CHOICE("format", add_format, SESSION_FORMATS,
                   "the API of the messages (default openai)"),
        CLI_TEXT("model", add_model, "MODEL", "the model of the last message of the assistant"),
        CLI_TEXT("parent", add_parent, "ENTRY",
                 "the entry after which the messages follow (default: the head)"),
        CLI_FLAG("restore", restore,
                 "also if a session with this id was deleted; its entries do not come back"),
        CLI_TEXT("key", append.key, "KEY",
                 "append key: a repeated addition with this key is applied once"),
        CLI_INT("expected-version", append.expected_version, "N",
                "add the messages only if the session has this version", 1, INT32_MAX)),
    .origins = {{"key", "--key"}, {"parent_id", "--parent"}},
    .without_database = true, /* add_file() opens the database after it has read the file */
    .run = add_file,
};

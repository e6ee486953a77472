/*
 * session_append.c: `cardbox session append`: appends the entries of a file, one on each line.
 */
#include <errno.h>
#include <inttypes.h>
#include "app/line_reader.h"
#include "cli/session/session_internal.h"
#include "cli/files.h"

/* Maximum number of entries of an append; the SDK has the same limit. */
#define LINES_MAX 1000

typedef struct append_input {
    const char *lines[LINES_MAX + 1];
    uint64_t numbers[LINES_MAX + 1]; /* for each of `lines`, its line number in the file, from 1 */
    size_t count;
    arena memory;
} append_input;

/* Reads the lines that are not blank. Returns false after it has printed an error. */
static bool read_entries(append_input *out, const cli_source *source)
{
    line_reader *reader = arena_take(&out->memory, sizeof(*reader));
    line_state state = LINE_READ;
    uint64_t number = 0;
    slice line;

    cli_check_memory(reader != NULL);
    line_reader_init(reader, CARDBOX_CONTENT_MAX, line_reader_from_file, source->in);
    while (out->count <= LINES_MAX && (state = line_reader_next(reader, &line)) == LINE_READ) {
        number++;
        if (slice_trim(line, " \t\r").len == 0)
            continue;
        out->numbers[out->count] = number;
        out->lines[out->count++] = arena_copy(&out->memory, line);
    }
    line_reader_free(reader);
    cli_check_memory(!out->memory.failed);
    if (state == LINE_FAILED)
        cli_error("cannot read %s: %s", source->name, strerror(errno));
    else if (state == LINE_TOO_LONG)
        cli_error("%s: a line has over %u bytes", source->name, CARDBOX_CONTENT_MAX);
    else if (state == LINE_READ)
        cli_error("%s has over %d entries: append them in parts, or import the file", source->name,
                  LINES_MAX);
    return state == LINE_END;
}

/* Prints the SDK's error. An index in the message, such as "entries[1]", is replaced by the number
 * of the line in the file. */
static cli_exit print_rejection(const append_input *input, const cli_call *call)
{
    static const char begin[] = "entries[";
    const char *number = call->err.message + sizeof(begin) - 1;
    int64_t index;

    if (strncmp(call->err.message, begin, sizeof(begin) - 1) != 0)
        return cli_failed(call);
    slice digits = {number, strcspn(number, "]")};
    if (!scan_integer(digits, &index) || index < 0 || index >= (int64_t)input->count)
        return cli_failed(call);
    return cli_error_and(CLI_FAILED, "line %" PRIu64 "%s", input->numbers[index],
                         number + digits.len + 1);
}

/* Prints the answer as JSON, or the number of new entries and the id of the last entry. */
static cli_exit print_answer(const char *answer, const char *session, int64_t version, bool json)
{
    const char *last = NULL;
    char number[TERM_NUMBER_SIZE];
    size_t appended = 0, i;
    json_error_t unused;
    json_t *read = json_text_read(slice_of(answer), 0, &unused), *entry;

    cli_check_memory(answer != NULL);
    json_array_foreach (json_object_get(read, "entries"), i, entry) {
        appended += strcmp(json_string_value(json_object_get(entry, "outcome")), "appended") == 0;
        last = json_string_value(json_object_get(entry, "entry_id"));
    }
    if (json) {
        term_print_json(answer);
    } else if (last == NULL) {
        printf("session %s   version %" PRId64 "   nothing appended: the input is empty\n", session,
               version);
    } else {
        printf("session %s   version %" PRId64 "   %s entr%s appended", session, version,
               term_number(number, appended), appended == 1 ? "y" : "ies");
        if (i > appended)
            printf(", %s unchanged", term_number(number, i - appended));
        fputs("   last ", stdout);
        term_print_text(stdout, slice_of(last));
    }
    json_decref(read);
    return CLI_DONE;
}

/* Appends the entries. If call->dialect is set, a missing session is created. */
static cardbox_status append_entries(int64_t *version, cli_call *call, const append_input *input,
                                     char **answer)
{
    cardbox_session_append_options sdk_options = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    cardbox_session_options make = CARDBOX_SESSION_OPTIONS_INIT;

    sdk_options.answer = answer;
    sdk_options.key = call->append.key;
    sdk_options.expected_version = call->append.expected_version;
    make.dialect = (cardbox_dialect)call->dialect;
    make.restore = call->restore;
    if (make.dialect != CARDBOX_DIALECT_UNKNOWN)
        sdk_options.create = &make;
    return cardbox_session_append(version, call->db, call->project, call->arguments[0],
                                  input->lines, input->count, &sdk_options, &call->err);
}

static cli_exit append_and_print(cli_call *call, const append_input *input)
{
    const char *session = call->arguments[0];
    int64_t version = 0;
    char *answer = NULL;
    cli_exit end = CLI_FAILED;
    cardbox_status status = append_entries(&version, call, input, &answer);

    if (status == CARDBOX_NOT_FOUND && strncmp(call->err.message, "session not found", 17) == 0)
        cli_error("session %s not found: --create pi or --create plain creates it", session);
    else if (status != CARDBOX_OK)
        end = print_rejection(input, call);
    else
        end = print_answer(answer, session, version, call->json);
    cardbox_free(answer);
    return end;
}

static cli_exit append_file(cli_call *call)
{
    append_input input = {.memory = ARENA_INIT};
    cli_exit status = CLI_FAILED;
    cli_source source;

    if (!source_open(&source, call->arguments[1]))
        return CLI_FAILED;
    if (read_entries(&input, &source) && cli_open(call))
        status = append_and_print(call, &input);
    arena_reset(&input.memory);
    source_close(&source);
    return status;
}

static bool check_restore(const cli_call *call)
{
    return !call->restore || call->dialect != CARDBOX_DIALECT_UNKNOWN ||
           cli_error_and(false, "--restore needs --create");
}

const cli_command cli_session_append = {
    .name = "session append",
    .arguments = "SESSION [FILE]",
    .summary = "append entries, all or none",
    .description =
        "FILE, or the standard input, has one entry on each line. If an entry has no parentId, its "
        "parent is the entry before it, and for the first entry the head. With \"parentId\":null, "
        "the entry is a root. An entry without an id gets a new id. An entry that is stored "
        "already does not change. The head moves to the last entry, whose id is printed; --json "
        "prints all ids. In the dialect plain, an unknown member is an error. The section "
        "ENTRIES of cardbox(1) describes types and members.",
    .examples = "session append --project demo --create plain s-1 < entries.jsonl\n"
                "session append --project demo --key turn-4 s-1 more.jsonl",
    .options = CLI_IN_PROJECT(
        CLI_CHOICE("create", dialect, "plain|pi",
                   "create a missing session, unless entries are rejected"),
        CLI_FLAG(
            "restore", restore,
            "with --create: also if a session with this id was deleted; its entries do not come "
            "back"),
        CLI_TEXT("key", append.key, "KEY",
                 "append key: a repeated append with this key is applied once"),
        CLI_INT("expected-version", append.expected_version, "N",
                "append only if the session has this version", 1, INT32_MAX)),
    .origins = {{"key", "--key"}},
    .without_database = true, /* append_file() opens the database after it has read the file */
    .check = check_restore,
    .run = append_file,
};

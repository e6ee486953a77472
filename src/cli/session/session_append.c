/*
 * session_append.c: `cardbox session append`, over the public SDK: entries from a file, one a line.
 */
#include <errno.h>
#include <inttypes.h>
#include "app/line_reader.h"
#include "base/scan.h"
#include "cli/commands.h"
#include "cli/session/session_rows.h"
#include "cli/source.h"
#include "cli/view/term.h"
#include "model/session/entry.h"
#include "model/session/preview.h"

/* Lines of one append, as the SDK has them. */
#define LINES_MAX 1000

typedef struct append_options {
    cli_common common;
    const char *key;
    const char *create;
    long expected_version;
} append_options;

typedef struct append_input {
    const char *lines[LINES_MAX + 1]; /* one more, to see that there are too many */
    uint64_t numbers[LINES_MAX + 1];  /* of the lines in the file */
    size_t count;
    arena memory;
} append_input;

static bool is_blank(slice line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (strchr(" \t\r", line.ptr[i]) == NULL)
            return false;
    }
    return true;
}

/* Reads the lines, blank ones left out. False: why not was said. */
static bool read_entries(append_input *out, const cli_source *source)
{
    line_reader *reader = arena_take(&out->memory, sizeof(*reader));
    line_state state = LINE_READ;
    uint64_t number = 0;
    slice line;

    if (reader == NULL) {
        cli_nomem();
        return false;
    }
    line_reader_init(reader, CARDBOX_CONTENT_MAX, line_reader_from_file, source->in);
    while (out->count <= LINES_MAX && (state = line_reader_next(reader, &line)) == LINE_READ) {
        number++;
        if (is_blank(line))
            continue;
        out->numbers[out->count] = number;
        out->lines[out->count++] = arena_copy(&out->memory, line);
    }
    line_reader_free(reader);
    if (state == LINE_FAILED)
        cli_error("cannot read %s: %s", source->name, strerror(errno));
    else if (state == LINE_TOO_LONG)
        cli_error("%s: a line has over %u bytes", source->name, CARDBOX_CONTENT_MAX);
    else if (state == LINE_READ)
        cli_error("%s has over %d entries: append them in parts, or import a file of all",
                  source->name, LINES_MAX);
    else if (out->memory.failed)
        cli_nomem();
    else
        return true;
    return false;
}

/* What the store calls entries[1] is a line of the file. */
static cli_exit refused(const append_input *input, const cardbox_error *err)
{
    static const char begin[] = "entries[";
    const char *number = err->message + sizeof(begin) - 1;
    int64_t place;

    if (strncmp(err->message, begin, sizeof(begin) - 1) != 0)
        return cli_failed(err);
    slice digits = {number, strcspn(number, "]")};
    if (!scan_integer(digits, &place) || place < 0 || place >= (int64_t)input->count)
        return cli_failed(err);
    cli_error("line %" PRIu64 "%s", input->numbers[place], number + digits.len + 1);
    return CLI_FAILED;
}

/* How many are new, and the id of the last one, which is often one that was made here. */
static void print_appended(const char *answer, const char *session, int64_t version)
{
    static const char *const NAMES[] = {"entry_id", "outcome"};
    char number[TERM_NUMBER_SIZE];
    uint64_t appended = 0, unchanged = 0;
    buf last = BUF_INIT(1 << 16);
    scan_value entry, found[2] = {{SCAN_NONE, {NULL, 0}}};

    for (scan_walk walk = scan_enter(scan_find(scan_whole(slice_of(answer)), "entries"));
         scan_element(&walk, &entry);) {
        session_pick(entry, NAMES, found, 2);
        if (session_says(found[1], "appended"))
            appended++;
        else
            unchanged++;
    }
    if (appended + unchanged == 0) {
        printf("session %s   version %" PRId64 "   nothing appended: no entry came in\n", session,
               version);
        return;
    }
    printf("session %s   version %" PRId64 "   %s entr%s appended", session, version,
           term_number(number, appended), appended == 1 ? "y" : "ies");
    if (unchanged > 0)
        printf(", %s unchanged", term_number(number, unchanged));
    if (found[0].kind == SCAN_STRING) {
        session_say_value(&last, found[0]);
        fputs("   last ", stdout);
        term_put_text(stdout, buf_as_slice(&last));
    }
    putchar('\n');
    buf_free(&last);
}

/* Warns of entries that are never part of a context: those of unknown types. */
static void warn_of_entries(const append_input *input, const char *answer)
{
    char more[48] = "";
    size_t count = 0, first = 0, i = 0;
    scan_value entry, not_in_context, reason = {SCAN_NONE, {NULL, 0}};

    for (scan_walk walk = scan_enter(scan_find(scan_whole(slice_of(answer)), "entries"));
         scan_element(&walk, &entry) && i < input->count; i++) {
        not_in_context = scan_find(entry, "not_in_context");
        if (not_in_context.kind != SCAN_STRING)
            continue;
        first = count == 0 ? i : first;
        reason = not_in_context;
        count++;
    }
    if (count == 0)
        return;
    if (count > 1)
        snprintf(more, sizeof(more), " and %zu more", count - 1);
    slice text = scan_inside(reason.text);
    cli_warning("line %" PRIu64 "%s: %.*s", input->numbers[first], more, (int)text.len, text.ptr);
}

/* Together, so that entries that are refused leave no empty session. */
static cardbox_status make_and_append(int64_t *version, cardbox *db, const char *project,
                                      const char *session, cardbox_dialect dialect,
                                      const append_input *input,
                                      const cardbox_session_append_options *how, cardbox_error *err)
{
    cardbox_session_options make = CARDBOX_SESSION_OPTIONS_INIT;
    cardbox *tx = NULL;
    cardbox_status status = cardbox_begin(&tx, db, err);

    make.dialect = dialect;
    if (status == CARDBOX_OK)
        status = cardbox_session_create(NULL, tx, project, session, &make, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_append(version, tx, project, session, input->lines, input->count,
                                        how, err);
    if (status == CARDBOX_OK)
        return cardbox_commit(tx, err);
    cardbox_rollback(tx);
    return status;
}

/* Makes the session first if a dialect is given. */
static cli_exit append(const append_options *options, cardbox_dialect dialect, const char *session,
                       const append_input *input)
{
    cardbox_session_append_options how = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t version = 0;
    char *answer = NULL;
    cardbox *db = NULL;
    cardbox_status status;

    how.answer = &answer;
    how.key = options->key;
    how.expected_version = options->expected_version;
    db = cli_open(&options->common);
    if (db == NULL)
        return CLI_FAILED;
    if (dialect != CARDBOX_DIALECT_UNKNOWN)
        status = make_and_append(&version, db, options->common.project, session, dialect, input,
                                 &how, &err);
    else
        status = cardbox_session_append(&version, db, options->common.project, session,
                                        input->lines, input->count, &how, &err);
    if (status == CARDBOX_NOT_FOUND && strncmp(err.message, "session not found", 17) == 0) {
        cli_error("session %s not found: --create pi or --create plain makes it", session);
        return CLI_FAILED;
    }
    if (status != CARDBOX_OK) {
        cardbox_free(answer);
        return refused(input, &err);
    }
    if (answer == NULL)
        return cli_nomem();
    warn_of_entries(input, answer);
    if (options->common.json)
        term_print_json(answer);
    else
        print_appended(answer, session, version);
    cardbox_free(answer);
    return CLI_DONE;
}

static cli_exit run_append(const void *given, char **arguments)
{
    append_input input = {.memory = ARENA_INIT};
    const append_options *options = given;
    cli_exit status = CLI_FAILED;
    cardbox_dialect dialect;
    cli_source source;

    if (!session_dialect_read(&dialect, "--create", options->create))
        return CLI_USAGE;
    if (!source_open(&source, arguments[1]))
        return CLI_FAILED;
    if (read_entries(&input, &source))
        status = append(options, dialect, arguments[0], &input);
    arena_reset(&input.memory);
    source_close(&source);
    return status;
}

static const opt_spec append_specs[] = CLI_IN_PROJECT(
    CLI_TEXT(append_options, "create", create, "DIALECT",
             "make the session if it is missing and the entries are good: pi or plain"),
    CLI_TEXT(append_options, "key", key, "KEY",
             "append key: the same one appends once; each entry then needs an id"),
    CLI_INT(append_options, "expected-version", expected_version, "N",
            "only if the session is at this version", 1, INT32_MAX));

const cli_command cli_session_append = {
    .name = "session append",
    .arguments = "SESSION [FILE]",
    .summary = "append entries, all or none",
    .description =
        "FILE, or the standard input, has one entry a line, each with a type. Without a "
        "parentId it goes on from the one before, the first one from the head; null makes "
        "a root. One without an id is given one; one with an id that is there already is "
        "left alone. The head moves to the last one, whose id is said; --json has all ids. "
        "An entry of an unknown type is stored with a warning; it is never part of a context. The "
        "types and their members are in cardbox(1), ENTRIES.",
    .examples = "session append --project demo --create plain s-1 < entries.jsonl\n"
                "session append --project demo --key turn-4 s-1 more.jsonl",
    .options = append_specs,
    .origins = {{"key", "--key"}},
    .alone = run_append,
};

/*
 * session_context.c: `cardbox session context`: the messages that a model is given at an entry,
 * what was done so that its API takes them, and where two of them part. Over the public SDK.
 */
#include "base/scan.h"
#include "cli/card_view.h"
#include "cli/commands.h"
#include "cli/session_rows.h"
#include "store/session/context.h"
#include "store/session/words.h"

typedef struct context_options {
    cli_common common;
    const char *format, *compare;
    bool no_repair;
} context_options;

/* --- the report --- */

static void add_member(buf *out, scan_value object, const char *name, const char *before)
{
    scan_value value = scan_find(object, name);

    if (value.kind == SCAN_NONE || value.kind == SCAN_NULL)
        return;
    buf_text(out, before);
    session_say_value(out, value);
}

/* How one repair of a kind is said, and how several are, behind their number. */
static const struct {
    const char *one, *many;
} WORDS[CONTEXT_REPAIR_KINDS] = {
    [CONTEXT_DROPPED_MESSAGE] = {"message that ended in error was left out",
                                 "messages that ended in error were left out"},
    [CONTEXT_DROPPED_RESULT] = {"result of a call in such a message was left out",
                                "results of calls in such messages were left out"},
    [CONTEXT_ORPHAN_RESULT] = {"result without its call was left out",
                               "results without their calls were left out"},
    [CONTEXT_SECOND_RESULT] = {"second result of a call was left out",
                               "second results of calls were left out"},
    [CONTEXT_MOVED_RESULT] = {"result that came late was put behind its call",
                              "results that came late were put behind their calls"},
    [CONTEXT_SYNTHETIC_RESULT] = {"call without a result was given one",
                                  "calls without results were given some"},
    [CONTEXT_CALL_ID] = {"id of a call was replaced", "ids of calls were replaced"},
    [CONTEXT_TOOL_NAME] = {"name of a tool was replaced", "names of tools were replaced"},
    [CONTEXT_DROPPED_BLOCK] = {"block that has no place there was left out",
                               "blocks that have no place there were left out"},
    [CONTEXT_EMPTY_MESSAGE] = {"message without content was left out",
                               "messages without content were left out"},
    [CONTEXT_EMPTY_RESULT] = {"empty result was given a text", "empty results were given a text"},
    [CONTEXT_FIRST_MESSAGE] = {"message of the user was put first",
                               "messages of the user were put first"},
};

static void say_kind(context_repair_kind kind, scan_value repairs)
{
    buf line = BUF_INIT(1 << 16);
    size_t count = 0;
    scan_value repair, found = {SCAN_NONE, {NULL, 0}};

    for (scan_walk walk = scan_enter(repairs); scan_element(&walk, &repair);) {
        if (!scan_string_is(scan_find(repair, "repair").text, view_of(context_repair_name(kind))))
            continue;
        found = repair;
        count++;
    }
    buf_printf(&line, "  %zu %s", count, count == 1 ? WORDS[kind].one : WORDS[kind].many);
    if (count == 1) {
        add_member(&line, found, "entry", ": entry ");
        add_member(&line, found, "call", ", call ");
    }
    if (count > 0)
        cli_note("%s", buf_str(&line));
    buf_free(&line);
}

/* A line for each kind: which entries they are about where they are many, --json says. */
static void say_repairs(scan_value repairs)
{
    for (int kind = 0; repairs.kind == SCAN_ARRAY && kind < CONTEXT_REPAIR_KINDS; kind++)
        say_kind((context_repair_kind)kind, repairs);
}

/* On stderr: stdout has what can be sent. */
static void say_report(const char *json)
{
    scan_value report = scan_whole(view_of(json));
    buf line = BUF_INIT(1 << 16);

    buf_text(&line, "context");
    add_member(&line, report, "leaf_id", " of ");
    add_member(&line, report, "provider", ": model ");
    add_member(&line, report, "model", "/");
    add_member(&line, report, "thinking_level", ", thinking ");
    add_member(&line, report, "messages_after", "; messages: ");
    add_member(&line, report, "messages_before", ", before repairs ");
    cli_note("%s", buf_str(&line));
    say_repairs(scan_find(report, "repairs"));
    buf_free(&line);
}

/* --- one context --- */

static void print_context(const cardbox_context *built, bool json)
{
    const char *messages = cardbox_context_json(built), *system = cardbox_context_system(built);

    if (!json && system == NULL) {
        puts(messages);
    } else {
        fputs("{", stdout);
        if (system != NULL)
            printf("\"system\":%s,", system);
        printf("\"messages\":%s", messages);
        if (json)
            printf(",\"report\":%s", cardbox_context_report(built));
        puts("}");
    }
    if (!json)
        say_report(cardbox_context_report(built));
}

/* --- two contexts --- */

static void add_side(buf *out, const char *name, const cardbox_context *built, const char *leaf)
{
    size_t count = cardbox_context_count(built);
    char digest[33] = "";

    if (count > 0 && cardbox_context_digest(digest, built, count - 1) != CARDBOX_OK)
        digest[0] = '\0';
    buf_printf(out, ",\"%s\":{\"entry_id\":", name);
    if (leaf != NULL)
        buf_json_string(out, view_of(leaf));
    else
        buf_text(out, "null");
    buf_printf(out, ",\"messages\":%zu,\"digest\":\"%s\"}", count, digest);
}

static void print_difference(const cardbox_context *a, const char *a_leaf, const cardbox_context *b,
                             const char *b_leaf, bool json)
{
    size_t shared = cardbox_context_difference(a, b);
    size_t a_count = cardbox_context_count(a), b_count = cardbox_context_count(b);
    buf line = BUF_INIT(1 << 16);

    if (json) {
        buf_printf(&line, "{\"shared\":%zu", shared);
        add_side(&line, "a", a, a_leaf);
        add_side(&line, "b", b, b_leaf);
        buf_char(&line, '}');
    } else if (shared == a_count && shared == b_count) {
        buf_printf(&line, "the contexts are the same: %zu messages", shared);
    } else {
        buf_printf(&line, "the first %zu messages are the same; then %s has %zu more, %s %zu",
                   shared, a_leaf ? a_leaf : "the head", a_count - shared, b_leaf,
                   b_count - shared);
    }
    puts(buf_str(&line));
    buf_free(&line);
}

/* --- the command --- */

static cli_exit build(cardbox *db, const context_options *options, const char *session,
                      const char *leaf, cardbox_format format)
{
    const char *project = options->common.project;
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *built = NULL, *other = NULL;
    cardbox_status status;

    how.format = format;
    how.no_repair = options->no_repair;
    status = cardbox_build_context_options(&built, db, project, session, leaf, &how, &err);
    if (status == CARDBOX_OK && options->compare != NULL)
        status = cardbox_build_context_options(&other, db, project, session, options->compare, &how,
                                               &err);
    if (status != CARDBOX_OK)
        cli_failed(&err);
    else if (other != NULL)
        print_difference(built, leaf, other, options->compare, options->common.json);
    else
        print_context(built, options->common.json);
    cardbox_context_free(other);
    cardbox_context_free(built);
    return status == CARDBOX_OK ? CLI_DONE : CLI_FAILED;
}

static cli_exit run(const void *given, char **arguments, int count)
{
    const context_options *options = given;
    cardbox_format format;
    cardbox *db = NULL;
    cli_exit status;

    if (!context_format_of(&format, view_of(options->format))) {
        cli_error("--format must be openai, anthropic or entries, not \"%s\"", options->format);
        return CLI_USAGE;
    }
    db = cli_open(&options->common);
    if (db == NULL)
        return CLI_FAILED;
    status = build(db, options, arguments[0], count > 1 ? arguments[1] : NULL, format);
    return status;
}

static const opt_spec specs[] = {
    CLI_DSN,
    CLI_PROJECT,
    {"format", OPT_TEXT, offsetof(context_options, format), NULL, "FORMAT",
     "openai (default), anthropic or entries", 0, 0},
    {"no-repair", OPT_FLAG, offsetof(context_options, no_repair), NULL, NULL,
     "leave calls and results as they are, paired or not", 0, 0},
    {"compare", OPT_TEXT, offsetof(context_options, compare), NULL, "ENTRY",
     "say how many messages this entry's context shares with it", 0, 0},
    CLI_JSON,
    CLI_OPTIONS_END,
};

static const context_options defaults = {.format = "openai"};

const cli_command cli_session_context = {
    .name = "session context",
    .arguments = "SESSION [ENTRY]",
    .summary = "write the messages that a model is given at an entry, or at the head",
    .description = "On stdout the JSON array of messages, of anthropic an object with \"system\" "
                   "where there is one; on stderr the model, and what was repaired so that its API "
                   "takes them. With --json one object of both.",
    .examples = "session context --project demo demo-session | jq '.[].role'\n"
                "session context --project demo --format anthropic --json demo-session 5e550010\n"
                "session context --project demo --compare 5e550010 demo-session",
    .options = specs,
    .defaults = &defaults,
    .size = sizeof(context_options),
    .least = 1,
    .most = 2,
    .needs_project = true,
    .run = run,
};

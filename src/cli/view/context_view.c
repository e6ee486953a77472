/*
 * context_view.c: prints a context for `cardbox session context` and `cardbox box context`: the
 * messages, and a report with the repairs.
 */
#include "cli/view/context_view.h"

#include <inttypes.h>
#include "cli/view/term.h"
#include "model/session/preview.h"

/* --- the report --- */

static void add_member(buf *out, scan_value object, const char *name, const char *before)
{
    scan_value value = scan_find(object, name);

    if (value.kind == SCAN_NONE || value.kind == SCAN_NULL)
        return;
    buf_text(out, before);
    session_value_text(out, value);
}

/* The texts that follow the number of repairs of a kind: for one repair, and for several. */
static const struct {
    const char *one, *many;
} WORDS[CONTEXT_REPAIR_KINDS] = {
    [CONTEXT_DROPPED_MESSAGE] = {"message that ended in error or was aborted was left out",
                                 "messages that ended in error or were aborted were left out"},
    [CONTEXT_DROPPED_RESULT] = {"result of a call in a failed or aborted message was left out",
                                "results of calls in failed or aborted messages were left out"},
    [CONTEXT_ORPHAN_RESULT] = {"result without its call was left out",
                               "results without their calls were left out"},
    [CONTEXT_SECOND_RESULT] = {"second result of a call was left out",
                               "second results of calls were left out"},
    [CONTEXT_MOVED_RESULT] = {"result that came late was put behind its call",
                              "results that came late were put behind their calls"},
    [CONTEXT_SYNTHETIC_RESULT] = {"result was added for a call without one",
                                  "results were added for calls without one"},
    [CONTEXT_CALL_ID] = {"id of a call was replaced", "ids of calls were replaced"},
    [CONTEXT_TOOL_NAME] = {"name of a tool was replaced", "names of tools were replaced"},
    [CONTEXT_DROPPED_BLOCK] = {"content block that its message may not contain was left out",
                               "content blocks that their messages may not contain were left out"},
    [CONTEXT_EMPTY_MESSAGE] = {"message without content was left out",
                               "messages without content were left out"},
    [CONTEXT_EMPTY_RESULT] = {"empty result was filled with a text",
                              "empty results were filled with a text"},
    [CONTEXT_FIRST_MESSAGE] = {"user message was inserted before the assistant's first message",
                               "user messages were inserted before the assistant's first message"},
    [CONTEXT_ARGUMENTS] = {"call had arguments that are no JSON object, which were replaced",
                           "calls had arguments that are no JSON objects, which were replaced"},
    [CONTEXT_NO_CALLS] = {"empty list of calls was removed", "empty lists of calls were removed"},
    [CONTEXT_NO_CONTENT] = {"answer without content got an empty text",
                            "answers without content got empty texts"},
    [CONTEXT_MERGED] = {"result was merged into the message before it",
                        "results were merged into the messages before them"},
    [CONTEXT_REASONING] = {"item of reasoning without the item after it was left out",
                           "items of reasoning without the items after them were left out"},
    [CONTEXT_OTHER_SPEAKER] = {"answer or result of another author became a text of a user",
                               "answers or results of other authors became texts of users"},
};

static void say_kind(context_repair_kind kind, scan_value repairs)
{
    buf line = BUF_INIT(1 << 16);
    size_t count = 0;
    scan_value repair, found = {SCAN_NONE, {NULL, 0}};

    for (scan_walk walk = scan_enter(repairs); scan_element(&walk, &repair);) {
        if (!scan_string_is(scan_find(repair, "repair").text, slice_of(context_repair_name(kind))))
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

/* Prints what the format has no counterpart for: each kind once, with the first entry that has it.
 */
static void say_left_out(scan_value list)
{
    scan_value one, earlier;

    for (scan_walk walk = scan_enter(list); scan_element(&walk, &one);) {
        scan_value what = scan_find(one, "what");
        bool is_new = true;
        buf line = BUF_INIT(1 << 16);

        for (scan_walk before = scan_enter(list); scan_element(&before, &earlier);) {
            if (earlier.text.ptr == one.text.ptr)
                break;
            is_new = is_new && !slice_equal(scan_find(earlier, "what").text, what.text);
        }
        add_member(&line, one, "what", "  not in this format: ");
        add_member(&line, one, "entry", ", first in entry ");
        if (is_new)
            cli_note("%s", buf_str(&line));
        buf_free(&line);
    }
}

/* Prints what the loop of an agent does next, with the names of the calls that are open. */
static void say_next(scan_value report)
{
    scan_value calls = scan_find(report, "open_calls"), call;
    buf line = BUF_INIT(1 << 16);
    const char *between = ": ";

    add_member(&line, report, "next", "  next: ");
    for (scan_walk walk = scan_enter(calls); scan_element(&walk, &call); between = ", ")
        add_member(&line, call, "name", between);
    if (line.len > 0)
        cli_note("%s", buf_str(&line));
    buf_free(&line);
}

static void add_messages(buf *out, scan_value report, const cardbox_context *built)
{
    size_t count = cardbox_context_count(built);
    bool merges = session_string_is(scan_find(report, "format"), "anthropic");
    bool has_system = cardbox_context_system(built) != NULL;
    int64_t after, omitted;

    buf_printf(out, "; messages: %zu", count);
    if (scan_integer(scan_find(report, "messages_after").text, &after) && after > (int64_t)count)
        buf_printf(out, " (%" PRId64 " before %s%s%s)", after,
                   merges ? "messages of one role were merged" : "",
                   merges && has_system ? " and " : "",
                   has_system ? "system texts were separated" : "");
    add_member(out, report, "messages_before", ", before repairs ");
    if (scan_integer(scan_find(report, "omitted_messages").text, &omitted) && omitted > 0)
        buf_printf(out, ", omitted %" PRId64, omitted);
    add_member(out, scan_find(report, "token_estimate"), "tokens", "; tokens: about ");
}

static void add_then(buf *out, scan_value boxes)
{
    scan_value box;

    for (scan_walk walk = scan_enter(boxes);
         boxes.kind == SCAN_ARRAY && scan_element(&walk, &box);) {
        add_member(out, box, "box_id", "; then ");
        add_member(out, box, "version", " at version ");
        add_member(out, box, "cards", "; cards: ");
    }
}

static void say_report(const cardbox_context *built)
{
    scan_value report = scan_whole(slice_of(cardbox_context_report(built)));
    scan_value missing = scan_find(report, "missing_card_ids"),
               repairs = scan_find(report, "repairs"), left_out = scan_find(report, "left_out");
    buf line = BUF_INIT(1 << 16);

    buf_text(&line, "context");
    add_member(&line, report, "entry_id", " of ");
    add_member(&line, report, "box_id", " of ");
    add_member(&line, report, "version", " at version ");
    add_member(&line, report, "cards", "; cards: ");
    add_then(&line, scan_find(report, "then"));
    add_member(&line, report, "provider", ": model ");
    add_member(&line, report, "model", "/");
    add_member(&line, report, "thinking_level", ", thinking ");
    add_messages(&line, report, built);
    cli_note("%s", buf_str(&line));
    if (missing.kind == SCAN_ARRAY && scan_count(missing) > 0)
        cli_note("  %zu card%s missing", scan_count(missing),
                 scan_count(missing) == 1 ? " is" : "s are");
    for (int kind = 0; repairs.kind == SCAN_ARRAY && kind < CONTEXT_REPAIR_KINDS; kind++)
        say_kind((context_repair_kind)kind, repairs);
    if (left_out.kind == SCAN_ARRAY)
        say_left_out(left_out);
    say_next(report);
    buf_free(&line);
}

/* --- one context --- */

static void put_member(const char *before, slice json, const char *after)
{
    fputs(before, stdout);
    term_put_json(json);
    fputs(after, stdout);
}

void context_view_print(const cardbox_context *built, bool json)
{
    const char *messages = cardbox_context_json(built), *system = cardbox_context_system(built);
    scan_value report = scan_whole(slice_of(cardbox_context_report(built)));
    slice metadata = scan_find(report, "metadata").text;
    bool has_items = session_string_is(scan_find(report, "format"), "responses");

    if (!json && system == NULL && metadata.len == 0) {
        term_print_json(messages);
    } else {
        fputs("{", stdout);
        if (!json && metadata.len > 0)
            put_member("\"metadata\":", metadata, ",");
        if (system != NULL)
            put_member(has_items ? "\"instructions\":" : "\"system\":", slice_of(system), ",");
        put_member("\"messages\":", slice_of(messages), "");
        if (json)
            put_member(",\"report\":", slice_of(cardbox_context_report(built)), "");
        puts("}");
    }
    if (!json)
        say_report(built);
}

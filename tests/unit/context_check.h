/*
 * context_check.h: every context that a test builds is written in all formats, twice, and goes
 * through the rules of both APIs; prefixes must be digested alike.
 */
#ifndef UNIT_CONTEXT_CHECK_H
#define UNIT_CONTEXT_CHECK_H

#include "model/session/context.h"
#include "model/session/file.h"
#include "unit/context_rules.h"
#include "unit/session_test.h"

static inline json_t *parse_json(const buf *text)
{
    json_error_t error;
    size_t flags = JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL;
    json_t *value = json_loadb(buf_str(text), text->len, flags, &error);

    if (value == NULL)
        fail_msg("%s at %d in %.2000s", error.text, error.position, buf_str(text));
    return value;
}

/* Entries are as they are, with whatever JSON can hold and jansson can't. */
static inline void assert_entries(const context_output *out)
{
    scan_value list, element;
    size_t count = 0;

    assert_true(scan_check(buf_as_slice(&out->messages), 200, &list, NULL, NULL));
    scan_walk walk = scan_enter(list);
    while (scan_element(&walk, &element))
        count++;
    assert_int_equal(count, out->count);
}

/* Messages of the format "messages": known roles, contents of one string, each call answered. */
static inline broken messages_break(const json_t *messages)
{
    const json_t *open = NULL; /* the calls that the next messages answer, in any order */
    size_t i, answered = 0;
    json_t *message, *call;

    json_array_foreach (messages, i, message) {
        const char *role = json_string_value(json_object_get(message, "role"));
        const json_t *calls = json_object_get(message, "toolCalls");
        const char *id = json_string_value(json_object_get(message, "toolCallId"));
        size_t at;

        if (!json_is_string(json_object_get(message, "content")))
            return "the content is no string";
        if (role == NULL || (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0 &&
                             strcmp(role, "tool") != 0))
            return "the role is unknown";
        if ((strcmp(role, "tool") == 0) != (id != NULL))
            return "only a result has a toolCallId";
        if (id != NULL) {
            bool is_open = false;
            json_array_foreach (open, at, call)
                is_open |= strcmp(json_string_value(json_object_get(call, "id")), id) == 0;
            if (!is_open)
                return "a result without its call";
            answered++;
            continue;
        }
        if (answered != json_array_size(open))
            return "a call without a result";
        open = calls;
        answered = 0;
        if (calls != NULL && (strcmp(role, "assistant") != 0 || json_array_size(calls) == 0))
            return "calls where none may be";
        json_array_foreach (calls, at, call) {
            if (!json_is_string(json_object_get(call, "id")) ||
                !json_is_string(json_object_get(call, "name")) ||
                json_object_get(call, "params") == NULL)
                return "a call lacks a member";
        }
    }
    return answered == json_array_size(open) ? NULL : "a call without a result";
}

static inline void assert_accepted(const context_output *out, cardbox_format format)
{
    if (format == CARDBOX_FORMAT_ENTRIES) {
        assert_entries(out);
        return;
    }
    json_t *messages = parse_json(&out->messages);
    json_t *system = out->system.len > 0 ? parse_json(&out->system) : NULL;
    broken rule = NULL;

    if (format == CARDBOX_FORMAT_OPENAI)
        rule = openai_breaks(messages);
    else if (format == CARDBOX_FORMAT_MESSAGES)
        rule = messages_break(messages);
    else
        rule = anthropic_breaks(system, messages);
    if (rule != NULL)
        fail_msg("%s: %s: %.4000s", CONTEXT_FORMATS[format], rule, buf_str(&out->messages));
    assert_int_equal(json_array_size(messages), out->count);
    json_decref(messages);
    json_decref(system);
}

/* Builds the context of an entry. To be freed with its memory. */
static inline context build(const session_file *file, uint32_t leaf, cardbox_format format,
                            bool repair, arena *memory)
{
    size_t count = (size_t)file->tree.nodes[leaf].depth + 1;
    const session_entry **path = arena_zeros(memory, count, sizeof(*path));
    context ctx;

    assert_non_null(path);
    for (size_t i = count; i-- > 0; leaf = file->tree.nodes[leaf].parent)
        path[i] = &file->entries[leaf];
    assert_true(context_of_path(&ctx, file->has_header ? &file->header : NULL, path, count, format,
                                repair, memory));
    return ctx;
}

/* All formats of one context, by the rules, and the same bytes once more. */
static inline void assert_sendable(const session_file *file, uint32_t leaf)
{
    for (int format = CARDBOX_FORMAT_OPENAI; format <= CARDBOX_FORMAT_MESSAGES; format++) {
        arena memory = ARENA_INIT, more = ARENA_INIT;
        context first = build(file, leaf, (cardbox_format)format, true, &memory);
        context second = build(file, leaf, (cardbox_format)format, true, &more);
        context_output out, again;
        buf report = BUF_INIT(1u << 26);

        assert_true(context_write(&out, &first));
        assert_true(context_write(&again, &second));
        assert_accepted(&out, (cardbox_format)format);
        assert_true(slice_equal(buf_as_slice(&out.messages), buf_as_slice(&again.messages)));
        assert_true(slice_equal(buf_as_slice(&out.system), buf_as_slice(&again.system)));
        assert_int_equal(
            context_first_difference(out.digests, out.count, again.digests, again.count),
            out.count);
        buf_char(&report, '{');
        context_report(&report, &first);
        buf_char(&report, '}');
        json_decref(parse_json(&report));
        buf_free(&report);
        context_output_free(&out);
        context_output_free(&again);
        arena_reset(&memory);
        arena_reset(&more);
    }
}

/* A context of a text's last entry, written; NULL-terminated, to be freed. */
static inline char *written_as(const char *text, cardbox_format format, bool repair)
{
    session_file file;
    arena memory = ARENA_INIT;
    context_output out;

    assert_true(session_file_read(&file, slice_of(text)));
    context ctx = build(&file, file.tree.leaf, format, repair, &memory);
    assert_true(context_write(&out, &ctx));
    if (repair) {
        assert_accepted(&out, format);
        assert_sendable(&file, file.tree.leaf);
    }
    if (out.system.len > 0)
        buf_slice(&out.messages, buf_as_slice(&out.system));
    char *written = buf_take(&out.messages);
    assert_non_null(written);
    context_output_free(&out);
    arena_reset(&memory);
    session_file_free(&file);
    return written;
}

static inline void assert_written(const char *text, cardbox_format format, const char *expected)
{
    char *written = written_as(text, format, true);

    if (strcmp(written, expected) != 0)
        fail_msg("\n%s\nis not\n%s", written, expected);
    free(written);
}

#endif

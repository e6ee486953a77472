/*
 * context_rules.h: what the APIs of OpenAI (chat completions) and Anthropic (messages) ask of a
 * list of messages, by their published rules, checked over the JSON that would be sent. Must not
 * know how a context is built: it reads with jansson what the library wrote without it.
 */
#ifndef UNIT_CONTEXT_RULES_H
#define UNIT_CONTEXT_RULES_H

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

/* NULL: accepted. Else the rule that is broken. */
typedef const char *broken;

#define RULE(holds, message)                                                                       \
    do {                                                                                           \
        if (!(holds))                                                                              \
            return message;                                                                        \
    } while (0)

static inline const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text != NULL ? text : "";
}

static inline bool says(const json_t *object, const char *name, const char *text)
{
    return strcmp(member(object, name), text) == 0;
}

/* A NUL is no white space, and no end either. */
static inline bool is_blank(const json_t *block)
{
    const json_t *text = json_object_get(block, "text");

    return strspn(member(block, "text"), " \t\r\n\v\f") == json_string_length(text);
}

static inline bool fits_pattern(const char *text, size_t most)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
            return false;
    }
    return len > 0 && len <= most;
}

/* --- OpenAI --- */

static inline broken openai_content(const json_t *content, const char *role)
{
    size_t i;
    json_t *part;

    if (json_is_string(content)) {
        RULE(json_string_length(content) > 0, "content may not be empty");
        return NULL;
    }
    RULE(json_is_array(content) && json_array_size(content) > 0, "content must be text or parts");
    json_array_foreach (content, i, part) {
        if (says(part, "type", "text")) {
            RULE(json_string_length(json_object_get(part, "text")) > 0,
                 "a text part may not be empty");
            continue;
        }
        RULE(strcmp(role, "user") == 0 && says(part, "type", "image_url"),
             "only users have other parts than text");
        RULE(member(json_object_get(part, "image_url"), "url")[0] != '\0', "an image needs a url");
    }
    return NULL;
}

/* Notes a message's calls as open. */
static inline broken openai_calls(const json_t *calls, json_t *open, json_t *seen)
{
    size_t i;
    json_t *call;

    RULE(json_is_array(calls) && json_array_size(calls) > 0, "tool_calls may not be empty");
    json_array_foreach (calls, i, call) {
        const json_t *function = json_object_get(call, "function");
        const char *id = member(call, "id");
        RULE(id[0] != '\0' && strlen(id) <= 40, "a call's id has 1 to 40 characters");
        RULE(json_object_get(seen, id) == NULL, "ids of calls must be unique");
        RULE(says(call, "type", "function"), "a call is a function's");
        RULE(fits_pattern(member(function, "name"), 64), "a function's name has a pattern");
        RULE(json_is_string(json_object_get(function, "arguments")), "arguments are a string");
        json_object_set_new(seen, id, json_true());
        json_object_set_new(open, id, json_true());
    }
    return NULL;
}

static inline broken openai_message(const json_t *message, json_t *open, json_t *seen)
{
    const char *role = member(message, "role");
    const json_t *content = json_object_get(message, "content");
    const json_t *calls = json_object_get(message, "tool_calls");

    if (strcmp(role, "tool") == 0) {
        RULE(json_object_del(open, member(message, "tool_call_id")) == 0,
             "a tool's message must answer a call right before it, once");
        return openai_content(content, role);
    }
    RULE(json_object_size(open) == 0, "a call must be answered before the next message");
    if (strcmp(role, "assistant") == 0) {
        if (calls == NULL)
            return openai_content(content, role);
        RULE(json_is_null(content) || openai_content(content, role) == NULL, "bad content");
        return openai_calls(calls, open, seen);
    }
    RULE(strcmp(role, "user") == 0 || strcmp(role, "system") == 0, "unknown role");
    return openai_content(content, role);
}

static inline broken openai_breaks(const json_t *messages)
{
    json_t *open = json_object(), *seen = json_object(), *message;
    broken rule = json_is_array(messages) ? NULL : "messages must be an array";
    size_t i;

    json_array_foreach (messages, i, message) {
        rule = rule != NULL ? rule : openai_message(message, open, seen);
    }
    if (rule == NULL && json_object_size(open) > 0)
        rule = "the last calls must be answered";
    json_decref(open);
    json_decref(seen);
    return rule;
}

/* --- Anthropic --- */

static inline broken anthropic_image(const json_t *block)
{
    static const char *const KINDS[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    const json_t *source = json_object_get(block, "source");

    if (says(source, "type", "url")) {
        RULE(member(source, "url")[0] != '\0', "an image's url may not be empty");
        return NULL;
    }
    RULE(says(source, "type", "base64") && member(source, "data")[0] != '\0', "an image has data");
    for (size_t i = 0; i < 4; i++) {
        if (says(source, "media_type", KINDS[i]))
            return NULL;
    }
    return "an image's media type";
}

static inline broken anthropic_result(const json_t *block, json_t *open)
{
    const json_t *content = json_object_get(block, "content");
    size_t i;
    json_t *part;

    RULE(json_object_del(open, member(block, "tool_use_id")) == 0,
         "a tool_result must answer a tool_use of the message before, once");
    json_array_foreach (content, i, part) {
        if (says(part, "type", "text")) {
            RULE(!is_blank(part), "text blocks must be non-empty");
            continue;
        }
        RULE(says(part, "type", "image"), "a result holds texts and images");
        RULE(!json_is_true(json_object_get(block, "is_error")), "an error holds text only");
        broken rule = anthropic_image(part);
        RULE(rule == NULL, rule);
    }
    return NULL;
}

static inline broken anthropic_user(const json_t *content, json_t *open)
{
    bool is_behind = false;
    size_t i;
    json_t *block;

    json_array_foreach (content, i, block) {
        broken rule = NULL;
        if (says(block, "type", "tool_result")) {
            RULE(!is_behind, "tool_result blocks come first");
            rule = anthropic_result(block, open);
        } else if (says(block, "type", "image")) {
            rule = anthropic_image(block);
        } else {
            RULE(says(block, "type", "text"), "unknown block of a user");
            RULE(!is_blank(block), "text blocks must be non-empty");
        }
        is_behind = is_behind || !says(block, "type", "tool_result");
        RULE(rule == NULL, rule);
    }
    RULE(json_object_size(open) == 0, "each tool_use must have a tool_result in the next message");
    return NULL;
}

static inline broken anthropic_call(const json_t *block, json_t *open, json_t *seen)
{
    const char *id = member(block, "id");

    RULE(fits_pattern(id, 64), "a tool_use's id has a pattern");
    RULE(json_object_get(seen, id) == NULL, "ids of tool_use must be unique");
    RULE(fits_pattern(member(block, "name"), 64), "a tool's name has a pattern");
    RULE(json_is_object(json_object_get(block, "input")), "input must be an object");
    json_object_set_new(seen, id, json_true());
    json_object_set_new(open, id, json_true());
    return NULL;
}

static inline broken anthropic_assistant(const json_t *content, json_t *open, json_t *seen)
{
    const json_t *last = json_array_get(content, json_array_size(content) - 1);
    const char *text = member(last, "text");
    size_t i;
    json_t *block;

    RULE(json_object_size(open) == 0, "each tool_use must have a tool_result in the next message");
    RULE(!says(last, "type", "thinking") && !says(last, "type", "redacted_thinking"),
         "the final block may not be thinking");
    RULE(text[0] == '\0' || !isspace((unsigned char)text[strlen(text) - 1]),
         "final assistant content cannot end with white space");
    json_array_foreach (content, i, block) {
        broken rule = NULL;
        if (says(block, "type", "tool_use"))
            rule = anthropic_call(block, open, seen);
        else if (says(block, "type", "thinking"))
            RULE(member(block, "signature")[0] != '\0', "thinking needs its signature");
        else if (says(block, "type", "redacted_thinking"))
            RULE(member(block, "data")[0] != '\0', "redacted thinking needs its data");
        else
            RULE(says(block, "type", "text") && !is_blank(block), "text blocks must be non-empty");
        RULE(rule == NULL, rule);
    }
    return NULL;
}

static inline broken anthropic_message(const json_t *message, size_t i, json_t *open, json_t *seen)
{
    const json_t *content = json_object_get(message, "content");

    RULE(says(message, "role", i % 2 == 0 ? "user" : "assistant"),
         "roles alternate, and the user begins");
    RULE(json_is_array(content) && json_array_size(content) > 0, "content may not be empty");
    return i % 2 == 0 ? anthropic_user(content, open) : anthropic_assistant(content, open, seen);
}

static inline broken anthropic_system(const json_t *system)
{
    size_t i;
    json_t *block;

    json_array_foreach (system, i, block) {
        RULE(says(block, "type", "text") && !is_blank(block),
             "system blocks must be non-empty text");
    }
    RULE(system == NULL || json_array_size(system) > 0, "the system may not be empty");
    return NULL;
}

static inline broken anthropic_breaks(const json_t *system, const json_t *messages)
{
    json_t *open = json_object(), *seen = json_object(), *message;
    broken rule = json_is_array(messages) ? anthropic_system(system) : "messages must be an array";
    size_t i;

    json_array_foreach (messages, i, message) {
        rule = rule != NULL ? rule : anthropic_message(message, i, open, seen);
    }
    if (rule == NULL && json_object_size(open) > 0)
        rule = "each tool_use must have a tool_result in the next message";
    json_decref(open);
    json_decref(seen);
    return rule;
}

#undef RULE

#endif

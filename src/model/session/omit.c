/*
 * omit.c: leaves out of a context what its options exclude: the thinking of a model, and what the
 * documentation of an API does not list. Messages that are written as they are stored get edits,
 * so that all other bytes stay. Used after calls and results are paired.
 */
#include "model/session/documented.h"
#include "model/session/format.h"
#include "model/session/message_api.h"

typedef struct omission {
    context *ctx;
    context_message *message; /* the message that is being read */
    bool known_members;
    bool drops_thinking;   /* true: the message loses its thinking */
    context_edit *removed; /* edits of the original that have removed members and blocks */
} omission;

static void note(omission *o, slice what)
{
    context_add_repair(o->ctx, CONTEXT_LEFT_OUT, o->message, what);
}

/* --- originals --- */

/* The members that have the thinking of a model in messages of chat completions. */
static const char THINKING_MEMBERS[] =
    "reasoning_content reasoning reasoning_text reasoning_details thinking thinking_blocks";

/* Moves the edits that remove something from the original to o->removed. omit_list and omit_object
 * remove the same members and blocks again, together with what is omitted: edits may not overlap.
 */
static void take_removals(omission *o)
{
    context_edit **link = &o->message->original->edits;

    o->removed = NULL;
    while (*link != NULL) {
        context_edit *edit = *link;

        if (edit->new.len > 0 || edit->old.len == 0) {
            link = &edit->next;
            continue;
        }
        *link = edit->next;
        edit->next = o->removed;
        o->removed = edit;
    }
}

/* Returns true if a repair has removed the member or the block that begins at `at`. */
static bool was_removed(const omission *o, const char *at)
{
    const context_edit *edit = o->removed;

    while (edit != NULL && (at < edit->old.ptr || at >= edit->old.ptr + edit->old.len))
        edit = edit->next;
    return edit != NULL;
}

static bool is_thinking_block(const omission *o, slice type)
{
    return o->drops_thinking && o->ctx->format == CARDBOX_FORMAT_ANTHROPIC &&
           (slice_equal(type, SLICE("thinking")) || slice_equal(type, SLICE("redacted_thinking")));
}

static void omit_object(omission *o, scan_value object, documented_place place, slice name);

/* Omits blocks of a list, and members of the elements that stay. An element without a type is no
 * block. */
static void omit_list(omission *o, scan_value list, documented_place place)
{
    context_removal removal = {.ctx = o->ctx, .original = o->message->original};
    scan_walk walk = scan_enter(list);
    scan_value element;

    while (scan_element(&walk, &element)) {
        slice type = scan_string_inside(scan_find(element, "type"));
        bool is_gone = was_removed(o, element.text.ptr);
        bool is_thinking = place == DOCUMENTED_BLOCK && is_thinking_block(o, type);
        bool is_unknown = place == DOCUMENTED_BLOCK && o->known_members && type.len > 0 &&
                          documented_members(o->ctx->format, place, type) == NULL;

        if (!is_gone && (is_thinking || is_unknown))
            note(o, is_thinking ? SLICE("thinking") : type);
        else if (!is_gone && o->known_members && element.kind == SCAN_OBJECT)
            omit_object(o, element, place, type.len > 0 ? type : SLICE("function"));
        context_removal_next(&removal, element.text, is_gone || is_thinking || is_unknown);
    }
    context_removal_end(&removal);
}

static void omit_inside(omission *o, slice key, scan_value value)
{
    static const struct {
        const char *name;
        documented_place place;
    } LISTS[] = {{"content", DOCUMENTED_BLOCK},
                 {"output", DOCUMENTED_BLOCK},
                 {"tool_calls", DOCUMENTED_CALL}};

    for (size_t i = 0; value.kind == SCAN_ARRAY && i < sizeof(LISTS) / sizeof(LISTS[0]); i++) {
        if (scan_string_is(key, slice_of(LISTS[i].name)))
            omit_list(o, value, LISTS[i].place);
    }
    if (o->known_members && value.kind == SCAN_OBJECT)
        omit_object(o, value, DOCUMENTED_OBJECT, scan_inside(key));
}

/* Omits members of an object, and of what is inside. An object that the documentation does not
 * have, such as the input of a call, stays as it is. */
static void omit_object(omission *o, scan_value object, documented_place place, slice name)
{
    const char *known = o->known_members ? documented_members(o->ctx->format, place, name) : NULL;
    bool is_message = place == DOCUMENTED_MESSAGE;
    context_removal removal = {.ctx = o->ctx, .original = o->message->original};
    scan_walk walk = scan_enter(object);
    scan_value value;
    slice key;

    if (known == NULL && !is_message)
        return;
    while (scan_member(&walk, &key, &value)) {
        const slice member = {key.ptr, (size_t)(value.text.ptr + value.text.len - key.ptr)};
        bool is_unknown = known != NULL && !documented_has(known, key);
        bool is_thinking = is_message && o->drops_thinking &&
                           o->ctx->format == CARDBOX_FORMAT_OPENAI &&
                           documented_has(THINKING_MEMBERS, key);
        bool is_gone = was_removed(o, key.ptr);

        if (!is_gone && (is_unknown || is_thinking) && !api_says_nothing(value))
            note(o, scan_inside(key));
        else if (!is_gone && !is_unknown && !is_thinking)
            omit_inside(o, key, value);
        context_removal_next(&removal, member, is_gone || is_unknown || is_thinking);
    }
    context_removal_end(&removal);
}

/* Returns the name of a message in the documentation: its type in the format responses, else its
 * role. */
static slice name_of(scan_value object, cardbox_format format)
{
    slice type = scan_string_inside(scan_find(object, "type"));

    if (format != CARDBOX_FORMAT_RESPONSES)
        return scan_string_inside(scan_find(object, "role"));
    return type.len > 0 ? type : SLICE("message");
}

/* --- parts --- */

static bool omits_part(const omission *o, const context_part *part, bool is_stored)
{
    if (part->kind == CONTEXT_THINKING)
        return o->drops_thinking;
    return is_stored && o->known_members && part->kind == CONTEXT_OTHER && part->block.len > 0 &&
           documented_members(o->ctx->format, DOCUMENTED_BLOCK, part->name) == NULL;
}

/* Removes parts of the message. The report has those of an original already. */
static void omit_parts(omission *o, bool is_stored)
{
    context_part **link = &o->message->parts, *last = NULL;

    while (*link != NULL) {
        context_part *part = *link;
        bool is_omitted = omits_part(o, part, is_stored);

        if (is_omitted && !is_stored)
            note(o, SLICE("thinking"));
        if (part->kind == CONTEXT_THINKING && o->known_members)
            part->name = (slice){"", 0}; /* chat completions have no such member */
        if (is_omitted) {
            *link = part->next;
            continue;
        }
        last = part;
        link = &part->next;
    }
    o->message->last_part = last;
}

/* --- messages --- */

/* Returns true if the whole message is omitted: an item with thinking, or one that the
 * documentation does not have. */
static bool omits_message(omission *o, slice name)
{
    cardbox_format format = o->ctx->format;
    bool is_unknown =
        o->known_members && documented_members(format, DOCUMENTED_MESSAGE, name) == NULL;

    if (is_unknown)
        note(o, format == CARDBOX_FORMAT_RESPONSES ? name : SLICE("role"));
    else if (o->drops_thinking && o->message->is_reasoning)
        note(o, SLICE("reasoning"));
    return is_unknown || (o->drops_thinking && o->message->is_reasoning);
}

static void omit_from_original(omission *o)
{
    context_original *original = o->message->original;
    const scan_value object = scan_whole(original->text);
    slice name = name_of(object, o->ctx->format);

    o->message->is_left_out = omits_message(o, name);
    if (o->message->is_left_out || original->is_trimmed)
        return;
    original->is_trimmed = true;
    take_removals(o);
    omit_object(o, object, DOCUMENTED_MESSAGE, name);
}

/* Returns true if a turn of the agent begins at a message: it is a user's, and no part of a message
 * with results. */
static bool begins_turn(const context_message *message)
{
    const context_part *part = message->parts;

    while (part != NULL && part->kind == CONTEXT_OTHER)
        part = part->next;
    return message->role == CONTEXT_USER && (part != NULL || message->parts == NULL) &&
           (message->original == NULL || message->original->sections == 1);
}

static const context_message *last_turn(const context *ctx)
{
    const context_message *last = NULL;

    for (const context_message *at = ctx->list.first; at != NULL; at = at->next)
        last = begins_turn(at) ? at : last;
    return last;
}

/* Returns true if reasoning would be without the item after it. */
static bool is_alone(const context *ctx, const context_message *message)
{
    const context_message *next = message->next;

    while (next != NULL && next->is_left_out)
        next = next->next;
    return ctx->is_repaired && message->is_reasoning && context_is_as_stored(ctx, message) &&
           (next == NULL || next->answer != message->answer);
}

static void remove_messages(context *ctx)
{
    context_list list = {NULL, NULL, 0};
    context_message *next = NULL;

    for (context_message *at = ctx->list.first; at != NULL; at = next) {
        next = at->next;
        if (!at->is_left_out && is_alone(ctx, at)) {
            at->is_left_out = true;
            context_add_repair(ctx, CONTEXT_REASONING, at, (slice){"", 0});
        }
        if (at->is_left_out)
            at->after = list.last;
        else
            context_append(&list, at);
    }
    ctx->list = list;
}

void context_omit(context *ctx, const context_request *request)
{
    omission o = {.ctx = ctx, .known_members = request->known_members};
    const context_message *turn =
        request->thinking == CARDBOX_THINKING_TURN ? last_turn(ctx) : NULL;
    bool is_before = turn != NULL;

    if ((request->thinking == CARDBOX_THINKING_ALL && !request->known_members) ||
        ctx->format == CARDBOX_FORMAT_ENTRIES)
        return;
    for (context_message *at = ctx->list.first; at != NULL && !ctx->memory->failed; at = at->next) {
        bool is_stored = context_is_as_stored(ctx, at);

        is_before = is_before && at != turn;
        o.message = at;
        o.drops_thinking = is_before || request->thinking == CARDBOX_THINKING_NONE;
        if (is_stored)
            omit_from_original(&o);
        omit_parts(&o, is_stored);
    }
    remove_messages(ctx);
}

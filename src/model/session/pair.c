/*
 * pair.c: pairs calls and results. Afterwards the results of an answer directly follow the answer,
 * one for each call, and call ids are valid for the API of the format. Messages that are written as
 * they are stored keep their call ids. The output for a message depends on later messages only
 * through the results of the message's calls.
 *
 * An answer is a message of the assistant, or consecutive items of the Responses API.
 */
#include "model/session/message.h"

#include <stdio.h>

/* Maximum bytes of a tool's name that the APIs of all formats accept. */
enum { TOOL_NAME_MAX = 64 };

/* A lower limit for the bytes that a synthetic result adds, without ids: for the message in the
 * shortest format, its digest, and the repair in the report. */
enum { SYNTHETIC_BYTES = 128 };

typedef struct context_call {
    struct context_call *next;      /* the next call of the same message */
    struct context_call *next_same; /* the next call of the same message with the same id */
    context_message *message;
    context_part *part;
    context_message *result;
    int64_t use; /* number of the call among the calls with its id, from 1 */
    bool is_appended;
} context_call;

/* For one call id: the calls of the latest message that contains calls with this id. */
typedef struct call_group {
    context_call *unanswered; /* the first of these calls that has no result */
    context_call *last;
    int64_t uses; /* number of calls with this id in all messages */
} call_group;

typedef struct pairing {
    context *ctx;
    string_map groups;   /* maps call ids to indexes in `all` */
    string_map used_ids; /* the call ids that were assigned to calls so far */
    call_group *all;
    size_t count, capacity;
    context_message *caller;     /* the latest message with calls */
    const context_message *last; /* first message of the last answer; NULL: a user's message follows
                                    it, or there is no answer */
    /* For results that name the id which a context showed instead of the id of a call: */
    bool has_shown;
    string_map shown; /* maps these ids to indexes in `shown_calls` */
    context_call **shown_calls;
    size_t shown_count, shown_capacity;
} pairing;

/* --- which result answers which call --- */

static call_group *group_of(pairing *p, slice call)
{
    uint32_t at = string_map_get(&p->groups, call);

    return at != STRING_MAP_NONE ? &p->all[at] : NULL;
}

static call_group *new_group(pairing *p, slice call)
{
    call_group *more = arena_more(p->ctx->memory, p->all, p->count, &p->capacity, sizeof(*more));
    if (more == NULL || !string_map_set(&p->groups, call, (uint32_t)p->count))
        return NULL;
    p->all = more;
    return &p->all[p->count++];
}

static context_call *new_call(pairing *p, context_message *message, context_part *part)
{
    context_call *call = arena_zeros(p->ctx->memory, 1, sizeof(*call));
    call_group *group = group_of(p, part->call);

    if (group == NULL)
        group = new_group(p, part->call);
    if (call == NULL || group == NULL)
        return NULL;
    call->message = message;
    call->part = part;
    call->use = ++group->uses;
    if (group->last != NULL && group->last->message == message)
        group->last->next_same = call;
    else
        group->unanswered = NULL;
    group->last = call;
    if (group->unanswered == NULL)
        group->unanswered = call;
    group = part->alias.len > 0 ? new_group(p, part->alias) : NULL;
    if (group != NULL)
        group->unanswered = group->last = call;
    return call;
}

/* Returns the id that contexts show instead of a call's id, if that can't be used. */
static slice made_id(const pairing *p, slice call, int64_t number)
{
    char part[32];
    int len = snprintf(part, sizeof(part), "use %lld", (long long)number);

    return slice_of(session_make_id(call, (slice){part, (size_t)len}, p->ctx->memory));
}

static void show_calls(pairing *p, const context_message *message)
{
    for (context_call *call = message->calls; call != NULL; call = call->next) {
        slice id = made_id(p, call->part->call, call->use);
        context_call **more = arena_more(p->ctx->memory, p->shown_calls, p->shown_count,
                                         &p->shown_capacity, sizeof(context_call *));
        if (more == NULL || id.ptr == NULL)
            return;
        p->shown_calls = more;
        more[p->shown_count] = call;
        string_map_set(&p->shown, id, (uint32_t)p->shown_count++);
    }
}

static void add_calls(pairing *p, context_message *message)
{
    context_call **end = &message->calls;

    for (context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind == CONTEXT_CALL && *end != NULL)
            end = &(*end)->next;
        if (part->kind == CONTEXT_CALL)
            *end = new_call(p, message, part);
    }
    if (message->calls == NULL)
        return;
    p->caller = message;
    if (p->has_shown)
        show_calls(p, message);
}

/* Returns the first call without a result in the latest message with calls whose calls have no ids.
 * A result without an id answers this call. */
static context_call *nameless_call(const pairing *p)
{
    context_call *call = p->caller != NULL ? p->caller->calls : NULL;

    while (call != NULL && (call->result != NULL || !call->part->has_made_id))
        call = call->next;
    return call;
}

/* Returns the call with the id that a context may have shown instead of the call's own. */
static context_call *shown_call(pairing *p, slice id)
{
    const context_message *at = p->ctx->list.first;

    if (!p->has_shown && string_map_init(&p->shown, p->count, p->ctx->memory)) {
        p->has_shown = true;
        for (; at != NULL && at != p->caller; at = at->next)
            show_calls(p, at);
        if (p->caller != NULL)
            show_calls(p, p->caller);
    }
    uint32_t index = p->has_shown ? string_map_get(&p->shown, id) : STRING_MAP_NONE;
    return index == STRING_MAP_NONE ? NULL : p->shown_calls[index];
}

/* Returns the call that a result answers; NULL: none. */
static context_call *answered_call(pairing *p, const context_message *result)
{
    call_group *group = result->call.len > 0 ? group_of(p, result->call) : NULL;

    if (result->call.len == 0)
        return nameless_call(p);
    if (group == NULL || group->last == NULL)
        return shown_call(p, result->call);
    return group->unanswered != NULL ? group->unanswered : group->last;
}

/* A call has one result: the last successful one, or else the last one. */
static void add_result(pairing *p, context_message *result)
{
    context_call *call = answered_call(p, result);

    if (call == NULL) {
        p->ctx->has_orphans = true;
        return;
    }
    call_group *group = group_of(p, call->part->call);
    result->answers = call;
    result->call = call->part->call; /* the result may have named another id of the call */
    if (group != NULL && group->unanswered == call)
        group->unanswered = call->next_same;
    if (call->result == NULL || !result->is_error || call->result->is_error)
        call->result = result;
}

/* --- ids and names that APIs accept --- */

static bool is_name(slice text, size_t most)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return text.len > 0 && text.len <= most;
}

/* Returns true if the API of the format accepts the id of a call. Ids of the dialect plain and of
 * cards are those that a model returned, which servers of chat completions take back as they are.
 */
static bool accepts_id(const pairing *p, const context_call *call)
{
    slice id = call->part->call;

    switch (p->ctx->format) {
    case CARDBOX_FORMAT_ANTHROPIC:
        return is_name(id, 64);
    case CARDBOX_FORMAT_OPENAI:
        return call->message->origin == CONTEXT_OF_PLAIN ||
               call->message->origin == CONTEXT_OF_CARD || id.len <= 40;
    case CARDBOX_FORMAT_RESPONSES:
        return id.len <= 64;
    default:
        return true;
    }
}

static slice new_id(pairing *p, const context_call *call)
{
    int64_t number = call->use;
    slice made = {"", 0};

    for (; !p->ctx->memory->failed; number++) {
        made = made_id(p, call->part->call, number);
        if (made.ptr != NULL && string_map_get(&p->used_ids, made) == STRING_MAP_NONE)
            break;
    }
    return made;
}

static slice repaired_name(pairing *p, slice name)
{
    slice whole = name.len > 0 ? name : SLICE("unknown");
    char *valid = arena_copy(
        p->ctx->memory, (slice){whole.ptr, whole.len < TOOL_NAME_MAX ? whole.len : TOOL_NAME_MAX});
    size_t len = 0;

    for (; valid != NULL && valid[len] != '\0' && len < whole.len; len++) {
        if (!is_name((slice){valid + len, 1}, 1))
            valid[len] = '_';
    }
    return (slice){valid, len};
}

static void rename_in_original(pairing *p, const context_call *call)
{
    context_part *part = call->part;
    slice old = {part->name.ptr - 1, part->name.len + 2}; /* with its quotes */
    slice token = context_token(p->ctx, repaired_name(p, part->name)).text;

    if (part->name.len == 0 || token.ptr == NULL)
        return;
    part->name = scan_inside(token);
    context_edit_original(p->ctx, call->message->original, old, token);
    context_add_repair(p->ctx, CONTEXT_TOOL_NAME, call->message, part->call);
}

/* Writes the id of the store into a message of chat completions, for a call whose own id is empty
 * or already used. */
static void show_alias(pairing *p, const context_call *call)
{
    context_part *part = call->part;
    slice id = scan_find(scan_whole(part->block), "id").text;
    slice alias = context_token(p->ctx, part->alias).text;
    buf member = BUF_INIT(alias.len + 8);

    if (alias.ptr == NULL)
        return;
    part->call_id = scan_inside(alias);
    if (id.ptr == NULL) {
        id = (slice){part->block.ptr + 1, 0}; /* before the first member */
        buf_member(&member, "id", alias);
        buf_char(&member, ',');
        alias = arena_keep(p->ctx->memory, &member);
    }
    context_edit_original(p->ctx, call->message->original, id, alias);
    context_add_repair(p->ctx, CONTEXT_CALL_ID, call->message, part->call);
}

/* Repairs a call of a message that is written as it is stored. If the store has an id of its own
 * for the call, a program ran the call for a model, which may have made up the name. */
static void repair_original(pairing *p, const context_call *call, bool is_free)
{
    const context_part *part = call->part;

    if (part->alias.len == 0 || part->block.len == 0 || p->ctx->format != CARDBOX_FORMAT_OPENAI)
        return;
    if (part->has_made_id || !is_free)
        show_alias(p, call);
    if (!is_name(part->name, TOOL_NAME_MAX))
        rename_in_original(p, call);
}

/* If the API does not accept the id of a call, or the id is already used, replaces the id. If the
 * tool's name is invalid, replaces the name. */
static void repair_call(pairing *p, context_call *call)
{
    context_part *part = call->part;
    bool is_free = string_map_get(&p->used_ids, part->call) == STRING_MAP_NONE;

    if (context_is_as_stored(p->ctx, call->message)) {
        repair_original(p, call, is_free);
        string_map_set(&p->used_ids, part->call, 1);
        return;
    }
    if (!is_free || !accepts_id(p, call)) {
        part->call_id = new_id(p, call);
        context_add_repair(p->ctx, CONTEXT_CALL_ID, call->message, part->call);
    }
    string_map_set(&p->used_ids, is_free ? part->call : part->call_id, 1);
    if (is_name(part->name, TOOL_NAME_MAX))
        return;
    part->name = repaired_name(p, part->name);
    context_add_repair(p->ctx, CONTEXT_TOOL_NAME, call->message, part->call);
}

/* --- the new list --- */

static void append_result(context_list *list, context_call *call, context_message *result)
{
    call->is_appended = true;
    result->call_id = call->part->call_id;
    result->is_custom = call->part->is_custom;
    result->name = call->part->name;
    context_append(list, result);
}

/* Makes a result for a call without a result. The id and time of the new result come from the call
 * and its message, so they are the same whenever the context is built. */
static context_message *synthetic_result(pairing *p, const context_call *call)
{
    size_t bytes = SYNTHETIC_BYTES + 2 * call->part->call.len + call->message->id.len;
    context_message *result =
        context_count_added(p->ctx, bytes) ? arena_zeros(p->ctx->memory, 1, sizeof(*result)) : NULL;

    if (result == NULL)
        return NULL;
    result->role = CONTEXT_RESULT;
    result->origin = call->message->origin;
    result->time = call->message->time;
    result->is_synthetic = result->is_error = true;
    result->after = call->message;
    result->call = call->part->call;
    result->id = slice_of(session_make_id(call->message->id, result->call, p->ctx->memory));
    context_add_part(
        p->ctx, result,
        (context_part){.kind = CONTEXT_TEXT, .text = {SLICE("No result provided"), false}});
    return result;
}

/* Returns true if a message that follows `list` must be left out, and reports this as a repair. */
static bool drop_message(pairing *p, const context_list *list, context_message *message)
{
    const context_call *call = message->answers;
    context_repair_kind why = CONTEXT_SECOND_RESULT;

    if (message->role != CONTEXT_RESULT && !message->has_failed)
        return false;
    if (message->role != CONTEXT_RESULT)
        why = CONTEXT_DROPPED_MESSAGE;
    else if (call == NULL)
        why = CONTEXT_ORPHAN_RESULT;
    else if (call->message->has_failed)
        why = CONTEXT_DROPPED_RESULT;
    else if (call->result == message)
        return false;
    message->is_left_out = true;
    message->after = list->last;
    context_add_repair(p->ctx, why, message, message->call);
    return true;
}

/* Appends the results of the calls of an answer that directly follow it, in their order. `caller`:
 * any message of the answer. Returns the first message after these results. */
static context_message *append_results(pairing *p, context_list *list,
                                       const context_message *caller, context_message *at)
{
    while (at != NULL) {
        context_message *next = at->next;

        if (!drop_message(p, list, at)) {
            if (at->role != CONTEXT_RESULT || at->answers->message->answer != caller->answer)
                break;
            append_result(list, at->answers, at);
        }
        at = next;
    }
    return at;
}

/* Returns true if a call without a result stays without one: the caller still has to run it. */
static bool stays_open(const pairing *p, const context_call *call)
{
    return call->message->original != NULL && call->message->answer == p->last &&
           !p->ctx->closes_calls;
}

/* If the result of a call does not directly follow, appends a copy of the later result, or a
 * synthetic result. A copy is made because the member `next` of the original is still needed to
 * walk the old list. */
static void add_missing_results(pairing *p, context_list *list, const context_message *caller)
{
    for (context_call *call = caller->calls; call != NULL && !p->ctx->memory->failed;
         call = call->next) {
        context_message *later = call->result;

        if (call->is_appended || (later == NULL && stays_open(p, call)))
            continue;
        context_message *result =
            later == NULL ? synthetic_result(p, call) : arena_take(p->ctx->memory, sizeof(*result));
        if (result == NULL)
            return;
        if (later != NULL) {
            *result = *later;
            later->moved = result;
        }
        append_result(list, call, result);
        context_add_repair(p->ctx, later != NULL ? CONTEXT_MOVED_RESULT : CONTEXT_SYNTHETIC_RESULT,
                           result, call->part->call);
    }
}

/* Returns true if the answer that contains `message` goes on with the message `next`. */
static bool goes_on(const context_message *message, const context_message *next)
{
    return next != NULL && next->answer != NULL && next->answer == message->answer;
}

/* Returns true if the answer goes on with an item that is no reasoning. */
static bool leads_to_item(const context_message *message)
{
    const context_message *at = message->next;

    while (goes_on(message, at) && at->is_reasoning)
        at = at->next;
    return goes_on(message, at);
}

/* Returns true if only system messages follow. */
static bool is_end(const context_message *at)
{
    while (at != NULL && at->role == CONTEXT_SYSTEM)
        at = at->next;
    return at == NULL;
}

/* Reasoning of the Responses API is accepted only before the item that it led to. */
static bool drop_reasoning(pairing *p, const context_list *list, context_message *message)
{
    if (!message->is_reasoning || leads_to_item(message))
        return false;
    message->is_left_out = true;
    message->after = list->last;
    context_add_repair(p->ctx, CONTEXT_REASONING, message, (slice){"", 0});
    p->ctx->ends_in_reasoning = p->ctx->ends_in_reasoning || is_end(message->next);
    return true;
}

/* Appends the results of all calls of an answer. `last` is its last message. */
static context_message *append_all_results(pairing *p, context_list *list, context_message *last,
                                           context_message *at)
{
    const context_message *caller = last->answer;

    at = append_results(p, list, last, at);
    for (; caller != NULL; caller = caller->in_answer)
        add_missing_results(p, list, caller);
    return at;
}

static void append_message(pairing *p, context_list *list, context_message *message)
{
    context_append(list, message);
    for (context_call *call = message->calls; call != NULL; call = call->next)
        repair_call(p, call);
    context_mend_original(p->ctx, message);
}

static context_list pair_messages(pairing *p)
{
    context_list list = {NULL, NULL, 0};
    context_message *at = p->ctx->list.first;

    while (at != NULL && !p->ctx->memory->failed) {
        context_message *message = at;

        at = at->next;
        if (drop_message(p, &list, message))
            continue;
        if (message->role == CONTEXT_RESULT) /* a copy of this result was added after its call */
            continue;
        bool ends = message->answer != NULL && !goes_on(message, at);
        if (!drop_reasoning(p, &list, message))
            append_message(p, &list, message);
        if (ends)
            at = append_all_results(p, &list, message, at);
    }
    return list;
}

/* --- answers --- */

static bool is_item(const context_message *message)
{
    return message->original != NULL && message->original->format == CARDBOX_FORMAT_RESPONSES;
}

/* Assigns the assistant's messages to answers. */
static void find_answers(pairing *p)
{
    context_message *before = NULL;

    for (context_message *at = p->ctx->list.first; at != NULL; before = at, at = at->next) {
        if (at->role == CONTEXT_USER && at->author.len == 0)
            p->last = NULL;
        if (at->role != CONTEXT_ASSISTANT || at->has_failed)
            continue;
        bool joins = before != NULL && before->answer != NULL && is_item(before) && is_item(at);
        at->answer = joins ? before->answer : at;
        if (joins)
            before->in_answer = at;
        p->last = at->answer;
    }
}

static void add_item(context_message *message, context_message *item)
{
    *(message->last_part != NULL ? &message->last_part->next : &message->parts) = item->parts;
    if (item->last_part != NULL)
        message->last_part = item->last_part;
    message->part_count += item->part_count;
    message->last_source->next = item->sources;
    message->last_source = item->last_source;
    item->moved = message;
}

void context_merge_answers(context *ctx)
{
    for (context_message *at = ctx->list.first; at != NULL; at = at->next) {
        while (goes_on(at, at->next)) {
            add_item(at, at->next);
            at->next = at->next->next;
            ctx->list.count--;
        }
        if (at->next == NULL)
            ctx->list.last = at;
    }
}

static void find_open_calls(pairing *p)
{
    context_open_call **end = &p->ctx->open;
    const context_message *at = p->last;

    for (; at != NULL; at = at->in_answer) {
        for (const context_call *call = at->calls; call != NULL; call = call->next) {
            if (call->result != NULL)
                continue;
            *end = arena_zeros(p->ctx->memory, 1, sizeof(**end));
            if (*end == NULL)
                return;
            **end = (context_open_call){NULL, at, call->part};
            end = &(*end)->next;
        }
    }
}

void context_pair(context *ctx, bool repair)
{
    pairing p = {.ctx = ctx};
    bool ok = string_map_init(&p.groups, ctx->list.count / 2, ctx->memory) &&
              string_map_init(&p.used_ids, ctx->list.count / 2, ctx->memory);

    if (!ok)
        return;
    find_answers(&p);
    for (context_message *at = ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_ASSISTANT)
            add_calls(&p, at);
        else if (at->role == CONTEXT_RESULT)
            add_result(&p, at);
    }
    find_open_calls(&p);
    ctx->last_answer = p.last;
    ctx->is_repaired = repair;
    if (repair && !ctx->memory->failed)
        ctx->list = pair_messages(&p);
}

/*
 * pair.c: pairs calls and results. Afterwards one result for each call of a message directly
 * follows the message, and call ids are unique and valid for the APIs of all formats. The output
 * for a message depends on later messages only through the results of the message's calls.
 */
#include "model/session/message.h"

/* Maximum bytes of a call's id and of a tool's name that the APIs of all formats accept. */
enum { CALL_ID_MAX = 40, TOOL_NAME_MAX = 64 };

/* A lower limit for the bytes that a synthetic result adds, without ids: for the message in the
 * shortest format, its digest, and the repair in the report. */
enum { SYNTHETIC_BYTES = 128 };

typedef struct context_call {
    struct context_call *next;      /* the next call of the same message */
    struct context_call *next_same; /* the next call of the same message with the same id */
    context_message *message;
    context_part *part;
    context_message *result;
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
    if (group->last != NULL && group->last->message == message)
        group->last->next_same = call;
    else
        group->unanswered = NULL;
    group->last = call;
    if (group->unanswered == NULL)
        group->unanswered = call;
    return call;
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
}

static void add_result(pairing *p, context_message *result)
{
    call_group *group = result->call.len > 0 ? group_of(p, result->call) : NULL;

    if (group == NULL || group->last == NULL)
        return;
    result->answers = group->unanswered != NULL ? group->unanswered : group->last;
    if (group->unanswered == NULL)
        return;
    group->unanswered->result = result;
    group->unanswered = group->unanswered->next_same;
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

static slice new_id(pairing *p, slice call, int64_t number)
{
    char part[32];
    buf text = BUF_INIT(sizeof(part));
    slice made = {"", 0};

    for (; !p->ctx->memory->failed; number++) {
        buf_reset(&text, sizeof(part));
        buf_text(&text, "use ");
        buf_int(&text, number);
        made = slice_of(session_make_id(call, buf_as_slice(&text), p->ctx->memory));
        if (made.ptr != NULL && string_map_get(&p->used_ids, made) == STRING_MAP_NONE)
            break;
    }
    buf_free(&text);
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

/* If the id of a call is invalid or already used, replaces the id. If the tool's name is invalid,
 * replaces the name. */
static void repair_call(pairing *p, context_call *call)
{
    context_part *part = call->part;
    bool is_free = string_map_get(&p->used_ids, part->call) == STRING_MAP_NONE;
    int64_t uses = ++group_of(p, part->call)->uses;

    if (is_free && is_name(part->call, CALL_ID_MAX)) {
        part->call_id = part->call;
    } else {
        part->call_id = new_id(p, part->call, uses);
        context_add_repair(p->ctx, CONTEXT_CALL_ID, call->message, part->call);
    }
    string_map_set(&p->used_ids, part->call_id, 1);
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

/* Appends the results of the calls in `caller` that directly follow this message, in their order.
 * Returns the first message after these results. */
static context_message *append_results(pairing *p, context_list *list,
                                       const context_message *caller, context_message *at)
{
    while (at != NULL) {
        context_message *next = at->next;

        if (!drop_message(p, list, at)) {
            if (at->role != CONTEXT_RESULT || at->answers->message != caller)
                break;
            append_result(list, at->answers, at);
        }
        at = next;
    }
    return at;
}

/* If the result of a call does not directly follow, appends a copy of the later result, or a
 * synthetic result. A copy is made because the member `next` of the original is still needed to
 * walk the old list. */
static void add_missing_results(pairing *p, context_list *list, const context_message *caller)
{
    for (context_call *call = caller->calls; call != NULL && !p->ctx->memory->failed;
         call = call->next) {
        context_message *later = call->result;

        if (call->is_appended)
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
        context_append(&list, message);
        for (context_call *call = message->calls; call != NULL; call = call->next)
            repair_call(p, call);
        if (message->calls != NULL) {
            at = append_results(p, &list, message, at);
            add_missing_results(p, &list, message);
        }
    }
    return list;
}

void context_pair(context *ctx)
{
    pairing p = {.ctx = ctx};
    bool ok = string_map_init(&p.groups, ctx->list.count / 2, ctx->memory) &&
              string_map_init(&p.used_ids, ctx->list.count / 2, ctx->memory);

    if (!ok)
        return;
    for (context_message *at = ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_ASSISTANT)
            add_calls(&p, at);
        else if (at->role == CONTEXT_RESULT)
            add_result(&p, at);
    }
    if (!ctx->memory->failed)
        ctx->list = pair_messages(&p);
    ctx->is_repaired = true;
}

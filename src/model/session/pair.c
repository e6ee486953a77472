/*
 * pair.c: makes the messages such that every call is answered once, right behind it, by ids that
 * are unique and that every API takes. Deterministic: what it does follows from the messages alone,
 * and no message depends on a later one but for the results that belong to it.
 */
#include "model/session/message.h"

/* Bytes of a call's id and of a tool's name that all APIs take. */
enum { CALL_ID_MAX = 40, TOOL_NAME_MAX = 64 };

/* Bytes that a result which there is not takes, at least, besides ids: its message in the shortest
 * format, its digest, and its repair in the report. */
enum { SYNTHETIC_BYTES = 128 };

typedef struct context_call {
    struct context_call *next;      /* in its message */
    struct context_call *next_same; /* in its message, with the same id */
    context_message *message;
    context_part *part;
    context_message *result;
    bool is_placed;
} call_record;

/* The calls of one id in the latest message that makes any. */
typedef struct call_group {
    call_record *waiting; /* the first without a result */
    call_record *last;
    int64_t uses; /* calls of this id that were written, in all messages */
} call_group;

typedef struct pairing {
    context *ctx;
    string_map groups; /* by the id of calls */
    string_map taken;  /* ids as they are written */
    call_group *all;
    size_t count, capacity;
} pairing;

/* --- who answers what --- */

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

static void note_call(pairing *p, context_message *message, context_part *part, call_record **last)
{
    call_record *record = arena_zeros(p->ctx->memory, 1, sizeof(*record));
    call_group *group = group_of(p, part->call);

    if (group == NULL)
        group = new_group(p, part->call);
    if (record == NULL || group == NULL)
        return;
    record->message = message;
    record->part = part;
    if (group->last != NULL && group->last->message == message)
        group->last->next_same = record;
    else
        group->waiting = NULL;
    group->last = record;
    if (group->waiting == NULL)
        group->waiting = record;
    if (*last != NULL)
        (*last)->next = record;
    else
        message->calls = record;
    *last = record;
}

static void note_calls(pairing *p, context_message *message)
{
    call_record *last = NULL;

    for (context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind == CONTEXT_CALL)
            note_call(p, message, part, &last);
    }
}

static void note_result(pairing *p, context_message *result)
{
    call_group *group = result->call.len > 0 ? group_of(p, result->call) : NULL;

    if (group == NULL || group->last == NULL)
        return;
    result->answers = group->waiting != NULL ? group->waiting : group->last;
    if (group->waiting == NULL)
        return;
    group->waiting->result = result;
    group->waiting = group->waiting->next_same;
}

/* --- what APIs take --- */

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

/* An id that was not there yet, made of the one that can't be used. */
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
        if (made.ptr != NULL && string_map_get(&p->taken, made) == STRING_MAP_NONE)
            break;
    }
    buf_free(&text);
    return made;
}

static void mend_id(pairing *p, context_part *part, slice id)
{
    call_group *group = group_of(p, part->call);
    bool is_free = string_map_get(&p->taken, part->call) == STRING_MAP_NONE;

    group->uses++;
    if (is_free && is_name(part->call, CALL_ID_MAX)) {
        part->call_id = part->call;
    } else {
        part->call_id = new_id(p, part->call, group->uses);
        context_repaired(p->ctx, CONTEXT_CALL_ID, id, part->call);
    }
    string_map_set(&p->taken, part->call_id, 1);
}

static slice mended_name(pairing *p, slice name)
{
    slice whole = name.len > 0 ? name : SLICE("unknown");
    char *mended = arena_copy(
        p->ctx->memory, (slice){whole.ptr, whole.len < TOOL_NAME_MAX ? whole.len : TOOL_NAME_MAX});
    size_t len = 0;

    for (; mended != NULL && mended[len] != '\0' && len < whole.len; len++) {
        if (!is_name((slice){mended + len, 1}, 1))
            mended[len] = '_';
    }
    return (slice){mended, len};
}

static void mend_call(pairing *p, call_record *record)
{
    context_part *part = record->part;

    mend_id(p, part, record->message->id);
    if (is_name(part->name, TOOL_NAME_MAX))
        return;
    part->name = mended_name(p, part->name);
    context_repaired(p->ctx, CONTEXT_TOOL_NAME, record->message->id, part->call);
}

/* --- the new list --- */

static void append(context_list *list, context_message *message)
{
    message->next = NULL;
    if (list->last != NULL)
        list->last->next = message;
    else
        list->first = message;
    list->last = message;
    list->count++;
}

static void place_result(context_list *list, call_record *record, context_message *result)
{
    record->is_placed = true;
    result->call_id = record->part->call_id;
    result->name = record->part->name;
    append(list, result);
}

/* Its id and time derive from the call, so that it is the same every time. */
static context_message *synthetic_result(pairing *p, const call_record *record)
{
    size_t bytes = SYNTHETIC_BYTES + 2 * record->part->call.len + record->message->id.len;
    context_message *result =
        context_makes(p->ctx, bytes) ? arena_zeros(p->ctx->memory, 1, sizeof(*result)) : NULL;
    context_part *part;

    if (result == NULL)
        return NULL;
    result->role = CONTEXT_RESULT;
    result->origin = record->message->origin;
    result->time = record->message->time;
    result->is_synthetic = result->is_error = true;
    result->call = record->part->call;
    result->id = slice_of(session_make_id(record->message->id, result->call, p->ctx->memory));
    part = context_add_part(p->ctx, result, CONTEXT_TEXT);
    if (part != NULL)
        part->text = (context_text){SLICE("No result provided"), false};
    return result;
}

/* Why a result is left out of the list. False: it is not. */
static bool is_refused(context_repair_kind *why, const context_message *result)
{
    const call_record *call = result->answers;

    if (call == NULL)
        *why = CONTEXT_ORPHAN_RESULT;
    else if (call->message->has_failed)
        *why = CONTEXT_DROPPED_RESULT;
    else
        *why = CONTEXT_SECOND_RESULT;
    return call == NULL || call->message->has_failed || call->result != result;
}

/* Leaves a message out, if it is one of those. */
static bool drop(pairing *p, const context_message *message)
{
    context_repair_kind why = CONTEXT_DROPPED_MESSAGE;
    bool is_dropped = message->role == CONTEXT_ASSISTANT && message->has_failed;

    if (message->role == CONTEXT_RESULT)
        is_dropped = is_refused(&why, message);
    if (is_dropped)
        context_repaired(p->ctx, why, message->id, message->call);
    return is_dropped;
}

/* The results that follow their calls' message at once stay in their order. Gives the message after
 * them. */
static context_message *take_results(pairing *p, context_list *list, const context_message *caller,
                                     context_message *at)
{
    while (at != NULL) {
        context_message *next = at->next;

        if (!drop(p, at)) {
            if (at->role != CONTEXT_RESULT || at->answers->message != caller)
                break;
            place_result(list, at->answers, at);
        }
        at = next;
    }
    return at;
}

/* A result that is moved: the way through the old list still leads over the original. */
static context_message *copy_of(pairing *p, const context_message *result)
{
    context_message *copy = arena_take(p->ctx->memory, sizeof(*copy));

    if (copy != NULL)
        *copy = *result;
    return copy;
}

/* Calls that have their result later, or none. */
static void fill_in(pairing *p, context_list *list, const context_message *caller)
{
    for (call_record *record = caller->calls; record != NULL && !p->ctx->memory->failed;
         record = record->next) {
        context_message *result = record->result;

        if (record->is_placed)
            continue;
        context_repaired(p->ctx, result != NULL ? CONTEXT_MOVED_RESULT : CONTEXT_SYNTHETIC_RESULT,
                         result != NULL ? result->id : caller->id, record->part->call);
        result = result == NULL ? synthetic_result(p, record) : copy_of(p, result);
        if (result != NULL)
            place_result(list, record, result);
    }
}

static context_list paired(pairing *p)
{
    context_list list = {NULL, NULL, 0};
    context_message *at = p->ctx->list.first;

    while (at != NULL && !p->ctx->memory->failed) {
        context_message *message = at;

        at = at->next;
        if (drop(p, message))
            continue;
        if (message->role == CONTEXT_RESULT) /* it was put behind its call */
            continue;
        append(&list, message);
        for (call_record *record = message->calls; record != NULL; record = record->next)
            mend_call(p, record);
        if (message->calls != NULL) {
            at = take_results(p, &list, message, at);
            fill_in(p, &list, message);
        }
    }
    return list;
}

void context_pair(context *ctx)
{
    pairing p = {.ctx = ctx};
    bool fine = string_map_init(&p.groups, ctx->list.count / 2, ctx->memory) &&
                string_map_init(&p.taken, ctx->list.count / 2, ctx->memory);

    if (!fine)
        return;
    for (context_message *at = ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_ASSISTANT)
            note_calls(&p, at);
        else if (at->role == CONTEXT_RESULT)
            note_result(&p, at);
    }
    if (!ctx->memory->failed)
        ctx->list = paired(&p);
    ctx->is_repaired = true;
}

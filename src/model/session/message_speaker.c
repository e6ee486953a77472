/*
 * message_speaker.c: the context of a box with several agents as one of them sees it. Its own
 * answers stay answers. Answers of other agents, their calls and the results of these calls become
 * text of users.
 */
#include "model/session/message.h"

/* A call of an answer. `author` is empty for the reader's own calls. */
typedef struct spoken_call {
    slice author, name;
    uint32_t before; /* index of the call with the same id before this one; STRING_MAP_NONE: none */
    bool has_result;
} spoken_call;

typedef struct speakers {
    context *ctx;
    string_map ids; /* maps ids of calls to the index of the last call with this id */
    spoken_call *calls;
    size_t count, capacity;
} speakers;

static void add_text(context *ctx, context_part *part, buf *inside)
{
    *part = (context_part){
        .next = part->next, .kind = CONTEXT_TEXT, .text = {arena_keep(ctx->memory, inside), false}};
}

static void put_tool(buf *out, slice name)
{
    buf_text(out, name.len > 0 ? "the tool " : "a tool");
    buf_slice(out, name);
}

static void note_calls(speakers *s, const context_message *message)
{
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        spoken_call *more =
            part->kind != CONTEXT_CALL
                ? NULL
                : arena_more(s->ctx->memory, s->calls, s->count, &s->capacity, sizeof(*more));
        if (more == NULL)
            continue;
        s->calls = more;
        more[s->count] = (spoken_call){.author = message->author,
                                       .name = part->name,
                                       .before = string_map_get(&s->ids, part->call)};
        string_map_set(&s->ids, part->call, (uint32_t)s->count);
        if (part->alias.len > 0)
            string_map_set(&s->ids, part->alias, (uint32_t)s->count);
        s->count++;
    }
}

/* Makes a user's message of a message. Formats that return messages as they are stored must not
 * return this one so. */
static void become_user(context *ctx, context_message *message, slice author)
{
    message->role = CONTEXT_USER;
    message->author = message->speaker = author;
    message->is_reasoning = false;
    if (ctx->format == CARDBOX_FORMAT_ENTRIES)
        return; /* this format has the cards themselves */
    message->original = NULL;
    context_add_repair(ctx, CONTEXT_OTHER_SPEAKER, message, (slice){"", 0});
}

/* Makes texts of the calls of an answer. Thinking loses what its own API accepts it by, so that
 * each format leaves it out and reports this. */
static void become_text(context *ctx, context_message *message)
{
    for (context_part *part = message->parts; part != NULL; part = part->next) {
        buf text = BUF_INIT(SIZE_MAX / 4);

        if (part->kind == CONTEXT_THINKING)
            part->signature = part->name = (slice){"", 0};
        if (part->kind != CONTEXT_CALL)
            continue;
        buf_text(&text, "Called ");
        put_tool(&text, part->name);
        buf_text(&text, " with ");
        if (part->arguments.kind == SCAN_STRING)
            buf_slice(&text, scan_inside(part->arguments.text));
        else
            buf_json_inside(&text,
                            part->arguments.kind == SCAN_NONE ? SLICE("{}") : part->arguments.text);
        add_text(ctx, part, &text);
    }
}

/* Puts the name of the tool before the output of a call. */
static void name_result(context *ctx, context_message *message, slice name)
{
    context_part *first = arena_zeros(ctx->memory, 1, sizeof(*first));
    buf text = BUF_INIT(SIZE_MAX / 4);

    if (first == NULL)
        return;
    buf_text(&text, "Result of ");
    put_tool(&text, name);
    if (message->status.len > 0) {
        buf_text(&text, ", status ");
        buf_slice(&text, message->status);
    } else if (message->is_error) {
        buf_text(&text, ", which failed");
    }
    buf_text(&text, message->parts != NULL ? ":" : ": (no output)");
    first->next = message->parts;
    add_text(ctx, first, &text);
    message->parts = first;
    if (message->last_part == NULL)
        message->last_part = first;
    message->part_count++;
    message->status = (slice){"", 0};
}

/* Returns the call that a result answers: the last one with its id that has no result yet, or else
 * the last one with its id. A result without an id answers the last call. NULL: there is no call.
 */
static spoken_call *answered_call(speakers *s, const context_message *result)
{
    uint32_t last =
        result->call.len > 0 ? string_map_get(&s->ids, result->call) : (uint32_t)s->count - 1;
    uint32_t at = last;

    if (last >= s->count)
        return NULL;
    while (at != STRING_MAP_NONE && s->calls[at].has_result)
        at = s->calls[at].before;
    return &s->calls[at != STRING_MAP_NONE ? at : last];
}

static void take_result(speakers *s, context_message *message)
{
    spoken_call *call = answered_call(s, message);

    if (call == NULL)
        return;
    call->has_result = true;
    if (call->author.len == 0)
        return;
    become_user(s->ctx, message, call->author);
    name_result(s->ctx, message, call->name);
}

void context_take_speakers(context *ctx)
{
    speakers s = {.ctx = ctx};

    if (ctx->reader.len == 0 || !string_map_init(&s.ids, ctx->list.count / 2, ctx->memory))
        return;
    for (context_message *at = ctx->list.first; at != NULL && !ctx->memory->failed; at = at->next) {
        if (at->role == CONTEXT_ASSISTANT)
            note_calls(&s, at);
        if (at->role == CONTEXT_RESULT)
            take_result(&s, at);
        if (at->role == CONTEXT_ASSISTANT && at->author.len > 0) {
            become_user(ctx, at, at->author);
            become_text(ctx, at);
        }
    }
}

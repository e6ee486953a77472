/*
 * context.c: selects the entries of a path that become a context: the last compaction, the entries
 * that this compaction keeps, and all later entries. Also collects the settings, and writes the
 * report of repairs. The messages are made in dialect/ and message_card.c and written in the
 * format_*.c files.
 */
#include "model/session/context.h"
#include "model/session/dialect/dialect.h"
#include "model/session/format.h"
#include "model/session/message_api.h"

static bool init_context(context *out, size_t count, cardbox_format format, arena *memory)
{
    *out = (context){.memory = memory, .format = format, .most = CONTEXT_BYTES_MAX};
    if (memory->budget != NULL && memory->budget->answer_most < CONTEXT_BYTES_MAX)
        out->most = memory->budget->answer_most;
    return string_map_init(&out->open_calls, count / 4, memory);
}

static bool finish_context(context *ctx, bool repair)
{
    ctx->before = ctx->list.count;
    context_pair(ctx, repair);
    if (ctx->format == CARDBOX_FORMAT_OPENAI || ctx->format == CARDBOX_FORMAT_MESSAGES)
        context_merge_answers(ctx);
    return !ctx->memory->failed;
}

/* --- settings --- */

static void set_model(context_settings *settings, scan_value provider, scan_value model)
{
    if (provider.kind != SCAN_STRING || model.kind != SCAN_STRING)
        return;
    settings->provider = provider;
    settings->model = model;
}

/* An entry of the type settings has all settings of requests. */
static void set_request(context_settings *settings, const session_entry *entry)
{
    static const char *const NAMES[] = {"system", "tools", "parameters"};
    scan_value found[3];

    session_pick(entry->value, NAMES, found, 3);
    settings->system = found[0];
    settings->tools = found[1];
    settings->parameters = found[2];
    settings->format = entry->format;
    settings->entry_id = entry->id;
}

/* Stores the settings that an entry changes. The caller passes the entries in the order of the
 * path, so the last change of a setting wins. */
static void apply_settings(context_settings *settings, const session_entry *entry)
{
    bool is_change = entry->kind == SESSION_MODEL_CHANGE;

    if (session_entry_sets(entry) == NULL)
        return;
    if (entry->kind == SESSION_PLAIN_SETTINGS)
        set_request(settings, entry);
    else if (entry->kind == SESSION_THINKING_LEVEL_CHANGE)
        settings->thinking_level = entry->content;
    else
        set_model(settings, entry->fields[SESSION_FIELD_PROVIDER],
                  is_change ? entry->content : entry->fields[SESSION_FIELD_MODEL]);
}

/* Adds a block of a system text. Only Anthropic's API knows other members than the text. */
static void add_system_block(context *ctx, context_message *message, scan_value block)
{
    static const char *const KNOWN[] = {"type", "text", NULL};
    api_reading r = {.ctx = ctx};
    scan_value text = scan_find(block, "text");

    if (text.kind != SCAN_STRING) {
        api_add_unknown(&r, message, block);
        return;
    }
    api_add_text(&r, message, text, block.text);
    if (ctx->format != CARDBOX_FORMAT_ANTHROPIC)
        api_add_members(&r, message, block, KNOWN);
}

/* Makes a system message of the system text of the settings. */
static void add_instructions(context *ctx, const session_entry *const *path, size_t count)
{
    const scan_value system = ctx->settings.system;
    scan_walk walk = scan_enter(system);
    api_reading r = {.ctx = ctx};
    scan_value block;
    size_t i = count;

    if ((system.kind != SCAN_STRING && system.kind != SCAN_ARRAY) ||
        ctx->format == CARDBOX_FORMAT_ENTRIES)
        return;
    while (i > 0 && path[i - 1]->kind != SESSION_PLAIN_SETTINGS)
        i--;
    context_message *message =
        context_add(ctx, CONTEXT_SYSTEM, CONTEXT_OF_API, path[i - 1]->id, path[i - 1]->text);
    if (message == NULL)
        return;
    api_add_text(&r, message, system, (slice){"", 0});
    while (system.kind == SCAN_ARRAY && scan_element(&walk, &block))
        add_system_block(ctx, message, block);
    ctx->instructions = message;
    if (ctx->format == CARDBOX_FORMAT_RESPONSES)
        ctx->list = (context_list){NULL, NULL, 0};
}

/* --- which entries --- */

/* Returns the index of the first entry that a compaction keeps. If the compaction keeps no entry
 * before it on the path, returns the index of the compaction itself. */
static size_t first_kept(const session_entry *const *path, size_t compaction)
{
    slice kept = path[compaction]->first_kept;
    size_t i = 0;

    while (i < compaction && (kept.len == 0 || !slice_equal(path[i]->id, kept)))
        i++;
    return i;
}

/* Reports an entry that is meant for a model, perhaps, but has a type or a role that no dialect
 * has. */
static void leave_out_unknown(context *ctx, const session_entry *entry)
{
    bool has_unknown_role = entry->kind == SESSION_MESSAGE && entry->role == SESSION_ROLE_NONE;
    context_message *message = NULL;

    if (has_unknown_role || (entry->kind == SESSION_OTHER && entry->dialect < 0))
        message = arena_zeros(ctx->memory, 1, sizeof(*message));
    if (message == NULL)
        return;
    message->id = entry->id;
    context_add_repair(ctx, CONTEXT_LEFT_OUT, message,
                       has_unknown_role ? SLICE("role")
                                        : scan_string_inside(scan_find(entry->value, "type")));
}

static size_t add_entry(context *ctx, const dialect_path *path, size_t at)
{
    const session_entry *entry = path->entries[at];

    if (entry->in_context)
        return dialect_numbered(entry->dialect)->message(ctx, path, at);
    leave_out_unknown(ctx, entry);
    return at + 1;
}

static void add_range(context *ctx, const session_entry *const *entries, size_t from, size_t to)
{
    const dialect_path path = {entries, to};

    for (size_t i = from; i < to && !ctx->memory->failed;)
        i = entries[i]->kind == SESSION_COMPACTION ? i + 1 : add_entry(ctx, &path, i);
}

bool context_of_path(context *out, const session_header *header, const session_entry *const *path,
                     size_t count, cardbox_format format, bool repair, arena *memory)
{
    size_t compaction = count;

    if (!init_context(out, count, format, memory))
        return false;
    if (header != NULL)
        set_model(&out->settings, header->provider, header->model);
    if (header != NULL && header->thinking_level.kind == SCAN_STRING)
        out->settings.thinking_level = header->thinking_level;
    for (size_t i = 0; i < count; i++) {
        apply_settings(&out->settings, path[i]);
        if (path[i]->kind == SESSION_COMPACTION)
            compaction = i;
    }
    add_instructions(out, path, count);
    if (compaction < count) {
        add_entry(out, &(dialect_path){path, count}, compaction);
        add_range(out, path, first_kept(path, compaction), compaction);
        add_range(out, path, compaction + 1, count);
    } else {
        add_range(out, path, 0, count);
    }
    return finish_context(out, repair);
}

bool context_of_cards(context *out, const context_card *cards, size_t count, slice reader,
                      const context_request *request, arena *memory)
{
    if (!init_context(out, count, request->format, memory))
        return false;
    out->reader = reader;
    out->closes_calls = request->closes_calls;
    for (size_t i = 0; i < count && !memory->failed; i++)
        context_add_card(out, &cards[i]);
    context_take_speakers(out);
    return finish_context(out, request->repair);
}

/* --- the report --- */

const char *context_repair_name(context_repair_kind kind)
{
    static const char *const NAMES[CONTEXT_REPAIR_KINDS] = {
        [CONTEXT_DROPPED_MESSAGE] = "dropped_message",
        [CONTEXT_DROPPED_RESULT] = "dropped_result",
        [CONTEXT_ORPHAN_RESULT] = "orphan_result",
        [CONTEXT_SECOND_RESULT] = "second_result",
        [CONTEXT_MOVED_RESULT] = "moved_result",
        [CONTEXT_SYNTHETIC_RESULT] = "synthetic_result",
        [CONTEXT_CALL_ID] = "call_id",
        [CONTEXT_TOOL_NAME] = "tool_name",
        [CONTEXT_DROPPED_BLOCK] = "dropped_block",
        [CONTEXT_EMPTY_MESSAGE] = "empty_message",
        [CONTEXT_EMPTY_RESULT] = "empty_result",
        [CONTEXT_FIRST_MESSAGE] = "first_message",
        [CONTEXT_ARGUMENTS] = "arguments",
        [CONTEXT_NO_CALLS] = "no_calls",
        [CONTEXT_NO_CONTENT] = "no_content",
        [CONTEXT_MERGED] = "merged",
        [CONTEXT_REASONING] = "reasoning",
        [CONTEXT_OTHER_SPEAKER] = "other_speaker",
    };

    return NAMES[kind];
}

/* Returns the number of the written message that contains `message`. If the message was left out,
 * returns the number of the message that follows. 0: there is no such message. */
static size_t number_of(const context_message *message)
{
    const context_message *before = message->after;

    if (message->moved != NULL)
        return message->moved->number;
    if (!message->is_left_out)
        return message->number;
    if (before == NULL)
        return 1;
    return before->number == 0 ? 0 : before->number + 1;
}

static void put_repair(buf *out, const context_repair *repair)
{
    const context_message *of = repair->message;
    size_t number = repair->kind == CONTEXT_FIRST_MESSAGE ? 1 : number_of(of);

    buf_comma(out);
    buf_char(out, '{');
    buf_member_text(out, "repair", slice_of(context_repair_name(repair->kind)));
    buf_member_text(out, "entry", of->is_synthetic ? of->after->id : of->id);
    if (repair->call.len > 0)
        buf_member_text(out, "call", repair->call);
    if (number > 0)
        buf_member_int(out, "message", (int64_t)number - 1);
    buf_char(out, '}');
}

static void put_left_out(buf *out, const context_repair *left_out)
{
    buf_comma(out);
    buf_char(out, '{');
    buf_member_text(out, "entry", left_out->message->id);
    buf_name(out, "what");
    buf_json_quoted(out, left_out->call);
    buf_char(out, '}');
}

/* --- where a loop stands --- */

const char *context_next(const context *ctx)
{
    const context_message *last = NULL;

    for (const context_message *at = ctx->list.first; at != NULL; at = at->next) {
        if (at->role != CONTEXT_SYSTEM)
            last = at;
    }
    if (ctx->open != NULL)
        return "tools";
    if (ctx->ends_in_reasoning)
        return "user";
    return last == NULL || last->role == CONTEXT_ASSISTANT ? "user" : "model";
}

static bool has_user(const context *ctx)
{
    const context_message *at = ctx->list.first;

    while (at != NULL && at->role != CONTEXT_USER)
        at = at->next;
    return at != NULL;
}

bool context_has_last_answer(const context *ctx)
{
    const context_message *first = ctx->list.first;

    while (first != NULL && first->role == CONTEXT_SYSTEM)
        first = first->next;
    if (ctx->has_orphans || first == NULL)
        return false;
    return ctx->last_answer == NULL ? has_user(ctx) : ctx->last_answer != first;
}

static void put_open_call(buf *out, context *ctx, const context_open_call *call)
{
    const context_part *part = call->part;
    bool is_text = ctx->format == CARDBOX_FORMAT_OPENAI || ctx->format == CARDBOX_FORMAT_RESPONSES;
    slice object;

    buf_comma(out);
    buf_char(out, '{');
    buf_name(out, "id");
    buf_json_quoted(out, part->call_id);
    buf_name(out, "name");
    buf_json_quoted(out, part->name);
    buf_name(out, "arguments");
    context_object_of(ctx, part->arguments, &object);
    if (!is_text)
        buf_slice(out, object);
    else if (part->arguments.kind == SCAN_STRING)
        buf_slice(out, part->arguments.text);
    else
        buf_json_string(out, object);
    buf_member_text(out, "entry", call->message->id);
    buf_char(out, '}');
}

void context_put_next(buf *out, context *ctx)
{
    buf_member_text(out, "next", slice_of(context_next(ctx)));
    buf_member(out, "open_calls", SLICE("["));
    for (const context_open_call *at = ctx->open; at != NULL; at = at->next)
        put_open_call(out, ctx, at);
    buf_char(out, ']');
}

/* Counts the messages of a context after the repairs, without empty messages that were left out. */
size_t context_count(const context *ctx)
{
    size_t count = ctx->list.count;

    for (const context_repair *at = ctx->repairs; at != NULL; at = at->next) {
        if (at->kind == CONTEXT_EMPTY_MESSAGE)
            count--;
    }
    return count;
}

/* Returns 1 if a user's message was inserted before the first message. */
static size_t count_first(const context *ctx)
{
    size_t count = 0;

    for (const context_repair *at = ctx->repairs; at != NULL; at = at->next)
        count += at->kind == CONTEXT_FIRST_MESSAGE;
    return count;
}

void context_report(buf *out, const context *ctx)
{
    buf_member_int(out, "messages_before", (int64_t)ctx->before);
    buf_member_int(out, "messages_after", (int64_t)(context_count(ctx) + count_first(ctx)));
    buf_member(out, "repairs", SLICE("["));
    for (const context_repair *at = ctx->repairs; at != NULL; at = at->next) {
        if (at->kind != CONTEXT_LEFT_OUT)
            put_repair(out, at);
    }
    buf_char(out, ']');
    buf_member(out, "left_out", SLICE("["));
    for (const context_repair *at = ctx->repairs; at != NULL; at = at->next) {
        if (at->kind == CONTEXT_LEFT_OUT)
            put_left_out(out, at);
    }
    buf_char(out, ']');
    buf_member_int(out, "omitted_messages", (int64_t)ctx->omitted);
    if (ctx->missing_parent.len > 0)
        buf_member_text(out, "path_begins_at_break", ctx->missing_parent);
    buf_member(out, "token_estimate", SLICE("{\"method\":\"bytes/4\""));
    buf_member_int(out, "tokens", (int64_t)ctx->tokens);
    buf_char(out, '}');
}

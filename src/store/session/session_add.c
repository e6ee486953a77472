/*
 * session_add.c: makes the entries of messages of models' APIs, and the answer to their append.
 */
#include "store/session/session_add.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/errors.h"
#include "cardbox/ids.h"
#include "cardbox/limits.h"
#include "model/session/api.h"

/* ENTRIES_FIRST: the number of entries that are read after an append at first. ENTRIES_GROWTH: the
 * factor by which a further read is larger. The last answer usually has few entries. */
enum { ENTRIES_FIRST = 8, ENTRIES_GROWTH = 8 };

/* --- entries --- */

static void put_id(buf *out, const session_add *add, size_t number)
{
    char text[CARDBOX_UUID_SIZE], part[32];
    arena memory = ARENA_INIT;

    snprintf(part, sizeof(part), "message %zu", number);
    char *key = add->batch.key.ptr != NULL ? arena_copy(&memory, add->batch.key) : NULL;
    if (key != NULL)
        cardbox_uuid7_from_key(text, key, part);
    else
        cardbox_uuid7(text);
    buf_member_text(out, "id", slice_of(text));
    arena_reset(&memory);
}

/* A message that was taken apart into the part for requests, and the other members of an answer. */
typedef struct taken_apart {
    buf message, answer; /* JSON; `answer`: members without braces */
    bool has_model, has_usage;
} taken_apart;

/* Splits a message of Anthropic's API: requests may contain only its role and its content. */
static void split_anthropic(taken_apart *out, scan_value message)
{
    scan_walk walk = scan_enter(message);
    scan_value value;
    slice key;

    buf_char(&out->message, '{');
    while (scan_member(&walk, &key, &value)) {
        bool is_sent = scan_string_is(key, SLICE("role")) || scan_string_is(key, SLICE("content"));
        buf *to = is_sent ? &out->message : &out->answer;

        out->has_model = out->has_model || scan_string_is(key, SLICE("model"));
        out->has_usage = out->has_usage || scan_string_is(key, SLICE("usage"));
        buf_comma(to);
        buf_slice(to, key);
        buf_char(to, ':');
        buf_slice(to, value.text);
    }
    buf_char(&out->message, '}');
    if (out->answer.len > 0)
        return;
    buf_reset(&out->message, SIZE_MAX); /* nothing to split: the bytes stay as they are */
    buf_slice(&out->message, message.text);
}

static void take_apart(taken_apart *out, const session_add *add, scan_value message, bool is_answer)
{
    const session_messages *given = &add->messages;

    *out = (taken_apart){.message = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX),
                         .answer = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX)};
    if (given->format == CARDBOX_FORMAT_ANTHROPIC)
        split_anthropic(out, message);
    else
        buf_slice(&out->message, message.text);
    if (is_answer && given->model.ptr != NULL && !out->has_model)
        buf_member(&out->answer, "model", given->model);
    if (is_answer && given->usage.ptr != NULL && !out->has_usage)
        buf_member(&out->answer, "usage", given->usage);
}

/* Fails if a value is no message: it needs a role, or in the format responses a type. */
static cardbox_status check_message(const session_messages *given, scan_value message,
                                    cardbox_error *err)
{
    static const char *const NAMES[] = {"role", "type"};
    bool may_have_type = given->format == CARDBOX_FORMAT_RESPONSES;
    scan_value found[2];

    if (message.kind != SCAN_OBJECT)
        return error_set(err, CARDBOX_INVALID, "a message is an object, not %s",
                         scan_kind_name(message.kind));
    session_pick(message, NAMES, found, 2);
    if (found[0].kind == SCAN_STRING || (may_have_type && found[1].kind == SCAN_STRING))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID,
                     "a message of the format %s needs a role%s: of a whole answer, append %s",
                     CONTEXT_FORMATS[given->format], may_have_type ? " or a type" : "",
                     may_have_type ? "the items of its output" : "the message");
}

static cardbox_status add_message(session_add *add, scan_value message, bool is_answer,
                                  cardbox_error *err)
{
    const session_messages *given = &add->messages;
    buf entry = BUF_INIT(4 * (size_t)CARDBOX_CONTENT_MAX);
    taken_apart parts;
    cardbox_status status = check_message(given, message, err);

    if (status != CARDBOX_OK)
        return status;
    take_apart(&parts, add, message, is_answer);
    buf_char(&entry, '{');
    put_id(&entry, add, add->batch.count);
    buf_member(&entry, "type", SLICE("\"message\""));
    buf_member_text(&entry, "format", slice_of(CONTEXT_FORMATS[given->format]));
    buf_member(&entry, "message", buf_as_slice(&parts.message));
    if (parts.answer.len > 0) {
        buf_member(&entry, "answer", SLICE("{"));
        buf_slice(&entry, buf_as_slice(&parts.answer));
        buf_char(&entry, '}');
    }
    buf_char(&entry, '}');
    bool ok = buf_ok(&parts.message) && buf_ok(&parts.answer);
    slice kept = arena_keep(&add->batch.memory, &entry);
    buf_free(&parts.message);
    buf_free(&parts.answer);
    if (!ok || kept.ptr == NULL)
        return error_nomem(err);
    return session_batch_append(&add->batch, kept, false, err);
}

void session_add_creates(session_add *add)
{
    add->create.tenant = add->batch.tenant;
    add->create.session = add->batch.session;
    add->create.dialect = SESSION_PLAIN;
    add->create.may_exist = true;
    session_batch_create(&add->batch, &add->create);
}

/* --- settings --- */

static bool has_settings(const session_messages *given)
{
    return given->system.ptr != NULL || given->tools.ptr != NULL || given->parameters.ptr != NULL;
}

/* Makes the id of the entry with the settings. */
static cardbox_status prepare_settings(session_add *add, cardbox_error *err)
{
    session_messages *given = &add->messages;
    slice *const settings[] = {&given->system, &given->tools, &given->parameters};
    size_t bytes = 0;

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (!session_one_line(settings[i], &add->batch.memory))
            return error_nomem(err);
        bytes += settings[i]->len;
    }
    if (bytes > CARDBOX_CONTENT_MAX)
        return error_set(err, CARDBOX_TOO_LARGE,
                         "system, tools and parameters have %zu bytes, the limit is %u", bytes,
                         CARDBOX_CONTENT_MAX);
    char *key = add->batch.key.ptr != NULL ? arena_copy(&add->batch.memory, add->batch.key) : NULL;
    if (add->batch.memory.failed)
        return error_nomem(err);
    if (key != NULL)
        cardbox_uuid7_from_key(add->settings_id, key, "settings");
    else
        cardbox_uuid7(add->settings_id);
    return CARDBOX_OK;
}

/* Returns true if the parent of the first message is not the head, or perhaps an entry with
 * settings. Only the database knows this parent, so it adds the parent to the JSON. */
static bool has_own_statement(const session_add *add)
{
    return add->settings_id[0] != '\0' || add->messages.parent.ptr != NULL;
}

statement_id session_add_statement(const session_add *add)
{
    return has_own_statement(add) ? STATEMENT_session_add : session_append_statement(&add->batch);
}

void session_add_params(params *p, const session_add *add)
{
    const session_messages *given = &add->messages;
    session_batch batch = add->batch;

    if (!has_own_statement(add)) {
        session_append_params(p, &add->batch);
        return;
    }
    batch.create = NULL; /* session_add.sql has parameters of its own for that */
    session_append_params(p, &batch);
    params_cstr(p, add->settings_id[0] != '\0' ? add->settings_id : NULL);
    params_cstr(p, CONTEXT_FORMATS[given->format]);
    params_text_or_null(p, given->system);
    params_text_or_null(p, given->tools);
    params_text_or_null(p, given->parameters);
    params_bool(p, add->batch.create != NULL);
    params_bool(p, add->create.restore);
}

/* --- messages --- */

/* Returns the number of the last message of the assistant; SIZE_MAX: there is none. */
static size_t last_answer(const session_messages *given)
{
    scan_walk walk = scan_enter(given->list);
    size_t last = SIZE_MAX, i = 0;
    scan_value message;

    if (given->list.kind == SCAN_OBJECT)
        return api_role_of(given->list, given->format) == API_ASSISTANT ? 0 : SIZE_MAX;
    for (; scan_element(&walk, &message); i++) {
        if (message.kind == SCAN_OBJECT && api_role_of(message, given->format) == API_ASSISTANT)
            last = i;
    }
    return last;
}

cardbox_status session_add_messages(session_add *add, size_t *bad, cardbox_error *err)
{
    const session_messages *given = &add->messages;
    bool has_answer = given->model.ptr != NULL || given->usage.ptr != NULL;
    size_t answer = has_answer ? last_answer(given) : SIZE_MAX, i = 0;
    scan_walk walk = scan_enter(given->list);
    cardbox_status status = CARDBOX_OK;
    scan_value message;

    *bad = SIZE_MAX;
    if (has_answer && answer == SIZE_MAX)
        return error_set(err, CARDBOX_INVALID,
                         "model and usage belong to a message of the assistant, and there is none");
    if (has_settings(given))
        status = prepare_settings(add, err);
    if (status != CARDBOX_OK)
        return status;
    bool is_list = given->list.kind == SCAN_ARRAY;
    *bad = 0;
    if (!is_list)
        status = add_message(add, given->list, answer == 0, err);
    for (; status == CARDBOX_OK && is_list && scan_element(&walk, &message); i++) {
        *bad = i;
        status = add_message(add, message, i == answer, err);
    }
    if (status == CARDBOX_OK && given->parent.ptr != NULL)
        session_batch_set_parent(&add->batch, given->parent);
    return status;
}

/* --- the answer --- */

cardbox_status session_add_appended(session_add *add, const store_rows *rows, cardbox_error *err)
{
    session_written written;
    cardbox_status status = session_append_status(rows, &add->batch, err);

    session_append_read(&written, rows);
    if (slice_equal(written.outcome, SLICE("other_dialect")))
        error_set(
            err, CARDBOX_CONFLICT,
            "only a session of the dialect plain has messages of models' APIs. In the dialect pi, "
            "append entries with POST .../entries or session:append. For Claude Code or codex, "
            "import "
            "the longer file. Or export the context with a format, and import it into a new "
            "session");
    if (status == CARDBOX_CONFLICT && err != NULL)
        err->current_version = written.version;
    add->is_replayed = add->batch.key.ptr != NULL && !slice_equal(written.outcome, SLICE("done"));
    add->is_moved = slice_equal(session_line_outcome(rows, 0), SLICE("moved"));
    add->version = written.version;
    add->read = (session_context_read){.tenant = add->batch.tenant,
                                       .session = add->batch.session,
                                       .entry = SLICE(""),
                                       .bytes_max = (int64_t)CONTEXT_INPUT_MAX,
                                       .entries = ENTRIES_FIRST};
    return status;
}

static void put_answer(buf *out, const session_add *add, slice leaf, context *ctx)
{
    buf_char(out, '{');
    buf_member(out, "ids", SLICE("["));
    for (size_t i = 0; i < add->batch.count; i++) {
        buf_comma(out);
        buf_json_string(out, add->batch.lines[i].id);
    }
    buf_char(out, ']');
    buf_member_int(out, "version", add->version);
    buf_member_text(out, "leaf", leaf);
    if (add->is_moved)
        buf_member(out, "parent_moved", SLICE("true"));
    context_put_next(out, ctx);
    session_put_ignored(out, &add->batch);
    buf_char(out, '}');
}

cardbox_status session_add_answer(buf *out, bool *more, session_add *add, const store_rows *rows,
                                  arena *memory, cardbox_error *err)
{
    session_lines_read lines = {.count = 0};
    context ctx = {.before = 0};
    arena own = ARENA_BESIDE(memory);
    cardbox_status status = session_context_from_rows(&lines, rows, &add->read, &own, err);

    *more = false;
    if (status == CARDBOX_OK &&
        !context_of_path(&ctx, lines.has_header ? &lines.header : NULL, lines.path, lines.count,
                         add->messages.format, false, &own))
        status = error_arena(err, &own, "the answer");
    if (status == CARDBOX_OK) {
        *more = lines.unread > 0 && !context_has_last_answer(&ctx);
        add->read.entries *= ENTRIES_GROWTH;
        if (add->is_replayed)
            add->version = lines.version;
        if (!*more)
            put_answer(out, add, lines.entry_id, &ctx);
    }
    arena_reset(&own);
    return status;
}

/*
 * session_writer.c: buffers entries and appends them in batches, for <cardbox/session_writer.h>.
 */
#include "cardbox/session_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include "store/session/session_call.h"

/* A batch with BUFFERED entries (the default of the option `buffered`) or BATCH_BYTES bytes is sent
 * before the next entry is added. */
#define BUFFERED    10
#define BATCH_BYTES ((size_t)1024 * 1024)

struct cardbox_session_writer {
    cardbox *db;
    session_batch batch;
    arena memory; /* has the key, the timestamp, the ids of the project and session, and all
                     returned entry ids */
    bool is_pi;
    unsigned batch_entries;
};

/* --- opening --- */

static cardbox_status read_options(cardbox_session_writer *writer,
                                   const cardbox_writer_options *options, cardbox_error *err)
{
    int64_t micros = 0;
    cardbox_status status = CHECK_MADE(options, "CARDBOX_WRITER_OPTIONS_INIT", err);

    writer->batch_entries = BUFFERED;
    if (options == NULL || status != CARDBOX_OK)
        return status;
    if (options->buffered > CARDBOX_ENTRIES_PER_APPEND_MAX)
        return error_set(err, CARDBOX_INVALID, "buffered must be at most %d, not %u",
                         CARDBOX_ENTRIES_PER_APPEND_MAX, options->buffered);
    if (options->buffered > 0)
        writer->batch_entries = options->buffered;
    if (options->key != NULL && options->timestamp == NULL)
        return error_set(err, CARDBOX_INVALID,
                         "a key requires a timestamp: a repeated run must send the same entries");
    if (options->key != NULL)
        status = check_id("key", options->key, CARDBOX_KEY_MAX, err);
    if (status == CARDBOX_OK && options->timestamp != NULL)
        status = check_time("timestamp", slice_of(options->timestamp), &micros, err);
    if (status != CARDBOX_OK)
        return status;
    if (options->key != NULL)
        writer->batch.run_key = arena_copy(&writer->memory, slice_of(options->key));
    if (options->timestamp != NULL) {
        writer->batch.run_ms = micros / 1000;
        writer->batch.run_time = arena_copy(&writer->memory, slice_of(options->timestamp));
    }
    return writer->memory.failed ? error_nomem(err) : CARDBOX_OK;
}

static cardbox_status create_or_read_session(cardbox_session_writer *writer, const char *tenant,
                                             const char *session_id, cardbox_error *err)
{
    cardbox_sessions *got = NULL;
    cardbox_status status = cardbox_session_create(NULL, writer->db, tenant, session_id, NULL, err);

    if (status == CARDBOX_OK)
        status = cardbox_session_get(&got, writer->db, tenant, session_id, err);
    if (status != CARDBOX_OK)
        return status;
    const cardbox_session *session = cardbox_sessions_at(got, 0);
    writer->is_pi = session->dialect == CARDBOX_DIALECT_PI;
    /* In a session without entries and header, the first entry decides the dialect. */
    if (session->entries > 0 || session->header != NULL)
        writer->batch.dialect = (int)session->dialect;
    cardbox_sessions_free(got);
    return CARDBOX_OK;
}

static void free_writer(cardbox_session_writer *writer)
{
    session_batch_free(&writer->batch);
    arena_reset(&writer->memory);
    free(writer);
}

cardbox_status cardbox_session_open(cardbox_session_writer **out, cardbox *db, const char *tenant,
                                    const char *session_id, const cardbox_writer_options *options,
                                    cardbox_error *err)
{
    cardbox_status status = check_session_read(out, db, tenant, session_id, NULL, err);

    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    cardbox_session_writer *writer = calloc(1, sizeof(*writer));
    if (writer == NULL)
        return error_nomem(err);
    writer->db = db;
    const char *own_tenant = arena_copy(&writer->memory, slice_of(tenant));
    const char *own_session = arena_copy(&writer->memory, slice_of(session_id));
    if (!session_batch_init(&writer->batch, slice_of(own_tenant), slice_of(own_session)) ||
        writer->memory.failed)
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = read_options(writer, options, err);
    if (status == CARDBOX_OK)
        status = create_or_read_session(writer, own_tenant, own_session, err);
    if (status == CARDBOX_OK)
        *out = writer;
    else
        free_writer(writer);
    return status;
}

/* --- appending --- */

/* Adds a copy of an entry to the batch, as session_batch_append does. If the batch is full, it is
 * sent first. Returns the entry's id; NULL: failure. */
static const char *add_entry(cardbox_session_writer *writer, slice json, bool is_root,
                             cardbox_error *err)
{
    session_batch *batch = &writer->batch;
    const char *id;

    if (batch->count >= writer->batch_entries || batch->bytes >= BATCH_BYTES) {
        if (cardbox_session_flush(writer, err) != CARDBOX_OK)
            return NULL;
    }
    char *copy = arena_copy(&batch->memory, json);
    if (copy == NULL) {
        error_nomem(err);
        return NULL;
    }
    if (session_batch_append(batch, (slice){copy, json.len}, is_root, err) != CARDBOX_OK)
        return NULL;
    id = arena_copy(&writer->memory, batch->lines[batch->count - 1].id);
    if (id == NULL)
        error_nomem(err);
    return id;
}

const char *cardbox_session_append_entry(cardbox_session_writer *writer, const char *json,
                                         cardbox_error *err)
{
    if (writer == NULL || json == NULL) {
        error_set(err, CARDBOX_INVALID, "%s must not be NULL", writer == NULL ? "writer" : "json");
        return NULL;
    }
    return add_entry(writer, slice_of(json), false, err);
}

/* An entry of the dialect plain, while its JSON is built. If `status` is a failure, the entry is
 * not appended. */
typedef struct plain_entry {
    cardbox_session_writer *writer;
    buf json;
    bool is_root;
    cardbox_status status;
    cardbox_error *err;
} plain_entry;

/* Begins an entry. If `parent` is NULL, the batch determines the parent; if it is "", the entry is
 * a root. */
static plain_entry begin_entry(cardbox_session_writer *writer, const char *type, const char *parent,
                               cardbox_error *err)
{
    bool is_root = parent != NULL && *parent == '\0';
    plain_entry entry = {writer, BUF_INIT(CARDBOX_CONTENT_MAX), is_root, CARDBOX_OK, err};

    if (writer == NULL)
        entry.status = error_set(err, CARDBOX_INVALID, "writer must not be NULL");
    else if (writer->is_pi)
        entry.status = error_set(err, CARDBOX_INVALID,
                                 "the session has the dialect pi: append its entries with "
                                 "cardbox_session_append_entry");
    buf_char(&entry.json, '{');
    buf_member_text(&entry.json, "type", slice_of(type));
    if (parent != NULL && !is_root)
        buf_member_text(&entry.json, "parentId", slice_of(parent));
    return entry;
}

/* `what` is the name of the public function's argument. */
static void put_text(plain_entry *entry, const char *name, const char *what, const char *text)
{
    if (entry->status != CARDBOX_OK)
        return;
    if (text == NULL)
        entry->status = error_set(entry->err, CARDBOX_INVALID, "%s must not be NULL", what);
    else if (!slice_is_utf8(slice_of(text)))
        entry->status = error_set(entry->err, CARDBOX_INVALID, "%s must be UTF-8", what);
    else
        buf_member_text(&entry->json, name, slice_of(text));
}

/* `kind`: SCAN_NONE means any kind of JSON. */
static void put_json(plain_entry *entry, const char *name, const char *what, const char *json,
                     scan_kind kind)
{
    if (entry->status == CARDBOX_OK)
        entry->status = check_json(what, slice_of(json), kind, NULL, NULL, entry->err);
    buf_member(&entry->json, name, slice_of(json));
}

static const char *end_entry(plain_entry *entry)
{
    const char *id = NULL;

    buf_char(&entry->json, '}');
    if (entry->status == CARDBOX_OK && !buf_ok(&entry->json))
        entry->status = error_buf(entry->err, &entry->json, "entry");
    if (entry->status == CARDBOX_OK)
        id = add_entry(entry->writer, buf_as_slice(&entry->json), entry->is_root, entry->err);
    buf_free(&entry->json);
    return id;
}

const char *cardbox_session_append_user(cardbox_session_writer *writer, const char *content,
                                        const char *parent, cardbox_error *err)
{
    plain_entry entry = begin_entry(writer, "user", parent, err);

    put_text(&entry, "content", "content", content);
    return end_entry(&entry);
}

const char *cardbox_session_append_assistant(cardbox_session_writer *writer, const char *content,
                                             const char *tool_calls, const char *parent,
                                             cardbox_error *err)
{
    plain_entry entry = begin_entry(writer, "assistant", parent, err);

    put_text(&entry, "content", "content", content);
    if (tool_calls != NULL)
        put_json(&entry, "toolCalls", "tool_calls", tool_calls, SCAN_ARRAY);
    return end_entry(&entry);
}

const char *cardbox_session_append_tool(cardbox_session_writer *writer, const char *tool_call_id,
                                        const char *name, const char *params_json,
                                        const char *parent, cardbox_error *err)
{
    plain_entry entry = begin_entry(writer, "tool", parent, err);

    put_text(&entry, "name", "name", name);
    put_json(&entry, "params", "params", params_json == NULL ? "{}" : params_json, SCAN_NONE);
    put_text(&entry, "toolCallId", "tool_call_id", tool_call_id);
    return end_entry(&entry);
}

const char *cardbox_session_append_tool_result(cardbox_session_writer *writer,
                                               const char *tool_call_id, const char *output,
                                               const char *details, bool success,
                                               const char *parent, cardbox_error *err)
{
    plain_entry entry = begin_entry(writer, "tool_result", parent, err);

    put_text(&entry, "toolCallId", "tool_call_id", tool_call_id);
    put_text(&entry, "output", "output", output);
    if (details != NULL)
        put_json(&entry, "details", "details", details, SCAN_NONE);
    buf_member(&entry.json, "success", success ? SLICE("true") : SLICE("false"));
    return end_entry(&entry);
}

/* --- sending --- */

cardbox_status cardbox_session_flush(cardbox_session_writer *writer, cardbox_error *err)
{
    store_rows *rows = NULL;

    if (writer == NULL)
        return error_set(err, CARDBOX_INVALID, "writer must not be NULL");
    if (writer->batch.count == 0)
        return CARDBOX_OK;
    cardbox_status status = session_run_append(&rows, writer->db, &writer->batch, RUN_AGAIN, err);
    rows_free(rows);
    if (status == CARDBOX_OK && !session_batch_reset(&writer->batch))
        return error_nomem(err);
    return status;
}

cardbox_status cardbox_session_close(cardbox_session_writer *writer, cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;

    if (writer == NULL)
        return CARDBOX_OK;
    cardbox_status status = cardbox_session_flush(writer, &own);
    if (status != CARDBOX_OK && err != NULL) {
        const session_batch *batch = &writer->batch;
        slice first = batch->count > 0 ? batch->lines[0].id : SLICE("");
        *err = own;
        snprintf(err->message, sizeof(err->message), "%zu entr%s not written, from %.*s on: %.*s",
                 batch->count, batch->count == 1 ? "y was" : "ies were", error_shown(first),
                 first.ptr, (int)slice_cut(slice_of(own.message), 300), own.message);
    }
    free_writer(writer);
    return status;
}

/*
 * session_messages.c: the public function that appends messages of models' APIs to a session.
 */
#include "cardbox/limits.h"
#include "model/session/api.h"
#include "store/session/session_add.h"
#include "store/session/session_call.h"

static cardbox_status read_messages(session_messages *out, cardbox_format format,
                                    const char *messages, cardbox_error *err)
{
    if (!api_is_format(format))
        return error_set(err, CARDBOX_INVALID,
                         "format must be one whose messages can be stored, not %d", (int)format);
    if (messages == NULL)
        return error_set(err, CARDBOX_INVALID, "messages must not be NULL");
    cardbox_status status =
        check_json("messages", slice_of(messages), SCAN_NONE, &out->list, NULL, err);
    if (status != CARDBOX_OK)
        return status;
    size_t count = out->list.kind == SCAN_ARRAY ? scan_count(out->list) : 1;
    if (out->list.kind != SCAN_ARRAY && out->list.kind != SCAN_OBJECT)
        return error_set(err, CARDBOX_INVALID, "messages must be an array or an object, not %s",
                         scan_kind_name(out->list.kind));
    if (count == 0)
        return error_set(err, CARDBOX_INVALID, "messages must not be empty");
    if (count > CARDBOX_ENTRIES_PER_APPEND_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "messages has %zu elements, the limit is %d",
                         count, CARDBOX_ENTRIES_PER_APPEND_MAX);
    out->format = format;
    return CARDBOX_OK;
}

/* Stores the name of the model as JSON, and the usage. */
static cardbox_status read_answer_members(session_add *add,
                                          const cardbox_session_add_options *options,
                                          cardbox_error *err)
{
    session_messages *out = &add->messages;
    buf text = BUF_INIT(CARDBOX_CONTENT_MAX);

    if (options->model != NULL) {
        if (!slice_is_utf8(slice_of(options->model)))
            return error_set(err, CARDBOX_INVALID, "model must be UTF-8");
        buf_json_string(&text, slice_of(options->model));
        out->model = arena_keep(&add->batch.memory, &text);
        if (out->model.ptr == NULL)
            return error_nomem(err);
    }
    out->usage = slice_of(options->usage);
    return options->usage == NULL ? CARDBOX_OK
                                  : check_json("usage", out->usage, SCAN_OBJECT, NULL, NULL, err);
}

static cardbox_status read_options(session_add *add, const cardbox_session_add_options *options,
                                   cardbox_error *err)
{
    const cardbox_session_add_options defaults = CARDBOX_SESSION_ADD_OPTIONS_INIT;
    cardbox_status status = CHECK_MADE(options, "CARDBOX_SESSION_ADD_OPTIONS_INIT", err);

    if (status != CARDBOX_OK)
        return status;
    options = options == NULL ? &defaults : options;
    add->batch.expected_version = options->expected_version;
    add->batch.key = slice_of(options->key);
    add->messages.parent = slice_of(options->parent_id);
    add->create.restore = options->restore;
    if (options->expected_version < 0)
        return error_set(err, CARDBOX_INVALID, "expected_version must be 0 (any) or more");
    if (options->key != NULL)
        status = check_id("key", options->key, CARDBOX_KEY_MAX, err);
    if (status == CARDBOX_OK && options->parent_id != NULL)
        status = check_id("parent_id", options->parent_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = read_answer_members(add, options, err);
    if (!options->must_exist && options->expected_version == 0)
        session_add_creates(add);
    return status;
}

static cardbox_status add_messages(session_add *add, cardbox_error *err)
{
    size_t bad = 0;
    cardbox_status status = session_add_messages(add, &bad, err);

    if (status != CARDBOX_INVALID || err == NULL || add->messages.list.kind != SCAN_ARRAY)
        return status;
    cardbox_error own = *err;
    return error_set(err, status, "messages[%zu]: %s", bad, own.message);
}

/* Reads where the loop of an agent stands. */
static cardbox_status read_answer(buf *out, cardbox *db, session_add *add, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    bool more = true;

    while (status == CARDBOX_OK && more) {
        arena memory = ARENA_INIT;
        store_rows *rows = NULL;
        params p = PARAMS_INIT;

        session_context_params(&p, &add->read);
        status = client_run(db, STATEMENT_session_context, &p, RUN_AGAIN, &rows, err);
        if (status == CARDBOX_OK)
            status = session_add_answer(out, &more, add, rows, &memory, err);
        rows_free(rows);
        arena_reset(&memory);
    }
    return status;
}

static cardbox_status run_add(char **answer, cardbox *db, session_add *add, cardbox_error *err)
{
    buf text = BUF_INIT(REQUEST_MAX);
    store_rows *rows = NULL;
    client_safety safety = add->batch.key.ptr == NULL ? RUN_AGAIN_HERE : RUN_AGAIN;
    params p = PARAMS_INIT;

    if (!session_append_is_repeatable(&add->batch))
        safety = RUN_ONCE;
    session_add_params(&p, add);
    cardbox_status status = client_run(db, session_add_statement(add), &p, safety, &rows, err);
    if (status == CARDBOX_OK)
        status = session_add_appended(add, rows, err);
    rows_free(rows);
    if (status != CARDBOX_OK || answer == NULL)
        return status;
    status = read_answer(&text, db, add, err);
    if (status == CARDBOX_OK && (*answer = buf_take(&text)) == NULL)
        status = error_nomem(err);
    buf_free(&text);
    return status;
}

cardbox_status cardbox_session_add(char **answer, cardbox *db, const char *tenant,
                                   const char *session_id, cardbox_format format,
                                   const char *messages, const cardbox_session_add_options *options,
                                   cardbox_error *err)
{
    session_add add = {.version = 0};
    cardbox_status status = check_session(db, tenant, session_id, NULL, err);

    if (answer != NULL)
        *answer = NULL;
    if (status == CARDBOX_OK)
        status = read_messages(&add.messages, format, messages, err);
    if (status != CARDBOX_OK)
        return status;
    if (!session_batch_init(&add.batch, slice_of(tenant), slice_of(session_id)))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = read_options(&add, options, err);
    if (status == CARDBOX_OK)
        status = add_messages(&add, err);
    if (status == CARDBOX_OK)
        status = run_add(answer, db, &add, err);
    session_batch_free(&add.batch);
    return status;
}

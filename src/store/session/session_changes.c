/*
 * session_changes.c: the public functions of <cardbox/session.h> that change sessions.
 */
#include "store/session/session_write.h"
#include "store/session/session_call.h"

/* --- create --- */

/* Checks options, and fills in the members of *out that depend on them. A header that is made is
 * stored in `memory`. */
static cardbox_status read_create_options(session_create *out,
                                          const cardbox_session_options *options, arena *memory,
                                          cardbox_error *err)
{
    cardbox_status status = CHECK_MADE(options, "CARDBOX_SESSION_OPTIONS_INIT", err);

    if (status != CARDBOX_OK)
        return status;
    if (options->dialect < CARDBOX_DIALECT_UNKNOWN || options->dialect > CARDBOX_DIALECT_PI)
        return error_set(err, CARDBOX_INVALID,
                         "dialect must be that of plain or pi, or unknown, not %d: sessions of "
                         "other dialects are imported",
                         (int)options->dialect);
    out->may_exist = !options->must_be_new;
    out->restore = options->restore;
    return session_create_set(out, (int)options->dialect, slice_of(options->header),
                              slice_of(options->cwd), memory, err);
}

cardbox_status cardbox_session_create(bool *is_new, cardbox *db, const char *tenant,
                                      const char *session_id,
                                      const cardbox_session_options *options, cardbox_error *err)
{
    const cardbox_session_options any = CARDBOX_SESSION_OPTIONS_INIT;
    arena memory = ARENA_INIT;
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_session(db, tenant, session_id, NULL, err);

    if (status != CARDBOX_OK)
        return status;
    session_create create = {.tenant = slice_of(tenant),
                             .session = slice_of(session_id),
                             .any_dialect = options == NULL};
    status = read_create_options(&create, options == NULL ? &any : options, &memory, err);
    if (status == CARDBOX_OK) {
        session_create_params(&p, &create);
        status = client_run(db, STATEMENT_session_create, &p,
                            create.may_exist ? RUN_AGAIN : RUN_ONCE, &rows, err);
    }
    if (status == CARDBOX_OK)
        status = session_create_status(rows, &create, NULL, is_new, err);
    rows_free(rows);
    arena_reset(&memory);
    return status;
}

/* --- append --- */

/* `create` and `memory` must stay valid as long as the batch. */
static cardbox_status read_options(session_batch *batch, session_create *create, arena *memory,
                                   const cardbox_session_append_options *options,
                                   cardbox_error *err)
{
    cardbox_status status = CHECK_MADE(options, "CARDBOX_SESSION_APPEND_OPTIONS_INIT", err);
    if (options == NULL || status != CARDBOX_OK)
        return status;
    batch->expected_version = options->expected_version;
    batch->key = slice_of(options->key);
    if (options->expected_version < 0)
        return error_set(err, CARDBOX_INVALID, "expected_version must be 0 (any) or more");
    if (options->key != NULL)
        status = check_id("key", options->key, CARDBOX_KEY_MAX, err);
    if (status != CARDBOX_OK || options->create == NULL)
        return status;
    *create = (session_create){.tenant = batch->tenant, .session = batch->session};
    status = read_create_options(create, options->create, memory, err);
    if (status == CARDBOX_OK && !create->may_exist)
        status = error_set(err, CARDBOX_INVALID, "create->must_be_new can't be set for an append");
    session_batch_create(batch, create);
    return status;
}

cardbox_status session_run_append(store_rows **rows, cardbox *db, const session_batch *batch,
                                  client_safety safety, cardbox_error *err)
{
    params p = PARAMS_INIT;

    session_append_params(&p, batch);
    cardbox_status status = client_run(db, session_append_statement(batch), &p, safety, rows, err);
    return status == CARDBOX_OK ? session_append_status(*rows, batch, err) : status;
}

/* Unless `answer` is NULL, *answer receives the outcome of the append as JSON, which the caller
 * frees. */
static cardbox_status write_batch(int64_t *version, char **answer, cardbox *db,
                                  const session_batch *batch, cardbox_error *err)
{
    session_written written;
    store_rows *rows = NULL;
    buf text = BUF_INIT(REQUEST_MAX);
    client_safety safety = batch->has_new_ids ? RUN_AGAIN_HERE : RUN_AGAIN;
    cardbox_status status = session_run_append(
        &rows, db, batch, session_append_is_repeatable(batch) ? safety : RUN_ONCE, err);

    if (status == CARDBOX_OK && version != NULL) {
        session_append_read(&written, rows);
        *version = written.version;
    }
    if (status == CARDBOX_OK && answer != NULL) {
        session_append_json(&text, batch, rows);
        *answer = buf_take(&text);
    }
    rows_free(rows);
    return status;
}

static cardbox_status add_entry_index(cardbox_status status, size_t index, cardbox_error *err)
{
    if (err == NULL)
        return status;
    cardbox_error own = *err;
    error_set(err, status, "entries[%zu]: %s", index, own.message);
    err->position = own.position;
    return status;
}

cardbox_status cardbox_session_append(int64_t *version, cardbox *db, const char *tenant,
                                      const char *session_id, const char *const *entries,
                                      size_t count, const cardbox_session_append_options *options,
                                      cardbox_error *err)
{
    session_batch batch;
    session_create create;
    arena memory = ARENA_INIT;
    char **answer =
        options != NULL && options->struct_size >= sizeof(*options) ? options->answer : NULL;
    cardbox_status status = check_session(db, tenant, session_id, NULL, err);

    if (answer != NULL)
        *answer = NULL;
    if (status == CARDBOX_OK && entries == NULL && count > 0)
        status = error_set(err, CARDBOX_INVALID, "entries must not be NULL");
    if (status != CARDBOX_OK)
        return status;
    if (!session_batch_init(&batch, slice_of(tenant), slice_of(session_id)))
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = read_options(&batch, &create, &memory, options, err);
    for (size_t i = 0; status == CARDBOX_OK && i < count; i++) {
        status = session_batch_append(&batch, slice_of(entries[i]), false, err);
        if (status != CARDBOX_OK)
            status = add_entry_index(status, i, err);
    }
    if (status == CARDBOX_OK)
        status = write_batch(version, answer, db, &batch, err);
    session_batch_free(&batch);
    arena_reset(&memory);
    return status;
}

/* --- head, fork, delete --- */

cardbox_status cardbox_session_move_head(int64_t *version, cardbox *db, const char *tenant,
                                         const char *session_id, const char *entry_id,
                                         const char *expected, cardbox_error *err)
{
    store_rows *rows = NULL;
    session_move move;
    params p = PARAMS_INIT;
    cardbox_status status = check_session(db, tenant, session_id, NULL, err);

    if (status == CARDBOX_OK)
        status = check_id("entry_id", entry_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK && expected != NULL && *expected != '\0')
        status = check_id("expected", expected, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    move = (session_move){slice_of(tenant), slice_of(session_id), slice_of(entry_id),
                          slice_of(expected), 0};
    session_head_params(&p, &move);
    status = client_run(db, STATEMENT_session_head, &p, expected == NULL ? RUN_AGAIN : RUN_ONCE,
                        &rows, err);
    if (status == CARDBOX_OK)
        status = session_head_status(rows, &move, version, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_session_fork(int64_t *entries, cardbox *db, const char *tenant,
                                    const char *session_id, const char *entry_id,
                                    const char *new_session_id, cardbox_error *err)
{
    const session_fork fork = {slice_of(tenant), slice_of(session_id), slice_of(entry_id),
                               slice_of(new_session_id)};
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_session(db, tenant, session_id, entry_id, err);

    if (status == CARDBOX_OK)
        status = check_id("new_session_id", new_session_id, SESSION_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    session_fork_params(&p, &fork);
    status = client_run(db, STATEMENT_session_fork, &p, RUN_ONCE, &rows, err);
    if (status == CARDBOX_OK)
        status = session_fork_status(rows, &fork, entries, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_session_delete(cardbox *db, const char *tenant, const char *session_id,
                                      cardbox_error *err)
{
    session_deletion deletion = {.tenant = slice_of(tenant), .session = slice_of(session_id)};
    cardbox_status status = check_session(db, tenant, session_id, NULL, err);

    for (bool more = true; status == CARDBOX_OK && more;) {
        store_rows *rows = NULL;
        params p = PARAMS_INIT;
        session_delete_params(&p, &deletion);
        status = client_run(db, STATEMENT_session_delete, &p, RUN_ONCE, &rows, err);
        if (status == CARDBOX_OK)
            status = session_delete_status(&deletion, &more, rows, err);
        rows_free(rows);
    }
    return status;
}

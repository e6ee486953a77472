/*
 * boxes_change.c: the public functions of <cardbox/box.h> that change boxes: check, build
 * parameters, run one statement, read its outcome.
 */
#include "cardbox/box.h"

#include <inttypes.h>
#include "store/call.h"

/* What the functions of sql/migrations/0005_change_boxes.sql answer. */
typedef enum change_outcome {
    CHANGE_DONE = 1,
    CHANGE_DONE_BEFORE = 2,
    CHANGE_NO_BOX = 3,
    CHANGE_WRONG_VERSION = 4,
    CHANGE_KEY_REUSED = 5,
    CHANGE_EXISTS = 6,
    CHANGE_DELETED = 7,
    CHANGE_NO_SUCH_MOMENT = 8
} change_outcome;

static const struct {
    change_outcome outcome;
    cardbox_status status;
    const char *message;
} FAILURES[] = {
    {CHANGE_NO_BOX, CARDBOX_NOT_FOUND, "box not found"},
    {CHANGE_WRONG_VERSION, CARDBOX_CONFLICT, "the box has changed: it is at version"},
    {CHANGE_KEY_REUSED, CARDBOX_CONFLICT,
     "the append key was used for other ids: the box is at version"},
    {CHANGE_EXISTS, CARDBOX_CONFLICT, "the box exists: it is at version"},
    {CHANGE_DELETED, CARDBOX_GONE, "the box was deleted: choose another id. It was at version"},
    {CHANGE_NO_SUCH_MOMENT, CARDBOX_NOT_FOUND, "the box never had this version or length"},
};

/* Fills `out` from the one row (outcome, version, length), or says why nothing was done. */
static cardbox_status read_change(cardbox_box_change *out, const uuid16 *box,
                                  const store_rows *rows, cardbox_error *err)
{
    int outcome = rows_count(rows) == 1 ? rows_int4(rows, 0, 0) : 0;
    int64_t version = outcome == 0 ? 0 : rows_int8(rows, 0, 1);
    if (outcome == CHANGE_DONE || outcome == CHANGE_DONE_BEFORE) {
        if (out != NULL) {
            uuid16_format(out->box_id, box);
            out->version = version;
            out->length = rows_int8(rows, 0, 2);
            out->replayed = outcome == CHANGE_DONE_BEFORE;
        }
        return CARDBOX_OK;
    }
    for (size_t i = 0; i < sizeof(FAILURES) / sizeof(FAILURES[0]); i++) {
        if ((int)FAILURES[i].outcome != outcome)
            continue;
        if (version > 0)
            error_set(err, FAILURES[i].status, "%s %" PRId64, FAILURES[i].message, version);
        else
            error_set(err, FAILURES[i].status, "%s", FAILURES[i].message);
        if (err != NULL && FAILURES[i].status == CARDBOX_CONFLICT)
            err->current_version = version;
        return FAILURES[i].status;
    }
    return error_set(err, CARDBOX_INTERNAL, "the database answered outcome %d", outcome);
}

static cardbox_status run_change(cardbox_box_change *out, cardbox *db, statement_id id, params *p,
                                 client_safety safety, const uuid16 *box, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, id, p, safety, &rows, err);
    if (status == CARDBOX_OK)
        status = read_change(out, box, rows, err);
    rows_free(rows);
    return status;
}

static cardbox_status check_uuid(uuid16 *out, const char *what, const char *text,
                                 cardbox_error *err)
{
    if (text != NULL && uuid16_parse(out, view_of(text)))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s must be a UUID, not \"%.60s\"", what,
                     text == NULL ? "(NULL)" : text);
}

/* A box that the caller names, or a new one. */
static cardbox_status uuid_or_new(uuid16 *out, const char *what, const char *text,
                                  cardbox_error *err)
{
    if (text != NULL)
        return check_uuid(out, what, text, err);
    uuid16_v7(out);
    return CARDBOX_OK;
}

/* Ids as one jsonb array. */
static void put_ids(params *p, const char *const *ids, size_t count)
{
    buf json = BUF_INIT(REQUEST_MAX);
    buf_char(&json, '[');
    for (size_t i = 0; i < count; i++) {
        buf_text(&json, i == 0 ? "" : ",");
        buf_json_string(&json, view_of(ids[i]));
    }
    buf_char(&json, ']');
    if (buf_ok(&json))
        params_jsonb(p, (view){buf_str(&json), json.len});
    else
        p->bytes.failure = json.failure;
    buf_free(&json);
}

static cardbox_status check_version(const char *what, int64_t version, cardbox_error *err)
{
    if (version >= 0)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s must be 0 (not set) or more, not %" PRId64, what,
                     version);
}

static void put_version(params *p, int64_t version)
{
    if (version > 0)
        params_int8(p, version);
    else
        params_null(p);
}

/* Checks what changes of an existing box have in common. */
static cardbox_status check_change(uuid16 *box, cardbox *db, const char *tenant, const char *box_id,
                                   const char *const *card_ids, size_t count, cardbox_error *err)
{
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_uuid(box, "box_id", box_id, err);
    if (status == CARDBOX_OK)
        status = check_card_ids(card_ids, count, CARDBOX_IDS_PER_APPEND_MAX, err);
    return status;
}

static cardbox_status check_parents(const cardbox_box_options *options, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    uuid16 parent;
    if (options->parent_ids == NULL && options->parent_count > 0)
        return error_set(err, CARDBOX_INVALID, "parent_ids must not be NULL");
    if (options->parent_count > CARDBOX_IDS_PER_APPEND_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu parents, the limit is %d",
                         options->parent_count, CARDBOX_IDS_PER_APPEND_MAX);
    for (size_t i = 0; status == CARDBOX_OK && i < options->parent_count; i++)
        status = check_uuid(&parent, "parent_ids", options->parent_ids[i], err);
    return status;
}

/* One statement makes a box: `may_exist` is what ensure and create differ in. */
static cardbox_status create(cardbox_box_change *out, cardbox *db, const char *tenant,
                             const cardbox_box_options *options, bool may_exist, cardbox_error *err)
{
    uuid16 box;
    params p;
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = uuid_or_new(&box, "box_id", options->box_id, err);
    if (status == CARDBOX_OK)
        status =
            check_card_ids(options->card_ids, options->card_count, CARDBOX_IDS_PER_APPEND_MAX, err);
    if (status == CARDBOX_OK)
        status = check_parents(options, err);
    if (status != CARDBOX_OK)
        return status;
    params_init(&p, REQUEST_MAX);
    params_cstr(&p, tenant);
    params_uuid(&p, &box);
    put_ids(&p, options->card_ids, options->card_count);
    put_ids(&p, options->parent_ids, options->parent_count);
    params_null(&p);
    params_bool(&p, may_exist);
    status =
        run_change(out, db, STATEMENT_box_create, &p, may_exist ? RUN_AGAIN : RUN_ONCE, &box, err);
    params_free(&p);
    return status;
}

cardbox_status cardbox_create_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                  const cardbox_box_options *options, cardbox_error *err)
{
    const cardbox_box_options empty = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_status status = create(out, db, tenant, options == NULL ? &empty : options, false, err);
    if (status != CARDBOX_GONE)
        return status;
    if (err != NULL)
        err->status = CARDBOX_CONFLICT; /* an id that is taken, whoever holds it */
    return CARDBOX_CONFLICT;
}

cardbox_status cardbox_ensure_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                  const char *box_id, cardbox_error *err)
{
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    options.box_id = box_id;
    return create(out, db, tenant, &options, true, err);
}

cardbox_status cardbox_append_to_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                     const char *box_id, const char *const *card_ids, size_t count,
                                     const cardbox_append_options *options, cardbox_error *err)
{
    const char *key = options == NULL ? NULL : options->key;
    uuid16 box;
    params p;
    cardbox_status status = check_change(&box, db, tenant, box_id, card_ids, count, err);
    if (status == CARDBOX_OK && count == 0)
        status = error_set(err, CARDBOX_INVALID, "card_ids must name at least one card");
    if (status == CARDBOX_OK && key != NULL)
        status = check_id("key", key, CARDBOX_KEY_MAX, err);
    if (status == CARDBOX_OK && options != NULL)
        status = check_version("expected_version", options->expected_version, err);
    if (status != CARDBOX_OK)
        return status;
    params_init(&p, REQUEST_MAX);
    params_cstr(&p, tenant);
    params_uuid(&p, &box);
    put_ids(&p, card_ids, count);
    put_version(&p, options == NULL ? 0 : options->expected_version);
    params_cstr(&p, key);
    status = run_change(out, db, STATEMENT_box_append, &p, key == NULL ? RUN_ONCE : RUN_AGAIN, &box,
                        err);
    params_free(&p);
    return status;
}

cardbox_status cardbox_save_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                const char *box_id, const char *const *card_ids, size_t count,
                                int64_t expected_version, cardbox_error *err)
{
    uuid16 box;
    params p;
    cardbox_status status = check_change(&box, db, tenant, box_id, card_ids, count, err);
    if (status == CARDBOX_OK)
        status = check_version("expected_version", expected_version, err);
    if (status != CARDBOX_OK)
        return status;
    params_init(&p, REQUEST_MAX);
    params_cstr(&p, tenant);
    params_uuid(&p, &box);
    put_ids(&p, card_ids, count);
    put_ids(&p, NULL, 0);
    put_version(&p, expected_version);
    params_null(&p);
    status = run_change(out, db, STATEMENT_box_save, &p,
                        expected_version > 0 ? RUN_ONCE : RUN_AGAIN, &box, err);
    params_free(&p);
    return status;
}

cardbox_status cardbox_fork_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                const char *box_id, const cardbox_fork_options *options,
                                cardbox_error *err)
{
    const cardbox_fork_options now = CARDBOX_FORK_OPTIONS_INIT;
    uuid16 box, new_box;
    params p;
    options = options == NULL ? &now : options;
    cardbox_status status = check_change(&box, db, tenant, box_id, NULL, 0, err);
    if (status == CARDBOX_OK)
        status = uuid_or_new(&new_box, "new_box_id", options->new_box_id, err);
    if (status == CARDBOX_OK)
        status = check_version("at_version", options->at_version, err);
    if (status == CARDBOX_OK && options->at_version > 0 && options->at_length >= 0)
        status = error_set(err, CARDBOX_INVALID, "give at_version or at_length, not both");
    if (status != CARDBOX_OK)
        return status;
    params_init(&p, REQUEST_MAX);
    params_cstr(&p, tenant);
    params_uuid(&p, &box);
    params_uuid(&p, &new_box);
    put_version(&p, options->at_version);
    if (options->at_length >= 0)
        params_int8(&p, options->at_length);
    else
        params_null(&p);
    status = run_change(out, db, STATEMENT_box_fork, &p, RUN_ONCE, &new_box, err);
    params_free(&p);
    return status;
}

cardbox_status cardbox_delete_box(cardbox *db, const char *tenant, const char *box_id,
                                  cardbox_error *err)
{
    store_rows *rows = NULL;
    uuid16 box;
    params p;
    cardbox_status status = check_change(&box, db, tenant, box_id, NULL, 0, err);
    if (status != CARDBOX_OK)
        return status;
    params_init(&p, REQUEST_MAX);
    params_cstr(&p, tenant);
    params_uuid(&p, &box);
    status = client_run(db, STATEMENT_box_delete, &p, RUN_AGAIN, &rows, err);
    params_free(&p);
    if (status == CARDBOX_OK && rows_count(rows) == 0)
        status = error_set(err, CARDBOX_NOT_FOUND, "box not found");
    rows_free(rows);
    return status;
}

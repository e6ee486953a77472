/*
 * boxes_change.c: the public functions of <cardbox/box.h> that change boxes.
 */
#include "cardbox/box.h"

#include <inttypes.h>
#include "base/clock.h"
#include "store/box/append_batcher.h"
#include "store/box/box_load.h"
#include "store/client/call.h"
#include "store/box/box_write.h"

/* Limit for the ids of a batched append. Larger appends are sent alone, since they would delay the
 * other appends of a batch. */
enum { BATCHED_IDS_MAX = 64 };

/* Reads a change from the rows and frees them. The outcome is 0 if the statement failed, or did not
 * return exactly one row. */
static void read_change(box_change *change, cardbox_status status, store_rows *rows)
{
    *change = (box_change){.version = 0};
    if (status == CARDBOX_OK && rows_count(rows) == 1)
        box_change_read(change, rows, 0, 0);
    rows_free(rows);
}

static cardbox_status finish_change(cardbox_box_change *out, const box_change *change,
                                    const uuid16 *box, cardbox_error *err)
{
    cardbox_status status = box_change_status(change, err);
    if (status != CARDBOX_OK || out == NULL)
        return status;
    uuid16_format(out->box_id, box);
    out->version = change->version;
    out->length = change->length;
    out->replayed = change->outcome == BOX_DONE_BEFORE;
    return CARDBOX_OK;
}

static cardbox_status run_change(cardbox_box_change *out, cardbox *db, statement_id id, params *p,
                                 client_safety safety, const uuid16 *box, cardbox_error *err)
{
    box_change change;
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, id, p, safety, &rows, err);
    read_change(&change, status, rows);
    return status == CARDBOX_OK ? finish_change(out, &change, box, err) : status;
}

static cardbox_status check_uuid(uuid16 *out, const char *what, const char *text,
                                 cardbox_error *err)
{
    if (text != NULL && uuid16_parse(out, slice_of(text)))
        return CARDBOX_OK;
    text = text == NULL ? "(NULL)" : text;
    return error_set(err, CARDBOX_INVALID, "%s must be a UUID, not \"%.*s\"", what,
                     error_shown(slice_of(text)), text);
}

static cardbox_status uuid_or_new(uuid16 *out, const char *what, const char *text,
                                  cardbox_error *err)
{
    if (text != NULL)
        return check_uuid(out, what, text, err);
    uuid16_v7(out);
    return CARDBOX_OK;
}

/* Builds a JSON array of ids in the buffer `json`, which has failed if the array could not be
 * built. */
static slice ids_json(buf *json, const char *const *ids, size_t count)
{
    *json = BUF_INIT(REQUEST_MAX);
    buf_char(json, '[');
    for (size_t i = 0; i < count; i++) {
        buf_text(json, i == 0 ? "" : ",");
        buf_json_string(json, slice_of(ids[i]));
    }
    buf_char(json, ']');
    return buf_as_slice(json);
}

/* Frees the buffer of a parameter; if the buffer has failed, marks the parameters as failed. */
static void finish_param(params *p, buf *json)
{
    params_made_of(p, json);
    buf_free(json);
}

static cardbox_status check_version(const char *what, int64_t version, cardbox_error *err)
{
    if (version >= 0)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s must be 0 (not set) or more, not %" PRId64, what,
                     version);
}

/* Checks the arguments that appending, saving, forking and deleting have in common. */
static cardbox_status check_change(uuid16 *box, cardbox *db, const char *tenant, const char *box_id,
                                   const char *const *card_ids, size_t count, cardbox_error *err)
{
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_uuid(box, "box_id", box_id, err);
    if (status == CARDBOX_OK)
        status = check_ids("card_id", card_ids, count, CARDBOX_IDS_PER_APPEND_MAX, err);
    return status;
}

static cardbox_status check_parents(const cardbox_box_options *options, const uuid16 *box,
                                    cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    uuid16 parent;
    if (options->parent_ids == NULL && options->parent_count > 0)
        return error_set(err, CARDBOX_INVALID, "parent_ids must not be NULL");
    if (options->parent_count > CARDBOX_IDS_PER_APPEND_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu parents, the limit is %d",
                         options->parent_count, CARDBOX_IDS_PER_APPEND_MAX);
    for (size_t i = 0; status == CARDBOX_OK && i < options->parent_count; i++) {
        status = check_uuid(&parent, "parent_ids", options->parent_ids[i], err);
        if (status == CARDBOX_OK && memcmp(&parent, box, sizeof(parent)) == 0)
            status = error_set(err, CARDBOX_INVALID, "parent_ids[%zu]: " BOX_OWN_PARENT, i);
    }
    return status;
}

static cardbox_status create_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                 const cardbox_box_options *options, bool may_exist,
                                 cardbox_error *err)
{
    uuid16 box;
    params p = PARAMS_INIT;
    buf ids, parents;
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = uuid_or_new(&box, "box_id", options->box_id, err);
    if (status == CARDBOX_OK)
        status = check_ids("card_id", options->card_ids, options->card_count,
                           CARDBOX_IDS_PER_APPEND_MAX, err);
    if (status == CARDBOX_OK)
        status = check_parents(options, &box, err);
    if (status != CARDBOX_OK)
        return status;
    box_create made = {slice_of(tenant), box,
                       ids_json(&ids, options->card_ids, options->card_count),
                       ids_json(&parents, options->parent_ids, options->parent_count), may_exist};
    box_create_params(&p, &made);
    finish_param(&p, &ids);
    finish_param(&p, &parents);
    client_safety safety = options->box_id == NULL ? RUN_AGAIN_HERE : RUN_AGAIN;
    return run_change(out, db, STATEMENT_box_create, &p, may_exist ? safety : RUN_ONCE, &box, err);
}

cardbox_status cardbox_box_create(cardbox_box_change *out, cardbox *db, const char *tenant,
                                  const cardbox_box_options *options, cardbox_error *err)
{
    const cardbox_box_options empty = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_status status = CHECK_MADE(options, "CARDBOX_BOX_OPTIONS_INIT", err);
    if (status != CARDBOX_OK)
        return status;
    return create_box(out, db, tenant, options == NULL ? &empty : options, false, err);
}

cardbox_status cardbox_box_ensure(cardbox_box_change *out, cardbox *db, const char *tenant,
                                  const char *box_id, cardbox_error *err)
{
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    options.box_id = box_id;
    return create_box(out, db, tenant, &options, true, err);
}

/* Appends of up to BATCHED_IDS_MAX ids on a pool are batched; a batch does not wait for locked
 * boxes. If a batched append has no outcome, or its box was locked, it is sent alone and waits for
 * the lock. The time limits for connections and retries count from the start of the call. */
static cardbox_status send_append(box_change *change, cardbox *db, const box_append *append,
                                  size_t count, cardbox_error *err)
{
    params p = PARAMS_INIT;
    store_rows *rows = NULL;
    int64_t began_us = clock_us();
    cardbox_status status = CARDBOX_OK;
    *change = (box_change){.version = 0};
    if (db->kind == CLIENT_POOL && count <= BATCHED_IDS_MAX)
        status = append_batcher_run(db->append_batcher, append, began_us, change, err);
    if (status != CARDBOX_OK || (change->outcome != 0 && change->outcome != BOX_LOCKED))
        return status;
    boxes_append_params(&p, append, 1, true);
    status = client_run_since(db, began_us, STATEMENT_boxes_append, &p,
                              append->key.ptr == NULL ? RUN_ONCE : RUN_AGAIN, &rows, err);
    *change = (box_change){.version = 0};
    if (status == CARDBOX_OK && rows_count(rows) == 1)
        boxes_append_read(change, rows, 0, 1);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_append_to_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                     const char *box_id, const char *const *card_ids, size_t count,
                                     const cardbox_append_options *options, cardbox_error *err)
{
    const char *key = options == NULL ? NULL : options->key;
    cardbox_error own = CARDBOX_ERROR_INIT;
    box_change change = {.version = 0};
    uuid16 box;
    buf ids;
    cardbox_status status = check_change(&box, db, tenant, box_id, card_ids, count, err);
    if (status == CARDBOX_OK && count == 0)
        status = error_set(err, CARDBOX_INVALID, "card_ids must name at least one card");
    if (status == CARDBOX_OK)
        status = CHECK_MADE(options, "CARDBOX_APPEND_OPTIONS_INIT", err);
    if (status == CARDBOX_OK && key != NULL)
        status = check_id("key", key, CARDBOX_KEY_MAX, err);
    if (status == CARDBOX_OK && options != NULL)
        status = check_version("expected_version", options->expected_version, err);
    if (status != CARDBOX_OK)
        return status;
    box_append append = {slice_of(tenant), box, ids_json(&ids, card_ids, count),
                         options == NULL ? 0 : options->expected_version,
                         key == NULL ? (slice){NULL, 0} : slice_of(key)};
    status = buf_ok(&ids) ? send_append(&change, db, &append, count, &own)
                          : error_buf(&own, &ids, "the request");
    buf_free(&ids);
    if (status == CARDBOX_OK)
        return finish_change(out, &change, &box, err);
    if (err != NULL)
        *err = own;
    return status;
}

cardbox_status cardbox_save_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                const char *box_id, const char *const *card_ids, size_t count,
                                int64_t expected_version, cardbox_error *err)
{
    uuid16 box;
    params p = PARAMS_INIT;
    buf ids;
    cardbox_status status = check_change(&box, db, tenant, box_id, card_ids, count, err);
    if (status == CARDBOX_OK)
        status = check_version("expected_version", expected_version, err);
    if (status != CARDBOX_OK)
        return status;
    box_save save = {slice_of(tenant), box, ids_json(&ids, card_ids, count), expected_version,
                     false};
    box_save_params(&p, &save);
    finish_param(&p, &ids);
    return run_change(out, db, STATEMENT_box_save, &p, expected_version > 0 ? RUN_ONCE : RUN_AGAIN,
                      &box, err);
}

cardbox_status cardbox_box_fork(cardbox_box_change *out, cardbox *db, const char *tenant,
                                const char *box_id, const cardbox_fork_options *options,
                                cardbox_error *err)
{
    const cardbox_fork_options now = CARDBOX_FORK_OPTIONS_INIT;
    uuid16 box, new_box;
    params p = PARAMS_INIT;
    options = options == NULL ? &now : options;
    cardbox_status status = check_change(&box, db, tenant, box_id, NULL, 0, err);
    if (status == CARDBOX_OK)
        status = CHECK_MADE(options, "CARDBOX_FORK_OPTIONS_INIT", err);
    if (status == CARDBOX_OK)
        status = uuid_or_new(&new_box, "new_box_id", options->new_box_id, err);
    if (status == CARDBOX_OK)
        status = check_version("at_version", options->at_version, err);
    if (status == CARDBOX_OK && options->at_version > 0 && options->at_length >= 0)
        status = error_set(err, CARDBOX_INVALID, "give at_version or at_length, not both");
    if (status != CARDBOX_OK)
        return status;
    box_fork fork = {slice_of(tenant), box, new_box, options->at_version, options->at_length};
    box_fork_params(&p, &fork);
    return run_change(out, db, STATEMENT_box_fork, &p, RUN_ONCE, &new_box, err);
}

cardbox_status cardbox_seal_box(cardbox_box_change *out, cardbox *db, const char *tenant,
                                const char *box_id, cardbox_error *err)
{
    uuid16 box;
    params p = PARAMS_INIT;
    cardbox_status status = check_change(&box, db, tenant, box_id, NULL, 0, err);
    if (status != CARDBOX_OK)
        return status;
    box_id_params(&p, slice_of(tenant), &box);
    return run_change(out, db, STATEMENT_box_seal, &p, RUN_AGAIN, &box, err);
}

cardbox_status cardbox_box_delete(cardbox *db, const char *tenant, const char *box_id,
                                  cardbox_error *err)
{
    store_rows *rows = NULL;
    uuid16 box;
    params p = PARAMS_INIT;
    box_change change;
    cardbox_status status = check_change(&box, db, tenant, box_id, NULL, 0, err);
    if (status != CARDBOX_OK)
        return status;
    box_id_params(&p, slice_of(tenant), &box);
    status = client_run(db, STATEMENT_box_delete, &p, RUN_AGAIN, &rows, err);
    change = box_delete_read(rows);
    if (status == CARDBOX_OK && change.outcome == BOX_NONE)
        status = box_not_found(box_id, err);
    else if (status == CARDBOX_OK)
        status = box_change_status(&change, err);
    rows_free(rows);
    return status;
}

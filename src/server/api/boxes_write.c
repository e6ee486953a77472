/*
 * boxes_write.c: creates, appends to, replaces, forks and deletes boxes. Lists of ids are passed to
 * PostgreSQL as the JSON that the client sent. Appends share statements with other requests; the
 * other changes have their own statements.
 */
#include "cardbox/limits.h"
#include "server/api/handlers.h"
#include "store/box/box_json.h"

static slice ids_or_none(const field_value *ids)
{
    return ids->given ? ids->json.text : SLICE("[]");
}

static void answer_change(request *r, const uuid16 *box, const box_change *change)
{
    list_json_change(request_body(r), box, change);
    request_finish(r);
}

static void answer_failure(request *r, const box_change *change, cardbox_status status,
                           const cardbox_error *err)
{
    bool precondition_failed = change->outcome == BOX_WRONG_VERSION || change->outcome == BOX_NONE;
    http_error_send_status(r, handler_change_error(r, status, precondition_failed), err);
}

/* --- create --- */

enum { N_BOX_ID, N_CARD_IDS, N_PARENT_IDS, CREATE_FIELDS };

static const field CREATE[CREATE_FIELDS] = {
    [N_BOX_ID] = {.name = "box_id", .kind = FIELD_UUID},
    [N_CARD_IDS] = {"card_ids", FIELD_IDS, .most = CARDBOX_IDS_PER_APPEND_MAX},
    [N_PARENT_IDS] = {"parent_ids", FIELD_UUIDS, .most = CARDBOX_IDS_PER_APPEND_MAX},
};

void handle_box_create(request *r)
{
    field_value *body = handler_read_change(r, CREATE, CREATE_FIELDS, true);
    box_create *create = body == NULL ? NULL : handler_ability_plan(r, "box:create");
    if (create == NULL)
        return;
    *create = (box_create){.tenant = request_tenant(r),
                           .box_id = body[N_BOX_ID].uuid,
                           .ids = ids_or_none(&body[N_CARD_IDS]),
                           .parent_ids = ids_or_none(&body[N_PARENT_IDS])};
    if (!body[N_BOX_ID].given)
        uuid16_v7(&create->box_id);
    if (box_is_own_parent(&create->box_id, create->parent_ids)) {
        handler_refuse(r, "body", "parent_ids", "value_error", BOX_OWN_PARENT);
        return;
    }
    handler_run_ability(r);
}

/* --- append --- */

enum { A_CARD_IDS, A_EXPECTED, CHANGE_FIELDS };

static const field APPEND[CHANGE_FIELDS] = {
    [A_CARD_IDS] = {"card_ids", FIELD_IDS, .required = true, .least = 1,
                    .most = CARDBOX_IDS_PER_APPEND_MAX},
    [A_EXPECTED] = {"expected_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
};

/* If an append is repeated with its Idempotency-Key, the answer has the body of the first answer,
 * and the header Idempotent-Replayed. */
static void box_append_response(request *r, const batch_rows *found)
{
    const box_append *append = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    box_change change;
    box_change_read(&change, found->rows, found->row[found->start[0]], 1);
    cardbox_status status = box_change_status(&change, &err);
    if (status != CARDBOX_OK) {
        answer_failure(r, &change, status, &err);
        return;
    }
    if (change.outcome == BOX_DONE_BEFORE)
        request_header(r, "Idempotent-Replayed", "true");
    answer_change(r, &append->box_id, &change);
}

void handle_box_append(request *r)
{
    field_value *body = handler_read_change(r, APPEND, CHANGE_FIELDS, false);
    box_append *append = body == NULL ? NULL : handler_take(r, 1, sizeof(*append));
    if (append == NULL || !handler_box(r, &append->box_id) ||
        !handler_read_expected(r, &append->expected_version, &body[A_EXPECTED]))
        return;
    append->tenant = request_tenant(r);
    append->ids = body[A_CARD_IDS].json.text;
    append->key = r->headers.idempotency_key;
    r->ticket.replayable = append->key.ptr != NULL;
    handler_queue_batched(r, BATCH_APPENDS, append, 1, 1 + r->body.len / 1024, box_append_response);
}

/* --- replace --- */

static const field REPLACE[CHANGE_FIELDS] = {
    [A_CARD_IDS] = {"card_ids", FIELD_IDS, .required = true, .most = CARDBOX_IDS_PER_APPEND_MAX},
    [A_EXPECTED] = {"expected_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
};

HANDLER_PARAMS(build_replace, box_save_params)

static void box_replace_response(request *r, const batch_rows *found)
{
    const box_save *save = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    box_change change = {.outcome = 0};
    if (rows_count(found->rows) > 0)
        box_change_read(&change, found->rows, 0, 0);
    cardbox_status status = box_change_status(&change, &err);
    if (status == CARDBOX_OK)
        answer_change(r, &save->box_id, &change);
    else
        answer_failure(r, &change, status, &err);
}

void handle_box_replace(request *r)
{
    field_value *body = handler_read_change(r, REPLACE, CHANGE_FIELDS, false);
    box_save *save = body == NULL ? NULL : handler_take(r, 1, sizeof(*save));
    if (save == NULL)
        return;
    if (!uuid16_parse(&save->box_id, r->match.params[1])) {
        handler_refuse(r, "path", "box_id", "uuid_parsing", "Input should be a UUID");
        return;
    }
    if (!handler_read_expected(r, &save->expected_version, &body[A_EXPECTED]))
        return;
    save->must_exist = r->headers.if_match.ptr != NULL;
    save->tenant = request_tenant(r);
    save->ids = body[A_CARD_IDS].json.text;
    r->ticket.replayable = save->expected_version == 0;
    handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_box_save, build_replace, save,
                         box_replace_response);
}

/* --- fork --- */

enum { F_BOX_ID, F_AT_VERSION, F_AT_LENGTH, FORK_FIELDS };

static const field FORK[FORK_FIELDS] = {
    [F_BOX_ID] = {.name = "box_id", .kind = FIELD_UUID},
    [F_AT_VERSION] = {"at_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
    [F_AT_LENGTH] = {"at_length", FIELD_INTEGER, .least = 0, .most = INT64_MAX},
};

void handle_box_fork(request *r)
{
    field_value *body = handler_read_change(r, FORK, FORK_FIELDS, true);
    box_fork *fork = body == NULL ? NULL : handler_ability_plan(r, "box:fork");
    if (fork == NULL)
        return;
    if (body[F_AT_VERSION].given && body[F_AT_LENGTH].given) {
        handler_refuse(r, "body", NULL, "value_error", "Give at_version or at_length, not both");
        return;
    }
    if (!handler_box(r, &fork->box_id))
        return;
    fork->tenant = request_tenant(r);
    fork->new_box_id = body[F_BOX_ID].uuid;
    if (!body[F_BOX_ID].given)
        uuid16_v7(&fork->new_box_id);
    fork->at_version = body[F_AT_VERSION].number;
    fork->at_length = body[F_AT_LENGTH].given ? body[F_AT_LENGTH].number : -1;
    handler_run_ability(r);
}

/* --- delete --- */

void handle_box_delete(request *r)
{
    uuid16 *box = handler_no_query(r) ? handler_ability_plan(r, "box:delete") : NULL;
    if (box == NULL || !handler_box(r, box))
        return;
    r->ticket.replayable = true;
    handler_run_ability(r);
}

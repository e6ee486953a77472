/*
 * item.c: reads a line of NDJSON: from an export of CardBox, or from the service that CardBox
 * replaces, whose rows may have odd values. members.c lists the members.
 */
#include "store/project/item.h"

#include <stdio.h>
#include "base/errors.h"
#include "model/content/content.h"
#include "model/session/usage.h"
#include "store/client/check.h"
#include "store/project/members.h"
#include "store/box/box_write.h"
#include "store/usage/usage.h"

/* Maximum number of members of a kind of line. */
enum { MEMBERS_MAX = 16 };

/* largest version of an imported session: the largest integer that JSON numbers of all programs
 * hold, and far below the end of int8, which appends would reach */
#define VERSION_MAX INT64_C(9007199254740991)

/* --- members --- */

static cardbox_status given_twice(const char *name, cardbox_error *err)
{
    return error_set(err, CARDBOX_INVALID, "the row has %s twice", name);
}

/* `*out` stays SCAN_NONE if the row lacks the member. Fails if the row has the member twice. */
static cardbox_status find_once(scan_value *out, scan_value row, const char *name,
                                cardbox_error *err)
{
    slice key;
    scan_value value;
    for (scan_walk walk = scan_enter(row); scan_member(&walk, &key, &value);) {
        if (!scan_string_is(key, slice_of(name)))
            continue;
        if (out->kind != SCAN_NONE)
            return given_twice(name, err);
        *out = value;
    }
    return CARDBOX_OK;
}

static cardbox_status read_kind(import_item *item, scan_value kind, cardbox_error *err)
{
    if (kind.kind == SCAN_NONE)
        return error_set(err, CARDBOX_INVALID,
                         "the row has no kind: card, box, session_entry, usage, session, task, "
                         "message or call");
    if (kind.kind != SCAN_STRING)
        return member_wrong_kind(err, "kind", "a string", kind);
    for (int i = 0; i < TRANSFER_OTHER; i++)
        if (scan_string_is(kind.text, slice_of(MEMBER_KINDS[i].name)))
            item->kind = (transfer_kind)i;
    if (item->kind != TRANSFER_OTHER)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "unknown kind %.*s", error_shown(kind.text),
                     kind.text.ptr);
}

/* Sets the tenant of a row: the tenant of the import or, if the import has none, the row's
 * tenant_id. */
static cardbox_status read_tenant(import_item *item, scan_value named, const char *tenant,
                                  bool only_own, cardbox_error *err)
{
    if (tenant == NULL)
        return member_read_text(item, named, "tenant_id", CARDBOX_TENANT_MAX, &item->tenant, err);
    item->tenant = slice_of(tenant);
    if (!only_own || named.kind == SCAN_NONE || named.kind == SCAN_NULL ||
        (named.kind == SCAN_STRING && scan_string_is(named.text, item->tenant)))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "tenant_id names another project than the request's");
}

static void count_ignored(import_item *item, slice key)
{
    if (item->ignored++ == 0)
        snprintf(item->ignored_name, sizeof(item->ignored_name), "%.*s",
                 (int)slice_cut(key, sizeof(item->ignored_name) - 1), key.ptr);
}

static cardbox_status find_values(scan_value values[MEMBERS_MAX], import_item *item, scan_value row,
                                  cardbox_error *err)
{
    const member *members = MEMBER_KINDS[item->kind].members;
    slice key;
    scan_value value;
    for (scan_walk walk = scan_enter(row); scan_member(&walk, &key, &value);) {
        size_t i = 0;
        while (members[i].name != NULL && !scan_string_is(key, slice_of(members[i].name)))
            i++;
        if (members[i].name != NULL && values[i].kind != SCAN_NONE)
            return given_twice(members[i].name, err);
        if (members[i].name != NULL)
            values[i] = value;
        else if (!scan_string_is(key, SLICE("kind")) && !scan_string_is(key, SLICE("tenant_id")))
            count_ignored(item, key);
    }
    return CARDBOX_OK;
}

static cardbox_status read_members(import_item *item, scan_value row, cardbox_error *err)
{
    const member *members = MEMBER_KINDS[item->kind].members;
    scan_value values[MEMBERS_MAX] = {{SCAN_NONE, {NULL, 0}}};
    cardbox_status status = find_values(values, item, row, err);
    for (size_t i = 0; status == CARDBOX_OK && members[i].name != NULL; i++)
        status = member_read(item, &members[i], values[i], err);
    return status;
}

/* --- checks of whole rows --- */

/* Finds the JSON text of the row's content. A row has either `content`, a JSON value, or
 * `content_text`, a string that contains the JSON text. */
static cardbox_status find_content(import_item *item, scan_value *out, cardbox_error *err)
{
    scan_error fault;
    slice text;
    *out = item->content;
    if (item->content_text.kind == SCAN_NONE)
        return CARDBOX_OK;
    if (item->content.kind != SCAN_NONE)
        return error_set(err, CARDBOX_INVALID, "the row has both content and content_text");
    if (item->content_text.kind != SCAN_STRING || !member_decode(item, item->content_text, &text))
        return member_wrong_kind(err, "content_text", "a string of JSON", item->content_text);
    if (!scan_check(text, CARDBOX_JSON_DEPTH_MAX, out, NULL, &fault))
        return error_json(err, "content_text", &fault);
    out->text = text;
    return CARDBOX_OK;
}

/* If the row is from an export of CardBox (`exact`), its content is stored unchanged, even null. In
 * other rows null is SQL's NULL and is rejected, and content that fits a class is converted to the
 * class's stored form. */
static cardbox_status check_card(import_item *item, cardbox_error *err)
{
    content_error fault;
    scan_value value;
    cardbox_status status = find_content(item, &value, err);
    if (status != CARDBOX_OK)
        return status;
    if (value.kind == SCAN_NONE)
        return member_wrong_kind(err, "content", "", value);
    if (value.kind == SCAN_NULL && !item->exact)
        return error_set(err, CARDBOX_INVALID, "content is null: nobody can read such a card");
    slice content = value.text;
    if (content.len > CARDBOX_CONTENT_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "content has %zu bytes, the limit is %u",
                         content.len, CARDBOX_CONTENT_MAX);
    if (!item->exact && content_class_of(value) != NULL &&
        content_normalise(&item->normal, content, &fault)) {
        if (!buf_ok(&item->normal))
            return error_buf(err, &item->normal, "content");
        content = buf_as_slice(&item->normal);
    }
    item->card.content = content;
    item->card.tenant = item->tenant;
    return CARDBOX_OK;
}

static cardbox_status check_box(const box_input *box, cardbox_error *err)
{
    if (box_is_own_parent(&box->box_id, box->parent_ids))
        return error_set(err, CARDBOX_INVALID, "parent_ids: " BOX_OWN_PARENT);
    /* If the row has no created_at, updated_at becomes the creation time of a new box. */
    if (box->has_updated && !box->has_created)
        return check_not_ahead("updated_at", box->updated_micros, err);
    return CARDBOX_OK;
}

/* Checks that a row's content can be the entry that the row names. */
static cardbox_status check_entry(const session_line_input *row, cardbox_error *err)
{
    const char *reason = NULL;
    arena memory = ARENA_INIT;
    session_line line;
    session_entry entry;
    cardbox_status status = CARDBOX_OK;

    if (row->content.len > SESSION_LINE_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "content has %zu bytes, the limit is %u",
                         row->content.len, SESSION_LINE_MAX);
    if (!session_line_from_store(&line, row->content) ||
        !session_entry_read(&entry, &line, SLICE(""), &memory, &reason))
        status = reason == NULL ? error_nomem(err)
                                : error_set(err, CARDBOX_INVALID, "content: %s", reason);
    else if (!entry.id_is_made && !slice_equal(entry.id, row->entry_id))
        status = error_set(err, CARDBOX_INVALID, "content has another id than entry_id");
    arena_reset(&memory);
    return status;
}

static cardbox_status check_line(const session_line_input *row, cardbox_error *err)
{
    bool is_entry = row->entry_id.ptr != NULL;
    if (row->number < 0 || row->number > CARDBOX_SESSION_LINES_MAX)
        return error_set(err, CARDBOX_INVALID, "line must be 0 to %d, not %lld",
                         CARDBOX_SESSION_LINES_MAX, (long long)row->number);
    if (is_entry != (row->content.ptr != NULL) || is_entry == (row->bytes.len > 0))
        return error_set(err, CARDBOX_INVALID,
                         "the row must have either entry_id and content, or bytes or bytes_base64");
    return is_entry ? check_entry(row, err) : CARDBOX_OK;
}

static cardbox_status check_session(const session_input *session, cardbox_error *err)
{
    if (session->dialect.ptr != NULL && session_dialect_named(session->dialect) < 0)
        return error_set(err, CARDBOX_INVALID,
                         "dialect must be plain, pi, claude or codex, not %.*s",
                         (int)session->dialect.len, session->dialect.ptr);
    if (session->version < 1 || session->version > VERSION_MAX)
        return error_set(err, CARDBOX_INVALID, "version must be 1 to %lld, not %lld",
                         (long long)VERSION_MAX, (long long)session->version);
    return CARDBOX_OK;
}

ledger_batch item_ledger_batch(const import_item *item)
{
    return (ledger_batch){.tenant = item->tenant,
                          .tasks = &item->task,
                          .messages = &item->message,
                          .calls = &item->call,
                          .task_count = item->kind == TRANSFER_TASK,
                          .message_count = item->kind == TRANSFER_MESSAGE,
                          .call_count = item->kind == TRANSFER_CALL};
}

static bool is_cost(slice text)
{
    scan_value value;

    return text.ptr == NULL || (text.len <= USAGE_COST_MAX &&
                                scan_check(text, 1, &value, NULL, NULL) && usage_is_cost(value));
}

static cardbox_status check_usage(const usage_input *row, cardbox_error *err)
{
    if (!slice_equal(row->source, SLICE("session")) && !slice_equal(row->source, SLICE("task")))
        return error_set(err, CARDBOX_INVALID, "source must be session or task");
    if (!usage_is_day(row->day))
        return error_set(err, CARDBOX_INVALID, "day must be a day, YYYY-MM-DD");
    if (row->input < 0 || row->input > USAGE_MAX || row->cached < 0 || row->cached > USAGE_MAX ||
        row->output < 0 || row->output > USAGE_MAX)
        return error_set(err, CARDBOX_INVALID, "a number of tokens must be 0 to 2^53");
    if (!is_cost(row->cost))
        return error_set(err, CARDBOX_INVALID, "cost must be the text of a number from 0 to 2^53");
    return CARDBOX_OK;
}

static cardbox_status check_row(import_item *item, cardbox_error *err)
{
    ledger_batch batch = item_ledger_batch(item);
    switch (item->kind) {
    case TRANSFER_CARD:
        return check_card(item, err);
    case TRANSFER_BOX:
        return check_box(&item->box, err);
    case TRANSFER_SESSION_ENTRY:
        return check_line(&item->line, err);
    case TRANSFER_USAGE:
        return check_usage(&item->usage, err);
    case TRANSFER_SESSION:
        return check_session(&item->session, err);
    default:
        return ledger_check(&batch, err);
    }
}

/* --- lines --- */

static cardbox_status adopt_line(import_item *out, slice line, buf *line_buf, cardbox_error *err)
{
    if (line_buf != NULL && line.ptr == line_buf->data && line.len == line_buf->len) {
        out->text = *line_buf;
        *line_buf = BUF_INIT(line_buf->max);
    } else {
        buf_slice(&out->text, line);
    }
    buf_reserve(&out->decoded, line.len + 1);
    if (buf_ok(&out->text) && buf_ok(&out->decoded))
        return CARDBOX_OK;
    return error_buf(err, buf_ok(&out->text) ? &out->decoded : &out->text, "the line");
}

cardbox_status import_item_read(import_item *out, uint64_t number, slice line, buf *line_buf,
                                const char *tenant, bool only_own, cardbox_error *err)
{
    scan_value row, kind = {SCAN_NONE, {NULL, 0}}, tenant_id = {SCAN_NONE, {NULL, 0}};
    scan_error fault;
    *out = (import_item){.number = number,
                         .kind = TRANSFER_OTHER,
                         .box = {.card_ids = SLICE("[]"), .parent_ids = SLICE("[]")},
                         .text = BUF_INIT(TRANSFER_LINE_MAX),
                         .decoded = BUF_INIT(2 * TRANSFER_LINE_MAX),
                         .normal = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX)};
    cardbox_status status = adopt_line(out, line, line_buf, err);
    if (status != CARDBOX_OK)
        return status;
    /* The row adds one level of nesting to its content. */
    if (!scan_check(buf_as_slice(&out->text), CARDBOX_JSON_DEPTH_MAX + 1, &row, NULL, &fault))
        return error_json(err, "the line", &fault);
    if (row.kind != SCAN_OBJECT)
        return error_set(err, CARDBOX_INVALID, "the line must be a JSON object, not %s",
                         scan_kind_name(row.kind));
    status = find_once(&kind, row, "kind", err);
    if (status == CARDBOX_OK)
        status = read_kind(out, kind, err);
    if (status == CARDBOX_OK)
        status = find_once(&tenant_id, row, "tenant_id", err);
    if (status == CARDBOX_OK)
        status = read_tenant(out, tenant_id, tenant, only_own, err);
    if (status == CARDBOX_OK)
        status = read_members(out, row, err);
    return status == CARDBOX_OK ? check_row(out, err) : status;
}

void import_item_free(import_item *item)
{
    buf_free(&item->text);
    buf_free(&item->decoded);
    buf_free(&item->normal);
}

size_t import_item_bytes(const import_item *item)
{
    return item->text.len + item->normal.len;
}

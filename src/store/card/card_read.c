/*
 * card_read.c: parameters and rows of the statements that read cards.
 */
#include "store/card/card_read.h"

#include "cardbox/limits.h"

void cards_get_params(params *p, const card_key *keys, size_t count)
{
    params_column(p, PARAMS_TEXT, keys, count, PARAMS_FIELD(card_key, tenant));
    params_column(p, PARAMS_TEXT, keys, count, PARAMS_FIELD(card_key, card_id));
    params_column(p, PARAMS_INT8, keys, count, PARAMS_FIELD(card_key, etag));
}

void card_row_read(card_row *out, const store_rows *rows, int row, int first)
{
    *out = (card_row){.card_id = rows_text(rows, row, first + CARD_COL_ID)};
    if (out->card_id.ptr == NULL)
        return;
    out->content = rows_text(rows, row, first + CARD_COL_CONTENT);
    out->tool_calls = rows_jsonb(rows, row, first + CARD_COL_TOOL_CALLS);
    out->tool_call_id = rows_text(rows, row, first + CARD_COL_TOOL_CALL_ID);
    out->metadata = rows_jsonb(rows, row, first + CARD_COL_METADATA);
    out->has_ttl = !rows_null(rows, row, first + CARD_COL_TTL);
    out->ttl_seconds = rows_int4(rows, row, first + CARD_COL_TTL);
    out->has_expiry = !rows_null(rows, row, first + CARD_COL_EXPIRES);
    out->expires_micros = rows_micros(rows, row, first + CARD_COL_EXPIRES);
    out->created_micros = rows_micros(rows, row, first + CARD_COL_CREATED);
    out->sealed = rows_bool(rows, row, first + CARD_COL_SEALED);
}

/* --- lists --- */

static void put_call_ids(params *p, const card_list *list)
{
    if (list->call_count == 0) {
        params_null(p);
        return;
    }
    params_column(p, PARAMS_TEXT, list->call_ids, list->call_count, sizeof(slice), 0);
}

static void put_matches(params *p, const card_list *list)
{
    buf json = BUF_INIT((size_t)CARDBOX_FILTERS_MAX * 16 * CARDBOX_KEY_MAX);
    if (list->match_count == 0) {
        params_null(p);
        return;
    }
    for (size_t i = 0; i < list->match_count; i++) {
        buf_char(&json, i == 0 ? '{' : ',');
        buf_json_string(&json, list->matches[i].key);
        buf_char(&json, ':');
        buf_json_string(&json, list->matches[i].value);
    }
    buf_char(&json, '}');
    params_jsonb(p, buf_as_slice(&json));
    params_made_of(p, &json);
    buf_free(&json);
}

void cards_list_params(params *p, const card_list *list)
{
    params_text(p, list->tenant);
    params_text_or_null(p, list->step_id);
    params_text_or_null(p, list->type);
    params_text_or_null(p, list->trace_id);
    params_text_or_null(p, list->agent_turn_id);
    params_text_or_null(p, list->role);
    put_call_ids(p, list);
    put_matches(p, list);
    params_timestamptz_or_null(p, list->has_after, list->after_micros);
    params_timestamptz_or_null(p, list->has_before, list->before_micros);
    params_timestamptz_or_null(p, list->from.given, list->from.micros);
    params_text_or_null(p, list->from.id);
    params_int8(p, list->limit + 1);
    params_int8(p, CARDBOX_LIST_WALK_MAX);
}

void card_page_read(card_page *out, const store_rows *rows, int64_t limit)
{
    int last;
    *out = (card_page){.count = list_page_count(&last, rows, limit)};
    if (last >= 0) {
        card_row card;
        card_row_read(&card, rows, last, CARD_FIRST);
        out->next = (list_cursor){true, card.created_micros, card.card_id};
    }
}

void card_revisions_params(params *p, const history *h)
{
    params_text(p, h->tenant);
    params_text(p, h->card_id);
    params_int8(p, h->before);
    params_int8(p, h->limit + 1);
}

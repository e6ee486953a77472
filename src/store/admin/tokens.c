/*
 * tokens.c: runs the statements of tokens.h, and has the names of scopes. No function of this file
 * receives the secret of a token.
 */
#include "store/admin/tokens.h"

#include <stdlib.h>
#include "cardbox/limits.h"
#include "store/client/call.h"

static const struct {
    const char *name;
    token_scope scope;
} SCOPES[] = {
    {"read", TOKEN_READ}, {"write", TOKEN_WRITE}, {"tasks", TOKEN_TASKS}, {"admin", TOKEN_ADMIN}};

enum { SCOPE_COUNT = sizeof(SCOPES) / sizeof(SCOPES[0]) };

static unsigned scope_of(slice name)
{
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        if (slice_equal(slice_of(SCOPES[i].name), name))
            return SCOPES[i].scope;
    return 0;
}

bool token_scopes_parse(unsigned *out, slice list)
{
    *out = 0;
    for (;;) {
        const char *comma = list.len == 0 ? NULL : memchr(list.ptr, ',', list.len);
        slice name = {list.ptr, comma == NULL ? list.len : (size_t)(comma - list.ptr)};
        unsigned scope = scope_of(name);
        if (scope == 0)
            return false;
        *out |= scope;
        if (comma == NULL)
            return true;
        list = (slice){comma + 1, list.len - name.len - 1};
    }
}

static cardbox_status explain_forbidden(cardbox_status status, cardbox_error *err)
{
    if (status != CARDBOX_FORBIDDEN)
        return status;
    return error_set(err, status, "this database role may not make or revoke tokens");
}

/* --- making --- */

static cardbox_status check_input(const token_input *input, cardbox_error *err)
{
    cardbox_status status = check_id("name", input->name, TOKEN_NAME_MAX, err);
    if (status == CARDBOX_OK && input->name[strspn(input->name, "0123456789")] == '\0')
        status = error_set(err, CARDBOX_INVALID,
                           "name must not be a number, which would look like an id");
    for (size_t i = 0; status == CARDBOX_OK && i < input->tenant_count; i++)
        status = check_id("tenant", input->tenants[i], CARDBOX_TENANT_MAX, err);
    return status;
}

static void add_lists(params *p, const token_input *input)
{
    if (input->tenants == NULL) {
        params_null(p);
    } else {
        params_array(p, PARAMS_TEXT);
        for (size_t i = 0; i < input->tenant_count; i++)
            params_cstr(p, input->tenants[i]);
        params_array_end(p);
    }
    params_array(p, PARAMS_TEXT);
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        if ((input->scopes & SCOPES[i].scope) != 0)
            params_cstr(p, SCOPES[i].name);
    params_array_end(p);
}

cardbox_status tokens_create(token_made *out, cardbox *db, const token_input *input,
                             cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_input(input, err);
    if (status != CARDBOX_OK)
        return status;
    params_cstr(&p, input->name);
    params_text(&p, (slice){(const char *)input->hash, TOKEN_HASH_SIZE});
    add_lists(&p, input);
    params_int8_or_null(&p, input->lifetime_s > 0, input->lifetime_s);
    params_timestamptz_or_null(&p, input->expires_micros != 0, input->expires_micros);
    status = client_run(db, STATEMENT_token_create, &p, RUN_ONCE, &rows, err);
    if (status == CARDBOX_CONFLICT)
        return error_set(err, status,
                         "there is a token named \"%.*s\": choose another name or revoke it",
                         error_shown(slice_of(input->name)), input->name);
    if (status != CARDBOX_OK)
        return explain_forbidden(status, err);
    out->id = rows_int8(rows, 0, 0);
    out->expires_micros = rows_null(rows, 0, 2) ? 0 : rows_micros(rows, 0, 2);
    rows_free(rows);
    return CARDBOX_OK;
}

/* --- listing and revoking --- */

cardbox_status tokens_list(store_rows **out, cardbox *db, cardbox_error *err)
{
    return client_run(db, STATEMENT_token_list, NULL, RUN_AGAIN, out, err);
}

cardbox_status tokens_revoke(int64_t *out, cardbox *db, const char *id_or_name, cardbox_error *err)
{
    store_rows *rows = NULL;
    int64_t id = 0;
    params p = PARAMS_INIT;
    cardbox_status status = check_id("name", id_or_name, TOKEN_NAME_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    size_t digits = strspn(id_or_name, "0123456789");
    if (digits > 0 && digits < 19 && id_or_name[digits] == '\0')
        id = strtoll(id_or_name, NULL, 10);
    if (id > 0) {
        params_int8(&p, id);
        params_null(&p);
    } else {
        params_null(&p);
        params_cstr(&p, id_or_name);
    }
    status = client_run(db, STATEMENT_token_revoke, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 0)
        status = error_set(err, CARDBOX_NOT_FOUND,
                           "no token has the id or name \"%.*s\", or it was revoked; see "
                           "`cardbox token list`",
                           error_shown(slice_of(id_or_name)), id_or_name);
    if (status == CARDBOX_OK)
        *out = rows_int8(rows, 0, 0);
    rows_free(rows);
    return explain_forbidden(status, err);
}

/* --- watching --- */

cardbox_status tokens_watch(store_rows **out, cardbox *db, int64_t known, cardbox_error *err)
{
    params p = PARAMS_INIT;
    params_int8(&p, known);
    return client_run(db, STATEMENT_tokens_changed, &p, RUN_AGAIN, out, err);
}

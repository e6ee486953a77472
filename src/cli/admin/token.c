/*
 * token.c: `cardbox token create`, `list` and `revoke`. The database receives only the SHA-256 of a
 * token's secret, so only `create` can print the secret.
 */
#include <inttypes.h>
#include <time.h>
#include "base/isotime.h"
#include "cli/admin/secret.h"
#include "cli/view/table.h"
#include "store/client/check.h"
#include "base/errors.h"

#define SECONDS_PER_DAY 86400

/* --- create --- */

static bool read_expiry(token_input *out, const char *text, cardbox_error *err)
{
    char *suffix;
    int64_t now_micros = (int64_t)time(NULL) * 1000000;
    long number = text[strspn(text, "0123456789")] == '\0' ? 0 : strtol(text, &suffix, 10);
    bool is_days = number > 0 && number <= 36500 && strcmp(suffix, "d") == 0;
    bool is_hours = number > 0 && number <= 876000 && strcmp(suffix, "h") == 0;

    if (is_days || is_hours) {
        out->lifetime_s = number * (is_days ? SECONDS_PER_DAY : 3600);
        return true;
    }
    if (check_time("--expires", slice_of(text), &out->expires_micros, err) != CARDBOX_OK)
        error_set(err, CARDBOX_INVALID,
                  "--expires takes 30d, 12h or a time like 2030-01-31T00:00:00Z, not \"%.*s\"",
                  error_shown(slice_of(text)), text);
    else if (out->expires_micros <= now_micros)
        error_set(err, CARDBOX_INVALID, "--expires %s is in the past", text);
    else
        return true;
    return false;
}

static bool read_options(token_input *out, cli_call *call)
{
    out->name = call->name;
    out->tenants = call->all_tenants ? NULL : call->tenants.at;
    out->tenant_count = call->tenants.count;
    if (call->name == NULL)
        error_set(&call->err, CARDBOX_INVALID, "the token needs a name: give --name NAME");
    else if (call->all_tenants == (call->tenants.count > 0))
        error_set(&call->err, CARDBOX_INVALID,
                  "the token needs projects: give either --tenant PROJECT once or several times, "
                  "or --all-tenants");
    else if (!token_scopes_parse(&out->scopes, slice_of(call->scope)))
        error_set(&call->err, CARDBOX_INVALID,
                  "--scope takes read, write, tasks and admin with commas between, not \"%.*s\"",
                  error_shown(slice_of(call->scope)), call->scope);
    else
        return call->expires == NULL || read_expiry(out, call->expires, &call->err);
    return false;
}

/* Without --json, prints only the secret on stdout, so that scripts can read it. */
static cli_exit print_made(cli_call *call, const token_made *made, const char *secret)
{
    char until[ISOTIME_SIZE] = "never";
    bool expires = made->expires_micros != 0;

    if (expires)
        isotime_format_micros(until, made->expires_micros);
    if (call->json)
        return cli_print_json(json_pack("{s:I, s:s, s:s, s:s?}", "token_id", (json_int_t)made->id,
                                        "name", call->name, "token", secret, "expires_at",
                                        expires ? until : NULL));
    puts(secret);
    cli_note("token %" PRId64 ", %s, expires: %s; the secret is shown only once", made->id,
             call->name, until);
    return CLI_DONE;
}

static cli_exit create_token(cli_call *call)
{
    char secret[TOKEN_TEXT_SIZE + 1];
    unsigned char hash[TOKEN_HASH_SIZE];
    token_input input = {.hash = hash};
    token_made made;

    if (!read_options(&input, call)) {
        cli_error("%s", call->err.message);
        return CLI_USAGE;
    }
    if (!secret_make(secret, hash))
        return cli_error_and(CLI_FAILED, "the system has no random numbers, or can't hash them");
    if (tokens_create(&made, call->db, &input, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    return print_made(call, &made, secret);
}

const cli_command cli_token_create = {
    .name = "token create",
    .summary = "make a token for the HTTP API",
    .description = "Prints the secret of the token on stdout; it can't be shown again. No scope "
                   "includes another one: write does not include read. Run the command as the role "
                   "that migrates the database: a server's role may not make tokens.",
    .examples = "token create --name web --tenant demo\n"
                "token create --name importer --tenant a --tenant b --scope read,write --expires "
                "30d\n"
                "token create --name operator --all-tenants --scope read,write,tasks,admin --json",
    .options = CLI_IN_DATABASE(
        CLI_TEXT("name", name, "NAME", "the token's name, unique among unrevoked tokens"),
        CLI_LIST("tenant", tenants, "PROJECT",
                 "a project for which the token is valid; may be repeated"),
        CLI_FLAG("all-tenants", all_tenants, "the token is valid for every project"),
        CLI_TEXT("scope", scope, "SCOPES", "one or more of read,write,tasks,admin (default read)"),
        CLI_TEXT("expires", expires, "WHEN",
                 "when it expires: 30d, 12h or a time (default never)")),
    .origins = {{"name", "--name"}, {"tenant", "--tenant"}},
    .run = create_token,
};

/* --- list --- */

static const char *state_of(const store_rows *rows, int row)
{
    if (!rows_null(rows, row, TOKEN_REVOKED))
        return "revoked";
    return rows_bool(rows, row, TOKEN_IS_EXPIRED) ? "expired" : "good";
}

static const char *moment_of(char out[ISOTIME_SIZE], const store_rows *rows, int row, int column)
{
    if (rows_null(rows, row, column))
        return NULL;
    isotime_format_micros(out, rows_micros(rows, row, column));
    return out;
}

static void add_token_row(table *t, const void *rows, size_t i)
{
    int row = (int)i;
    const char *state = state_of(rows, row);
    slice tenants = rows_text(rows, row, TOKEN_TENANTS_TEXT);
    char created[ISOTIME_SIZE], expires[ISOTIME_SIZE];
    const char *end = moment_of(expires, rows, row, TOKEN_EXPIRES);

    table_int(t, rows_int8(rows, row, TOKEN_ID));
    table_add(t, rows_text(rows, row, TOKEN_NAME), STYLE_BOLD);
    table_add(t, tenants.ptr == NULL ? SLICE("all") : tenants, STYLE_PLAIN);
    table_add(t, rows_text(rows, row, TOKEN_SCOPES_TEXT), STYLE_PLAIN);
    table_text(t, moment_of(created, rows, row, TOKEN_CREATED));
    table_text(t, end != NULL ? end : "never");
    table_add(t, slice_of(state), *state == 'g' ? STYLE_GREEN : STYLE_DIM);
}

/* Parses a column that contains a JSON array. SQL's NULL becomes the value null of JSON. */
static json_t *list_of(slice text)
{
    json_error_t unused;

    return text.ptr == NULL ? json_null() : json_text_read(text, 0, &unused);
}

static void add_token_object(buf *out, const void *rows, size_t i)
{
    int row = (int)i;
    char created[ISOTIME_SIZE], expires[ISOTIME_SIZE], revoked[ISOTIME_SIZE];
    slice name = rows_text(rows, row, TOKEN_NAME);

    buf_json_take(out, json_pack("{s:I, s:s%, s:o, s:o, s:s?, s:s?, s:s?, s:s}", "token_id",
                                 (json_int_t)rows_int8(rows, row, TOKEN_ID), "name", name.ptr,
                                 name.len, "tenants", list_of(rows_text(rows, row, TOKEN_TENANTS)),
                                 "scopes", list_of(rows_text(rows, row, TOKEN_SCOPES)),
                                 "created_at", moment_of(created, rows, row, TOKEN_CREATED),
                                 "expires_at", moment_of(expires, rows, row, TOKEN_EXPIRES),
                                 "revoked_at", moment_of(revoked, rows, row, TOKEN_REVOKED),
                                 "state", state_of(rows, row)));
}

static const listing TOKENS = {.add_object = add_token_object,
                               .add_row = add_token_row,
                               .columns = {{"id", TABLE_RIGHT},
                                           {"name", TABLE_FLEXIBLE},
                                           {"projects", TABLE_LEFT},
                                           {"scopes", TABLE_LEFT},
                                           {"created", TABLE_SPARE},
                                           {"expires", TABLE_LEFT},
                                           {"state", TABLE_LEFT}}};

static cli_exit list_tokens(cli_call *call)
{
    store_rows *rows = NULL;

    if (tokens_list(&rows, call->db, &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit status = listing_print(&TOKENS, rows, (size_t)rows_count(rows), NULL, call->json,
                                    "no tokens: servers refuse all requests that need a token; "
                                    "`cardbox token create` makes one");
    rows_free(rows);
    return status;
}

const cli_command cli_token_list = {
    .name = "token list",
    .summary = "show all tokens, without their secrets",
    .examples = "token list\n"
                "token list --json",
    .options = CLI_OPTIONS(CLI_DSN, CLI_JSON),
    .run = list_tokens,
};

/* --- revoke --- */

/* Warns if no token is valid any more. */
static cardbox_status warn_if_none(cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = tokens_list(&rows, db, err);
    bool is_any = status != CARDBOX_OK;

    for (int row = 0; !is_any && row < rows_count(rows); row++)
        is_any = strcmp(state_of(rows, row), "good") == 0;
    if (!is_any)
        cli_warning("no token is valid now: servers refuse all requests that need a token; "
                    "`cardbox token create` makes one");
    rows_free(rows);
    return status;
}

static cli_exit revoke_token(cli_call *call)
{
    int64_t id = 0;

    if (tokens_revoke(&id, call->db, call->arguments[0], &call->err) != CARDBOX_OK)
        return cli_failed(call);
    cli_exit printed =
        cli_print(call->json, json_pack("{s:I, s:b}", "token_id", (json_int_t)id, "revoked", 1),
                  "token %" PRId64 " is revoked: servers refuse it within a second", id);
    return warn_if_none(call->db, &call->err) == CARDBOX_OK ? printed : cli_failed(call);
}

const cli_command cli_token_revoke = {
    .name = "token revoke",
    .arguments = "ID|NAME",
    .summary = "revoke a token",
    .description = "Servers that reach the database refuse a revoked token within a second.",
    .examples = "token revoke 3\n"
                "token revoke importer",
    .options = CLI_OPTIONS(CLI_DSN, CLI_JSON),
    .run = revoke_token,
};

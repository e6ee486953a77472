/*
 * registered.c: the ids, headers, schemas and statements of registered abilities.
 */
#include "bus/registered.h"
#include "bus/schema/schema.h"
#include "store/client/client.h"
#include "base/errors.h"

enum { PARTS_MAX = 3, HEADER_NAME_MAX = 128, HEADER_VALUE_MAX = 4096 };

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

bool registered_is_id(slice id)
{
    size_t parts = 1, part_len = 0;
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] != ':' && !is_name_byte(id.ptr[i]))
            return false;
        if (id.ptr[i] == ':' && part_len == 0)
            return false;
        parts += id.ptr[i] == ':';
        part_len = id.ptr[i] == ':' ? 0 : part_len + 1;
    }
    return id.len <= REGISTERED_ID_MAX && part_len > 0 && parts >= 2 && parts <= PARTS_MAX;
}

bool registered_is_reserved(slice id)
{
    const bus_ability *ability;
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++) {
        slice module = bus_module(ability);
        if (id.len > module.len && id.ptr[module.len] == ':' &&
            slice_equal(module, (slice){id.ptr, module.len}))
            return true;
    }
    return false;
}

bool registered_is_possible(slice id)
{
    return registered_is_id(id) && !registered_is_reserved(id);
}

/* --- headers --- */

/* Headers of a call that the server sets itself, or that belong to the connection. */
static const char *const RESERVED_HEADERS[] = {"Content-Type", "Content-Length",
                                               "X-Project-Id", "X-Call-Id",
                                               "X-Caller-Id",  "Host",
                                               "Connection",   "Keep-Alive",
                                               "Expect",       "Transfer-Encoding",
                                               "TE",           "Trailer",
                                               "Upgrade",      "Proxy-Authorization"};

static char header_byte(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

/* Servers that pass headers on as variables, as CGI does, map `_` and `-` to the same character. So
 * X_Project_Id is reserved too. */
static bool is_reserved_header(slice name)
{
    for (size_t i = 0; i < sizeof(RESERVED_HEADERS) / sizeof(RESERVED_HEADERS[0]); i++) {
        const char *reserved = RESERVED_HEADERS[i];
        size_t same = 0;
        while (same < name.len && reserved[same] != '\0' &&
               header_byte(name.ptr[same]) == header_byte(reserved[same]))
            same++;
        if (same == name.len && reserved[same] == '\0')
            return true;
    }
    return false;
}

/* A name of a header is a token of RFC 9110. */
static bool is_header_name(slice name)
{
    static const char OTHERS[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_letter && (c == '\0' || strchr(OTHERS, c) == NULL))
            return false;
    }
    return name.len > 0 && name.len <= HEADER_NAME_MAX && !is_reserved_header(name);
}

static bool is_header_value(slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < ' ' || value.ptr[i] > '~')
            return false;
    return value.len > 0 && value.len <= HEADER_VALUE_MAX && value.ptr[0] != ' ' &&
           value.ptr[value.len - 1] != ' ';
}

bool registered_is_header(slice name_token, scan_value value)
{
    buf name = BUF_INIT(HEADER_NAME_MAX), text = BUF_INIT(HEADER_VALUE_MAX);
    bool is_good = value.kind == SCAN_STRING && scan_decode(&name, name_token) &&
                   scan_decode(&text, value.text) && buf_ok(&name) && buf_ok(&text) &&
                   is_header_name(buf_as_slice(&name)) && is_header_value(buf_as_slice(&text));
    buf_free(&name);
    buf_free(&text);
    return is_good;
}

/* --- schemas --- */

cardbox_status registered_check(buf *unchecked, const char **member,
                                const registered_ability *definition, cardbox_error *err)
{
    schema_names names = {.count = 0};
    *member = "inputSchema";
    cardbox_status status = schema_check(&names, definition->input_schema, err);
    if (status == CARDBOX_OK) {
        *member = "outputSchema";
        status = schema_check(&names, definition->output_schema, err);
    }
    if (status == CARDBOX_OK && names.has_more)
        status = error_set(err, CARDBOX_INVALID, "the schemas have over %d unknown keywords",
                           SCHEMA_NAMES_MAX);
    buf_char(unchecked, '[');
    for (size_t i = 0; i < names.count; i++) {
        buf_comma(unchecked);
        buf_json_quoted(unchecked, names.name[i]);
    }
    buf_char(unchecked, ']');
    return status;
}

/* --- statements --- */

void registered_get_params(params *p, const registered_ids *wanted)
{
    params_text(p, wanted->tenant);
    params_column(p, PARAMS_TEXT, wanted->ids, wanted->count, sizeof(slice), 0);
}

void registered_row(registered_ability *out, const store_rows *rows, int row)
{
    *out = (registered_ability){.id = rows_text(rows, row, 0),
                                .description = rows_text(rows, row, 1),
                                .input_schema = rows_text(rows, row, 2),
                                .output_schema = rows_text(rows, row, 3),
                                .url = rows_text(rows, row, 4),
                                .headers = rows_text(rows, row, 5),
                                .timeout_ms = rows_int4(rows, row, 6),
                                .unchecked = rows_text(rows, row, 7)};
}

cardbox_status registered_read(store_rows **rows, cardbox *db, const registered_ids *wanted,
                               cardbox_error *err)
{
    params p = PARAMS_INIT;
    registered_get_params(&p, wanted);
    return client_run(db, STATEMENT_abilities_get, &p, RUN_AGAIN, rows, err);
}

void registered_save_params(params *p, slice tenant, const registered_ability *definition)
{
    params_text(p, tenant);
    params_text(p, definition->id);
    params_text(p, definition->description);
    params_text(p, definition->input_schema);
    params_text(p, definition->output_schema);
    params_text(p, definition->url);
    params_text(p, definition->headers);
    params_int4(p, definition->timeout_ms);
    params_text(p, definition->unchecked);
    params_int4(p, REGISTERED_COUNT_MAX);
}

void registered_delete_params(params *p, slice tenant, slice id)
{
    params_text(p, tenant);
    params_text(p, id);
}

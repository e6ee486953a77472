/*
 * ability_register.c: registers, describes and deletes registered abilities. ability_calls.c
 * invokes them.
 */
#include "bus/describe.h"
#include "outbound/net.h"
#include "server/api/handlers.h"

/* --- the definition in a request --- */

enum { A_DESCRIPTION, A_INPUT, A_OUTPUT, A_URL, A_HEADERS, A_TIMEOUT, ABILITY_FIELDS };

enum { DESCRIPTION_MAX = 16 * 1024 };

static const field ABILITY[ABILITY_FIELDS] = {
    [A_DESCRIPTION] = {"description", FIELD_TEXT, .required = true, .most = DESCRIPTION_MAX},
    [A_INPUT] = {.name = "inputSchema", .kind = FIELD_OBJECT, .required = true},
    [A_OUTPUT] = {.name = "outputSchema", .kind = FIELD_OBJECT, .required = true},
    [A_URL] = {"url", FIELD_TEXT, .required = true, .most = REGISTERED_URL_MAX},
    [A_HEADERS] = {.name = "headers", .kind = FIELD_OBJECT},
    [A_TIMEOUT] = {"timeoutMs", FIELD_INTEGER, .least = 1, .most = REGISTERED_TIMEOUT_MS_MAX},
};

/* Appends the headers, without the white space between tokens. */
static bool read_headers(request *r, buf *out, const field_value *body)
{
    slice name;
    scan_value value;
    size_t count = 0;
    if (!body[A_HEADERS].given)
        return buf_text(out, "{}"), true;
    for (scan_walk walk = scan_enter(body[A_HEADERS].json); scan_member(&walk, &name, &value);)
        if (!registered_is_header(name, value) || ++count > REGISTERED_HEADERS_MAX)
            return handler_refuse(
                r, "body", "headers", "value_error",
                "Input should be an object with up to 32 headers. A value should be "
                "1 to 4096 visible ASCII characters, with blanks only in between. "
                "Headers of the connection, Content-Type and the X-headers of a "
                "call can't be set");
    scan_compact(out, body[A_HEADERS].json.text);
    return true;
}

/* Checks the schemas, and refuses one that is not valid with the location of the error. */
static bool check_schemas(request *r, buf *unchecked, const registered_ability *definition)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    const char *member;
    cardbox_status status = registered_check(unchecked, &member, definition, &err);
    if (status != CARDBOX_OK)
        return handler_refuse(r, "body", member, "value_error", err.message);
    return true;
}

/* Checks the id in the path of a change. False: the request was answered with an error, and with
 * `hint` if the id is in a module of built-in abilities. */
static bool check_id(request *r, const char *hint)
{
    slice id = r->match.params[1];
    if (!registered_is_id(id))
        return handler_refuse(
            r, "path", "ability_id", "value_error",
            "Input should be module:verb or module:entity:verb, at most 60 letters, "
            "digits, '_', '-' and ':'");
    if (registered_is_reserved(id))
        return http_error_send(r, HTTP_ERROR_CONFLICT, hint,
                               "%.*s is in a module of built-in abilities", (int)id.len, id.ptr);
    return true;
}

static bool read_definition(request *r, registered_ability *out)
{
    const field_value *body = handler_read_change(r, ABILITY, ABILITY_FIELDS, false);
    buf lines = BUF_INIT(REGISTERED_BYTES_MAX), unchecked = BUF_INIT(2 * REGISTERED_BYTES_MAX);
    if (body == NULL || !check_id(r, "use another name before the first ':'"))
        return false;
    *out =
        (registered_ability){.id = r->match.params[1],
                             .description = body[A_DESCRIPTION].text,
                             .input_schema = body[A_INPUT].json.text,
                             .output_schema = body[A_OUTPUT].json.text,
                             .url = body[A_URL].text,
                             .timeout_ms = body[A_TIMEOUT].given ? (int32_t)body[A_TIMEOUT].number
                                                                 : REGISTERED_TIMEOUT_MS};
    const char *url = arena_copy(&r->memory, out->url);
    if (url == NULL)
        return http_error_send_no_memory(r);
    if (!net_is_url(url, false))
        return handler_refuse(r, "body", "url", "value_error",
                              "Input should be an http or https URL without a user and a password");
    bool is_good = read_headers(r, &lines, body) && check_schemas(r, &unchecked, out);
    out->headers = arena_keep(&r->memory, &lines);
    out->unchecked = arena_keep(&r->memory, &unchecked);
    if (is_good && r->memory.failed)
        return http_error_send_no_memory(r);
    return is_good;
}

/* --- register --- */

static void save_params(params *p, const void *keys)
{
    const request *r = keys;
    registered_save_params(p, request_tenant(r), r->plan);
}

static void answer_saved(request *r, const batch_rows *found)
{
    if (!rows_bool(found->rows, found->row[0], 0)) {
        http_error_send(r, HTTP_ERROR_CONFLICT, "delete one with DELETE .../abilities/{ability}",
                        "the project has %d registered abilities, which is the maximum",
                        REGISTERED_COUNT_MAX);
        return;
    }
    describe_registered(request_body(r), r->plan, true);
    request_finish(r);
}

static void put_in_thread(request *r, void *arg)
{
    registered_ability *definition = handler_take(r, 1, sizeof(*definition));
    (void)arg;
    if (definition == NULL || !read_definition(r, definition))
        return;
    r->plan = definition;
    r->ticket.replayable = true;
    handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_ability_save, save_params, r,
                         answer_saved);
}

/* A helper thread checks the schemas, which may take long. */
void handle_ability_put(request *r)
{
    if (r->body.len > REGISTERED_BYTES_MAX)
        http_error_send(r, HTTP_ERROR_TOO_LARGE, NULL,
                        "the definition of an ability is over the limit of %d bytes",
                        REGISTERED_BYTES_MAX);
    else if (r->job.in_thread || r->jobs == NULL)
        put_in_thread(r, NULL);
    else
        jobs_add(r, JOB_COMPUTE, put_in_thread, NULL, NULL);
}

/* --- describe --- */

static void get_params(params *p, const void *keys)
{
    const request *r = keys;
    registered_get_params(p, &(registered_ids){request_tenant(r), &r->match.params[1], 1});
}

void handler_queue_registered(request *r, batch_render render)
{
    if (registered_is_possible(r->match.params[1]))
        handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_abilities_get, get_params, r, render);
    else
        handler_answer_no_ability(r);
}

static void answer_described(request *r, const batch_rows *found)
{
    registered_ability definition;
    if (rows_count(found->rows) == 0) {
        handler_answer_no_ability(r);
        return;
    }
    registered_row(&definition, found->rows, 0);
    describe_registered(request_body(r), &definition, r->is_admin);
    request_tag(r, 0);
    request_finish(r);
}

void handler_describe_registered(request *r)
{
    handler_queue_registered(r, answer_described);
}

/* --- delete --- */

static void delete_params(params *p, const void *keys)
{
    const request *r = keys;
    registered_delete_params(p, request_tenant(r), r->match.params[1]);
}

static void answer_deleted(request *r, const batch_rows *found)
{
    if (rows_count(found->rows) == 0) {
        handler_answer_no_ability(r);
        return;
    }
    buf_text(request_body(r), "{\"ability_id\":");
    buf_json_string(request_body(r), r->match.params[1]);
    buf_text(request_body(r), ",\"deleted\":true}");
    request_finish(r);
}

void handle_ability_delete(request *r)
{
    if (handler_no_query(r) && check_id(r, "a built-in ability can't be deleted"))
        handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_ability_delete, delete_params, r,
                             answer_deleted);
}

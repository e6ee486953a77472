/*
 * schema.c: checks a JSON Schema itself, by the table of keywords, so that an invalid schema is
 * found when the schema is loaded. Also contains the functions that checking schemas and checking
 * values share: locations, errors, types and references.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/text.h"
#include "bus/schema/schema_internal.h"
#include "cardbox/limits.h"
#include "base/errors.h"

/* --- faults --- */

/* Returns whether the name of a member is a string token, not the text of the name. */
static bool is_token(slice key)
{
    return key.len >= 2 && key.ptr[0] == '"';
}

/* Appends the name of a member, given as text or as a string token, as a step of a JSON pointer. */
static void put_step(buf *out, slice key)
{
    buf plain = BUF_INIT(CARDBOX_MESSAGE_SIZE);
    if (!is_token(key))
        buf_slice(&plain, key);
    else if (!scan_decode(&plain, key))
        buf_slice(&plain, scan_inside(key));
    if (plain.failure != BUF_FINE)
        buf_text(out, "...");
    for (size_t i = 0; buf_ok(&plain) && i < plain.len; i++) {
        if (plain.data[i] == '~')
            buf_text(out, "~0");
        else if (plain.data[i] == '/')
            buf_text(out, "~1");
        else
            buf_char(out, (unsigned char)plain.data[i] < 0x20 ? ' ' : plain.data[i]);
    }
    buf_free(&plain);
}

/* Appends a location to `pointer` as a JSON pointer, and to `list` as JSON values, each after a
 * comma. */
static void put_location(buf *pointer, buf *list, const schema_location *at)
{
    const schema_location *steps[4 * SCHEMA_DEPTH_MAX];
    size_t count = 0;
    for (; at->up != NULL && count < sizeof(steps) / sizeof(steps[0]); at = at->up)
        steps[count++] = at;
    while (count-- > 0) {
        const slice key = steps[count]->key;
        buf_char(pointer, '/');
        buf_char(list, ',');
        if (key.ptr == NULL) {
            buf_int(pointer, (int64_t)steps[count]->index);
            buf_int(list, (int64_t)steps[count]->index);
        } else {
            put_step(pointer, key);
            if (is_token(key))
                buf_slice(list, key);
            else
                buf_json_string(list, key);
        }
    }
}

bool schema_refuse(schema_run *run, const schema_location *at, const char *format, ...)
{
    schema_errors *errors = run->errors;
    size_t count = run->all ? errors->count : 0;
    schema_error *error = &errors->list[count];
    buf place = BUF_INIT(sizeof(error->pointer) - 1), list = BUF_INIT(sizeof(error->steps) - 1);
    va_list args;
    if (!run->all && errors->count > 0 && error->depth >= at->depth)
        return false;
    if (count == SCHEMA_ERRORS_MAX) {
        errors->more++;
        return false;
    }
    va_start(args, format);
    text_format(error->message, sizeof(error->message), format, args);
    va_end(args);
    put_location(&place, &list, at);
    snprintf(error->pointer, sizeof(error->pointer), "%s",
             buf_ok(&place) ? buf_str(&place) : "far inside");
    error->depth = at->depth;
    errors->count = count + 1;
    snprintf(error->steps, sizeof(error->steps), "%s", buf_ok(&list) ? buf_str(&list) : "");
    buf_free(&place);
    buf_free(&list);
    return false;
}

cardbox_status schema_status(const schema_errors *errors, cardbox_error *err)
{
    char text[CARDBOX_MESSAGE_SIZE];
    size_t len = 0, i = 0, room = sizeof(text) - sizeof("; 18446744073709551615 more");
    for (; i < errors->count; i++) {
        const schema_error *error = &errors->list[i];
        size_t need = strlen(error->pointer) + strlen(error->message) + 4;
        if (len + need > room)
            break;
        len +=
            (size_t)snprintf(text + len, need + 1, "%s%s%s%s", i == 0 ? "" : "; ", error->pointer,
                             error->pointer[0] == '\0' ? "" : ": ", error->message);
    }
    if (errors->more >= SCHEMA_MORE_MAX)
        snprintf(text + len, sizeof(text) - len, "; and more");
    else if (i < errors->count || errors->more > 0)
        snprintf(text + len, sizeof(text) - len, "; %zu more", errors->count - i + errors->more);
    return error_set(err, CARDBOX_INVALID, "%s", text);
}

/* --- types --- */

static const struct {
    slice name;
    unsigned kinds; /* bits of scan_kind */
} TYPES[] = {
    {SLICE("integer"), 1u << SCAN_NUMBER},
    {SLICE("null"), 1u << SCAN_NULL},
    {SLICE("boolean"), 1u << SCAN_FALSE | 1u << SCAN_TRUE},
    {SLICE("number"), 1u << SCAN_NUMBER},
    {SLICE("string"), 1u << SCAN_STRING},
    {SLICE("array"), 1u << SCAN_ARRAY},
    {SLICE("object"), 1u << SCAN_OBJECT},
};

enum { TYPE_INTEGER = 0, TYPE_COUNT = sizeof(TYPES) / sizeof(TYPES[0]) };

static size_t find_type(slice token)
{
    size_t i = 0;
    while (i < TYPE_COUNT && !scan_string_is(token, TYPES[i].name))
        i++;
    return i;
}

bool schema_is_type(scan_value value, slice token)
{
    size_t i = find_type(token);
    int64_t number;
    return i < TYPE_COUNT && (TYPES[i].kinds >> value.kind & 1) != 0 &&
           (i != TYPE_INTEGER || scan_integer(value.text, &number));
}

/* --- references --- */

/* Reads the next step of a JSON pointer, and stores it unescaped in `name`. Returns false if the
 * step is invalid, too long or percent-encoded. */
static bool read_step(slice *rest, char *name, size_t size)
{
    size_t len = 0;
    slice in = {rest->ptr + 1, rest->len - 1};
    while (in.len > 0 && in.ptr[0] != '/') {
        char c = in.ptr[0];
        size_t took = 1;
        if (c == '~') {
            if (in.len < 2 || (in.ptr[1] != '0' && in.ptr[1] != '1'))
                return false;
            c = in.ptr[1] == '0' ? '~' : '/';
            took = 2;
        }
        if (c == '%' || c == '\0' || len + 1 >= size)
            return false;
        name[len++] = c;
        in = (slice){in.ptr + took, in.len - took};
    }
    name[len] = '\0';
    *rest = in;
    return true;
}

/* Returns whether the value of the keyword `name` is a schema or a map of schemas. Sets `is_map` to
 * true for a map. */
static bool holds_schemas(const char *name, bool *is_map)
{
    buf token = BUF_INIT(2048);
    buf_json_string(&token, slice_of(name));
    const schema_keyword *keyword = schema_keyword_find(buf_as_slice(&token));
    buf_free(&token);
    *is_map = keyword != NULL && keyword->argument == ARGUMENT_MAP;
    return *is_map || (keyword != NULL && keyword->argument == ARGUMENT_SCHEMA);
}

scan_value schema_resolve(scan_value root, slice token)
{
    const scan_value none = {SCAN_NONE, {NULL, 0}};
    char name[256];
    bool is_map = false; /* `at` is a map of schemas: the next step is a key */
    buf text = BUF_INIT(1024);
    scan_value at = none;
    if (scan_decode(&text, token) && buf_ok(&text) && text.len > 0 && text.data[0] == '#') {
        slice rest = {text.data + 1, text.len - 1};
        at = root;
        while (rest.len > 0 && at.kind != SCAN_NONE) {
            bool is_good = rest.ptr[0] == '/' && read_step(&rest, name, sizeof(name));
            if (is_map)
                is_map = false;
            else
                is_good = is_good && holds_schemas(name, &is_map);
            at = is_good ? scan_find(at, name) : none;
        }
    }
    buf_free(&text);
    return is_map ? none : at;
}

/* --- the check of a schema --- */

static bool check_schema(schema_run *run, scan_value schema, const schema_location *at);

static bool check_types(schema_run *run, scan_value argument, const schema_location *at)
{
    scan_value item;
    size_t count = 0;
    if (argument.kind == SCAN_STRING && find_type(argument.text) < TYPE_COUNT)
        return true;
    for (scan_walk walk = scan_enter(argument); scan_element(&walk, &item); count++)
        if (argument.kind != SCAN_ARRAY || item.kind != SCAN_STRING ||
            find_type(item.text) == TYPE_COUNT)
            return schema_refuse(run, at, "is not a list of the names of types");
    return (argument.kind == SCAN_ARRAY && count > 0) ||
           schema_refuse(run, at, "is not the name of a type or a list of such names");
}

static bool check_names(schema_run *run, scan_value argument, const schema_location *at)
{
    scan_value item;
    size_t count = 0;
    bool is_valid = argument.kind == SCAN_ARRAY;
    for (scan_walk walk = scan_enter(argument); is_valid && scan_element(&walk, &item); count++)
        is_valid = item.kind == SCAN_STRING;
    if (is_valid && count > SCHEMA_PROPERTIES_MAX)
        return schema_refuse(run, at, "has over %d names", SCHEMA_PROPERTIES_MAX);
    return is_valid || schema_refuse(run, at, "is not a list of names");
}

static bool check_list(schema_run *run, scan_value argument, bool schemas,
                       const schema_location *at)
{
    scan_value item;
    size_t count = 0;
    if (argument.kind != SCAN_ARRAY)
        return schema_refuse(run, at, "is not a list");
    for (scan_walk walk = scan_enter(argument); scan_element(&walk, &item); count++) {
        schema_location place = schema_element(at, count);
        if (schemas && !check_schema(run, item, &place))
            return false;
    }
    return count > 0 || schema_refuse(run, at, "is empty");
}

static bool check_map(schema_run *run, scan_value argument, const schema_location *at)
{
    slice key;
    scan_value value;
    size_t count = 0;
    if (argument.kind != SCAN_OBJECT)
        return schema_refuse(run, at, "is not an object");
    for (scan_walk walk = scan_enter(argument); scan_member(&walk, &key, &value);) {
        if (++count > SCHEMA_PROPERTIES_MAX)
            return schema_refuse(run, at, "has over %d members", SCHEMA_PROPERTIES_MAX);
        schema_location place = schema_member(at, key);
        if (!check_schema(run, value, &place))
            return false;
    }
    return true;
}

static bool check_reference(schema_run *run, scan_value argument, const schema_location *at)
{
    scan_value to = {SCAN_NONE, {NULL, 0}};
    if (argument.kind == SCAN_STRING)
        to = schema_resolve(run->root, argument.text);
    if (to.kind == SCAN_OBJECT || to.kind == SCAN_TRUE || to.kind == SCAN_FALSE)
        return true;
    return schema_refuse(run, at, "refers to no schema within this one, such as \"#/$defs/name\"");
}

static bool check_argument(schema_run *run, schema_argument wanted, scan_value argument,
                           const schema_location *at)
{
    int64_t count;
    switch (wanted) {
    case ARGUMENT_ANY:
        return true;
    case ARGUMENT_TYPES:
        return check_types(run, argument, at);
    case ARGUMENT_COUNT:
        return (argument.kind == SCAN_NUMBER && scan_integer(argument.text, &count) &&
                count >= 0) ||
               schema_refuse(run, at, "is not an integer from 0 on");
    case ARGUMENT_NUMBER:
        return argument.kind == SCAN_NUMBER || schema_refuse(run, at, "is not a number");
    case ARGUMENT_NAMES:
        return check_names(run, argument, at);
    case ARGUMENT_VALUES:
        return check_list(run, argument, false, at);
    case ARGUMENT_SCHEMA:
        return check_schema(run, argument, at);
    case ARGUMENT_SCHEMAS:
        return check_list(run, argument, true, at);
    case ARGUMENT_MAP:
        return check_map(run, argument, at);
    case ARGUMENT_REFERENCE:
        return check_reference(run, argument, at);
    }
    return false;
}

/* Adds the name in a string token to the list, unless the list contains it. */
static void note_unchecked(schema_names *list, slice token)
{
    const slice name = scan_inside(token);
    for (size_t i = 0; i < list->count; i++)
        if (slice_equal(list->name[i], name))
            return;
    if (list->count < SCHEMA_NAMES_MAX)
        list->name[list->count++] = name;
    else
        list->has_more = true;
}

static bool check_keywords(schema_run *run, scan_value schema, const schema_location *at)
{
    slice key;
    scan_value value;
    for (scan_walk walk = scan_enter(schema); scan_member(&walk, &key, &value);) {
        const schema_keyword *keyword = schema_keyword_find(key);
        schema_location place = schema_member(at, key);
        if (keyword == NULL)
            note_unchecked(run->unchecked, key);
        else if (!check_argument(run, keyword->argument, value, &place))
            return false;
    }
    return true;
}

static bool check_schema(schema_run *run, scan_value schema, const schema_location *at)
{
    if (schema.kind == SCAN_TRUE || schema.kind == SCAN_FALSE)
        return true;
    if (schema.kind != SCAN_OBJECT)
        return schema_refuse(run, at, "is not a schema: an object, true or false");
    if (run->depth >= SCHEMA_DEPTH_MAX)
        return schema_refuse(run, at, "is over %d schemas deep", SCHEMA_DEPTH_MAX);
    run->depth++;
    bool is_valid = check_keywords(run, schema, at);
    run->depth--;
    return is_valid;
}

cardbox_status schema_check(schema_names *unchecked, slice schema, cardbox_error *err)
{
    scan_value root;
    scan_error error;
    schema_errors errors = {0};
    if (!scan_check(schema, CARDBOX_JSON_DEPTH_MAX, &root, NULL, &error))
        return error_json(err, "the schema", &error);
    schema_run run = {.root = root, .errors = &errors, .unchecked = unchecked};
    if (check_schema(&run, root, &(schema_location){NULL, {NULL, 0}, 0, 0}))
        return CARDBOX_OK;
    return schema_status(&errors, err);
}

bool schema_is_partial(scan_value root)
{
    schema_names unchecked = {.count = 0};
    schema_check(&unchecked, root.text, NULL);
    return unchecked.count > 0;
}

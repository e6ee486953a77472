/*
 * fields.c: the readers of each kind of field. Numbers and booleans are text in a query.
 */
#include "server/request/fields.h"

#include "base/isotime.h"
#include "cardbox/limits.h"
#include "server/request/query.h"

/* Maximum bytes of the message about an unknown name, which lists all known names. */
#define KNOWN_MAX 2048

/* The value that is being read, and where its faults are added. */
typedef struct here {
    const field *field;
    const validation_path *at;
    validation *validation;
    int64_t index; /* index in a list of ids; negative: the value of the field itself */
    slice input;   /* the value as JSON */
} here;

static void add_fault(const here *h, const char *type, const char *message)
{
    validation_add(h->validation, h->at, h->field->name, h->index, type, message, h->input);
}

static void fault_number(const here *h, const char *type, const char *begin, int64_t number)
{
    buf message = BUF_INIT(256);
    buf_text(&message, begin);
    buf_int(&message, number);
    add_fault(h, type, buf_str(&message));
    h->validation->nomem = h->validation->nomem || !buf_ok(&message);
    buf_free(&message);
}

/* False when reading must end, because memory ran out or the list of faults is full: a body could
 * have a million faults, and reading them would delay other requests. */
static bool goes_on(const validation *s)
{
    return !s->nomem && s->faults < VALIDATION_FAULTS_MAX;
}

/* --- rules of texts and numbers --- */

static void take_id(const here *h, slice text, int64_t most)
{
    if (text.ptr == NULL || !slice_is_id(text, (size_t)most))
        fault_number(h, "value_error",
                     "Input should be text without control characters, of at least 1 byte and at "
                     "most ",
                     most);
}

static void take_time(field_value *out, const here *h, slice text)
{
    if (isotime_moment(text, &out->number))
        return;
    bool plus = strcmp(h->at->in, "query") == 0 && memchr(text.ptr, ' ', text.len) != NULL;
    add_fault(
        h, "datetime_parsing",
        plus ? "Input should be a time like 2025-01-02T03:04:05Z; a + is a blank in a query: "
               "write %2B"
             : "Input should be a time like 2025-01-02T03:04:05Z or with an offset like +05:30");
}

static void take_choice(field_value *out, const here *h, slice text)
{
    buf message = BUF_INIT(1024);
    buf_text(&message, "Input should be one of");
    for (size_t i = 0; h->field->choices[i] != NULL; i++) {
        if (slice_equal(text, slice_of(h->field->choices[i]))) {
            out->number = (int64_t)i;
            goto done;
        }
        buf_printf(&message, "%s %s", i == 0 ? ":" : ",", h->field->choices[i]);
    }
    add_fault(h, "enum", buf_str(&message));
    h->validation->nomem = h->validation->nomem || !buf_ok(&message);
done:
    buf_free(&message);
}

static void take_text(field_value *out, const here *h, slice text)
{
    out->text = text;
    if (text.ptr == NULL && !h->validation->nomem && h->field->kind != FIELD_ID)
        add_fault(h, "string_unicode",
                  "Input should be text without \\u0000 or half a surrogate pair");
    else if (h->field->kind == FIELD_ID)
        take_id(h, text, h->field->most);
    else if (h->field->kind == FIELD_UUID && !uuid16_parse(&out->uuid, text))
        add_fault(h, "uuid_parsing", "Input should be a UUID");
    else if (h->field->kind == FIELD_TIME)
        take_time(out, h, text);
    else if (h->field->kind == FIELD_CHOICE)
        take_choice(out, h, text);
    else if (h->field->kind == FIELD_TEXT && text.len > (size_t)h->field->most)
        fault_number(h, "string_too_long", "Input should have at most as many bytes as ",
                     h->field->most);
}

static void take_number(field_value *out, const here *h, int64_t number)
{
    const field *f = h->field;
    out->number = number;
    if (f->kind == FIELD_LIMIT && number < f->least)
        out->number = f->least;
    else if (f->kind == FIELD_LIMIT && number > f->most)
        out->number = f->most;
    else if (number < f->least)
        fault_number(h, "greater_than_equal", "Input should be at least ", f->least);
    else if (number > f->most)
        fault_number(h, "less_than_equal", "Input should be at most ", f->most);
}

/* --- members of an object --- */

static void read_span(field_value *out, here *h)
{
    scan_kind wanted = h->field->kind == FIELD_OBJECT ? SCAN_OBJECT : SCAN_ARRAY;
    if (h->field->kind == FIELD_ANY || out->json.kind == wanted)
        return;
    if (wanted == SCAN_OBJECT)
        add_fault(h, "dict_type", "Input should be a valid object");
    else
        add_fault(h, "list_type", "Input should be a valid list");
}

static void read_string(field_value *out, here *h)
{
    if (out->json.kind == SCAN_STRING)
        take_text(out, h, validation_decode(h->validation, out->json.text));
    else
        add_fault(h, "string_type", "Input should be a valid string");
}

static void read_bool(field_value *out, here *h)
{
    out->number = out->json.kind == SCAN_TRUE;
    if (out->json.kind != SCAN_TRUE && out->json.kind != SCAN_FALSE)
        add_fault(h, "bool_type", "Input should be a valid boolean");
}

static void read_number(field_value *out, here *h)
{
    int64_t number;
    if (out->json.kind == SCAN_NUMBER && scan_integer(out->json.text, &number))
        take_number(out, h, number);
    else
        add_fault(h, "int_type", "Input should be a valid integer");
}

static void read_element(here *h, scan_value item)
{
    uuid16 uuid;
    h->input = item.text;
    if (item.kind != SCAN_STRING) {
        add_fault(h, "string_type", "Input should be a valid string");
        return;
    }
    slice text = validation_decode(h->validation, item.text);
    if (h->field->kind == FIELD_IDS)
        take_id(h, text, CARDBOX_CARD_ID_MAX);
    else if (text.ptr == NULL || !uuid16_parse(&uuid, text))
        add_fault(h, "uuid_parsing", "Input should be a UUID");
}

static void read_ids(field_value *out, here *h)
{
    scan_value item;
    if (out->json.kind != SCAN_ARRAY) {
        add_fault(h, "list_type", "Input should be a valid list");
        return;
    }
    for (scan_walk walk = scan_enter(out->json);
         scan_element(&walk, &item) && goes_on(h->validation);) {
        h->index = (int64_t)out->count++;
        read_element(h, item);
    }
    h->index = -1;
    h->input = (slice){NULL, 0};
    if (out->count < (size_t)h->field->least)
        fault_number(h, "too_short", "List should have at least as many items as ",
                     h->field->least);
    if (out->count > (size_t)h->field->most)
        validation_too_many(h->validation, h->field->name, h->field->most);
}

static void (*const READERS[])(field_value *out, here *h) = {
    [FIELD_ANY] = read_span,      [FIELD_OBJECT] = read_span,    [FIELD_ARRAY] = read_span,
    [FIELD_TEXT] = read_string,   [FIELD_ID] = read_string,      [FIELD_UUID] = read_string,
    [FIELD_BOOL] = read_bool,     [FIELD_INTEGER] = read_number, [FIELD_LIMIT] = read_number,
    [FIELD_CHOICE] = read_string, [FIELD_TIME] = read_string,    [FIELD_IDS] = read_ids,
    [FIELD_UUIDS] = read_ids,
};

int64_t fields_read_number(const field *f, scan_value value, validation *s)
{
    field_value out = {.json = value};
    READERS[f->kind](&out, &(here){f, &VALIDATION_BODY, s, -1, value.text});
    return out.number;
}

/* Returns the index of the field with the name `key`, or `count` if there is none. */
static size_t find_member(const field *table, size_t count, slice key)
{
    size_t i = 0;
    while (i < count && !scan_string_is(key, slice_of(table[i].name)))
        i++;
    return i;
}

/* Adds the fault of an unknown name. Its message lists the known names, because the unknown name
 * may be misspelt. */
static void refuse_name(validation *s, const validation_path *at, slice token, const field *table,
                        size_t count)
{
    buf message = BUF_INIT(KNOWN_MAX);
    buf_text(&message, "Nothing of this name is known here");
    for (size_t i = 0; i < count; i++)
        buf_printf(&message, "%s%s%s", i == 0 ? " (known: " : ", ", table[i].name,
                   table[i].name[strlen(table[i].name) - 1] == '.' ? "KEY" : "");
    if (count > 0)
        buf_char(&message, ')');
    s->nomem = s->nomem || !buf_ok(&message);
    validation_unknown(s, at, token, buf_str(&message));
    buf_free(&message);
}

static void report_missing(const field_value *values, const field *table, size_t count,
                           const validation_path *at, validation *s)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].required && !values[i].given)
            validation_add(s, at, table[i].name, -1, "missing", "Field required", (slice){NULL, 0});
}

void fields_read_object(field_value *values, const field *table, size_t count, scan_value object,
                        const validation_path *at, validation *s)
{
    slice key;
    scan_value value;
    memset(values, 0, count * sizeof(*values));
    for (scan_walk walk = scan_enter(object); scan_member(&walk, &key, &value) && goes_on(s);) {
        size_t i = find_member(table, count, key);
        if (i == count) {
            refuse_name(s, at, key, table, count);
            continue;
        }
        if (values[i].json.kind != SCAN_NONE) {
            validation_malformed(s, NULL, (size_t)(key.ptr - s->text.ptr),
                                 "a member has the same name as an earlier one");
            return;
        }
        values[i].json = value;
        values[i].given = value.kind != SCAN_NULL || table[i].required;
        if (values[i].given)
            READERS[table[i].kind](&values[i], &(here){&table[i], at, s, -1, value.text});
    }
    report_missing(values, table, count, at, s);
}

/* --- parameters of a query --- */

static const validation_path QUERY = {"query", NULL, 0};

/* Returns the index of the field of a query parameter, or `count` if there is none. If the field's
 * name ends in '.', `rest` becomes the rest of the parameter's name. */
static size_t find_parameter(const field *table, size_t count, slice name, slice *rest)
{
    size_t i;
    for (i = 0; i < count; i++) {
        slice wanted = slice_of(table[i].name);
        bool prefix = wanted.len > 0 && wanted.ptr[wanted.len - 1] == '.';
        if (prefix ? name.len <= wanted.len : name.len != wanted.len)
            continue;
        if (!slice_equal((slice){name.ptr, wanted.len}, wanted))
            continue;
        *rest = (slice){name.ptr + wanted.len, name.len - wanted.len};
        break;
    }
    return i;
}

static void take_bool(field_value *out, const here *h)
{
    out->number = slice_equal(out->text, SLICE("true"));
    if (out->number == 0 && !slice_equal(out->text, SLICE("false")))
        add_fault(h, "bool_parsing", "Input should be true or false");
}

static void read_parameter(field_value *out, const here *h)
{
    int64_t number;
    if (h->field->kind == FIELD_BOOL)
        take_bool(out, h);
    else if (h->field->kind != FIELD_INTEGER && h->field->kind != FIELD_LIMIT)
        take_text(out, h, out->text);
    else if (query_integer(out->text, &number))
        take_number(out, h, number);
    else
        add_fault(h, "int_parsing", "Input should be a valid integer");
}

static void add_repeated(field_value *out, const here *h, slice key, slice text)
{
    if (out->count == h->field->repeats) {
        validation_too_many(h->validation, h->field->name, (int64_t)h->field->repeats);
        return;
    }
    field_pair *list = out->count == 0
                           ? arena_zeros(h->validation->memory, h->field->repeats, sizeof(*list))
                           : (field_pair *)(uintptr_t)out->list;
    h->validation->nomem = h->validation->nomem || list == NULL;
    if (list == NULL)
        return;
    list[out->count++] = (field_pair){key, text};
    out->list = list;
    take_text(out, h, text);
}

static void take_parameter(field_value *out, const here *h, slice raw, slice key, bool lenient)
{
    slice text = {NULL, 0};
    query_result decoded = query_decode(&text, raw, h->validation->memory);
    h->validation->nomem = h->validation->nomem || decoded == QUERY_NOMEM;
    if (decoded == QUERY_MALFORMED)
        validation_malformed(h->validation, h->field->name, 0, "malformed");
    if (decoded != QUERY_FOUND)
        return;
    buf shown = BUF_INIT(VALIDATION_INPUT_MAX);
    buf_json_string(&shown, text);
    here full = *h;
    if (buf_ok(&shown))
        full.input = buf_as_slice(&shown);
    if (h->field->repeats > 0) {
        add_repeated(out, &full, key, text);
    } else if (out->given && !lenient) {
        add_fault(&full, "value_error", "Input should be given once");
    } else {
        out->text = text;
        read_parameter(out, &full);
    }
    out->given = true;
    buf_free(&shown);
}

static void refuse_parameter(validation *s, slice name, const field *table, size_t count)
{
    buf token = BUF_INIT(2 * VALIDATION_INPUT_MAX);
    buf_json_string(&token, name);
    refuse_name(s, &QUERY,
                buf_ok(&token) ? buf_as_slice(&token) : (slice){NULL, VALIDATION_INPUT_MAX + 1},
                table, count);
    buf_free(&token);
}

void fields_read_query(field_value *values, const field *table, size_t count, slice query,
                       bool lenient, validation *s)
{
    slice raw_name, raw_value;
    memset(values, 0, count * sizeof(*values));
    while (query_next(&query, &raw_name, &raw_value) && goes_on(s)) {
        slice name, rest = {NULL, 0};
        query_result decoded = query_decode(&name, raw_name, s->memory);
        s->nomem = s->nomem || decoded == QUERY_NOMEM;
        if (decoded == QUERY_MALFORMED && !lenient)
            validation_malformed(s, "", 0, "malformed");
        if (decoded != QUERY_FOUND)
            continue;
        size_t i = find_parameter(table, count, name, &rest);
        if (i < count && !(lenient && query_has(query, table[i].name)))
            take_parameter(&values[i], &(here){&table[i], &QUERY, s, -1, {NULL, 0}}, raw_value,
                           rest, lenient);
        else if (i == count && !lenient)
            refuse_parameter(s, name, table, count);
    }
    report_missing(values, table, count, &QUERY, s);
}

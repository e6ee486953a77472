/*
 * check.c: checks content by the table of classes and writes its stored form.
 */
#include "model/content/class.h"

#include <cardbox/limits.h>
#include <stdio.h>

#include "base/isotime.h"
#include "base/text.h"

typedef struct checker {
    buf *out;
    buf scratch;
    content_error *error;
} checker;

/* The recursion is at most three levels deep: a MultiFileContent, a file in it, the preview of the
 * file. */
static bool put_object(checker *c, const content_class *class, scan_value object);

/* --- errors --- */

__attribute__((format(printf, 2, 3))) static bool refuse(checker *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_format(c->error->message, sizeof c->error->message, format, args);
    va_end(args);
    c->error->field[0] = '\0';
    return false;
}

static bool refuse_kind(checker *c, const char *wanted, scan_value value)
{
    return refuse(c, "must be %s, not %s", wanted, scan_kind_name(value.kind));
}

/* Puts a step, such as "name" or "[0]", before the path in c->error. Always returns false. */
static bool at_step(checker *c, const char *step)
{
    char path[CONTENT_PATH_SIZE];
    const char *rest = c->error->field;
    const char *dot = rest[0] == '\0' || rest[0] == '[' ? "" : ".";
    int written = snprintf(path, sizeof path, "%s%s%s", step, dot, rest);
    if (written > 0)
        memcpy(c->error->field, path, strlen(path) + 1);
    return false;
}

/* --- single values --- */

/* Decodes a string token into c->scratch. Returns false if the string contains NUL or half a
 * surrogate pair. If memory is exhausted, sets c->out->failure and returns true. */
static bool decode(checker *c, slice token)
{
    buf_reset(&c->scratch, CARDBOX_CONTENT_MAX);
    if (!scan_decode(&c->scratch, token))
        return refuse(c, "must not hold \\u0000 or half a surrogate pair");
    if (!buf_ok(&c->scratch))
        c->out->failure = c->scratch.failure;
    return true;
}

/* Checks that the inside of a string token is one of the choices of a field. */
static bool is_choice(checker *c, const char *const *choices, slice inside)
{
    buf list = BUF_INIT(CONTENT_MESSAGE_SIZE);

    for (size_t i = 0; choices[i] != NULL; i++)
        if (content_says(inside, choices[i]))
            return true;
    for (size_t i = 0; choices[i] != NULL; i++) {
        buf_text(&list, i == 0 ? "" : choices[i + 1] == NULL ? " or " : ", ");
        buf_text(&list, choices[i]);
    }
    refuse(c, "must be %s", buf_str(&list));
    buf_free(&list);
    return false;
}

static bool put_string(checker *c, const content_field *field, scan_value value)
{
    slice inside = scan_inside(value.text);
    if (field->rules & CONTENT_TRIM)
        inside = content_trim(inside);
    if ((field->rules & CONTENT_NOT_EMPTY) && inside.len == 0)
        return refuse(c, "must not be empty");
    if (field->choices != NULL && !is_choice(c, field->choices, inside))
        return false;
    buf_json_quoted(c->out, inside);
    return true;
}

static bool put_uri(checker *c, scan_value value)
{
    const char *must = NULL;
    if (!decode(c, value.text))
        return false;
    if (buf_ok(&c->scratch) && !content_uri_fits(buf_as_slice(&c->scratch), &must))
        return refuse(c, "%s", must);
    buf_slice(c->out, value.text);
    return true;
}

static bool put_time(checker *c, scan_value value)
{
    isotime time;
    if (!decode(c, value.text))
        return false;
    if (buf_ok(&c->scratch) && !isotime_parse(buf_as_slice(&c->scratch), &time))
        return refuse(c, "must be a time by RFC 3339, as in 2025-01-02T03:04:05Z");
    if (buf_ok(&c->scratch))
        isotime_json_micros(c->out, isotime_to_micros(&time));
    return true;
}

static bool put_number(checker *c, const content_field *field, scan_value value)
{
    int64_t clamped;
    if (field->kind == CONTENT_INTEGER && !scan_integer(value.text, &clamped))
        return refuse(c, "must be an integer");
    bool positive = content_number_is_positive(value.text);
    if ((field->rules & CONTENT_POSITIVE) && !positive)
        return refuse(c, "must be above 0");
    if ((field->rules & CONTENT_NATURAL) && !positive && !content_number_is_zero(value.text))
        return refuse(c, "must not be below 0");
    buf_slice(c->out, value.text);
    return true;
}

/* --- elements and objects --- */

static bool put_file(checker *c, scan_value element)
{
    const content_class *class = content_class_find(element);
    if (class && class->is_file)
        return put_object(c, class, element);
    refuse(c, "must name a file class, as in \"FileContent\"");
    return at_step(c, "__type__");
}

static bool put_element(checker *c, const content_field *field, scan_value element)
{
    if (element.kind != SCAN_OBJECT)
        return refuse_kind(c, "an object", element);
    if (field->kind == CONTENT_FILES)
        return put_file(c, element);
    if (field->kind == CONTENT_PARTS)
        return put_object(c, field->part, element);
    buf_slice(c->out, element.text);
    return true;
}

static bool put_elements(checker *c, const content_field *field, scan_value array)
{
    char step[32];
    size_t count = 0;
    scan_value element;
    scan_walk walk = scan_enter(array);
    buf_char(c->out, '[');
    while (scan_element(&walk, &element)) {
        if (count > 0)
            buf_char(c->out, ',');
        if (!put_element(c, field, element)) {
            snprintf(step, sizeof step, "[%zu]", count);
            return at_step(c, step);
        }
        count++;
    }
    if ((field->rules & CONTENT_NOT_EMPTY) && count == 0)
        return refuse(c, "must not be empty");
    buf_char(c->out, ']');
    return true;
}

/* The kind of JSON value that a field of each kind requires; SCAN_NONE: values of several kinds are
 * allowed. */
static const struct {
    scan_kind takes;
    const char *wanted;
} kinds[] = {
    [CONTENT_ANY] = {SCAN_NONE, ""},
    [CONTENT_STRING] = {SCAN_STRING, "a string"},
    [CONTENT_URI] = {SCAN_STRING, "a string"},
    [CONTENT_TIME] = {SCAN_STRING, "a string"},
    [CONTENT_NUMBER] = {SCAN_NUMBER, "a number"},
    [CONTENT_INTEGER] = {SCAN_NUMBER, "an integer"},
    [CONTENT_OBJECT] = {SCAN_OBJECT, "an object"},
    [CONTENT_JSON] = {SCAN_NONE, "an object or an array"},
    [CONTENT_OBJECTS] = {SCAN_ARRAY, "an array"},
    [CONTENT_PART] = {SCAN_OBJECT, "an object"},
    [CONTENT_PARTS] = {SCAN_ARRAY, "an array"},
    [CONTENT_FILES] = {SCAN_ARRAY, "an array"},
};

static bool put_value(checker *c, const content_field *field, scan_value value)
{
    scan_kind takes = kinds[field->kind].takes;
    if (takes != SCAN_NONE && value.kind != takes)
        return refuse_kind(c, kinds[field->kind].wanted, value);
    switch (field->kind) {
    case CONTENT_STRING:
        return put_string(c, field, value);
    case CONTENT_URI:
        return put_uri(c, value);
    case CONTENT_TIME:
        return put_time(c, value);
    case CONTENT_NUMBER:
    case CONTENT_INTEGER:
        return put_number(c, field, value);
    case CONTENT_PART:
        return put_object(c, field->part, value);
    case CONTENT_OBJECTS:
    case CONTENT_PARTS:
    case CONTENT_FILES:
        return put_elements(c, field, value);
    case CONTENT_JSON:
        if (value.kind != SCAN_OBJECT && value.kind != SCAN_ARRAY)
            return refuse_kind(c, kinds[CONTENT_JSON].wanted, value);
        break;
    case CONTENT_ANY:
    case CONTENT_OBJECT:
        break;
    }
    buf_slice(c->out, value.text);
    return true;
}

static bool is_unset(scan_value value)
{
    return value.kind == SCAN_NONE || value.kind == SCAN_NULL;
}

static bool put_field(checker *c, const content_field *field, scan_value value)
{
    buf_printf(c->out, "\"%s\":", field->name);
    if (!is_unset(value))
        return put_value(c, field, value);
    if (field->rules & CONTENT_REQUIRED)
        return refuse(c, "is required");
    buf_text(c->out, field->unset ? field->unset : "null");
    return true;
}

/* Stores the values of an object's members at the index of their field in the class. If a member
 * occurs twice, the last one counts. Returns true if the object has members that the class does not
 * know. */
static bool read_fields(scan_value values[CONTENT_FIELDS_MAX], const content_class *class,
                        scan_value object)
{
    bool unknown = false;
    slice key;
    scan_value value;
    scan_walk walk = scan_enter(object);
    while (scan_member(&walk, &key, &value)) {
        int place = content_field_find(class, key);
        if (place >= 0)
            values[place] = value;
        else
            unknown = unknown || content_is_unknown(class, key);
    }
    return unknown;
}

/* Checks that a ToolResultContent has an error if and only if its status is not "success". */
static bool result_fits(checker *c, const content_class *class, const scan_value *values)
{
    scan_value status = values[content_field_named(class, "status")];
    scan_value error = values[content_field_named(class, "error")];
    bool success = content_says(content_trim(scan_inside(status.text)), "success");
    if (success == is_unset(error))
        return true;
    if (success)
        refuse(c, "must be null where the status is success");
    else
        refuse(c, "is required where the status is not success: an object with code and message");
    return at_step(c, "error");
}

/* Checks that the message of a MessageContent has a role or a type. */
static bool message_fits(checker *c, const content_class *class, const scan_value *values)
{
    scan_value format = values[content_field_named(class, "format")];
    scan_value message = values[content_field_named(class, "message")];
    bool may_have_type = content_says(scan_inside(format.text), "responses");

    if (scan_find(message, "role").kind == SCAN_STRING ||
        (may_have_type && scan_find(message, "type").kind == SCAN_STRING))
        return true;
    refuse(c, "must have a role%s: of a whole answer, give %s", may_have_type ? " or a type" : "",
           may_have_type ? "an item of its output" : "the message");
    return at_step(c, "message");
}

static bool put_object(checker *c, const content_class *class, scan_value object)
{
    scan_value values[CONTENT_FIELDS_MAX] = {{SCAN_NONE, {NULL, 0}}};
    bool unknown = read_fields(values, class, object);
    buf_char(c->out, '{');
    if (!class->is_part)
        buf_printf(c->out, "\"__type__\":\"%s\",", class->name);
    for (size_t i = 0; class->fields[i].name; i++) {
        if (i > 0)
            buf_char(c->out, ',');
        if (!put_field(c, &class->fields[i], values[i]))
            return at_step(c, class->fields[i].name);
    }
    if (class->is_result && !result_fits(c, class, values))
        return false;
    if (class->is_message && !message_fits(c, class, values))
        return false;
    if (unknown)
        content_put_unknown(c->out, class, object);
    buf_char(c->out, '}');
    return true;
}

bool content_normalise(buf *out, slice content, content_error *error)
{
    scan_value value = scan_whole(content);
    const content_class *class = content_class_find(value);
    if (!class) {
        buf_slice(out, content);
        return true;
    }
    checker c = {out, BUF_INIT(CARDBOX_CONTENT_MAX), error};
    error->class_name = class->name;
    bool fits = put_object(&c, class, value);
    buf_free(&c.scratch);
    return fits;
}

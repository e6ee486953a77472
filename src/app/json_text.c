/*
 * json_text.c: writes values of jansson as text into buffers, and parses text.
 */
#include "app/json_text.h"

static int append(const char *bytes, size_t len, void *out)
{
    buf_add(out, bytes, len);
    return buf_ok(out) ? 0 : -1;
}

void buf_json_take(buf *out, json_t *value)
{
    bool is_good = value != NULL &&
                   json_dump_callback(value, append, out, JSON_COMPACT | JSON_ENCODE_ANY) == 0;

    if (!is_good && out->failure == BUF_FINE)
        out->failure = BUF_NOMEM;
    json_decref(value);
}

void buf_json_open_take(buf *out, json_t *object)
{
    buf_json_take(out, object);
    if (buf_ok(out))
        out->data[--out->len] = '\0';
}

/* If memory is exhausted, jansson leaves the text of the error empty. Then this function fills the
 * text. */
static json_t *load(slice text, size_t flags, json_error_t *error)
{
    static const char NOMEM[] = "out of memory";

    *error = (json_error_t){.line = -1};
    json_t *value = json_loadb(text.ptr, text.len, flags | JSON_DECODE_ANY, error);
    if (value == NULL && error->text[0] == '\0') {
        memcpy(error->text, NOMEM, sizeof(NOMEM));
        error->text[JSON_ERROR_TEXT_LENGTH - 1] = json_error_out_of_memory;
    }
    return value;
}

json_t *json_text_read(slice text, size_t flags, json_error_t *error)
{
    json_t *value = load(text, flags, error);

    if (value == NULL && json_error_code(error) == json_error_numeric_overflow)
        value = load(text, flags | JSON_DECODE_INT_AS_REAL, error);
    return value;
}

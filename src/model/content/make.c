/*
 * make.c: the public constructors of content. A constructor writes its arguments as JSON and checks
 * this JSON like content that a caller passes as JSON.
 */
#include <cardbox/content.h>
#include <cardbox/limits.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/content/class.h"
#include "base/errors.h"

void cardbox_free(void *text)
{
    free(text);
}

/* Content that is being built. `status` keeps the first failure. */
typedef struct maker {
    buf json;
    cardbox_status status;
    cardbox_error *err;
} maker;

static maker maker_start(const char *class_name, cardbox_error *err)
{
    maker m = {BUF_INIT(CARDBOX_CONTENT_MAX), CARDBOX_OK, err};
    buf_printf(&m.json, "{\"__type__\":\"%s\"", class_name);
    return m;
}

/* Returns CARDBOX_OK if `json` is valid JSON and not too large. Error messages call it `what`. */
static cardbox_status check_json(slice json, const char *what, cardbox_error *err)
{
    scan_error fault = {0, NULL, false};
    if (json.len > CARDBOX_CONTENT_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%s is over %u bytes: store it as a file", what,
                         CARDBOX_CONTENT_MAX);
    if (scan_check(json, CARDBOX_JSON_DEPTH_MAX, NULL, NULL, &fault))
        return CARDBOX_OK;
    return error_json(err, what, &fault);
}

/* If `out` is not NULL, `out` receives the stored form, which the caller frees with cardbox_free.
 */
static cardbox_status give_checked(char **out, slice json, cardbox_error *err)
{
    content_error fault;
    buf stored = BUF_INIT(CARDBOX_CONTENT_MAX);
    char *text = NULL;
    cardbox_status status = check_json(json, "content", err);
    if (status != CARDBOX_OK)
        goto done;
    if (!content_normalise(&stored, json, &fault)) {
        status = error_set(err, CARDBOX_INVALID, "field %s of %s %s", fault.field, fault.class_name,
                           fault.message);
        goto done;
    }
    if (!buf_ok(&stored)) {
        status = error_buf(err, &stored, "content");
        goto done;
    }
    text = buf_take(&stored);
    if (!text)
        status = error_nomem(err);
    else if (out)
        *out = text;
    else
        cardbox_free(text);
done:
    buf_free(&stored);
    return status;
}

cardbox_status cardbox_content_check(char **out, const char *content, size_t length,
                                     cardbox_error *err)
{
    if (!content)
        return error_set(err, CARDBOX_INVALID, "content is NULL: pass JSON text");
    return give_checked(out, length ? (slice){content, length} : slice_of(content), err);
}

static cardbox_status maker_finish(char **out, maker *m)
{
    buf_char(&m->json, '}');
    if (m->status == CARDBOX_OK && !buf_ok(&m->json))
        m->status = error_buf(m->err, &m->json, "content");
    if (m->status == CARDBOX_OK)
        m->status = give_checked(out, buf_as_slice(&m->json), m->err);
    buf_free(&m->json);
    return m->status;
}

/* --- members. A NULL argument adds no member; give_checked() finds missing required ones --- */

static void put_text(maker *m, const char *name, const char *text)
{
    if (m->status != CARDBOX_OK)
        return;
    if (slice_is_utf8(slice_of(text)))
        buf_json_string(&m->json, slice_of(text));
    else
        m->status = error_set(m->err, CARDBOX_INVALID, "%s is not UTF-8: convert it first", name);
}

static void add_name(maker *m, const char *name)
{
    buf_printf(&m->json, ",\"%s\":", name);
}

static void add_text(maker *m, const char *name, const char *text)
{
    if (!text)
        return;
    add_name(m, name);
    put_text(m, name, text);
}

static void add_json(maker *m, const char *name, const char *json)
{
    if (!json || m->status != CARDBOX_OK)
        return;
    m->status = check_json(slice_of(json), name, m->err);
    add_name(m, name);
    buf_text(&m->json, json);
}

/* --- one constructor for each class --- */

cardbox_status cardbox_text_content(char **out, const char *text, cardbox_error *err)
{
    maker m = maker_start("TextContent", err);
    add_text(&m, "text", text);
    return maker_finish(out, &m);
}

cardbox_status cardbox_json_content(char **out, const char *data, cardbox_error *err)
{
    maker m = maker_start("JsonContent", err);
    add_json(&m, "data", data);
    return maker_finish(out, &m);
}

cardbox_status cardbox_fields_content(char **out, const cardbox_field *fields, size_t count,
                                      cardbox_error *err)
{
    if (!fields && count > 0)
        return error_set(err, CARDBOX_INVALID, "fields is NULL but count is %zu", count);
    maker m = maker_start("FieldsSchemaContent", err);
    buf_text(&m.json, ",\"fields\":[");
    for (size_t i = 0; i < count && m.status == CARDBOX_OK && buf_ok(&m.json); i++) {
        buf_text(&m.json, i > 0 ? ",{\"description\":" : "{\"description\":");
        put_text(&m, "description", fields[i].description ? fields[i].description : "");
        add_text(&m, "name", fields[i].name);
        buf_char(&m.json, '}');
    }
    buf_char(&m.json, ']');
    return maker_finish(out, &m);
}

cardbox_status cardbox_tools_content(char **out, const char *tools, cardbox_error *err)
{
    maker m = maker_start("ToolContent", err);
    add_json(&m, "tools", tools);
    return maker_finish(out, &m);
}

cardbox_status cardbox_tool_call_content(char **out, const char *tool_name, const char *arguments,
                                         const char *status, const char *target_subject,
                                         cardbox_error *err)
{
    maker m = maker_start("ToolCallContent", err);
    add_text(&m, "tool_name", tool_name);
    add_json(&m, "arguments", arguments ? arguments : "{}");
    add_text(&m, "status", status);
    add_text(&m, "target_subject", target_subject);
    return maker_finish(out, &m);
}

cardbox_status cardbox_tool_result_content(char **out, const char *status,
                                           const char *after_execution, const char *result,
                                           const char *error, cardbox_error *err)
{
    maker m = maker_start("ToolResultContent", err);
    add_text(&m, "status", status);
    add_text(&m, "after_execution", after_execution);
    add_json(&m, "result", result);
    add_json(&m, "error", error);
    return maker_finish(out, &m);
}

cardbox_status cardbox_message_content(char **out, const char *format, const char *message,
                                       cardbox_error *err)
{
    maker m = maker_start("MessageContent", err);
    add_text(&m, "format", format);
    add_json(&m, "message", message);
    return maker_finish(out, &m);
}

/* --- files --- */

typedef enum member_kind {
    MEMBER_TEXT,     /* const char *; NULL: unset */
    MEMBER_JSON,     /* const char * with JSON text; NULL: unset */
    MEMBER_COUNT,    /* int64_t; negative: unset */
    MEMBER_POSITIVE, /* int64_t; 0: unset */
    MEMBER_SECONDS   /* double; 0: unset */
} member_kind;

/* The members of cardbox_file that become JSON fields, under the same names. */
static const struct file_member {
    const char *name;
    member_kind kind;
    size_t offset;
} file_members[] = {
    {"uri", MEMBER_TEXT, offsetof(cardbox_file, uri)},
    {"checksum", MEMBER_TEXT, offsetof(cardbox_file, checksum)},
    {"etag", MEMBER_TEXT, offsetof(cardbox_file, etag)},
    {"size", MEMBER_COUNT, offsetof(cardbox_file, size)},
    {"content_type", MEMBER_TEXT, offsetof(cardbox_file, content_type)},
    {"expires_at", MEMBER_TEXT, offsetof(cardbox_file, expires_at)},
    {"preview", MEMBER_JSON, offsetof(cardbox_file, preview)},
    {"width", MEMBER_POSITIVE, offsetof(cardbox_file, width)},
    {"height", MEMBER_POSITIVE, offsetof(cardbox_file, height)},
    {"format", MEMBER_TEXT, offsetof(cardbox_file, format)},
    {"page_count", MEMBER_COUNT, offsetof(cardbox_file, page_count)},
    {"duration_seconds", MEMBER_SECONDS, offsetof(cardbox_file, duration_seconds)},
    {"codec", MEMBER_TEXT, offsetof(cardbox_file, codec)},
    {"bitrate", MEMBER_POSITIVE, offsetof(cardbox_file, bitrate)},
};

/* Appends a number with at most 15 significant digits. If the text does not parse to the same
 * double, at most 16 or 17 digits are used. */
static void put_seconds(maker *m, double seconds)
{
    char text[64];
    if (!isfinite(seconds)) {
        m->status = error_set(m->err, CARDBOX_INVALID, "duration_seconds must be finite");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, seconds);
        if (!(strtod(text, NULL) < seconds) && !(strtod(text, NULL) > seconds))
            break;
    }
    /* The decimal separator of the program's locale may be no point, and may have several bytes. */
    size_t sign = strspn(text, "-0123456789");
    size_t rest = sign + strcspn(text + sign, "-+0123456789e");
    buf_add(&m->json, text, sign);
    if (rest > sign)
        buf_char(&m->json, '.');
    buf_text(&m->json, text + rest);
}

static void add_member(maker *m, const struct file_member *member, const cardbox_file *file)
{
    const void *at = (const char *)file + member->offset;
    const char *text;
    int64_t number;
    double seconds;
    switch (member->kind) {
    case MEMBER_TEXT:
        memcpy(&text, at, sizeof text);
        add_text(m, member->name, text);
        break;
    case MEMBER_JSON:
        memcpy(&text, at, sizeof text);
        add_json(m, member->name, text);
        break;
    case MEMBER_COUNT:
    case MEMBER_POSITIVE:
        memcpy(&number, at, sizeof number);
        if (member->kind == MEMBER_COUNT ? number < 0 : number == 0)
            return;
        add_name(m, member->name);
        buf_int(&m->json, number);
        break;
    case MEMBER_SECONDS:
        memcpy(&seconds, at, sizeof seconds);
        if (!(seconds < 0 || seconds > 0 || isnan(seconds)))
            return;
        add_name(m, member->name);
        put_seconds(m, seconds);
        break;
    }
}

static const char *const file_class_names[] = {
    [CARDBOX_FILE] = "FileContent",
    [CARDBOX_FILE_IMAGE] = "ImageFileContent",
    [CARDBOX_FILE_PDF] = "PdfFileContent",
    [CARDBOX_FILE_TEXT] = "TextFileContent",
    [CARDBOX_FILE_VIDEO] = "VideoFileContent",
    [CARDBOX_FILE_AUDIO] = "AudioFileContent",
};

static const content_class *class_of_file(const cardbox_file *file, cardbox_error *err)
{
    size_t kinds = sizeof file_class_names / sizeof *file_class_names;
    if (!file)
        error_set(err, CARDBOX_INVALID, "file is NULL");
    else if (file->struct_size != sizeof *file)
        error_set(err, CARDBOX_INVALID, "struct_size of file is %zu: start from CARDBOX_FILE_INIT",
                  file->struct_size);
    else if ((size_t)file->kind >= kinds)
        error_set(err, CARDBOX_INVALID, "kind of file is %d: pass a cardbox_file_class",
                  (int)file->kind);
    else
        return content_class_named(slice_of(file_class_names[file->kind]));
    return NULL;
}

static void add_file_members(maker *m, const content_class *class, const cardbox_file *file)
{
    size_t count = sizeof file_members / sizeof *file_members;
    for (size_t i = 0; i < count && m->status == CARDBOX_OK; i++) {
        size_t before = m->json.len;
        add_member(m, &file_members[i], file);
        if (m->status == CARDBOX_OK && m->json.len > before &&
            content_field_named(class, file_members[i].name) < 0)
            m->status = error_set(m->err, CARDBOX_INVALID, "%s is no field of %s: leave it unset",
                                  file_members[i].name, class->name);
    }
}

cardbox_status cardbox_file_content(char **out, const cardbox_file *file, cardbox_error *err)
{
    const content_class *class = class_of_file(file, err);
    if (!class)
        return CARDBOX_INVALID;
    maker m = maker_start(class->name, err);
    add_file_members(&m, class, file);
    return maker_finish(out, &m);
}

cardbox_status cardbox_files_content(char **out, const cardbox_file *files, size_t count,
                                     cardbox_error *err)
{
    if (!files && count > 0)
        return error_set(err, CARDBOX_INVALID, "files is NULL but count is %zu", count);
    maker m = maker_start("MultiFileContent", err);
    buf_text(&m.json, ",\"files\":[");
    for (size_t i = 0; i < count && m.status == CARDBOX_OK && buf_ok(&m.json); i++) {
        const content_class *class = class_of_file(&files[i], err);
        if (!class) {
            m.status = CARDBOX_INVALID;
            break;
        }
        buf_printf(&m.json, "%s{\"__type__\":\"%s\"", i > 0 ? "," : "", class->name);
        add_file_members(&m, class, &files[i]);
        buf_char(&m.json, '}');
    }
    buf_char(&m.json, ']');
    return maker_finish(out, &m);
}

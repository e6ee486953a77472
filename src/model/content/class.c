/*
 * class.c: the table of content classes, and look-ups in it.
 */
#include "model/content/class.h"

#define REQUIRED CONTENT_REQUIRED

static const content_field schema_field_fields[] = {
    {.name = "name", .kind = CONTENT_STRING, .rules = REQUIRED | CONTENT_TRIM | CONTENT_NOT_EMPTY},
    {.name = "description", .kind = CONTENT_STRING, .rules = CONTENT_TRIM, .unset = "\"\""},
    {.name = NULL}};

static const content_field error_fields[] = {
    {.name = "code", .kind = CONTENT_STRING, .rules = REQUIRED | CONTENT_NOT_EMPTY},
    {.name = "message", .kind = CONTENT_STRING, .rules = REQUIRED | CONTENT_NOT_EMPTY},
    {.name = NULL}};

static const content_field preview_fields[] = {
    {.name = "uri", .kind = CONTENT_URI, .rules = REQUIRED},
    {.name = "content_type", .kind = CONTENT_STRING},
    {.name = "width", .kind = CONTENT_INTEGER, .rules = CONTENT_POSITIVE},
    {.name = "height", .kind = CONTENT_INTEGER, .rules = CONTENT_POSITIVE},
    {.name = "size", .kind = CONTENT_INTEGER, .rules = CONTENT_NATURAL},
    {.name = "checksum", .kind = CONTENT_STRING},
    {.name = "etag", .kind = CONTENT_STRING},
    {.name = "source_frame_ts", .kind = CONTENT_NUMBER, .rules = CONTENT_NATURAL},
    {.name = NULL}};

static const content_class schema_field = {
    .name = "field", .fields = schema_field_fields, .is_part = true};
static const content_class result_error = {
    .name = "error", .fields = error_fields, .is_part = true};
static const content_class preview_image = {
    .name = "preview image", .fields = preview_fields, .is_part = true};

static const content_field text_fields[] = {
    {.name = "text", .kind = CONTENT_STRING, .rules = REQUIRED}, {.name = NULL}};

static const content_field json_fields[] = {
    {.name = "data", .kind = CONTENT_JSON, .rules = REQUIRED}, {.name = NULL}};

static const content_field schema_fields[] = {
    {.name = "fields", .kind = CONTENT_PARTS, .rules = REQUIRED, .part = &schema_field},
    {.name = NULL}};

static const content_field tool_fields[] = {
    {.name = "tools", .kind = CONTENT_OBJECTS, .rules = REQUIRED}, {.name = NULL}};

static const content_field tool_call_fields[] = {
    {.name = "tool_name", .kind = CONTENT_STRING, .rules = REQUIRED},
    {.name = "arguments", .kind = CONTENT_OBJECT, .rules = REQUIRED},
    {.name = "status", .kind = CONTENT_STRING, .rules = REQUIRED},
    {.name = "target_subject", .kind = CONTENT_STRING},
    {.name = NULL}};

static const char *const after_execution[] = {"suspend", "terminate", NULL};

static const content_field tool_result_fields[] = {
    {.name = "status",
     .kind = CONTENT_STRING,
     .rules = REQUIRED | CONTENT_TRIM | CONTENT_NOT_EMPTY},
    {.name = "after_execution",
     .kind = CONTENT_STRING,
     .rules = REQUIRED | CONTENT_TRIM,
     .choices = after_execution},
    {.name = "result", .kind = CONTENT_ANY},
    {.name = "error", .kind = CONTENT_PART, .part = &result_error},
    {.name = NULL}};

static const char *const api_formats[] = {"openai", "responses", "anthropic", NULL};

static const content_field message_fields[] = {
    {.name = "format", .kind = CONTENT_STRING, .rules = REQUIRED, .choices = api_formats},
    {.name = "message", .kind = CONTENT_OBJECT, .rules = REQUIRED},
    {.name = NULL}};

/* The fields that every file class begins with. */
#define FILE_FIELDS                                                                                \
    {.name = "uri", .kind = CONTENT_URI, .rules = REQUIRED},                                       \
        {.name = "checksum", .kind = CONTENT_STRING, .rules = REQUIRED | CONTENT_NOT_EMPTY},       \
        {.name = "etag", .kind = CONTENT_STRING},                                                  \
        {.name = "size", .kind = CONTENT_INTEGER, .rules = CONTENT_NATURAL},                       \
        {.name = "content_type", .kind = CONTENT_STRING},                                          \
        {.name = "expires_at", .kind = CONTENT_TIME},                                              \
    {                                                                                              \
        .name = "preview", .kind = CONTENT_PART, .part = &preview_image                            \
    }

static const content_field file_fields[] = {FILE_FIELDS, {.name = NULL}};

static const content_field image_fields[] = {
    FILE_FIELDS,
    {.name = "width", .kind = CONTENT_INTEGER, .rules = CONTENT_POSITIVE},
    {.name = "height", .kind = CONTENT_INTEGER, .rules = CONTENT_POSITIVE},
    {.name = "format", .kind = CONTENT_STRING},
    {.name = NULL}};

static const content_field pdf_fields[] = {
    FILE_FIELDS,
    {.name = "page_count", .kind = CONTENT_INTEGER, .rules = CONTENT_NATURAL},
    {.name = NULL}};

static const content_field video_fields[] = {
    FILE_FIELDS,
    {.name = "duration_seconds", .kind = CONTENT_NUMBER, .rules = CONTENT_POSITIVE},
    {.name = "width", .kind = CONTENT_INTEGER, .rules = CONTENT_POSITIVE},
    {.name = "height", .kind = CONTENT_INTEGER, .rules = CONTENT_POSITIVE},
    {.name = "codec", .kind = CONTENT_STRING},
    {.name = "bitrate", .kind = CONTENT_NUMBER, .rules = CONTENT_POSITIVE},
    {.name = NULL}};

static const content_field audio_fields[] = {
    FILE_FIELDS,
    {.name = "duration_seconds", .kind = CONTENT_NUMBER, .rules = CONTENT_POSITIVE},
    {.name = "codec", .kind = CONTENT_STRING},
    {.name = "bitrate", .kind = CONTENT_NUMBER, .rules = CONTENT_POSITIVE},
    {.name = NULL}};

static const content_field multi_file_fields[] = {
    {.name = "files", .kind = CONTENT_FILES, .rules = REQUIRED | CONTENT_NOT_EMPTY},
    {.name = NULL}};

static const content_class classes[] = {
    {.name = "TextContent", .fields = text_fields, .text = "text"},
    {.name = "JsonContent", .fields = json_fields, .text = "data"},
    {.name = "FieldsSchemaContent", .fields = schema_fields, .text = "fields"},
    {.name = "ToolContent", .fields = tool_fields},
    {.name = "ToolCallContent", .fields = tool_call_fields},
    {.name = "ToolResultContent", .fields = tool_result_fields, .is_result = true},
    {.name = "MessageContent", .fields = message_fields, .text = "message", .is_message = true},
    {.name = "FileContent", .fields = file_fields, .text = "uri", .is_file = true},
    {.name = "ImageFileContent", .fields = image_fields, .text = "uri", .is_file = true},
    {.name = "PdfFileContent", .fields = pdf_fields, .text = "uri", .is_file = true},
    {.name = "TextFileContent", .fields = file_fields, .text = "uri", .is_file = true},
    {.name = "VideoFileContent", .fields = video_fields, .text = "uri", .is_file = true},
    {.name = "AudioFileContent", .fields = audio_fields, .text = "uri", .is_file = true},
    {.name = "MultiFileContent", .fields = multi_file_fields, .text = "files"}};

#define CLASS_COUNT (sizeof classes / sizeof *classes)

/* Returns the last member "__type__" of an object. For `rest`, see content_class_and_rest(). */
static scan_value find_tag(scan_value content, slice *rest)
{
    const slice name = SLICE("__type__");
    scan_value tag = {SCAN_NONE, {NULL, 0}};
    if (scan_split_first(content, name, &tag, rest))
        return tag;
    *rest = (slice){NULL, 0};
    if (content.kind != SCAN_OBJECT || !scan_may_name(content.text, name))
        return (scan_value){SCAN_NONE, {NULL, 0}};
    return scan_find(content, "__type__");
}

static const content_class *find_class(scan_value content, slice *rest)
{
    scan_value tag = find_tag(content, rest);
    if (tag.kind != SCAN_STRING)
        return NULL;
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (scan_string_is(tag.text, slice_of(classes[i].name)))
            return &classes[i];
    return NULL;
}

const content_class *content_class_find(scan_value content)
{
    slice rest;
    return find_class(content, &rest);
}

const content_class *content_class_named(slice name)
{
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (slice_equal(slice_of(classes[i].name), name))
            return &classes[i];
    return NULL;
}

const char *content_class_of(scan_value content)
{
    slice rest;
    return content_class_and_rest(content, &rest);
}

const char *content_class_and_rest(scan_value content, slice *rest)
{
    const content_class *class = find_class(content, rest);
    return class ? class->name : NULL;
}

int content_field_named(const content_class *class, const char *name)
{
    for (int i = 0; class->fields[i].name; i++)
        if (strcmp(class->fields[i].name, name) == 0)
            return i;
    return -1;
}

int content_field_find(const content_class *class, slice key)
{
    for (int i = 0; class->fields[i].name; i++)
        if (scan_string_is(key, slice_of(class->fields[i].name)))
            return i;
    return -1;
}

bool content_is_unknown(const content_class *class, slice key)
{
    if (!class->is_part && scan_string_is(key, SLICE("__type__")))
        return false;
    return content_field_find(class, key) < 0;
}

/*
 * test_content.c: the content classes: what each takes and refuses, its stored form and its plain
 * text. Rows of tables; what holds for all rows is in the loops.
 */
#include "unit/content_test.h"

#include <cardbox/limits.h>
#include <stdio.h>

#include "model/content/content.h"

/* --- content_normalise: accepted --- */

static const struct accepted {
    const char *content;
    const char *stored; /* NULL: the same */
} accepted[] = {
    /* no class: nothing is touched, odd spacing included */
    {" [1, 2 ] ", NULL},
    {"\"text\"", NULL},
    {"42", NULL},
    {"null", NULL},
    {"{ }", NULL},
    {"{\"text\": \"x\"}", NULL},
    {"{\"__type__\": \"Mystery\", \"text\": 5}", NULL},
    {"{\"__type__\": null, \"text\": 5}", NULL},
    {"{\"__type__\": [\"TextContent\"], \"text\": 5}", NULL},
    {"{\"__type__\": \"textcontent\", \"text\": 5}", NULL},
    {"{\"__type__\": \"preview image\", \"uri\": 5}", NULL},
    {"{\"__type__\": \"TextContent\", \"__type__\": \"Mystery\"}", NULL},

    /* TextContent */
    {"{\"text\": \"\", \"__type__\": \"TextContent\"}",
     "{\"__type__\":\"TextContent\",\"text\":\"\"}"},
    {" {\"__type__\":\"TextContent\",\"text\":\" a \"}\n",
     "{\"__type__\":\"TextContent\",\"text\":\" a \"}"},
    {"{\"__type__\":\"TextContent\",\"text\":\"\\u0000 \\ud800 \\u0041 \\/ \\u00e9\"}", NULL},
    {"{\"__\\u0074ype__\":\"Text\\u0043ontent\",\"te\\u0078t\":\"a\"}",
     "{\"__type__\":\"TextContent\",\"text\":\"a\"}"},

    /* members that repeat, members that are not known */
    {"{\"__type__\":\"Mystery\",\"text\":5,\"text\":\"b\",\"__type__\":\"TextContent\"}",
     "{\"__type__\":\"TextContent\",\"text\":\"b\"}"},
    {"{\"z\": [1, 2], \"text\":\"a\", \"b\" : 1.50,\"__type__\":\"TextContent\"}",
     "{\"__type__\":\"TextContent\",\"text\":\"a\",\"z\":[1, 2],\"b\":1.50}"},
    {"{\"__type__\":\"TextContent\",\"text\":\"a\",\"z\":1,\"y\":2,\"\\u007a\":3,\"y\":4,\"x\":5}",
     "{\"__type__\":\"TextContent\",\"text\":\"a\",\"\\u007a\":3,\"y\":4,\"x\":5}"},
    {"{\"__type__\":\"TextContent\",\"text\":\"a\",\"\":1,\"\\ud83d\\ude00\":1,"
     "\"\xF0\x9F\x98\x80\":"
     "2,\"\\ud800\":1,\"\\uD800\":2,\"\":3}",
     "{\"__type__\":\"TextContent\",\"text\":\"a\",\"\xF0\x9F\x98\x80\":2,\"\\uD800\":2,\"\":3}"},
    {"{\"__type__\":\"TextContent\",\"text\":\"a\",\"\\ud83dA\":1,\"\\ud83d\\u0041\":2}",
     "{\"__type__\":\"TextContent\",\"text\":\"a\",\"\\ud83d\\u0041\":2}"},
    {"{\"__type__\":\"TextContent\",\"text\":\"a\",\"ab\":1,\"a\":2,\"abc\":3}", NULL},

    /* JsonContent */
    {"{\"__type__\":\"JsonContent\",\"data\":[]}", NULL},
    {"{\"__type__\":\"JsonContent\",\"data\":{\"a\": 1e400, \"b\":-0.0, \"a\" : 1.10}}", NULL},
    {"{\"__type__\":\"JsonContent\",\"data\":{\"__type__\":\"TextContent\"}}", NULL},

    /* FieldsSchemaContent */
    {"{\"__type__\":\"FieldsSchemaContent\",\"fields\":[]}", NULL},
    {"{\"__type__\":\"FieldsSchemaContent\",\"fields\":[ {\"name\":\" \\t\\n\\u00a0\xC2\xA0\\u0085 "
     "a b "
     "\\u3000\xE3\x80\x80\\u001f\\r\"} , {\"description\":\" d \",\"x\":1,\"name\":\"n\"}]}",
     "{\"__type__\":\"FieldsSchemaContent\",\"fields\":[{\"name\":\"a b\",\"description\":\"\"},"
     "{\"name\":\"n\",\"description\":\"d\",\"x\":1}]}"},
    {"{\"__type__\":\"FieldsSchemaContent\",\"fields\":[{\"name\":\" \\ud800 \\u0000 "
     "\",\"description\":"
     "null,\"__type__\":\"TextContent\"}]}",
     "{\"__type__\":\"FieldsSchemaContent\",\"fields\":[{\"name\":\"\\ud800 \\u0000\","
     "\"description\":\"\",\"__type__\":\"TextContent\"}]}"},
    {"{\"__type__\":\"FieldsSchemaContent\",\"fields\":[{\"name\":\"\xF0\x9F\x98\x80 "
     "\\ud83d\\ude00\\\\ \",\"description\":\" \\\" \"}]}",
     "{\"__type__\":\"FieldsSchemaContent\",\"fields\":[{\"name\":\"\xF0\x9F\x98\x80 "
     "\\ud83d\\ude00\\\\\",\"description\":\"\\\"\"}]}"},

    /* ToolContent, ToolCallContent */
    {"{\"__type__\":\"ToolContent\",\"tools\":[]}", NULL},
    {"{\"__type__\":\"ToolContent\",\"tools\":[{\"n\": 1} , {}]}",
     "{\"__type__\":\"ToolContent\",\"tools\":[{\"n\": 1},{}]}"},
    {"{\"__type__\":\"ToolCallContent\",\"tool_name\":\"\",\"arguments\":{},\"status\":\" s \"}",
     "{\"__type__\":\"ToolCallContent\",\"tool_name\":\"\",\"arguments\":{},\"status\":\" s \","
     "\"target_subject\":null}"},
    {"{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{\"a\":[]},\"status\":"
     "\"s\","
     "\"target_subject\":\"x\"}",
     NULL},

    /* MessageContent */
    {"{\"message\": {\"x\":1.0, \"role\":\"new\"} ,\"__type__\":\"MessageContent\",\"more\":1,"
     "\"format\":\"openai\"}",
     "{\"__type__\":\"MessageContent\",\"format\":\"openai\",\"message\":{\"x\":1.0, "
     "\"role\":\"new\"},\"more\":1}"},
    {"{\"__type__\":\"MessageContent\",\"format\":\"resp\\u006fnses\",\"message\":{\"type\":"
     "\"new\"}"
     "}",
     NULL},

    /* ToolResultContent */
    {RESULT("success", "suspend") "}",
     RESULT("success", "suspend") ",\"result\":null,\"error\":null}"},
    {RESULT(" success\\n", "\\u0020terminate ") ",\"result\":\" x \",\"error\":null}",
     RESULT("success", "terminate") ",\"result\":\" x \",\"error\":null}"},
    {RESULT("\\u0073uccess", "suspend\\u00a0") ",\"result\":[1, 2]}",
     RESULT("\\u0073uccess", "suspend") ",\"result\":[1, 2],\"error\":null}"},
    {RESULT("failed", "suspend") ",\"error\":{\"x\":[1 ],\"message\":\"m\",\"code\":\" \"}}",
     RESULT("failed",
            "suspend") ",\"result\":null,\"error\":{\"code\":\" \",\"message\":\"m\",\"x\":"
                       "[1 ]}}"},
    {RESULT("Success", "suspend") ",\"error\":{\"code\":\"c\",\"message\":\"m\"}}",
     RESULT("Success", "suspend") ",\"result\":null,\"error\":{\"code\":\"c\",\"message\":\"m\"}}"},

    /* files */
    {FILE_OF("FileContent", S3) "}", FILE_OF("FileContent", S3) "," NO_PREVIEW "}"},
    {FILE_OF("TextFileContent", S3) ",\"size\":null}",
     FILE_OF("TextFileContent", S3) "," NO_PREVIEW "}"},
    {FILE_OF("FileContent", S3) ",\"etag\":\"\",\"size\":0,\"content_type\":\"a/b\",\"expires_at\":"
                                "\"2031-01-01T02:00:00+02:00\",\"preview\":null}",
     FILE_OF("FileContent", S3) ",\"etag\":\"\",\"size\":0,\"content_type\":\"a/b\",\"expires_at\":"
                                "\"2031-01-01T00:00:00Z\",\"preview\":null}"},
    {FILE_OF("FileContent", S3) ",\"size\":-0,\"expires_at\":\"2031-01-01 00:00:00.5\"}",
     FILE_OF("FileContent", S3) ",\"etag\":null,\"size\":-0,\"content_type\":null,\"expires_at\":"
                                "\"2031-01-01T00:00:00.500000Z\",\"preview\":null}"},
    {FILE_OF("FileContent", S3) ",\"etag\":null,\"size\":123456789012345678901234567890,"
                                "\"content_type\":null,\"expires_at\":null,\"preview\":null}",
     NULL},
    {FILE_OF("ImageFileContent", S3) ",\"width\":1,\"height\":2.0,\"format\":\"png\"}",
     FILE_OF("ImageFileContent", S3) "," NO_PREVIEW
                                     ",\"width\":1,\"height\":2.0,\"format\":\"png\"}"},
    {FILE_OF("PdfFileContent", S3) ",\"page_count\":0}",
     FILE_OF("PdfFileContent", S3) "," NO_PREVIEW ",\"page_count\":0}"},
    {FILE_OF("VideoFileContent",
             S3) ",\"duration_seconds\":1e-9,\"width\":1,\"height\":1,\"codec\":"
                 "\"h264\",\"bitrate\":0.5}",
     FILE_OF("VideoFileContent", S3) "," NO_PREVIEW ",\"duration_seconds\":1e-9,\"width\":1,"
                                     "\"height\":1,\"codec\":\"h264\",\"bitrate\":0.5}"},
    {FILE_OF("AudioFileContent", S3) ",\"bitrate\":64000,\"width\":-1}",
     FILE_OF("AudioFileContent", S3) "," NO_PREVIEW ",\"duration_seconds\":null,\"codec\":null,"
                                     "\"bitrate\":64000,\"width\":-1}"},
    {FILE_OF("FileContent", S3) ",\"preview\":{\"width\":1,\"uri\":\"https://h/p.png\",\"k\":0}}",
     FILE_OF("FileContent",
             S3) ",\"etag\":null,\"size\":null,\"content_type\":null,\"expires_at\":"
                 "null,\"preview\":{\"uri\":\"https://h/p.png\",\"content_type\":null,"
                 "\"width\":1,\"height\":null,\"size\":null,\"checksum\":null,\"etag\":"
                 "null,\"source_frame_ts\":null,\"k\":0}}"},
    {FILE_OF("FileContent",
             S3) ",\"etag\":null,\"size\":null,\"content_type\":null,\"expires_at\":"
                 "null,\"preview\":{\"uri\":\"s3://b/k\",\"content_type\":\"\",\"width\":"
                 "1,\"height\":2,\"size\":0,\"checksum\":\"\",\"etag\":\"\","
                 "\"source_frame_ts\":0.0}}",
     NULL},
    {"{\"__type__\":\"MultiFileContent\",\"files\":[" FILE_OF("ImageFileContent", S3) "}, " FILE_OF(
         "PdfFileContent", "https://h/p") ",\"x\":1}]}",
     "{\"__type__\":\"MultiFileContent\",\"files\":[" FILE_OF(
         "ImageFileContent",
         S3) "," NO_PREVIEW
             ",\"width\":null,\"height\":null,\"format\":null}," FILE_OF(
                 "PdfFileContent", "https://h/p") "," NO_PREVIEW ",\"page_count\":null,\"x\":1}]}"},
};

static void expect_stored(const char *content, const char *stored)
{
    buf out = BUF_INIT(CARDBOX_CONTENT_MAX);
    content_error fault = {NULL, "", ""};
    assert_true(scan_check(slice_of(content), CARDBOX_JSON_DEPTH_MAX, NULL, NULL, NULL));
    if (!content_normalise(&out, slice_of(content), &fault))
        fail_msg("%s: %s %s", content, fault.field, fault.message);
    assert_true(buf_ok(&out));
    assert_string_equal(buf_str(&out), stored);
    assert_true(scan_check(slice_of(stored), CARDBOX_JSON_DEPTH_MAX, NULL, NULL, NULL));
    buf_free(&out);
}

static void takes_what_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        const char *stored = accepted[i].stored ? accepted[i].stored : accepted[i].content;
        expect_stored(accepted[i].content, stored);
        expect_stored(stored, stored);
    }
}

/* --- content_normalise: refused --- */

#define FILE_WITH(class, member) FILE_OF(class, S3) "," member "}"
#define SCHEMA(fields)           "{\"__type__\":\"FieldsSchemaContent\",\"fields\":" fields "}"
#define MULTI(files)             "{\"__type__\":\"MultiFileContent\",\"files\":" files "}"
#define MESSAGE(format, message)                                                                   \
    "{\"__type__\":\"MessageContent\",\"format\":\"" format "\",\"message\":" message "}"
#define ERROR_OF(error) RESULT("failed", "suspend") ",\"error\":" error "}"

static const struct refused {
    const char *content;
    const char *field;
    const char *message;
} refused[] = {
    {"{\"__type__\":\"TextContent\"}", "text", "is required"},
    {"{\"__type__\":\"TextContent\",\"text\":null}", "text", "is required"},
    {"{\"__type__\":\"TextContent\",\"text\":5}", "text", "must be a string, not number"},
    {"{\"__type__\":\"TextContent\",\"text\":\"a\",\"text\":{}}", "text",
     "must be a string, not object"},
    {"{\"__type__\":\"JsonContent\"}", "data", "is required"},
    {"{\"__type__\":\"JsonContent\",\"data\":null}", "data", "is required"},
    {"{\"__type__\":\"JsonContent\",\"data\":\"x\"}", "data",
     "must be an object or an array, not string"},
    {"{\"__type__\":\"JsonContent\",\"data\":true}", "data", "must be an object or an array"},
    {"{\"__type__\":\"FieldsSchemaContent\"}", "fields", "is required"},
    {SCHEMA("{}"), "fields", "must be an array, not object"},
    {SCHEMA("[{\"name\":\"a\"},[]]"), "fields[1]", "must be an object, not array"},
    {SCHEMA("[{}]"), "fields[0].name", "is required"},
    {SCHEMA("[{\"name\":\" \\t\\u2003\"}]"), "fields[0].name", "must not be empty"},
    {SCHEMA("[{\"name\":\"\"}]"), "fields[0].name", "must not be empty"},
    {SCHEMA("[{\"name\":\"a\",\"description\":1}]"), "fields[0].description", "must be a string"},
    {"{\"__type__\":\"ToolContent\",\"tools\":{}}", "tools", "must be an array"},
    {"{\"__type__\":\"ToolContent\",\"tools\":[{},1]}", "tools[1]", "must be an object"},
    {"{\"__type__\":\"ToolContent\"}", "tools", "is required"},
    {"{\"__type__\":\"ToolCallContent\",\"arguments\":{},\"status\":\"\"}", "tool_name",
     "is required"},
    {"{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"status\":\"\"}", "arguments",
     "is required"},
    {"{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":[],\"status\":\"\"}",
     "arguments", "must be an object, not array"},
    {"{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{}}", "status",
     "is required"},
    {"{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{},\"status\":\"s\","
     "\"target_subject\":1}",
     "target_subject", "must be a string"},

    {"{\"__type__\":\"MessageContent\",\"message\":{\"role\":\"user\"}}", "format", "is required"},
    {"{\"__type__\":\"MessageContent\",\"format\":\"openai\"}", "message", "is required"},
    {MESSAGE("gemini", "{\"role\":\"user\"}"), "format", "must be openai, responses or anthropic"},
    {MESSAGE("openai", "[]"), "message", "must be an object, not array"},
    {MESSAGE("openai", "{\"type\":\"message\"}"), "message",
     "must have a role: of a whole answer, give the message"},
    {MESSAGE("anthropic", "{\"role\":1}"), "message", "must have a role: "},
    {MESSAGE("responses", "{\"output\":[]}"), "message",
     "must have a role or a type: of a whole answer, give an item of its output"},

    {"{\"__type__\":\"ToolResultContent\",\"after_execution\":\"suspend\"}", "status",
     "is required"},
    {"{\"__type__\":\"ToolResultContent\",\"status\":\"success\"}", "after_execution",
     "is required"},
    {RESULT(" ", "suspend") "}", "status", "must not be empty"},
    {RESULT("success", "later") "}", "after_execution", "must be suspend or terminate"},
    {RESULT("success", "suspended") "}", "after_execution", "must be suspend or terminate"},
    {RESULT("success", "") "}", "after_execution", "must be suspend or terminate"},
    {RESULT(" success ", "suspend") ",\"error\":{\"code\":\"c\",\"message\":\"m\"}}", "error",
     "must be null where the status is success"},
    {RESULT("failed", "suspend") "}", "error", "is required where the status is not success"},
    {ERROR_OF("null"), "error", "is required where the status is not success"},
    {ERROR_OF("\"e\""), "error", "must be an object, not string"},
    {ERROR_OF("{\"code\":\"c\"}"), "error.message", "is required"},
    {ERROR_OF("{\"code\":\"\",\"message\":\"m\"}"), "error.code", "must not be empty"},
    {ERROR_OF("{\"code\":1,\"message\":\"m\"}"), "error.code", "must be a string"},
    {ERROR_OF("{\"code\":\"c\",\"message\":\"\"}"), "error.message", "must not be empty"},

    {"{\"__type__\":\"FileContent\",\"checksum\":\"c\"}", "uri", "is required"},
    {"{\"__type__\":\"FileContent\",\"uri\":\"" S3 "\"}", "checksum", "is required"},
    {"{\"__type__\":\"FileContent\",\"uri\":\"" S3 "\",\"checksum\":\"\"}", "checksum",
     "must not be empty"},
    {FILE_WITH("FileContent", "\"etag\":1"), "etag", "must be a string"},
    {FILE_WITH("FileContent", "\"size\":-1"), "size", "must not be below 0"},
    {FILE_WITH("FileContent", "\"size\":-0.5"), "size", "must be an integer"},
    {FILE_WITH("FileContent", "\"size\":\"1\""), "size", "must be an integer, not string"},
    {FILE_WITH("FileContent", "\"content_type\":[]"), "content_type", "must be a string"},
    {FILE_WITH("FileContent", "\"expires_at\":\"soon\""), "expires_at", "must be a time"},
    {FILE_WITH("FileContent", "\"expires_at\":\"2031-02-30T00:00:00Z\""), "expires_at",
     "must be a time"},
    {FILE_WITH("FileContent", "\"expires_at\":\"\\u0000\""), "expires_at", "must not hold \\u0000"},
    {FILE_WITH("FileContent", "\"expires_at\":1735689600"), "expires_at", "must be a string"},
    {FILE_WITH("FileContent", "\"preview\":\"p\""), "preview", "must be an object"},
    {FILE_WITH("FileContent", "\"preview\":{}"), "preview.uri", "is required"},
    {FILE_WITH("FileContent", "\"preview\":{\"uri\":\"ftp://h/p\"}"), "preview.uri",
     "must be a uri that starts with"},
    {FILE_WITH("FileContent", "\"preview\":{\"uri\":\"s3://b/k\",\"width\":0}"), "preview.width",
     "must be above 0"},
    {FILE_WITH("FileContent", "\"preview\":{\"uri\":\"s3://b/k\",\"height\":-1}"), "preview.height",
     "must be above 0"},
    {FILE_WITH("FileContent", "\"preview\":{\"uri\":\"s3://b/k\",\"size\":-1}"), "preview.size",
     "must not be below 0"},
    {FILE_WITH("FileContent", "\"preview\":{\"uri\":\"s3://b/k\",\"source_frame_ts\":-1e-9}"),
     "preview.source_frame_ts", "must not be below 0"},
    {FILE_WITH("ImageFileContent", "\"width\":0"), "width", "must be above 0"},
    {FILE_WITH("ImageFileContent", "\"width\":1.5"), "width", "must be an integer"},
    {FILE_WITH("ImageFileContent", "\"height\":-0"), "height", "must be above 0"},
    {FILE_WITH("ImageFileContent", "\"format\":1"), "format", "must be a string"},
    {FILE_WITH("PdfFileContent", "\"page_count\":-1"), "page_count", "must not be below 0"},
    {FILE_WITH("TextFileContent", "\"size\":-1"), "size", "must not be below 0"},
    {FILE_WITH("VideoFileContent", "\"duration_seconds\":0.0e5"), "duration_seconds",
     "must be above 0"},
    {FILE_WITH("VideoFileContent", "\"duration_seconds\":\"1\""), "duration_seconds",
     "must be a number, not string"},
    {FILE_WITH("VideoFileContent", "\"height\":0"), "height", "must be above 0"},
    {FILE_WITH("VideoFileContent", "\"codec\":{}"), "codec", "must be a string"},
    {FILE_WITH("VideoFileContent", "\"bitrate\":0"), "bitrate", "must be above 0"},
    {FILE_WITH("AudioFileContent", "\"duration_seconds\":-1"), "duration_seconds",
     "must be above 0"},
    {FILE_WITH("AudioFileContent", "\"bitrate\":-64"), "bitrate", "must be above 0"},

    {MULTI("null"), "files", "is required"},
    {MULTI("[]"), "files", "must not be empty"},
    {MULTI("{}"), "files", "must be an array"},
    {MULTI("[1]"), "files[0]", "must be an object"},
    {MULTI("[{}]"), "files[0].__type__", "must name a file class"},
    {MULTI("[{\"__type__\":\"TextContent\",\"text\":\"\"}]"), "files[0].__type__",
     "must name a file class"},
    {MULTI("[" MULTI("[]") "]"), "files[0].__type__", "must name a file class"},
    {MULTI("[" FILE_OF("FileContent", S3) "}," FILE_OF("FileContent", "s3://b") "}]"),
     "files[1].uri", "must name a bucket and a key"},
    {MULTI("[" FILE_WITH("FileContent", "\"preview\":{\"uri\":1}") "]"), "files[0].preview.uri",
     "must be a string"},
};

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        buf out = BUF_INIT(CARDBOX_CONTENT_MAX);
        content_error fault = {NULL, "", ""};
        slice content = slice_of(refused[i].content);
        scan_value value;
        assert_true(scan_check(content, CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL));
        if (content_normalise(&out, content, &fault))
            fail_msg("taken: %s", refused[i].content);
        assert_string_equal(fault.field, refused[i].field);
        if (!strstr(fault.message, refused[i].message))
            fail_msg("%s: %s", refused[i].content, fault.message);
        assert_string_equal(fault.class_name, content_class_of(value));
        buf_free(&out);
    }
}

static const struct uri_row {
    const char *uri;
    bool fits;
} uris[] = {
    {"s3://b/k", true},
    {"S3://b/k/l m", true},
    {"s3:\\/\\/b\\/k", true},
    {"\\u0073\\u0033://b/k", true},
    {"s3://localhost/b/k", true},
    {"s3://LOCALHOST:9000/b/k", true},
    {"https://h/p", true},
    {"HTTPS://user@h:443/p?q#f", true},
    {"https://h//", true},
    {"s3://b", false},
    {"s3://b/", false},
    {"s3://b/?k", false},
    {"s3:///k", false},
    {"s3:b/k", false},
    {"s3://localhost/b", false},
    {"s3://localhost/b/", false},
    {"s3://localhost//k", false},
    {"s3://localhost:1/b", false},
    {"https://", false},
    {"https://h", false},
    {"https://h/", false},
    {"https://h/?q", false},
    {"https://h?p/q", false},
    {"https:///p", false},
    {"https://:443/p", false},
    {"https://u@/p", false},
    {"http://h/p", false},
    {"file:///p", false},
    {"s3s://b/k", false},
    {" s3://b/k", false},
    {"s3://b/k\\n", false},
    {"s3://b/k\x7F", false},
    {"s3://b/\\u0000", false},
    {"s3://b/\\ud800", false},
    {"", false},
};

static void knows_uris(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        buf in = BUF_INIT(1024);
        buf out = BUF_INIT(1024);
        content_error fault = {NULL, "", ""};
        buf_printf(&in, FILE_OF("FileContent", "%s") "}", uris[i].uri);
        bool fits = content_normalise(&out, (slice){in.data, in.len}, &fault);
        if (fits != uris[i].fits)
            fail_msg("%s: %s", uris[i].uri, fits ? "taken" : fault.message);
        if (!fits)
            assert_string_equal(fault.field, "uri");
        buf_free(&out);
        buf_free(&in);
    }
}

/* --- classes, text, bounds --- */

static const char *const class_names[] = {
    "TextContent",      "JsonContent",       "FieldsSchemaContent", "ToolContent",
    "ToolCallContent",  "ToolResultContent", "MessageContent",      "FileContent",
    "ImageFileContent", "PdfFileContent",    "TextFileContent",     "VideoFileContent",
    "AudioFileContent", "MultiFileContent",
};

static const char *class_of(const char *content)
{
    scan_value value;
    assert_true(scan_check(slice_of(content), CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL));
    return content_class_of(value);
}

static void tells_the_class(void **state)
{
    (void)state;
    char content[100];
    for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++) {
        snprintf(content, sizeof content, "{\"__type__\":\"%s\"}", class_names[i]);
        assert_string_equal(class_of(content), class_names[i]);
    }
    assert_null(class_of("{\"__type__\":\"field\"}"));
    assert_null(class_of("{\"__type__\":\"error\"}"));
    assert_null(class_of("{\"__type__\":\"\"}"));
    assert_null(class_of("{}"));
    assert_null(class_of("[\"TextContent\"]"));
    assert_null(class_of("\"TextContent\""));
}

static void restores_the_class(void **state)
{
    static const struct {
        const char *shown, *class, *stored; /* stored NULL: the content is not of this class */
    } rows[] = {
        {"{\"text\":\"a\"}", "TextContent", "{\"__type__\":\"TextContent\",\"text\":\"a\"}"},
        {"{ \"a\" : 1 }", "FileContent", "{\"__type__\":\"FileContent\",\"a\" : 1 }"},
        {"{ }", "TextContent", "{\"__type__\":\"TextContent\"}"},
        {"{\"data\":{\"tools\":[]}}", "ToolContent", "{\"__type__\":\"ToolContent\",\"tools\":[]}"},
        {"{\"d\\u0061ta\":{}}", "ToolContent", "{\"__type__\":\"ToolContent\"}"},
        {"{\"tools\":[]}", "ToolContent", "{\"__type__\":\"ToolContent\",\"tools\":[]}"},
        {"{\"data\":[]}", "ToolContent", "{\"__type__\":\"ToolContent\",\"data\":[]}"},
        {"{\"data\":{},\"x\":1}", "ToolContent",
         "{\"__type__\":\"ToolContent\",\"data\":{},\"x\":1}"},
        {"{\"data\":{}}", "JsonContent", "{\"__type__\":\"JsonContent\",\"data\":{}}"},
        {"{\"x\":1,\"__type__\":\"TextContent\"}", "TextContent",
         "{\"x\":1,\"__type__\":\"TextContent\"}"},
        {"{\"__type__\":\"TextContent\"}", "JsonContent", NULL},
        {"{\"__type__\":null}", "TextContent", NULL},
        {"[]", "TextContent", NULL},
        {"\"a\"", "ToolContent", NULL},
        {"{}", "field", NULL},
        {"{}", "", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf out = BUF_INIT(CARDBOX_CONTENT_MAX);
        const char *reason = NULL;
        bool fits = content_restore(&out, scan_whole(slice_of(rows[i].shown)),
                                    slice_of(rows[i].class), &reason);
        assert_int_equal(fits, rows[i].stored != NULL);
        if (fits)
            assert_string_equal(buf_str(&out), rows[i].stored);
        else
            assert_non_null(reason);
        buf_free(&out);
    }
}

static const struct text_row {
    const char *content;
    const char *text;
} texts[] = {
    {"\"a\\nb\"", "a\nb"},
    {"\"\"", ""},
    {" \"a\\u0000\\ud800\" ", "a\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"[1, 2]", "[1,2]"},
    {" null ", "null"},
    {"{ \"a\" : \" \" }", "{\"a\":\" \"}"},
    {"{\"__type__\":\"TextContent\",\"text\":\"\\u00e9 \\ud83d\\ude00\"}",
     "\xC3\xA9 \xF0\x9F\x98\x80"},
    {"{\"__type__\":\"TextContent\",\"text\":5}", "{\"__type__\":\"TextContent\",\"text\":5}"},
    {"{\"__type__\":\"TextContent\"}", "{\"__type__\":\"TextContent\"}"},
    {"{\"__type__\":\"JsonContent\",\"data\":{\"a\": [1, 2]}}", "{\"a\":[1,2]}"},
    {"{\"__type__\":\"JsonContent\",\"data\": 5}", "{\"__type__\":\"JsonContent\",\"data\":5}"},
    {SCHEMA("[ {\"name\":\"n\"} ]"), "[{\"name\":\"n\"}]"},
    {"{\"__type__\":\"ToolContent\",\"tools\":[ ]}", "{\"__type__\":\"ToolContent\",\"tools\":[]}"},
    {RESULT("success", "suspend") " }", RESULT("success", "suspend") "}"},
    {FILE_OF("AudioFileContent", "s3:\\/\\/b\\/k") "}", "s3://b/k"},
    {"{\"__type__\":\"FileContent\",\"uri\":[ ]}", "{\"__type__\":\"FileContent\",\"uri\":[]}"},
    {MULTI(
         "[" FILE_OF("FileContent", "s3://b/1") "},{},7," FILE_OF("FileContent", "s3://b/2") "}]"),
     "s3://b/1\ns3://b/2"},
    {MULTI("7"), MULTI("7")},
    {MESSAGE("openai", "{\"role\":\"user\",\"content\":\"a\\nb\"}"), "a\nb"},
    {MESSAGE("anthropic", "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                          "{\"type\":\"x\"},\"b\",{\"text\":\"c\"}]}"),
     "a\nb\nc"},
    {MESSAGE("responses", "{\"type\":\"function_call_output\",\"output\":\"r\"}"), "r"},
    {MESSAGE("openai", "{\"role\":\"assistant\",\"content\": null}"),
     "{\"role\":\"assistant\",\"content\":null}"},
    {MESSAGE("openai", "7"), MESSAGE("openai", "7")},
};

static void shows_plain_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf out = BUF_INIT(CARDBOX_CONTENT_MAX);
        content_text(&out, slice_of(texts[i].content));
        assert_true(buf_ok(&out));
        assert_string_equal(buf_str(&out), texts[i].text);
        buf_free(&out);
    }
}

/* A hundred thousand members that are not known, each twice: sorted, not compared each with each.
 */
static void keeps_many_unknown_members(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    buf in = BUF_INIT(CARDBOX_CONTENT_MAX);
    buf out = BUF_INIT(CARDBOX_CONTENT_MAX);
    buf expected = BUF_INIT(CARDBOX_CONTENT_MAX);
    content_error fault;
    buf_text(&in, "{\"__type__\":\"TextContent\",\"text\":\"\"");
    buf_text(&expected, buf_str(&in));
    for (int i = 0; i < 2 * COUNT; i++) {
        int key = i * 7919 % COUNT;
        buf_printf(&in, ",\"k%d\":%d", key, i);
        if (i >= COUNT)
            buf_printf(&expected, ",\"k%d\":%d", key, i);
    }
    buf_char(&in, '}');
    buf_char(&expected, '}');
    assert_true(content_normalise(&out, (slice){in.data, in.len}, &fault));
    assert_true(slice_equal((slice){out.data, out.len}, (slice){expected.data, expected.len}));
    buf_free(&in);
    buf_free(&out);
    buf_free(&expected);
}

/* A buffer that is too small says so, wherever it ends. */
static void latches_a_full_buffer(void **state)
{
    (void)state;
    static const char content[] =
        FILE_OF("FileContent", S3) ",\"expires_at\":\"2031-01-01\",\"k\":1}";
    size_t needed = 0;
    for (size_t max = 1000; max > 0; max = max > needed ? needed : max - 1) {
        buf out = BUF_INIT(max);
        content_error fault = {NULL, "", ""};
        assert_true(content_normalise(&out, slice_of(content), &fault));
        assert_int_equal(out.failure, max < needed ? BUF_TOO_LARGE : BUF_FINE);
        needed = buf_ok(&out) ? out.len : needed;
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_fits),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(knows_uris),
        cmocka_unit_test(tells_the_class),
        cmocka_unit_test(restores_the_class),
        cmocka_unit_test(shows_plain_text),
        cmocka_unit_test(keeps_many_unknown_members),
        cmocka_unit_test(latches_a_full_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

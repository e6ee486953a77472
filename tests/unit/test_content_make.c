/*
 * test_content_make.c: the public constructors of content, and cardbox_content_check: what they
 * make, and which arguments they refuse with which status.
 */
#include "unit/content_test.h"

#include <cardbox.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA(fields) "{\"__type__\":\"FieldsSchemaContent\",\"fields\":" fields "}"
#define MULTI(files)   "{\"__type__\":\"MultiFileContent\",\"files\":" files "}"

static void expect_made(cardbox_status status, char **made, const char *stored,
                        const cardbox_error *err)
{
    if (status != CARDBOX_OK)
        fail_msg("%s", err->message);
    assert_string_equal(*made, stored);
    cardbox_free(*made);
    *made = NULL;
}

static void makes_plain_content(void **state)
{
    (void)state;
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    expect_made(cardbox_text_content(&out, "a\"\n\xC3\xA9", &err), &out,
                "{\"__type__\":\"TextContent\",\"text\":\"a\\\"\\n\xC3\xA9\"}", &err);
    expect_made(cardbox_json_content(&out, " [1, 2] ", &err), &out,
                "{\"__type__\":\"JsonContent\",\"data\":[1, 2]}", &err);
    static const cardbox_field fields[] = {{" a ", NULL}, {"b", " d"}};
    expect_made(
        cardbox_fields_content(&out, fields, 2, &err), &out,
        SCHEMA("[{\"name\":\"a\",\"description\":\"\"},{\"name\":\"b\",\"description\":\"d\"}]"),
        &err);
    expect_made(cardbox_fields_content(&out, NULL, 0, &err), &out, SCHEMA("[]"), &err);
    expect_made(cardbox_tools_content(&out, "[{}]", &err), &out,
                "{\"__type__\":\"ToolContent\",\"tools\":[{}]}", &err);
    expect_made(cardbox_tool_call_content(&out, "t", NULL, "called", NULL, &err), &out,
                "{\"__type__\":\"ToolCallContent\",\"tool_name\":\"t\",\"arguments\":{},\"status\":"
                "\"called\",\"target_subject\":null}",
                &err);
    expect_made(cardbox_tool_result_content(&out, "success ", "suspend", "1", NULL, &err), &out,
                RESULT("success", "suspend") ",\"result\":1,\"error\":null}", &err);
    expect_made(
        cardbox_message_content(&out, "openai", "{\"role\": \"user\",\"content\":\"a\"}", &err),
        &out,
        "{\"__type__\":\"MessageContent\",\"format\":\"openai\",\"message\":{\"role\": "
        "\"user\",\"content\":\"a\"}}",
        &err);
    expect_made(
        cardbox_content_check(&out, " {\"text\":\"\",\"__type__\":\"TextContent\"}", 0, &err), &out,
        "{\"__type__\":\"TextContent\",\"text\":\"\"}", &err);
    expect_made(cardbox_content_check(&out, "[1 ]junk", 4, &err), &out, "[1 ]", &err);
    assert_int_equal(cardbox_text_content(NULL, "", NULL), CARDBOX_OK);
    cardbox_free(NULL);
}

static void refuses_arguments(void **state)
{
    (void)state;
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    static const cardbox_field no_name[] = {{"a", "b"}, {NULL, "d"}};

    assert_int_equal(cardbox_text_content(&out, NULL, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "field text of TextContent is required"));
    assert_int_equal(cardbox_text_content(&out, "\xC3", &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "text is not UTF-8"));
    assert_int_equal(cardbox_json_content(&out, "{},\"x\":1", &err), CARDBOX_INVALID);
    assert_int_equal(err.position, 2);
    assert_non_null(strstr(err.message, "data"));
    assert_int_equal(cardbox_json_content(&out, "", &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_json_content(&out, "1", &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_json_content(&out, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_fields_content(&out, NULL, 1, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_fields_content(&out, no_name, 2, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "fields[1].name"));
    assert_int_equal(cardbox_tools_content(&out, "[1]", &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_tool_call_content(&out, "t", "[]", "s", NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_tool_call_content(&out, NULL, "{}", "s", NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_tool_result_content(&out, "failed", "suspend", NULL, NULL, &err),
                     CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "error"));
    assert_int_equal(cardbox_tool_result_content(&out, "failed", "x", "{", "{]", NULL),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_message_content(&out, "x", "{\"role\":\"user\"}", &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_message_content(&out, NULL, "{\"role\":\"user\"}", &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_message_content(&out, "openai", NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_content_check(&out, NULL, 3, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_content_check(&out, "[1", 0, &err), CARDBOX_INVALID);
    assert_int_equal(err.position, 2);
    assert_null(out);
}

static void refuses_what_is_too_large(void **state)
{
    (void)state;
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    size_t size = CARDBOX_CONTENT_MAX;
    char *big = malloc(size + 2);
    assert_non_null(big);
    memset(big, ' ', size + 1);
    big[size + 1] = '\0';
    memcpy(big, "[]", 2);
    assert_int_equal(cardbox_content_check(&out, big, 0, &err), CARDBOX_TOO_LARGE);
    assert_int_equal(cardbox_json_content(&out, big, &err), CARDBOX_TOO_LARGE);
    assert_int_equal(cardbox_text_content(&out, big, &err), CARDBOX_TOO_LARGE);
    big[size - 10] = '\0'; /* fits by itself, not with its class around it */
    assert_int_equal(cardbox_text_content(&out, big, &err), CARDBOX_TOO_LARGE);
    assert_int_equal(err.status, CARDBOX_TOO_LARGE);
    assert_null(out);
    free(big);
}

/* --- files --- */

static cardbox_file file_of(cardbox_file_class kind)
{
    cardbox_file file = CARDBOX_FILE_INIT;
    file.kind = kind;
    file.uri = S3;
    file.checksum = "c";
    return file;
}

static void makes_files(void **state)
{
    (void)state;
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_file file = file_of(CARDBOX_FILE);
    file.size = 0;
    expect_made(cardbox_file_content(&out, &file, &err), &out,
                FILE_OF("FileContent", S3) ",\"etag\":null,\"size\":0,\"content_type\":null,"
                                           "\"expires_at\":null,\"preview\":null}",
                &err);
    file = file_of(CARDBOX_FILE_IMAGE);
    file.width = 1;
    file.height = INT64_MAX;
    file.format = "png";
    expect_made(cardbox_file_content(&out, &file, &err), &out,
                FILE_OF("ImageFileContent", S3) "," NO_PREVIEW
                                                ",\"width\":1,\"height\":9223372036854775807,"
                                                "\"format\":\"png\"}",
                &err);
    file = file_of(CARDBOX_FILE_PDF);
    file.page_count = 0;
    expect_made(cardbox_file_content(&out, &file, &err), &out,
                FILE_OF("PdfFileContent", S3) "," NO_PREVIEW ",\"page_count\":0}", &err);
    file = file_of(CARDBOX_FILE_TEXT);
    expect_made(cardbox_file_content(&out, &file, &err), &out,
                FILE_OF("TextFileContent", S3) "," NO_PREVIEW "}", &err);
    file = file_of(CARDBOX_FILE_VIDEO);
    file.duration_seconds = 0.1;
    file.codec = "c";
    file.bitrate = 5;
    expect_made(
        cardbox_file_content(&out, &file, &err), &out,
        FILE_OF("VideoFileContent", S3) "," NO_PREVIEW ",\"duration_seconds\":0.1,\"width\":"
                                        "null,\"height\":null,\"codec\":\"c\",\"bitrate\":5}",
        &err);
    file = file_of(CARDBOX_FILE_AUDIO);
    file.duration_seconds = 1e300;
    expect_made(cardbox_file_content(&out, &file, &err), &out,
                FILE_OF("AudioFileContent", S3) "," NO_PREVIEW
                                                ",\"duration_seconds\":1e+300,\"codec\""
                                                ":null,\"bitrate\":null}",
                &err);
    file = file_of(CARDBOX_FILE);
    file.expires_at = "2031-01-01T00:00:00-01:00";
    file.preview = "{\"uri\":\"s3://b/p\"}";
    expect_made(
        cardbox_file_content(&out, &file, &err), &out,
        FILE_OF("FileContent", S3) ",\"etag\":null,\"size\":null,\"content_type\":null,"
                                   "\"expires_at\":\"2031-01-01T01:00:00Z\",\"preview\":{"
                                   "\"uri\":\"s3://b/p\",\"content_type\":null,\"width\":null,"
                                   "\"height\":null,\"size\":null,\"checksum\":null,\"etag\":"
                                   "null,\"source_frame_ts\":null}}",
        &err);
}

static void makes_several_files(void **state)
{
    (void)state;
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_file files[2] = {file_of(CARDBOX_FILE_PDF), file_of(CARDBOX_FILE_TEXT)};
    expect_made(
        cardbox_files_content(&out, files, 2, &err), &out,
        MULTI("[" FILE_OF("PdfFileContent", S3) "," NO_PREVIEW ",\"page_count\":null}," FILE_OF(
            "TextFileContent", S3) "," NO_PREVIEW "}]"),
        &err);
    out = NULL;
    assert_int_equal(cardbox_files_content(&out, files, 0, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_files_content(&out, NULL, 2, &err), CARDBOX_INVALID);
    files[1].checksum = NULL;
    assert_int_equal(cardbox_files_content(&out, files, 2, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "files[1].checksum"));
    files[1].struct_size = 8;
    assert_int_equal(cardbox_files_content(&out, files, 2, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "CARDBOX_FILE_INIT"));
    assert_null(out);
}

/* What a class does not have is refused, not dropped or kept as an unknown member. */
static void refuses_files(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char *out = NULL;
    cardbox_file pdf = file_of(CARDBOX_FILE_PDF);
    pdf.width = 1;
    assert_int_equal(cardbox_file_content(&out, &pdf, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "width is no field of PdfFileContent"));
    cardbox_file image = file_of(CARDBOX_FILE_IMAGE);
    image.width = -1;
    assert_int_equal(cardbox_file_content(&out, &image, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "width of ImageFileContent must be above 0"));
    cardbox_file odd = file_of((cardbox_file_class)6);
    assert_int_equal(cardbox_file_content(&out, &odd, &err), CARDBOX_INVALID);
    odd.kind = (cardbox_file_class)-1;
    assert_int_equal(cardbox_file_content(&out, &odd, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_file_content(&out, NULL, &err), CARDBOX_INVALID);
    static const double seconds[] = {-1, (double)INFINITY, (double)NAN};
    for (size_t i = 0; i < 3; i++) {
        cardbox_file audio = file_of(CARDBOX_FILE_AUDIO);
        audio.duration_seconds = seconds[i];
        assert_int_equal(cardbox_file_content(&out, &audio, &err), CARDBOX_INVALID);
        assert_non_null(strstr(err.message, "duration_seconds"));
    }
    assert_null(out);
}

/* In a locale with a decimal comma numbers are JSON all the same. */
static void writes_numbers_in_any_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "C"};
    cardbox_file file = file_of(CARDBOX_FILE_AUDIO);
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *out = NULL;
        if (!setlocale(LC_NUMERIC, names[i]))
            continue;
        file.duration_seconds = 1234.5;
        assert_int_equal(cardbox_file_content(&out, &file, &err), CARDBOX_OK);
        assert_non_null(strstr(out, "\"duration_seconds\":1234.5,"));
        cardbox_free(out);
        file.duration_seconds = 1.5e-7;
        assert_int_equal(cardbox_file_content(&out, &file, &err), CARDBOX_OK);
        assert_non_null(strstr(out, "\"duration_seconds\":1.5e-07,"));
        cardbox_free(out);
    }
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_plain_content),          cmocka_unit_test(refuses_arguments),
        cmocka_unit_test(refuses_what_is_too_large),    cmocka_unit_test(makes_files),
        cmocka_unit_test(makes_several_files),          cmocka_unit_test(refuses_files),
        cmocka_unit_test(writes_numbers_in_any_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

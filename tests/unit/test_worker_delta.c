/*
 * test_worker_delta.c: the message of an answer, assembled from the deltas of a stream, in the
 * shapes in which servers send them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include "worker/model/completion.h"

/* --- values --- */

/* Merges the deltas up to the NULL, and compares the result. */
static void merge_all(const char *expected, const char *const *deltas)
{
    delta_tree d;
    delta_init(&d);
    delta_value *whole = delta_object(&d);
    for (; *deltas != NULL; deltas++) {
        buf copy = BUF_INIT(4096); /* on the heap, and freed: nothing may point into it later */
        scan_value value;
        buf_text(&copy, *deltas);
        assert_true(scan_check(buf_as_slice(&copy), DELTA_DEPTH_MAX, &value, NULL, NULL));
        delta_merge(&d, whole, value);
        buf_free(&copy);
    }
    buf out = BUF_INIT(65536);
    delta_put(&out, whole);
    assert_false(d.has_failed);
    assert_string_equal(buf_str(&out), expected);
    buf_free(&out);
    delta_free(&d);
}

#define EXPECT(expected, ...) merge_all((expected), (const char *const[]){__VA_ARGS__, NULL})

static void concatenates_strings(void **state)
{
    (void)state;
    EXPECT("{\"a\":\"one \\\"two\\u00e9\"}", "{\"a\":\"one \"}", "{\"a\":\"\\\"two\"}",
           "{\"a\":null}", "{\"a\":\"\\u00e9\"}", "{\"a\":\"\"}");
    EXPECT("{\"a\":{\"b\":\"xy\",\"c\":1.50}}", "{\"a\":{\"b\":\"x\"}}",
           "{ \"a\" : {\"b\":\"y\", \"c\":1.50} }");
}

static void sets_once_what_names_things(void **state)
{
    (void)state;
    EXPECT("{\"role\":\"assistant\",\"id\":\"m1\",\"n\":18446744073709551615,\"ok\":true}",
           "{\"role\":\"assistant\",\"id\":\"\",\"n\":18446744073709551615,\"ok\":true}",
           "{\"role\":\"assistant\",\"id\":\"m1\",\"n\":7,\"ok\":false}", "{\"role\":\"\"}");
    EXPECT("{\"type\":\"a\",\"format\":\"f\"}", "{\"type\":\"a\",\"format\":\"f\"}",
           "{\"type\":\"a\",\"format\":\"f\"}");
}

static void replaces_what_is_empty(void **state)
{
    (void)state;
    EXPECT("{\"a\":null,\"b\":\"x\",\"c\":[1],\"d\":{\"e\":2}}",
           "{\"a\":null,\"b\":null,\"c\":\"\",\"d\":null}",
           "{\"a\":null,\"b\":\"x\",\"c\":[1],\"d\":{\"e\":2}}", "{\"b\":null,\"c\":\"\"}");
    /* A value of another kind that is not empty stays. */
    EXPECT("{\"a\":7,\"b\":{\"c\":1}}", "{\"a\":7,\"b\":{\"c\":1}}", "{\"a\":\"x\",\"b\":[2]}");
}

static void merges_elements_by_index(void **state)
{
    (void)state;
    EXPECT("{\"d\":[{\"index\":0,\"text\":\"ab\"},{\"index\":1,\"text\":\"cd\"}]}",
           "{\"d\":[{\"index\":0,\"text\":\"a\"}]}",
           "{\"d\":[{\"index\":1,\"text\":\"c\"},{\"index\":0,\"text\":\"b\"}]}",
           "{\"d\":[{\"index\":1,\"text\":\"d\"}]}");
    EXPECT("{\"d\":[{\"id\":\"a\",\"index\":0,\"t\":\"xy\"},{\"id\":\"b\",\"index\":0}]}",
           "{\"d\":[{\"id\":\"a\",\"index\":0,\"t\":\"x\"},{\"id\":\"b\",\"index\":0}]}",
           "{\"d\":[{\"id\":\"a\",\"index\":0,\"t\":\"y\"}]}");
    /* Two elements of other types may have the same index. */
    EXPECT("{\"d\":[{\"type\":\"s\",\"t\":\"ab\",\"index\":0},{\"type\":\"e\",\"data\":\"D\","
           "\"index\":0}]}",
           "{\"d\":[{\"type\":\"s\",\"t\":\"a\",\"index\":0}]}",
           "{\"d\":[{\"type\":\"e\",\"data\":\"D\",\"index\":0}]}",
           "{\"d\":[{\"type\":\"s\",\"t\":\"b\",\"index\":0}]}");
}

static void appends_elements_without_index(void **state)
{
    (void)state;
    EXPECT("{\"a\":[{\"type\":\"url\",\"u\":1},{\"type\":\"url\",\"u\":2},3,\"x\"]}", "{\"a\":[]}",
           "{\"a\":[{\"type\":\"url\",\"u\":1}]}", "{\"a\":[{\"type\":\"url\",\"u\":2},3]}",
           "{\"a\":[\"x\"]}");
}

/* Some servers send content as parts: each delta continues the last part. */
static void continues_parts(void **state)
{
    (void)state;
    EXPECT("{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm "
           "so\"}]},{\"type\":\"text\",\"text\":\"the answer\"}]}",
           "{\"content\":\"\"}",
           "{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm "
           "\"}]}]}",
           "{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"so\"}]"
           "}]}",
           "{\"content\":\"the \"}", "{\"content\":\"answer\"}", "{\"content\":\"\"}");
    EXPECT("{\"d\":[{\"type\":\"reasoning.text\",\"text\":\"ab\",\"signature\":\"S\"},{\"type\":"
           "\"reasoning.encrypted\",\"data\":\"D\"},{\"type\":\"reasoning.encrypted\",\"data\":"
           "\"E\"}]}",
           "{\"d\":[{\"type\":\"reasoning.text\",\"text\":\"a\"}]}",
           "{\"d\":[{\"type\":\"reasoning.text\",\"text\":\"b\"}]}",
           "{\"d\":[{\"type\":\"reasoning.text\",\"signature\":\"S\"}]}",
           "{\"d\":[{\"type\":\"reasoning.encrypted\",\"data\":\"D\"}]}",
           "{\"d\":[{\"type\":\"reasoning.encrypted\",\"data\":\"E\"}]}");
    EXPECT("{\"content\":[{\"type\":\"text\",\"text\":\"a\\n\"},{\"type\":\"image\",\"u\":1}]}",
           "{\"content\":\"a\\n\"}", "{\"content\":[{\"type\":\"image\",\"u\":1}]}");
}

/* Merges the same delta until it fails. Returns the bytes that were counted. */
static size_t bytes_until_failure(const char *text)
{
    delta_tree d;
    delta_init(&d);
    delta_value *whole = delta_object(&d);
    for (int i = 0; i < 2000000 && !d.has_failed; i++)
        delta_merge(&d, whole, scan_whole(slice_of(text)));
    assert_true(d.has_failed);
    size_t bytes = d.bytes;
    delta_free(&d);
    return bytes;
}

static void is_bounded(void **state)
{
    buf many = BUF_INIT(65536), long_text = BUF_INIT(2 * 1024 * 1024);
    (void)state;
    buf_text(&long_text, "{\"a\":\"");
    for (int i = 0; i < 1000000; i++)
        buf_char(&long_text, 'x');
    buf_text(&long_text, "\"}");
    assert_true(bytes_until_failure(buf_str(&long_text)) < DELTA_BYTES_MAX + 2000000);
    assert_true(bytes_until_failure("{\"a\":[{\"b\":[{}]}]}") < DELTA_BYTES_MAX + 2000);
    for (int i = 0; i <= DELTA_MEMBERS_MAX; i++)
        buf_printf(&many, "%s\"m%d\":1", i == 0 ? "{" : ",", i);
    buf_char(&many, '}');
    bytes_until_failure(buf_str(&many));
    buf_free(&many);
    buf_free(&long_text);
}

/* --- messages --- */

#define DELTA(text) "{\"choices\":[{\"index\":0,\"delta\":" text "}]}"
#define FINISH      "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"

static void message_of(const char *expected, const char *const *chunks)
{
    completion c;
    buf out = BUF_INIT(65536);
    slice piece;
    completion_init(&c);
    for (; *chunks != NULL; chunks++)
        assert_true(completion_add_chunk(&c, slice_of(*chunks), &piece));
    assert_true(completion_end(&c));
    completion_put_message(&out, &c);
    assert_string_equal(buf_str(&out), expected);
    buf_free(&out);
    completion_free(&c);
}

#define EXPECT_MESSAGE(expected, ...)                                                              \
    message_of((expected), (const char *const[]){__VA_ARGS__, FINISH, NULL})

/* DeepSeek's API: thinking is a member beside the content. */
static void keeps_reasoning_content(void **state)
{
    (void)state;
    EXPECT_MESSAGE("{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"R1R2\","
                   "\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":"
                   "\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}",
                   DELTA("{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"\"}"),
                   DELTA("{\"content\":null,\"reasoning_content\":\"R1\"}"),
                   DELTA("{\"reasoning_content\":\"R2\"}"),
                   DELTA("{\"content\":\"\",\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":"
                         "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}"),
                   DELTA("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
                         "\"{\\\"a\\\":1}\"}}]}"));
}

/* Gemini's compatible API: a signature is in a member of each call, and ids may be empty. */
static void keeps_members_of_calls(void **state)
{
    (void)state;
    EXPECT_MESSAGE(
        "{\"role\":\"assistant\",\"content\":null,\"extra_content\":{\"g\":\"T\"},\"tool_calls\":["
        "{\"id\":\"\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\","
        "\"odd\":1},\"extra_content\":{\"google\":{\"thought_signature\":\"S1S2\"}}},"
        "{\"id\":\"\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}",
        DELTA("{\"role\":\"assistant\",\"extra_content\":{\"g\":\"T\"},\"tool_calls\":[{"
              "\"extra_content\":{\"google\":{\"thought_signature\":\"S1\"}},\"function\":{"
              "\"arguments\":\"{}\",\"name\":\"f\",\"odd\":1},\"id\":\"\",\"type\":\"function\","
              "\"index\":0}]}"),
        DELTA("{\"tool_calls\":[{\"index\":0,\"extra_content\":{\"google\":{\"thought_signature\":"
              "\"S2\"}}}]}"),
        DELTA("{\"tool_calls\":[{\"function\":{\"arguments\":\"{}\",\"name\":\"g\"},\"id\":\"\","
              "\"type\":\"function\",\"index\":0}]}"));
}

/* OpenAI's first delta has null members, and the last ones may have annotations. */
static void keeps_refusals_and_annotations(void **state)
{
    (void)state;
    EXPECT_MESSAGE("{\"role\":\"assistant\",\"content\":null,\"refusal\":\"I can't\"}",
                   DELTA("{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}"),
                   DELTA("{\"refusal\":\"I \"}"), DELTA("{\"refusal\":\"can't\"}"));
    EXPECT_MESSAGE("{\"role\":\"assistant\",\"content\":\"see\",\"refusal\":null,\"annotations\":["
                   "{\"type\":\"url_citation\",\"n\":1},{\"type\":\"url_citation\",\"n\":2}]}",
                   DELTA("{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}"),
                   DELTA("{\"content\":\"see\"}"),
                   DELTA("{\"annotations\":[{\"type\":\"url_citation\",\"n\":1}]}"),
                   DELTA("{\"annotations\":[{\"type\":\"url_citation\",\"n\":2}]}"));
}

/* A message that was not streamed keeps its bytes, unless servers would refuse it. */
static void keeps_whole_messages(void **state)
{
#define MESSAGE(text)                                                                              \
    "{\"choices\":[{\"message\":" text ",\"finish_reason\":\"stop\"}],\"usage\":{}}"
    (void)state;
    EXPECT_MESSAGE(
        "{ \"content\": \"x\\u00e9\", \"role\":\"assistant\",\"odd\":[1.0, 2]}",
        MESSAGE("{ \"content\": \"x\\u00e9\", \"role\":\"assistant\",\"odd\":[1.0, 2]}"));
    EXPECT_MESSAGE("{\"role\":\"assistant\",\"content\":\"x\",\"odd\":1}",
                   MESSAGE("{\"content\":\"x\", \"odd\":1}"));
    EXPECT_MESSAGE("{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"\",\"type\":"
                   "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}",
                   MESSAGE("{\"role\":\"assistant\",\"content\":\"\",\"function_call\":{\"name\":"
                           "\"f\",\"arguments\":{\"a\": 1}}}"));
    EXPECT_MESSAGE("{\"role\":\"assistant\",\"content\":\"ab\"}", DELTA("{\"content\":\"a\"}"),
                   DELTA("{\"content\":\"b\"}"),
                   MESSAGE("{\"role\":\"assistant\",\"content\":\"ab\"}"));
}

static void replaces_half_surrogates(void **state)
{
    (void)state;
    EXPECT_MESSAGE("{\"role\":\"assistant\",\"content\":\"x\",\"r\":\"a\\ud83d\\ude00\\ufffd\"}",
                   DELTA("{\"content\":\"x\",\"r\":\"a\\ud83d\"}"),
                   DELTA("{\"r\":\"\\ude00\\u0000\"}"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(concatenates_strings),
        cmocka_unit_test(sets_once_what_names_things),
        cmocka_unit_test(replaces_what_is_empty),
        cmocka_unit_test(merges_elements_by_index),
        cmocka_unit_test(appends_elements_without_index),
        cmocka_unit_test(continues_parts),
        cmocka_unit_test(is_bounded),
        cmocka_unit_test(keeps_reasoning_content),
        cmocka_unit_test(keeps_members_of_calls),
        cmocka_unit_test(keeps_refusals_and_annotations),
        cmocka_unit_test(keeps_whole_messages),
        cmocka_unit_test(replaces_half_surrogates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

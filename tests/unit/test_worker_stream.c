/*
 * test_worker_stream.c: a model's stream, from bytes to a message: lines and events that are cut
 * anywhere, parts of texts and of tool calls, and streams that must not become a message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include "worker/model/completion.h"
#include "worker/model/sse.h"

/* --- events --- */

static bool collect(void *arg, slice data)
{
    buf *all = arg;
    buf_char(all, '[');
    buf_slice(all, data);
    buf_char(all, ']');
    return !slice_equal(data, SLICE("stop"));
}

/* Collects the events of a text that is parsed in parts of `step` bytes. */
static bool events_of(buf *all, slice text, size_t step, size_t max)
{
    sse s;
    bool goes_on = true;
    sse_init(&s, max, collect, all);
    for (size_t at = 0; at < text.len && goes_on; at += step) {
        size_t len = text.len - at < step ? text.len - at : step;
        goes_on = sse_feed(&s, (slice){text.ptr + at, len});
    }
    sse_free(&s);
    return goes_on;
}

static void expect_events(const char *text, const char *expected)
{
    for (size_t step = 1; step <= strlen(text); step++) {
        buf all = BUF_INIT(4096);
        assert_true(events_of(&all, slice_of(text), step, 100));
        assert_string_equal(buf_str(&all), expected);
        buf_free(&all);
    }
}

static void reads_events(void **state)
{
    (void)state;
    expect_events("data: one\n\ndata: two\n\n", "[one][two]");
    expect_events("data: one\r\n\r\ndata:two\r\rdata:  three\n\n", "[one][two][ three]");
    expect_events("\xEF\xBB\xBF"
                  "data: a\ndata: b\ndata\n\n",
                  "[a\nb\n]");
    expect_events(": comment\nevent: error\nid: 7\ndata: x\nretry: 5\n\n\n\n", "[x]");
    expect_events("dataset: no\ndata: {\"a:b\"}\n\n", "[{\"a:b\"}]");
    expect_events("data:\n\n", "[]");
}

static void gives_no_event_that_is_cut(void **state)
{
    (void)state;
    expect_events("data: whole\n\ndata: cut", "[whole]");
    expect_events("data: whole\n\ndata: cut\n", "[whole]");
}

static void bounds_events(void **state)
{
    buf all = BUF_INIT(4096);
    (void)state;
    assert_false(events_of(&all, SLICE("data: 0123456789\n\n"), 3, 12));
    assert_false(events_of(&all, SLICE("data: 01234\ndata: 5678\ndata: 9\n\n"), 100, 11));
    assert_string_equal(buf_str(&all), "");
    assert_false(events_of(&all, SLICE("data: a\n\ndata: stop\n\ndata: b\n\n"), 100, 100));
    assert_string_equal(buf_str(&all), "[a][stop]");
    buf_free(&all);
}

/* --- completions --- */

#define DELTA(text) "{\"choices\":[{\"index\":0,\"delta\":" text ",\"finish_reason\":null}]}"
#define FINISH(why) "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why "\"}]}"
#define CALL(text)  DELTA("{\"tool_calls\":[" text "]}")

/* Adds the chunks up to the NULL. Returns whether they make a complete message. */
static bool take_all(completion *c, const char *const *chunks)
{
    slice piece;
    completion_init(c);
    for (; *chunks != NULL; chunks++) {
        buf copy = BUF_INIT(4096); /* on the heap: a read past the end is seen */
        buf_text(&copy, *chunks);
        bool goes_on = completion_add_chunk(c, buf_as_slice(&copy), &piece);
        buf_free(&copy);
        if (!goes_on)
            break;
    }
    return completion_end(c);
}

#define TAKE(c, ...) take_all((c), (const char *const[]){__VA_ARGS__, NULL})

static void assembles_text(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c, DELTA("{\"role\":\"assistant\",\"content\":\"\"}"),
                     DELTA("{\"content\":\"He\\\"\"}"), DELTA("{\"content\":\"llo\\ud83d\"}"),
                     DELTA("{\"content\":\"\\ude00\"}"), DELTA("{\"content\":null}"),
                     FINISH("stop"),
                     "{\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,"
                     "\"total_tokens\":15,\"cost\":0.25}}",
                     "[DONE]"));
    assert_string_equal(buf_str(&c.text), "He\"llo\xF0\x9F\x98\x80");
    assert_string_equal(c.finish_reason, "stop");
    assert_int_equal(c.prompt_tokens, 12);
    assert_int_equal(c.completion_tokens, 3);
    assert_int_equal(c.total_tokens, 15);
    assert_true(c.cost > 0.24 && c.cost < 0.26);
    assert_int_equal(c.call_count, 0);
    completion_free(&c);
}

static void lends_pieces(void **state)
{
    completion c;
    slice piece;
    (void)state;
    completion_init(&c);
    assert_true(completion_add_chunk(&c, SLICE(DELTA("{\"content\":\"a\\nb\"}")), &piece));
    assert_true(slice_equal(piece, SLICE("a\nb")));
    assert_true(completion_add_chunk(&c, SLICE(FINISH("stop")), &piece));
    assert_int_equal(piece.len, 0);
    assert_false(completion_add_chunk(&c, SLICE("[DONE]"), &piece));
    assert_true(c.is_done);
    assert_false(completion_add_chunk(&c, SLICE(DELTA("{\"content\":\"late\"}")), &piece));
    assert_string_equal(buf_str(&c.text), "a\nb");
    completion_free(&c);
}

static void assembles_calls(void **state)
{
    completion c;
    (void)state;
    assert_true(
        TAKE(&c,
             CALL("{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                  "\"arguments\":\"\"}}"),
             CALL("{\"index\":0,\"function\":{\"arguments\":\"{\\\"q\\\"\"}}"),
             CALL("{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"g\",\"arguments\":\"{\"}},"
                  "{\"index\":0,\"function\":{\"arguments\":\":1}\"}}"),
             CALL("{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"g\",\"arguments\":\"}\"}}"),
             FINISH("tool_calls"), "[DONE]"));
    assert_int_equal(c.call_count, 2);
    assert_string_equal(buf_str(&c.calls[0].id), "c1");
    assert_string_equal(buf_str(&c.calls[0].name), "f");
    assert_string_equal(buf_str(&c.calls[0].arguments), "{\"q\":1}");
    assert_string_equal(buf_str(&c.calls[1].name), "g");
    assert_string_equal(buf_str(&c.calls[1].arguments), "{}");
    completion_free(&c);
}

/* Servers that leave the index out send each call in one fragment, or begin each with its id. */
static void assembles_calls_without_index(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c, CALL("{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}"),
                     CALL("{\"function\":{\"arguments\":\"}\"}}"),
                     CALL("{\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}"),
                     FINISH("stop")));
    assert_int_equal(c.call_count, 2);
    assert_string_equal(buf_str(&c.calls[0].arguments), "{}");
    assert_string_equal(buf_str(&c.calls[1].name), "g");
    completion_free(&c);
}

static void expect_calls(completion *c, bool is_whole, const char *first, const char *second)
{
    assert_true(is_whole);
    assert_int_equal(c->call_count, 2);
    assert_string_equal(buf_str(&c->calls[0].arguments), first);
    assert_string_equal(buf_str(&c->calls[1].arguments), second);
    completion_free(c);
}

#define WHOLE(more, name, arguments)                                                               \
    "{" more "\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}}"

/* Some servers give all calls the same index, or none. */
static void tells_calls_apart(void **state)
{
    completion c;
    bool whole;
    (void)state;
    whole = TAKE(&c, CALL(WHOLE("", "f", "{}") "," WHOLE("", "f", "")), FINISH("tool_calls"));
    expect_calls(&c, whole, "{}", "");
    whole = TAKE(&c, CALL(WHOLE("\"id\":\"0\",", "f", "{}")),
                 CALL(WHOLE("\"id\":\"0\",", "f", "{ }")), FINISH("tool_calls"));
    expect_calls(&c, whole, "{}", "{ }");
    whole = TAKE(&c, CALL(WHOLE("\"index\":0,", "f", "")), CALL(WHOLE("\"index\":0,", "g", "{")),
                 CALL("{\"index\":0,\"function\":{\"arguments\":\"}\"}}"), FINISH("tool_calls"));
    expect_calls(&c, whole, "", "{}");
}

/* Complete messages, contents of several parts, refusals, and arguments that are objects. */
static void takes_other_forms(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c,
                     "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                     "{\"type\":\"refusal\",\"refusal\":\"b\"}],\"refusal\":\"c\"},"
                     "\"finish_reason\":\"stop\"}]}"));
    assert_string_equal(buf_str(&c.text), "abc");
    completion_free(&c);
    assert_true(TAKE(&c, DELTA("{\"function_call\":{\"name\":\"f\",\"arguments\":\"{\"}}"),
                     DELTA("{\"function_call\":{\"arguments\":\"}\"}}"), FINISH("function_call")));
    assert_int_equal(c.call_count, 1);
    assert_string_equal(buf_str(&c.calls[0].arguments), "{}");
    completion_free(&c);
    assert_true(TAKE(&c,
                     CALL("{\"function\":{\"name\":\"f\",\"arguments\":{\"z\": 5,\"a\":\"\\n\"}}}"),
                     FINISH("tool_calls")));
    assert_string_equal(buf_str(&c.calls[0].arguments), "{\"z\":5,\"a\":\"\\n\"}");
    completion_free(&c);
}

static void takes_the_choice_that_was_asked_for(void **state)
{
    completion c;
    (void)state;
    assert_true(
        TAKE(&c,
             "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"},"
             "\"finish_reason\":\"length\"},{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}",
             "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}", FINISH("stop")));
    assert_string_equal(buf_str(&c.text), "yes");
    assert_null(completion_cut_reason(&c));
    completion_free(&c);
}

static void says_that_a_text_was_cut(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c, DELTA("{\"content\":\"ha\"}"), FINISH("length")));
    assert_non_null(strstr(completion_cut_reason(&c), "length"));
    completion_free(&c);
    assert_true(TAKE(&c, FINISH("content_filter")));
    assert_non_null(strstr(completion_cut_reason(&c), "filter"));
    completion_free(&c);
}

/* Characters that UTF-8 can't represent, and numbers that jansson can't. */
static void reads_what_jansson_refuses(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c, DELTA("{\"content\":\"a\\u0000b\\ude00\\ud83d c\\\\ud83d\"}"),
                     DELTA("{\"content\":\"\\uD83D\"}"), DELTA("{\"content\":\" \"}"),
                     DELTA("{\"content\":\"\\ude00\\n\\ude00\"}"), FINISH("stop")));
    assert_string_equal(buf_str(&c.text), "a\uFFFDb\uFFFD\uFFFD c\\ud83d \U0001F600\n\uFFFD");
    completion_free(&c);
    assert_true(
        TAKE(&c, "{\"choices\":[{\"index\":0,\"seed\":18446744073709551615,\"delta\":{\"content\":"
                 "\"x\"},\"finish_reason\":\"stop\"}],\"usage\":{\"total_tokens\":7}}"));
    assert_string_equal(buf_str(&c.text), "x");
    assert_int_equal(c.total_tokens, 7);
    completion_free(&c);
}

/* The arguments of a call keep their bytes: white space, order, repeated members, numbers. */
static void keeps_arguments(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c,
                     CALL("{\"function\":{\"name\":\"f\",\"arguments\":\"{ \\\"b\\\": 1.10,"
                          "\\\"b\\\":1e400, \\\"a\\\":\\\"\\\\ud800\\\"}\"}}"),
                     FINISH("tool_calls")));
    assert_string_equal(buf_str(&c.calls[0].arguments),
                        "{ \"b\": 1.10,\"b\":1e400, \"a\":\"\\ud800\"}");
    completion_free(&c);
}

static void believes_no_absurd_count(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c, DELTA("{\"content\":\"x\"}"), FINISH("stop"),
                     "{\"usage\":{\"prompt_tokens\":9223372036854775807,\"completion_tokens\":3,"
                     "\"prompt_tokens_details\":{\"cached_tokens\":2}}}"));
    assert_int_equal(c.prompt_tokens, -1);
    assert_int_equal(c.completion_tokens, 3);
    assert_int_equal(c.cached_tokens, 2);
    completion_free(&c);
}

static void expect_failure(bool is_whole, completion *c, const char *reason)
{
    assert_false(is_whole);
    assert_non_null(strstr(c->error, reason));
    completion_free(c);
}

static void refuses_what_is_no_message(void **state)
{
    completion c;
    bool whole;
    (void)state;
    whole = TAKE(&c, DELTA("{\"content\":\"half\"}"));
    expect_failure(whole, &c, "cut off");
    whole = TAKE(&c, DELTA("{\"content\":\"half\"}"), "[DONE]");
    expect_failure(whole, &c, "cut off");
    whole = TAKE(&c, DELTA("{\"content\":\"half\"}"), "{\"choices\":[{\"del");
    expect_failure(whole, &c, "no JSON object");
    whole = TAKE(&c, "[1]");
    expect_failure(whole, &c, "no JSON object");
    whole = TAKE(&c, DELTA("{\"content\":\"half\"}"),
                 "{\"error\":{\"message\":\"over\\u006coaded\",\"type\":\"server_error\"}}");
    expect_failure(whole, &c, "overloaded");
    whole = TAKE(&c, FINISH("stop"), "{\"error\":\"gone\"}");
    expect_failure(whole, &c, "gone");
    whole = TAKE(&c, "{\"error\":{\"code\":5}}");
    expect_failure(whole, &c, "(no message)");
    whole = TAKE(&c, CALL("{\"index\":0,\"id\":\"x\"}"), FINISH("tool_calls"));
    expect_failure(whole, &c, "without naming");
    whole = TAKE(&c, DELTA("{\"content\":\"\"}"), FINISH("stop"), "[DONE]");
    expect_failure(whole, &c, "is empty");
}

static void takes_odd_chunks(void **state)
{
    completion c;
    (void)state;
    assert_true(TAKE(&c, "{}", "{\"choices\":null}", "{\"choices\":[]}", "{\"choices\":[7]}",
                     "{\"choices\":[{\"delta\":null}]}", "{\"error\":null,\"usage\":null}",
                     DELTA("{\"content\":[1],\"tool_calls\":[null,3]}"),
                     DELTA("{\"content\":\"x\"}"), FINISH("sT\\u006fp")));
    assert_string_equal(buf_str(&c.text), "x");
    assert_string_equal(c.finish_reason, "s?op");
    assert_int_equal(c.total_tokens, -1);
    completion_free(&c);
}

static void bounds_calls(void **state)
{
    completion c;
    char chunk[256];
    slice piece;
    int taken = 0;
    (void)state;
    completion_init(&c);
    for (; taken < 1000; taken++) {
        snprintf(chunk, sizeof(chunk),
                 CALL("{\"index\":%d,\"id\":\"i\",\"function\":{\"name\":\"f\"}}"), taken);
        if (!completion_add_chunk(&c, slice_of(chunk), &piece))
            break;
    }
    assert_int_equal(taken, COMPLETION_CALLS_MAX);
    assert_non_null(strstr(c.error, "more tool calls"));
    assert_true(c.is_final);
    completion_free(&c);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_events),
        cmocka_unit_test(gives_no_event_that_is_cut),
        cmocka_unit_test(bounds_events),
        cmocka_unit_test(assembles_text),
        cmocka_unit_test(lends_pieces),
        cmocka_unit_test(assembles_calls),
        cmocka_unit_test(assembles_calls_without_index),
        cmocka_unit_test(tells_calls_apart),
        cmocka_unit_test(takes_other_forms),
        cmocka_unit_test(takes_the_choice_that_was_asked_for),
        cmocka_unit_test(says_that_a_text_was_cut),
        cmocka_unit_test(reads_what_jansson_refuses),
        cmocka_unit_test(keeps_arguments),
        cmocka_unit_test(believes_no_absurd_count),
        cmocka_unit_test(refuses_what_is_no_message),
        cmocka_unit_test(takes_odd_chunks),
        cmocka_unit_test(bounds_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_server_body.c: bodies of batch reads: what is taken, and every way in which they are
 * refused.
 */
#include "unit/server_test.h"
#include <stdio.h>
#include "server/request/body.h"

static const body_rules CARDS = {"card_ids", false};
static const body_rules BOXES = {"box_ids", true};

static body_ids batch;

static validation_result read_text(const char *text, const body_rules *wanted)
{
    validation_free(&s);
    validation_init(&s, slice_of(text), &memory);
    body_read(&batch, wanted, &s);
    return validation_check(&s);
}

static void assert_id(size_t index, const char *token, const char *text)
{
    const body_id *id = &batch.ids[index];
    assert_int_equal(id->token.len, strlen(token));
    assert_memory_equal(id->token.ptr, token, id->token.len);
    if (text == NULL) {
        assert_null(id->text.ptr);
        return;
    }
    assert_int_equal(id->text.len, strlen(text));
    assert_memory_equal(id->text.ptr, text, id->text.len);
}

static void takes_ids(void **state)
{
    (void)state;
    assert_int_equal(
        read_text("{\"card_ids\":[\"a\",\"\",\"b/\\u0063\",\"a\",\"\\u0061\"]}", &CARDS),
        VALIDATION_OK);
    assert_int_equal(batch.count, 3);
    assert_id(0, "\"a\"", "a");
    assert_id(1, "\"\"", "");
    assert_id(2, "\"b/\\u0063\"", "b/c");
}

static void keeps_ids_that_cannot_be(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"card_ids\":[\"\\u0000\",\"\\ud800\",\"\\u0000\"]}", &CARDS),
                     VALIDATION_OK);
    assert_int_equal(batch.count, 2);
    assert_id(0, "\"\\u0000\"", NULL);
    assert_id(1, "\"\\ud800\"", NULL);
}

static void takes_defaults(void **state)
{
    (void)state;
    assert_int_equal(read_text(" {} ", &BOXES), VALIDATION_OK);
    assert_int_equal(batch.count, 0);
    assert_false(batch.hydrate);
    assert_int_equal(batch.limit, 200);
    assert_int_equal(read_text("{\"cardIds\":3,\"x\":{\"a\":1,\"a\":2}}", &CARDS), VALIDATION_OK);
}

static void joins_spellings_of_a_uuid(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"box_ids\":[\"ABCDEFAB-cdef-7abc-8def-abcdefabcdef\","
                               "\"abcdefab-cdef-7abc-8def-abcdefabcdef\",\"x\"]}",
                               &BOXES),
                     VALIDATION_OK);
    assert_int_equal(batch.count, 2);
    assert_true(batch.ids[0].is_uuid);
    assert_id(0, "\"ABCDEFAB-cdef-7abc-8def-abcdefabcdef\"",
              "abcdefab-cdef-7abc-8def-abcdefabcdef");
    assert_false(batch.ids[1].is_uuid);
}

static void takes_limits(void **state)
{
    static const struct {
        const char *limit;
        int expected;
    } CASES[] = {{"1", 1},     {"0", 1},      {"-5", 1},
                 {"500", 500}, {"501", 500},  {"2.0", 2},
                 {"2e1", 20},  {"1e99", 500}, {"1000000000000000000000000000000", 500}};
    char text[100];
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        snprintf(text, sizeof(text), "{\"hydrate\":true,\"limit\":%s}", CASES[i].limit);
        assert_int_equal(read_text(text, &BOXES), VALIDATION_OK);
        assert_int_equal(batch.limit, CASES[i].expected);
        assert_true(batch.hydrate);
    }
}

static void refuses_what_is_no_json(void **state)
{
    static const char *const CASES[] = {
        " ",  "{", "[1,]", "{\"a\":1}x", "nul", "\xEF\xBB\xBF{}", "{\"card_ids\":[\"\\x41\"]}",
        "'a'"};
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_int_equal(read_text(CASES[i], &CARDS), VALIDATION_MALFORMED);
        assert_non_null(s.message);
    }
}

static void refuses_members_twice(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"card_ids\":[],\"card_ids\":[\"a\"]}", &CARDS),
                     VALIDATION_MALFORMED);
    assert_int_equal(s.position, 15);
    assert_int_equal(read_text("{\"card_ids\":[],\"card\\u005fids\":[]}", &CARDS),
                     VALIDATION_MALFORMED);
    assert_int_equal(read_text("{\"x\":1,\"x\":2}", &CARDS), VALIDATION_MALFORMED);
}

static void lists_all_faults(void **state)
{
    static const struct {
        const char *text, *items;
    } CASES[] = {
        {"", "{\"type\":\"missing\",\"loc\":[\"body\"],\"msg\":\"Field required\"}"},
        {"[]", "{\"type\":\"model_attributes_type\",\"loc\":[\"body\"],"
               "\"msg\":\"Input should be a valid object\",\"input\":[]}"},
        {"{\"box_ids\":null}", "{\"type\":\"list_type\",\"loc\":[\"body\",\"box_ids\"],"
                               "\"msg\":\"Input should be a valid list\",\"input\":null}"},
        {"{\"box_ids\":[\"a\",3],\"hydrate\":0,\"limit\":2.5}",
         "{\"type\":\"string_type\",\"loc\":[\"body\",\"box_ids\",1],"
         "\"msg\":\"Input should be a valid string\",\"input\":3},"
         "{\"type\":\"bool_type\",\"loc\":[\"body\",\"hydrate\"],"
         "\"msg\":\"Input should be a valid boolean\",\"input\":0},"
         "{\"type\":\"int_type\",\"loc\":[\"body\",\"limit\"],"
         "\"msg\":\"Input should be a valid integer\",\"input\":2.5}"},
        {"{\"limit\":\"5\"}", "{\"type\":\"int_type\",\"loc\":[\"body\",\"limit\"],"
                              "\"msg\":\"Input should be a valid integer\",\"input\":\"5\"}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_int_equal(read_text(CASES[i].text, &BOXES), VALIDATION_FAULTS);
        assert_string_equal(buf_str(&s.items), CASES[i].items);
    }
}

/* A list of `count` elements, each "%zu" or, with `quote`, a string of it. */
static char *list_of(size_t count, const char *quote)
{
    buf text = BUF_INIT(1 << 20);
    buf_text(&text, "{\"card_ids\":[");
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s%zu%s", i == 0 ? "" : ",", quote, i, quote);
    buf_text(&text, "]}");
    char *copy = arena_copy(&memory, slice_of(buf_str(&text)));
    buf_free(&text);
    return copy;
}

static void bounds_ids_and_faults(void **state)
{
    size_t faults = 0;
    (void)state;
    assert_int_equal(read_text(list_of(100, "\""), &CARDS), VALIDATION_OK);
    assert_int_equal(batch.count, 100);
    assert_int_equal(read_text(list_of(101, "\""), &CARDS), VALIDATION_TOO_MANY);
    assert_int_equal(read_text(list_of(1000, ""), &CARDS), VALIDATION_FAULTS);
    for (const char *at = buf_str(&s.items); (at = strstr(at, "string_type")) != NULL; at++)
        faults++;
    assert_int_equal(faults, 100);
}

/* Shape goes before count. */
static void reports_shape_first(void **state)
{
    buf text = BUF_INIT(1 << 20);
    (void)state;
    buf_text(&text, list_of(200, "\""));
    text.len -= 2;
    text.data[text.len] = '\0';
    buf_text(&text, ",7]}");
    assert_int_equal(read_text(buf_str(&text), &CARDS), VALIDATION_FAULTS);
    buf_free(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(takes_ids),           TEST(keeps_ids_that_cannot_be),  TEST(takes_defaults),
        TEST(takes_limits),        TEST(joins_spellings_of_a_uuid), TEST(refuses_what_is_no_json),
        TEST(lists_all_faults),    TEST(refuses_members_twice),     TEST(bounds_ids_and_faults),
        TEST(reports_shape_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

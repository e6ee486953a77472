/*
 * test_jansson_header.c: <cardbox/jansson.h>: a card as jansson's values, and what these can't
 * hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cardbox/jansson.h>

static cardbox_card card_of(const char *content)
{
    cardbox_card card = CARDBOX_CARD_INIT;
    card.card_id = "c-1";
    card.content = content;
    return card;
}

static void reads_a_card(void **state)
{
    json_error_t error;
    cardbox_card card = card_of("\"hi\" and more that the length leaves out");
    (void)state;
    card.content_length = 4;
    card.metadata = "{\"b\":1,\"a\":[null]}";
    card.sealed = true;
    card.created_at = "2026-01-31T12:00:00Z";
    json_t *read = cardbox_jansson_card(&card, 0, &error);
    char *text = json_dumps(read, JSON_COMPACT);
    assert_string_equal(text, "{\"card_id\":\"c-1\",\"content\":\"hi\",\"metadata\":{\"b\":1,"
                              "\"a\":[null]},\"tool_calls\":null,\"tool_call_id\":null,\"sealed\":"
                              "true,\"created_at\":\"2026-01-31T12:00:00Z\",\"expires_at\":null}");
    free(text);
    json_decref(read);
}

static void expect_refused(const char *content, size_t flags, enum json_error_code code)
{
    json_error_t error;
    cardbox_card card = card_of(content);
    assert_null(cardbox_jansson_content(&card, flags, &error));
    assert_int_equal(json_error_code(&error), code);
    assert_null(cardbox_jansson_card(&card, flags, &error));
    assert_null(cardbox_jansson_card(&card, flags, NULL));
}

static void refuses_what_jansson_cannot_hold(void **state)
{
    (void)state;
    expect_refused("\"\\ud800\"", JSON_ALLOW_NUL, json_error_invalid_syntax);
    expect_refused("[18446744073709551615]", 0, json_error_numeric_overflow);
    expect_refused("\"\\u0000\"", 0, json_error_null_character);
    expect_refused("{\"a\":1,\"a\":2}", JSON_REJECT_DUPLICATES, json_error_duplicate_key);
}

static void keeps_the_last_of_several_members(void **state)
{
    cardbox_card card = card_of("{\"a\":1,\"a\":2}");
    (void)state;
    json_t *content = cardbox_jansson_content(&card, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(content, "a")), 2);
    json_decref(content);
}

static void reads_nothing_as_null(void **state)
{
    (void)state;
    assert_true(json_is_null(cardbox_jansson_text(NULL, 0, 0, NULL)));
    cardbox_card card = card_of("7");
    card.metadata = "{";
    assert_null(cardbox_jansson_card(&card, 0, NULL));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_card),
        cmocka_unit_test(refuses_what_jansson_cannot_hold),
        cmocka_unit_test(keeps_the_last_of_several_members),
        cmocka_unit_test(reads_nothing_as_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_bus.c: the table of abilities against what it must be: every schema is one that is checked
 * here, every text well-formed, every ability complete; and what the bus tells of itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "bus/bus.h"
#include "bus/schema/schema.h"
#include "cardbox.h"

static void assert_schema(const bus_ability *ability, scan_value schema)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(schema.kind, SCAN_OBJECT);
    schema_names unchecked = {.count = 0};
    if (schema_check(&unchecked, schema.text, &err) != CARDBOX_OK || unchecked.count > 0)
        fail_msg("%s: %s", ability->text->id, err.message);
}

/* Models take objects only, and none of several forms, as the input of a tool. */
static void every_ability_is_complete(void **state)
{
    (void)state;
    const bus_ability *a;
    for (size_t i = 0; (a = bus_at(i)) != NULL; i++) {
        scan_value input = bus_input_schema(a);
        assert_true(scan_check(slice_of(a->text->json), CARDBOX_JSON_DEPTH_MAX, NULL, NULL, NULL));
        assert_schema(a, input);
        assert_schema(a, bus_output_schema(a));
        assert_true(scan_string_is(scan_find(input, "type").text, SLICE("object")));
        assert_int_equal(scan_find(input, "additionalProperties").kind, SCAN_FALSE);
        assert_int_equal(scan_find(input, "anyOf").kind, SCAN_NONE);
        assert_true(bus_description(a).text.len > 10);
        assert_true(bus_module(a).len > 0 && bus_name(a).len > 0);
        assert_ptr_equal(bus_find(slice_of(a->text->id)), a);
        assert_non_null(a->render);
        assert_true((a->statement == BUS_NO_STATEMENT) == (a->build == NULL));
        assert_true((a->plan == 0) == (a->read == NULL));
    }
}

/* Else bus:list would name a module twice. */
static void modules_stand_together(void **state)
{
    (void)state;
    for (size_t i = 1; bus_at(i) != NULL; i++) {
        slice module = bus_module(bus_at(i));
        if (slice_equal(module, bus_module(bus_at(i - 1))))
            continue;
        for (size_t k = 0; k < i; k++)
            assert_false(slice_equal(module, bus_module(bus_at(k))));
    }
}

static void assert_invoked(const char *id, const char *input, const char *output)
{
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (cardbox_invoke(&out, NULL, "acme", id, "call-1", "me", input, &err) != CARDBOX_OK)
        fail_msg("%s: %s", id, err.message);
    if (strncmp(out, output, strlen(output)) != 0)
        fail_msg("%s: %s", id, out);
    cardbox_free(out);
}

static void tells_of_itself(void **state)
{
    (void)state;
    assert_invoked("bus:list", NULL, "{\"modules\":[{\"name\":\"bus\",\"abilityCount\":4},");
    assert_invoked("bus:abilities", "{\"moduleName\":\"nothing\"}",
                   "{\"moduleName\":\"nothing\",\"abilities\":[]}");
    assert_invoked(
        "bus:abilities", "{\"moduleName\":\"b\\u0075s\"}",
        "{\"moduleName\":\"b\\u0075s\",\"abilities\":[{\"id\":\"bus:list\",\"name\":"
        "\"list\",\"description\":\"Lists the modules of the bus.\",\"isStream\":false}");
    assert_invoked("bus:schema", "{\"abilityId\":\"bus:list\"}",
                   "{\"abilityId\":\"bus:list\",\"inputSchema\":{\"type\":\"object\",");
    assert_invoked(
        "bus:inspect", "{\"abilityId\":\"bus:list\"}",
        "{\"meta\":{\"id\":\"bus:list\",\"moduleName\":\"bus\",\"abilityName\":\"list\"");
}

static void assert_refused(const char *id, const char *call_id, const char *input,
                           cardbox_status wanted, const char *message)
{
    char *out = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_invoke(&out, NULL, "acme", id, call_id, NULL, input, &err), wanted);
    assert_string_equal(err.message, message);
    assert_null(out);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    assert_refused("card:fly", NULL, "{}", CARDBOX_NOT_FOUND, "there is no ability card:fly");
    assert_refused("bus:inspect", NULL, "{\"abilityId\":\"x\"}", CARDBOX_NOT_FOUND,
                   "there is no ability \"x\"");
    assert_refused("bus:list", NULL, "{\"a\":1}", CARDBOX_INVALID,
                   "/a: is not known here, where there are no members");
    assert_refused("bus:inspect", NULL, "{\"id\":\"task:spawn\"}", CARDBOX_INVALID,
                   "/abilityId: is missing; /id: is not known here (known: abilityId)");
    assert_refused("bus:list", "", "{}", CARDBOX_INVALID,
                   "call_id must be 1 to 512 bytes of UTF-8 without control characters");
    assert_refused("bus:list", NULL, "{", CARDBOX_INVALID,
                   "the input is not valid JSON at byte 1: expected a name in quotes");
    assert_refused("card:get", NULL, "{\"card_id\":\"x\"}", CARDBOX_INVALID, "db must not be NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ability_is_complete),
        cmocka_unit_test(modules_stand_together),
        cmocka_unit_test(tells_of_itself),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_schema.c: JSON Schema against the public test suite's cases for the keywords that are
 * checked (draft 7, as Debian packages it), and what the suite has no case for: messages, places,
 * names that stand twice, schemas that are refused.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "bus/schema/schema.h"
#include "cardbox/limits.h"

#define SUITE "/usr/share/json-schema-test-suite/tests/draft7"

/* --- the public suite --- */

/* Files all of whose schemas must be accepted and whose cases must come out as the suite says. Of
 * the others only those groups are run whose schemas are accepted. */
static const char *const WHOLE[] = {
    "allOf.json",
    "anyOf.json",
    "boolean_schema.json",
    "const.json",
    "default.json",
    "enum.json",
    "exclusiveMaximum.json",
    "exclusiveMinimum.json",
    "maxItems.json",
    "maxLength.json",
    "maxProperties.json",
    "maximum.json",
    "minItems.json",
    "minLength.json",
    "minProperties.json",
    "minimum.json",
    "oneOf.json",
    "required.json",
    "type.json",
};

/* What draft 7 has and 2020-12 has no more: beside a reference nothing counts. */
static const char *const OTHERWISE[] = {"ref overrides any sibling keywords"};

static bool is_among(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static char *read_file(const char *path, size_t *len)
{
    char *text = malloc(1 << 20);
    FILE *file = fopen(path, "rb");
    assert_non_null(text);
    assert_non_null(file);
    *len = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static void decode(char out[256], scan_value string)
{
    buf text = BUF_INIT(255);
    assert_true(scan_decode(&text, string.text) && buf_ok(&text));
    snprintf(out, 256, "%s", buf_str(&text));
    buf_free(&text);
}

/* Of a schema with keywords that are not checked only the valid values are known to pass. */
static size_t run_group(const char *file, const char *group, scan_value schema, scan_value cases,
                        bool is_partial)
{
    scan_value one;
    char name[256];
    size_t count = 0;
    for (scan_walk walk = scan_enter(cases); scan_element(&walk, &one); count++) {
        bool valid = scan_find(one, "valid").kind == SCAN_TRUE;
        cardbox_error err = CARDBOX_ERROR_INIT;
        cardbox_status status = schema_validate(NULL, schema, scan_find(one, "data"), false, &err);
        decode(name, scan_find(one, "description"));
        if (is_partial && !valid)
            continue;
        if (status != (valid ? CARDBOX_OK : CARDBOX_INVALID))
            fail_msg("%s: %s: %s: expected %s, got %d %s", file, group, name,
                     valid ? "valid" : "not valid", status, err.message);
        assert_true(valid || err.message[0] != '\0');
    }
    return count;
}

static size_t run_file(const char *name, size_t *refused, size_t *partial)
{
    char path[512], group[256];
    size_t len, count = 0;
    scan_value groups, one;
    snprintf(path, sizeof(path), "%s/%s", SUITE, name);
    char *text = read_file(path, &len);
    assert_true(scan_check((slice){text, len}, CARDBOX_JSON_DEPTH_MAX, &groups, NULL, NULL));
    for (scan_walk walk = scan_enter(groups); scan_element(&walk, &one);) {
        scan_value schema = scan_find(one, "schema");
        cardbox_error err = CARDBOX_ERROR_INIT;
        decode(group, scan_find(one, "description"));
        if (is_among(group, OTHERWISE, sizeof(OTHERWISE) / sizeof(OTHERWISE[0])))
            continue;
        schema_names unchecked = {.count = 0};
        bool is_good = schema_check(&unchecked, schema.text, &err) == CARDBOX_OK;
        if (is_good)
            count += run_group(name, group, schema, scan_find(one, "tests"), unchecked.count > 0);
        if ((!is_good || unchecked.count > 0) &&
            is_among(name, WHOLE, sizeof(WHOLE) / sizeof(WHOLE[0])))
            fail_msg("%s: %s: the schema is refused: %s", name, group, err.message);
        *refused += !is_good;
        *partial += is_good && unchecked.count > 0;
    }
    free(text);
    return count;
}

static void public_suite(void **state)
{
    (void)state;
    size_t count = 0, refused = 0, partial = 0, whole = 0;
    DIR *suite = opendir(SUITE);
    if (suite == NULL) {
        print_message("SKIPPED: %s is not there; install json-schema-test-suite\n", SUITE);
        skip();
    }
    for (const struct dirent *entry; (entry = readdir(suite)) != NULL;) {
        size_t len = strlen(entry->d_name);
        if (len < 5 || strcmp(entry->d_name + len - 5, ".json") != 0)
            continue;
        whole += is_among(entry->d_name, WHOLE, sizeof(WHOLE) / sizeof(WHOLE[0]));
        count += run_file(entry->d_name, &refused, &partial);
    }
    closedir(suite);
    print_message("%zu cases of the suite; %zu schemas are refused, %zu have other keywords\n",
                  count, refused, partial);
    assert_int_equal(whole, sizeof(WHOLE) / sizeof(WHOLE[0]));
    assert_true(count > 230);
    assert_true(partial > 20);
}

/* --- ours --- */

/* Whether it is a schema, whose keywords are all checked. */
static cardbox_status check(slice schema, cardbox_error *err)
{
    schema_names unchecked = {.count = 0};
    cardbox_status status = schema_check(&unchecked, schema, err);
    assert_int_equal(unchecked.count, 0);
    return status;
}

static void assert_refused(const char *schema, const char *message)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(check(slice_of(schema), &err), CARDBOX_INVALID);
    assert_string_equal(err.message, message);
}

static void refuses_schemas(void **state)
{
    (void)state;
    assert_refused("{", "the schema is not valid JSON at byte 1: expected a name in quotes");
    assert_refused("[]", "is not a schema: an object, true or false");
    assert_refused("{\"properties\":{\"a/b~\":{\"required\":5}}}",
                   "/properties/a~1b~0/required: is not a list of names");
    assert_refused("{\"type\":\"text\"}",
                   "/type: is not the name of a type or a list of such names");
    assert_refused("{\"type\":[]}", "/type: is not the name of a type or a list of such names");
    assert_refused("{\"minLength\":-1}", "/minLength: is not an integer from 0 on");
    assert_refused("{\"required\":[1]}", "/required: is not a list of names");
    assert_refused("{\"anyOf\":[]}", "/anyOf: is empty");
    assert_refused("{\"anyOf\":[true,{\"items\":[true]}]}",
                   "/anyOf/1/items: is not a schema: an object, true or false");
    assert_refused("{\"$ref\":\"#/$defs/a\"}",
                   "/$ref: refers to no schema within this one, such as \"#/$defs/name\"");
    assert_refused("{\"$ref\":\"other.json#/a\"}",
                   "/$ref: refers to no schema within this one, such as \"#/$defs/name\"");
    assert_refused("{\"properties\":[]}", "/properties: is not an object");
}

/* As the worker reads the schemas of tools: it lists other keywords, and never refuses for them. */
static void lists_other_keywords(void **state)
{
    static const char SCHEMA[] =
        "{\"properties\":{\"a\":{\"pattern\":\"x\",\"uniqueItems\":true},\"b\":{\"not\":5,"
        "\"pattern\":7},\"p\":{\"prefixItems\":[true],\"items\":false,\"a, "
        "b,\":1},\"o\":{\"oneOf\":[true,true]"
        "}},"
        "\"patternProperties\":{},\"additionalProperties\":false,\"required\":[\"a\"]}";
    static const char *const NAMES[] = {"pattern",     "uniqueItems", "not",
                                        "prefixItems", "a, b,",       "patternProperties"};
    static const struct {
        const char *value;
        cardbox_status status;
    } CASES[] = {{"{\"a\":[1,1],\"z\":0,\"p\":[1],\"o\":2}", CARDBOX_OK}, {"{}", CARDBOX_INVALID}};
    cardbox_error err = CARDBOX_ERROR_INIT;
    scan_value value;
    schema_names unchecked = {.count = 0};
    (void)state;
    assert_int_equal(schema_check(&unchecked, slice_of(SCHEMA), &err), CARDBOX_OK);
    assert_int_equal(unchecked.count, sizeof(NAMES) / sizeof(NAMES[0]));
    assert_false(unchecked.has_more);
    for (size_t i = 0; i < unchecked.count; i++)
        assert_true(slice_equal(unchecked.name[i], slice_of(NAMES[i])));
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_true(scan_check(slice_of(CASES[i].value), 9, &value, NULL, NULL));
        assert_int_equal(schema_validate(NULL, scan_whole(slice_of(SCHEMA)), value, false, &err),
                         CASES[i].status);
    }
    assert_int_equal(schema_check(&unchecked, SLICE("{\"pattern\":\"\",\"minLength\":-1}"), &err),
                     CARDBOX_INVALID);
}

/* What stands in an annotation was not looked at. */
static void follows_references_to_schemas_alone(void **state)
{
    static const char REFUSED[] =
        "/$ref: refers to no schema within this one, such as \"#/$defs/name\"";
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    assert_refused("{\"$ref\":\"#/default\",\"default\":{\"$ref\":5}}", REFUSED);
    assert_refused("{\"$ref\":\"#/$defs/a/const\",\"$defs\":{\"a\":{\"const\":{}}}}", REFUSED);
    assert_refused("{\"$ref\":\"#/$defs\",\"$defs\":{\"$ref\":{}}}", REFUSED);
    assert_int_equal(check(SLICE("{\"properties\":{\"default\":{\"items\":{}},\"b\":{\"$ref\":"
                                 "\"#/properties/default/items\"}}}"),
                           &err),
                     CARDBOX_OK);
}

static void refuses_deep_schemas(void **state)
{
    (void)state;
    buf text = BUF_INIT(1 << 16);
    for (int i = 0; i < SCHEMA_DEPTH_MAX; i++)
        buf_text(&text, "{\"items\":");
    buf_text(&text, "{}");
    for (int i = 0; i < SCHEMA_DEPTH_MAX; i++)
        buf_text(&text, "}");
    assert_true(buf_ok(&text));
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(check((slice){text.data, text.len}, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "is over 64 schemas deep"));
    buf_free(&text);
}

static void assert_fault(const char *schema, const char *value, const char *message)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    scan_value checked;
    assert_int_equal(check(slice_of(schema), &err), CARDBOX_OK);
    assert_true(scan_check(slice_of(value), CARDBOX_JSON_DEPTH_MAX, &checked, NULL, NULL));
    cardbox_status status =
        schema_validate(NULL, scan_whole(slice_of(schema)), checked, false, &err);
    assert_int_equal(status, message == NULL ? CARDBOX_OK : CARDBOX_INVALID);
    assert_string_equal(err.message, message == NULL ? "" : message);
}

static void names_place_and_expectation(void **state)
{
    static const char CARD[] =
        "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"minLength\":1},"
        "\"n\":{\"type\":\"integer\",\"minimum\":1},\"l\":{\"items\":{\"enum\":[1,\"a\"]}}},"
        "\"required\":[\"id\"],\"additionalProperties\":false}";
    (void)state;
    assert_fault(CARD, "{\"id\":\"x\",\"n\":2.0,\"l\":[1.0,\"\\u0061\"]}", NULL);
    assert_fault(CARD, "[]", "expected \"object\", got array");
    assert_fault(CARD, "{}", "/id: is missing");
    assert_fault(CARD, "{\"card\":0}",
                 "/id: is missing; /card: is not known here (known: id, n, l)");
    assert_fault("{\"additionalProperties\":false}", "{\"a\":0}",
                 "/a: is not known here, where there are no members");
    assert_fault(CARD, "{\"id\":\"\"}", "/id: has 0 characters, at least 1 are expected");
    assert_fault(CARD, "{\"id\":\"x\",\"n\":1.5}", "/n: expected \"integer\", got a number");
    assert_fault(CARD, "{\"id\":\"x\",\"n\":0}", "/n: expected a number of at least 1");
    assert_fault(CARD, "{\"id\":\"x\",\"l\":[1,\"b\"]}", "/l/1: expected one of [1,\"a\"]");
    assert_fault(CARD, "{\"id\":\"x\",\"m/n\":0}", "/m~1n: is not known here (known: id, n, l)");
    assert_fault(CARD, "{\"id\":\"x\",\"\\u0069d\":\"y\"}", "/id: is there more than once");
    assert_fault("{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\\u0000\":1}",
                 "/a\\u0000: expected \"null\", got a number");
}

static void tells_all(void **state)
{
    static const char LIST[] =
        "{\"items\":{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{"
        "\"type\":\"string\",\"maxLength\":1},\"b\":{\"anyOf\":[{\"const\":1},{\"type\":\"array\","
        "\"items\":{\"type\":\"null\"}}]}}}}";
    static const char MANY[] = "[1,2,3,4,5,6,7,8,9,10,11,12,13]";
    schema_errors faults;
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    assert_fault(
        LIST, "[{\"a\":2,\"b\":[null,5]},{\"a\":\"12\"},{\"b\":[],\"a\":\"\"},[]]",
        "/0/a: expected \"string\", got a number; /0/b/1: expected \"null\", got a number; "
        "/1/b: is missing; /1/a: has 2 characters, at most 1 are allowed; "
        "/3: expected \"object\", got array");
    assert_int_equal(schema_validate(&faults, scan_whole(slice_of(LIST)),
                                     scan_whole(slice_of(MANY)), false, &err),
                     CARDBOX_INVALID);
    assert_int_equal(faults.count, SCHEMA_ERRORS_MAX);
    assert_int_equal(faults.more, 3);
    assert_string_equal(faults.list[9].pointer, "/9");
    assert_string_equal(faults.list[9].message, "expected \"object\", got a number");
    assert_non_null(strstr(err.message, "/0: expected \"object\", got a number; /1: "));
    assert_string_equal(strrchr(err.message, ';'), "; 3 more");
}

/* As many as a schema may have, and a member that is none of them. */
static void has_room_for_all_properties(void **state)
{
    buf schema = BUF_INIT(1 << 16);
    (void)state;
    buf_text(&schema, "{\"additionalProperties\":{\"type\":\"null\"},\"properties\":{");
    for (int i = 0; i < SCHEMA_PROPERTIES_MAX; i++)
        buf_printf(&schema, "%s\"p%d\":{}", i == 0 ? "" : ",", i);
    buf_text(&schema, "}}");
    assert_fault(buf_str(&schema), "{\"p255\":1,\"z\":1,\"p255\":2,\"y\":null,\"y\":null}",
                 "/z: expected \"null\", got a number; /p255: is there more than once");
    buf_free(&schema);
}

/* A list of the wrong kind of thing is not walked to its end; one in forms neither. */
static void ends_behind_what_it_tells(void **state)
{
    enum { ITEMS = 100000 };
    static const char *const SCHEMAS[] = {
        "{\"items\":{\"type\":\"string\"}}",
        "{\"items\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}}",
        "{\"items\":{\"items\":{\"required\":[\"a\"],\"type\":\"string\"}}}",
    };
    schema_errors faults;
    buf list = BUF_INIT(1 << 20);
    (void)state;
    for (int i = 0; i < ITEMS; i++)
        buf_text(&list, i == 0 ? "[1" : ",1");
    buf_char(&list, ']');
    buf nested = BUF_INIT(1 << 20);
    buf_printf(&nested, "[%s,%s]", buf_str(&list), buf_str(&list));
    for (size_t i = 0; i < sizeof(SCHEMAS) / sizeof(SCHEMAS[0]); i++) {
        cardbox_error err = CARDBOX_ERROR_INIT;
        slice value = buf_as_slice(i == 2 ? &nested : &list);
        assert_int_equal(schema_validate(&faults, scan_whole(slice_of(SCHEMAS[i])),
                                         scan_whole(value), false, &err),
                         CARDBOX_INVALID);
        assert_int_equal(faults.count, SCHEMA_ERRORS_MAX);
        assert_int_equal(faults.more, SCHEMA_MORE_MAX);
        assert_string_equal(strrchr(err.message, ';'), "; and more");
    }
    buf_free(&list);
    buf_free(&nested);
}

/* The list of faults says what the message says. */
static void says_once_that_it_takes_long(void **state)
{
    static const char SCHEMA[] = "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{"
                                 "\"$ref\":\"#\"},{\"type\":\"string\"}]}}";
    enum { DEPTH = 60 };
    buf value = BUF_INIT(1 << 10);
    cardbox_error err = CARDBOX_ERROR_INIT;
    schema_errors faults;
    (void)state;
    buf_text(&value, "[1,");
    for (int i = 0; i < DEPTH; i++)
        buf_char(&value, '[');
    buf_char(&value, '1');
    for (int i = 0; i <= DEPTH; i++)
        buf_char(&value, ']');
    assert_int_equal(schema_validate(&faults, scan_whole(slice_of(SCHEMA)),
                                     scan_whole(buf_as_slice(&value)), false, &err),
                     CARDBOX_INVALID);
    assert_string_equal(err.message, "needs over 100000 steps to check, send less at once");
    assert_int_equal(faults.count, 1);
    assert_int_equal(faults.more, 0);
    assert_string_equal(faults.list[0].pointer, "");
    assert_string_equal(faults.list[0].message, err.message);
    buf_free(&value);
}

/* What is too long by its schema is not walked, so that is what is said of it. */
static void says_that_a_list_is_too_long(void **state)
{
    static const char SCHEMA[] =
        "{\"items\":{\"type\":\"integer\"},\"type\":\"array\",\"maxItems\":2}";
    buf list = BUF_INIT(1 << 20);
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    assert_fault(SCHEMA, "[1,2]", NULL);
    assert_fault(SCHEMA, "[1,true]", "/1: expected \"integer\", got true");
    assert_fault(SCHEMA, "[1,true,3]", "has 3 items, at most 2 are allowed");
    buf_text(&list, "[0");
    for (int i = 0; i < SCHEMA_STEPS_MAX; i++)
        buf_text(&list, ",0");
    buf_char(&list, ']');
    assert_int_equal(schema_validate(NULL, scan_whole(slice_of(SCHEMA)),
                                     scan_whole(buf_as_slice(&list)), false, &err),
                     CARDBOX_INVALID);
    assert_string_equal(err.message, "has 100001 items, at most 2 are allowed");
    buf_free(&list);
}

static void tells_of_the_nearest_form(void **state)
{
    static const char FORMS[] =
        "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"required\":[\"a\"]}]}";
    (void)state;
    assert_fault(FORMS, "{\"b\":1}", "/a: is missing");
    assert_fault(FORMS, "1", "expected \"string\", got a number");
    assert_fault("{\"oneOf\":[{\"minimum\":1},{\"maximum\":3}]}", "2",
                 "matches more than one of the forms, and only one is allowed");
}

static void is_exact(void **state)
{
    (void)state;
    assert_fault("{\"maximum\":18446744073709551616}", "18446744073709551616.0", NULL);
    assert_fault("{\"maximum\":18446744073709551616}", "18446744073709551616.1",
                 "expected a number of at most 18446744073709551616");
    assert_fault("{\"const\":1e400}", "10e399", NULL);
    assert_fault("{\"minimum\":-0.5}", "-0.50000000000000000001",
                 "expected a number of at least -0.5");
    assert_fault("{\"type\":\"integer\"}", "1e30", NULL);
    assert_fault("{\"maxLength\":2}", "\"\\ud83d\\ude00\u00fc\"", NULL);
    assert_fault("{\"maxLength\":1}", "\"\\ud83d\\ude00\u00fc\"",
                 "has 2 characters, at most 1 are allowed");
    assert_fault("{\"const\":{\"a\":[1,{\"b\":null}],\"c\":\"\\u00fc\"}}",
                 "{\"c\":\"\u00fc\",\"a\":[1.0,{\"b\":null}]}", NULL);
}

static void ends_where_a_schema_refers_to_itself(void **state)
{
    (void)state;
    assert_fault("{\"$ref\":\"#\"}", "1", "is over 64 schemas deep");
    assert_fault("{\"items\":{\"$ref\":\"#\"},\"type\":\"array\"}", "[[[1]]]",
                 "/0/0/0: expected \"array\", got a number");
    assert_fault("{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1",
                 "needs over 100000 steps to check, send less at once");
}

/* A schema from a row of the database may have more properties than schema_check() accepts. */
static void finds_no_properties_beyond_the_limit(void **state)
{
    buf schema = BUF_INIT(1 << 20);
    scan_value value;
    (void)state;
    buf_text(&schema, "{\"additionalProperties\":false,\"properties\":{\"p0\":{}");
    for (int i = 1; i < 100 * SCHEMA_PROPERTIES_MAX; i++)
        buf_printf(&schema, ",\"p%d\":{}", i);
    buf_text(&schema, "}}");
    scan_value whole = scan_whole(buf_as_slice(&schema));
    assert_true(scan_check(SLICE("{\"p255\":1}"), CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL));
    assert_int_equal(schema_validate(NULL, whole, value, false, NULL), CARDBOX_OK);
    assert_true(scan_check(SLICE("{\"p25599\":1}"), CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL));
    assert_int_equal(schema_validate(NULL, whole, value, false, NULL), CARDBOX_INVALID);
    buf_free(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_suite),
        cmocka_unit_test(refuses_schemas),
        cmocka_unit_test(lists_other_keywords),
        cmocka_unit_test(follows_references_to_schemas_alone),
        cmocka_unit_test(refuses_deep_schemas),
        cmocka_unit_test(names_place_and_expectation),
        cmocka_unit_test(tells_all),
        cmocka_unit_test(has_room_for_all_properties),
        cmocka_unit_test(ends_behind_what_it_tells),
        cmocka_unit_test(says_once_that_it_takes_long),
        cmocka_unit_test(says_that_a_list_is_too_long),
        cmocka_unit_test(tells_of_the_nearest_form),
        cmocka_unit_test(is_exact),
        cmocka_unit_test(ends_where_a_schema_refers_to_itself),
        cmocka_unit_test(finds_no_properties_beyond_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

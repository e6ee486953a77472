/*
 * test_server_path.c: request targets and query parameters, from the wire to decoded text.
 */
#include "unit/server_test.h"
#include "server/request/fields.h"
#include "server/request/path.h"
#include "server/request/query.h"

static void assert_view(slice found, const char *expected)
{
    assert_int_equal(found.len, strlen(expected));
    assert_memory_equal(found.ptr, expected, found.len);
}

/* --- targets --- */

static void splits_targets(void **state)
{
    static const struct {
        const char *target, *path, *query;
    } CASES[] = {
        {"/a/b", "/a/b", ""},
        {"/a?x=1", "/a", "x=1"},
        {"/a?", "/a", ""},
        {"/a?x=/b?c", "/a", "x=/b?c"},
        {"http://host/a?x", "/a", "x"},
        {"http://host:80", "/", ""},
        {"http://host?x", "/", "x"},
        {"HTTPS://h/", "/", ""},
        {"/http://host/a", "/http://host/a", ""},
        {"/a?u=http://h/b", "/a", "u=http://h/b"},
        {"*", "*", ""},
        {"", "", ""},
        {"?x", "", "x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        slice raw, query;
        target_split(slice_of(CASES[i].target), &raw, &query);
        assert_view(raw, CASES[i].path);
        assert_view(query, CASES[i].query);
    }
}

static path_result decode(url_path *out, slice raw)
{
    const char *reason = NULL;
    path_result result = path_decode(out, raw, &memory, &reason);
    assert_true(result != PATH_MALFORMED || reason != NULL);
    return result;
}

static void decodes_segments(void **state)
{
    url_path found;
    (void)state;
    assert_int_equal(decode(&found, SLICE("/projects/p%2Fq/cards/%C3%BC%20a")), PATH_OK);
    assert_int_equal(found.count, 4);
    assert_view(found.segments[0], "projects");
    assert_view(found.segments[1], "p/q");
    assert_view(found.segments[3], "\xC3\xBC a");
    assert_int_equal(decode(&found, SLICE("/a/../%2e%2E/+/%25zz")), PATH_OK);
    assert_int_equal(found.count, 5);
    assert_view(found.segments[1], "..");
    assert_view(found.segments[2], "..");
    assert_view(found.segments[3], "+");
    assert_view(found.segments[4], "%zz");
    assert_int_equal(decode(&found, SLICE("/a%0Ab")), PATH_OK);
    assert_view(found.segments[0], "a\nb");
}

static void knows_what_is_no_path(void **state)
{
    static const char *const UNKNOWN[] = {"",     "a",     "*",   "//",
                                          "/a//", "/a//b", "//a", "/1/2/3/4/5/6/7/8/9"};
    static const char *const MALFORMED[] = {"/%",     "/%a",   "/%g0",      "/%0g", "/a%00b",
                                            "/%ff",   "/%C3",  "/\xC3",     "/a b", "/a\tb",
                                            "/a\x7F", "/\x01", "/%ED%A0%80"};
    url_path found;
    (void)state;
    for (size_t i = 0; i < sizeof(UNKNOWN) / sizeof(UNKNOWN[0]); i++)
        assert_int_equal(decode(&found, slice_of(UNKNOWN[i])), PATH_UNKNOWN);
    for (size_t i = 0; i < sizeof(MALFORMED) / sizeof(MALFORMED[0]); i++)
        assert_int_equal(decode(&found, slice_of(MALFORMED[i])), PATH_MALFORMED);
    assert_int_equal(decode(&found, SLICE("/a\0b")), PATH_MALFORMED);
    assert_int_equal(decode(&found, SLICE("/1/2/3/4/5/6/7/8")), PATH_OK);
    assert_false(found.folder);
}

static void tells_a_folder(void **state)
{
    url_path found;
    (void)state;
    assert_int_equal(decode(&found, SLICE("/a/b/")), PATH_OK);
    assert_true(found.folder);
    assert_int_equal(found.count, 2);
    assert_int_equal(decode(&found, SLICE("/a/b")), PATH_OK);
    assert_false(found.folder);
    assert_int_equal(decode(&found, SLICE("/")), PATH_OK);
    assert_true(found.folder);
    assert_int_equal(found.count, 0);
}

/* --- queries --- */

static void finds_parameters(void **state)
{
    static const struct {
        const char *query;
        bool found;
        const char *value; /* NULL: malformed */
    } CASES[] = {
        {"", false, ""},
        {"LIMIT=1", false, ""},
        {"limits=1&li=2", false, ""},
        {"limit=1", true, "1"},
        {"limit", true, ""},
        {"limit=", true, ""},
        {"limit=1&limit=2", true, "2"},
        {"a=b&&limit=3&c", true, "3"},
        {"l%69mit=4", true, "4"},
        {"limit=%2B5+", true, "+5 "},
        {"limit=a=b", true, "a=b"},
        {"%zz=1&limit=6", true, "6"},
        {"limit=%zz&limit=7", true, "7"},
        {"limit=%zz", true, NULL},
        {"limit=%00", true, NULL},
        {"limit=%ff", true, NULL},
    };
    static const field LIMIT = {.name = "limit", .kind = FIELD_TEXT, .most = 100};
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        field_value value;
        validation_init(&s, (slice){NULL, 0}, &memory);
        assert_int_equal(query_has(slice_of(CASES[i].query), "limit"), CASES[i].found);
        fields_read_query(&value, &LIMIT, 1, slice_of(CASES[i].query), true, &s);
        assert_int_equal(validation_check(&s),
                         CASES[i].value == NULL ? VALIDATION_MALFORMED : VALIDATION_OK);
        assert_int_equal(value.given, CASES[i].found && CASES[i].value != NULL);
        if (value.given)
            assert_view(value.text, CASES[i].value);
    }
}

static void reads_integers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } GOOD[] = {
        {"0", 0},
        {"12", 12},
        {"+3", 3},
        {"-4", -4},
        {" 5\t", 5},
        {"2.0", 2},
        {"-7.000", -7},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", INT64_MAX},
        {"-99999999999999999999999", -INT64_MAX},
    };
    static const char *const BAD[] = {"",    " ",   "abc", "2.5", "null", "2.",  ".0",
                                      "1e2", "+-1", "- 1", "1 2", "0x1",  "1_0", "2.0x"};
    int64_t found;
    (void)state;
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        assert_true(query_integer(slice_of(GOOD[i].text), &found));
        assert_true(found == GOOD[i].value);
    }
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_false(query_integer(slice_of(BAD[i]), &found));
    assert_false(query_integer(SLICE("1\0"), &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_targets),
        cmocka_unit_test_setup_teardown(decodes_segments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(knows_what_is_no_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_a_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_parameters, set_up, tear_down),
        cmocka_unit_test(reads_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

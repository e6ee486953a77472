/*
 * test_server_fields.c: bodies and queries by a table of fields: what each kind takes, and what is
 * said of all that it doesn't.
 */
#include "unit/server_test.h"
#include "server/request/fields.h"

enum { ANY, OBJECT, ARRAY, TEXT, ID, UUID, BOOL, INTEGER, LIMIT, TIME, IDS, UUIDS, CHOICE, COUNT };

static const char *const CHOICES[] = {"on", "off", NULL};

static const field TABLE[COUNT] = {
    [ANY] = {.name = "any", .kind = FIELD_ANY},
    [OBJECT] = {.name = "object", .kind = FIELD_OBJECT},
    [ARRAY] = {.name = "array", .kind = FIELD_ARRAY},
    [TEXT] = {.name = "text", .kind = FIELD_TEXT, .most = 4},
    [ID] = {.name = "id", .kind = FIELD_ID, .most = 4},
    [UUID] = {.name = "uuid", .kind = FIELD_UUID},
    [BOOL] = {.name = "bool", .kind = FIELD_BOOL},
    [INTEGER] = {.name = "integer", .kind = FIELD_INTEGER, .least = 1, .most = 9},
    [LIMIT] = {.name = "limit", .kind = FIELD_LIMIT, .least = 1, .most = 9},
    [TIME] = {.name = "time", .kind = FIELD_TIME},
    [IDS] = {.name = "ids", .kind = FIELD_IDS, .least = 1, .most = 3},
    [UUIDS] = {.name = "uuids", .kind = FIELD_UUIDS, .most = 3},
    [CHOICE] = {.name = "choice", .kind = FIELD_CHOICE, .choices = CHOICES},
};

static const field NEEDED[] = {{.name = "any", .kind = FIELD_ANY, .required = true},
                               {.name = "ids", .kind = FIELD_IDS, .required = true, .most = 3}};

static field_value values[COUNT];

static validation_result read_with(const field *table, size_t count, slice text)
{
    static const validation_path AT = {"body", NULL, 0};
    validation_free(&s);
    validation_init(&s, text, &memory);
    scan_value body = validation_body(&s, 8);
    if (body.kind != SCAN_NONE)
        fields_read_object(values, table, count, body, &AT, &s);
    return validation_check(&s);
}

static validation_result read_body(const char *text)
{
    return read_with(TABLE, COUNT, slice_of(text));
}

static void assert_text(slice found, const char *expected)
{
    assert_int_equal(found.len, strlen(expected));
    assert_memory_equal(found.ptr, expected, found.len);
}

static void takes_each_kind(void **state)
{
    (void)state;
    assert_int_equal(
        read_body("{\"any\": [1 ,2] ,\"object\":{},\"array\":[ ],\"te\\u0078t\":\"\\u0061\\n\","
                  "\"id\":\"a/b\",\"uuid\":\"ABCDEFAB-cdef-7abc-8def-abcdefabcdef\",\"bool\":true,"
                  "\"integer\":9.0,\"limit\":1e3,\"time\":\"1970-01-01T01:00:00.5+01:00\","
                  "\"ids\":[\"a\",\"a\"],\"uuids\":[],\"choice\":\"off\"}"),
        VALIDATION_OK);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(values[i].given);
    assert_text(values[ANY].json.text, "[1 ,2]");
    assert_text(values[TEXT].text, "a\n");
    assert_text(values[ID].text, "a/b");
    assert_int_equal(values[UUID].uuid.bytes[0], 0xab);
    assert_int_equal(values[BOOL].number, 1);
    assert_int_equal(values[INTEGER].number, 9);
    assert_int_equal(values[LIMIT].number, 9);
    assert_int_equal(values[TIME].number, 500000);
    assert_int_equal(values[IDS].count, 2);
    assert_int_equal(values[CHOICE].number, 1);
    assert_text(values[IDS].json.text, "[\"a\",\"a\"]");
}

static void null_is_absent_unless_required(void **state)
{
    (void)state;
    assert_int_equal(read_body("{\"text\":null,\"ids\":null,\"any\":null}"), VALIDATION_OK);
    assert_false(values[TEXT].given || values[IDS].given || values[ANY].given);
    assert_int_equal(read_with(NEEDED, 2, SLICE("{\"any\":null,\"ids\":[]}")), VALIDATION_OK);
    assert_true(values[0].given);
    assert_int_equal(read_with(NEEDED, 2, SLICE("{\"any\":1,\"ids\":null}")), VALIDATION_FAULTS);
}

/* One line a case: a body, and the type and place of its only http_error. */
static void names_each_fault(void **state)
{
    static const struct {
        const char *body, *item;
    } CASES[] = {
        {"", "{\"type\":\"missing\",\"loc\":[\"body\"]"},
        {"7", "{\"type\":\"model_attributes_type\",\"loc\":[\"body\"]"},
        {"{\"object\":[]}", "{\"type\":\"dict_type\",\"loc\":[\"body\",\"object\"]"},
        {"{\"array\":{}}", "{\"type\":\"list_type\",\"loc\":[\"body\",\"array\"]"},
        {"{\"text\":1}", "{\"type\":\"string_type\",\"loc\":[\"body\",\"text\"]"},
        {"{\"text\":\"\\u0000\"}", "{\"type\":\"string_unicode\",\"loc\":[\"body\",\"text\"]"},
        {"{\"text\":\"\\ud800\"}", "{\"type\":\"string_unicode\",\"loc\":[\"body\",\"text\"]"},
        {"{\"text\":\"12345\"}", "{\"type\":\"string_too_long\",\"loc\":[\"body\",\"text\"]"},
        {"{\"id\":\"\"}", "{\"type\":\"value_error\",\"loc\":[\"body\",\"id\"]"},
        {"{\"id\":\"12345\"}", "{\"type\":\"value_error\",\"loc\":[\"body\",\"id\"]"},
        {"{\"id\":\"a\\n\"}", "{\"type\":\"value_error\",\"loc\":[\"body\",\"id\"]"},
        {"{\"id\":\"\\u0000\"}", "{\"type\":\"value_error\",\"loc\":[\"body\",\"id\"]"},
        {"{\"uuid\":\"x\"}", "{\"type\":\"uuid_parsing\",\"loc\":[\"body\",\"uuid\"]"},
        {"{\"bool\":1}", "{\"type\":\"bool_type\",\"loc\":[\"body\",\"bool\"]"},
        {"{\"integer\":\"1\"}", "{\"type\":\"int_type\",\"loc\":[\"body\",\"integer\"]"},
        {"{\"integer\":1.5}", "{\"type\":\"int_type\",\"loc\":[\"body\",\"integer\"]"},
        {"{\"integer\":0}", "{\"type\":\"greater_than_equal\",\"loc\":[\"body\",\"integer\"]"},
        {"{\"integer\":1e99}", "{\"type\":\"less_than_equal\",\"loc\":[\"body\",\"integer\"]"},
        {"{\"time\":\"2025-01-02\"}", "{\"type\":\"datetime_parsing\",\"loc\":[\"body\",\"time\"]"},
        {"{\"ids\":{}}", "{\"type\":\"list_type\",\"loc\":[\"body\",\"ids\"]"},
        {"{\"ids\":[]}", "{\"type\":\"too_short\",\"loc\":[\"body\",\"ids\"]"},
        {"{\"ids\":[\"a\",null]}", "{\"type\":\"string_type\",\"loc\":[\"body\",\"ids\",1]"},
        {"{\"ids\":[\"a\\t\"]}", "{\"type\":\"value_error\",\"loc\":[\"body\",\"ids\",0]"},
        {"{\"choice\":\"of\"}", "{\"type\":\"enum\",\"loc\":[\"body\",\"choice\"],"
                                "\"msg\":\"Input should be one of: on, off\""},
        {"{\"choice\":true}", "{\"type\":\"string_type\",\"loc\":[\"body\",\"choice\"]"},
        {"{\"uuids\":[\"a\"]}", "{\"type\":\"uuid_parsing\",\"loc\":[\"body\",\"uuids\",0]"},
        {"{\"x\\u0000\":1}", "{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"x\\u0000\"]"},
        {"{\"Text\":\"a\"}", "{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"Text\"]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_int_equal(read_body(CASES[i].body), VALIDATION_FAULTS);
        assert_int_equal(s.faults, 1);
        assert_memory_equal(buf_str(&s.items), CASES[i].item, strlen(CASES[i].item));
    }
    assert_int_equal(read_with(NEEDED, 2, SLICE("{}")), VALIDATION_FAULTS);
    assert_int_equal(s.faults, 2);
}

/* What is malformed comes before faults, and faults before counts. */
static void judges_in_order(void **state)
{
    (void)state;
    assert_int_equal(read_body("{\"ids\":[\"a\",\"b\",\"c\",\"d\"]}"), VALIDATION_TOO_MANY);
    assert_string_equal(s.too_many, "ids");
    assert_int_equal(s.most, 3);
    assert_int_equal(read_body("{\"ids\":[\"a\",\"b\",\"c\",1]}"), VALIDATION_FAULTS);
    assert_int_equal(read_body("{\"ids\":[1],\"ids\":[]}"), VALIDATION_MALFORMED);
    assert_int_equal(s.position, 11);
    assert_int_equal(read_body("{\"text\":\"a\",\"t\\u0065xt\":\"b\"}"), VALIDATION_MALFORMED);
    assert_int_equal(read_body("{\"text\":\"a\""), VALIDATION_MALFORMED);
    assert_int_equal(read_body("[[[[[[[[[]]]]]]]]]"), VALIDATION_MALFORMED);
}

/* --- queries --- */

enum { Q_TEXT, Q_LIMIT, Q_TIME, Q_CALL, Q_META, Q_CHOICE, Q_COUNT };

static const field QUERY[Q_COUNT] = {
    [Q_TEXT] = {.name = "text", .kind = FIELD_TEXT, .most = 9},
    [Q_LIMIT] = {.name = "limit", .kind = FIELD_LIMIT, .least = 1, .most = 9},
    [Q_TIME] = {.name = "time", .kind = FIELD_TIME},
    [Q_CALL] = {.name = "call", .kind = FIELD_ID, .most = 9, .repeats = 2},
    [Q_META] = {.name = "meta.", .kind = FIELD_TEXT, .most = 9, .repeats = 3},
    [Q_CHOICE] = {.name = "choice", .kind = FIELD_CHOICE, .choices = CHOICES},
};

static validation_result read_query(const char *query, bool lenient)
{
    validation_free(&s);
    validation_init(&s, (slice){"", 0}, &memory);
    fields_read_query(values, QUERY, Q_COUNT, slice_of(query), lenient, &s);
    return validation_check(&s);
}

static void takes_parameters(void **state)
{
    (void)state;
    assert_int_equal(read_query("&text=a+b%26&limit=%2020&&call=x&call=y&meta.a.b=1&meta.%C3%A9=&"
                                "time=2025-01-01T00:00:00%2B01:00&choice=on",
                                false),
                     VALIDATION_OK);
    assert_text(values[Q_TEXT].text, "a b&");
    assert_int_equal(values[Q_LIMIT].number, 9);
    assert_true(values[Q_CHOICE].given && values[Q_CHOICE].number == 0);
    assert_int_equal(values[Q_CALL].count, 2);
    assert_text(values[Q_CALL].list[1].text, "y");
    assert_int_equal(values[Q_META].count, 2);
    assert_text(values[Q_META].list[0].key, "a.b");
    assert_text(values[Q_META].list[0].text, "1");
    assert_text(values[Q_META].list[1].key, "\xC3\xA9");
    assert_text(values[Q_META].list[1].text, "");
    assert_int_equal(read_query("", false), VALIDATION_OK);
    for (size_t i = 0; i < Q_COUNT; i++)
        assert_false(values[i].given);
}

static void refuses_parameters(void **state)
{
    static const struct {
        const char *query;
        validation_result result;
        const char *said; /* in the items, or the member that is malformed */
    } CASES[] = {
        {"texts=a", VALIDATION_FAULTS, "\"loc\":[\"query\",\"texts\"]"},
        {"a%22b=1", VALIDATION_FAULTS, "[\"query\",\"a\\\"b\"]"},
        {"meta.=1", VALIDATION_FAULTS, "extra_forbidden"},
        {"text=a&text=a", VALIDATION_FAULTS, "given once"},
        {"choice=On", VALIDATION_FAULTS, "on, off"},
        {"limit=x", VALIDATION_FAULTS, "int_parsing"},
        {"limit", VALIDATION_FAULTS, "int_parsing"},
        {"text=1234567890", VALIDATION_FAULTS, "string_too_long"},
        {"call=", VALIDATION_FAULTS, "value_error"},
        {"time=2025-01-01T00:00:00+01:00", VALIDATION_FAULTS, "%2B"},
        {"call=1&call=2&call=3", VALIDATION_TOO_MANY, "call"},
        {"text=%zz", VALIDATION_MALFORMED, "text"},
        {"text=%00", VALIDATION_MALFORMED, "text"},
        {"%zz=1", VALIDATION_MALFORMED, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_int_equal(read_query(CASES[i].query, false), CASES[i].result);
        if (CASES[i].result == VALIDATION_FAULTS)
            assert_non_null(strstr(buf_str(&s.items), CASES[i].said));
        else
            assert_string_equal(CASES[i].result == VALIDATION_TOO_MANY ? s.too_many : s.member,
                                CASES[i].said);
    }
}

/* The first reads took only the last of a name and looked at no other parameter. */
static void lenient_is_as_before(void **state)
{
    (void)state;
    assert_int_equal(read_query("x=1&%zz=2&text=%zz&text=a&limit=x&limit=3", true), VALIDATION_OK);
    assert_text(values[Q_TEXT].text, "a");
    assert_int_equal(values[Q_LIMIT].number, 3);
    assert_int_equal(read_query("limit=3&limit=x", true), VALIDATION_FAULTS);
    assert_int_equal(read_query("text=%zz", true), VALIDATION_MALFORMED);
}

/* Of a body that holds a million faults no more are looked for than are last_logged. */
static void stops_at_as_many_as_are_told(void **state)
{
    static const char *const FORMS[][3] = {
        {"{", "\"a\":1,", "\"z\":1}"}, {"{\"ids\":[", "1,", "1]}"}, {"{\"ids\":[", "\"\",", "1]}"}};
    (void)state;
    for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
        buf body = BUF_INIT(10000);
        buf_text(&body, FORMS[i][0]);
        for (int http_error = 0; http_error < VALIDATION_FAULTS_MAX + 50; http_error++)
            buf_text(&body, FORMS[i][1]);
        buf_text(&body, FORMS[i][2]);
        assert_int_equal(read_body(buf_str(&body)), VALIDATION_FAULTS);
        assert_int_equal(s.faults, VALIDATION_FAULTS_MAX);
        buf_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(takes_each_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(null_is_absent_unless_required, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_each_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(judges_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_at_as_many_as_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lenient_is_as_before, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

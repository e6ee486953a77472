/*
 * fuzz_fields.c: any text as a body and as a query, read by a table with every kind of field. What
 * is taken is within its bounds; what is refused has a reason that is JSON.
 */
#include "fuzz/fuzz.h"
#include "server/request/fields.h"

enum { ANY, OBJECT, ARRAY, TEXT, ID, UUID, BOOL, INTEGER, LIMIT, TIME, IDS, UUIDS, CHOICE, COUNT };

static const char *const CHOICES[] = {"on", "off", NULL};

static const field BODY[COUNT] = {
    [ANY] = {.name = "a", .kind = FIELD_ANY, .required = true},
    [OBJECT] = {.name = "o", .kind = FIELD_OBJECT},
    [ARRAY] = {.name = "l", .kind = FIELD_ARRAY},
    [TEXT] = {.name = "t", .kind = FIELD_TEXT, .most = 8},
    [ID] = {.name = "i", .kind = FIELD_ID, .most = 8},
    [UUID] = {.name = "u", .kind = FIELD_UUID},
    [BOOL] = {.name = "b", .kind = FIELD_BOOL},
    [INTEGER] = {.name = "n", .kind = FIELD_INTEGER, .least = -3, .most = 9},
    [LIMIT] = {.name = "m", .kind = FIELD_LIMIT, .least = 1, .most = 9},
    [TIME] = {.name = "w", .kind = FIELD_TIME},
    [IDS] = {.name = "s", .kind = FIELD_IDS, .least = 1, .most = 5},
    [UUIDS] = {.name = "v", .kind = FIELD_UUIDS, .most = 5},
    [CHOICE] = {.name = "c", .kind = FIELD_CHOICE, .choices = CHOICES},
};

static const field QUERY[] = {
    {.name = "t", .kind = FIELD_TEXT, .most = 8},
    {.name = "n", .kind = FIELD_INTEGER, .least = -3, .most = 9},
    {.name = "w", .kind = FIELD_TIME},
    {.name = "i", .kind = FIELD_ID, .most = 8, .repeats = 2},
    {.name = "q.", .kind = FIELD_TEXT, .most = 8, .repeats = 2},
    {.name = "c", .kind = FIELD_CHOICE, .choices = CHOICES},
};

static void check_reason(const validation *s)
{
    buf list = BUF_INIT(s->items.len + 2);
    if (validation_check(s) == VALIDATION_FAULTS) {
        buf_char(&list, '[');
        buf_slice(&list, buf_as_slice(&s->items));
        buf_char(&list, ']');
        require(s->items.len > 0);
        require(scan_check(buf_as_slice(&list), 200, NULL, NULL, NULL));
    }
    require(validation_check(s) != VALIDATION_MALFORMED || s->position <= s->text.len);
    buf_free(&list);
}

static void check_body(const field_value *values)
{
    require(values[ANY].given && values[ANY].json.text.len > 0);
    require(values[TEXT].text.len <= 8 && slice_is_utf8(values[TEXT].text));
    require(!values[ID].given || slice_is_id(values[ID].text, 8));
    require(values[INTEGER].number >= -3 && values[INTEGER].number <= 9);
    require(!values[LIMIT].given || (values[LIMIT].number >= 1 && values[LIMIT].number <= 9));
    require(!values[IDS].given || (values[IDS].count >= 1 && values[IDS].count <= 5));
    require(values[UUIDS].count <= 5);
    require(values[CHOICE].number >= 0 && values[CHOICE].number <= 1);
}

static void run_body(slice text)
{
    static const validation_path AT = {"body", "list", 7};
    field_value values[COUNT];
    arena memory = ARENA_INIT;
    validation s;
    validation_init(&s, text, &memory);
    scan_value body = validation_body(&s, 16);
    if (body.kind != SCAN_NONE)
        fields_read_object(values, BODY, COUNT, body, &AT, &s);
    if (validation_check(&s) == VALIDATION_OK)
        check_body(values);
    check_reason(&s);
    validation_free(&s);
    arena_reset(&memory);
}

static void run_query(slice text, bool lenient)
{
    enum { FIELDS = sizeof(QUERY) / sizeof(QUERY[0]) };
    field_value values[FIELDS];
    arena memory = ARENA_INIT;
    validation s;
    validation_init(&s, (slice){"", 0}, &memory);
    fields_read_query(values, QUERY, FIELDS, text, lenient, &s);
    if (validation_check(&s) == VALIDATION_OK) {
        require(values[0].text.len <= 8 && slice_is_utf8(values[0].text));
        require(values[3].count <= 2 && values[4].count <= 2);
        for (size_t i = 0; i < values[3].count; i++)
            require(slice_is_id(values[3].list[i].text, 8));
    }
    check_reason(&s);
    validation_free(&s);
    arena_reset(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size};
    run_body(text);
    run_query(text, false);
    run_query(text, true);
    return 0;
}

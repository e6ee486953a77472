/*
 * test_isotime.c: moments as text, both ways, and as microseconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/isotime.h"

static void check_read(const char *text, const char *wanted)
{
    char out[ISOTIME_SIZE];
    isotime time;

    if (!isotime_parse(slice_of(text), &time))
        fail_msg("%s was refused", text);
    isotime_format(out, &time);
    assert_string_equal(out, wanted);
}

static void reads_and_writes(void **state)
{
    static const char *const pairs[][2] = {
        {"2025-01-02T03:04:05Z", "2025-01-02T03:04:05Z"},
        {"2025-01-02 03:04:05Z", "2025-01-02T03:04:05Z"},
        {"2025-01-02T03:04:05.678901Z", "2025-01-02T03:04:05.678901Z"},
        {"2025-01-02T03:04:05,5Z", "2025-01-02T03:04:05.500000Z"},
        {"2025-01-02T03:04:05.1234569999999999Z", "2025-01-02T03:04:05.123456Z"},
        {"2025-01-02T03:04:05.0000001Z", "2025-01-02T03:04:05Z"},
        {"2025-01-02T03:04:05+00:00", "2025-01-02T03:04:05Z"},
        {"2025-01-02T03:04:05-00:00", "2025-01-02T03:04:05Z"},
        {"2025-01-02T03:04:05+05:30", "2025-01-02T03:04:05+05:30"},
        {"2025-01-02T03:04:05-08", "2025-01-02T03:04:05-08:00"},
        {"2025-01-02T03:04:05.000001-00:30", "2025-01-02T03:04:05.000001-00:30"},
        {"2025-01-02T03:04:05", "2025-01-02T03:04:05"},
        {"2025-01-02T03:04", "2025-01-02T03:04:00"},
        {"2025-01-02T03:04+01", "2025-01-02T03:04:00+01:00"},
        {"2025-01-02T03Z", "2025-01-02T03:00:00Z"},
        {"2025-01-02 03", "2025-01-02T03:00:00"},
        {"2025-01-02", "2025-01-02T00:00:00"},
        {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
        {"9999-12-31T23:59:59.999999+23:59", "9999-12-31T23:59:59.999999+23:59"},
        {"2024-02-29", "2024-02-29T00:00:00"},
        {"2000-02-29", "2000-02-29T00:00:00"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        check_read(pairs[i][0], pairs[i][1]);
}

static void refuses(void **state)
{
    static const char *const texts[] = {
        "",
        "2025",
        "2025-01",
        "2025-1-2",
        "20250102",
        "0000-01-01",
        "10000-01-01",
        "2025-00-01",
        "2025-13-01",
        "2025-01-00",
        "2025-01-32",
        "2025-04-31",
        "2023-02-29",
        "1900-02-29",
        "+2025-01-02",
        "-2025-01-02",
        "2025-01-02T",
        "2025-01-02Z",
        "2025-01-02+01:00",
        "2025-01-02T3:04:05Z",
        "2025-01-02t03:04:05Z",
        "2025-01-02T03:04:05z",
        "2025-01-02T24:00:00Z",
        "2025-01-02T23:60:00Z",
        "2025-01-02T23:59:60Z",
        "2025-01-02T03:",
        "2025-01-02T03:04:",
        "2025-01-02T03:04:05.",
        "2025-01-02T03:04:05.Z",
        "2025-01-02T03.5Z",
        "2025-01-02T03:04:05+",
        "2025-01-02T03:04:05+1",
        "2025-01-02T03:04:05+0130",
        "2025-01-02T03:04:05+01:",
        "2025-01-02T03:04:05+24:00",
        "2025-01-02T03:04:05+01:60",
        "2025-01-02T03:04:05ZZ",
        "2025-01-02T03:04:05Z ",
        " 2025-01-02T03:04:05Z",
        "2025-01-02  03:04:05Z",
        "2025-01-02T03:04:05 Z",
        "2025-01-02T03:04:05 +01:00",
        "2025-01-02T03:04:05\342\210\22201:00", /* a minus that is none */
        "today",
    };
    isotime time = {.year = 77};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (isotime_parse(slice_of(texts[i]), &time))
            fail_msg("%s was taken", texts[i]);
        assert_int_equal(time.year, 77);
    }
    assert_false(isotime_parse(SLICE("2025-01-02\0"), &time));
    assert_false(isotime_parse((slice){NULL, 0}, &time));
}

static int64_t micros_of(const char *text)
{
    isotime time;

    assert_true(isotime_parse(slice_of(text), &time));
    return isotime_to_micros(&time);
}

static void counts_micros(void **state)
{
    (void)state;
    assert_int_equal(micros_of("1970-01-01T00:00:00Z"), 0);
    assert_int_equal(micros_of("1970-01-01"), 0);
    assert_int_equal(micros_of("1970-01-01T00:00:00.000001Z"), 1);
    assert_int_equal(micros_of("1969-12-31T23:59:59.999999Z"), -1);
    assert_int_equal(micros_of("1970-01-01T05:30:00+05:30"), 0);
    assert_int_equal(micros_of("1969-12-31T16:00:00-08"), 0);
    assert_int_equal(micros_of("2000-02-29T12:34:56.789Z"), INT64_C(951827696789000));
    assert_int_equal(micros_of("0001-01-01T00:00:00Z"), INT64_C(-62135596800000000));
    assert_int_equal(micros_of("9999-12-31T23:59:59.999999Z"), INT64_C(253402300799999999));
}

static void check_from_micros(int64_t micros, const char *wanted)
{
    char out[ISOTIME_SIZE];
    isotime time;

    isotime_from_micros(&time, micros);
    isotime_format(out, &time);
    assert_string_equal(out, wanted);
    buf json = BUF_INIT(100);
    isotime_json_micros(&json, micros);
    assert_int_equal(json.len, strlen(wanted) + 2);
    assert_memory_equal(buf_str(&json) + 1, wanted, strlen(wanted));
    assert_true(buf_str(&json)[0] == '"' && buf_str(&json)[json.len - 1] == '"');
    buf_free(&json);
}

static void clamps_to_its_years(void **state)
{
    (void)state;
    check_from_micros(INT64_MIN, "0001-01-01T00:00:00Z");
    check_from_micros(INT64_C(-62135596800000001), "0001-01-01T00:00:00Z");
    check_from_micros(INT64_C(-62135596799999999), "0001-01-01T00:00:00.000001Z");
    check_from_micros(-1, "1969-12-31T23:59:59.999999Z");
    check_from_micros(INT64_C(253402300799999998), "9999-12-31T23:59:59.999998Z");
    check_from_micros(INT64_C(253402300800000000), "9999-12-31T23:59:59.999999Z");
    check_from_micros(INT64_MAX, "9999-12-31T23:59:59.999999Z");
    /* The offset takes it out of the calendar; it comes back at its edge. */
    check_from_micros(micros_of("9999-12-31T23:59:59-01:00"), "9999-12-31T23:59:59.999999Z");
}

/* Every day of the calendar there and back, and against the C library. */
static void counts_every_day(void **state)
{
    const int64_t day = INT64_C(86400000000);
    int64_t micros = INT64_C(-62135596800000000) + 1;

    (void)state;
    for (int i = 0; i < 3652059; i++, micros += day) {
        time_t seconds = (time_t)(micros / 1000000 - (micros < 0));
        struct tm broken;
        isotime time;

        isotime_from_micros(&time, micros);
        assert_true(isotime_to_micros(&time) == micros);
        if (i % 97 != 0)
            continue;
        assert_non_null(gmtime_r(&seconds, &broken));
        assert_int_equal(time.year, broken.tm_year + 1900);
        assert_int_equal(time.month, broken.tm_mon + 1);
        assert_int_equal(time.day, broken.tm_mday);
    }
    assert_int_equal(micros, INT64_C(253402300800000001));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes), cmocka_unit_test(refuses),
        cmocka_unit_test(counts_micros),    cmocka_unit_test(clamps_to_its_years),
        cmocka_unit_test(counts_every_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

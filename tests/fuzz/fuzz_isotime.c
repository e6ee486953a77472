/*
 * fuzz_isotime.c: any bytes as a moment. What is taken must be a moment, be written in a form that
 * is read again as the same, and come back from microseconds.
 */
#include "fuzz/fuzz.h"
#include "base/isotime.h"

static void check_ranges(const isotime *time)
{
    require(time->year >= 1 && time->year <= 9999);
    require(time->month >= 1 && time->month <= 12);
    require(time->day >= 1 && time->day <= 31);
    require(time->hour >= 0 && time->hour <= 23);
    require(time->minute >= 0 && time->minute <= 59);
    require(time->second >= 0 && time->second <= 59);
    require(time->micros >= 0 && time->micros <= 999999);
    require(abs(time->offset_minutes) < 24 * 60);
    require(time->has_offset || time->offset_minutes == 0);
}

static void check_written(const isotime *time)
{
    char text[ISOTIME_SIZE], twice[ISOTIME_SIZE];
    isotime again;

    isotime_format(text, time);
    require(isotime_parse(slice_of(text), &again));
    require(isotime_to_micros(&again) == isotime_to_micros(time));
    require(again.has_offset == time->has_offset);
    isotime_format(twice, &again);
    require(strcmp(text, twice) == 0);
}

static void check_micros(int64_t micros)
{
    isotime time;

    isotime_from_micros(&time, micros);
    check_ranges(&time);
    require(time.has_offset && time.offset_minutes == 0);
    check_written(&time);
    if (micros > INT64_C(-62135596800000000) && micros < INT64_C(253402300800000000))
        require(isotime_to_micros(&time) == micros);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    isotime time;
    int64_t micros;

    if (isotime_parse((slice){(const char *)data, size}, &time)) {
        check_ranges(&time);
        check_written(&time);
        check_micros(isotime_to_micros(&time));
    }
    if (size == sizeof(micros)) {
        memcpy(&micros, data, sizeof(micros));
        check_micros(micros);
    }
    return 0;
}

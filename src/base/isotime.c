/*
 * isotime.c: reads and writes times as text, and converts them to and from microseconds.
 */
#include "base/isotime.h"

#define MICROS_PER_SECOND INT64_C(1000000)
#define MICROS_PER_DAY    (INT64_C(86400) * MICROS_PER_SECOND)

/* 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z. */
#define MICROS_MIN (INT64_C(-62135596800) * MICROS_PER_SECOND)
#define MICROS_MAX (INT64_C(253402300800) * MICROS_PER_SECOND - 1)

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* --- reading --- */

static bool take_char(slice *text, char wanted)
{
    if (text->len == 0 || text->ptr[0] != wanted)
        return false;
    text->ptr++;
    text->len--;
    return true;
}

static bool take_digit(slice *text, int *digit)
{
    if (text->len == 0 || text->ptr[0] < '0' || text->ptr[0] > '9')
        return false;
    *digit = text->ptr[0] - '0';
    return take_char(text, text->ptr[0]);
}

static bool take_number(slice *text, int digits, int min, int max, int *out)
{
    int number = 0, digit;

    for (int i = 0; i < digits; i++) {
        if (!take_digit(text, &digit))
            return false;
        number = number * 10 + digit;
    }
    *out = number;
    return number >= min && number <= max;
}

static bool take_date(slice *text, isotime *time)
{
    return take_number(text, 4, 1, 9999, &time->year) && take_char(text, '-') &&
           take_number(text, 2, 1, 12, &time->month) && take_char(text, '-') &&
           take_number(text, 2, 1, days_in_month(time->year, time->month), &time->day);
}

static bool take_fraction(slice *text, isotime *time)
{
    int digit, unit = 100000;

    if (!take_digit(text, &digit))
        return false;
    do {
        time->micros += digit * unit;
        unit /= 10;
    } while (take_digit(text, &digit));
    return true;
}

static bool take_time(slice *text, isotime *time)
{
    if (!take_number(text, 2, 0, 23, &time->hour))
        return false;
    if (!take_char(text, ':'))
        return true;
    if (!take_number(text, 2, 0, 59, &time->minute))
        return false;
    if (!take_char(text, ':'))
        return true;
    if (!take_number(text, 2, 0, 59, &time->second))
        return false;
    if (take_char(text, '.') || take_char(text, ','))
        return take_fraction(text, time);
    return true;
}

static bool take_offset(slice *text, isotime *time)
{
    int hours, minutes = 0, sign = 1;

    time->has_offset = true;
    if (take_char(text, 'Z'))
        return true;
    if (take_char(text, '-'))
        sign = -1;
    else if (!take_char(text, '+'))
        return false;
    if (!take_number(text, 2, 0, 23, &hours))
        return false;
    if (take_char(text, ':') && !take_number(text, 2, 0, 59, &minutes))
        return false;
    time->offset_minutes = sign * (hours * 60 + minutes);
    return true;
}

bool isotime_parse(slice text, isotime *out)
{
    isotime time = {0};

    if (!take_date(&text, &time))
        return false;
    if (text.len > 0) {
        if (!take_char(&text, 'T') && !take_char(&text, ' '))
            return false;
        if (!take_time(&text, &time))
            return false;
    }
    if (text.len > 0 && !take_offset(&text, &time))
        return false;
    if (text.len > 0)
        return false;
    *out = time;
    return true;
}

/* --- writing --- */

static char *put_number(char *at, int number, int digits)
{
    for (int i = digits - 1; i >= 0; i--) {
        at[i] = (char)('0' + number % 10);
        number /= 10;
    }
    return at + digits;
}

static char *put_char(char *at, char c)
{
    *at = c;
    return at + 1;
}

static char *put_offset(char *at, int minutes)
{
    if (minutes == 0)
        return put_char(at, 'Z');
    at = put_char(at, minutes < 0 ? '-' : '+');
    if (minutes < 0)
        minutes = -minutes;
    at = put_number(at, minutes / 60, 2);
    at = put_char(at, ':');
    return put_number(at, minutes % 60, 2);
}

size_t isotime_format(char out[ISOTIME_SIZE], const isotime *time)
{
    char *at = put_number(out, time->year, 4);

    at = put_number(put_char(at, '-'), time->month, 2);
    at = put_number(put_char(at, '-'), time->day, 2);
    at = put_number(put_char(at, 'T'), time->hour, 2);
    at = put_number(put_char(at, ':'), time->minute, 2);
    at = put_number(put_char(at, ':'), time->second, 2);
    if (time->micros != 0)
        at = put_number(put_char(at, '.'), time->micros, 6);
    if (time->has_offset)
        at = put_offset(at, time->offset_minutes);
    *at = '\0';
    return (size_t)(at - out);
}

/* --- counting --- */

/* Days from 0001-01-01 to the first day of a year. */
static int64_t days_before_year(int year)
{
    int64_t past = year - 1;

    return past * 365 + past / 4 - past / 100 + past / 400;
}

static int64_t days_since_1970(int year, int month, int day)
{
    int64_t days = days_before_year(year) - days_before_year(1970) + day - 1;

    for (int m = 1; m < month; m++)
        days += days_in_month(year, m);
    return days;
}

int64_t isotime_to_micros(const isotime *time)
{
    int64_t minutes = time->hour * 60 + time->minute;

    if (time->has_offset)
        minutes -= time->offset_minutes;
    return days_since_1970(time->year, time->month, time->day) * MICROS_PER_DAY +
           (minutes * 60 + time->second) * MICROS_PER_SECOND + time->micros;
}

static void date_from_days(isotime *out, int64_t days)
{
    /* 400 years have 146097 days. The first value of `year` is at most one year off. */
    int64_t since_year_1 = days + days_before_year(1970);
    int year = (int)(since_year_1 * 400 / 146097) + 1;

    while (days_before_year(year) > since_year_1)
        year--;
    while (days_before_year(year + 1) <= since_year_1)
        year++;
    out->year = year;
    out->day = (int)(since_year_1 - days_before_year(year)) + 1;
    for (out->month = 1; out->day > days_in_month(year, out->month); out->month++)
        out->day -= days_in_month(year, out->month);
}

void isotime_from_micros(isotime *out, int64_t micros)
{
    if (micros < MICROS_MIN)
        micros = MICROS_MIN;
    if (micros > MICROS_MAX)
        micros = MICROS_MAX;
    int64_t days = micros / MICROS_PER_DAY;
    int64_t rest = micros % MICROS_PER_DAY;
    if (rest < 0) {
        rest += MICROS_PER_DAY;
        days--;
    }
    *out = (isotime){.has_offset = true, .micros = (int)(rest % MICROS_PER_SECOND)};
    int seconds = (int)(rest / MICROS_PER_SECOND);
    out->hour = seconds / 3600;
    out->minute = seconds / 60 % 60;
    out->second = seconds % 60;
    date_from_days(out, days);
}

bool isotime_moment(slice text, int64_t *micros)
{
    isotime time;
    if (!isotime_parse(text, &time) || !time.has_offset)
        return false;
    *micros = isotime_to_micros(&time);
    return *micros >= MICROS_MIN && *micros <= MICROS_MAX;
}

void isotime_json(buf *out, const isotime *time)
{
    char text[ISOTIME_SIZE];
    size_t len = isotime_format(text, time);
    buf_json_quoted(out, (slice){text, len});
}

size_t isotime_format_micros(char out[ISOTIME_SIZE], int64_t micros)
{
    isotime time;
    isotime_from_micros(&time, micros);
    return isotime_format(out, &time);
}

const char *isotime_text(arena *memory, int64_t micros)
{
    char text[ISOTIME_SIZE];
    size_t len = isotime_format_micros(text, micros);
    return arena_copy(memory, (slice){text, len});
}

void isotime_json_micros(buf *out, int64_t micros)
{
    isotime time;
    isotime_from_micros(&time, micros);
    isotime_json(out, &time);
}

void isotime_member(buf *out, const char *name, int64_t micros)
{
    buf_name(out, name);
    isotime_json_micros(out, micros);
}

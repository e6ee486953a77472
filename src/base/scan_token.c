/*
 * scan_token.c: reads JSON numbers and the escapes of JSON strings. Knows the limits of
 * PostgreSQL's type numeric.
 */
#include "base/scan_token.h"

/* Limits of PostgreSQL's type numeric for digits before and after the point. EXPANDED_DIGITS_MAX
 * limits the digits that jsonb may print for a number with an exponent. */
enum { WHOLE_DIGITS_MAX = 131072, FRACTION_DIGITS_MAX = 16383, EXPANDED_DIGITS_MAX = 40 };

static slice take_digits(const char **at, const char *end)
{
    const char *from = *at;

    while (*at < end && **at >= '0' && **at <= '9')
        ++*at;
    return (slice){from, (size_t)(*at - from)};
}

static bool end_number(scan_number *out, const char *at, bool good)
{
    out->end = at;
    return good;
}

static bool read_exponent(scan_number *out, const char *at, const char *end)
{
    bool negative = at < end && *at == '-';

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    slice digits = take_digits(&at, end);
    for (size_t i = 0; i < digits.len && out->exponent < SCAN_EXPONENT_MAX; i++)
        out->exponent = out->exponent * 10 + (digits.ptr[i] - '0');
    if (out->exponent > SCAN_EXPONENT_MAX)
        out->exponent = SCAN_EXPONENT_MAX;
    if (negative)
        out->exponent = -out->exponent;
    return end_number(out, at, digits.len > 0);
}

bool scan_number_read(scan_number *out, const char *at, const char *end)
{
    *out = (scan_number){.negative = at < end && *at == '-'};
    if (out->negative)
        at++;
    out->whole = take_digits(&at, end);
    if (out->whole.len == 0)
        return end_number(out, at, false);
    if (out->whole.len > 1 && out->whole.ptr[0] == '0')
        return end_number(out, out->whole.ptr + 1, false);
    if (at < end && *at == '.') {
        at++;
        out->fraction = take_digits(&at, end);
        if (out->fraction.len == 0)
            return end_number(out, at, false);
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        return read_exponent(out, at + 1, end);
    return end_number(out, at, true);
}

static size_t count_zeros(slice digits)
{
    size_t zeros = 0;

    while (zeros < digits.len && digits.ptr[zeros] == '0')
        zeros++;
    return zeros;
}

/* Returns the number of digits before the point when the number is written without its exponent; 0
 * or less if the magnitude is below 1. The result for a zero depends on its spelling. */
static int64_t whole_digits(const scan_number *number)
{
    size_t zeros = count_zeros(number->whole);
    int64_t digits = (int64_t)(number->whole.len - zeros);

    if (digits == 0)
        digits = -(int64_t)count_zeros(number->fraction);
    return digits + number->exponent;
}

unsigned scan_number_flags(const scan_number *number)
{
    int64_t fraction_digits = (int64_t)number->fraction.len - number->exponent;
    unsigned flags = 0;

    int64_t expanded = whole_digits(number);
    if (expanded < fraction_digits)
        expanded = fraction_digits;
    if (expanded > EXPANDED_DIGITS_MAX && number->exponent != 0)
        flags |= SCAN_HAS_LONG_NUMBER;
    if (whole_digits(number) > WHOLE_DIGITS_MAX || fraction_digits > FRACTION_DIGITS_MAX)
        flags |= SCAN_HAS_LONG_NUMBER;
    return flags;
}

/* Reads an escape of the form \uXXXX at `at`. */
static bool read_unit(const char *at, const char *end, uint32_t *unit)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return false;
    *unit = 0;
    for (int i = 2; i < 6; i++) {
        int digit = slice_hex_digit(at[i]);

        if (digit < 0)
            return false;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

const char *scan_escape(const char *at, const char *end, uint32_t *code)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    uint32_t low;

    if (read_unit(at, end, code)) {
        if (*code < 0xD800 || *code > 0xDBFF || !read_unit(at + 6, end, &low))
            return at + 6;
        if (low < 0xDC00 || low > 0xDFFF)
            return at + 6;
        *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
        return at + 12;
    }
    for (size_t i = 0; end - at >= 2 && i + 1 < sizeof(letters); i += 2) {
        if (at[1] == letters[i]) {
            *code = (uint32_t)letters[i + 1];
            return at + 2;
        }
    }
    return NULL;
}

/* Writes a code point as UTF-8 and returns its 1 to 4 bytes. Half a surrogate pair is written in
 * the same manner, as 3 bytes that do not occur in valid UTF-8. */
static size_t encode(char out[4], uint32_t code)
{
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80u | (code & 0x3Fu));
        code >>= 6;
    }
    out[0] = (char)(leads[len] | code);
    return len;
}

slice scan_next_part(slice *rest, char storage[4], uint32_t *code)
{
    const char *end = rest->ptr + rest->len, *next;
    slice part;

    *code = 'x';
    if (rest->len == 0)
        return *rest;
    if (rest->ptr[0] == '\\') {
        next = scan_escape(rest->ptr, end, code);
        part = (slice){storage, next != NULL ? encode(storage, *code) : 0};
    } else {
        next = memchr(rest->ptr, '\\', rest->len);
        next = next != NULL ? next : end;
        part = (slice){rest->ptr, (size_t)(next - rest->ptr)};
    }
    next = next != NULL ? next : end;
    *rest = (slice){next, (size_t)(end - next)};
    return part;
}

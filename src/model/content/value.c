/*
 * value.c: functions for single values: the characters of string tokens, uris, and the sign of
 * numbers.
 */
#include "model/content/class.h"

#include <strings.h>
#include "base/scan_token.h"

static void skip(slice *rest, size_t bytes)
{
    rest->ptr += bytes;
    rest->len -= bytes;
}

uint32_t content_next_char(slice *rest)
{
    unsigned char first = (unsigned char)rest->ptr[0];
    uint32_t code = first;
    if (first == '\\') {
        const char *next = scan_escape(rest->ptr, rest->ptr + rest->len, &code);
        skip(rest, (size_t)(next - rest->ptr));
        return code;
    }
    if (first < 0x80) {
        skip(rest, 1);
        return first;
    }
    size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    code = first & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++)
        code = code << 6 | ((unsigned char)rest->ptr[i] & 0x3F);
    skip(rest, more + 1);
    return code;
}

static bool is_space(uint32_t c)
{
    return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || c == 0x85 ||
           c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

slice content_trim(slice inside)
{
    const char *start = NULL;
    const char *end = inside.ptr;
    for (slice rest = inside; rest.len > 0;) {
        const char *at = rest.ptr;
        if (is_space(content_next_char(&rest)))
            continue;
        start = start ? start : at;
        end = rest.ptr;
    }
    return start ? (slice){start, (size_t)(end - start)} : (slice){inside.ptr, 0};
}

/* Returns true for control characters and for Unicode's Default_Ignorable_Code_Point. */
static bool is_invisible(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } RANGES[] = {{0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},      {0x34F, 0x34F},
                  {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},  {0x180B, 0x180F},
                  {0x200B, 0x200F},   {0x202A, 0x202E},   {0x2060, 0x206F},  {0x3164, 0x3164},
                  {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},  {0xFFF0, 0xFFF8},
                  {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
    for (size_t i = 0; i < sizeof(RANGES) / sizeof(RANGES[0]); i++)
        if (c >= RANGES[i].first && c <= RANGES[i].last)
            return true;
    return false;
}

bool content_is_blank(slice inside)
{
    while (inside.len > 0) {
        uint32_t c = content_next_char(&inside);
        if (!is_space(c) && !is_invisible(c))
            return false;
    }
    return true;
}

bool content_says(slice inside, const char *text)
{
    while (inside.len > 0 && *text)
        if (content_next_char(&inside) != (unsigned char)*text++)
            return false;
    return inside.len == 0 && !*text;
}

int content_compare(slice a, slice b)
{
    while (a.len > 0 && b.len > 0) {
        uint32_t left = content_next_char(&a);
        uint32_t right = content_next_char(&b);
        if (left != right)
            return left < right ? -1 : 1;
    }
    return (a.len > 0) - (b.len > 0);
}

/* --- uris --- */

typedef struct uri_parts {
    slice host; /* the host of the uri, without user and port */
    slice path; /* the path of the uri, without query and fragment */
} uri_parts;

/* Returns the number of bytes before the first byte of `text` that is in `ends`. If there is no
 * such byte, returns the length of `text`. */
static size_t length_until(slice text, const char *ends)
{
    size_t n = 0;
    while (n < text.len && !strchr(ends, text.ptr[n]))
        n++;
    return n;
}

static uri_parts split_uri(slice after_scheme)
{
    size_t end = length_until(after_scheme, "/?#");
    uri_parts parts = {{after_scheme.ptr, end}, after_scheme};
    skip(&parts.path, end);
    parts.path.len = length_until(parts.path, "?#");
    size_t user = length_until(parts.host, "@");
    if (user < parts.host.len)
        skip(&parts.host, user + 1);
    parts.host.len = length_until(parts.host, ":");
    return parts;
}

static bool s3_fits(uri_parts uri)
{
    slice key = uri.path;
    if (key.len > 0)
        skip(&key, 1);
    bool local = uri.host.len == 9 && strncasecmp(uri.host.ptr, "localhost", 9) == 0;
    if (!local)
        return uri.host.len > 0 && key.len > 0;
    size_t bucket = length_until(key, "/");
    return bucket > 0 && bucket + 1 < key.len;
}

static bool https_fits(uri_parts uri)
{
    return uri.host.len > 0 && uri.path.len > 1;
}

static const struct uri_scheme {
    const char *name; /* with "://" */
    bool (*fits)(uri_parts uri);
    const char *must;
} schemes[] = {
    {"s3://", s3_fits, "must name a bucket and a key, as in s3://bucket/key"},
    {"https://", https_fits, "must name a host and a path, as in https://host/path"},
};

static bool has_control(slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7F)
            return true;
    return false;
}

bool content_uri_fits(slice uri, const char **must)
{
    *must = "must not hold control characters";
    if (has_control(uri))
        return false;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t len = strlen(schemes[i].name);
        if (uri.len < len || strncasecmp(uri.ptr, schemes[i].name, len) != 0)
            continue;
        *must = schemes[i].must;
        return schemes[i].fits(split_uri((slice){uri.ptr + len, uri.len - len}));
    }
    *must = "must be a uri that starts with s3:// or https://";
    return false;
}

/* --- numbers --- */

bool content_number_is_zero(slice number)
{
    for (size_t i = 0; i < number.len && (number.ptr[i] | 0x20) != 'e'; i++)
        if (number.ptr[i] >= '1' && number.ptr[i] <= '9')
            return false;
    return true;
}

bool content_number_is_positive(slice number)
{
    return number.ptr[0] != '-' && !content_number_is_zero(number);
}

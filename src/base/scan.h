/*
 * scan.h: a strict reader of JSON: the grammar of RFC 8259, UTF-8, a limit of depth. scan_check
 * checks a text once. Other functions return values as pointers into the text, so that content can
 * be stored byte for byte. No tree is built, and numbers stay text. For content, the library
 * jansson does not suffice: it rejects lone surrogates and big integers, merges members with the
 * same name, and does not return the original bytes.
 */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include "base/buf.h"

typedef enum scan_kind {
    SCAN_NONE = 0,
    SCAN_NULL,
    SCAN_FALSE,
    SCAN_TRUE,
    SCAN_NUMBER,
    SCAN_STRING,
    SCAN_ARRAY,
    SCAN_OBJECT
} scan_kind;

/* Contents that PostgreSQL's jsonb rejects, or prints as a much longer text. */
enum {
    SCAN_HAS_NUL = 1 << 0,        /* an escape \u0000 */
    SCAN_HAS_SURROGATE = 1 << 1,  /* an escape of half a surrogate pair */
    SCAN_HAS_LONG_NUMBER = 1 << 2 /* a number over the limits of numeric (131072 digits before the
                                   * point, 16383 after it), or an exponent that stands for more
                                   * than 40 digits before or after the point */
};

#define SCAN_NOT_JSONB (SCAN_HAS_NUL | SCAN_HAS_SURROGATE | SCAN_HAS_LONG_NUMBER)

/* One value: its kind, and its text without white space around it. The text of a string includes
 * the quotes. */
typedef struct scan_value {
    scan_kind kind;
    slice text;
} scan_value;

/* Why scan_check rejects a text. */
typedef struct scan_error {
    size_t position;     /* byte offset */
    const char *message; /* static text, such as "expected a value" */
    bool too_deep;       /* the text exceeds the depth limit, so the rest was not checked */
} scan_error;

/* Checks that `text` is one JSON value, perhaps with white space around it, nested at most
 * `max_depth` levels, in UTF-8 without a byte order mark. Stores the value and its SCAN_HAS_ flags.
 * Each of `value`, `flags` and `error` may be NULL. Not recursive. */
bool scan_check(slice text, unsigned max_depth, scan_value *value, unsigned *flags,
                scan_error *error);

/* Returns the value of a text that scan_check accepted, or that PostgreSQL printed. If the text has
 * only white space or is empty, the kind is SCAN_NONE. */
scan_value scan_whole(slice text);

/* A position in an object or array of a text that scan_check accepted. scan_enter starts a walk. */
typedef struct scan_walk {
    const char *at;
    const char *end;
} scan_walk;

scan_walk scan_enter(scan_value container);

/* Reads the next member of an object: its key as a string token with quotes and escapes, and its
 * value. False at the end of the object. */
bool scan_member(scan_walk *walk, slice *key, scan_value *value);

/* Reads the next element of an array. False at the end of the array. */
bool scan_element(scan_walk *walk, scan_value *value);

/* scan_to_member and scan_to_element move to the value of the next member or element. To get the
 * whole value, the caller then calls scan_take. To read an object or array step by step, the caller
 * calls scan_into, reads all members or elements, and calls scan_leave. So the end of the object or
 * array is not searched first. */
bool scan_to_member(scan_walk *walk, slice *key);
bool scan_to_element(scan_walk *walk);

/* Reads the value at the present position, and moves behind the value. False: there is no value. */
bool scan_take(scan_walk *walk, scan_value *value);

static inline scan_walk scan_into(const scan_walk *walk)
{
    return (scan_walk){walk->at + 1, walk->end};
}

/* Returns the object or array that `inner`, a walk of scan_into, has read to its end. Moves `walk`
 * behind this value. */
scan_value scan_leave(scan_walk *walk, const scan_walk *inner);

/* Returns the number of elements of an array, or of members of an object. */
size_t scan_count(scan_value container);

/* Returns the bytes between the quotes of a string token, with escapes not decoded. */
static inline slice scan_inside(slice string)
{
    return string.len < 2 ? (slice){"", 0} : (slice){string.ptr + 1, string.len - 2};
}

/* Returns the bytes between the quotes of a string value; empty if the value is not a string. */
static inline slice scan_string_inside(scan_value value)
{
    return value.kind == SCAN_STRING ? scan_inside(value.text) : (slice){"", 0};
}

/* scan_string_is returns true if a string token, with its escapes decoded, equals `text`. The
 * function first compares lengths and first bytes, in which most names differ. An escape is not
 * shorter than the UTF-8 character that the escape encodes. */
bool scan_string_equals_decoded(slice string, slice text);
static inline bool scan_string_is(slice string, slice text)
{
    if (string.len < text.len + 2 ||
        (text.len > 0 && string.ptr[1] != text.ptr[0] && string.ptr[1] != '\\'))
        return false;
    return scan_string_equals_decoded(string, text);
}

/* Returns the value of the last member `name` of an object; SCAN_NONE if there is no such member.
 */
scan_value scan_find(scan_value object, const char *name);

/* True if a JSON text may contain a member `name`: the text contains the bytes of `name`, or an
 * escape of the form \uXXXX. False: no member has this name. `name` must not be empty, or contain
 * quotes, slashes, backslashes or control characters, which have other escapes. */
bool scan_may_name(slice text, slice name);

/* Splits an object after its first member if the member's name is `name`. Stores the member's
 * value, and in `rest` the text from the key of the second member to before the closing brace.
 * False: the value is no object, its first member has another name, there is no second member, or
 * scan_may_name is true for `rest`. */
bool scan_split_first(scan_value object, slice name, scan_value *value, slice *rest);

/* True if the inside of a string token contains the bytes \ud or \uD, so that it may contain half a
 * surrogate pair. These bytes can also begin a whole pair, or follow an escaped backslash. */
bool scan_may_have_half(slice inside);

/* Appends the decoded text of a string token, as UTF-8. Returns false and appends nothing if the
 * text contains NUL or half a surrogate pair, which no UTF-8 C string can hold. */
bool scan_decode(buf *out, slice token);

/* Reads a JSON number whose value is an integer, such as "2", "2.0" or "2e0". Values outside of the
 * range of int64_t are clamped to it. False for any other number. */
bool scan_integer(slice number, int64_t *out);

/* Compares two JSON numbers by value. Returns -1, 0 or 1. The result is exact if the exponents are
 * between -10^12 and 10^12 (SCAN_EXPONENT_MAX). */
int scan_number_order(slice a, slice b);

/* Returns the number of characters (code points) in the decoded text of a string token. Half a
 * surrogate pair counts as one character. */
size_t scan_string_length(slice token);

/* True if two string tokens have the same decoded text. */
bool scan_string_equal(slice a, slice b);

/* True if two JSON values are equal: 1 equals 1.0, and members may be in any order. If an object
 * has two members with the same name, the result may be wrong. */
bool scan_equal(scan_value a, scan_value b);

/* Appends JSON in which escapes are decoded, except those of ASCII characters, control characters
 * and half surrogate pairs. So people can read texts in which all letters were escaped. */
void scan_readable(buf *out, slice text);

/* Appends `text`, which must be valid JSON, without the white space between tokens. */
void scan_compact(buf *out, slice text);

/* Appends `text`, which must be valid JSON, changed so that jsonb accepts it: \u0000 and half
 * surrogate pairs become U+FFFD, and numbers with SCAN_HAS_LONG_NUMBER become strings. */
void scan_sanitise(buf *out, slice text);

/* Returns the name of a kind for messages, such as "string" or "object". */
const char *scan_kind_name(scan_kind kind);

#endif

/*
 * scan.h: the strict reader of JSON from outside: RFC 8259's grammar, UTF-8, a depth limit, no
 * allocation. It checks a text once and then lends the byte span of each value, so that content is
 * stored byte for byte. It builds no tree, and numbers stay text.
 * Stored JSON is not read with jansson. That library rejects lone surrogates and big integers,
 * merges members with the same name, and does not return the original bytes. The library yajl
 * accepts comments and loses the spans of compound values. Other documents are read and written
 * with jansson (app/json_text.h).
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
    SCAN_HAS_LONG_NUMBER = 1 << 2 /* more digits than numeric holds (131072 before, 16383 after the
                                   * point), or over 40 where an exponent makes them */
};

#define SCAN_NOT_JSONB (SCAN_HAS_NUL | SCAN_HAS_SURROGATE | SCAN_HAS_LONG_NUMBER)

/* One value: its kind, and its bytes without white space around it. A string's include the quotes.
 */
typedef struct scan_value {
    scan_kind kind;
    slice text;
} scan_value;

/* Why a text is refused. */
typedef struct scan_error {
    size_t position;     /* byte offset */
    const char *message; /* static, lower case: "expected a value", "bad escape", ... */
    bool too_deep;       /* over the depth limit, but perhaps well-formed */
} scan_error;

/* Checks that `text` is exactly one JSON value with white space around it, nested at most
 * `max_depth` levels, in UTF-8 without a byte order mark. Returns its span and the SCAN_HAS_ flags.
 * Each out-parameter may be NULL. Not recursive. */
bool scan_check(slice text, unsigned max_depth, scan_value *value, unsigned *flags,
                scan_error *error);

/* The one value of a text that scan_check accepted, or that PostgreSQL printed. SCAN_NONE for an
 * empty text. */
scan_value scan_whole(slice text);

/* Walks an object or array that scan_check accepted (or a value inside one). */
typedef struct scan_walk {
    const char *at;
    const char *end;
} scan_walk;

scan_walk scan_enter(scan_value container);

/* The next member of an object: its key as a string token, quotes and escapes included, and its
 * value. False at the end. */
bool scan_member(scan_walk *walk, slice *key, scan_value *value);

/* The next element of an array. False at the end. */
bool scan_element(scan_walk *walk, scan_value *value);

/* The same walk in two steps, for callers that also read the values. First, one of these functions
 * moves to the value of the next member or element. Then the caller either calls scan_take, or
 * calls scan_into, walks the value to its end, and calls scan_leave. So each byte is read once.
 * scan_member and scan_element read a value to find its end, and its reader reads it again. */
bool scan_to_member(scan_walk *walk, slice *key);
bool scan_to_element(scan_walk *walk);

/* Returns the value at the present position, and moves past it. False: there is none. */
bool scan_take(scan_walk *walk, scan_value *value);

static inline scan_walk scan_into(const scan_walk *walk)
{
    return (scan_walk){walk->at + 1, walk->end};
}

/* The value that `inner` has gone through to its end. */
scan_value scan_leave(scan_walk *walk, const scan_walk *inner);

/* Elements of an array, members of an object. */
size_t scan_count(scan_value container);

/* The bytes between the quotes of a string token, escapes as they are. */
static inline slice scan_inside(slice string)
{
    return string.len < 2 ? (slice){"", 0} : (slice){string.ptr + 1, string.len - 2};
}

/* The same of a value; empty for one that is no string. */
static inline slice scan_string_inside(scan_value value)
{
    return value.kind == SCAN_STRING ? scan_inside(value.text) : (slice){"", 0};
}

/* True if a string token, with its escapes decoded, equals `text`. An escape is never shorter than
 * the character that it encodes, and most compared names differ in their length or first byte. */
bool scan_string_equals_decoded(slice string, slice text);
static inline bool scan_string_is(slice string, slice text)
{
    if (string.len < text.len + 2 ||
        (text.len > 0 && string.ptr[1] != text.ptr[0] && string.ptr[1] != '\\'))
        return false;
    return scan_string_equals_decoded(string, text);
}

/* The member `name` of an object, the last if there are several. SCAN_NONE if absent. */
scan_value scan_find(scan_value object, const char *name);

/* True if the bytes of a text may contain the name of a member `name`, spelled so or with an escape
 * for one of its letters. False is certain. It searches and does not walk. */
bool scan_may_name(slice text, slice name);

/* Splits an object after its first member, if that is `name`. Returns its value, and in `rest` the
 * text from the next member's key to the closing brace. False: `name` is not first, is the only
 * member, may occur twice, or a walk would be needed to find out. */
bool scan_split_first(scan_value object, slice name, scan_value *value, slice *rest);

/* True if the inside of a string token may contain half a surrogate pair. It has an escape of one,
 * of a pair, or text like it behind an escaped backslash. False is certain. */
bool scan_may_have_half(slice inside);

/* Appends the decoded text of a string token, as UTF-8. False, with nothing appended, if it
 * contains NUL or half a surrogate pair, which no UTF-8 C string can hold. */
bool scan_decode(buf *out, slice token);

/* Reads a JSON number that is an integer of any size, "2.0" and "2e0" too, clamped to int64's
 * range. False for any other number. */
bool scan_integer(slice number, int64_t *out);

/* The order of two JSON numbers by value, exact whatever their size: below 0, 0, above 0. */
int scan_number_order(slice a, slice b);

/* Characters (code points) in the decoded text of a string token; half a surrogate pair counts as
 * one. */
size_t scan_string_length(slice token);

/* True if two string tokens have the same decoded text. */
bool scan_string_equal(slice a, slice b);

/* True if two values are equal: 1 equals 1.0, and members may be in any order. If an object has a
 * name twice, the result is undefined. */
bool scan_equal(scan_value a, scan_value b);

/* Appends JSON with its escapes decoded, other than those of ASCII and control characters. People
 * can then read languages that some writers escape as a whole. */
void scan_readable(buf *out, slice text);

/* Appends valid JSON without the white space between tokens. */
void scan_compact(buf *out, slice text);

/* Appends a projection that jsonb accepts: \u0000 and half pairs become U+FFFD, numbers with
 * SCAN_HAS_LONG_NUMBER become strings of their digits. For filters only, never shown. */
void scan_sanitise(buf *out, slice text);

/* "string", "object", ... for messages. */
const char *scan_kind_name(scan_kind kind);

#endif

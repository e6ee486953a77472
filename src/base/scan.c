/*
 * scan.c: checks that a text is JSON by RFC 8259, in one pass, without recursion or allocation.
 */
#include "base/scan.h"
#include "base/scan_token.h"

/* scan_check reduces a larger max_depth to LEVELS_MAX. */
enum { LEVELS_MAX = 1024 };

typedef struct checker {
    const char *start;
    const char *at;
    const char *end;
    unsigned depth;
    unsigned max_depth;
    unsigned flags;
    scan_error error;
    uint64_t objects[LEVELS_MAX / 64]; /* a bit for each open level: 1: an object, 0: an array */
} checker;

/* State of the check: the part of the grammar that is expected next, or the result. */
typedef enum state { WANT_VALUE, WANT_NEXT, FINISHED, REFUSED } state;

static state refuse(checker *c, const char *at, const char *message)
{
    c->error.position = (size_t)(at - c->start);
    c->error.message = message;
    return REFUSED;
}

static void skip_space(checker *c)
{
    c->at = scan_skip_space(c->at, c->end);
}

/* Returns the next character that is not white space; NUL at the end of the text, and also for a
 * NUL byte in the text. */
static char peek(checker *c)
{
    skip_space(c);
    return c->at < c->end ? *c->at : '\0';
}

/* --- strings --- */

/* Skips the ASCII characters of a string except quotes, backslashes and control characters, eight
 * at once. In `found`, the high bit of a byte is set if the byte must not be skipped. */
static const char *skip_plain(const char *at, const char *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high_bits = ones << 7;

    for (; end - at >= 8; at += 8) {
        uint64_t word, found;

        memcpy(&word, at, sizeof(word));
        found = word | (word - ones * 0x20) | ((word ^ ones * '"') - ones) |
                ((word ^ ones * '\\') - ones);
        if ((found & high_bits) != 0)
            break;
    }
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' &&
           *at != '\\')
        at++;
    return at;
}

static const char *check_escape(checker *c, const char *at)
{
    uint32_t code;
    const char *next = scan_escape(at, c->end, &code);

    if (next == NULL) {
        refuse(c, at, "bad escape in a string");
        return NULL;
    }
    if (code == 0)
        c->flags |= SCAN_HAS_NUL;
    if (scan_is_half(code))
        c->flags |= SCAN_HAS_SURROGATE;
    return next;
}

static const char *check_special(checker *c, const char *at)
{
    if (*at == '\\')
        return check_escape(c, at);
    if ((unsigned char)*at < 0x20) {
        refuse(c, at, "control character in a string, write it as an escape");
        return NULL;
    }
    size_t step = slice_utf8_step((slice){at, (size_t)(c->end - at)});
    if (step == 0) {
        refuse(c, at, "bytes that are not UTF-8 in a string");
        return NULL;
    }
    return at + step;
}

static bool check_string(checker *c)
{
    const char *at = c->at + 1;

    while (at != NULL) {
        at = skip_plain(at, c->end);
        if (at == c->end) {
            refuse(c, at, "string without a closing quote");
            return false;
        }
        if (*at == '"') {
            c->at = at + 1;
            return true;
        }
        at = check_special(c, at);
    }
    return false;
}

/* --- values --- */

static state read_number(checker *c)
{
    scan_number number;

    if (!scan_number_read(&number, c->at, c->end))
        return refuse(c, number.end, "bad number");
    c->flags |= scan_number_flags(&number);
    c->at = number.end;
    return WANT_NEXT;
}

static state read_word(checker *c, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
        return refuse(c, c->at, "expected a value");
    c->at += len;
    return WANT_NEXT;
}

static state read_key(checker *c)
{
    if (peek(c) != '"')
        return refuse(c, c->at, "expected a name in quotes");
    if (!check_string(c))
        return REFUSED;
    if (peek(c) != ':')
        return refuse(c, c->at, "expected ':'");
    c->at++;
    return WANT_VALUE;
}

static state open_container(checker *c, bool object)
{
    uint64_t bit = UINT64_C(1) << (c->depth % 64);
    uint64_t *levels = &c->objects[c->depth / 64];

    if (c->depth >= c->max_depth) {
        c->error.too_deep = true;
        return refuse(c, c->at, "nested too deeply");
    }
    *levels = object ? *levels | bit : *levels & ~bit;
    c->depth++;
    c->at++;
    if (peek(c) == (object ? '}' : ']')) {
        c->at++;
        c->depth--;
        return WANT_NEXT;
    }
    return object ? read_key(c) : WANT_VALUE;
}

static state read_value(checker *c)
{
    switch (peek(c)) {
    case '{':
        return open_container(c, true);
    case '[':
        return open_container(c, false);
    case '"':
        return check_string(c) ? WANT_NEXT : REFUSED;
    case 't':
        return read_word(c, "true");
    case 'f':
        return read_word(c, "false");
    case 'n':
        return read_word(c, "null");
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return read_number(c);
    default:
        return refuse(c, c->at, "expected a value");
    }
}

/* Reads what follows a value: a comma and perhaps a key, or the end of the container. */
static state read_next(checker *c)
{
    if (c->depth == 0)
        return FINISHED;
    char next = peek(c);
    bool object = c->objects[(c->depth - 1) / 64] >> ((c->depth - 1) % 64) & 1;
    if (next == ',') {
        c->at++;
        return object ? read_key(c) : WANT_VALUE;
    }
    if (next != (object ? '}' : ']'))
        return refuse(c, c->at, object ? "expected ',' or '}'" : "expected ',' or ']'");
    c->at++;
    c->depth--;
    return WANT_NEXT;
}

static scan_kind kind_of(char first)
{
    switch (first) {
    case '{':
        return SCAN_OBJECT;
    case '[':
        return SCAN_ARRAY;
    case '"':
        return SCAN_STRING;
    case 't':
        return SCAN_TRUE;
    case 'f':
        return SCAN_FALSE;
    case 'n':
        return SCAN_NULL;
    default:
        return SCAN_NUMBER;
    }
}

scan_value scan_value_of(const char *from, const char *to)
{
    return (scan_value){kind_of(*from), {from, (size_t)(to - from)}};
}

bool scan_check(slice text, unsigned max_depth, scan_value *value, unsigned *flags,
                scan_error *error)
{
    const char *start = text.len > 0 ? text.ptr : "", *first, *last;
    checker c = {.start = start, .at = start, .end = start + text.len};
    state now = WANT_VALUE;

    c.max_depth = max_depth < LEVELS_MAX ? max_depth : LEVELS_MAX;
    skip_space(&c);
    first = c.at;
    while (now == WANT_VALUE || now == WANT_NEXT)
        now = now == WANT_VALUE ? read_value(&c) : read_next(&c);
    last = c.at;
    skip_space(&c);
    if (now == FINISHED && c.at < c.end)
        now = refuse(&c, c.at, "text after the end of the value");
    if (error != NULL)
        *error = c.error;
    if (flags != NULL)
        *flags = now == FINISHED ? c.flags : 0;
    if (value != NULL)
        *value = now == FINISHED ? scan_value_of(first, last) : (scan_value){SCAN_NONE, {NULL, 0}};
    return now == FINISHED;
}

const char *scan_kind_name(scan_kind kind)
{
    static const char *const names[] = {"nothing", "null",   "false", "true",
                                        "number",  "string", "array", "object"};

    return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

/*
 * test_scan_jansson.c: scan_check and scan_compact against jansson, on
 * texts that are made at random and then damaged. Where jansson is known to refuse more (NUL, half
 * surrogates, numbers beyond int64 and double) nothing is compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>
#include "base/scan.h"

enum { TEXTS = 60000, TEXTS_LIGHT = 6000, DAMAGED_EACH = 4, DEPTH = 40 };

static uint64_t random_state = 42; /* the same texts at every run */

static unsigned random_below(unsigned limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 32) % limit;
}

static const char *pick(const char *const *from, size_t count)
{
    return from[random_below((unsigned)count)];
}

#define PICK(table) pick((table), sizeof(table) / sizeof((table)[0]))

static void add_space(buf *out)
{
    static const char *const spaces[] = {"", "", "", "", " ", "\n", "\t\r "};

    buf_text(out, PICK(spaces));
}

static void add_string(buf *out)
{
    static const char *const pieces[] = {
        "a",       "b",       "key",     "long enough for words ", "\\n",      "\\\"",
        "\\\\",    "\\/",     "\\u0041", "\\ud83d\\ude00",         "\xC3\xA9", "\xE2\x82\xAC",
        "\\ud83d", "\\u0000", "\x7F",    "\xF0\x9F\x98\x80"};
    unsigned count = random_below(4);

    buf_char(out, '"');
    for (unsigned i = 0; i < count; i++)
        buf_text(out, PICK(pieces));
    buf_char(out, '"');
}

static void add_scalar(buf *out)
{
    static const char *const scalars[] = {"0",
                                          "-0",
                                          "1",
                                          "12",
                                          "-7",
                                          "1.5",
                                          "0.25",
                                          "1e5",
                                          "1E-3",
                                          "-2.5e+2",
                                          "true",
                                          "false",
                                          "null",
                                          "1e400",
                                          "99999999999999999999",
                                          "9223372036854775807"};

    if (random_below(3) == 0)
        add_string(out);
    else
        buf_text(out, PICK(scalars));
}

static void add_value(buf *out, unsigned depth)
{
    bool object = random_below(2) == 0;
    unsigned count = random_below(5);

    add_space(out);
    if (depth == 0 || random_below(3) == 0) {
        add_scalar(out);
        add_space(out);
        return;
    }
    buf_char(out, object ? '{' : '[');
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            buf_char(out, ',');
        if (object) {
            add_space(out);
            add_string(out);
            add_space(out);
            buf_char(out, ':');
        }
        add_value(out, depth - 1);
    }
    buf_char(out, object ? '}' : ']');
    add_space(out);
}

static void damage(buf *text)
{
    static const char bytes[] =
        "\"\\{}[]:,0123456789eE+-.truefalsnu \n\t\x01\x1F\x7F\x80\xC3\xE2\xED";
    unsigned changes = 1 + random_below(2);

    for (unsigned i = 0; i < changes && text->len > 0; i++) {
        size_t at = random_below((unsigned)text->len);

        switch (random_below(4)) {
        case 0:
            memmove(text->data + at, text->data + at + 1, text->len - at);
            text->len--;
            break;
        case 1:
            text->len = at;
            break;
        default:
            text->data[at] = bytes[random_below(sizeof(bytes) - 1)];
        }
    }
}

/* jansson's tree, or NULL. *undecided: it gave up on what we take on purpose. */
static json_t *load(const buf *text, bool *undecided)
{
    json_error_t error;
    json_t *tree = json_loadb(text->len > 0 ? text->data : "", text->len,
                              JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    enum json_error_code code = tree ? json_error_unknown : json_error_code(&error);

    *undecided = code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
                 code == json_error_null_character;
    return tree;
}

/* A tree of what `rewrite` makes of the text must be the text's own. */
static void check_compact(const buf *text, const json_t *tree)
{
    buf out = BUF_INIT(1u << 20);
    bool undecided;
    json_t *again;

    scan_compact(&out, (slice){text->data, text->len});
    again = load(&out, &undecided);
    assert_non_null(again);
    assert_true(json_equal(tree, again));
    json_decref(again);
    buf_free(&out);
}

static void compare(const buf *text)
{
    bool undecided, ours;
    unsigned flags;
    json_t *tree;

    ours = scan_check((slice){text->data, text->len}, DEPTH, NULL, &flags, NULL);
    tree = load(text, &undecided);
    undecided = undecided || (flags & SCAN_HAS_SURROGATE) != 0;
    if (!undecided && ours != (tree != NULL))
        fail_msg("we say %d to %.*s", ours, (int)text->len, text->data);
    if (tree != NULL) {
        assert_true(ours);
        check_compact(text, tree);
    }
    json_decref(tree);
}

static void agrees_with_jansson(void **state)
{
    int texts = getenv("CARDBOX_TEST_LIGHT") ? TEXTS_LIGHT : TEXTS, taken = 0, refused = 0;
    buf text = BUF_INIT(1u << 20), damaged = BUF_INIT(1u << 20);

    (void)state;
    for (int i = 0; i < texts; i++) {
        buf_reset(&text, SIZE_MAX);
        add_value(&text, 1 + random_below(5));
        assert_true(scan_check((slice){text.data, text.len}, DEPTH, NULL, NULL, NULL));
        compare(&text);
        for (int k = 0; k < DAMAGED_EACH; k++) {
            buf_reset(&damaged, SIZE_MAX);
            buf_slice(&damaged, (slice){text.data, text.len});
            damage(&damaged);
            compare(&damaged);
            if (scan_check((slice){damaged.data, damaged.len}, DEPTH, NULL, NULL, NULL))
                taken++;
            else
                refused++;
        }
    }
    /* Damage that always or never matters would compare little. */
    assert_true(taken > texts / 4);
    assert_true(refused > texts);
    buf_free(&text);
    buf_free(&damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_jansson),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_session_line.c: a session file's bytes as lines. Whatever they are, the lines together are
 * the file again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "model/session/line.h"
#include "unit/session_test.h"

static session_line only_line(slice bytes)
{
    session_lines lines = session_lines_of(bytes);
    session_line line, more;

    assert_true(session_lines_next(&lines, &line));
    assert_false(session_lines_next(&lines, &more));
    assert_int_equal(line.length, bytes.len);
    return line;
}

static void tells_lines_apart(void **state)
{
    static const struct {
        slice bytes;
        session_line_kind kind;
        const char *text; /* NULL: not asked */
    } CASES[] = {
        {SLICE("{\"type\":\"user\"}\n"), SESSION_LINE_ENTRY, "{\"type\":\"user\"}"},
        {SLICE("{\"type\":\"user\"}\r\n"), SESSION_LINE_ENTRY, "{\"type\":\"user\"}"},
        {SLICE(" \t{ } \n"), SESSION_LINE_ENTRY, "{ }"},
        {SLICE("\xEF\xBB\xBF{\"a\":1}"), SESSION_LINE_ENTRY, "{\"a\":1}"},
        {SLICE("{\"type\":\"session\",\"id\":\"x\"}\n"), SESSION_LINE_HEADER, NULL},
        {SLICE("{\"type\":\"session\",\"id\":\"x\",\"parentId\":null}\n"), SESSION_LINE_ENTRY,
         NULL},
        {SLICE("{\"type\":\"\\u0073ession\"}"), SESSION_LINE_HEADER, NULL},
        {SLICE("\n"), SESSION_LINE_BLANK, ""},
        {SLICE(" \r\n"), SESSION_LINE_BLANK, ""},
        {SLICE("\xEF\xBB\xBF"), SESSION_LINE_BLANK, ""},
        {SLICE("\0\0\0"), SESSION_LINE_BLANK, ""},
        {SLICE("\0\0{\"a\":\"\\ud800\"}\0\n"), SESSION_LINE_ENTRY, "{\"a\":\"\\ud800\"}"},
        {SLICE("{\"a\":\"\xED\xA0\x80\"}\n"), SESSION_LINE_BAD, NULL},
        {SLICE("{\"a\":\"\0\"}\n"), SESSION_LINE_BAD, NULL},
        {SLICE("{\"a\":1} {\n"), SESSION_LINE_BAD, NULL},
        {SLICE("[1]\n"), SESSION_LINE_BAD, NULL},
        {SLICE("5\n"), SESSION_LINE_BAD, NULL},
        {SLICE("\x7F"
               "ELF\x02\x01\n"),
         SESSION_LINE_BAD, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        session_line line = only_line(CASES[i].bytes);
        if (line.kind != CASES[i].kind)
            fail_msg("case %zu is %d", i, (int)line.kind);
        assert_true((line.kind == SESSION_LINE_BAD) == (line.reason != NULL));
        if (CASES[i].text != NULL)
            assert_true(slice_equal(line.text, slice_of(CASES[i].text)));
    }
}

static void says_where_and_torn(void **state)
{
    session_line line = only_line(SLICE(" {\"type\":\"user\",\"conte"));

    (void)state;
    assert_int_equal(line.kind, SESSION_LINE_BAD);
    assert_true(line.is_torn);
    assert_int_equal(line.reason_at, 22);
    line = only_line(SLICE("{\"type\"\n"));
    assert_int_equal(line.kind, SESSION_LINE_BAD);
    assert_false(line.is_torn);
    line = only_line(SLICE("{\"type\":\"x\"}"));
    assert_int_equal(line.kind, SESSION_LINE_ENTRY);
    assert_false(line.is_torn);
    line = only_line(SLICE("\0{\"a\":1}\n"));
    assert_true(line.has_nul);
}

static void an_empty_file_has_no_lines(void **state)
{
    session_lines lines = session_lines_of((slice){NULL, 0});
    session_line line;

    (void)state;
    assert_false(session_lines_next(&lines, &line));
}

/* Feeds the bytes in pieces, as a body arrives, and compares with the file at once. */
static void a_stream_gives_the_same_lines(void **state)
{
    static const char FILE_TEXT[] = "{\"a\":1}\n\n{\"b\":\r\n{\"c\":\"d\"}\r\nlast";
    slice bytes = {FILE_TEXT, sizeof(FILE_TEXT) - 1};

    (void)state;
    for (size_t piece = 1; piece <= bytes.len; piece++) {
        session_lines at_once = session_lines_of(bytes), stream = session_lines_stream();
        session_line line, same;
        size_t given = 0;

        while (given < bytes.len) {
            size_t rest = stream.rest.len;
            given = given + piece < bytes.len ? given + piece : bytes.len;
            size_t from = given - rest - (given % piece == 0 ? piece : given % piece);
            session_lines_give(&stream, (slice){bytes.ptr + from, given - from},
                               given == bytes.len);
            while (session_lines_next(&stream, &line)) {
                assert_true(session_lines_next(&at_once, &same));
                assert_int_equal(line.kind, same.kind);
                assert_int_equal(line.number, same.number);
                assert_int_equal(line.offset, same.offset);
                assert_true(slice_equal(line.whole, same.whole));
            }
        }
        assert_false(session_lines_next(&at_once, &same));
    }
}

/* A line of `size` bytes with its end. */
static buf long_line(size_t size)
{
    buf text = BUF_INIT(SIZE_MAX / 4);

    assert_true(buf_reserve(&text, size));
    buf_text(&text, "{\"a\":\"");
    memset(text.data + text.len, 'x', size - 9);
    text.len += size - 9;
    buf_text(&text, "\"}\n");
    return text;
}

static void long_lines_are_taken_up_to_the_limit(void **state)
{
    buf fits = long_line(SESSION_LINE_MAX + 1), not = long_line(SESSION_LINE_MAX + 2);
    session_lines stream = session_lines_stream();
    session_line line;

    (void)state;
    assert_int_equal(only_line(buf_as_slice(&fits)).kind, SESSION_LINE_ENTRY);
    assert_int_equal(only_line(buf_as_slice(&not )).kind, SESSION_LINE_BAD);
    session_lines_give(&stream, (slice){not .data, not .len - 1}, false);
    assert_false(session_lines_next(&stream, &line));
    buf_text(&not, "{}\n");
    session_lines_give(&stream, buf_as_slice(&not ), true);
    assert_true(session_lines_next(&stream, &line));
    assert_int_equal(line.kind, SESSION_LINE_BAD);
    assert_true(session_lines_next(&stream, &line));
    assert_int_equal(line.kind, SESSION_LINE_ENTRY);
    buf_free(&fits);
    buf_free(&not );
}

/* More than can be held: it goes by in pieces and is one bad line in the end. */
static void an_endless_line_needs_no_memory(void **state)
{
    buf piece = long_line(SESSION_LINE_MAX + 100);
    session_lines stream = session_lines_stream();
    session_line line;

    (void)state;
    for (int i = 0; i < 3; i++) {
        session_lines_give(&stream, (slice){piece.data, piece.len - 1}, false);
        assert_false(session_lines_next(&stream, &line));
        assert_int_equal(stream.rest.len, 0);
    }
    session_lines_give(&stream, SLICE("{ } \n{}"), true);
    assert_true(session_lines_next(&stream, &line));
    assert_int_equal(line.kind, SESSION_LINE_BAD);
    assert_int_equal(line.number, 1);
    assert_int_equal(line.length, 3 * (piece.len - 1) + 5);
    assert_int_equal(line.offset, 0);
    assert_true(session_lines_next(&stream, &line));
    assert_int_equal(line.kind, SESSION_LINE_ENTRY);
    assert_int_equal(line.offset, 3 * (piece.len - 1) + 5);
    buf_free(&piece);
}

static void the_real_session_comes_out_again(void **state)
{
    buf bytes = read_real_session(), again = BUF_INIT(1u << 24);
    session_lines lines = session_lines_of(buf_as_slice(&bytes));
    session_line line;
    int kinds[4] = {0};

    (void)state;
    if (bytes.len == 0)
        skip();
    while (session_lines_next(&lines, &line)) {
        kinds[line.kind]++;
        assert_int_equal(line.offset, again.len);
        buf_slice(&again, line.whole);
    }
    assert_int_equal(kinds[SESSION_LINE_HEADER], 1);
    assert_int_equal(kinds[SESSION_LINE_ENTRY], 1018);
    assert_int_equal(kinds[SESSION_LINE_BAD] + kinds[SESSION_LINE_BLANK], 0);
    assert_true(slice_equal(buf_as_slice(&bytes), buf_as_slice(&again)));
    buf_free(&bytes);
    buf_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_lines_apart),
        cmocka_unit_test(says_where_and_torn),
        cmocka_unit_test(an_empty_file_has_no_lines),
        cmocka_unit_test(a_stream_gives_the_same_lines),
        cmocka_unit_test(long_lines_are_taken_up_to_the_limit),
        cmocka_unit_test(an_endless_line_needs_no_memory),
        cmocka_unit_test(the_real_session_comes_out_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

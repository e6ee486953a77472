/*
 * test_line_reader.c: lines of a file, across chunks and over the limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include "app/line_reader.h"

#define CHUNK (sizeof(((line_reader *)0)->chunk))

static FILE *file_of(const char *text, size_t length)
{
    FILE *file = tmpfile();

    assert_int_equal(fwrite(text, 1, length, file), length);
    rewind(file);
    return file;
}

static void expect(line_reader *reader, line_state state, const char *text, size_t length)
{
    slice line = {NULL, 0};

    assert_int_equal(line_reader_next(reader, &line), state);
    if (state != LINE_READ)
        return;
    assert_int_equal(line.len, length);
    assert_memory_equal(line.ptr, text, length);
}

static void reads(void **state)
{
    static const char text[] = "one\n\n\0two\r\nlast";
    line_reader reader;
    FILE *file = file_of(text, sizeof(text) - 1);

    (void)state;
    line_reader_init(&reader, 100, line_reader_from_file, file);
    expect(&reader, LINE_READ, "one", 3);
    expect(&reader, LINE_READ, "", 0);
    expect(&reader, LINE_READ, "\0two\r", 5);
    expect(&reader, LINE_READ, "last", 4);
    expect(&reader, LINE_END, NULL, 0);
    expect(&reader, LINE_END, NULL, 0);
    assert_int_equal(reader.bytes, sizeof(text) - 1);
    line_reader_free(&reader);
    fclose(file);
}

/* Lines that end just before, on and just after the end of a chunk. */
static void crosses_chunks(void **state)
{
    (void)state;
    for (size_t length = CHUNK - 2; length <= CHUNK + 2; length++) {
        char *text = malloc(3 * CHUNK);
        line_reader reader;
        FILE *file;

        memset(text, 'x', 3 * CHUNK);
        text[length] = '\n';
        text[3 * CHUNK - 1] = '\n';
        file = file_of(text, 3 * CHUNK);
        line_reader_init(&reader, 3 * CHUNK, line_reader_from_file, file);
        expect(&reader, LINE_READ, text, length);
        expect(&reader, LINE_READ, text + length + 1, 3 * CHUNK - length - 2);
        expect(&reader, LINE_END, NULL, 0);
        line_reader_free(&reader);
        fclose(file);
        free(text);
    }
}

static void passes_over_long_lines_in_a_chunk(void **state)
{
    static const char text[] = "four\nfiver\nsix\nsevenths";
    line_reader reader;
    FILE *file = file_of(text, sizeof(text) - 1);

    (void)state;
    line_reader_init(&reader, 4, line_reader_from_file, file);
    expect(&reader, LINE_READ, "four", 4);
    expect(&reader, LINE_TOO_LONG, NULL, 0);
    expect(&reader, LINE_READ, "six", 3);
    expect(&reader, LINE_TOO_LONG, NULL, 0);
    expect(&reader, LINE_END, NULL, 0);
    line_reader_free(&reader);
    fclose(file);
}

static void passes_over_long_lines(void **state)
{
    char *text = malloc(4 * CHUNK);
    line_reader reader;
    FILE *file;

    (void)state;
    memset(text, 'x', 4 * CHUNK);
    text[3 * CHUNK] = '\n';
    text[3 * CHUNK + 5] = '\n';
    file = file_of(text, 4 * CHUNK);
    line_reader_init(&reader, CHUNK / 2, line_reader_from_file, file);
    expect(&reader, LINE_TOO_LONG, NULL, 0);
    expect(&reader, LINE_READ, "xxxx", 4);
    expect(&reader, LINE_TOO_LONG, NULL, 0);
    expect(&reader, LINE_END, NULL, 0);
    line_reader_free(&reader);
    fclose(file);
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(crosses_chunks),
        cmocka_unit_test(passes_over_long_lines),
        cmocka_unit_test(passes_over_long_lines_in_a_chunk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

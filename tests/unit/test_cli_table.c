/*
 * test_cli_table.c: the tables of the CLI: widths of characters, what is cut, what is made
 * harmless.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <locale.h>
#include <stdlib.h>
#include <cmocka.h>
#include "cli/cli.h"
#include "cli/view/table.h"

static const table_column columns[] = {
    {"id", TABLE_LEFT}, {"n", TABLE_RIGHT}, {"text", TABLE_FLEXIBLE}, {"", TABLE_LEFT}};

/* Rows of id, number, text and note; prints them and compares. */
static void check(const char *const rows[][4], size_t count, int width, const char *expected)
{
    char *printed = NULL;
    size_t length;
    FILE *out = open_memstream(&printed, &length);
    table t;

    table_init(&t, columns, 4);
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < 4; c++)
            table_text(&t, rows[i][c]);
    }
    table_print(out, &t, 1, width);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
    table_free(&t);
}

static void aligns(void **state)
{
    static const char *const rows[][4] = {{"a", "1", "one", "x"}, {"long", "1000", "", NULL}};

    (void)state;
    check(rows, 2, 0,
          " id       n  text\n"
          " a        1  one   x\n"
          " long  1000\n");
}

static void leaves_out_what_is_empty(void **state)
{
    static const char *const rows[][4] = {{"a", "", "one", ""}, {"b", "", "two", ""}};

    (void)state;
    check(rows, 2, 0, " id  text\n a   one\n b   two\n");
}

/* Chinese characters take two columns, combining marks none, and an emoji is one character. */
static void counts_columns(void **state)
{
    static const char *const rows[][4] = {{"\xe6\x97\xa5\xe6\x9c\xac", "1", "wide", "x"},
                                          {"e\xcc\x81", "1", "none", "x"},
                                          {"abcd", "1", "\xf0\x9f\x98\x80", "x"}};

    (void)state;
    assert_int_equal(term_columns(SLICE("\xe6\x97\xa5\xe6\x9c\xac")), 4);
    assert_int_equal(term_fit(SLICE("\xe6\x97\xa5\xe6\x9c\xac"), 3), 3);
    check(rows, 3, 0,
          " id    n  text\n"
          " \xe6\x97\xa5\xe6\x9c\xac  1  wide  x\n"
          " e\xcc\x81     1  none  x\n"
          " abcd  1  \xf0\x9f\x98\x80    x\n");
}

static void cuts_to_the_width(void **state)
{
    static const char *const rows[][4] = {
        {"a", "1", "0123456789012345678901234567890123456789", "note"}};

    (void)state;
    check(rows, 1, 40, " id  n  text\n a   1  0123456789012345678901234\xe2\x80\xa6  note\n");
    check(rows, 1, 0, " id  n  text\n a   1  0123456789012345678901234567890123456789  note\n");
}

static void cuts_other_columns_last(void **state)
{
    static const char *const rows[][4] = {
        {"an-id-of-many-characters", "1", "0123456789012345678901234567890123456789", ""}};

    (void)state;
    check(rows, 1, 36,
          " id              n  text\n"
          " an-id-of-many\xe2\x80\xa6  1  012345678901234\xe2\x80\xa6\n");
    check(rows, 1, 5,
          " id        n  text\n"
          " an-id-o\xe2\x80\xa6  1  012345678901234\xe2\x80\xa6\n");
}

/* One row of four columns. */
static void check_columns(const table_column *four, const char *const *cells, int width,
                          const char *expected)
{
    char *printed = NULL;
    size_t length;
    FILE *out = open_memstream(&printed, &length);
    table t;

    table_init(&t, four, 4);
    for (size_t c = 0; c < 4; c++)
        table_text(&t, cells[c]);
    table_print(out, &t, 0, width);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
    table_free(&t);
}

/* An id is there to be copied. */
static void cuts_no_id(void **state)
{
    static const table_column WITH_ID[] = {
        {"id", TABLE_ID}, {"n", TABLE_RIGHT}, {"text", TABLE_FLEXIBLE}, {"from", TABLE_ID}};
    static const char *const CELLS[] = {"an-id-of-many-characters", "1",
                                        "0123456789012345678901234",
                                        "another-id-of-many-characters"};
    static const struct {
        int width;
        const char *expected;
    } CASES[] = {
        {90,
         "id                        n  text                       from\n"
         "an-id-of-many-characters  1  0123456789012345678901234  another-id-of-many-characters\n"},
        {50, "id                        n  text\n"
             "an-id-of-many-characters  1  01234567890123456789\xe2\x80\xa6\n"},
        {47, "id                        n  text\n"
             "an-id-of-many-characters  1  01234567890123456\xe2\x80\xa6\n"},
        {10, "id\nan-id-of-many-characters\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_columns(WITH_ID, CELLS, CASES[i].width, CASES[i].expected);
}

/* What a table is read for is there on a narrow terminal too. */
static void leaves_words_out_last(void **state)
{
    static const table_column COLUMNS[] = {
        {"id", TABLE_ID}, {"state", TABLE_WORD}, {"n", TABLE_RIGHT}, {"text", TABLE_FLEXIBLE}};
    static const char *const CELLS[] = {"an-id-of-many-characters", "cancelled", "1",
                                        "0123456789012345678901234"};
    static const struct {
        int width;
        const char *expected;
    } CASES[] = {
        {60, "id                        state      n  text\n"
             "an-id-of-many-characters  cancelled  1  0123456789012345678\xe2\x80\xa6\n"},
        {57, "id                        state      n  text\n"
             "an-id-of-many-characters  cancelled  1  0123456789012345\xe2\x80\xa6\n"},
        {55, "id                        state      text\n"
             "an-id-of-many-characters  cancelled  01234567890123456\xe2\x80\xa6\n"},
        {34, "id\nan-id-of-many-characters\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_columns(COLUMNS, CELLS, CASES[i].width, CASES[i].expected);
}

/* Beside an id the text is left out before the type is cut. */
static void keeps_types_whole(void **state)
{
    static const table_column COLUMNS[] = {
        {"card", TABLE_ID}, {"type", TABLE_WORD}, {"role", TABLE_WORD}, {"text", TABLE_FLEXIBLE}};
    static const char *const CELLS[] = {"74611c1d-6455-8b53-8432-0000000186a0", "session.message",
                                        "assistant", "0123456789012345678901234"};
    static const struct {
        int width;
        const char *expected;
    } CASES[] = {
        {86, "card                                  type             role       text\n"
             "74611c1d-6455-8b53-8432-0000000186a0  session.message  assistant  "
             "0123456789012345678\xe2\x80\xa6\n"},
        {70, "card                                  type             role\n"
             "74611c1d-6455-8b53-8432-0000000186a0  session.message  assistant\n"},
        {58, "card                                  type\n"
             "74611c1d-6455-8b53-8432-0000000186a0  session.message\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_columns(COLUMNS, CELLS, CASES[i].width, CASES[i].expected);
}

/* Only what is longer than a UUID is cut, in its middle. */
static void cuts_long_ids_in_the_middle(void **state)
{
    static const table_column COLUMNS[] = {
        {"id", TABLE_ID}, {"state", TABLE_WORD}, {"n", TABLE_RIGHT}, {"text", TABLE_FLEXIBLE}};
    static const char *const CELLS[] = {
        "an-id-that-is-much-longer-than-those-that-we-make-ourselves", "cancelled", "1",
        "0123456789012345678901234"};
    static const struct {
        int width;
        const char *expected;
    } CASES[] = {
        {0, "id                                                           state      n  text\n"
            "an-id-that-is-much-longer-than-those-that-we-make-ourselves  cancelled  1  "
            "0123456789012345678901234\n"},
        {72, "id                                        state      n  text\n"
             "an-id-that-is-much-l\xe2\x80\xa6t-we-make-ourselves  cancelled  1  "
             "012345678901234\xe2\x80\xa6\n"},
        {40, "id\nan-id-that-is-much-l\xe2\x80\xa6"
             "t-we-make-ourselves\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_columns(COLUMNS, CELLS, CASES[i].width, CASES[i].expected);
    assert_string_equal(term_end(SLICE("a\xe6\x97\xa5\xe6\x9c\xac"), 3).ptr, "\xe6\x9c\xac");
}

/* What an entry is marked with is there beside a UUID too, which is cut for it. */
static void cuts_short_ids_for_others(void **state)
{
    static const table_column COLUMNS[] = {{"depth", TABLE_SPARE_RIGHT},
                                           {"entry", TABLE_SHORT_ID},
                                           {"", TABLE_FLEXIBLE},
                                           {"", TABLE_WORD}};
    static const char *const CELLS[] = {"12", "74611c1d-6455-8b53-8432-0000000186a0",
                                        "0123456789012345678901234", "(head) [good] 2 children"};
    static const struct {
        int width;
        const char *expected;
    } CASES[] = {
        {100, "depth  entry\n   12  74611c1d-6455-8b53-8432-0000000186a0  "
              "0123456789012345678901234  (head) [good] 2 children\n"},
        {91, "entry\n74611c1d-6455-8b53-8432-0000000186a0  "
             "0123456789012345678901234  (head) [good] 2 children\n"},
        {78, "entry\n74611c1d-645\xe2\x80\xa6"
             "0000000186a0  0123456789012345678901234  (head) [good] 2 children\n"},
        {60, "entry\n"
             "74611c\xe2\x80\xa6"
             "0186a0  012345678901234567\xe2\x80\xa6  (head) [good] 2 children\n"},
        {40, "entry\n74611c1\xe2\x80\xa6"
             "0186a0  (head) [good] 2 children\n"},
        {20, "entry\n74611c1d-6\xe2\x80\xa6"
             "0000186a0\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_columns(COLUMNS, CELLS, CASES[i].width, CASES[i].expected);
}

/* The age goes before a word is cut. */
static void leaves_out_what_is_spare(void **state)
{
    static const table_column COLUMNS[] = {{"type", TABLE_WORD},
                                           {"age", TABLE_SPARE_RIGHT},
                                           {"text", TABLE_FLEXIBLE},
                                           {"call", TABLE_SPARE}};
    static const char *const CELLS[] = {"task.deliverable", "12 d", "0123456789012345678901234",
                                        "call-1"};
    static const struct {
        int width;
        const char *expected;
    } CASES[] = {
        {57, "type               age  text                       call\n"
             "task.deliverable  12 d  0123456789012345678901234  call-1\n"},
        {56, "type              text                       call\n"
             "task.deliverable  0123456789012345678901234  call-1\n"},
        {43, "type              text\ntask.deliverable  0123456789012345678901234\n"},
        {37, "type              text\n"
             "task.deliverable  012345678901234567\xe2\x80\xa6\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_columns(COLUMNS, CELLS, CASES[i].width, CASES[i].expected);
}

/* A long note of one line leaves the texts of others as they are. */
static void notes_take_no_room_of_others(void **state)
{
    static const table_column COLUMNS[] = {{"text", TABLE_FLEXIBLE}, {"", TABLE_WORD}};
    static const char *const ROWS[][2] = {
        {"0123456789012345678901234567890123456789", NULL},
        {"0123456789012345678901234567890123456789", "-> read"},
        {"0123456789012345678901234567890123456789", "-> read, write, edit"},
        {"short", "-> edit"}};
    char *printed = NULL;
    size_t length;
    FILE *out = open_memstream(&printed, &length);
    table t;

    (void)state;
    table_init(&t, COLUMNS, 2);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        table_text(&t, ROWS[i][0]);
        table_text(&t, ROWS[i][1]);
    }
    table_print(out, &t, 0, 44);
    fclose(out);
    assert_string_equal(printed, "text\n"
                                 "0123456789012345678901234567890123456789\n"
                                 "0123456789012345678901234567890123\xe2\x80\xa6  -> read\n"
                                 "012345678901234567890\xe2\x80\xa6  -> read, write, edit\n"
                                 "short                   -> edit\n");
    free(printed);
    table_free(&t);
}

static void makes_text_harmless(void **state)
{
    static const char *const rows[][4] = {
        {"\033[31m", "1", " two\n\n lines\tand \x7f \xc2\x9b \xe2\x80\xae \xff", ""}};

    (void)state;
    check(rows, 1, 0,
          " id     n  text\n"
          " \xef\xbf\xbd[31m  1  two lines and \xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd "
          "\xef\xbf\xbd\n");
}

/* Nobody else's: "a" and " a" are two. */
static void keeps_spaces_of_ids(void **state)
{
    static const table_column COLUMNS[] = {
        {"id", TABLE_ID}, {"from", TABLE_SHORT_ID}, {"text", TABLE_FLEXIBLE}, {"", TABLE_LEFT}};
    static const char *const CELLS[] = {" a  b", " c  d", " e  f", "g"};

    (void)state;
    check_columns(COLUMNS, CELLS, 0, "id     from   text\n a  b   c  d  e f   g\n");
}

/* What was left out left more room than was needed. */
static void gives_room_back(void **state)
{
    static const table_column COLUMNS[] = {
        {"id", TABLE_ID}, {"n", TABLE_RIGHT}, {"age", TABLE_RIGHT}, {"text", TABLE_FLEXIBLE}};
    static const char *const CELLS[] = {"an-id-of-many-characters", "1", "18 mo",
                                        "0123456789012345678901"};

    (void)state;
    check_columns(COLUMNS, CELLS, 51,
                  "id                        n  text\n"
                  "an-id-of-many-characters  1  0123456789012345678901\n");
}

static void ends_long_cells(void **state)
{
    char *text = malloc(5000000);
    table t;

    (void)state;
    memset(text, 'x', 5000000);
    table_init(&t, columns, 4);
    table_add(&t, (slice){text, 5000000}, STYLE_PLAIN);
    table_add(&t, (slice){text, TABLE_CELL_MAX}, STYLE_PLAIN);
    assert_int_equal(t.cells[0].columns, TABLE_CELL_MAX + 1);
    assert_int_equal(t.cells[1].columns, TABLE_CELL_MAX);
    table_free(&t);
    free(text);
}

static void holds_many_rows(void **state)
{
    FILE *out = fopen("/dev/null", "w");
    table t;

    (void)state;
    table_init(&t, columns, 4);
    for (int i = 0; i < 40000; i++)
        table_int(&t, i);
    assert_int_equal(t.count, 40000);
    table_print(out, &t, 2, 80);
    table_free(&t);
    fclose(out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligns),
        cmocka_unit_test(leaves_out_what_is_empty),
        cmocka_unit_test(counts_columns),
        cmocka_unit_test(cuts_to_the_width),
        cmocka_unit_test(cuts_other_columns_last),
        cmocka_unit_test(cuts_no_id),
        cmocka_unit_test(leaves_words_out_last),
        cmocka_unit_test(keeps_types_whole),
        cmocka_unit_test(cuts_long_ids_in_the_middle),
        cmocka_unit_test(cuts_short_ids_for_others),
        cmocka_unit_test(leaves_out_what_is_spare),
        cmocka_unit_test(notes_take_no_room_of_others),
        cmocka_unit_test(makes_text_harmless),
        cmocka_unit_test(keeps_spaces_of_ids),
        cmocka_unit_test(gives_room_back),
        cmocka_unit_test(ends_long_cells),
        cmocka_unit_test(holds_many_rows),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_cli_session_tree.c: how `cardbox session tree` draws: branches, marks, folds, widths, and
 * trees of any shape and size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "cli/cli.h"
#include "cli/session/session_internal.h"
#include "cli/view/term.h"

#define ROOT SESSION_TREE_ROOT

/* What is drawn; to be freed. */
static char *draw(const session_tree_entry *entries, size_t count, session_tree_options options)
{
    char *printed = NULL;
    size_t length;
    FILE *out = open_memstream(&printed, &length);

    session_tree_print(out, entries, count, &options);
    fclose(out);
    return printed;
}

static void check(const session_tree_entry *entries, size_t count, session_tree_options options,
                  const char *expected)
{
    char *printed = draw(entries, count, options);

    assert_string_equal(printed, expected);
    free(printed);
}

static session_tree_entry entry(size_t parent, const char *role, const char *text)
{
    return (session_tree_entry){
        .id = SLICE("id"), .parent = parent, .role = slice_of(role), .text = slice_of(text)};
}

/* The picture that the design promises. */
static void draws_branches_and_marks(void **state)
{
    enum { RUN = 214, COUNT = 5 + RUN };
    session_tree_entry entries[COUNT] = {entry(ROOT, "user", "create hello.ts"),
                                         entry(0, "assistant", "I'll create the file"),
                                         entry(1, "result", "File written: hello.ts"),
                                         entry(2, "user", "use TypeScript instead"),
                                         entry(3, "assistant", "TypeScript file created"),
                                         entry(2, "user", "add tests")};

    (void)state;
    entries[1].tools = SLICE("write");
    entries[4].label = SLICE("good");
    for (size_t i = 6; i < COUNT; i++)
        entries[i] = entry(i - 1, "assistant", "all 14 tests pass");
    entries[COUNT - 1].is_head = true;
    check(entries, COUNT, (session_tree_options){.width = 60},
          "o user       create hello.ts\n"
          "o assistant  I'll create the file       -> write\n"
          "o result     File written: hello.ts\n"
          "|-o user       use TypeScript instead\n"
          "| o assistant  TypeScript file created  [good]\n"
          "`-o user       add tests\n"
          "  o assistant  all 14 tests pass\n"
          "  : 210 more (--all shows them)\n"
          "  o assistant  all 14 tests pass\n"
          "  o assistant  all 14 tests pass        (head)\n");
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* A chain of so many entries, drawn; to be freed. */
static char *draw_chain(session_tree_entry *entries, size_t count)
{
    return draw(entries, count, (session_tree_options){.width = 60});
}

static void folds_only_what_is_worth_it(void **state)
{
    enum { WHOLE = 40 }; /* entries of a tree that is always shown whole */
    session_tree_entry entries[WHOLE + 1];
    static const size_t labels[] = {3, 8, 13, 18, 23, 28, 33, 37};
    char *text;

    (void)state;
    for (size_t i = 0; i <= WHOLE; i++)
        entries[i] = entry(i == 0 ? ROOT : i - 1, "user", i % 2 ? "odd" : "even");
    text = draw_chain(entries, WHOLE);
    assert_int_equal(lines_of(text), WHOLE);
    free(text);
    check(entries, WHOLE + 1, (session_tree_options){.width = 60},
          "o user       even\no user       odd\n: 37 more (--all shows them)\no user       odd\n"
          "o user       even\n");
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        entries[labels[i]].label = SLICE("here"); /* is never folded, and leaves four between */
    text = draw_chain(entries, WHOLE + 1);
    assert_non_null(strstr(text, "even\no user       odd   [here]\n: 4 more (--all shows them)\n"));
    assert_null(strstr(text, ": 3 more"));
    free(text);
    entries[20].is_head = true;
    text = draw_chain(entries, WHOLE + 1);
    assert_non_null(strstr(text, "(head)\n"));
    free(text);
    text = draw(entries, WHOLE + 1, (session_tree_options){.width = 60, .all = true});
    assert_int_equal(lines_of(text), WHOLE + 1);
    free(text);
}

static void shows_ids_and_roots(void **state)
{
    session_tree_entry entries[] = {entry(ROOT, "user", "a"), entry(0, "bashlonger_x", "b"),
                                    entry(ROOT, "user", "c"),
                                    entry(7, "user", "its parent is none")};

    (void)state;
    entries[0].id = SLICE("first");
    check(entries, 4, (session_tree_options){.ids = true},
          "o first  user       a\n"
          "o id     bashlonge" TERM_ELLIPSIS " b\n\n"
          "o id     user       c\n\n"
          "o id     user       its parent is none\n");
    check(entries, 0, (session_tree_options){.ids = true}, "");
    entries[0].id = SLICE("an-id-that-is-much-longer-than-those-that-we-make-ourselves");
    check(entries, 1, (session_tree_options){.ids = true},
          "o an-id-that-is-much-longer-than-those-that-we-make-ourselves  user       a\n");
    check(entries, 1, (session_tree_options){.ids = true, .width = 60},
          "o an-id-that-is-much" TERM_ELLIPSIS "we-make-ourselves  user       a\n");
}

/* A child that comes before its parent is drawn below it all the same. */
static void takes_parents_that_come_later(void **state)
{
    const session_tree_entry entries[] = {entry(2, "user", "third"), entry(ROOT, "user", "first"),
                                          entry(1, "user", "second")};

    (void)state;
    check(entries, 3, (session_tree_options){.width = 40},
          "o user       first\no user       second\no user       third\n");
}

/* Wide characters take two columns, combining marks none; control characters reach nobody. */
static void cuts_by_columns(void **state)
{
    session_tree_entry entries[] = {
        entry(ROOT, "user",
              "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"),
        entry(0, "user",
              "e\xcc\x81"
              "e\xcc\x81 \xf0\x9f\x98\x80"),
        entry(1, "user", "two\n\n lines\x1b[31m"), entry(2, "user", "bad \xff utf-8")};

    (void)state;
    entries[0].is_head = true;
    check(entries, 4, (session_tree_options){.width = 30},
          "o user       \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5" TERM_ELLIPSIS "  (head)\n"
          "o user       e\xcc\x81"
          "e\xcc\x81 \xf0\x9f\x98\x80\n"
          "o user       two lines" TERM_REPLACEMENT "[31m\n"
          "o user       bad " TERM_REPLACEMENT " utf-8\n");
}

/* How many columns the widest line has. */
static int widest_of(const char *text)
{
    int widest = 0;

    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        int columns = term_columns((slice){text, length});

        widest = columns > widest ? columns : widest;
        text += length + 1;
    }
    return widest;
}

enum { MANY = 10000 };

typedef size_t (*shape)(size_t i);

static size_t comb(size_t i) /* each second entry hangs on the main line as a leaf */
{
    return i < 2 ? (i == 0 ? ROOT : 0) : i - 2 + i % 2;
}

static size_t comb_first(size_t i) /* the main line goes on in the first child */
{
    return i == 0 ? ROOT : i % 2 ? (i == 1 ? 0 : i - 2) : i - 1;
}

static size_t star(size_t i)
{
    return i == 0 ? ROOT : 0;
}

static size_t chain(size_t i)
{
    return i == 0 ? ROOT : i - 1;
}

static size_t binary(size_t i)
{
    return i == 0 ? ROOT : (i - 1) / 2;
}

/* Trees of many entries: every one is drawn once, within the width, and without a deep stack. */
static void draws_many_in_any_shape(void **state)
{
    static const shape shapes[] = {comb, comb_first, star, chain, binary};
    session_tree_entry *entries = calloc(MANY, sizeof(*entries));

    (void)state;
    assert_non_null(entries);
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        for (size_t i = 0; i < MANY; i++) {
            entries[i] =
                entry(shapes[s](i), "assistant", "some words that are said again and again");
            entries[i].tools = SLICE("read, write, edit, bash, and a very long name of a tool");
        }
        char *all = draw(entries, MANY, (session_tree_options){.width = 80, .all = true});
        char *wide = draw(entries, MANY, (session_tree_options){.all = true});

        assert_int_equal(lines_of(all), MANY);
        assert_true(widest_of(all) <= 80);
        assert_int_equal(lines_of(wide), MANY);
        assert_true(strlen(wide) < MANY * (size_t)300);
        free(all);
        free(wide);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_branches_and_marks), cmocka_unit_test(folds_only_what_is_worth_it),
        cmocka_unit_test(shows_ids_and_roots),      cmocka_unit_test(takes_parents_that_come_later),
        cmocka_unit_test(cuts_by_columns),          cmocka_unit_test(draws_many_in_any_shape),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

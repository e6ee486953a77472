/*
 * session_report.c: prints the report of a check or an import.
 */
#include "cli/session/session_internal.h"

/* Maximum number of issues that are printed as text. */
#define SHOWN 50

/* Adds a row with a member's name, such as "branch points", and its value, if the value is a string
 * or an integer other than 0. */
static void add_member(table *t, slice key, scan_value value)
{
    char number[TERM_NUMBER_SIZE];
    buf name = BUF_INIT(256), text = BUF_INIT(SIZE_MAX / 4);
    int64_t count;

    session_value_text(&name, (scan_value){SCAN_STRING, key});
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '_')
            name.data[i] = ' ';
    }
    if (value.kind == SCAN_STRING)
        session_value_text(&text, value);
    else if (value.kind == SCAN_NUMBER && !scan_integer(value.text, &count))
        buf_slice(&text, value.text);
    else if (value.kind == SCAN_NUMBER && count != 0)
        buf_text(&text, term_number(number, (uint64_t)count));
    table_fact(t, buf_str(&name), buf_str(&text), STYLE_PLAIN);
    buf_free(&name);
    buf_free(&text);
}

/* True for members that are not printed: "session_id", and "kept" if the report has no issues and
 * "kept" equals "headers". */
static bool is_left_out(scan_value report, slice key, scan_value value)
{
    scan_walk issues = scan_enter(scan_find(report, "issues"));
    scan_value issue;

    return scan_string_is(key, SLICE("session_id")) ||
           (scan_string_is(key, SLICE("kept")) && !scan_element(&issues, &issue) &&
            slice_equal(value.text, scan_find(report, "headers").text));
}

/* Adds the members of an object, and those of its member `usage`. */
static void add_members(table *t, scan_value object)
{
    scan_walk walk = scan_enter(object), usage;
    scan_value value;
    slice key;

    while (scan_member(&walk, &key, &value)) {
        if (scan_string_is(key, SLICE("usage"))) {
            usage = scan_enter(value);
            while (scan_member(&usage, &key, &value))
                add_member(t, key, value);
        } else if (!is_left_out(object, key, value)) {
            add_member(t, key, value);
        }
    }
}

static void print_counts(scan_value report)
{
    static const table_column columns[] = {{"", TABLE_LEFT}, {"", TABLE_FLEXIBLE}};
    table t;

    table_init(&t, columns, 2);
    add_members(&t, report);
    table_finish(&t, 2);
}

static void add_issue(table *t, scan_value issue)
{
    static const char *const names[] = {"line", "kind", "reason", "id"};
    buf text_of_value = BUF_INIT(SIZE_MAX / 4);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        scan_value value = scan_find(issue, names[i]);

        buf_reset(&text_of_value, 4096);
        if (value.kind != SCAN_NONE)
            session_value_text(&text_of_value, value);
        table_add(t, buf_as_slice(&text_of_value), i == 1 ? STYLE_YELLOW : STYLE_PLAIN);
    }
    buf_free(&text_of_value);
}

static void print_issues(scan_value issues)
{
    static const table_column columns[] = {
        {"line", TABLE_RIGHT}, {"", TABLE_LEFT}, {"", TABLE_FLEXIBLE}, {"entry", TABLE_LEFT}};
    scan_walk walk = scan_enter(issues);
    scan_value issue;
    size_t count = 0;
    table t;

    table_init(&t, columns, 4);
    while (scan_element(&walk, &issue)) {
        if (count++ < SHOWN)
            add_issue(&t, issue);
    }
    table_finish(&t, 2);
    if (count > SHOWN)
        printf("  and %zu more: --json has them\n", count - SHOWN);
}

void session_report_print(slice report)
{
    scan_value root = scan_whole(report), issues = scan_find(root, "issues");

    print_counts(root);
    if (issues.kind == SCAN_ARRAY)
        print_issues(issues);
}

bool session_report_is_bad(slice report)
{
    static const char *const lost[] = {"bad", "conflicts", "cycles"};
    scan_value root = scan_whole(report);

    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        scan_value count = scan_find(root, lost[i]);
        int64_t number = 0;

        if (count.kind == SCAN_NUMBER && scan_integer(count.text, &number) && number > 0)
            return true;
    }
    return false;
}

/*
 * test_box_pages.c: a box that is longer than a page, read whole and in parts while it changes.
 */
#include <libpq-fe.h>
#include "store/store_test.h"

enum { LENGTH = 25003, APPENDED = 9999 };

static char box[CARDBOX_UUID_SIZE];

static void append_some(const char *to, int from, int count)
{
    static char texts[APPENDED][16];
    static const char *ids[APPENDED];
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (int i = 0; i < count; i++) {
        snprintf(texts[i], sizeof(texts[i]), "c%d", from + i);
        ids[i] = texts[i];
    }
    assert_ok(cardbox_append_to_box(NULL, db, "t", to, ids, (size_t)count, NULL, &err), &err);
}

static int make_box(void **state)
{
    cardbox_box_change made;
    if (open_db(state) != 0 || cardbox_box_create(&made, db, "t", NULL, NULL) != CARDBOX_OK)
        return -1;
    memcpy(box, made.box_id, sizeof(box));
    for (int from = 0; from < LENGTH; from += APPENDED)
        append_some(box, from, LENGTH - from < APPENDED ? LENGTH - from : APPENDED);
    return 0;
}

/* What a reading has seen. */
typedef struct seen {
    int64_t first, next, version, length;
    int pages, stop_after;
    bool change; /* the box, in every callback */
} seen;

static bool look(void *arg, const cardbox_box *page)
{
    seen *s = arg;
    const char *none[] = {"replaced"};
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (s->pages++ == 0) {
        s->first = s->next = page->first;
        s->version = page->version;
        s->length = page->length;
    }
    assert_int_equal(page->first, s->next);
    assert_int_equal(page->version, s->version);
    assert_int_equal(page->length, s->length);
    assert_string_equal(page->box_id, box);
    for (size_t i = 0; i < page->card_count; i++) {
        char expected[24];
        snprintf(expected, sizeof(expected), "c%lld", (long long)s->next++);
        assert_string_equal(page->card_ids[i], expected);
    }
    if (s->change && s->pages == 1)
        append_some(box, LENGTH, 100);
    if (s->change && s->pages == 2)
        assert_ok(cardbox_save_box(NULL, db, "t", box, none, 1, 0, &err), &err);
    return s->pages != s->stop_after;
}

static void check(cardbox_read_options options, int64_t first, int64_t before, int pages)
{
    seen s = {0};
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_box_each_page(db, "t", box, &options, look, &s, &err), &err);
    assert_int_equal(s.first, first);
    assert_int_equal(s.next, before);
    assert_int_equal(s.pages, pages);
}

static void parts(void **state)
{
    (void)state;
    check((cardbox_read_options){0}, 0, LENGTH, 3);
    check((cardbox_read_options){.limit = 10000}, 0, 10000, 1);
    check((cardbox_read_options){.offset = 1, .limit = 10001}, 1, 10002, 2);
    check((cardbox_read_options){.offset = LENGTH - 1}, LENGTH - 1, LENGTH, 1);
    check((cardbox_read_options){.offset = LENGTH + 7}, LENGTH, LENGTH, 1);
    check((cardbox_read_options){.offset = 5, .limit = INT64_MAX}, 5, LENGTH, 3);
    check((cardbox_read_options){.tail = 20001}, LENGTH - 20001, LENGTH, 3);
    check((cardbox_read_options){.tail = LENGTH + 1}, 0, LENGTH, 3);
    check((cardbox_read_options){.at_version = 2}, 0, APPENDED, 1);
    check((cardbox_read_options){.at_version = 1}, 0, 0, 1);
    check((cardbox_read_options){.at_length = 12345}, 0, 12345, 2);
    check((cardbox_read_options){.at_length = 12345, .offset = 20000}, 12345, 12345, 1);
    check((cardbox_read_options){.at_length = 12345, .tail = 5}, 12340, 12345, 1);
}

static void ended_by_the_callback(void **state)
{
    (void)state;
    seen s = {.stop_after = 2};
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_box_each_page(db, "t", box, NULL, look, &s, &err), &err);
    assert_int_equal(s.pages, 2);
    assert_int_equal(s.next, 20000);
}

static void refused(void **state)
{
    (void)state;
    seen s = {0};
    cardbox_error err = CARDBOX_ERROR_INIT;
    const cardbox_read_options both = {.tail = 1, .limit = 1}, future = {.at_version = 99};
    const char *none = "01970000-0000-7000-8000-000000000000";
    assert_int_equal(cardbox_box_each_page(db, "t", box, NULL, NULL, &s, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_box_each_page(db, "t", box, &both, look, &s, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_box_each_page(db, "t", box, &future, look, &s, &err),
                     CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_box_each_page(db, "t", none, NULL, look, &s, &err), CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_box_each_page(db, "u", box, NULL, look, &s, &err), CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_box_each_page(NULL, "t", box, NULL, look, &s, &err), CARDBOX_INVALID);
    assert_int_equal(s.pages, 0);
}

static bool count_ids(void *arg, const cardbox_box *page)
{
    size_t *bytes = arg;
    for (size_t i = 0; i < page->card_count; i++)
        *bytes += strlen(page->card_ids[i]);
    return true;
}

/* A damaged log may have any length: no page shows more ids than were read. */
static void log_of_another_length(void **state)
{
    (void)state;
    const char *change = "UPDATE cardbox.card_box_log SET length = 5 WHERE box_id = $1::uuid";
    const char *parameters[1];
    size_t bytes = 0;
    cardbox_box_change made;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_box_create(&made, db, "t", NULL, &err), &err);
    append_some(made.box_id, 0, 20);
    parameters[0] = made.box_id;
    PGconn *pg = PQconnectdb(getenv("CARDBOX_TEST_DSN"));
    PGresult *result = PQexecParams(pg, change, 1, NULL, parameters, NULL, NULL, 0);
    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    assert_string_equal(PQcmdTuples(result), "2");
    PQclear(result);
    PQfinish(pg);
    assert_int_equal(cardbox_box_each_page(db, "t", made.box_id, NULL, count_ids, &bytes, &err),
                     CARDBOX_INTERNAL);
    assert_int_equal(bytes, 0);
}

/* Last, since it leaves the box with another list. */
static void one_version_while_it_changes(void **state)
{
    (void)state;
    seen s = {.change = true};
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_box_each_page(db, "t", box, NULL, look, &s, &err), &err);
    assert_int_equal(s.next, LENGTH);
    assert_int_equal(s.pages, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(ended_by_the_callback),
        cmocka_unit_test(refused),
        cmocka_unit_test(log_of_another_length),
        cmocka_unit_test(one_version_while_it_changes),
    };
    return cmocka_run_group_tests(tests, make_box, close_db);
}

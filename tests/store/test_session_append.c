/*
 * What an entry leaves open when it is appended is filled in, and what was filled in is no obstacle
 * when it is sent again.
 */
#include "store/store_test.h"

#define T "session-append"

static const char *new_session(void)
{
    static char id[CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;

    cardbox_uuid7(id);
    assert_ok(cardbox_session_create(NULL, db, T, id, NULL, &err), &err);
    return id;
}

static void must_append(const char *s, const char *entry)
{
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_ok(cardbox_session_append(NULL, db, T, s, &entry, 1, NULL, &err), &err);
}

/* A run that goes on from the head is repeated too, whatever came behind it meanwhile. */
static void test_writer_goes_on(void **state)
{
    (void)state;
    const char *s = new_session();
    cardbox_writer_options options = CARDBOX_WRITER_OPTIONS_INIT;
    cardbox_session_counts counts;
    cardbox_error err = CARDBOX_ERROR_INIT;

    must_append(s, "{\"id\":\"a\",\"type\":\"user\",\"content\":\"x\"}");
    options.key = s;
    options.timestamp = "2026-01-02T03:04:05Z";
    options.buffered = 1;
    for (int run = 0; run < 2; run++) {
        cardbox_session_writer *writer = NULL;
        assert_ok(cardbox_session_open(&writer, db, T, s, &options, &err), &err);
        assert_non_null(cardbox_session_append_user(writer, "hello", NULL, &err));
        assert_non_null(cardbox_session_append_user(writer, "again", NULL, &err));
        assert_ok(cardbox_session_close(writer, &err), &err);
        assert_int_equal(test_session_version(T, s), run == 0 ? 4 : 5);
        if (run == 0)
            must_append(s, "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"user\",\"content\":\"x\"}");
    }
    assert_ok(cardbox_session_count(&counts, db, T, s, &err), &err);
    assert_int_equal(counts.entries, 4);
    assert_int_equal(counts.branch_points, 1);
}

/* A run with a key is the same again also where entries of its own are among the writer's, with ids
 * and without. */
static void test_writer_mixes(void **state)
{
    (void)state;
    const char *s = new_session();
    cardbox_writer_options options = CARDBOX_WRITER_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *way = NULL;
    char first[2][CARDBOX_UUID_SIZE], label[300];

    options.key = s;
    options.timestamp = "2026-01-02T03:04:05Z";
    for (int run = 0; run < 2; run++) {
        cardbox_session_writer *writer = NULL;
        assert_ok(cardbox_session_open(&writer, db, T, s, &options, &err), &err);
        const char *one = cardbox_session_append_entry(
            writer, " {\"type\":\"user\",\n\"content\":\"one\"}", &err);
        assert_non_null(one);
        snprintf(first[run], sizeof(first[run]), "%s", one);
        assert_null(cardbox_session_append_entry(writer, "{}", &err));
        assert_non_null(cardbox_session_append_user(writer, "two", NULL, &err));
        assert_non_null(cardbox_session_append_entry(
            writer, "{\"id\":\"own\",\"type\":\"user\",\"content\":\"three\"}", &err));
        snprintf(label, sizeof(label),
                 "{\"type\":\"label\",\"targetId\":\"%s\",\"label\":\"l\","
                 "\"timestamp\":\"2025-01-01T00:00:00Z\"}",
                 first[run]);
        assert_non_null(cardbox_session_append_entry(writer, label, &err));
        assert_ok(cardbox_session_close(writer, &err), &err);
        assert_int_equal(test_session_version(T, s), 2);
    }
    assert_string_equal(first[0], first[1]);
    assert_ok(cardbox_session_path(&way, db, T, s, NULL, 0, 0, true, &err), &err);
    assert_int_equal(cardbox_entries_count(way), 4);
    assert_non_null(strstr(cardbox_entries_at(way, 0)->json, "\"timestamp\":1767323045000"));
    assert_null(strstr(cardbox_entries_at(way, 3)->json, "2026-01-02"));
    cardbox_entries_free(way);
}

/* The document's usage example: a root without a parentId, times as numbers, details of a result;
 * and the entries that one batch holds. */
static void test_writer_of_the_document(void **state)
{
    (void)state;
    const char *s = new_session();
    cardbox_writer_options options = CARDBOX_WRITER_OPTIONS_INIT;
    cardbox_session_writer *writer = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *way = NULL;

    options.timestamp = "2026-01-02T03:04:05.678+01:00";
    assert_ok(cardbox_session_open(&writer, db, T, s, &options, &err), &err);
    for (int i = 0; i < 11; i++) {
        assert_int_equal(test_session_version(T, s), 1 + (i > 10));
        assert_non_null(cardbox_session_append_user(writer, "x", i == 0 ? NULL : "", &err));
    }
    assert_int_equal(test_session_version(T, s), 2);
    assert_null(cardbox_session_append_tool_result(writer, "c", "done", "{", true, "", &err));
    assert_non_null(cardbox_session_append_tool_result(writer, "c", "done", "{\"bytes\": 23}",
                                                       false, "", &err));
    assert_ok(cardbox_session_close(writer, &err), &err);
    assert_ok(
        cardbox_session_entries(
            &way, db, T, s, CARDBOX_ENTRIES_ALL,
            &(cardbox_entry_page){.struct_size = sizeof(cardbox_entry_page), .json_max = SIZE_MAX},
            &err),
        &err);
    assert_int_equal(cardbox_entries_count(way), 12);
    for (size_t i = 0; i < 12; i++) {
        const cardbox_entry *entry = cardbox_entries_at(way, i);
        assert_null(entry->parent_id);
        assert_null(strstr(entry->json, "parentId"));
        assert_non_null(strstr(entry->json, ",\"timestamp\":1767319445678,"));
        assert_int_equal(entry->line, (int64_t)i);
    }
    assert_non_null(strstr(cardbox_entries_at(way, 11)->json,
                           "\"type\":\"tool_result\",\"toolCallId\":\"c\",\"output\":\"done\","
                           "\"details\":{\"bytes\": 23},\"success\":false}"));
    cardbox_entries_free(way);
}

/* What an entry leaves open: the same from all doors, since they end here. */
static void test_open_entries(void **state)
{
    (void)state;
    const char *s = new_session();
    const char *open[] = {"{\"type\":\"user\",\"content\":\"one\"}",
                          "{\"type\":\"user\",\"id\":\"two\",\"content\":\"x\"}"},
               *again[] = {"{\"type\":\"user\",\"id\":\"three\",\"content\":\"x\"}"},
               *wrong[] = {"{\"type\":\"user\",\"content\":\"x\"}",
                           "{\"type\":\"user\",\"content\":\"x\",\"parentId\":\"no\"}"},
               *mixed[] = {"{\"type\":\"user\",\"content\":\"x\"}", "{\"type\":\"message\"}"};
    cardbox_session_append_options options = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *way = NULL;

    assert_ok(cardbox_session_append(NULL, db, T, s, open, 2, NULL, &err), &err);
    for (int i = 0; i < 2; i++) { /* what has an id can be sent again, though it is the head now */
        assert_ok(cardbox_session_append(NULL, db, T, s, again, 1, NULL, &err), &err);
        assert_int_equal(test_session_version(T, s), 3);
    }
    assert_ok(cardbox_session_path(&way, db, T, s, NULL, 0, 0, true, &err), &err);
    assert_int_equal(cardbox_entries_count(way), 3);
    assert_non_null(strstr(cardbox_entries_at(way, 0)->json, "\"timestamp\":1"));
    assert_string_equal(cardbox_entries_at(way, 1)->entry_id, "two");
    assert_string_equal(
        cardbox_entries_at(way, 2)->json,
        "{\"parentId\":\"two\",\"type\":\"user\",\"id\":\"three\",\"content\":\"x\"}");
    cardbox_entries_free(way);
    assert_int_equal(cardbox_session_append(NULL, db, T, s, wrong, 2, NULL, &err),
                     CARDBOX_NOT_FOUND);
    assert_non_null(strstr(err.message, "entries[1] has the unknown parent no"));
    assert_int_equal(cardbox_session_append(NULL, db, T, s, mixed, 2, NULL, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "entries[1]"));
    options.key = "k";
    assert_int_equal(cardbox_session_append(NULL, db, T, s, open, 1, &options, &err),
                     CARDBOX_INVALID);
}

/* What the session can't have is refused at once, not when the writer is closed. */
static void test_writer_knows_the_dialect(void **state)
{
    (void)state;
    const char *s = new_session();
    cardbox_session_writer *writer = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;

    must_append(s, "{\"id\":\"a\",\"type\":\"user\",\"content\":\"x\"}");
    assert_ok(cardbox_session_open(&writer, db, T, s, NULL, &err), &err);
    assert_non_null(cardbox_session_append_entry(
        writer, "{\"type\":\"label\",\"targetId\":\"a\",\"label\":\"l\"}", &err));
    assert_null(cardbox_session_append_entry(writer, "{\"type\":\"custom\"}", &err));
    assert_int_equal(err.status, CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "dialect"));
    assert_ok(cardbox_session_close(writer, &err), &err);
    assert_int_equal(test_session_version(T, s), 3);
}

/* The other entries of the batch stay, and are written. */
static void test_writer_refuses_unknown_members(void **state)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_writer *writer = NULL;

    (void)state;
    const char *s = new_session();
    assert_ok(cardbox_session_open(&writer, db, T, s, NULL, &err), &err);
    assert_non_null(cardbox_session_append_user(writer, "x", NULL, &err));
    assert_null(cardbox_session_append_entry(
        writer, "{\"type\":\"user\",\"content\":\"x\",\"usage\":1}", &err));
    assert_int_equal(err.status, CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "unknown member \"usage\" in an entry of type user"));
    assert_null(
        cardbox_session_append_entry(writer, "{\"role\":\"user\",\"content\":\"x\"}", &err));
    assert_non_null(strstr(err.message, "POST .../messages"));
    assert_non_null(cardbox_session_append_entry(writer, "{\"type\":\"fly\",\"id\":\"f\"}", &err));
    assert_ok(cardbox_session_close(writer, &err), &err);
    assert_int_equal(test_session_version(T, s), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writer_goes_on),
        cmocka_unit_test(test_writer_mixes),
        cmocka_unit_test(test_writer_of_the_document),
        cmocka_unit_test(test_open_entries),
        cmocka_unit_test(test_writer_knows_the_dialect),
        cmocka_unit_test(test_writer_refuses_unknown_members),
    };

    return cmocka_run_group_tests(tests, open_db, close_db);
}

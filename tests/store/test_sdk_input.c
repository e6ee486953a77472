/*
 * test_sdk_input.c: what the SDK is given by mistake: structs that no _INIT macro made, NULL where
 * something must be, callbacks that say what can't be. It says what is wrong, and neither crashes
 * nor takes zeros for what is meant.
 */
#include <limits.h>
#include "store/store_test.h"

static const char BOX[] = "01970000-0000-7000-8000-0000000005d1";

/* Each function with the struct that it takes, zeroed. */
#define REFUSES_ZEROS(type, call)                                                                  \
    do {                                                                                           \
        cardbox_error err = CARDBOX_ERROR_INIT;                                                    \
        const type zeros = {0};                                                                    \
        assert_int_equal(call, CARDBOX_INVALID);                                                   \
        assert_non_null(strstr(err.message, "INIT"));                                              \
    } while (0)

static void zeros_are_no_options(void **state)
{
    (void)state;
    cardbox *opened = NULL;
    cardbox_cards *cards = NULL;
    cardbox_card card = test_card("zeros", "1");
    const char *ids[] = {"zeros"};
    REFUSES_ZEROS(cardbox_options, cardbox_open(&opened, &zeros, &err));
    REFUSES_ZEROS(cardbox_add_options, cardbox_add_card(NULL, db, "t", &card, &zeros, &err));
    REFUSES_ZEROS(cardbox_card, cardbox_add_card(NULL, db, "t", &zeros, NULL, &err));
    REFUSES_ZEROS(cardbox_card_filter, cardbox_cards_list(&cards, db, "t", &zeros, &err));
    REFUSES_ZEROS(cardbox_box_options, cardbox_box_create(NULL, db, "t", &zeros, &err));
    REFUSES_ZEROS(cardbox_append_options,
                  cardbox_append_to_box(NULL, db, "t", BOX, ids, 1, &zeros, &err));
    REFUSES_ZEROS(cardbox_fork_options, cardbox_box_fork(NULL, db, "t", BOX, &zeros, &err));
    assert_null(opened);
    assert_null(cards);
}

static void zeros_are_no_sessions_options(void **state)
{
    (void)state;
    cardbox_entries *entries = NULL;
    cardbox_context *context = NULL;
    cardbox_session_writer *writer = NULL;
    cardbox_ledger *ledger = NULL;
    cardbox_waiter *waiter = NULL;
    const char *entry[] = {"{\"type\":\"user\",\"content\":\"x\"}"};
    REFUSES_ZEROS(cardbox_session_options,
                  cardbox_session_create(NULL, db, "t", "zeros", &zeros, &err));
    REFUSES_ZEROS(cardbox_session_append_options,
                  cardbox_session_append(NULL, db, "t", "zeros", entry, 1, &zeros, &err));
    REFUSES_ZEROS(cardbox_entry_page, cardbox_session_entries(&entries, db, "t", "zeros",
                                                              CARDBOX_ENTRIES_ALL, &zeros, &err));
    REFUSES_ZEROS(cardbox_context_options,
                  cardbox_build_context_options(&context, db, "t", "zeros", NULL, &zeros, &err));
    REFUSES_ZEROS(cardbox_context_options,
                  cardbox_build_box_context(&context, db, "t", BOX, NULL, &zeros, &err));
    REFUSES_ZEROS(cardbox_writer_options,
                  cardbox_session_open(&writer, db, "t", "zeros", &zeros, &err));
    REFUSES_ZEROS(cardbox_task_filter, cardbox_tasks_query(&ledger, db, "t", &zeros, &err));
    REFUSES_ZEROS(cardbox_options, cardbox_waiter_open(&waiter, &zeros, NULL, 0, &err));
}

/* A copy of a card that a read lent is a card like any other. */
static void copies_of_cards(void **state)
{
    (void)state;
    cardbox_card given[2] = {test_card("copy-1", "{\"__type__\":\"TextContent\",\"text\":\"a\"}"),
                             test_card("copy-2", "{\"__type__\":\"TextContent\",\"text\":\"b\"}")};
    const char *ids[] = {"copy-1", "copy-2"};
    cardbox_outcome outcomes[2];
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    given[0].type = NULL;
    given[1].type = NULL;
    assert_ok(cardbox_add_cards(NULL, db, "copies", given, 2, NULL, &err), &err);
    assert_ok(cardbox_cards_get(&cards, db, "copies", ids, 2, &err), &err);
    cardbox_card *copies = malloc(2 * sizeof(*copies));
    assert_non_null(copies);
    copies[0] = *cardbox_cards_at(cards, 0);
    copies[1] = *cardbox_cards_at(cards, 1);
    assert_string_equal(cardbox_card_text(&copies[1]), "b");
    assert_string_equal(copies[0].type, "unknown");
    assert_ok(cardbox_add_cards(outcomes, db, "copies", copies, 2, NULL, &err), &err);
    assert_int_equal(outcomes[0], CARDBOX_OUTCOME_UNCHANGED);
    assert_int_equal(outcomes[1], CARDBOX_OUTCOME_UNCHANGED);
    copies[1].content = "\"c\"";
    copies[1].content_length = 0;
    assert_string_equal(cardbox_card_text(&copies[1]), "\"c\"");
    assert_ok(cardbox_add_card(outcomes, db, "copies", &copies[1], NULL, &err), &err);
    assert_int_equal(outcomes[0], CARDBOX_OUTCOME_REPAIRED);
    free(copies);
    cardbox_cards_free(cards);
}

static ptrdiff_t read_too_much(void *arg, char *to, size_t room)
{
    (void)arg;
    (void)to;
    return (ptrdiff_t)room + 1;
}

static void what_cannot_be(void **state)
{
    (void)state;
    cardbox_session_options wrong = CARDBOX_SESSION_OPTIONS_INIT;
    cardbox_session_scan *scan = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_session_import(NULL, db, "t", "liar", NULL, read_too_much, NULL, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_session_import_bytes(NULL, db, "t", "liar", NULL, NULL, 9, &err),
                     CARDBOX_INVALID);
    wrong.dialect = (cardbox_dialect)(CARDBOX_DIALECT_PI + 1);
    assert_int_equal(cardbox_session_create(NULL, db, "t", "odd", &wrong, &err), CARDBOX_INVALID);
    assert_ok(cardbox_session_create(NULL, db, "t", "odd", NULL, &err), &err);
    assert_int_equal(
        cardbox_session_scan_new(&scan, db, "t", "odd", (cardbox_entry_list)99, 0, &err),
        CARDBOX_INVALID);
    const char *torn[] = {"{\"type\":}"};
    assert_int_equal(cardbox_session_append(NULL, db, "t", "odd", torn, 1, NULL, &err),
                     CARDBOX_INVALID);
    assert_int_equal(err.position, 8);
}

/* As much as there is, in the words of who has no limit in mind. */
static void lines_of_any_length(void **state)
{
    (void)state;
    cardbox_entries *entries = NULL;
    cardbox_entry_page page = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    const char *entry[] = {"{\"id\":\"one\",\"parentId\":null,\"type\":\"x\"}"};
    page.json_max = SIZE_MAX;
    assert_ok(cardbox_session_create(NULL, db, "t", "long", NULL, &err), &err);
    assert_ok(cardbox_session_append(NULL, db, "t", "long", entry, 1, NULL, &err), &err);
    assert_ok(cardbox_session_entries(&entries, db, "t", "long", CARDBOX_ENTRIES_ALL, &page, &err),
              &err);
    assert_string_equal(cardbox_entries_at(entries, 0)->json, entry[0]);
    cardbox_entries_free(entries);
    assert_ok(cardbox_session_diff(&entries, db, "t", "long", "one", "one", 0, SIZE_MAX, &err),
              &err);
    assert_string_equal(cardbox_entries_at(entries, 0)->json, entry[0]);
    cardbox_entries_free(entries);
}

/* However many, also where what they have in common is deep already. */
static void differences_of_any_length(void **state)
{
    (void)state;
    cardbox_entries *entries = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    const char *chain[] = {"{\"id\":\"a\",\"parentId\":null,\"type\":\"x\"}",
                           "{\"id\":\"b\",\"type\":\"x\"}", "{\"id\":\"c\",\"type\":\"x\"}"};
    assert_ok(cardbox_session_create(NULL, db, "t", "deep", NULL, &err), &err);
    assert_ok(cardbox_session_append(NULL, db, "t", "deep", chain, 3, NULL, &err), &err);
    assert_ok(cardbox_session_diff(&entries, db, "t", "deep", "b", "c", UINT_MAX, 0, &err), &err);
    assert_int_equal(cardbox_entries_count(entries), 2);
    cardbox_entries_free(entries);
}

/* What a message shows of what it was given is UTF-8, too: a character is not cut. */
static void messages_in_utf8(void **state)
{
    (void)state;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char text[64] = "x";
    for (size_t i = 1; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa9", 3);
    assert_int_equal(cardbox_box_delete(db, "t", text, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "\xc3\xa9\""));
    assert_int_equal(cardbox_boxes_list(&boxes, db, "t", text, 0, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "\xc3\xa9\" is not"));
}

/* Nor is it in the end of a writer's message, which has the one of its write inside. */
static void message_of_a_writer_in_utf8(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char parent[501] = "x";
    for (size_t i = 1; i + 2 < sizeof(parent); i += 2)
        memcpy(parent + i, "\xc3\xa9", 3);
    for (size_t from = 0; from < 2; from++) { /* one of the two would be cut */
        cardbox_session_writer *writer = NULL;
        assert_ok(cardbox_session_create(NULL, db, "t", "cut", NULL, &err), &err);
        assert_ok(cardbox_session_open(&writer, db, "t", "cut", NULL, &err), &err);
        assert_non_null(cardbox_session_append_user(writer, "a", parent + from, &err));
        assert_int_equal(cardbox_session_close(writer, &err), CARDBOX_NOT_FOUND);
        assert_string_equal(err.message + strlen(err.message) - 2, "\xc3\xa9");
    }
}

/* No limit, as some say it: PostgreSQL takes no such number, and a sum with it would be small. */
static void times_without_end(void **state)
{
    (void)state;
    cardbox *opened = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    options.statement_timeout_ms = options.connect_timeout_ms = UINT_MAX;
    assert_ok(cardbox_open(&opened, &options, &err), &err);
    cardbox_close(opened);
}

static void folders_that_cannot_be(void **state)
{
    (void)state;
    enum { FAR_TOO_LONG = 100000 };
    cardbox_session_options options = CARDBOX_SESSION_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char *cwd = calloc(1, FAR_TOO_LONG + 1);
    assert_non_null(cwd);
    memset(cwd, 'x', FAR_TOO_LONG);
    options.dialect = CARDBOX_DIALECT_PI;
    options.cwd = cwd;
    assert_int_equal(cardbox_session_create(NULL, db, "t", "folder", &options, &err),
                     CARDBOX_TOO_LARGE);
    options.cwd = "\xff";
    assert_int_equal(cardbox_session_create(NULL, db, "t", "folder", &options, &err),
                     CARDBOX_INVALID);
    assert_string_equal(err.message, "cwd must be UTF-8");
    options.cwd = "/";
    options.header = "{\"type\":\"session\"}";
    assert_int_equal(cardbox_session_create(NULL, db, "t", "folder", &options, &err),
                     CARDBOX_INVALID);
    options.header = NULL;
    options.dialect = CARDBOX_DIALECT_PLAIN;
    assert_int_equal(cardbox_session_create(NULL, db, "t", "folder", &options, &err),
                     CARDBOX_INVALID);
    assert_string_equal(err.message, "header and cwd exclude each other, and need the dialect pi");
    free(cwd);
}

/* Nobody holds the task, which is not what these calls fail for. */
static void what_workers_say(void **state)
{
    (void)state;
    const cardbox_lease lease = {.tenant = "t", .task_id = "nobody's", .epoch = 1};
    cardbox_task_write write = CARDBOX_TASK_WRITE_INIT;
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    write.ending = (cardbox_ending)9;
    assert_int_equal(cardbox_task_update(NULL, db, &lease, &write, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_task_publish_chunk(db, &lease, "m", 0, "x", 1, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_task_publish_chunk(db, &lease, "m", 1, "x", 1, &err),
                     CARDBOX_CONFLICT);
    assert_ok(cardbox_tasks_renew(NULL, db, NULL, 0, 0, &err), &err);
    write.ending = CARDBOX_SLEEPS;
    write.sleep_until = INT64_MAX;
    assert_int_equal(cardbox_task_update(NULL, db, &lease, &write, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "sleep_until"));
    message.content = "x";
    assert_int_equal(cardbox_task_send(db, "t", &message, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "task_id"));
}

/* Both must hold, and only one of them could be asked for. */
static void one_key_twice(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_card_filter filter = CARDBOX_CARD_FILTER_INIT;
    const cardbox_match matches[] = {{"a", "1"}, {"b", "1"}, {"a", "2"}};
    cardbox_error err = CARDBOX_ERROR_INIT;
    filter.matches = matches;
    filter.match_count = 3;
    assert_int_equal(cardbox_cards_list(&cards, db, "t", &filter, &err), CARDBOX_INVALID);
    assert_string_equal(err.message, "metadata filter a occurs twice");
    filter.match_count = 2;
    assert_ok(cardbox_cards_list(&cards, db, "t", &filter, &err), &err);
    cardbox_cards_free(cards);
}

static void null_boxes(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_boxes *boxes = NULL;
    cardbox_cards *cards = NULL;
    cardbox_log *log = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_load_boxes(&boxes, db, "t", NULL, 1, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_load_box(&boxes, db, "t", NULL, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_get_box_cards(&cards, db, "t", NULL, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_box_log(&log, db, "t", NULL, 0, 0, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_begin(NULL, db, &err), CARDBOX_INVALID);
    assert_string_equal(err.message, "tx must not be NULL");
    assert_int_equal(cardbox_begin(&tx, NULL, &err), CARDBOX_INVALID);
    assert_string_equal(err.message, "db must not be NULL");
    assert_int_equal(cardbox_borrow(NULL, NULL, &err), CARDBOX_INVALID);
    assert_string_equal(err.message, "tx must not be NULL");
    cardbox_pool_stats_get(NULL, db);
    assert_false(cardbox_waiter_wait(NULL, 0));
}

/* What is said of a NULL names the parameter that it stands for. */
static void null_results(void **state)
{
    (void)state;
    cardbox_entries *entries = NULL;
    cardbox_context *context = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_session_create(NULL, db, "t", "empty", NULL, &err), &err);
    assert_int_equal(cardbox_session_get_entries(&entries, db, "t", "empty", NULL, 1, &err),
                     CARDBOX_INVALID);
    assert_string_equal(err.message, "entry_ids must not be NULL");
    const char *entry[] = {"{\"type\":\"user\",\"content\":\"x\"}"};
    assert_ok(cardbox_session_append(NULL, db, "t", "empty", entry, 1, NULL, &err), &err);
    assert_ok(cardbox_build_context(&context, db, "t", "empty", NULL, CARDBOX_FORMAT_OPENAI, &err),
              &err);
    assert_int_equal(cardbox_context_count(context), 1);
    assert_int_equal(cardbox_context_digest(NULL, context, 0), CARDBOX_INVALID);
    cardbox_context_free(context);
    cardbox_uuid7(NULL);
    cardbox_uuid7_from_key(NULL, "key", "part");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_no_options),
        cmocka_unit_test(zeros_are_no_sessions_options),
        cmocka_unit_test(copies_of_cards),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(what_workers_say),
        cmocka_unit_test(one_key_twice),
        cmocka_unit_test(null_boxes),
        cmocka_unit_test(null_results),
        cmocka_unit_test(lines_of_any_length),
        cmocka_unit_test(folders_that_cannot_be),
        cmocka_unit_test(messages_in_utf8),
        cmocka_unit_test(message_of_a_writer_in_utf8),
        cmocka_unit_test(differences_of_any_length),
        cmocka_unit_test(times_without_end),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

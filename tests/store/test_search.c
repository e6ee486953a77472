/*
 * test_search.c: cardbox_search(): hits with their texts and offsets, filters, pages that are full
 * although rows of the index do not match, and arguments that are refused.
 */
#include "store/search/search_index.h"
#include "store/store_test.h"

static void index_all(void)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    search_index_state state = {.last = ""};
    search_batch batch;
    do {
        assert_ok(search_index_batch(&batch, &state, db, &err), &err);
    } while (batch.rows > 0);
}

static cardbox_search_hits *find(const char *tenant, const char *query,
                                 const cardbox_search_options *options)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_search_hits *hits = NULL;
    assert_ok(cardbox_search(&hits, db, tenant, query, options, &err), &err);
    return hits;
}

static void assert_found(const char *query, const cardbox_search_options *options, size_t count,
                         const char *first)
{
    cardbox_search_hits *hits = find("search", query, options);
    assert_int_equal(cardbox_search_hits_count(hits), count);
    if (count > 0)
        assert_string_equal(cardbox_search_hits_at(hits, 0)->id, first);
    cardbox_search_hits_free(hits);
}

static int fill(void **state)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    open_db(state);
    cardbox_card card = test_card("s-1", "{\"text\":\"a N\xc3\xa9"
                                         "edle, and read_log_file\"}");
    card.type = "agent.thought";
    card.role = "assistant";
    assert_ok(cardbox_add_card(NULL, db, "search", &card, NULL, &err), &err);
    test_add("search", "s-2", "\"hay\"");
    test_add("search-2", "s-1", "\"needle of another tenant\"");
    const char *entry = "{\"type\":\"user\",\"id\":\"e-1\",\"content\":\"needle\"}";
    assert_ok(cardbox_session_create(NULL, db, "search", "talk", NULL, &err), &err);
    assert_ok(cardbox_session_append(NULL, db, "search", "talk", &entry, 1, NULL, &err), &err);
    index_all();
    return 0;
}

static void hits_have_all_members(void **state)
{
    (void)state;
    cardbox_search_hits *hits = find("search", "needle", NULL);
    assert_int_equal(cardbox_search_hits_count(hits), 2);
    assert_null(cardbox_search_hits_cursor(hits));
    assert_null(cardbox_search_hits_at(hits, 2));
    for (size_t i = 0; i < 2; i++) {
        const cardbox_search_hit *hit = cardbox_search_hits_at(hits, i);
        bool is_card = strcmp(hit->kind, "card") == 0;
        assert_string_equal(hit->kind, is_card ? "card" : "entry");
        assert_string_equal(hit->id, is_card ? "s-1" : "e-1");
        assert_string_equal(hit->type, is_card ? "agent.thought" : "user");
        assert_string_equal(hit->role, is_card ? "assistant" : "user");
        assert_string_equal(is_card ? "talk" : hit->session_id, "talk");
        assert_null(hit->task_id);
        assert_int_equal(strlen(hit->created_at), 27);
        assert_string_equal(hit->snippet, is_card ? "a N\xc3\xa9"
                                                    "edle, and read_log_file"
                                                  : "needle");
        assert_int_equal(hit->offset_count, 1);
        assert_int_equal(hit->offsets[0].from, is_card ? 2 : 0);
        assert_int_equal(hit->offsets[0].to, is_card ? 8 : 6);
    }
    cardbox_search_hits_free(hits);
    assert_int_equal(cardbox_search_hits_count(NULL), 0);
    cardbox_search_hits_free(NULL);
}

static void filters_apply(void **state)
{
    (void)state;
    const cardbox_search_options all = CARDBOX_SEARCH_OPTIONS_INIT;
    cardbox_search_options one = all;
    one.kind = "entry";
    assert_found("needle", &one, 1, "e-1");
    one = all;
    one.session_id = "talk";
    one.role = "user";
    assert_found("needle", &one, 1, "e-1");
    one = all;
    one.type = "agent.thought";
    assert_found("needle readLogFile", &one, 1, "s-1");
    one.task_id = "none";
    assert_found("needle", &one, 0, NULL);
    one = all;
    one.created_before = "2020-01-01T00:00:00Z";
    assert_found("needle", &one, 0, NULL);
    one.created_before = NULL;
    one.created_after = "2020-01-01T00:00:00Z";
    assert_found("needle", &one, 2, "e-1");
    assert_found("needle hay", NULL, 0, NULL);
}

/* The cards "one_two two_three" have the terms of one_two_three, but not this word. */
static void pages_are_full(void **state)
{
    enum { OTHERS = 30, FOUND = 25 };
    char id[16], cursor[128] = "";
    (void)state;
    for (int n = 0; n < FOUND; n++) {
        snprintf(id, sizeof(id), "found-%d", n);
        test_add("search-3", id, "\"one_two_three\"");
    }
    for (int n = 0; n < OTHERS; n++) {
        snprintf(id, sizeof(id), "other-%d", n);
        test_add("search-3", id, "\"one_two two_three\"");
    }
    index_all();
    cardbox_search_options page = CARDBOX_SEARCH_OPTIONS_INIT;
    page.limit = 10;
    for (size_t seen = 0; seen < FOUND;) {
        cardbox_search_hits *hits = find("search-3", "one_two_three", &page);
        size_t count = cardbox_search_hits_count(hits);
        assert_int_equal(count, FOUND - seen < 10 ? FOUND - seen : 10);
        for (size_t i = 0; i < count; i++) {
            snprintf(id, sizeof(id), "found-%d", (int)(FOUND - 1 - seen++));
            assert_string_equal(cardbox_search_hits_at(hits, i)->id, id);
        }
        assert_true((cardbox_search_hits_cursor(hits) == NULL) == (seen == FOUND));
        if (seen < FOUND)
            snprintf(cursor, sizeof(cursor), "%s", cardbox_search_hits_cursor(hits));
        page.cursor = cursor;
        cardbox_search_hits_free(hits);
    }
}

/* A borrowed connection sees its own transaction, but the index has only what was committed. */
static void transactions_search_too(void **state)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox *tx = NULL;
    cardbox_search_hits *hits = NULL;
    (void)state;
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_card_delete(tx, "search", "s-1", &err), &err);
    assert_ok(cardbox_search(&hits, tx, "search", "needle", NULL, &err), &err);
    assert_int_equal(cardbox_search_hits_count(hits), 1);
    cardbox_search_hits_free(hits);
    cardbox_rollback(tx);
    assert_found("needle", NULL, 2, "e-1");
}

static void assert_refused(const char *query, const cardbox_search_options *options,
                           const char *message)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_search_hits *hits = NULL;
    assert_int_equal(cardbox_search(&hits, db, "search", query, options, &err), CARDBOX_INVALID);
    assert_null(hits);
    if (strncmp(err.message, message, strlen(message)) != 0)
        fail_msg("\"%s\" instead of \"%s\"", err.message, message);
}

static void refuses_bad_arguments(void **state)
{
    cardbox_search_options one = CARDBOX_SEARCH_OPTIONS_INIT, none = {0};
    cardbox_error err = CARDBOX_ERROR_INIT;
    char large[CARDBOX_SEARCH_QUERY_MAX + 2] = "";
    (void)state;
    memset(large, 'a', sizeof(large) - 1);
    assert_refused(NULL, NULL, "query must not be NULL");
    assert_refused("", NULL, "the query must contain a letter or a digit");
    assert_refused(" ... ", NULL, "the query must contain a letter or a digit");
    assert_refused("\xff", NULL, "the query is not UTF-8");
    assert_refused(large, NULL, "the query must have at most 1024 bytes");
    assert_refused("a", &none, "struct_size is 0: start from CARDBOX_SEARCH_OPTIONS_INIT");
    one.kind = "box";
    assert_refused("a", &one, "kind must be card, message or entry");
    one.kind = NULL;
    one.role = "\xff";
    assert_refused("a", &one, "role is not UTF-8");
    one.role = NULL;
    one.created_after = "today";
    assert_refused("a", &one, "created_after ");
    one.created_after = NULL;
    one.limit = CARDBOX_SEARCH_PAGE_MAX + 1;
    assert_refused("a", &one, "limit must be 1 to 100, or 0");
    one.limit = 0;
    one.cursor = "x";
    assert_refused("a", &one, "cursor \"x\"");
    one.cursor = "";
    assert_refused("a", &one, "cursor \"\"");
    assert_int_equal(cardbox_search(NULL, db, "search", "a", NULL, &err), CARDBOX_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_have_all_members), cmocka_unit_test(filters_apply),
        cmocka_unit_test(pages_are_full),        cmocka_unit_test(transactions_search_too),
        cmocka_unit_test(refuses_bad_arguments),
    };
    return cmocka_run_group_tests(tests, fill, close_db);
}

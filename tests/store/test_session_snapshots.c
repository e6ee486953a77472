/*
 * test_session_snapshots.c: sessions that others delete or append to while they are exported.
 */
#include "store/store_test.h"

#define T "snapshots"

static const char OPEN_END[] = "{\"id\":\"a\",\"parentId\":null,\"type\":\"user\"}\n"
                               "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"user\"}";
static const char NEXT[] = "{\"id\":\"c\",\"parentId\":\"b\",\"type\":\"user\",\"content\":\"hi\"}";

typedef struct text {
    char bytes[8192];
    size_t len;
} text;

static bool take(void *arg, const char *bytes, size_t len)
{
    text *to = arg;

    assert_true(to->len + len < sizeof(to->bytes));
    memcpy(to->bytes + to->len, bytes, len);
    to->len += len;
    to->bytes[to->len] = '\0';
    return true;
}

static void import(const char *id)
{
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_ok(cardbox_session_import_bytes(NULL, db, T, id, NULL, OPEN_END, strlen(OPEN_END), &err),
              &err);
}

typedef struct away {
    const char *session;
    bool is_made_again;
} away;

/* Deletes the session that is exported, and may make another in its place. */
static bool take_away(void *arg, const char *bytes, size_t len)
{
    const away *of = arg;
    cardbox_error err = CARDBOX_ERROR_INIT;

    (void)bytes;
    (void)len;
    cardbox_session_delete(db, T, of->session, &err);
    cardbox_session_options again = CARDBOX_SESSION_OPTIONS_INIT;
    again.restore = true;
    if (of->is_made_again)
        assert_ok(cardbox_session_create(NULL, db, T, of->session, &again, &err), &err);
    return true;
}

/* A pool's export is one snapshot, and so it is whole. In a caller's transaction, which sees what
 * others do, it is not. */
static void test_deleted_while_exported(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox *tx = NULL;
    char id[CARDBOX_UUID_SIZE];

    for (int i = 0; i < 4; i++) {
        cardbox_uuid7(id);
        import(id);
        const char *entry = i < 2 ? NULL : "a";
        away of = {id, i % 2 > 0};
        assert_ok(cardbox_session_export(db, T, id, entry, take_away, &of, &err), &err);
        cardbox_uuid7(id);
        import(id);
        of = (away){id, i % 2 > 0};
        assert_ok(cardbox_begin(&tx, db, &err), &err);
        assert_int_equal(cardbox_session_export(tx, T, id, entry, take_away, &of, &err),
                         CARDBOX_CONFLICT);
        assert_non_null(strstr(err.message, "was deleted while it was exported"));
        cardbox_rollback(tx);
    }
}

typedef struct growing {
    const char *session;
    text out;
    bool has_grown;
} growing;

/* When the last line has come, which has no line feed, the session gets another. */
static bool take_and_append(void *arg, const char *bytes, size_t len)
{
    growing *of = arg;
    cardbox_error err = CARDBOX_ERROR_INIT;
    const char *next = NEXT;

    take(&of->out, bytes, len);
    if (!of->has_grown && of->out.len == strlen(OPEN_END)) {
        of->has_grown = true;
        assert_ok(cardbox_session_append(NULL, db, T, of->session, &next, 1, NULL, &err), &err);
    }
    return true;
}

/* Two lines never come as one, whatever the isolation level. */
static void test_append_to_an_open_end_while_exported(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char id[CARDBOX_UUID_SIZE], whole[1024];

    snprintf(whole, sizeof(whole), "%s\n%s\n", OPEN_END, NEXT);
    for (int i = 0; i < 2; i++) {
        cardbox *tx = NULL;
        cardbox_uuid7(id);
        growing of = {id, {.len = 0}, false};
        assert_ok(
            cardbox_session_import_bytes(NULL, db, T, id, NULL, OPEN_END, strlen(OPEN_END), &err),
            &err);
        if (i > 0)
            assert_ok(cardbox_begin(&tx, db, &err), &err);
        assert_ok(cardbox_session_export(i > 0 ? tx : db, T, id, NULL, take_and_append, &of, &err),
                  &err);
        assert_true(of.has_grown);
        assert_string_equal(of.out.bytes, i > 0 ? whole : OPEN_END);
        cardbox_rollback(tx);
        of.out.len = 0;
        assert_ok(cardbox_session_export(db, T, id, NULL, take, &of.out, &err), &err);
        assert_string_equal(of.out.bytes, whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deleted_while_exported),
        cmocka_unit_test(test_append_to_an_open_end_while_exported),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}

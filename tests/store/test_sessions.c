/*
 * Sessions through the SDK: what is appended, how it is linked and read, heads, forks, and what is
 * refused.
 */
#include "store/store_test.h"

#define T "sessions"

/* A new session's id. */
static const char *session(void)
{
    static char ids[8][CARDBOX_UUID_SIZE];
    static unsigned next;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char *id = ids[next++ % 8];

    cardbox_uuid7(id);
    assert_ok(cardbox_session_create(NULL, db, T, id, NULL, &err), &err);
    return id;
}

/* Appends an entry of the dialect plain; parent NULL: a root. */
static cardbox_status append(const char *session_id, const char *id, const char *parent,
                             cardbox_error *err)
{
    char json[512];
    const char *entries[] = {json};
    cardbox_session_append_options options = CARDBOX_SESSION_APPEND_OPTIONS_INIT;

    if (parent == NULL)
        snprintf(json, sizeof(json),
                 "{\"id\":\"%s\",\"parentId\":null,\"type\":\"user\",\"content\":\"hi\"}", id);
    else
        snprintf(json, sizeof(json),
                 "{\"id\":\"%s\",\"parentId\":\"%s\",\"type\":\"user\",\"content\":\"hi\"}", id,
                 parent);
    return cardbox_session_append(NULL, db, T, session_id, entries, 1, &options, err);
}

static void must_append(const char *session_id, const char *id, const char *parent)
{
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_ok(append(session_id, id, parent, &err), &err);
}

/* The ids of a result, with blanks between. */
static const char *ids_of(const cardbox_entries *entries)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < cardbox_entries_count(entries); i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? " " : "",
                               cardbox_entries_at(entries, i)->entry_id);
    return text;
}

static const char *list(const char *session_id, cardbox_entry_list which, const char *entry)
{
    static char text[4096];
    cardbox_entry_page page = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *entries = NULL;
    char cursor[600];
    size_t at = 0;

    page.entry_id = entry;
    page.limit = 2; /* so that there are pages */
    text[0] = '\0';
    do {
        assert_ok(cardbox_session_entries(&entries, db, T, session_id, which, &page, &err), &err);
        if (cardbox_entries_count(entries) > 0)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at > 0 ? " " : "",
                                   ids_of(entries));
        page.cursor = NULL;
        if (cardbox_entries_cursor(entries) != NULL) {
            snprintf(cursor, sizeof(cursor), "%s", cardbox_entries_cursor(entries));
            page.cursor = cursor;
        }
        cardbox_entries_free(entries);
    } while (page.cursor != NULL);
    return text;
}

static const char *path(const char *session_id, const char *entry, size_t from, size_t limit)
{
    static char text[4096];
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *entries = NULL;

    assert_ok(cardbox_session_path(&entries, db, T, session_id, entry, from, limit, true, &err),
              &err);
    for (size_t i = 0; i < cardbox_entries_count(entries); i++)
        assert_non_null(cardbox_entries_at(entries, i)->json);
    snprintf(text, sizeof(text), "%s", ids_of(entries));
    cardbox_entries_free(entries);
    return text;
}

/*
 *   a - b - c - d
 *         \ e - f
 *         |   \ g
 *         \ h
 *   x - y
 */
static const char *tree(void)
{
    const char *s = session();
    static const char *const ENTRIES[][2] = {{"a", NULL}, {"b", "a"}, {"c", "b"}, {"d", "c"},
                                             {"e", "b"},  {"f", "e"}, {"g", "e"}, {"h", "b"},
                                             {"x", NULL}, {"y", "x"}};

    for (size_t i = 0; i < sizeof(ENTRIES) / sizeof(ENTRIES[0]); i++)
        must_append(s, ENTRIES[i][0], ENTRIES[i][1]);
    return s;
}

static void test_tree(void **state)
{
    (void)state;
    const char *s = tree();
    cardbox_session_counts counts;
    cardbox_entry_page page = CARDBOX_ENTRY_PAGE_INIT;
    cardbox_entries *none = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_string_equal(list(s, CARDBOX_ENTRIES_ALL, NULL), "a b c d e f g h x y");
    assert_string_equal(list(s, CARDBOX_ENTRIES_CHILDREN, NULL), "a x");
    assert_string_equal(list(s, CARDBOX_ENTRIES_CHILDREN, "b"), "c e h");
    assert_string_equal(list(s, CARDBOX_ENTRIES_CHILDREN, "e"), "f g");
    assert_string_equal(list(s, CARDBOX_ENTRIES_CHILDREN, "d"), "");
    page.entry_id = "nix";
    assert_int_equal(
        cardbox_session_entries(&none, db, T, s, CARDBOX_ENTRIES_CHILDREN, &page, &err),
        CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_session_entries(&none, db, T, "nix", CARDBOX_ENTRIES_ALL, NULL, &err),
                     CARDBOX_NOT_FOUND);
    assert_null(none);
    assert_string_equal(list(s, CARDBOX_ENTRIES_LEAVES, NULL), "d f g h y");
    assert_string_equal(list(s, CARDBOX_ENTRIES_BRANCH_POINTS, NULL), "b e");
    assert_string_equal(path(s, NULL, 0, 0), "x y");
    assert_string_equal(path(s, "g", 0, 0), "a b e g");
    assert_string_equal(path(s, "g", 1, 2), "b e");
    assert_string_equal(path(s, "d", 3, 0), "d");
    assert_ok(cardbox_session_count(&counts, db, T, s, &err), &err);
    assert_int_equal(counts.entries, 10);
    assert_int_equal(counts.roots, 2);
    assert_int_equal(counts.leaves, 5);
    assert_int_equal(counts.branch_points, 2);
    assert_int_equal(counts.max_depth, 3);
    assert_int_equal(counts.dangling_parents, 0);
}

static const char *diff(const char *s, const char *a, const char *b)
{
    static char text[4096];
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *entries = NULL;
    size_t at = 0;

    assert_ok(cardbox_session_diff(&entries, db, T, s, a, b, 0, 0, &err), &err);
    text[0] = '\0';
    for (size_t i = 0; i < cardbox_entries_count(entries); i++) {
        const cardbox_entry *entry = cardbox_entries_at(entries, i);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%d", i > 0 ? " " : "",
                               entry->entry_id, entry->side);
    }
    cardbox_entries_free(entries);
    return text;
}

static void test_diff(void **state)
{
    (void)state;
    const char *s = tree();
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *entries = NULL;

    assert_string_equal(diff(s, "d", "g"), "b0 c1 d1 e2 g2");
    assert_string_equal(diff(s, "g", "b"), "b0 e1 g1");
    assert_string_equal(diff(s, "g", "g"), "g0");
    assert_string_equal(diff(s, "h", "y"), "a1 b1 h1 x2 y2");
    assert_int_equal(cardbox_session_diff(&entries, db, T, s, "a", "none", 0, 0, &err),
                     CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_session_diff(&entries, db, T, "none", "a", "b", 0, 0, &err),
                     CARDBOX_NOT_FOUND);
    assert_null(entries);
}

static void test_refusals(void **state)
{
    (void)state;
    const char *s = tree();
    cardbox_error err = CARDBOX_ERROR_INIT;
    const char *bad[] = {"{\"id\":\"n1\",\"type\":\"user\",\"content\":\"x\"}",
                         "{\"id\":\"n2\",\"parentId\":\"no\",\"type\":\"user\",\"content\":\"x\"}"};
    const char *other[] = {"{\"id\":\"a\",\"type\":\"user\",\"content\":\"other\"}"};
    const char *self[] = {"{\"id\":\"q\",\"parentId\":\"q\",\"type\":\"user\",\"content\":\"x\"}"};
    static const char *const NONE[] = {
        "",
        "{",
        "[]",
        "{\"id\":\"z\"}",
        "{\"id\":null,\"type\":\"user\",\"content\":\"x\"}",
        "{\"id\":\"z\",\"type\":\"label\"}",
        "{\"id\":5,\"type\":\"user\",\"content\":\"x\"}",
        "{\"type\":\"session\",\"id\":\"a\"}",
        "{\"id\":\"z\",\"type\":\"user\",\"parentId\":7,\"content\":\"x\"}"};

    assert_int_equal(cardbox_session_append(NULL, db, T, s, bad, 2, NULL, &err), CARDBOX_NOT_FOUND);
    assert_non_null(strstr(err.message, "n2"));
    assert_int_equal(cardbox_session_append(NULL, db, T, s, other, 1, NULL, &err),
                     CARDBOX_CONFLICT);
    assert_int_equal(cardbox_session_append(NULL, db, T, s, self, 1, NULL, &err), CARDBOX_INVALID);
    for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++)
        assert_int_equal(cardbox_session_append(NULL, db, T, s, &NONE[i], 1, NULL, &err),
                         CARDBOX_INVALID);
    assert_int_equal(append("no such session", "a", NULL, &err), CARDBOX_NOT_FOUND);
    assert_string_equal(list(s, CARDBOX_ENTRIES_ALL, NULL), "a b c d e f g h x y");
}

static void test_versions_and_keys(void **state)
{
    (void)state;
    const char *s = session();
    const char *first[] = {"{\"id\":\"a\",\"type\":\"user\",\"content\":\"x\"}"},
               *second[] = {"{\"id\":\"b\",\"type\":\"user\",\"content\":\"x\"}"};
    cardbox_session_append_options options = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int64_t version = 0;

    options.key = "k";
    options.expected_version = 1;
    assert_ok(cardbox_session_append(&version, db, T, s, first, 1, &options, &err), &err);
    assert_int_equal(version, 2);
    must_append(s, "c", "a");
    assert_ok(cardbox_session_append(&version, db, T, s, first, 1, &options, &err), &err);
    assert_int_equal(version, 2); /* the first answer */
    assert_int_equal(cardbox_session_append(&version, db, T, s, second, 1, &options, &err),
                     CARDBOX_CONFLICT);
    options.key = NULL;
    assert_int_equal(cardbox_session_append(&version, db, T, s, second, 1, &options, &err),
                     CARDBOX_CONFLICT);
    assert_int_equal(err.current_version, 3);
    assert_ok(cardbox_session_append(&version, db, T, s, first, 1, NULL, &err), &err);
    assert_int_equal(version, 3); /* it is there: nothing was written */
    assert_int_equal(test_session_version(T, s), 3);
}

static void test_head(void **state)
{
    (void)state;
    const char *s = tree();
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_ok(cardbox_session_move_head(NULL, db, T, s, "c", "y", &err), &err);
    assert_string_equal(path(s, NULL, 0, 0), "a b c");
    assert_int_equal(cardbox_session_move_head(NULL, db, T, s, "d", "y", &err), CARDBOX_CONFLICT);
    assert_int_equal(cardbox_session_move_head(NULL, db, T, s, "no", NULL, &err),
                     CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_session_move_head(NULL, db, T, "no", "a", NULL, &err),
                     CARDBOX_NOT_FOUND);
    int64_t before = test_session_version(T, s);
    assert_ok(cardbox_session_move_head(NULL, db, T, s, "c", NULL, &err), &err);
    assert_int_equal(test_session_version(T, s), before);
}

static void test_labels(void **state)
{
    (void)state;
    const char
        *s = session(),
        *labels[] = {
            "{\"type\":\"message\",\"id\":\"m\",\"parentId\":null,\"message\":{\"role\":\"user\","
            "\"content\":\"x\"}}",
            "{\"type\":\"label\",\"id\":\"l1\",\"parentId\":\"m\",\"targetId\":\"m\",\"label\":"
            "\"one\"}",
            "{\"type\":\"label\",\"id\":\"l2\",\"parentId\":\"l1\",\"targetId\":\"m\",\"label\":"
            "\"tw\\u006f\"}",
            "{\"type\":\"label\",\"id\":\"l3\",\"parentId\":\"l2\",\"targetId\":\"l1\",\"label\":"
            "\"gone\"}",
            "{\"type\":\"label\",\"id\":\"l4\",\"parentId\":\"l3\",\"targetId\":\"l1\"}",
            "{\"type\":\"session_info\",\"id\":\"i1\",\"parentId\":\"l4\",\"name\":\"first\"}",
            "{\"type\":\"session_info\",\"id\":\"i2\",\"parentId\":\"i1\",\"name\":\"\"}"};
    const char *nobody =
        "{\"type\":\"label\",\"id\":\"l5\",\"parentId\":\"i2\",\"targetId\":\"l5\"}";
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *entries = NULL;
    cardbox_sessions *got = NULL;

    assert_int_equal(cardbox_session_append(NULL, db, T, s, labels + 1, 1, NULL, &err),
                     CARDBOX_NOT_FOUND);
    assert_ok(cardbox_session_append(NULL, db, T, s, labels, 7, NULL, &err), &err);
    assert_int_equal(cardbox_session_append(NULL, db, T, s, &nobody, 1, NULL, &err),
                     CARDBOX_NOT_FOUND);
    assert_string_equal(list(s, CARDBOX_ENTRIES_LABELLED, NULL), "m");
    assert_ok(cardbox_session_get_entries(&entries, db, T, s, (const char *[]){"m"}, 1, &err),
              &err);
    assert_string_equal(cardbox_entries_at(entries, 0)->label, "two");
    assert_string_equal(cardbox_entries_at(entries, 0)->role, "user");
    assert_string_equal(cardbox_entries_at(entries, 0)->type, "message");
    assert_string_equal(cardbox_entries_at(entries, 0)->json, labels[0]);
    cardbox_entries_free(entries);
    assert_ok(cardbox_session_get(&got, db, T, s, &err), &err);
    assert_string_equal(cardbox_sessions_at(got, 0)->name, "\"first\"");
    assert_string_equal(cardbox_sessions_at(got, 0)->head_entry_id, "i2");
    cardbox_sessions_free(got);
}

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

static void test_fork_and_export(void **state)
{
    (void)state;
    const char *s = tree();
    char fork[CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    text out = {.len = 0};
    int64_t entries = 0;

    cardbox_uuid7(fork);
    assert_ok(cardbox_session_fork(&entries, db, T, s, "g", fork, &err), &err);
    assert_int_equal(entries, 4);
    assert_string_equal(path(fork, NULL, 0, 0), "a b e g");
    assert_string_equal(list(fork, CARDBOX_ENTRIES_LEAVES, NULL), "g");
    must_append(fork, "new", "b");
    assert_string_equal(list(fork, CARDBOX_ENTRIES_CHILDREN, "b"), "e new");
    assert_string_equal(list(s, CARDBOX_ENTRIES_CHILDREN, "b"), "c e h");
    assert_int_equal(cardbox_session_fork(NULL, db, T, s, "g", fork, &err), CARDBOX_CONFLICT);
    assert_int_equal(cardbox_session_fork(NULL, db, T, s, "none", "free", &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_session_export(db, T, fork, NULL, take, &out, &err), &err);
    assert_string_equal(
        out.bytes, "{\"id\":\"a\",\"parentId\":null,\"type\":\"user\",\"content\":\"hi\"}\n"
                   "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"user\",\"content\":\"hi\"}\n"
                   "{\"id\":\"e\",\"parentId\":\"b\",\"type\":\"user\",\"content\":\"hi\"}\n"
                   "{\"id\":\"g\",\"parentId\":\"e\",\"type\":\"user\",\"content\":\"hi\"}\n"
                   "{\"id\":\"new\",\"parentId\":\"b\",\"type\":\"user\",\"content\":\"hi\"}\n");
    out.len = 0;
    assert_ok(cardbox_session_export(db, T, s, "y", take, &out, &err), &err);
    assert_string_equal(out.bytes,
                        "{\"id\":\"x\",\"parentId\":null,\"type\":\"user\",\"content\":\"hi\"}\n"
                        "{\"id\":\"y\",\"parentId\":\"x\",\"type\":\"user\",\"content\":\"hi\"}\n");
    assert_int_equal(cardbox_session_export(db, T, "no", NULL, take, &out, &err),
                     CARDBOX_NOT_FOUND);
}

static void test_headers(void **state)
{
    (void)state;
    char id[CARDBOX_UUID_SIZE], fork[CARDBOX_UUID_SIZE], expected[700];
    cardbox_session_options options = CARDBOX_SESSION_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *got = NULL;
    const char *entry = "{\"id\":\"a\",\"parentId\":null,\"type\":\"custom\"}";
    text out = {.len = 0};
    bool is_new = false;

    cardbox_uuid7(id);
    cardbox_uuid7(fork);
    options.dialect = CARDBOX_DIALECT_PI;
    options.header = "{\"type\":\"session\",\"version\":3,\n\"id\":\"x\",\"cwd\":\"/w\",\"own\":1}";
    assert_ok(cardbox_session_create(&is_new, db, T, id, &options, &err), &err);
    assert_true(is_new);
    assert_ok(cardbox_session_create(&is_new, db, T, id, NULL, &err), &err);
    assert_false(is_new);
    options = (cardbox_session_options)CARDBOX_SESSION_OPTIONS_INIT;
    assert_int_equal(cardbox_session_create(NULL, db, T, id, &options, &err), CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "in another dialect than plain"));
    options.dialect = CARDBOX_DIALECT_PI;
    assert_ok(cardbox_session_create(&is_new, db, T, id, &options, &err), &err);
    options.must_be_new = true;
    assert_int_equal(cardbox_session_create(&is_new, db, T, id, &options, &err), CARDBOX_CONFLICT);
    assert_int_equal(append(id, "a", NULL, &err), CARDBOX_CONFLICT); /* it is plain */
    assert_ok(cardbox_session_append(NULL, db, T, id, &entry, 1, NULL, &err), &err);
    assert_ok(cardbox_session_export(db, T, id, NULL, take, &out, &err), &err);
    assert_string_equal(
        out.bytes, "{\"type\":\"session\",\"version\":3,\"id\":\"x\",\"cwd\":\"/w\",\"own\":1}\n"
                   "{\"id\":\"a\",\"parentId\":null,\"type\":\"custom\"}\n");
    assert_ok(cardbox_session_fork(NULL, db, T, id, NULL, fork, &err), &err);
    assert_ok(cardbox_session_get(&got, db, T, fork, &err), &err);
    const char *header = cardbox_sessions_at(got, 0)->header;
    assert_int_equal(cardbox_sessions_at(got, 0)->dialect, CARDBOX_DIALECT_PI);
    snprintf(expected, sizeof(expected), "{\"type\":\"session\",\"id\":\"%s\",\"timestamp\":\"",
             fork);
    assert_memory_equal(header, expected, strlen(expected));
    snprintf(expected, sizeof(expected), "\"parentSession\":\"%s\",\"version\":3,\"cwd\":\"/w\"}",
             id);
    assert_string_equal(strstr(header, "\"parentSession"), expected);
    cardbox_sessions_free(got);
}

static void test_list_of_sessions(void **state)
{
    (void)state;
    char ids[5][CARDBOX_UUID_SIZE], cursor[1200] = "";
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_sessions *page = NULL;
    int seen = 0;

    for (int i = 0; i < 5; i++) {
        cardbox_uuid7(ids[i]);
        assert_ok(cardbox_session_create(NULL, db, "sessions-listed", ids[i], NULL, &err), &err);
    }
    do {
        assert_ok(
            cardbox_sessions_list(&page, db, "sessions-listed", *cursor ? cursor : NULL, 2, &err),
            &err);
        for (size_t i = 0; i < cardbox_sessions_count(page) && seen < 5; i++)
            assert_string_equal(cardbox_sessions_at(page, i)->session_id, ids[4 - seen++]);
        snprintf(cursor, sizeof(cursor), "%s",
                 cardbox_sessions_cursor(page) ? cardbox_sessions_cursor(page) : "");
        cardbox_sessions_free(page);
    } while (*cursor != '\0');
    assert_int_equal(seen, 5);
    assert_int_equal(cardbox_sessions_list(&page, db, T, "nonsense", 2, &err), CARDBOX_INVALID);
}

static void test_writer(void **state)
{
    (void)state;
    char id[CARDBOX_UUID_SIZE];
    cardbox_writer_options options = CARDBOX_WRITER_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *context = NULL;

    cardbox_uuid7(id);
    options.key = id;
    options.timestamp = "2026-01-02T03:04:05Z";
    for (int run = 0; run < 2; run++) { /* a repeated run writes nothing */
        cardbox_session_writer *writer = NULL;
        assert_ok(cardbox_session_open(&writer, db, T, id, &options, &err), &err);
        const char *user = cardbox_session_append_user(writer, "create hello.ts", "", &err);
        assert_non_null(user);
        const char *reply = cardbox_session_append_assistant(
            writer, "I'll do it", "[{\"id\":\"c1\",\"name\":\"write\",\"params\":{}}]", user, &err);
        assert_non_null(reply);
        assert_null(cardbox_session_append_assistant(writer, "x", "{}", NULL, &err));
        assert_null(cardbox_session_append_user(writer, "\xff", NULL, &err));
        assert_non_null(cardbox_session_append_tool_result(writer, "c1", "done", "{\"bytes\": 4}",
                                                           true, NULL, &err));
        assert_ok(cardbox_session_close(writer, &err), &err);
        assert_int_equal(test_session_version(T, id), 2);
    }
    assert_ok(cardbox_build_context(&context, db, T, id, NULL, CARDBOX_FORMAT_OPENAI, &err), &err);
    assert_int_equal(cardbox_context_count(context), 3);
    assert_string_equal(cardbox_context_json(context),
                        "[{\"role\":\"user\",\"content\":\"create hello.ts\"},"
                        "{\"role\":\"assistant\",\"content\":\"I'll do it\",\"tool_calls\":"
                        "[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"write\","
                        "\"arguments\":\"{}\"}}]},"
                        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"done\"}]");
    cardbox_context_free(context);
}

/* What can't be written is named when the writer is closed, and nothing of it is there. */
static void test_writer_reports(void **state)
{
    (void)state;
    const char *s = tree();
    cardbox_session_writer *writer = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_ok(cardbox_session_open(&writer, db, T, s, NULL, &err), &err);
    const char *first = cardbox_session_append_user(writer, "a", NULL, &err);
    assert_non_null(first);
    char kept[CARDBOX_UUID_SIZE];
    memcpy(kept, first, sizeof(kept));
    assert_non_null(cardbox_session_append_user(writer, "b", "no such entry", &err));
    assert_int_equal(cardbox_session_close(writer, &err), CARDBOX_NOT_FOUND);
    assert_non_null(strstr(err.message, "2 entries were not written"));
    assert_non_null(strstr(err.message, kept));
    assert_string_equal(path(s, NULL, 0, 0), "x y");
}

static void test_scan(void **state)
{
    (void)state;
    const char *s = session();
    cardbox_session_writer *writer = NULL;
    cardbox_session_scan *scan = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    const cardbox_entry *entry = NULL;
    int seen = 0;

    assert_ok(cardbox_session_open(&writer, db, T, s, NULL, &err), &err);
    for (int i = 0; i < 450; i++)
        assert_non_null(cardbox_session_append_user(writer, "x", NULL, &err));
    assert_ok(cardbox_session_close(writer, &err), &err);
    assert_ok(cardbox_session_scan_new(&scan, db, T, s, CARDBOX_ENTRIES_ALL, 1000, &err), &err);
    do {
        assert_ok(cardbox_session_scan_next(&entry, scan, &err), &err);
        if (entry != NULL) {
            assert_int_equal(entry->depth, seen++);
            assert_non_null(entry->json);
            assert_int_equal(strlen(entry->appended_at) >= strlen("2025-01-02T03:04:05Z"), 1);
        }
    } while (entry != NULL);
    assert_int_equal(seen, 450);
    cardbox_session_scan_free(scan);
    assert_int_equal(cardbox_session_scan_new(&scan, db, T, "none", CARDBOX_ENTRIES_ALL, 0, &err),
                     CARDBOX_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_diff),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_versions_and_keys),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_fork_and_export),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_list_of_sessions),
        cmocka_unit_test(test_writer),
        cmocka_unit_test(test_writer_reports),
        cmocka_unit_test(test_scan),
    };

    return cmocka_run_group_tests(tests, open_db, close_db);
}

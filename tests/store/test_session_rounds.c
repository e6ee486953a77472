/*
 * Sessions that were imported, labelled, appended to, forked and cut, in any order, go out and come
 * back as the same tree: also where lines have no ids, which are made of where they stand.
 */
#include "store/store_test.h"
#include "unit/session_test.h"

#define T "session-rounds"

static cardbox *db;

static int open_all(void **state)
{
    (void)state;
    db = test_open(4);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    cardbox_close(db);
    return 0;
}

static const cardbox_import_options FORCE = {sizeof(FORCE), true, false, NULL};

static void new_id(char out[CARDBOX_UUID_SIZE])
{
    cardbox_uuid7(out);
}

/* "changed" of the report. */
static bool import(const char *id, slice bytes)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_report *report = NULL;

    assert_ok(cardbox_session_import_bytes(&report, db, T, id, &FORCE, bytes.ptr, bytes.len, &err),
              &err);
    bool changed = strstr(cardbox_session_report_json(report), "\"changed\":true") != NULL;
    cardbox_session_report_free(report);
    return changed;
}

static void export(buf *out, const char *id, const char *leaf)
{
    cardbox_error err = CARDBOX_ERROR_INIT;

    *out = BUF_INIT(1 << 24);
    assert_ok(cardbox_session_export(db, T, id, leaf, add_piece, out, &err), &err);
}

/* Every entry with its parent, in the order of the lines; of a path that of `leaf`. */
static void put_tree(buf *out, const char *id, const char *leaf)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *page = NULL;
    cardbox_entry_page want = CARDBOX_ENTRY_PAGE_INIT;

    *out = BUF_INIT(1 << 24);
    want.limit = CARDBOX_PAGE_MAX;
    if (leaf == NULL)
        assert_ok(cardbox_session_entries(&page, db, T, id, CARDBOX_ENTRIES_ALL, &want, &err),
                  &err);
    else
        assert_ok(cardbox_session_path(&page, db, T, id, leaf, 0, 0, false, &err), &err);
    for (size_t i = 0; i < cardbox_entries_count(page); i++) {
        const cardbox_entry *entry = cardbox_entries_at(page, i);
        buf_printf(out, "%s < %s\n", entry->entry_id,
                   entry->parent_id == NULL ? "-" : entry->parent_id);
    }
    cardbox_entries_free(page);
}

/* What goes out comes back, under another name and under its own. */
static void check_round(const char *id, const char *leaf)
{
    char again[CARDBOX_UUID_SIZE];
    buf bytes, tree, other;

    new_id(again);
    export(&bytes, id, leaf);
    put_tree(&tree, id, leaf);
    import(again, buf_as_slice(&bytes));
    put_tree(&other, again, NULL);
    if (strcmp(buf_str(&tree), buf_str(&other)) != 0)
        fail_msg("the tree\n%sis, read again,\n%sof the export\n%s", buf_str(&tree),
                 buf_str(&other), buf_str(&bytes));
    if (leaf == NULL && import(id, buf_as_slice(&bytes)))
        fail_msg("its own export changes the session:\n%s", buf_str(&bytes));
    buf_free(&bytes);
    buf_free(&tree);
    buf_free(&other);
}

/* A file of which few lines have ids. */
static void put_file(buf *out, unsigned lines, unsigned kind)
{
    if (kind % 3 > 0)
        buf_printf(out, "{\"type\":\"session\",\"version\":1%s}\n",
                   kind % 3 == 1 ? ",\"id\":\"s\"" : "");
    for (unsigned i = 0; i < lines; i++) {
        unsigned what = (i * 7 + kind) % 13;
        if (what == 0)
            buf_text(out, "bad\n");
        if (what == 1)
            buf_printf(out, "{\"type\":\"custom\",\"id\":\"f%u\"}\n", i);
        else if (what == 2)
            buf_printf(out, "{\"id\":null,\"type\":\"custom\",\"parentId\":null,\"n\":%u}\n", i);
        else if (what == 3)
            buf_printf(out, "{\"type\":\"custom\",\"id\":\"o%u\",\"parentId\":\"o%u\"}\n", i, i);
        else
            buf_printf(out, "{\"type\":\"custom\",\"n\":%u}%s", i, what == 4 ? "\r\n" : "\n");
    }
}

/* One of the entries that there are. */
static void choose(char out[CARDBOX_UUID_SIZE], const char *id, uint64_t *dice)
{
    buf tree;

    put_tree(&tree, id, NULL);
    const char *at = buf_str(&tree);
    for (unsigned skip = roll(dice, 12); skip > 0 && strchr(at, '\n')[1] != '\0'; skip--)
        at = strchr(at, '\n') + 1;
    snprintf(out, CARDBOX_UUID_SIZE, "%.*s", (int)(strchr(at, ' ') - at), at);
    buf_free(&tree);
}

static void append(const char *id, const char *target, bool is_label)
{
    char entry[300], own[CARDBOX_UUID_SIZE];
    const char *json = entry;
    cardbox_error err = CARDBOX_ERROR_INIT;

    new_id(own);
    snprintf(entry, sizeof(entry),
             "{\"type\":\"%s\",\"id\":\"%s\",\"parentId\":\"%s\",\"targetId\":\"%s\","
             "\"label\":\"here\"}",
             is_label ? "label" : "custom", own, target, target);
    assert_ok(cardbox_session_append(NULL, db, T, id, &json, 1, NULL, &err), &err);
}

/* Goes on in a fork, or in what a branch became elsewhere. */
static void part(char id[CARDBOX_UUID_SIZE], const char *leaf, bool by_fork)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    char other[CARDBOX_UUID_SIZE];
    buf bytes;

    new_id(other);
    if (by_fork) {
        assert_ok(cardbox_session_fork(NULL, db, T, id, leaf, other, &err), &err);
    } else {
        export(&bytes, id, leaf);
        import(other, buf_as_slice(&bytes));
        buf_free(&bytes);
    }
    memcpy(id, other, CARDBOX_UUID_SIZE);
}

static void test_rounds(void **state)
{
    (void)state;
    uint64_t dice = 815;

    for (unsigned i = 0; i < (unsigned)test_times(16, 4); i++) {
        char id[CARDBOX_UUID_SIZE], target[CARDBOX_UUID_SIZE];
        unsigned lines = 2 + roll(&dice, 12);
        new_id(id);
        for (unsigned step = 0; step < 8; step++) {
            unsigned what = step == 0 ? 0 : roll(&dice, 6);
            buf file = BUF_INIT(1 << 20);
            put_file(&file, lines, i);
            if (step == 0 || what == 1)
                import(id, buf_as_slice(&file));
            buf_free(&file);
            choose(target, id, &dice);
            if (what == 2 || what == 3)
                append(id, target, what == 2);
            else if (what == 4 || what == 5)
                part(id, target, what == 4);
            lines += roll(&dice, 5);
            check_round(id, NULL);
            check_round(id, target);
        }
    }
}

/* The way of the real session: grown from its beginning, with a label between the parts. */
static void test_real_session(void **state)
{
    (void)state;
    buf bytes = read_real_session();
    char id[CARDBOX_UUID_SIZE], target[CARDBOX_UUID_SIZE];
    uint64_t dice = 3;
    size_t lines = 0, part_len = 0;

    if (bytes.len == 0)
        return;
    new_id(id);
    while (lines < 11)
        lines += buf_str(&bytes)[part_len++] == '\n';
    import(id, (slice){buf_str(&bytes), part_len});
    choose(target, id, &dice);
    append(id, target, true);
    import(id, buf_as_slice(&bytes));
    check_round(id, NULL);
    buf_free(&bytes);
}

/* A file of many parts that grew, with something appended elsewhere before each time: a part goes
 * on where the part before it ends, which is not the last entry of the session. */
static void test_parts_of_a_file(void **state)
{
    (void)state;
    enum { PART = 4000 };
    char id[CARDBOX_UUID_SIZE], first[CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_counts counts;
    buf bytes = BUF_INIT(1 << 20);
    uint64_t dice = 1;
    unsigned lines = 0;

    new_id(id);
    for (unsigned size = PART / 2; size <= 2 * PART + PART / 2; size += PART / 2) {
        for (; lines < size; lines++)
            buf_printf(&bytes, "{\"type\":\"custom\",\"n\":%u}\n", lines);
        import(id, buf_as_slice(&bytes));
        if (size == PART / 2)
            choose(first, id, &dice);
        append(id, first, false);
    }
    assert_ok(cardbox_session_count(&counts, db, T, id, &err), &err);
    assert_int_equal(counts.roots, 1);
    assert_int_equal(counts.branch_points, 1); /* all that was appended hangs on one entry */
    assert_int_equal(counts.max_depth, lines - 1);
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_real_session),
        cmocka_unit_test(test_parts_of_a_file),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}

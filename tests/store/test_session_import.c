/*
 * Session files into the database and back: byte for byte, whatever is in them; the same tree as
 * the pure reader of a whole file makes; the same file again, and longer versions of it.
 */
#include "store/store_test.h"
#include "model/session/file.h"
#include "unit/session_test.h"

#define T "session-imports"

static const cardbox_import_options FORCE = {sizeof(FORCE), true, false, NULL};

static const char *new_id(void)
{
    static char id[CARDBOX_UUID_SIZE];

    cardbox_uuid7(id);
    return id;
}

/* Gives a file in pieces of odd sizes. */
typedef struct source {
    slice rest;
    size_t piece;
} source;

static ptrdiff_t give(void *arg, char *to, size_t room)
{
    source *from = arg;
    size_t len = from->rest.len < from->piece ? from->rest.len : from->piece;

    len = len < room ? len : room;
    if (len > 0)
        memcpy(to, from->rest.ptr, len);
    from->rest = (slice){from->rest.ptr + len, from->rest.len - len};
    return (ptrdiff_t)len;
}

static cardbox_session_report *import(const char *id, slice bytes, size_t piece)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_report *report = NULL;
    source from = {bytes, piece};

    cardbox_status status = cardbox_session_import(&report, db, T, id, NULL, give, &from, &err);
    if (status == CARDBOX_INVALID) { /* a file without an entry at its beginning */
        from = (source){bytes, piece};
        status = cardbox_session_import(&report, db, T, id, &FORCE, give, &from, &err);
    }
    assert_ok(status, &err);
    return report;
}

static void assert_exports(const char *id, slice bytes)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf out = BUF_INIT((size_t)1 << 28);

    assert_ok(cardbox_session_export(db, T, id, NULL, add_piece, &out, &err), &err);
    if (out.len != bytes.len || memcmp(buf_str(&out), bytes.ptr, bytes.len) != 0)
        fail_msg("imported:\n%.*s\nexported:\n%.*s", (int)bytes.len, bytes.ptr, (int)out.len,
                 buf_str(&out));
    buf_free(&out);
}

static void assert_counts(const char *id, const session_tree *tree, slice bytes)
{
    cardbox_session_counts counts;
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_ok(cardbox_session_count(&counts, db, T, id, &err), &err);
    if (counts.entries != tree->in_tree || counts.roots != tree->roots ||
        counts.leaves != tree->leaves || counts.branch_points != tree->branch_points ||
        counts.dangling_parents != tree->dangling + tree->cycles)
        fail_msg(
            "%d entries, %d roots, %d leaves, %d branch points, %d dangling, not %u, %u, %u, %u, "
            "%u, of\n%.*s",
            (int)counts.entries, (int)counts.roots, (int)counts.leaves, (int)counts.branch_points,
            (int)counts.dangling_parents, tree->in_tree, tree->roots, tree->leaves,
            tree->branch_points, tree->dangling, (int)bytes.len, bytes.ptr);
    assert_int_equal(counts.max_depth, tree->depth_max);
}

static void assert_entry(const cardbox_entry *entry, const session_tree *tree)
{
    uint32_t at = session_tree_find(tree, slice_of(entry->entry_id));

    assert_true(at != STRING_MAP_NONE);
    const session_node *node = &tree->nodes[at];
    assert_int_equal(entry->depth, node->depth);
    assert_int_equal(entry->line, tree->entries[at].line - 1);
    if (node->parent == STRING_MAP_NONE) {
        assert_null(entry->parent_id);
        assert_int_equal(entry->missing_parent != NULL, node->is_dangling || node->is_cycle);
    } else {
        assert_true(slice_equal(slice_of(entry->parent_id), tree->entries[node->parent].id));
    }
}

/* What is stored is the tree that the whole file's reader makes. */
static void assert_tree(const char *id, slice bytes)
{
    session_file file;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_entries *page = NULL;
    cardbox_sessions *got = NULL;
    cardbox_entry_page want = CARDBOX_ENTRY_PAGE_INIT;

    assert_true(session_file_read(&file, bytes));
    assert_counts(id, &file.tree, bytes);
    want.limit = CARDBOX_PAGE_MAX;
    assert_ok(cardbox_session_entries(&page, db, T, id, CARDBOX_ENTRIES_ALL, &want, &err), &err);
    for (size_t i = 0; i < cardbox_entries_count(page); i++)
        assert_entry(cardbox_entries_at(page, i), &file.tree);
    cardbox_entries_free(page);
    assert_ok(cardbox_session_get(&got, db, T, id, &err), &err);
    const char *head = cardbox_sessions_at(got, 0)->head_entry_id;
    if (file.tree.leaf == STRING_MAP_NONE)
        assert_null(head);
    else
        assert_true(slice_equal(slice_of(head), file.entries[file.tree.leaf].id));
    cardbox_sessions_free(got);
    for (uint32_t i = 0; i < file.tree.count; i += 7) {
        if (file.tree.nodes[i].state != SESSION_IN_TREE)
            continue;
        char leaf[600];
        snprintf(leaf, sizeof(leaf), "%.*s", (int)file.entries[i].id.len, file.entries[i].id.ptr);
        assert_ok(cardbox_session_path(&page, db, T, id, leaf, 0, 0, false, &err), &err);
        assert_int_equal(cardbox_entries_count(page), file.tree.nodes[i].depth + 1);
        uint32_t at = i;
        for (size_t k = cardbox_entries_count(page); k > 0; k--, at = file.tree.nodes[at].parent)
            assert_true(slice_equal(slice_of(cardbox_entries_at(page, k - 1)->entry_id),
                                    file.entries[at].id));
        cardbox_entries_free(page);
    }
    session_file_free(&file);
}

/* What is said of lines is what the whole file's reader says of them. */
static void assert_issues(const cardbox_session_report *report, slice bytes)
{
    const char *said = strstr(cardbox_session_report_json(report), "\"issues\":");
    session_file file;
    buf out = BUF_INIT((size_t)1 << 28);

    assert_true(session_file_read(&file, bytes));
    session_report_json(&out, &file.report);
    if (said == NULL || strcmp(said, strstr(buf_str(&out), "\"issues\":")) != 0)
        fail_msg("%s\nis not as in\n%s", said, buf_str(&out));
    session_file_free(&file);
    buf_free(&out);
}

/* Imports, and then again: nothing is written. */
static void check_file(slice bytes, size_t piece)
{
    const char *id = new_id();
    cardbox_session_report *report = import(id, bytes, piece);

    assert_issues(report, bytes);
    cardbox_session_report_free(report);
    assert_exports(id, bytes);
    assert_tree(id, bytes);
    report = import(id, bytes, piece + 1);
    if (strstr(cardbox_session_report_json(report), "\"changed\":false") == NULL)
        fail_msg("the same file again: %s\n%.*s", cardbox_session_report_json(report),
                 (int)bytes.len, bytes.ptr);
    assert_non_null(strstr(cardbox_session_report_json(report), "\"kept\":0,\"not_kept\":0"));
    assert_issues(report, bytes);
    cardbox_session_report_free(report);
    assert_exports(id, bytes);
}

/* A part first, up to any byte, and then all of it. */
static void check_longer(slice bytes, size_t cut)
{
    const char *id = new_id();

    cardbox_session_report_free(import(id, (slice){bytes.ptr, cut}, 1 << 16));
    assert_exports(id, (slice){bytes.ptr, cut});
    cardbox_session_report *report = import(id, bytes, 1 << 16);
    assert_issues(report, bytes);
    cardbox_session_report_free(report);
    assert_exports(id, bytes);
    assert_tree(id, bytes);
}

#define FILE_OF(literal)                                                                           \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const slice ODD[] = {
    FILE_OF(""),
    FILE_OF("\n"),
    FILE_OF("\n\n  \n"),
    FILE_OF("nothing of the kind"),
    FILE_OF("\0\1\2\xff\xfe\n\0\0\n"),
    FILE_OF("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}"),
    FILE_OF("\xEF\xBB\xBF{\"type\":\"session\",\"id\":\"s\"}\r\n{\"id\":\"a\",\"type\":\"custom\"}"
            "\r\n"),
    FILE_OF("{\"id\":\"a\",\"type\":\"user\"}"),
    FILE_OF("{\"id\":\"a\",\"type\":\"user\"}\n{\"id\":\"b\",\"parentId\":\"a\",\"ty"),
    FILE_OF("{\"id\":\"a\",\"type\":\"user\"} \n\0\0{\"id\":\"b\",\"parentId\":\"a\"}\0\n"),
    FILE_OF(
        "{\"id\":\"a\",\"type\":\"user\",\"content\":\"\\u0000\\ud800\",\"n\":1e400,\"n\":1.10}\n"),
    FILE_OF("{\"id\":\"a\"}\n{\"id\":\"a\"}\n{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"parentId\":"
            "\"a\"}\n"),
    FILE_OF("{\"id\":\"a\",\"parentId\":\"a\"}\n{\"id\":\"b\",\"parentId\":\"a\"}\n"),
    FILE_OF("{\"id\":\"a\",\"parentId\":\"b\"}\n{\"id\":\"b\",\"parentId\":\"a\"}\n{\"id\":\"c\","
            "\"parentId\":\"b\"}\n"),
    FILE_OF(
        "{\"id\":\"c\",\"parentId\":\"b\"}\n{\"id\":\"b\",\"parentId\":\"a\"}\n{\"id\":\"a\"}\n"),
    FILE_OF("{\"id\":\"a\",\"parentId\":5}\n{\"id\":\"b\",\"parentId\":\"gone\"}\n[]\n{\"x\":1}\n{"
            "\"id\":7,\"type\":\"user\"}\n"),
    FILE_OF("{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"message\",\"message\":{\"role\":"
            "\"user\",\"content\":\"x\"}}\n"
            "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"y\"}}\nbad\n{"
            "\"type\":\"custom\"}\n"),
    FILE_OF("\n{\"type\":\"session\",\"id\":\"s\"}\n{\"id\":\"a\",\"type\":\"custom\"}\n{\"type\":"
            "\"session\",\"id\":\"t\"}\n"
            "{\"id\":\"b\",\"type\":\"custom\",\"parentId\":\"a\"}\n\r\n"),
};

static void test_odd_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ODD) / sizeof(ODD[0]); i++) {
        check_file(ODD[i], 3);
        for (size_t cut = 0; cut < ODD[i].len; cut += (size_t)test_times(1, 7))
            check_longer(ODD[i], cut);
    }
}

/* A file with some of everything, of ids that meet often. */
static void put_file(buf *out, uint64_t *dice)
{
    unsigned lines = roll(dice, 30), ids = 3 + roll(dice, 40);
    static const char *const ENDS[] = {"\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n"};
    static const char *const BAD[] = {"{", "nonsense", "[1]", "", "{\"a\":1}", "\xff"};

    if (roll(dice, 3) == 0)
        buf_text(out, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
    for (unsigned i = 0; i < lines; i++) {
        unsigned kind = roll(dice, 12);
        if (kind == 0)
            buf_text(out, BAD[roll(dice, 6)]);
        else if (kind == 1)
            buf_printf(out, "{\"type\":\"custom\",\"x\":%u}", roll(dice, 3));
        else if (kind <= 4)
            buf_printf(out, "{\"id\":\"n%u\",\"parentId\":\"n%u\"}", roll(dice, ids),
                       roll(dice, ids));
        else
            buf_printf(out, "{\"id\":\"m%u\",\"parentId\":\"m%u\",\"type\":\"user\"}", i,
                       i > 0 ? i - 1 - roll(dice, i < 4 ? i : 4) : 99);
        buf_text(out, i + 1 == lines && roll(dice, 2) ? "" : ENDS[roll(dice, 7)]);
    }
}

static void test_any_file(void **state)
{
    (void)state;
    uint64_t dice = 4711;

    for (int i = 0; i < test_times(150, 20); i++) {
        buf bytes = BUF_INIT(1 << 20);
        put_file(&bytes, &dice);
        check_file(buf_as_slice(&bytes), 1 + roll(&dice, 100));
        check_longer(buf_as_slice(&bytes), bytes.len == 0 ? 0 : roll(&dice, (unsigned)bytes.len));
        buf_free(&bytes);
    }
}

/* Entries appended since follow; the file that was imported is still a beginning of the session. */
static void test_appended_since(void **state)
{
    (void)state;
    const char *id = new_id(),
               *entry = "{\"id\":\"n\",\"parentId\":\"a\",\"type\":\"user\",\"content\":\"x\"}";
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_report *report = NULL;
    slice first = SLICE("{\"id\":\"a\",\"type\":\"user\"}");
    slice other =
        SLICE("{\"id\":\"a\",\"type\":\"user\"}\nbad\n{\"id\":\"z\",\"parentId\":\"a\"}\n");

    cardbox_session_report_free(import(id, first, 100));
    assert_ok(cardbox_session_append(NULL, db, T, id, &entry, 1, NULL, &err), &err);
    assert_exports(
        id, SLICE("{\"id\":\"a\",\"type\":\"user\"}\n"
                  "{\"id\":\"n\",\"parentId\":\"a\",\"type\":\"user\",\"content\":\"x\"}\n"));
    report = import(id, first, 100);
    assert_non_null(strstr(cardbox_session_report_json(report), "\"changed\":false"));
    cardbox_session_report_free(report);
    report = import(id, other, 100);
    assert_int_equal(cardbox_session_report_counts(report).appended, 1);
    cardbox_session_report_free(report);
}

/* A file of another session is none of this one's, unless somebody says so. */
static void test_other_files(void **state)
{
    (void)state;
    const char *id = new_id();
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_report *report = NULL;
    slice first =
        SLICE("{\"type\":\"session\",\"id\":\"x\"}\n{\"type\":\"custom\",\"id\":\"a\"}\n");
    const slice others[] = {
        SLICE("{\"type\":\"session\",\"id\":\"y\"}\n{\"type\":\"custom\",\"id\":\"b\"}\nbad\n"),
        SLICE("{\"id\":\"c\",\"type\":\"user\"}\n"),
    };

    cardbox_session_report_free(import(id, first, 100));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            cardbox_session_import_bytes(NULL, db, T, id, NULL, others[i].ptr, others[i].len, &err),
            CARDBOX_CONFLICT);
    assert_exports(id, first);
    assert_ok(cardbox_session_import_bytes(&report, db, T, id, &FORCE, others[0].ptr, others[0].len,
                                           &err),
              &err);
    assert_int_equal(cardbox_session_report_counts(report).appended, 1);
    assert_int_equal(cardbox_session_report_counts(report).not_kept, 2);
    const char *json = cardbox_session_report_json(report);
    assert_non_null(strstr(json, "{\"line\":1,\"kind\":\"not_kept\""));
    assert_non_null(strstr(json, "{\"line\":3,\"kind\":\"not_kept\""));
    cardbox_session_report_free(report);
}

/* A reader that changes the session at a place of the file: the parts before it are written. */
typedef struct meanwhile {
    source from;
    const char *id;
    size_t left;  /* it happens where no more than these are left; 0: it has */
    bool deletes; /* the session */
    slice file;   /* is imported then; ptr NULL: none */
} meanwhile;

static ptrdiff_t give_meanwhile(void *arg, char *to, size_t room)
{
    meanwhile *reader = arg;
    cardbox_session_options again = CARDBOX_SESSION_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;

    if (reader->from.rest.len <= reader->left) {
        reader->left = 0;
        if (reader->deletes)
            assert_ok(cardbox_session_delete(db, T, reader->id, &err), &err);
        again.restore = true;
        if (reader->deletes && reader->file.ptr != NULL)
            assert_ok(cardbox_session_create(NULL, db, T, reader->id, &again, &err), &err);
        if (reader->file.ptr != NULL)
            cardbox_session_report_free(import(reader->id, reader->file, 100));
        reader->file.ptr = NULL;
        reader->deletes = false;
    }
    return give(&reader->from, to, room);
}

/* The other file is imported before any line of the first was written. An import is not of two
 * sessions, and the lines at a file's end make no new session. */
static void test_meanwhile(void **state)
{
    (void)state;
    enum { LINES = 12000, LINE = 700, PART = 1024 * 1024 };
    buf bytes = BUF_INIT((size_t)1 << 28);
    slice small =
        SLICE("{\"type\":\"session\",\"id\":\"y\"}\n{\"type\":\"custom\",\"id\":\"b\"}\n");
    slice plain = SLICE("{\"type\":\"user\",\"id\":\"b\"}\n");
    const struct {
        bool force, deletes;
        int parts;
        slice file;
        const char *why; /* NULL: it is imported */
    } cases[] = {
        {false, false, 0, small, "header has another id"},
        {false, false, 0, plain, "dialect is plain"},
        {true, false, 0, small, NULL},
        {false, true, 1, {NULL, 0}, "was deleted while"},
        {true, true, 1, small, "was deleted while"},
        {false, false, 1, {NULL, 0}, NULL},
    };

    buf_text(&bytes, "{\"type\":\"session\",\"id\":\"x\"}\n");
    for (int i = 0; i < LINES; i++)
        buf_printf(&bytes,
                   "{\"id\":\"e%d\",\"parentId\":null,\"type\":\"custom\",\"x\":\"%0*d\"}\n", i,
                   LINE, i);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *id = new_id();
        cardbox_error err = CARDBOX_ERROR_INIT;
        meanwhile reader = {{buf_as_slice(&bytes), SIZE_MAX},
                            id,
                            bytes.len - (size_t)cases[i].parts * PART,
                            cases[i].deletes,
                            cases[i].file};
        cardbox_status status = cardbox_session_import(
            NULL, db, T, id, cases[i].force ? &FORCE : NULL, give_meanwhile, &reader, &err);

        assert_int_equal(status, cases[i].why == NULL ? CARDBOX_OK : CARDBOX_CONFLICT);
        if (cases[i].why != NULL)
            assert_non_null(strstr(err.message, cases[i].why));
        if (cases[i].why != NULL && cases[i].file.ptr != NULL)
            assert_exports(id, cases[i].file);
        else if (cases[i].why != NULL)
            assert_int_equal(cardbox_session_export(db, T, id, NULL, add_piece, &bytes, &err),
                             CARDBOX_NOT_FOUND);
    }
    buf_free(&bytes);
}

static void test_names(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_report *report = NULL;
    char file[200];
    const char *id = new_id();

    snprintf(file, sizeof(file), "{\"type\":\"session\",\"id\":\"%s\"}\n{\"type\":\"custom\"}\n",
             id);
    assert_ok(cardbox_session_import_bytes(&report, db, T, NULL, NULL, file, strlen(file), &err),
              &err);
    assert_string_equal(cardbox_session_report_id(report), id);
    cardbox_session_report_free(report);
    assert_exports(id, slice_of(file));
    assert_int_equal(
        cardbox_session_import_bytes(NULL, db, T, NULL, NULL, "{\"id\":\"a\"}", 10, &err),
        CARDBOX_INVALID);
}

static void test_real_session(void **state)
{
    (void)state;
    buf bytes = read_real_session();
    const char *id = new_id();

    if (bytes.len == 0)
        return;
    cardbox_session_report *report = import(id, buf_as_slice(&bytes), 4096);
    assert_int_equal(cardbox_session_report_counts(report).appended, 1018);
    assert_int_equal(cardbox_session_report_counts(report).issues, 0);
    cardbox_session_report_free(report);
    check_longer(buf_as_slice(&bytes), 500000);
    assert_exports(id, buf_as_slice(&bytes));
    buf_free(&bytes);
}

/* Lines of 50 MB go through; one that is over the limit is reported, and the others are imported.
 */
static void test_long_lines(void **state)
{
    (void)state;
    const size_t sizes[] = {(size_t)test_times(50000000, 5000000), 70000000};
    cardbox_session_report *report = NULL;

    for (size_t i = 0; i < (size_t)test_times(2, 1); i++) {
        buf bytes = BUF_INIT((size_t)1 << 28);
        const char *id = new_id();
        buf_text(&bytes, "{\"id\":\"a\",\"type\":\"metadata\"}\n"
                         "{\"id\":\"b\",\"parentId\":\"a\",\"type\":\"user\",\"content\":\"");
        assert_true(buf_reserve(&bytes, sizes[i] + 100));
        for (size_t at = 0; at < sizes[i]; at += 100)
            buf_printf(&bytes, "%0100zu", at);
        buf_text(&bytes, "\"}\n{\"id\":\"c\",\"parentId\":\"a\",\"type\":\"metadata\"}\n");
        report = import(id, buf_as_slice(&bytes), 1 << 20);
        if (i == 0)
            assert_exports(id, buf_as_slice(&bytes));
        assert_int_equal(cardbox_session_report_counts(report).appended, i == 0 ? 3 : 2);
        assert_int_equal(cardbox_session_report_counts(report).issues, i == 0 ? 0 : 1);
        cardbox_session_report_free(report);
        buf_free(&bytes);
    }
}

/* A reader that asks the same transaction, which has no other connection, and breaks off. */
typedef struct asking {
    source from;
    cardbox *tx;
    size_t most; /* bytes that it gives */
    int calls;
} asking;

static ptrdiff_t ask_and_give(void *arg, char *to, size_t room)
{
    asking *reader = arg;
    cardbox_error err = CARDBOX_ERROR_INIT;

    assert_ok(cardbox_ping(reader->tx, &err), &err);
    reader->calls++;
    if (reader->most == 0)
        return -1;
    ptrdiff_t given = give(&reader->from, to, room < reader->most ? room : reader->most);
    reader->most -= (size_t)given;
    return given;
}

/* A file of several parts. What has come of a file that breaks off is there, but for the lines at
 * its end that were not looked at; in a transaction all goes as it does alone. */
static void test_parts(void **state)
{
    (void)state;
    enum { LINES = 12000, LINE = 700 };
    const char *id = new_id();
    cardbox_session_report *report = NULL;
    cardbox_session_counts counts;
    cardbox_error err = CARDBOX_ERROR_INIT;
    buf bytes = BUF_INIT((size_t)1 << 28);
    cardbox *tx = NULL;
    session_file file;

    for (int i = 0; i < LINES; i++)
        buf_printf(&bytes,
                   "{\"id\":\"e%d\",\"parentId\":\"e%d\",\"type\":\"user\",\"x\":\"%0*d\"}\n", i,
                   i - 1 - i % 3, LINE, i);
    asking reader = {{buf_as_slice(&bytes), SIZE_MAX}, NULL, bytes.len * 9 / 10, 0};
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    reader.tx = tx;
    assert_int_equal(cardbox_session_import(NULL, tx, T, id, NULL, ask_and_give, &reader, &err),
                     CARDBOX_INVALID);
    assert_ok(cardbox_session_count(&counts, tx, T, id, &err), &err);
    assert_in_range(counts.entries, LINES / 2, LINES * 9 / 10);
    reader = (asking){{buf_as_slice(&bytes), SIZE_MAX}, tx, SIZE_MAX, 0};
    assert_ok(cardbox_session_import(&report, tx, T, id, NULL, ask_and_give, &reader, &err), &err);
    assert_true(reader.calls > 3);
    assert_int_equal(cardbox_session_report_counts(report).appended, LINES - counts.entries);
    assert_int_equal(cardbox_session_report_counts(report).unchanged, counts.entries);
    cardbox_session_report_free(report);
    assert_ok(cardbox_commit(tx, &err), &err);
    assert_exports(id, buf_as_slice(&bytes));
    assert_true(session_file_read(&file, buf_as_slice(&bytes)));
    assert_counts(id, &file.tree, SLICE(""));
    session_file_free(&file);
    buf_free(&bytes);
}

/* Files whose lines around the end of a batch repeat others, or say no id: where a batch ends can't
 * be seen in the tree. */
static void put_border_file(buf *out, uint64_t *dice)
{
    enum { BATCH = 4000 }; /* the importer's LINES_MAX */
    static const char *const LINES[] = {
        "{\"id\":\"a\"}",
        "{\"id\":\"a\",\"x\":1}",
        "{\"id\":\"b\",\"parentId\":\"a\"}",
        "{\"type\":\"custom\"}",
        "{\"type\":\"custom\",\"x\":1}",
        "{\"id\":\"r\",\"parentId\":\"r\"}",
        "{\"id\":\"a\",\"parentId\":\"a\"}",
    };
    unsigned kinds = roll(dice, 2) ? 7 : 5, before = roll(dice, 5);

    buf_text(out, "{\"id\":\"a\"}\n{\"id\":\"b\",\"parentId\":\"a\"}\n{\"id\":\"c\"}\n");
    for (unsigned i = 3; i < BATCH - before; i++)
        buf_char(out, '\n');
    for (unsigned i = 0; i < before + 4; i++) {
        if (roll(dice, 4) == 0)
            buf_printf(out, "{\"id\":\"n%u\",\"parentId\":\"c\"}\n", i);
        else
            buf_printf(out, "%s\n", LINES[roll(dice, kinds)]);
    }
}

static void test_borders(void **state)
{
    (void)state;
    uint64_t dice = 42;

    for (int i = 0; i < test_times(20, 4); i++) {
        buf bytes = BUF_INIT(1 << 20);
        put_border_file(&bytes, &dice);
        check_file(buf_as_slice(&bytes), 1 << 16);
        check_longer(buf_as_slice(&bytes), bytes.len - roll(&dice, 200));
        buf_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_files),      cmocka_unit_test(test_any_file),
        cmocka_unit_test(test_appended_since), cmocka_unit_test(test_names),
        cmocka_unit_test(test_real_session),   cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_meanwhile),      cmocka_unit_test(test_borders),
    };

    return cmocka_run_group_tests(tests, open_db, close_db);
}

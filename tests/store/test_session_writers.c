/*
 * Sixteen processes append to one session at once, and two of them are killed in the midst: no
 * entry is torn, lost or doubled, everything that was acknowledged is there, and the tree is sound.
 */
#include "store/store_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define T "session-writers"

enum { WRITERS = 16, KILLED = 2 };

/* Appends chains of its own, each entry after the one before; tells of each that was acknowledged.
 */
static void write_many(int number, const char *session, int out)
{
    cardbox *own = test_open(1);
    cardbox_error err = CARDBOX_ERROR_INIT;
    char json[300], parent[64] = "root";
    const char *entries[] = {json};

    for (int i = 0; number < KILLED || i < test_times(60, 15); i++) {
        char id[64];
        snprintf(id, sizeof(id), "w%d-%d", number, i);
        snprintf(json, sizeof(json),
                 "{\"id\":\"%s\",\"parentId\":\"%s\",\"type\":\"user\",\"content\":\"%0*d\"}", id,
                 parent, i % 100 + 1, i);
        if (cardbox_session_append(NULL, own, T, session, entries, 1, NULL, &err) != CARDBOX_OK)
            _exit(1);
        int said[2] = {number, i};
        if (write(out, said, sizeof(said)) != (ssize_t)sizeof(said))
            _exit(1);
        if (i % 7 != 6) /* now and then a branch */
            memcpy(parent, id, sizeof(parent));
    }
    _exit(0);
}

/* How many entries of each writer were acknowledged. */
static void listen_to(int in, int *acknowledged, const pid_t *pids)
{
    int said[2];

    while (read(in, said, sizeof(said)) == (ssize_t)sizeof(said)) {
        if (said[1] >= acknowledged[said[0]])
            acknowledged[said[0]] = said[1] + 1;
        if (said[0] < KILLED && said[1] == 9)
            kill(pids[said[0]], SIGKILL);
    }
}

static void check_entries(const char *session, const int *acknowledged)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_scan *scan = NULL;
    const cardbox_entry *entry = NULL;
    int seen[WRITERS] = {0};
    int64_t before = -1, entries = 0;

    assert_ok(cardbox_session_scan_new(&scan, db, T, session, CARDBOX_ENTRIES_ALL, 1000, &err),
              &err);
    for (;;) {
        int number, i;
        char end;
        assert_ok(cardbox_session_scan_next(&entry, scan, &err), &err);
        if (entry == NULL)
            break;
        entries++;
        assert_true(entry->line > before);
        before = entry->line;
        assert_int_equal(entry->json[strlen(entry->json) - 1], '}');
        if (strcmp(entry->entry_id, "root") == 0)
            continue;
        assert_int_equal(sscanf(entry->entry_id, "w%d-%d%c", &number, &i, &end), 2);
        assert_int_equal(i, seen[number]++); /* each once, in the writer's order */
        assert_non_null(entry->parent_id);
    }
    cardbox_session_scan_free(scan);
    for (int i = 0; i < WRITERS; i++)
        assert_true(seen[i] >= acknowledged[i] && seen[i] <= acknowledged[i] + 1);
    cardbox_session_counts counts;
    assert_ok(cardbox_session_count(&counts, db, T, session, &err), &err);
    assert_int_equal(counts.entries, entries);
    assert_int_equal(counts.roots, 1);
    assert_int_equal(counts.dangling_parents, 0);
}

/* Every leaf's path leads to the root, one entry deeper at a time, each the child of the one
 * before. */
static void check_paths(const char *session)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_session_scan *scan = NULL;
    const cardbox_entry *leaf = NULL;

    assert_ok(cardbox_session_scan_new(&scan, db, T, session, CARDBOX_ENTRIES_LEAVES, 0, &err),
              &err);
    for (;;) {
        cardbox_entries *path = NULL;
        assert_ok(cardbox_session_scan_next(&leaf, scan, &err), &err);
        if (leaf == NULL)
            break;
        assert_ok(cardbox_session_path(&path, db, T, session, leaf->entry_id, 0, 0, false, &err),
                  &err);
        assert_int_equal(cardbox_entries_count(path), leaf->depth + 1);
        for (size_t i = 1; i < cardbox_entries_count(path); i++)
            assert_string_equal(cardbox_entries_at(path, i)->parent_id,
                                cardbox_entries_at(path, i - 1)->entry_id);
        cardbox_entries_free(path);
    }
    cardbox_session_scan_free(scan);
}

static void writers(void **state)
{
    (void)state;
    const char *root[] = {"{\"id\":\"root\",\"type\":\"user\",\"content\":\"go\"}"};
    char session[CARDBOX_UUID_SIZE];
    int ends[2], acknowledged[WRITERS] = {0}, failed = 0;
    pid_t pids[WRITERS];
    cardbox_error err = CARDBOX_ERROR_INIT;

    cardbox_uuid7(session);
    assert_ok(cardbox_session_create(NULL, db, T, session, NULL, &err), &err);
    assert_ok(cardbox_session_append(NULL, db, T, session, root, 1, NULL, &err), &err);
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            close(ends[0]);
            write_many(i, session, ends[1]);
        }
    }
    close(ends[1]);
    listen_to(ends[0], acknowledged, pids);
    close(ends[0]);
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        waitpid(pids[i], &status, 0);
        failed +=
            i < KILLED ? !WIFSIGNALED(status) : !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    assert_int_equal(failed, 0);
    check_entries(session, acknowledged);
    check_paths(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(writers)};

    return cmocka_run_group_tests(tests, open_db, close_db);
}

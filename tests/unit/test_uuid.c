/*
 * test_uuid.c: UUIDs as text, in order of time, and from keys. What a clock that is set back does
 * is in test_uuid_clock.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <cardbox/ids.h>
#include "base/uuid.h"

static void reads_and_writes(void **state)
{
    static const unsigned char bytes[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF,
                                            0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10};
    char text[UUID_TEXT_SIZE];
    uuid16 id;

    (void)state;
    assert_true(uuid16_parse(&id, SLICE("01234567-89ab-CDEF-fEdC-ba9876543210")));
    assert_memory_equal(id.bytes, bytes, 16);
    uuid16_format(text, &id);
    assert_string_equal(text, "01234567-89ab-cdef-fedc-ba9876543210");
}

static void refuses_other_forms(void **state)
{
    static const char *const texts[] = {
        "",
        "0123456789abcdeffedcba9876543210",
        "{01234567-89ab-cdef-fedc-ba9876543210}",
        "urn:uuid:01234567-89ab-cdef-fedc-ba9876543210",
        "01234567-89ab-cdef-fedc-ba987654321",
        "01234567-89ab-cdef-fedc-ba98765432100",
        "01234567-89ab-cdef-fedc-ba987654321g",
        "01234567-89abc-def-fedc-ba9876543210",
        "01234567x89ab-cdef-fedc-ba9876543210",
        "0123456--89ab-cdef-fedc-ba9876543210",
        " 1234567-89ab-cdef-fedc-ba9876543210",
        "+1234567-89ab-cdef-fedc-ba9876543210",
        "0x234567-89ab-cdef-fedc-ba9876543210",
    };
    uuid16 id = {{7}};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (uuid16_parse(&id, slice_of(texts[i])))
            fail_msg("%s was taken", texts[i]);
    }
    assert_false(uuid16_parse(&id, SLICE("01234567-89ab-cdef-fedc-ba987654321\0")));
    assert_false(uuid16_parse(&id, (slice){NULL, 0}));
    assert_int_equal(id.bytes[0], 7);
}

static void the_public_form_checks_and_lowers(void **state)
{
    char out[CARDBOX_UUID_SIZE] = "untouched";

    (void)state;
    assert_false(cardbox_uuid_parse(out, NULL));
    assert_false(cardbox_uuid_parse(out, "no"));
    assert_string_equal(out, "untouched");
    assert_true(cardbox_uuid_parse(NULL, "01234567-89AB-CDEF-FEDC-BA9876543210"));
    assert_true(cardbox_uuid_parse(out, "01234567-89AB-CDEF-FEDC-BA9876543210"));
    assert_string_equal(out, "01234567-89ab-cdef-fedc-ba9876543210");
}

static int64_t realtime_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void new_ids_have_the_form_and_the_time(void **state)
{
    int64_t before = realtime_ms(), time = 0;
    uuid16 id;

    (void)state;
    uuid16_v7(&id);
    for (int i = 0; i < 6; i++)
        time = time << 8 | id.bytes[i];
    assert_in_range(time, before, realtime_ms() + 1);
    assert_int_equal(id.bytes[6] >> 4, 7);
    assert_int_equal(id.bytes[8] >> 6, 2);
}

enum { IDS = 20000, THREADS = 4 };

static void *make_ids(void *arg)
{
    uuid16 *ids = arg;

    for (int i = 0; i < IDS; i++)
        uuid16_v7(&ids[i]);
    return NULL;
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(uuid16));
}

static void ids_rise_in_every_thread_and_are_unique(void **state)
{
    uuid16 *ids = calloc((size_t)THREADS * IDS, sizeof(*ids));
    pthread_t threads[THREADS];

    (void)state;
    assert_non_null(ids);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_ids, ids + (ptrdiff_t)i * IDS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 1; i < THREADS * IDS; i++)
        assert_true(i % IDS == 0 || compare_ids(&ids[i - 1], &ids[i]) < 0);
    qsort(ids, (size_t)THREADS * IDS, sizeof(*ids), compare_ids);
    for (int i = 1; i < THREADS * IDS; i++) /* the time alone tells them apart */
        assert_true(memcmp(ids[i - 1].bytes, ids[i].bytes, 8) < 0);
    free(ids);
}

/* The last 62 bits are random, so a child does not repeat what its parent makes at that moment. */
static void a_child_makes_others(void **state)
{
    uuid16 ours, theirs;
    int ends[2];
    pid_t child;

    (void)state;
    uuid16_v7(&ours);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    uuid16_v7(&ours);
    if (child == 0)
        _exit(write(ends[1], &ours, sizeof(ours)) == (ssize_t)sizeof(ours) ? 0 : 1);
    assert_int_equal(read(ends[0], &theirs, sizeof(theirs)), sizeof(theirs));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_memory_not_equal(ours.bytes + 8, theirs.bytes + 8, 8);
    close(ends[0]);
    close(ends[1]);
}

static void the_public_ids_sort_as_text(void **state)
{
    char before[CARDBOX_UUID_SIZE], after[CARDBOX_UUID_SIZE];

    (void)state;
    cardbox_uuid7(before);
    for (int i = 0; i < 1000; i++) {
        cardbox_uuid7(after);
        assert_int_equal(strlen(after), 36);
        assert_true(strcmp(before, after) < 0);
        memcpy(before, after, sizeof(before));
    }
}

static void check_key(const char *key, const char *part, const char *wanted)
{
    char out[CARDBOX_UUID_SIZE];

    cardbox_uuid7_from_key(out, key, part);
    assert_string_equal(out, wanted);
}

/* Computed by other means, with SHA-1 from elsewhere. These may never change: ids of turns are
 * made of them. */
static void keys_give_the_same_ids_for_ever(void **state)
{
    (void)state;
    check_key("turn-1", "call", "96293af2-85d6-7343-85e3-53cead95e026");
    check_key("turn-1call", NULL, "3fa895f5-3c31-7f09-b47f-25b5fb44d8e5");
    check_key("turn-1call", "", "3fa895f5-3c31-7f09-b47f-25b5fb44d8e5");
    check_key(NULL, NULL, "ed24e128-20f2-7900-ae38-3b7cc4f2b31c");
    check_key("", "", "ed24e128-20f2-7900-ae38-3b7cc4f2b31c");
    check_key("01890a5d-ac96-774b-bcce-b302099a8057", "x", "01890a5d-ac96-7407-8c24-7dde9b8eabf6");
}

static void only_version_7_lends_its_time(void **state)
{
    char out[CARDBOX_UUID_SIZE];

    (void)state;
    cardbox_uuid7_from_key(out, "01890a5d-ac96-474b-bcce-b302099a8057", "x");
    assert_memory_not_equal(out, "01890a5d-ac96", 13);
    cardbox_uuid7_from_key(out, "01890a5d-ac96-774b-0cce-b302099a8057", "x");
    assert_memory_not_equal(out, "01890a5d-ac96", 13);
    cardbox_uuid7_from_key(out, "01890A5D-AC96-774b-bcce-b302099a8057", "x");
    assert_memory_equal(out, "01890a5d-ac96-7", 15);
}

static void long_keys_are_chained(void **state)
{
    char key[5001];

    (void)state;
    memset(key, 'k', sizeof(key));
    key[5000] = '\0';
    check_key(key, "p", "824f1b4a-5625-7b83-8d24-e9849bd3cba7");
    key[2047] = '\0';
    check_key(key, "", "a69abf75-a8b7-7256-8b23-10a8b08bd05d");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes),
        cmocka_unit_test(refuses_other_forms),
        cmocka_unit_test(the_public_form_checks_and_lowers),
        cmocka_unit_test(new_ids_have_the_form_and_the_time),
        cmocka_unit_test(ids_rise_in_every_thread_and_are_unique),
        cmocka_unit_test(a_child_makes_others),
        cmocka_unit_test(the_public_ids_sort_as_text),
        cmocka_unit_test(keys_give_the_same_ids_for_ever),
        cmocka_unit_test(only_version_7_lends_its_time),
        cmocka_unit_test(long_keys_are_chained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

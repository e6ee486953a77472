/*
 * test_cpus.c: the limit of CPU time, in files as cgroup v2 has them.
 */
#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "app/cpus.h"

static char root[] = "/tmp/cardbox-cpus-XXXXXX";

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) == NULL;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, and the folders on the way to it. */
static void put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof(whole), "%s/%s", root, path);
    for (char *at = strchr(whole + sizeof(root), '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static long limit_with(const char *membership)
{
    char path[256];
    put("membership", membership);
    snprintf(path, sizeof(path), "%s/membership", root);
    return cpus_of_cgroup(path, root);
}

static void limits(void **state)
{
    (void)state;
    put("a/b/cpu.max", "max 100000\n");
    assert_int_equal(limit_with("0::/a/b\n"), 0);
    put("a/cpu.max", "250000 100000\n");
    assert_int_equal(limit_with("0::/a/b\n"), 3);
    put("a/b/cpu.max", "50000 100000\n");
    assert_int_equal(limit_with("0::/a/b\n"), 1);
    put("a/b/cpu.max", "800000 100000\n");
    assert_int_equal(limit_with("0::/a/b\n"), 3);
    assert_int_equal(limit_with("3:cpu,cpuacct:/\n0::/a/b\n"), 3);
    assert_int_equal(limit_with("0::/\n"), 0);
    assert_int_equal(limit_with("0::/of/the/host\n"), 0);
    put("cpu.max", "400000 100000\n"); /* as a container sees its own */
    assert_int_equal(limit_with("0::/of/the/host\n"), 4);
    put("cpu.max", "max 100000\n");
}

static void odd_files(void **state)
{
    static const char *const ODD[] = {"", ":", "::", "0:", "0::", "x", "3:cpu", "3:cpu:", "\n\n"};
    (void)state;
    put("cpu.max", "");
    for (size_t i = 0; i < sizeof(ODD) / sizeof(ODD[0]); i++)
        assert_int_equal(limit_with(ODD[i]), 0);
    put("cpu.max", "1e9 0\n");
    assert_int_equal(limit_with("0::/"), 0);
    assert_int_equal(cpus_of_cgroup("/nowhere", root), 0);
}

static void affinity(void **state)
{
    cpu_set_t all, one;
    size_t first = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    assert_true(cpus_usable() <= CPU_COUNT(&all));
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(cpus_usable(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(odd_files),
        cmocka_unit_test(affinity),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}

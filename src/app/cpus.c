/*
 * cpus.c: reads the CPU affinity with sched_getaffinity, and limits from the files of cgroup v2.
 */
#include "app/cpus.h"
#include "app/line_reader.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MOST = 1 << 16, LINE_MOST = PATH_MAX + 128 };

/* The kernel rejects a cpu_set_t that is smaller than its own CPU mask, so larger sizes are tried.
 */
static long cpus_of_affinity(void)
{
    for (size_t most = CPU_SETSIZE; most <= CPUS_MOST; most *= 2) {
        cpu_set_t *set = CPU_ALLOC(most);
        size_t size = CPU_ALLOC_SIZE(most);
        if (set == NULL)
            return 1;
        long count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return 1;
}

/* --- the files --- */

/* The file cpu.max has a quota and a period: "150000 100000", or "max 100000" without a limit. */
static long limit_of_group(const char *root, const char *group)
{
    char path[2 * PATH_MAX + 128], line[64], *end;
    snprintf(path, sizeof(path), "%s%s/cpu.max", root, group);
    if (!line_reader_first(line, sizeof(line), path))
        return 0;
    long quota = strtol(line, &end, 10), period = strtol(end, NULL, 10);
    return quota <= 0 || period <= 0 ? 0 : (quota - 1) / period + 1;
}

static long lower(long one, long other)
{
    return one == 0 || (other > 0 && other < one) ? other : one;
}

static bool read_group(char out[LINE_MOST], const char *membership)
{
    char line[LINE_MOST];
    bool found = false;
    FILE *file = fopen(membership, "re");
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof(line), file) != NULL)
        found = strncmp(line, "0::/", 4) == 0;
    fclose(file);
    if (found)
        snprintf(out, LINE_MOST, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    return found;
}

/* The path in `membership` may be one of the host that does not exist in this container. So missing
 * files are skipped, and the parent folders are read too. */
long cpus_of_cgroup(const char *membership, const char *root)
{
    char group[LINE_MOST];
    if (!read_group(group, membership))
        return 0;
    for (long limit = 0;;) {
        limit = lower(limit, limit_of_group(root, group));
        char *last = strrchr(group, '/');
        if (last == NULL)
            return limit;
        *last = '\0';
    }
}

long cpus_usable(void)
{
    return lower(cpus_of_affinity(), cpus_of_cgroup("/proc/self/cgroup", "/sys/fs/cgroup"));
}

/*
 * cpus.c: reads the affinity from the scheduler, and limits from the files of cgroup v1 and v2.
 */
#include "app/cpus.h"
#include "app/line_reader.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MOST = 1 << 16, LINE_MOST = PATH_MAX + 128 };

/* The kernel refuses a set that is too small for the CPUs that it may have. */
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

/* The first line of a file. False: there is none. */
static bool read_line(char *out, size_t size, const char *folder, const char *name)
{
    char path[2 * PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return line_reader_first(out, size, path);
}

/* "max 100000" or "150000 100000". */
static long limit_of_v2(const char *folder)
{
    char line[64], *end;
    if (!read_line(line, sizeof(line), folder, "cpu.max"))
        return 0;
    long quota = strtol(line, &end, 10), period = strtol(end, NULL, 10);
    return quota <= 0 || period <= 0 ? 0 : (quota - 1) / period + 1;
}

static long limit_of_v1(const char *folder)
{
    char quota_line[64], period_line[64];
    if (!read_line(quota_line, sizeof(quota_line), folder, "cpu.cfs_quota_us") ||
        !read_line(period_line, sizeof(period_line), folder, "cpu.cfs_period_us"))
        return 0;
    long quota = strtol(quota_line, NULL, 10), period = strtol(period_line, NULL, 10);
    return quota <= 0 || period <= 0 ? 0 : (quota - 1) / period + 1;
}

static long lower(long one, long other)
{
    return one == 0 || (other > 0 && other < one) ? other : one;
}

/* The lowest limit of a group and of all above it. In a container the path may be that of the host
 * and not exist; the folders above it still apply. */
static long limit_of_groups(const char *root, const char *controller, const char *group,
                            long (*limit_of)(const char *folder))
{
    char folder[2 * PATH_MAX], path[PATH_MAX];
    long limit = 0;
    snprintf(path, sizeof(path), "%s", group);
    for (;;) {
        snprintf(folder, sizeof(folder), "%s%s%s", root, controller, path);
        limit = lower(limit, limit_of(folder));
        char *last = strrchr(path, '/');
        if (last == NULL)
            return limit;
        *last = '\0';
    }
}

/* True if a comma-separated list contains an item. */
static bool has_item(const char *list, const char *item)
{
    size_t length = strlen(item);
    for (const char *at = list; (at = strstr(at, item)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* A line is number:controllers:path; version 2 has number 0 and no controllers. */
static long limit_of_line(char *line, const char *root)
{
    char *controllers = strchr(line, ':');
    char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (path == NULL)
        return 0;
    *controllers++ = '\0';
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (controllers[0] == '\0')
        return limit_of_groups(root, "", path, limit_of_v2);
    if (!has_item(controllers, "cpu"))
        return 0;
    return limit_of_groups(root, "/cpu", path, limit_of_v1);
}

long cpus_of_cgroup(const char *membership, const char *root)
{
    char line[LINE_MOST];
    long limit = 0;
    FILE *file = fopen(membership, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL)
        limit = lower(limit, limit_of_line(line, root));
    fclose(file);
    return limit;
}

long cpus_usable(void)
{
    return lower(cpus_of_affinity(), cpus_of_cgroup("/proc/self/cgroup", "/sys/fs/cgroup"));
}

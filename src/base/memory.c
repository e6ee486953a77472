/*
 * memory.c: the resident set that the kernel reports, and the return of freed memory to the system.
 */
#include "base/memory.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEPT_BYTES = 4 * 1024 * 1024, ESTIMATE_PART = 4 };

size_t memory_resident(void)
{
    char line[128] = "", *second = line;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fgets(line, sizeof(line), file) != NULL) /* pages: size, resident, ... */
        strtoul(line, &second, 10);
    fclose(file);
    return strtoul(second, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

bool memory_is_used_up(const memory_budget *b)
{
    if (!memory_has(b, 0))
        return true;
    return b->resident_most > 0 && memory_used(b) >= b->most / ESTIMATE_PART &&
           memory_resident() > b->resident_most;
}

void memory_give_back(void)
{
    malloc_trim(KEPT_BYTES);
}

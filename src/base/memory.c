/*
 * memory.c: asks the C library's allocator. What was freed counts as free, also where the system
 * has not got it back: what comes next finds room there.
 */
#include "base/memory.h"
#include <malloc.h>

size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

size_t memory_spare(void)
{
    return mallinfo2().fordblks;
}

void memory_give_back(size_t keep)
{
    malloc_trim(keep);
}

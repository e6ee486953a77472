/*
 * memory.c: the C library's allocator.
 */
#include "base/memory.h"
#include <malloc.h>

enum { KEPT_BYTES = 4 * 1024 * 1024 };

void memory_give_back(void)
{
    malloc_trim(KEPT_BYTES);
}

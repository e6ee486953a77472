/*
 * memory.h: how much memory the process has in use. Knows nothing of what it is used for.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* Bytes that were allocated and not freed, by all threads. Takes some microseconds. 0 where the
 * allocator does not tell, such as that of a sanitizer. */
size_t memory_in_use(void);

#endif

/*
 * memory.h: how much memory the process has in use, and what it has and does not use. Knows nothing
 * of what it is used for.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* Bytes that were allocated and not freed, by all threads. Takes some microseconds. 0 where the
 * allocator does not tell, such as that of a sanitizer. */
size_t memory_in_use(void);

/* Bytes that were freed and may still be the process's; of some of them the system may know. */
size_t memory_spare(void);

/* Gives the spare memory back to the system, but for so many bytes at the end of the heap. Threads
 * that allocate may wait for it. */
void memory_give_back(size_t keep);

#endif

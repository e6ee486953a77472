/*
 * children.h: the kernel's list of a process's children. Knows nothing of who they are.
 */
#ifndef WORKER_CHILDREN_H
#define WORKER_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls `see` for the children of the calling process's first thread: its own, and the orphans that
 * came to the process as their subreaper. False: this kernel has no such list. */
bool children_each(void (*see)(void *arg, pid_t child), void *arg);

#endif

/*
 * tools_parts.h: what tools.c and tools_file.c share.
 */
#ifndef WORKER_TOOLS_PARTS_H
#define WORKER_TOOLS_PARTS_H

#include "worker/tools.h"

/* Adds a copy of a tool, whose name for the model it makes. False: `error` says why not. */
bool tools_put(tools *list, const tool *t, char *error, size_t size);

#endif

/*
 * project_tools.h: the tools for the tasks of one project: the tools of all projects, and the
 * registered abilities of the project that the worker allows.
 */
#ifndef WORKER_PROJECT_TOOLS_H
#define WORKER_PROJECT_TOOLS_H

#include "bus/registered.h"
#include "worker/tools/tools.h"

typedef struct project_tools {
    const tools *list;
    slice json; /* JSON array of the tools, for requests to the model */
    /* If the worker allows registered abilities: the memory of `list` and `json`. */
    struct project_tools_memory *memory;
} project_tools;

/* Sets `out` to the tools of a project. `all` are the tools of all projects, and `json` is their
 * JSON array; both must outlive `out`. Reads the database only if `all` allows registered
 * abilities. The caller frees `out` with project_tools_free, also after a failure. */
cardbox_status project_tools_load(project_tools *out, const tools *all, slice json, cardbox *db,
                                  slice project, cardbox_error *err);
void project_tools_free(project_tools *p);

#endif

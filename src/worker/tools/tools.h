/*
 * tools.h: what a model may call: abilities of the bus that were allowed, and the commands and URLs
 * of a tools file. One list gives each its name for the model, and finds it by that name again.
 * Knows how a tool is declared, not how it is run.
 */
#ifndef WORKER_TOOLS_H
#define WORKER_TOOLS_H

#include "base/arena.h"
#include "base/scan.h"

enum {
    TOOLS_MAX = 128,
    TOOL_OFFERED_MAX = 64, /* bytes of a name that OpenAI's API takes */
    TOOL_TIME_MS = 30 * 1000,
    TOOL_TIME_MS_MAX = 3600 * 1000,
    TOOL_OUTPUT = 64 * 1024,
    TOOL_OUTPUT_MAX = 16 * 1024 * 1024
};

typedef enum tool_kind { TOOL_COMMAND, TOOL_URL, TOOL_ABILITY } tool_kind;

typedef struct tool {
    tool_kind kind;
    const char *name;                   /* the ledger's and the operator's */
    char offered[TOOL_OFFERED_MAX + 1]; /* the model's: each ':' is "__" */
    const char *description;
    slice parameters;      /* a JSON Schema, as it was written but for white space */
    const char *unchecked; /* its keywords that calls are not checked by, with commas; "": none */
    char **argv;           /* of a command: argv[0] is a path; ended by NULL */
    const char *url;
    long time_ms;
    long output_max; /* bytes */
} tool;

typedef struct tools {
    tool at[TOOLS_MAX];
    size_t count;
    arena memory;
} tools;

void tools_init(tools *list);
void tools_free(tools *list);

/* Adds the tools that the text of a tools file declares: {"tools":[{"name","description",
 * "parameters","command"|"url","timeout_ms","output_max"}]}. A command without a '/' is looked up
 * in `path`, as in $PATH. False: `error` says what is wrong and where. */
bool tools_read(tools *list, slice text, const char *path, char *error, size_t size);

/* Adds a tool, whose texts the caller keeps, and makes its name for the model. False: `error` says
 * why not. */
bool tools_put(tools *list, const tool *t, char *error, size_t size);

/* Adds the abilities that a list with commas names. */
bool tools_allow(tools *list, const char *ids, char *error, size_t size);

/* Copies a schema without its white space into the memory of the list. An empty slice: no memory.
 */
slice tools_copy_schema(tools *list, slice schema);

/* Appends a name as models are told it: each ':' is "__". */
void tools_put_offered(buf *out, slice name);

/* The tool that was offered under this name; NULL: none was. */
const tool *tools_find(const tools *list, slice offered);

/* Appends the request's array of tools. */
void tools_offer(buf *out, const tools *list);

#endif

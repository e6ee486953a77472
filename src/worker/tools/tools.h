/*
 * tools.h: the list of tools that a model may call: allowed abilities, and the commands and URLs of
 * a tools file. Each tool has a name for the model's API. toolrun.h runs the tools, and
 * project_tools.h adds the registered abilities of a project.
 */
#ifndef WORKER_TOOLS_H
#define WORKER_TOOLS_H

#include "base/arena.h"
#include "base/scan.h"

enum {
    TOOLS_MAX = 128,
    TOOL_API_NAME_MAX = 64, /* maximum bytes of a name in OpenAI's API */
    TOOL_TIME_MS = 30 * 1000,
    TOOL_TIME_MS_MAX = 3600 * 1000,
    TOOL_OUTPUT = 64 * 1024,
    TOOL_OUTPUT_MAX = 16 * 1024 * 1024
};

typedef enum tool_kind { TOOL_COMMAND, TOOL_URL, TOOL_ABILITY, TOOL_REGISTERED } tool_kind;

struct registered_ability; /* bus/registered.h */

typedef struct tool {
    tool_kind kind;
    const char *name;                     /* name in the ledger */
    char api_name[TOOL_API_NAME_MAX + 1]; /* name in the model's API: ':' is replaced by "__" */
    const char *description;
    slice parameters;      /* a JSON Schema without white space */
    const char *unchecked; /* keywords of `parameters` that are not checked, for the log */
    char **argv;           /* for TOOL_COMMAND: arguments, then NULL; argv[0] is a path */
    const char *url;
    const struct registered_ability *definition; /* for TOOL_REGISTERED */
    long time_ms;
    long output_max; /* bytes */
} tool;

typedef struct tools {
    tool at[TOOLS_MAX];
    size_t count;
    slice allowed[TOOLS_MAX]; /* ids of allowed abilities that are not built in; they are no tools
                                 in this list, because each project may have registered them */
    size_t allowed_count;
    bool allows_private; /* registered abilities at addresses that are not public are called too */
    arena memory;
} tools;

void tools_init(tools *list);
void tools_free(tools *list);

/* Adds the tools of a tools file: {"tools":[{"name","description","parameters",
 * "command"|"url","timeout_ms","output_max"}]}. A program without a '/' is searched in `path`, a
 * list of folders like $PATH. Returns false on failure, with the reason in `error`. */
bool tools_read(tools *list, slice text, const char *path, char *error, size_t size);

/* Adds a copy of a tool and makes its name for the model's API. The texts of the tool are not
 * copied and must outlive the list. Returns false on failure, with the reason in `error`. */
bool tools_add(tools *list, const tool *t, char *error, size_t size);

/* Adds abilities: built-in ones as tools, and the ids of others to `allowed`. `ids` contains the
 * ids of the abilities, separated by commas, and must outlive the list. Returns false on failure,
 * with the reason in `error`. */
bool tools_add_abilities(tools *list, const char *ids, char *error, size_t size);

/* Copies a schema into the memory of the list, without the white space between tokens. If memory is
 * exhausted, the ptr of the result is NULL. */
slice tools_copy_schema(tools *list, slice schema);

/* Appends a tool's name for the model's API: ':' is replaced by "__". */
void tools_put_api_name(buf *out, slice name);

/* Returns the tool that has this name in the model's API; NULL: no tool has this name. */
const tool *tools_find(const tools *list, slice api_name);

/* Appends the JSON array of all tools, in the format for requests to the model. */
void tools_put_list(buf *out, const tools *list);

#endif

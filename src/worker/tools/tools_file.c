/*
 * tools_file.c: reads a tools file. Unknown and repeated members of a tool are errors. Messages
 * about a tool contain its index in the file, and its name if it has one. The schema of a tool is
 * copied as text, so that the numbers and the order of the members in the schema are unchanged.
 */
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/json_text.h"
#include "base/text.h"
#include "bus/schema/schema.h"
#include "outbound/net.h"
#include "worker/tools/tools.h"

enum { DEPTH_MAX = 64, PATH_SIZE = 4096, ARGUMENTS_MAX = 64, UNCHECKED_MAX = 4096 };

typedef struct reader {
    tools *list;
    const char *path;
    size_t number;    /* index of the current tool in the file */
    const char *name; /* name of the current tool; NULL: no name was read */
    char *error;
    size_t size;
} reader;

/* The members of a tool in the file, which json_unpack_ex fills in. NULL: the member is absent. */
typedef struct members {
    const char *name, *description, *url;
    json_t *parameters, *command, *time_ms, *output_max;
} members;

static bool refuse(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(reader *r, const char *format, ...)
{
    char what[300];
    va_list args;

    va_start(args, format);
    text_format(what, sizeof(what), format, args);
    va_end(args);
    format_line(r->error, r->size, "tools[%zu]%s%s%s: %s", r->number, r->name != NULL ? " \"" : "",
                r->name != NULL ? r->name : "", r->name != NULL ? "\"" : "", what);
    return false;
}

static char *copy(reader *r, const char *text)
{
    return arena_copy(&r->list->memory, slice_of(text));
}

/* --- limits, programs --- */

/* Reads an integer from 1 to `most`, which may be written as 5.0. If `value` is NULL, `out` is
 * unchanged. */
static bool read_limit(reader *r, long *out, const json_t *value, long most, const char *name)
{
    double number = json_number_value(value);

    if (value == NULL)
        return true;
    *out = number >= 1 && number <= (double)most ? (long)number : 0;
    return (*out > 0 && (double)*out == number) ||
           refuse(r, "\"%s\" must be an integer from 1 to %ld", name, most);
}

static bool is_program(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* Programs are searched only once, when the worker starts. */
static char *find_program(reader *r, const char *name)
{
    char full[PATH_SIZE];
    const char *from = r->path != NULL ? r->path : "";

    if (strchr(name, '/') != NULL)
        return is_program(name) ? copy(r, name) : NULL;
    while (name[0] != '\0' && *from != '\0') {
        size_t len = strcspn(from, ":");
        format_line(full, sizeof(full), "%.*s/%s", (int)len, from, name);
        if (len > 0 && is_program(full))
            return copy(r, full);
        from += len + (from[len] == ':');
    }
    return NULL;
}

static bool read_command(reader *r, tool *t, const json_t *command)
{
    size_t count = json_array_size(command), i;
    const json_t *word;

    if (count == 0 || count > ARGUMENTS_MAX)
        return refuse(r,
                      "\"command\" must be an array of 1 to %d strings: the program and its "
                      "arguments",
                      ARGUMENTS_MAX);
    t->kind = TOOL_COMMAND;
    t->argv = arena_zeros(&r->list->memory, count + 1, sizeof(char *));
    if (t->argv == NULL)
        return refuse(r, "out of memory");
    json_array_foreach (command, i, word) {
        if (!json_is_string(word))
            return refuse(r, "\"command\" must hold strings only");
        t->argv[i] =
            i == 0 ? find_program(r, json_string_value(word)) : copy(r, json_string_value(word));
    }
    if (r->list->memory.failed)
        return refuse(r, "out of memory");
    return t->argv[0] != NULL || refuse(r, "no program that can be run: %s",
                                        json_string_value(json_array_get(command, 0)));
}

/* --- schemas --- */

/* Returns the names as one text, for the log. */
static const char *join_names(reader *r, const schema_names *names)
{
    buf text = BUF_INIT(UNCHECKED_MAX);
    for (size_t i = 0; i < names->count; i++) {
        buf_text(&text, i == 0 ? "" : ", ");
        buf_slice(&text, names->name[i]);
    }
    const char *joined = copy(r, buf_ok(&text) ? buf_str(&text) : "many");
    buf_free(&text);
    return joined;
}

/* Checks and copies a tool's schema. `parameters` is the text of the schema in the file, and `read`
 * is the parsed schema; NULL: the tool has no schema. */
static bool read_schema(reader *r, tool *t, const json_t *read, slice parameters)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    schema_names unchecked = {.count = 0};
    const char *type = json_string_value(json_object_get(read, "type"));

    if (read == NULL)
        parameters = SLICE("{\"type\":\"object\"}");
    else if (type == NULL || strcmp(type, "object") != 0)
        return refuse(r, "\"parameters\" must be a JSON Schema of type \"object\"");
    cardbox_status status = schema_check(&unchecked, parameters, &err);
    t->parameters = tools_copy_schema(r->list, parameters);
    t->unchecked = join_names(r, &unchecked);
    if (t->parameters.ptr == NULL)
        return refuse(r, "out of memory");
    return status == CARDBOX_OK || refuse(r, "\"parameters\": %s", err.message);
}

/* --- a tool --- */

static bool fill_tool(reader *r, tool *t, const members *m, slice parameters)
{
    t->name = copy(r, m->name);
    t->description = copy(r, m->description);
    if ((m->command == NULL) == (m->url == NULL))
        return refuse(r, "give either \"command\" or \"url\"");
    if (m->url != NULL) {
        if (!net_is_url(m->url, true))
            return refuse(r, "\"url\" must be an http:// or https:// URL");
        t->kind = TOOL_URL;
        t->url = copy(r, m->url);
    }
    return read_schema(r, t, m->parameters, parameters) &&
           read_limit(r, &t->time_ms, m->time_ms, TOOL_TIME_MS_MAX, "timeout_ms") &&
           read_limit(r, &t->output_max, m->output_max, TOOL_OUTPUT_MAX, "output_max") &&
           (m->command == NULL || read_command(r, t, m->command));
}

static bool read_tool(reader *r, json_t *object, slice text)
{
    json_error_t error;
    char why[256];
    tool t = {.time_ms = TOOL_TIME_MS, .output_max = TOOL_OUTPUT};
    members m = {.name = NULL};

    r->name = json_string_value(json_object_get(object, "name"));
    if (json_unpack_ex(object, &error, JSON_STRICT, "{s:s, s:s, s?s, s?o, s?o, s?o, s?o}", "name",
                       &m.name, "description", &m.description, "url", &m.url, "parameters",
                       &m.parameters, "command", &m.command, "timeout_ms", &m.time_ms, "output_max",
                       &m.output_max) != 0)
        return refuse(r, "%s (\"name\", \"description\" and \"url\" are strings)", error.text);
    slice parameters = scan_find(scan_whole(text), "parameters").text;
    if (!fill_tool(r, &t, &m, parameters))
        return false;
    if (r->list->memory.failed)
        return refuse(r, "out of memory");
    return tools_add(r->list, &t, why, sizeof(why)) || refuse(r, "%s", why);
}

/* Reads {"tools":[...]}. Members other than "tools" are errors, because a later version may give
 * them a meaning. */
static bool read_tools(reader *r, json_t *whole, slice text)
{
    json_error_t error;
    json_t *array;
    scan_value element;

    if (json_unpack_ex(whole, &error, JSON_STRICT, "{s:o}", "tools", &array) != 0 ||
        !json_is_array(array))
        return format_reason(r->error, r->size,
                             "it must be an object with one member, \"tools\", that is an array");
    scan_walk walk = scan_enter(scan_find(scan_whole(text), "tools"));
    for (r->number = 0; scan_element(&walk, &element); r->number++)
        if (!read_tool(r, json_array_get(array, r->number), element.text))
            return false;
    return true;
}

bool tools_read(tools *list, slice text, const char *path, char *error, size_t size)
{
    json_error_t fault;
    scan_error deep = {.message = ""};
    reader r = {.list = list, .path = path, .error = error, .size = size};
    json_t *whole = json_text_read(text, JSON_REJECT_DUPLICATES, &fault);
    bool is_good = whole != NULL && scan_check(text, DEPTH_MAX, NULL, NULL, &deep);

    if (is_good)
        is_good = read_tools(&r, whole, text);
    else if (whole != NULL)
        format_line(error, size, "not valid JSON: %s at byte %zu", deep.message, deep.position);
    else
        format_line(error, size, "not valid JSON: %s at line %d, column %d", fault.text, fault.line,
                    fault.column);
    json_decref(whole);
    return is_good;
}

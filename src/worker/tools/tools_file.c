/*
 * tools_file.c: the strict reader of a tools file: each member by a table, anything else refused,
 * and the place named.
 */
#include <sys/stat.h>
#include <unistd.h>
#include "bus/schema/schema.h"
#include "worker/model/net.h"
#include "worker/format_line.h"
#include "worker/tools/tools.h"

enum { DEPTH_MAX = 64, PATH_SIZE = 4096, ARGUMENTS_MAX = 64 };

/* Where the reader is. */
typedef struct reader {
    tools *list;
    const char *path;
    size_t number;    /* of the tool in the file, from 0 */
    const char *name; /* its name, once known */
    char *error;
    size_t size;
} reader;

typedef bool (*member_reader)(reader *r, tool *t, scan_value value);

static bool refuse(reader *r, const char *what, const char *detail)
{
    format_line(r->error, r->size, "tools[%zu]%s%s%s: %s%s", r->number,
                r->name != NULL ? " \"" : "", r->name != NULL ? r->name : "",
                r->name != NULL ? "\"" : "", what, detail);
    return false;
}

/* A string as C has it. NULL: it is none, or says NUL or half a character. */
static char *take_text(reader *r, scan_value value)
{
    buf text = BUF_INIT(value.text.len);
    char *copy = NULL;

    if (value.kind == SCAN_STRING && scan_decode(&text, value.text))
        copy = arena_copy(&r->list->memory, buf_as_view(&text));
    buf_free(&text);
    return copy;
}

/* --- members --- */

static bool read_name(reader *r, tool *t, scan_value value)
{
    t->name = take_text(r, value);
    return t->name != NULL || refuse(r, "\"name\" must be a string", "");
}

static bool read_description(reader *r, tool *t, scan_value value)
{
    t->description = value.text;
    return value.kind == SCAN_STRING || refuse(r, "\"description\" must be a string", "");
}

static bool read_parameters(reader *r, tool *t, scan_value value)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    scan_value type =
        value.kind == SCAN_OBJECT ? scan_find(value, "type") : (scan_value){SCAN_NONE, {NULL, 0}};

    t->parameters = value.text;
    if (value.kind == SCAN_OBJECT && schema_check(value.text, &err) != CARDBOX_OK)
        return refuse(r, "\"parameters\": ", err.message);
    return (type.kind == SCAN_STRING && scan_string_is(type.text, VIEW("object"))) ||
           refuse(r, "\"parameters\" must be a JSON Schema of type \"object\"", "");
}

static bool read_number(reader *r, long *out, scan_value value, long most, const char *what)
{
    int64_t number = 0;
    bool good = value.kind == SCAN_NUMBER && scan_integer(value.text, &number) && number >= 1 &&
                number <= most;

    *out = (long)number;
    return good || refuse(r, what, "");
}

static bool read_time(reader *r, tool *t, scan_value value)
{
    return read_number(r, &t->time_ms, value, TOOL_TIME_MS_MAX,
                       "\"timeout_ms\" must be an integer from 1 to 3600000");
}

static bool read_output_max(reader *r, tool *t, scan_value value)
{
    return read_number(r, &t->output_max, value, TOOL_OUTPUT_MAX,
                       "\"output_max\" must be an integer from 1 to 16777216, in bytes");
}

static bool read_url(reader *r, tool *t, scan_value value)
{
    t->url = take_text(r, value);
    t->kind = TOOL_URL;
    return (t->url != NULL && net_is_url(t->url)) ||
           refuse(r, "\"url\" must be an http:// or https:// URL", "");
}

static bool is_program(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* Where the program is, found once and before anything runs. NULL: nowhere. */
static char *find_program(reader *r, char *name)
{
    char full[PATH_SIZE];
    const char *from = r->path != NULL ? r->path : "";

    if (strchr(name, '/') != NULL)
        return is_program(name) ? name : NULL;
    while (name[0] != '\0' && *from != '\0') {
        size_t len = strcspn(from, ":");
        format_line(full, sizeof(full), "%.*s/%s", (int)len, from, name);
        if (len > 0 && is_program(full))
            return arena_copy(&r->list->memory, view_of(full));
        from += len + (from[len] == ':');
    }
    return NULL;
}

static bool read_command(reader *r, tool *t, scan_value value)
{
    char **argv = arena_zeros(&r->list->memory, ARGUMENTS_MAX + 1, sizeof(char *));
    size_t count = 0;
    scan_value word;

    t->kind = TOOL_COMMAND;
    if (argv == NULL)
        return refuse(r, "out of memory", "");
    if (value.kind != SCAN_ARRAY)
        return refuse(r, "\"command\" must be an array of strings: the program and its arguments",
                      "");
    scan_walk walk = scan_enter(value);
    while (scan_element(&walk, &word)) {
        if (count == ARGUMENTS_MAX)
            return refuse(r, "\"command\" has too many arguments", "");
        argv[count] = take_text(r, word);
        if (argv[count++] == NULL)
            return refuse(r, "\"command\" must hold strings only", "");
    }
    if (count == 0)
        return refuse(r, "\"command\" must name a program", "");
    char *found = find_program(r, argv[0]);
    if (found == NULL)
        return refuse(r, "no program that can be run: ", argv[0]);
    argv[0] = found;
    t->argv = argv;
    return true;
}

static const struct member {
    view name;
    member_reader read;
} MEMBERS[] = {
    {{"name", 4}, read_name},
    {{"description", 11}, read_description},
    {{"parameters", 10}, read_parameters},
    {{"command", 7}, read_command},
    {{"url", 3}, read_url},
    {{"timeout_ms", 10}, read_time},
    {{"output_max", 10}, read_output_max},
};
enum { MEMBER_COUNT = sizeof(MEMBERS) / sizeof(MEMBERS[0]) };

/* --- a tool --- */

static bool read_member(reader *r, tool *t, view key, scan_value value, unsigned *seen)
{
    for (unsigned i = 0; i < MEMBER_COUNT; i++) {
        if (!scan_string_is(key, MEMBERS[i].name))
            continue;
        if (*seen & (1U << i))
            return refuse(r, "a member stands there twice: ", MEMBERS[i].name.ptr);
        *seen |= 1U << i;
        return MEMBERS[i].read(r, t, value);
    }
    char name[64];
    format_line(name, sizeof(name), "%.*s", (int)view_cut(key, 60), key.ptr);
    return refuse(r, "unknown member ", name);
}

static bool check_tool(reader *r, const tool *t)
{
    if (t->name == NULL)
        return refuse(r, "\"name\" is missing", "");
    if (t->description.len == 0)
        return refuse(r, "\"description\" is missing: the model chooses by it", "");
    if ((t->argv == NULL) == (t->url == NULL))
        return refuse(r, "give either \"command\" or \"url\"", "");
    return true;
}

static bool read_tool(reader *r, scan_value object)
{
    view key;
    scan_value value;
    char why[256];
    unsigned seen = 0;
    tool t = {.parameters = VIEW("{\"type\":\"object\"}"),
              .time_ms = TOOL_TIME_MS,
              .output_max = TOOL_OUTPUT};

    r->name = NULL;
    if (object.kind != SCAN_OBJECT)
        return refuse(r, "must be an object", "");
    scan_value name = scan_find(object, "name");
    if (name.kind == SCAN_STRING)
        r->name = take_text(r, name);
    scan_walk walk = scan_enter(object);
    while (scan_member(&walk, &key, &value))
        if (!read_member(r, &t, key, value, &seen))
            return false;
    if (!check_tool(r, &t))
        return false;
    return tools_put(r->list, &t, why, sizeof(why)) || refuse(r, why, "");
}

/* Only {"tools":[...]}: what else a later version may say, this one would not do. */
static scan_value find_list(scan_value whole)
{
    view key;
    scan_value value, found = {SCAN_NONE, {NULL, 0}};

    if (whole.kind != SCAN_OBJECT)
        return found;
    scan_walk walk = scan_enter(whole);
    while (scan_member(&walk, &key, &value)) {
        if (found.kind != SCAN_NONE || !scan_string_is(key, VIEW("tools")))
            return (scan_value){SCAN_NONE, {NULL, 0}};
        found = value;
    }
    return found;
}

bool tools_read(tools *list, view text, const char *path, char *error, size_t size)
{
    scan_value whole, element;
    scan_error fault;
    char *copy = arena_copy(&list->memory, text);
    reader r = {.list = list, .path = path, .error = error, .size = size};

    if (copy == NULL) {
        format_line(error, size, "out of memory");
        return false;
    }
    if (!scan_check((view){copy, text.len}, DEPTH_MAX, &whole, NULL, &fault)) {
        format_line(error, size, "no JSON: %s at byte %zu", fault.message, fault.position);
        return false;
    }
    scan_value array = find_list(whole);
    if (array.kind != SCAN_ARRAY) {
        format_line(error, size,
                    "it must be an object with one member, \"tools\", that is an array");
        return false;
    }
    scan_walk walk = scan_enter(array);
    for (r.number = 0; scan_element(&walk, &element); r.number++)
        if (!read_tool(&r, element))
            return false;
    return true;
}

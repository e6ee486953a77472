/*
 * tools.c: the settings of requests in contexts: tools and parameters. A tool in the shape of the
 * context's format is written as it is stored. A function in the shape of another format is
 * converted. The built-in tools of another vendor are left out, and the report names them.
 */
#include "model/session/format.h"

typedef enum tool_shape {
    TOOL_OF_OPENAI,    /* {"type":"function","function":{"name",...,"parameters"}} */
    TOOL_OF_RESPONSES, /* {"type":"function","name",...,"parameters"} */
    TOOL_OF_ANTHROPIC, /* {"name",...,"input_schema"} */
    TOOL_BUILT_IN      /* any other object: a tool of a vendor */
} tool_shape;

/* The members of a function that are converted. */
enum { TOOL_NAME, TOOL_DESCRIPTION, TOOL_STRICT, TOOL_SCHEMA, TOOL_MEMBERS };

typedef struct tool {
    tool_shape shape;
    scan_value value;    /* the whole tool */
    scan_value function; /* the object that has the members */
    scan_value members[TOOL_MEMBERS];
} tool;

static tool_shape shape_of_format(cardbox_format format)
{
    if (format == CARDBOX_FORMAT_RESPONSES)
        return TOOL_OF_RESPONSES;
    return format == CARDBOX_FORMAT_ANTHROPIC ? TOOL_OF_ANTHROPIC : TOOL_OF_OPENAI;
}

static const char *const *names_of(tool_shape shape)
{
    static const char *const OPENAI[] = {"name",       "description", "strict",
                                         "parameters", "type",        NULL};
    static const char *const ANTHROPIC[] = {"name",         "description", "strict",
                                            "input_schema", "type",        NULL};

    return shape == TOOL_OF_ANTHROPIC ? ANTHROPIC : OPENAI;
}

static void read_tool(tool *out, scan_value value)
{
    static const char *const NAMES[] = {"type", "function", "name", "input_schema"};
    scan_value found[4];

    session_pick(value, NAMES, found, 4);
    bool is_function = session_string_is(found[0], "function");
    *out = (tool){.shape = TOOL_BUILT_IN, .value = value, .function = value};
    if (is_function && found[1].kind == SCAN_OBJECT) {
        out->shape = TOOL_OF_OPENAI;
        out->function = found[1];
    } else if (is_function && found[2].kind == SCAN_STRING) {
        out->shape = TOOL_OF_RESPONSES;
    } else if (found[2].kind == SCAN_STRING && found[3].kind == SCAN_OBJECT) {
        out->shape = TOOL_OF_ANTHROPIC;
    }
    session_pick(out->function, names_of(out->shape), out->members, TOOL_MEMBERS);
}

/* --- what is left out --- */

static void leave_out(context *ctx, const context_message *entry, slice what)
{
    context_add_repair(ctx, CONTEXT_LEFT_OUT, entry, what);
}

static bool is_known(slice key, const char *const *names)
{
    while (*names != NULL && !scan_string_is(key, slice_of(*names)))
        names++;
    return *names != NULL;
}

/* Reports the members of a function that are not converted. */
static void leave_out_members(context *ctx, const context_message *entry, const tool *from)
{
    scan_walk walk = scan_enter(from->function);
    scan_value value;
    slice key;

    while (scan_member(&walk, &key, &value)) {
        if (!is_known(key, names_of(from->shape)))
            leave_out(ctx, entry, scan_inside(key));
    }
}

static void leave_out_tool(context *ctx, const context_message *entry, const tool *from)
{
    slice type = scan_string_inside(scan_find(from->value, "type"));

    leave_out(ctx, entry, type.len > 0 ? type : SLICE("tool"));
}

/* --- conversion --- */

static void put_member(buf *out, const char *name, scan_value value)
{
    if (value.kind != SCAN_NONE && value.kind != SCAN_NULL)
        buf_member(out, name, value.text);
}

/* A function of the Responses API is strict by default, those of the others are not. */
static void put_function(buf *out, const tool *from, tool_shape to)
{
    const scan_value *members = from->members;
    bool has_schema = members[TOOL_SCHEMA].kind == SCAN_OBJECT;

    buf_text(out, to == TOOL_OF_OPENAI      ? "{\"type\":\"function\",\"function\":{"
                  : to == TOOL_OF_RESPONSES ? "{\"type\":\"function\","
                                            : "{");
    buf_text(out, "\"name\":");
    buf_slice(out,
              members[TOOL_NAME].kind == SCAN_STRING ? members[TOOL_NAME].text : SLICE("\"\""));
    put_member(out, "description", members[TOOL_DESCRIPTION]);
    if (to == TOOL_OF_ANTHROPIC || has_schema || to == TOOL_OF_RESPONSES)
        buf_member(out, to == TOOL_OF_ANTHROPIC ? "input_schema" : "parameters",
                   has_schema ? members[TOOL_SCHEMA].text
                              : SLICE("{\"type\":\"object\",\"properties\":{}}"));
    if (to == TOOL_OF_RESPONSES && members[TOOL_STRICT].kind != SCAN_TRUE)
        buf_member(out, "strict", SLICE("false"));
    else
        put_member(out, "strict", members[TOOL_STRICT]);
    buf_text(out, to == TOOL_OF_OPENAI ? "}}" : "}");
}

static void put_tool(buf *out, context *ctx, const context_message *entry, scan_value value)
{
    tool_shape to = shape_of_format(ctx->format);
    bool is_own = ctx->settings.format == (int)ctx->format;
    tool from;

    read_tool(&from, value);
    if (from.shape == TOOL_BUILT_IN && !is_own) {
        leave_out_tool(ctx, entry, &from);
        return;
    }
    buf_comma(out);
    if (from.shape == to || from.shape == TOOL_BUILT_IN) {
        buf_slice(out, value.text);
        return;
    }
    leave_out_members(ctx, entry, &from);
    put_function(out, &from, to);
}

/* Returns true if the list is written as it is stored. The formats of no API have no shape. */
static bool is_as_stored(const context *ctx, scan_value tools)
{
    scan_walk walk = scan_enter(tools);
    scan_value value;
    tool one;

    if (ctx->format == CARDBOX_FORMAT_ENTRIES || ctx->format == CARDBOX_FORMAT_MESSAGES)
        return true;
    if (ctx->settings.format != (int)ctx->format)
        return false;
    while (scan_element(&walk, &value)) {
        read_tool(&one, value);
        if (one.shape != TOOL_BUILT_IN && one.shape != shape_of_format(ctx->format))
            return false;
    }
    return true;
}

void context_put_settings(buf *out, context *ctx)
{
    const context_settings *settings = &ctx->settings;
    scan_walk walk = scan_enter(settings->tools);
    context_message *entry;
    scan_value value;

    if (settings->tools.kind == SCAN_ARRAY && is_as_stored(ctx, settings->tools)) {
        buf_member(out, "tools", settings->tools.text);
    } else if (settings->tools.kind == SCAN_ARRAY) {
        entry = arena_zeros(ctx->memory, 1, sizeof(*entry));
        if (entry == NULL)
            return;
        entry->id = settings->entry_id;
        buf_member(out, "tools", SLICE("["));
        while (scan_element(&walk, &value))
            put_tool(out, ctx, entry, value);
        buf_char(out, ']');
    }
    if (settings->parameters.kind == SCAN_OBJECT)
        buf_member(out, "parameters", settings->parameters.text);
}

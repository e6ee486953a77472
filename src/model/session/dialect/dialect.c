/*
 * dialect.c: the table of the dialects, and the functions that several dialects share.
 */
#include "model/session/dialect/dialect.h"
#include "model/session/api.h"

static const dialect_table *const DIALECTS[SESSION_DIALECT_COUNT] = {
    [SESSION_PLAIN] = &DIALECT_PLAIN,
    [SESSION_PI] = &DIALECT_PI,
    [SESSION_CLAUDE] = &DIALECT_CLAUDE,
    [SESSION_CODEX] = &DIALECT_CODEX,
};

const char *session_dialect_name(int dialect)
{
    return dialect < 0 ? NULL : SESSION_DIALECTS[dialect];
}

int session_dialect_named(slice name)
{
    for (int i = 0; i < SESSION_DIALECT_COUNT; i++) {
        if (slice_equal(name, slice_of(SESSION_DIALECTS[i])))
            return i;
    }
    return -1;
}

const char *session_dialect_file(int dialect)
{
    return DIALECTS[dialect]->file;
}

/* Lines of other programs may have types of plain, so they are recognised first. */
int dialect_of_line(const dialect_line *line)
{
    int i = SESSION_DIALECT_COUNT - 1;

    while (i >= 0 && !DIALECTS[i]->recognise(line))
        i--;
    return i;
}

const dialect_table *dialect_numbered(int number)
{
    return number < 0 ? &DIALECT_PLAIN : DIALECTS[number];
}

/* --- reading --- */

scan_value dialect_id(const dialect_line *line)
{
    return line->found[LINE_ID];
}

scan_value dialect_parent(const dialect_line *line)
{
    return line->found[LINE_PARENT];
}

int dialect_format(const dialect_line *line)
{
    for (int i = 0; i < API_FORMATS; i++) {
        if (session_string_is(line->found[LINE_FORMAT], API_FORMAT_NAMES[i]))
            return (int)API_FORMAT_NUMBERS[i];
    }
    return -1;
}

bool dialect_is_of_api(const dialect_line *line)
{
    return line->kind == SESSION_MESSAGE && dialect_format(line) >= 0 &&
           line->found[LINE_MESSAGE].kind == SCAN_OBJECT;
}

void dialect_set_message(session_entry *out, scan_value message, cardbox_format format)
{
    static const session_role ROLES[] = {
        [API_NONE] = SESSION_ROLE_NONE,          [API_SYSTEM] = SESSION_ROLE_SYSTEM,
        [API_USER] = SESSION_ROLE_USER,          [API_ASSISTANT] = SESSION_ROLE_ASSISTANT,
        [API_RESULT] = SESSION_ROLE_TOOL_RESULT,
    };

    out->kind = SESSION_PLAIN_MESSAGE;
    out->format = (int)format;
    out->body = message;
    out->role = ROLES[api_role_of(message, format)];
    out->in_context = true;
}

/* --- messages --- */

void dialect_add_api(context *ctx, const session_entry *entry)
{
    context_add_api(ctx, &(context_api_message){entry->id, entry->text, entry->timestamp,
                                                entry->body, (cardbox_format)entry->format});
}

context_message *dialect_add(context *ctx, const session_entry *entry, context_role role,
                             context_origin origin)
{
    context_message *message = context_add(ctx, role, origin, entry->id, entry->text);

    if (message != NULL)
        message->time = entry->timestamp;
    return message;
}

void dialect_add_made(context *ctx, const session_entry *entry, context_origin origin, buf *inside)
{
    const context_part part = {.kind = CONTEXT_TEXT,
                               .text = {arena_keep(ctx->memory, inside), false}};
    context_message *message = dialect_add(ctx, entry, CONTEXT_USER, origin);

    context_add_part(ctx, message, part);
    if (message != NULL)
        message->is_kept = entry->kind == SESSION_COMPACTION;
}

void dialect_add_summary(context *ctx, const session_entry *entry, context_origin origin)
{
    buf text = BUF_INIT(SIZE_MAX / 4);

    buf_text(&text, entry->kind == SESSION_BRANCH_SUMMARY
                        ? SESSION_BRANCH_BEGINS
                        : "The earlier part of this conversation was replaced by this summary of "
                          "it:\\n\\n<summary>\\n");
    buf_slice(&text, scan_string_inside(entry->content));
    buf_text(&text, SESSION_SUMMARY_ENDS);
    dialect_add_made(ctx, entry, origin, &text);
}

void dialect_add_result(context *ctx, const session_entry *entry, context_origin origin)
{
    context_message *message = dialect_add(ctx, entry, CONTEXT_RESULT, origin);
    const scan_value *fields = entry->fields;

    if (message == NULL)
        return;
    context_set_call(ctx, message, entry->target, fields[SESSION_FIELD_TOOL_NAME]);
    message->is_error = entry->kind == SESSION_MESSAGE
                            ? fields[SESSION_FIELD_IS_ERROR].kind == SCAN_TRUE
                            : fields[SESSION_FIELD_SUCCESS].kind == SCAN_FALSE;
    if (entry->kind == SESSION_MESSAGE)
        context_add_content(ctx, message, entry->content);
    else
        context_add_output(ctx, message, entry->content);
}

void dialect_add_text(context *ctx, const session_entry *entry, context_origin origin)
{
    context_message *message = dialect_add(
        ctx, entry, entry->role == SESSION_ROLE_SYSTEM ? CONTEXT_SYSTEM : CONTEXT_USER, origin);

    context_add_content(ctx, message, entry->content);
    if (message != NULL &&
        (entry->kind == SESSION_PLAIN_USER || entry->kind == SESSION_PLAIN_SYSTEM))
        message->speaker = scan_string_inside(entry->fields[SESSION_FIELD_NAME]);
}

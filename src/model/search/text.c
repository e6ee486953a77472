/*
 * text.c: the searchable text of a JSON value. The JSON may be cut anywhere, so it is not checked:
 * any bytes give some text.
 */
#include "model/search/search.h"
#include "base/scan_token.h"

enum { DATA_BYTES = 256 }; /* a longer string without other characters than base64 has is data */

/* How a member contributes to the text. */
typedef enum member_rule {
    MEMBER_ALL,   /* name and value */
    MEMBER_VALUE, /* the value only */
    MEMBER_NONE,  /* neither; the value only if it is no ASCII text and no number */
    MEMBER_OUTER  /* MEMBER_NONE in the outermost object, otherwise MEMBER_ALL */
} member_rule;

/* Members that say how content is built, and which nobody searches for. */
static const struct {
    slice name;
    member_rule rule;
} MEMBERS[] = {
    {{"__type__", 8}, MEMBER_NONE},       {{"arguments", 9}, MEMBER_VALUE},
    {{"content", 7}, MEMBER_VALUE},       {{"data", 4}, MEMBER_VALUE},
    {{"function", 8}, MEMBER_VALUE},      {{"id", 2}, MEMBER_OUTER},
    {{"input", 5}, MEMBER_VALUE},         {{"message", 7}, MEMBER_VALUE},
    {{"name", 4}, MEMBER_VALUE},          {{"output", 6}, MEMBER_VALUE},
    {{"params", 6}, MEMBER_VALUE},        {{"parentId", 8}, MEMBER_NONE},
    {{"role", 4}, MEMBER_NONE},           {{"text", 4}, MEMBER_VALUE},
    {{"thinking", 8}, MEMBER_VALUE},      {{"timestamp", 9}, MEMBER_NONE},
    {{"toolCallId", 10}, MEMBER_VALUE},   {{"toolCalls", 9}, MEMBER_VALUE},
    {{"tool_call_id", 12}, MEMBER_VALUE}, {{"tool_calls", 10}, MEMBER_VALUE},
    {{"tool_use_id", 11}, MEMBER_VALUE},  {{"type", 4}, MEMBER_NONE},
};

static member_rule rule_of(slice name, size_t depth)
{
    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
        if (!slice_equal(MEMBERS[i].name, name))
            continue;
        if (MEMBERS[i].rule != MEMBER_OUTER)
            return MEMBERS[i].rule;
        return depth <= 1 ? MEMBER_NONE : MEMBER_ALL;
    }
    return MEMBER_ALL;
}

static bool is_ascii(slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] >= 0x80)
            return false;
    }
    return true;
}

static bool is_base64(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '-' || c == '_' || c == '=';
}

/* True for base64 that is longer than DATA_BYTES, after "data:...," too. */
static bool is_data(slice text)
{
    if (text.len > 5 && memcmp(text.ptr, "data:", 5) == 0) {
        const char *comma = memchr(text.ptr, ',', text.len < DATA_BYTES ? text.len : DATA_BYTES);

        if (comma != NULL)
            text = (slice){comma + 1, text.len - (size_t)(comma + 1 - text.ptr)};
    }
    if (text.len <= DATA_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_base64(text.ptr[i]))
            return false;
    }
    return true;
}

/* Appends the decoded text of the inside of a string. Ends before a malformed escape. */
static void add_decoded(buf *out, slice inside)
{
    char storage[4];
    uint32_t code;

    while (inside.len > 0) {
        slice part = scan_next_part(&inside, storage, &code);

        if (part.len == 0)
            break;
        if (scan_is_half(code))
            part = SLICE("\xEF\xBF\xBD");
        buf_slice(out, part);
    }
}

/* Removes what was appended since `start`. */
static void take_back(buf *out, size_t start)
{
    if (!buf_ok(out) || out->len == start)
        return;
    out->len = start;
    out->data[start] = '\0';
}

/* A JSON text that is being read. */
typedef struct json_reader {
    buf *out;
    const char *at;
    const char *end;
    size_t depth;
    member_rule rule; /* of the value that follows */
} json_reader;

/* Reads the string whose opening quote is before `r->at`. */
static void read_string(json_reader *r)
{
    size_t start = r->out->len;
    const char *from = r->at;

    r->at = scan_next_special(from, r->end);
    while (r->at < r->end && *r->at == '\\')
        r->at = r->end - r->at < 2 ? r->end : scan_next_special(r->at + 2, r->end);
    add_decoded(r->out, (slice){from, (size_t)(r->at - from)});
    if (r->at < r->end)
        r->at++;
    r->at = scan_skip_space(r->at, r->end);
    slice text = buf_since(r->out, start);
    if (r->at < r->end && *r->at == ':') {
        r->rule = rule_of(text, r->depth);
        if (r->rule != MEMBER_ALL)
            take_back(r->out, start);
        else
            buf_char(r->out, '\n');
        return;
    }
    if ((r->rule == MEMBER_NONE && is_ascii(text)) || is_data(text))
        take_back(r->out, start);
    else
        buf_char(r->out, '\n');
    r->rule = MEMBER_ALL;
}

static bool is_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static void read_number(json_reader *r)
{
    const char *from = r->at;

    while (r->at < r->end && is_number(*r->at))
        r->at++;
    if (r->rule != MEMBER_NONE) {
        buf_add(r->out, from, (size_t)(r->at - from));
        buf_char(r->out, '\n');
    }
    r->rule = MEMBER_ALL;
}

void search_text(buf *out, slice json)
{
    json_reader r = {.out = out, .at = json.ptr, .end = json.ptr + json.len};

    if (json.len == 0)
        return;
    while (r.at < r.end) {
        char c = *r.at;

        if (c == '-' || (c >= '0' && c <= '9')) {
            read_number(&r);
            continue;
        }
        r.at++;
        if (c == '"') {
            read_string(&r);
        } else if (c == '{' || c == '[') {
            r.depth++;
            r.rule = MEMBER_ALL;
        } else if (c == '}' || c == ']') {
            r.depth -= r.depth > 0;
        } else if (c == ',') {
            r.rule = MEMBER_ALL;
        }
    }
}

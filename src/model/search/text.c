/*
 * text.c: the searchable text of a JSON value. The JSON may be cut anywhere, so it is not checked:
 * any bytes give some text.
 */
#include "model/search/search.h"
#include "base/scan_token.h"

#include <cardbox/limits.h>

enum { DATA_BYTES = 256 }; /* a longer string without other characters than base64 has is data */

/* How a member contributes to the text. */
typedef enum member_rule {
    MEMBER_ALL,   /* name and value */
    MEMBER_VALUE, /* the value only */
    MEMBER_TEXT,  /* the value only; a string ends with SEARCH_TEXT_END */
    MEMBER_JSON,  /* the value only; JSON in a string is read as JSON */
    MEMBER_NONE,  /* the name is left out, and so is the value if it is a number or an ASCII string
                   */
    MEMBER_OUTER  /* MEMBER_NONE in the outermost object, otherwise MEMBER_ALL */
} member_rule;

/* Members that say how content is built, and which nobody searches for. */
static const struct {
    slice name;
    member_rule rule;
} MEMBERS[] = {
    {{"__type__", 8}, MEMBER_NONE},       {{"arguments", 9}, MEMBER_JSON},
    {{"content", 7}, MEMBER_TEXT},        {{"data", 4}, MEMBER_VALUE},
    {{"function", 8}, MEMBER_VALUE},      {{"id", 2}, MEMBER_OUTER},
    {{"input", 5}, MEMBER_VALUE},         {{"message", 7}, MEMBER_VALUE},
    {{"name", 4}, MEMBER_VALUE},          {{"output", 6}, MEMBER_VALUE},
    {{"params", 6}, MEMBER_VALUE},        {{"parentId", 8}, MEMBER_NONE},
    {{"role", 4}, MEMBER_NONE},           {{"text", 4}, MEMBER_TEXT},
    {{"thinking", 8}, MEMBER_TEXT},       {{"timestamp", 9}, MEMBER_NONE},
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
    bool is_inner;    /* the JSON was in a string */
    member_rule rule; /* rule of the next value */
} json_reader;

static void read_json(json_reader *r);

/* Replaces the JSON that was appended since `start` by its text. False: it is no object or array,
 * or memory is exhausted. */
static bool replace_json(buf *out, size_t start)
{
    slice json = buf_since(out, start);
    buf copy = BUF_INIT(json.len);
    scan_value value;

    if (!scan_check(json, CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL) || value.kind < SCAN_ARRAY)
        return false;
    buf_slice(&copy, json);
    if (!buf_ok(&copy)) {
        out->failure = copy.failure;
        return false;
    }
    take_back(out, start);
    /* depth 1: the outermost object of this JSON is not that of the content (see MEMBER_OUTER) */
    read_json(&(json_reader){
        .out = out, .at = copy.data, .end = copy.data + copy.len, .depth = 1, .is_inner = true});
    buf_free(&copy);
    return true;
}

/* Ends the decoded text that was appended since `start`: a name or a value. */
static void end_string(json_reader *r, size_t start, bool is_name, bool is_whole)
{
    slice text = buf_since(r->out, start);
    char end = !is_name && r->rule == MEMBER_TEXT ? SEARCH_TEXT_END : '\n';
    bool is_kept;

    if (is_name) {
        r->rule = rule_of(text, r->depth);
        is_kept = r->rule == MEMBER_ALL;
    } else {
        bool may_be_json = r->rule == MEMBER_JSON && is_whole && !r->is_inner;
        is_kept = !(r->rule == MEMBER_NONE && is_ascii(text)) && !is_data(text);
        r->rule = MEMBER_ALL;
        if (may_be_json && replace_json(r->out, start))
            return;
    }
    if (is_kept)
        buf_char(r->out, end);
    else
        take_back(r->out, start);
}

/* Reads the string whose opening quote is before `r->at`. */
static void read_string(json_reader *r)
{
    size_t start = r->out->len;
    const char *from = r->at;

    r->at = scan_next_special(from, r->end);
    while (r->at < r->end && *r->at == '\\')
        r->at = r->end - r->at < 2 ? r->end : scan_next_special(r->at + 2, r->end);
    add_decoded(r->out, (slice){from, (size_t)(r->at - from)});
    bool is_whole = r->at < r->end;
    r->at = scan_skip_space(is_whole ? r->at + 1 : r->at, r->end);
    end_string(r, start, r->at < r->end && *r->at == ':', is_whole);
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

static void read_json(json_reader *r)
{
    while (r->at < r->end) {
        char c = *r->at;

        if (c == '-' || (c >= '0' && c <= '9')) {
            read_number(r);
            continue;
        }
        r->at++;
        if (c == '"') {
            read_string(r);
        } else if (c == '{' || c == '[') {
            r->depth++;
            r->rule = MEMBER_ALL;
        } else if (c == '}' || c == ']') {
            r->depth -= r->depth > 0;
        } else if (c == ',') {
            r->rule = MEMBER_ALL;
        }
    }
}

void search_text(buf *out, slice json)
{
    if (json.len > 0)
        read_json(&(json_reader){.out = out, .at = json.ptr, .end = json.ptr + json.len});
}

/* scan_find reads valid JSON only, but this may be cut. */
slice search_timestamp(slice json)
{
    int depth = 0;
    char before = '\0'; /* the last character that is not white space and not in a string */
    bool is_named = false;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        size_t from = i + 1;
        if (c == '"') {
            for (i = from; i < json.len && json.ptr[i] != '"'; i++)
                i += json.ptr[i] == '\\';
            if (i >= json.len)
                break;
            slice inside = {json.ptr + from, i - from};
            if (depth == 1 && is_named && before == ':')
                return inside;
            is_named = depth == 1 && slice_equal(inside, SLICE("timestamp"));
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            before = c;
    }
    return (slice){"", 0};
}

/*
 * entry_members.c: tables of the members of entries. The members of a message are in one table for
 * all roles, and the members of a content block in one table for all types of blocks.
 */
#include "model/session/entry_members.h"

#include "base/edit_distance.h"

/* A known member. The value of a member with `inside` is an object with these members, or a list of
 * such objects. `foreign` is the name that APIs of models use for it. A table ends with a name that
 * is NULL. */
typedef struct known_member {
    const char *name;
    const struct known_member *inside;
    const char *foreign;
} known_member;

static const known_member IMAGE_URL[] = {
    {"url", NULL, NULL}, {"detail", NULL, NULL}, {NULL, NULL, NULL}};

static const known_member SOURCE[] = {{"type", NULL, NULL},
                                      {"media_type", NULL, NULL},
                                      {"data", NULL, NULL},
                                      {"url", NULL, NULL},
                                      {NULL, NULL, NULL}};

static const known_member BLOCK[] = {
    {"type", NULL, NULL},
    {"text", NULL, NULL},
    {"textSignature", NULL, NULL},
    {"thinking", NULL, NULL},
    {"thinkingSignature", NULL, NULL},
    {"redacted", NULL, NULL},
    {"data", NULL, NULL},
    {"mimeType", NULL, NULL},
    {"source", SOURCE, NULL},
    {"image_url", IMAGE_URL, NULL},
    {"id", NULL, NULL},
    {"name", NULL, NULL},
    {"arguments", NULL, NULL},
    {"thoughtSignature", NULL, NULL},
    {NULL, NULL, NULL},
};

static const known_member MESSAGE[] = {
    {"role", NULL, NULL},         {"content", BLOCK, NULL},
    {"timestamp", NULL, NULL},    {"api", NULL, NULL},
    {"provider", NULL, NULL},     {"model", NULL, NULL},
    {"usage", NULL, NULL},        {"stopReason", NULL, NULL},
    {"errorMessage", NULL, NULL}, {"toolCallId", NULL, NULL},
    {"toolName", NULL, NULL},     {"details", NULL, NULL},
    {"isError", NULL, NULL},      {"command", NULL, NULL},
    {"output", NULL, NULL},       {"exitCode", NULL, NULL},
    {"cancelled", NULL, NULL},    {"truncated", NULL, NULL},
    {"customType", NULL, NULL},   {"fullOutputPath", NULL, NULL},
    {"display", NULL, NULL},      {"excludeFromContext", NULL, NULL},
    {NULL, NULL, NULL},
};

static const known_member CALL[] = {{"id", NULL, NULL},
                                    {"name", NULL, "function"},
                                    {"params", NULL, "arguments"},
                                    {NULL, NULL, NULL}};

/* The members of all entries. */
static const known_member COMMON[] = {{"id", NULL, NULL},
                                      {"parentId", NULL, NULL},
                                      {"timestamp", NULL, NULL},
                                      {"type", NULL, NULL},
                                      {NULL, NULL, NULL}};

enum { OWN_MEMBERS_MAX = 9 };

/* The other members of each type of entry. */
static const known_member OWN[SESSION_KINDS][OWN_MEMBERS_MAX] = {
    [SESSION_MESSAGE] = {{"message", MESSAGE, NULL}},
    [SESSION_THINKING_LEVEL_CHANGE] = {{"thinkingLevel", NULL, NULL}},
    [SESSION_MODEL_CHANGE] = {{"provider", NULL, NULL}, {"modelId", NULL, NULL}},
    [SESSION_COMPACTION] = {{"summary", NULL, NULL},
                            {"firstKeptEntryId", NULL, NULL},
                            {"firstKeptEntryIndex", NULL, NULL},
                            {"tokensBefore", NULL, NULL},
                            {"details", NULL, NULL},
                            {"fromHook", NULL, NULL},
                            {"retainedTail", NULL, NULL},
                            {"usage", NULL, NULL}},
    [SESSION_BRANCH_SUMMARY] = {{"fromId", NULL, NULL},
                                {"summary", NULL, NULL},
                                {"details", NULL, NULL},
                                {"fromHook", NULL, NULL},
                                {"usage", NULL, NULL}},
    [SESSION_CUSTOM] = {{"customType", NULL, NULL}, {"data", NULL, NULL}},
    [SESSION_CUSTOM_MESSAGE] = {{"customType", NULL, NULL},
                                {"content", BLOCK, NULL},
                                {"details", NULL, NULL},
                                {"display", NULL, NULL}},
    [SESSION_LABEL] = {{"targetId", NULL, NULL}, {"label", NULL, NULL}},
    [SESSION_INFO] = {{"name", NULL, NULL}},
    [SESSION_PLAIN_USER] = {{"content", BLOCK, NULL}, {"metadata", NULL, NULL}},
    [SESSION_PLAIN_ASSISTANT] = {{"content", BLOCK, NULL},
                                 {"toolCalls", CALL, NULL},
                                 {"thinking", NULL, NULL}},
    [SESSION_PLAIN_TOOL] = {{"name", NULL, NULL},
                            {"params", NULL, NULL},
                            {"toolCallId", NULL, NULL}},
    [SESSION_PLAIN_TOOL_RESULT] = {{"toolCallId", NULL, NULL},
                                   {"output", NULL, NULL},
                                   {"details", NULL, NULL},
                                   {"success", NULL, NULL}},
    [SESSION_PLAIN_SYSTEM] = {{"content", BLOCK, NULL}},
};

/* --- similar names --- */

/* Writes a name in lower case and without `_`. Returns the number of letters; 0: the name is too
 * long. */
static size_t fold(char out[EDIT_DISTANCE_WORD_MAX], slice name)
{
    size_t len = 0;

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == '_')
            continue;
        if (len == EDIT_DISTANCE_WORD_MAX)
            return 0;
        out[len++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return len;
}

static bool is_similar(slice given, slice known)
{
    char a[EDIT_DISTANCE_WORD_MAX], b[EDIT_DISTANCE_WORD_MAX];
    slice x = {a, fold(a, given)}, y = {b, fold(b, known)};

    if (x.len == 0)
        return false;
    if (slice_equal(x, y))
        return true;
    return x.len >= SESSION_MEMBER_LETTERS_MIN && y.len >= SESSION_MEMBER_LETTERS_MIN &&
           edit_distance(x, y) <= 1;
}

static const known_member *find_known(const known_member *table, slice key)
{
    for (; table->name != NULL; table++) {
        if (scan_string_is(key, slice_of(table->name)))
            return table;
    }
    return NULL;
}

static const char *find_similar(const known_member *table, slice name)
{
    for (; table->name != NULL; table++) {
        if (is_similar(name, slice_of(table->name)) ||
            (table->foreign != NULL && slice_equal(name, slice_of(table->foreign))))
            return table->name;
    }
    return NULL;
}

/* --- the check --- */

/* Returns true if an object must not be checked: a content block of an unknown type, whose members
 * are not known. */
static bool is_unknown_block(const known_member *table, scan_value object)
{
    static const char *const TYPES[] = {"text", "thinking", "image", "image_url", "toolCall"};
    scan_value type;

    if (table != BLOCK)
        return false;
    type = scan_find(object, "type");
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        if (session_string_is(type, TYPES[i]))
            return false;
    }
    return true;
}

static bool check_value(session_misspelling *out, scan_walk *walk, const known_member *table);

/* Checks the members of the object at the current position of a walk, and moves the walk past the
 * object. `more` is a second table, or NULL. The tables limit the depth of the recursion. */
static bool check_object(session_misspelling *out, scan_walk *walk, const known_member *table,
                         const known_member *more)
{
    const scan_value object = {SCAN_OBJECT, {walk->at, (size_t)(walk->end - walk->at)}};
    scan_walk inner = scan_into(walk);
    slice key;

    while (scan_to_member(&inner, &key)) {
        const known_member *known = find_known(table, key);
        if (known == NULL && more != NULL)
            known = find_known(more, key);
        if (known == NULL) {
            const char *meant = find_similar(table, scan_inside(key));
            if (meant == NULL && more != NULL)
                meant = find_similar(more, scan_inside(key));
            if (meant != NULL && !is_unknown_block(table, object)) {
                *out = (session_misspelling){scan_inside(key), meant};
                return true;
            }
        }
        if (check_value(out, &inner, known == NULL ? NULL : known->inside))
            return true;
    }
    scan_leave(walk, &inner);
    return false;
}

/* Checks an object, or the objects of a list. Any other value, and a value without a table, is only
 * passed. */
static bool check_value(session_misspelling *out, scan_walk *walk, const known_member *table)
{
    bool has_any = table != NULL && walk->at < walk->end;
    scan_value passed;

    if (has_any && *walk->at == '{')
        return check_object(out, walk, table, NULL);
    if (!has_any || *walk->at != '[') {
        scan_take(walk, &passed);
        return false;
    }
    scan_walk inner = scan_into(walk);
    while (scan_to_element(&inner)) {
        if (*inner.at == '{') {
            if (check_object(out, &inner, table, NULL))
                return true;
        } else if (!scan_take(&inner, &passed)) {
            break; /* the end of the list */
        }
    }
    scan_leave(walk, &inner);
    return false;
}

bool session_entry_misspelt(session_misspelling *out, scan_value entry)
{
    scan_value type = scan_find(entry, "type");
    session_kind kind = session_kind_named(scan_string_inside(type));
    scan_walk walk = {entry.text.ptr, entry.text.ptr + entry.text.len};

    return entry.kind == SCAN_OBJECT && check_object(out, &walk, COMMON, OWN[kind]);
}

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

#define MEMBER(member)                                                                             \
    {                                                                                              \
        .name = (member)                                                                           \
    }

static const known_member IMAGE_URL[] = {MEMBER("url"), MEMBER("detail"), {.name = NULL}};

static const known_member SOURCE[] = {
    MEMBER("type"), MEMBER("media_type"), MEMBER("data"), MEMBER("url"), {.name = NULL}};

static const known_member BLOCK[] = {
    MEMBER("type"),
    MEMBER("text"),
    MEMBER("textSignature"),
    MEMBER("thinking"),
    MEMBER("thinkingSignature"),
    MEMBER("redacted"),
    MEMBER("data"),
    MEMBER("mimeType"),
    {.name = "source", .inside = SOURCE},
    {.name = "image_url", .inside = IMAGE_URL},
    MEMBER("id"),
    MEMBER("name"),
    MEMBER("arguments"),
    MEMBER("thoughtSignature"),
    {.name = NULL},
};

static const known_member MESSAGE[] = {
    MEMBER("role"),         {.name = "content", .inside = BLOCK},
    MEMBER("timestamp"),    MEMBER("api"),
    MEMBER("provider"),     MEMBER("model"),
    MEMBER("usage"),        MEMBER("stopReason"),
    MEMBER("errorMessage"), MEMBER("toolCallId"),
    MEMBER("toolName"),     MEMBER("details"),
    MEMBER("isError"),      MEMBER("command"),
    MEMBER("output"),       MEMBER("exitCode"),
    MEMBER("cancelled"),    MEMBER("truncated"),
    MEMBER("customType"),   MEMBER("fullOutputPath"),
    MEMBER("display"),      MEMBER("excludeFromContext"),
    {.name = NULL},
};

static const known_member CALL[] = {MEMBER("id"),
                                    {.name = "name", .foreign = "function"},
                                    {.name = "params", .foreign = "arguments"},
                                    {.name = NULL}};

/* The members of all entries. */
static const known_member COMMON[] = {
    MEMBER("id"), MEMBER("parentId"), MEMBER("timestamp"), MEMBER("type"), {.name = NULL}};

enum { OWN_MEMBERS_MAX = 9 };

/* The other members of each type of entry. */
static const known_member MEMBERS_OF_KIND[SESSION_KINDS][OWN_MEMBERS_MAX] = {
    [SESSION_MESSAGE] = {{.name = "message", .inside = MESSAGE}},
    [SESSION_THINKING_LEVEL_CHANGE] = {MEMBER("thinkingLevel")},
    [SESSION_MODEL_CHANGE] = {MEMBER("provider"), MEMBER("modelId")},
    [SESSION_COMPACTION] = {MEMBER("summary"), MEMBER("firstKeptEntryId"),
                            MEMBER("firstKeptEntryIndex"), MEMBER("tokensBefore"),
                            MEMBER("details"), MEMBER("fromHook"), MEMBER("retainedTail"),
                            MEMBER("usage")},
    [SESSION_BRANCH_SUMMARY] = {MEMBER("fromId"), MEMBER("summary"), MEMBER("details"),
                                MEMBER("fromHook"), MEMBER("usage")},
    [SESSION_CUSTOM] = {MEMBER("customType"), MEMBER("data")},
    [SESSION_CUSTOM_MESSAGE] = {MEMBER("customType"),
                                {.name = "content", .inside = BLOCK},
                                MEMBER("details"),
                                MEMBER("display")},
    [SESSION_LABEL] = {MEMBER("targetId"), MEMBER("label")},
    [SESSION_INFO] = {MEMBER("name")},
    [SESSION_PLAIN_USER] = {{.name = "content", .inside = BLOCK}, MEMBER("metadata")},
    [SESSION_PLAIN_ASSISTANT] = {{.name = "content", .inside = BLOCK},
                                 {.name = "toolCalls", .inside = CALL},
                                 MEMBER("thinking")},
    [SESSION_PLAIN_TOOL] = {MEMBER("name"), MEMBER("params"), MEMBER("toolCallId")},
    [SESSION_PLAIN_TOOL_RESULT] = {MEMBER("toolCallId"), MEMBER("output"), MEMBER("details"),
                                   MEMBER("success")},
    [SESSION_PLAIN_SYSTEM] = {{.name = "content", .inside = BLOCK}},
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

/* The state of a check. */
typedef struct member_check {
    session_misspelling *out;
    unsigned names_left; /* number of unknown names that may still be compared with known ones */
} member_check;

static bool check_value(member_check *c, scan_walk *walk, const known_member *table);

/* Returns the member of the tables that an unknown name probably means, or NULL. */
static const char *meant_member(member_check *c, slice name, const known_member *table,
                                const known_member *more)
{
    const char *meant;

    if (c->names_left == 0)
        return NULL;
    c->names_left--;
    meant = find_similar(table, name);
    return meant == NULL && more != NULL ? find_similar(more, name) : meant;
}

/* Checks the members of the object at the current position of a walk, and moves the walk past the
 * object. `more` is a second table, or NULL. The tables limit the depth of the recursion. */
static bool check_object(member_check *c, scan_walk *walk, const known_member *table,
                         const known_member *more)
{
    scan_value object = {SCAN_OBJECT, {walk->at, (size_t)(walk->end - walk->at)}};
    scan_walk inner = scan_into(walk);
    slice key;

    if (is_unknown_block(table, object)) {
        scan_take(walk, &object);
        return false;
    }
    while (scan_to_member(&inner, &key)) {
        const known_member *known = find_known(table, key);
        if (known == NULL && more != NULL)
            known = find_known(more, key);
        if (known == NULL) {
            const char *meant = meant_member(c, scan_inside(key), table, more);
            if (meant != NULL) {
                *c->out = (session_misspelling){scan_inside(key), meant};
                return true;
            }
        }
        if (check_value(c, &inner, known == NULL ? NULL : known->inside))
            return true;
    }
    scan_leave(walk, &inner);
    return false;
}

/* Checks an object, or the objects of a list. Any other value, and a value without a table, is only
 * passed. */
static bool check_value(member_check *c, scan_walk *walk, const known_member *table)
{
    bool has_any = table != NULL && walk->at < walk->end;
    scan_value passed;

    if (has_any && *walk->at == '{')
        return check_object(c, walk, table, NULL);
    if (!has_any || *walk->at != '[') {
        scan_take(walk, &passed);
        return false;
    }
    scan_walk inner = scan_into(walk);
    while (scan_to_element(&inner)) {
        if (*inner.at == '{') {
            if (check_object(c, &inner, table, NULL))
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
    member_check check = {out, SESSION_NAMES_COMPARED_MAX};

    return entry.kind == SCAN_OBJECT && check_object(&check, &walk, COMMON, MEMBERS_OF_KIND[kind]);
}

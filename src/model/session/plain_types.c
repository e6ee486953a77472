/*
 * plain_types.c: the table of the types of the dialect plain and their members.
 */
#include "model/session/plain_types.h"

/* The members of all types. Lists of a type's members have its own members between the two. */
static const char *const FIRST[] = {"id", "parentId", "timestamp", "type", NULL};
static const char *const LAST[] = {"metadata", NULL};

/* The type "metadata" is missing, because its entries may have any members. */
static const plain_type TYPES[] = {
    {"user", "metadata", {"content", "name"}},
    {"system", "metadata", {"content", "name"}},
    {"assistant", "metadata", {"content", "name", "thinking", "toolCalls"}},
    {"tool", "metadata or params", {"toolCallId", "name", "params"}},
    {"tool_result", "metadata or details", {"toolCallId", "output", "success", "details"}},
    {"label", "metadata", {"targetId", "label"}},
    {"session_info", "metadata", {"name"}},
    {"message", "metadata", {"format", "message", "answer"}},
    {"compaction", "metadata", {"summary", "firstKeptEntryId"}},
    {"settings", "metadata", {"format", "system", "tools", "parameters"}},
};

const plain_type *plain_type_named(slice name)
{
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        if (slice_equal(name, slice_of(TYPES[i].name)))
            return &TYPES[i];
    }
    return NULL;
}

static bool has_name(const char *const *names, slice key)
{
    for (; *names != NULL; names++) {
        if (scan_string_is(key, slice_of(*names)))
            return true;
    }
    return false;
}

bool plain_type_unknown_member(slice *out, const plain_type *type, scan_value entry)
{
    scan_walk walk = scan_enter(entry);
    scan_value value;
    slice key;

    while (scan_member(&walk, &key, &value)) {
        if (!has_name(FIRST, key) && !has_name(type->members, key) && !has_name(LAST, key)) {
            *out = scan_inside(key);
            return true;
        }
    }
    return false;
}

void plain_type_put_members(buf *out, const plain_type *type)
{
    const char *const *const LISTS[] = {FIRST, type->members, LAST};
    const char *separator = "";

    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++) {
        for (const char *const *name = LISTS[i]; *name != NULL; name++) {
            buf_text(out, separator);
            buf_text(out, *name);
            separator = ", ";
        }
    }
}

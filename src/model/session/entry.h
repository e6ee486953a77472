/*
 * entry.h: one entry of a session in either dialect: its id, parent id and kind, and slices of its
 * line. Nothing here looks at other entries.
 */
#ifndef MODEL_ENTRY_H
#define MODEL_ENTRY_H

#include <cardbox/ids.h>
#include "base/arena.h"
#include "model/session/line.h"

/* Maximum bytes of an entry's id, which is an index key like a card's id. */
#define SESSION_ID_MAX CARDBOX_CARD_ID_MAX

typedef enum session_dialect { SESSION_PLAIN, SESSION_PI } session_dialect;

/* The kind of an entry, from its member "type". Both dialects have labels and session_info; every
 * other type belongs to one dialect. */
typedef enum session_kind {
    SESSION_OTHER = 0, /* an unknown type; such an entry is still part of the tree */
    SESSION_MESSAGE,
    SESSION_THINKING_LEVEL_CHANGE,
    SESSION_MODEL_CHANGE,
    SESSION_COMPACTION,
    SESSION_BRANCH_SUMMARY,
    SESSION_CUSTOM,
    SESSION_CUSTOM_MESSAGE,
    SESSION_LABEL,
    SESSION_INFO,
    SESSION_PLAIN_USER,
    SESSION_PLAIN_ASSISTANT,
    SESSION_PLAIN_TOOL,
    SESSION_PLAIN_TOOL_RESULT,
    SESSION_PLAIN_SYSTEM,
    SESSION_PLAIN_METADATA
} session_kind;
enum { SESSION_KINDS = SESSION_PLAIN_METADATA + 1 };

/* The role of an entry in a conversation. */
typedef enum session_role {
    SESSION_ROLE_NONE = 0, /* no role, or an unknown one */
    SESSION_ROLE_USER,
    SESSION_ROLE_ASSISTANT,
    SESSION_ROLE_TOOL_RESULT,
    SESSION_ROLE_BASH,
    SESSION_ROLE_CUSTOM, /* "custom", which version 2 called hookMessage */
    SESSION_ROLE_SYSTEM
} session_role;

typedef enum session_parent {
    SESSION_PARENT_ABSENT = 0, /* no parentId: a root. If the entry has no id either, the previous
                                  entry is its parent */
    SESSION_PARENT_NULL,       /* parentId is null or "": a root */
    SESSION_PARENT_NAMED,
    SESSION_PARENT_UNUSABLE /* parentId is no valid id: a root, counted as a missing parent */
} session_parent;

/* Members of an entry's body (its message, or the whole entry) that are read for all kinds. */
typedef enum session_field {
    SESSION_FIELD_API,
    SESSION_FIELD_STOP_REASON,
    SESSION_FIELD_PROVIDER,
    SESSION_FIELD_MODEL,
    SESSION_FIELD_TOOL_NAME,
    SESSION_FIELD_IS_ERROR,
    SESSION_FIELD_SUCCESS
} session_field;
enum { SESSION_FIELDS = SESSION_FIELD_SUCCESS + 1 };

typedef struct session_entry {
    uint64_t line;  /* line number, from 1 */
    slice text;     /* the line's JSON, exactly */
    unsigned flags; /* SCAN_HAS_ flags of the text */
    session_kind kind;
    session_role role;
    slice type;      /* decoded if possible */
    slice id;        /* decoded; see session_entry_read for a line without one */
    bool id_is_made; /* the line has no id, so one was made */
    session_parent parent_state;
    slice parent;       /* parentId, decoded; set only for SESSION_PARENT_NAMED */
    slice timestamp;    /* JSON, a string or a number; {NULL, 0} if absent */
    bool in_context;    /* may become a message for an LLM */
    scan_value value;   /* the whole object */
    scan_value body;    /* the value of "message" in a "message" entry, else the whole object */
    scan_value content; /* the body's content, summary, output or params; SCAN_NONE: absent */
    scan_value target; /* targetId, firstKeptEntryId or firstKeptEntryIndex, fromId or toolCallId */
    scan_value label;  /* the text of a label, the name of a session_info */
    slice first_kept;  /* decoded id of the first entry that a compaction keeps; empty: none; ptr
                          NULL: the line has an index, which the reader of the file resolves */
    scan_value fields[SESSION_FIELDS]; /* members of the body */
} session_entry;

/*
 * Reads the entry of a line whose kind is SESSION_LINE_ENTRY. The slices point into the line and
 * into `memory`. If the line has no id, one is made from the line number and `file_id`, the id of
 * the file's header (or empty). So the ids of entries do not depend on the id of the session that
 * the file is imported to. Returns false if the line is no entry, with a static text in `*reason`,
 * or if out of memory, with NULL in `*reason`.
 */
bool session_entry_read(session_entry *out, const session_line *line, slice file_id, arena *memory,
                        const char **reason);

/* Makes a session_line from the JSON of a stored entry, which was checked when it was stored.
 * Returns false if the JSON is no object. */
bool session_line_from_store(session_line *out, slice text);

/* Returns which setting an entry changes: "model" or "thinking"; NULL: none. */
const char *session_entry_sets(const session_entry *entry);

/* The header of a file. Only headers of version 1 contain provider, model and thinking level. */
typedef struct session_header {
    slice text;
    slice id;                                   /* decoded; empty: none, or not a valid id */
    slice timestamp;                            /* JSON */
    scan_value provider, model, thinking_level; /* SCAN_NONE if absent */
} session_header;

bool session_header_read(session_header *out, const session_line *line, arena *memory);

/* Returns the name of the member that an entry lacks, if a model would read nothing without it;
 * NULL: it lacks none. */
const char *session_entry_lacks(const session_entry *entry);

/* Returns why an entry is never part of a context: its type is unknown, or it has no content
 * although its kind requires some. Returns NULL for all other entries, also for a result whose call
 * is missing. */
#define SESSION_UNKNOWN_TYPE "an entry of an unknown type is never part of a context"
#define SESSION_NO_CONTENT   "an entry without content is never part of a context"
const char *session_entry_not_in_context(const session_entry *entry);

/* The names of the dialects by session_dialect, ended by NULL. */
extern const char *const SESSION_DIALECTS[];

/* Returns "plain" or "pi"; NULL for a negative number, which stands for an unknown dialect. */
const char *session_dialect_name(int dialect);

/* Returns the session_dialect with this name; -1: there is none. */
int session_dialect_named(slice name);

/* Returns the dialect of a kind. Labels and session_info count as pi, unknown kinds as plain. */
session_dialect session_kind_dialect(session_kind kind);

/* Returns whether a kind belongs to one dialect only. Labels and session_info belong to both, and
 * an unknown kind to neither. */
bool session_kind_has_dialect(session_kind kind);

/* Returns the type of a kind: "message", "tool_result", ...; "" for SESSION_OTHER. */
const char *session_kind_name(session_kind kind);

/* Returns the kind of entries with this type; SESSION_OTHER: the type is unknown. */
session_kind session_kind_named(slice type);

/* Returns the role that is stored and shown for an entry: "user", "assistant", "tool" or "system";
 * NULL: none. */
const char *session_role_shown(session_role role);

/* Makes the id of an entry whose line has none, from the id of the file's header and the line
 * number. NULL: out of memory. */
const char *session_line_id(slice file_id, uint64_t line, arena *memory);

/* Makes a UUIDv7 from the id of an owner and the name of a part of this owner. The same arguments
 * always make the same id. NULL: out of memory. */
const char *session_make_id(slice owner, slice part, arena *memory);

/* Appends the members id and parentId, and timestamp if it is not empty. */
void session_put_links(buf *out, slice id, slice parent, slice timestamp);

/* Decodes a JSON string. `out` points into the value if that has no escapes, else into `memory`.
 * Returns false if the value is no string, contains NUL or half a surrogate pair, or if out of
 * memory (then memory->failed). */
bool session_text_of(slice *out, scan_value string, arena *memory);

/* Reads several members of an object in one pass. If an object has a name twice, the last value is
 * returned. Absent members, and those whose name is NULL, become SCAN_NONE. */
void session_pick(scan_value object, const char *const *names, scan_value *out, size_t count);

/* Like session_pick, for the value at the current position of a walk. Moves the walk past this
 * value and returns it. */
scan_value session_pick_next(scan_walk *walk, const char *const *names, scan_value *out,
                             size_t count);

/* Returns whether a value is a string equal to `text`. */
bool session_string_is(scan_value value, const char *text);

#endif

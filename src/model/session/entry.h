/*
 * entry.h: one entry of a session in either dialect: its links, its kind, and slices of its line.
 * It knows no other entries.
 */
#ifndef MODEL_ENTRY_H
#define MODEL_ENTRY_H

#include <cardbox/ids.h>
#include "base/arena.h"
#include "model/session/line.h"

/* Maximum bytes of an entry's id, which is an index key like a card's id. */
#define SESSION_ID_MAX CARDBOX_CARD_ID_MAX

typedef enum session_dialect { SESSION_PLAIN, SESSION_PI } session_dialect;

/* The kind of an entry, from its type. The dialects have different types. */
typedef enum session_kind {
    SESSION_OTHER = 0, /* an unknown type, which still is an entry of the tree */
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

/* The role of an entry's author. */
typedef enum session_role {
    SESSION_ROLE_NONE = 0, /* no role, or an unknown one */
    SESSION_ROLE_USER,
    SESSION_ROLE_ASSISTANT,
    SESSION_ROLE_TOOL_RESULT,
    SESSION_ROLE_BASH,
    SESSION_ROLE_CUSTOM, /* version 2 called it hookMessage */
    SESSION_ROLE_SYSTEM
} session_role;

typedef enum session_parent {
    SESSION_PARENT_ABSENT = 0, /* no parentId: a root; if the entry has no id either, the previous
                                  entry is its parent */
    SESSION_PARENT_NULL,       /* null or "": a root */
    SESSION_PARENT_NAMED,
    SESSION_PARENT_UNUSABLE /* not a valid id: an additional root */
} session_parent;

/* Other members of messages, and of entries in the plain dialect. */
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
    unsigned flags; /* SCAN_HAS_ of the text */
    session_kind kind;
    session_role role;
    slice type;      /* decoded if possible */
    slice id;        /* decoded; made from the line number if the line has none */
    bool id_is_made; /* from the id of the file's header and the line's number */
    session_parent parent_state;
    slice parent;       /* parentId, decoded; set only for SESSION_PARENT_NAMED */
    slice timestamp;    /* JSON, a string or a number; {NULL, 0} if absent */
    bool in_context;    /* may become a message for an LLM, by its kind and role */
    scan_value value;   /* the whole object */
    scan_value body;    /* the message of a message entry, else the object */
    scan_value content; /* the body's content, summary or output; SCAN_NONE: absent */
    scan_value target;  /* targetId, firstKeptEntryId or firstKeptEntryIndex, fromId, toolCallId */
    scan_value label;   /* the text of a label, the name of a session_info */
    slice first_kept;   /* decoded id of the first entry that a compaction keeps; empty: none; ptr
                           NULL: its line has an index, which the reader of the file resolves */
    scan_value fields[SESSION_FIELDS]; /* members of the body */
} session_entry;

/*
 * Reads an entry's line from session_lines_next. The slices point into the line and into `memory`.
 * If the line has no id, one is made from `file_id`, the id of the file's header (or empty), and
 * the line number. So the ids of a file do not depend on the session's name. Returns false if the
 * line is no entry: `*reason` gets static text. NULL: out of memory.
 */
bool session_entry_read(session_entry *out, const session_line *line, slice file_id, arena *memory,
                        const char **reason);

/* Makes the line of a stored entry. Its JSON was checked when it was written. Returns false if
 * it is no object. */
bool session_line_from_store(session_line *out, slice text);

/* Returns the setting that an entry changes: "model", "thinking"; NULL: none. */
const char *session_entry_sets(const session_entry *entry);

/* A file's header. Only that of version 1 has settings. */
typedef struct session_header {
    slice text;
    slice id;                                   /* decoded; empty: none, or not a valid id */
    slice timestamp;                            /* JSON */
    scan_value provider, model, thinking_level; /* SCAN_NONE if absent */
} session_header;

bool session_header_read(session_header *out, const session_line *line, arena *memory);

/* Returns the required member that an entry lacks, without which a model would read nothing;
 * NULL: none. */
const char *session_entry_lacks(const session_entry *entry);

/* Returns why an entry with content for models is never part of a context; NULL: it may be, or
 * its kind has no content for models. A missing call of a result is not checked. */
#define SESSION_UNKNOWN_TYPE "an entry of an unknown type is never part of a context"
#define SESSION_NO_CONTENT   "an entry without content is never part of a context"
const char *session_entry_not_in_context(const session_entry *entry);

/* By session_dialect; NULL ends them. */
extern const char *const SESSION_DIALECTS[];

/* "plain", "pi"; NULL for a negative number: not yet known. */
const char *session_dialect_name(int dialect);

/* Returns the session_dialect with a name; -1: none. */
int session_dialect_named(slice name);

/* Returns the dialect of a kind. Unknown kinds count as plain. */
session_dialect session_kind_dialect(session_kind kind);

/* Returns whether a kind belongs to one dialect. Labels and names belong to both. */
bool session_kind_has_dialect(session_kind kind);

/* "message", "tool_result", ...; "" for SESSION_OTHER. */
const char *session_kind_name(session_kind kind);

/* Returns the kind of a type; SESSION_OTHER: unknown. */
session_kind session_kind_named(slice type);

/* Returns the role that services show: "user", "assistant", "tool", "system"; NULL: none. */
const char *session_role_shown(session_role role);

/* Returns the id of an entry without one, made from the file's id and the line number. */
const char *session_line_id(slice file_id, uint64_t line, arena *memory);

/* Makes a UUIDv7 from the owner's id and the name of a part of it. The same arguments make the
 * same id. NULL: out of memory. */
const char *session_make_id(slice owner, slice part, arena *memory);

/* Appends the members id, parentId, and timestamp if it is not empty. */
void session_put_links(buf *out, slice id, slice parent, slice timestamp);

/* Decodes a string token. `out` points into the line, if it has no escapes, or into `memory`.
 * Returns false if UTF-8 can't represent the string, or out of memory (memory->failed). */
bool session_text_of(slice *out, scan_value string, arena *memory);

/* Reads several members of an object in one pass; of members with one name, the last. A name
 * may be NULL. */
void session_pick(scan_value object, const char *const *names, scan_value *out, size_t count);

/* Like session_pick, for the current value of a walk. Returns that value and steps over it. */
scan_value session_pick_next(scan_walk *walk, const char *const *names, scan_value *out,
                             size_t count);

/* Returns whether a value is a string equal to `text`. */
bool session_string_is(scan_value value, const char *text);

#endif

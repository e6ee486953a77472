/*
 * entry.h: one entry of a session in any dialect: its id, parent id and kind, and slices of its
 * line. An entry is read without looking at other entries.
 */
#ifndef MODEL_ENTRY_H
#define MODEL_ENTRY_H

#include <cardbox/ids.h>
#include "base/arena.h"
#include "model/session/line.h"

/* Maximum bytes of an entry's id, which is an index key like a card's id. */
#define SESSION_ID_MAX CARDBOX_CARD_ID_MAX

typedef enum session_dialect {
    SESSION_PLAIN,
    SESSION_PI,
    SESSION_CLAUDE,
    SESSION_CODEX
} session_dialect;
enum { SESSION_DIALECT_COUNT = SESSION_CODEX + 1 };

/* The kind of an entry, from its member "type". Both dialects have labels and session_info. The
 * other known types belong to one dialect. */
typedef enum session_kind {
    SESSION_OTHER = 0, /* an unknown type; entries of unknown types are still part of the tree */
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
    SESSION_PLAIN_METADATA,
    SESSION_PLAIN_MESSAGE, /* a message of a model's API: of the type "message", with a format */
    SESSION_PLAIN_SETTINGS /* system text, tools and parameters of requests to a model */
} session_kind;
enum { SESSION_KINDS = SESSION_PLAIN_SETTINGS + 1 };

/* The role of an entry in a conversation. */
typedef enum session_role {
    SESSION_ROLE_NONE = 0, /* no role, or an unknown one */
    SESSION_ROLE_USER,
    SESSION_ROLE_ASSISTANT,
    SESSION_ROLE_TOOL_RESULT,
    SESSION_ROLE_BASH,
    SESSION_ROLE_CUSTOM, /* "custom", or its older name "hookMessage" */
    SESSION_ROLE_SYSTEM
} session_role;

typedef enum session_parent {
    SESSION_PARENT_ABSENT = 0, /* no parentId: an entry with an id is a root; the parent of an entry
                                  without an id is the previous entry */
    SESSION_PARENT_NULL,       /* parentId is null or "": the entry is a root */
    SESSION_PARENT_NAMED,
    SESSION_PARENT_UNUSABLE /* parentId is no valid id: the entry becomes a root */
} session_parent;

/* Members of an entry's body that are read for all kinds of entries. The body is the message of a
 * "message" entry, or any other entry as a whole. */
typedef enum session_field {
    SESSION_FIELD_API,
    SESSION_FIELD_STOP_REASON,
    SESSION_FIELD_PROVIDER,
    SESSION_FIELD_MODEL,
    SESSION_FIELD_TOOL_NAME,
    SESSION_FIELD_IS_ERROR,
    SESSION_FIELD_SUCCESS,
    SESSION_FIELD_NAME,
    SESSION_FIELD_USAGE
} session_field;
enum { SESSION_FIELDS = SESSION_FIELD_USAGE + 1 };

typedef struct session_entry {
    uint64_t line;  /* line number, from 1 */
    slice text;     /* the exact bytes of the line's JSON */
    unsigned flags; /* SCAN_HAS_ flags of the text */
    int dialect;    /* a session_dialect; -1: several dialects have such entries */
    session_kind kind;
    session_role role;
    slice type;      /* the member "type", decoded; empty if it can't be decoded */
    slice id;        /* the id, decoded; session_entry_read makes an id if the line has none */
    bool id_is_made; /* true: the line has no id, so an id was made */
    session_parent parent_state;
    slice parent;    /* parentId, decoded; set only for SESSION_PARENT_NAMED */
    slice timestamp; /* JSON, a string or a number; otherwise {NULL, 0} */
    bool is_aside;   /* true: of a conversation beside the session's own, so that the entry becomes
                        the head only if its parent is the head, or if there is no head */
    bool in_context; /* true: the entry may become part of a message for a model */
    bool is_beside;  /* true: the entry is not on the path of a context, but belongs to an answer on
                        it */
    scan_value value;   /* the whole object */
    scan_value body;    /* the message of a "message" entry, or any other entry as a whole */
    scan_value content; /* content of the body, such as "content" or "summary"; SCAN_NONE: absent */
    scan_value target; /* targetId, firstKeptEntryId or firstKeptEntryIndex, fromId or toolCallId */
    scan_value label;  /* the text of a label, the name of a session_info */
    int format;        /* a cardbox_format: of the message of a model's API, or of settings; -1: the
                          entry names no format */
    slice first_kept;  /* decoded id of the first entry that a compaction keeps; empty: none; ptr
                          NULL: the line has an index, which the caller must resolve */
    scan_value fields[SESSION_FIELDS]; /* members of the body */
    /* The usage that an API reported with an answer or a summary, and the model. In the dialect
     * codex: the numbers of an event, and the model of later answers. SCAN_NONE: none. */
    scan_value usage, model;
} session_entry;

/* The reason of session_entry_read for a line that a dialect knows, but that is no entry. */
extern const char SESSION_KEPT_LINE[];

/*
 * Reads the entry of a line whose kind is SESSION_LINE_ENTRY. The slices in `out` point into the
 * line and into `memory`. If the line has no id, an id is made from the line number and `file_id`,
 * which is the id of the file's header (or empty). So this id does not depend on the session that
 * the file is imported to. Returns false if the line is no entry, with a static text in `*reason`,
 * or if memory is exhausted, with NULL in `*reason`.
 */
bool session_entry_read(session_entry *out, const session_line *line, slice file_id, arena *memory,
                        const char **reason);

/* Makes a session_line from the JSON of a stored entry, without checking the JSON again. Returns
 * false if the JSON is no object. */
bool session_line_from_store(session_line *out, slice text);

/* Returns what an entry changes: "model", "thinking", or "settings" (those of requests); NULL:
 * nothing. */
const char *session_entry_sets(const session_entry *entry);

/* The header of a file. Headers of version 1 may contain provider, model and thinking level. */
typedef struct session_header {
    slice text;
    slice id;                                   /* decoded; empty: the header has no valid id */
    slice timestamp;                            /* JSON */
    scan_value provider, model, thinking_level; /* SCAN_NONE: absent */
} session_header;

bool session_header_read(session_header *out, const session_line *line, arena *memory);

/* If an entry lacks a member without which a model would read nothing, returns a description of
 * this member, such as "content". Otherwise returns NULL. */
const char *session_entry_lacks(const session_entry *entry);

/* Returns a reason if an entry is never part of a context because its type is unknown, or because
 * it has no content although its kind requires content. Otherwise returns NULL, also for labels and
 * settings, which are no messages. */
#define SESSION_UNKNOWN_TYPE "an entry of an unknown type is never part of a context"
#define SESSION_ADDITION     "additions of Claude Code to a request are never part of a context"
#define SESSION_NO_CONTENT   "an entry without content is never part of a context"
const char *session_entry_not_in_context(const session_entry *entry);

/* The names of the dialects, in the order of session_dialect, then NULL. */
extern const char *const SESSION_DIALECTS[];

/* Returns the name of a dialect; NULL for a negative number, which stands for an unknown dialect.
 */
const char *session_dialect_name(int dialect);

/* Returns the session_dialect with this name; -1: no dialect has this name. */
int session_dialect_named(slice name);

/* Returns what a file of a dialect is, such as "a session of pi". */
const char *session_dialect_file(int dialect);

/* Returns the dialect of a kind. Kinds of both dialects count as pi, unknown kinds as plain. */
session_dialect session_kind_dialect(session_kind kind);

/* Returns true if a kind belongs to one dialect only. Labels, compactions and session_info belong
 * to both dialects, and SESSION_OTHER to neither. */
bool session_kind_has_dialect(session_kind kind);

/* Returns true if a new entry of this kind always becomes the head of its session. Returns false
 * for kinds that no model sees: their entries become the head only if their parent is the head, or
 * if there is no head. The function update_session() has the same list of types. */
bool session_kind_moves_head(session_kind kind);

/* Returns the type of a kind: "message", "tool_result", ...; "" for SESSION_OTHER. */
const char *session_kind_name(session_kind kind);

/* Returns the kind of entries with this type; SESSION_OTHER: the type is unknown. */
session_kind session_kind_named(slice type);

/* Returns the kind of an entry with this type. `has_format`: the entry has a member "format", so an
 * entry of the type "message" holds a message of an API. */
session_kind session_kind_of(slice type, bool has_format);

/* Returns the role that is stored and shown for an entry: "user", "assistant", "tool" or "system";
 * NULL: no role. */
const char *session_role_shown(session_role role);

/* Makes an id for an entry whose line has no id, from the id of the file's header and the line
 * number. NULL: out of memory. */
const char *session_line_id(slice file_id, uint64_t line, arena *memory);

/* Makes a UUIDv7 from the id of an owner and the name of a part of this owner. The same arguments
 * make the same id. NULL: out of memory. */
const char *session_make_id(slice owner, slice part, arena *memory);

/* Reads a timestamp of either dialect, JSON, as milliseconds since 1970: a time as text, or an
 * integer. Returns false for any other JSON, and for times outside of the years 1 to 9999. */
bool session_time_ms(int64_t *out, slice timestamp);

/* Appends the members id and parentId, and the member timestamp if `timestamp` is not empty. If
 * parent.ptr is NULL, parentId is null in the dialect pi, and absent in the dialect plain. */
void session_put_links(buf *out, session_dialect dialect, slice id, slice parent, slice timestamp);

/* Decodes a JSON string. If the string has no escapes, `out` points into it, otherwise into
 * `memory`. Returns false if the value is no string or contains NUL or half a surrogate pair, or if
 * memory is exhausted (then memory->failed is true). */
bool session_text_of(slice *out, scan_value string, arena *memory);

/* Reads several members of an object in one pass. If a member occurs twice, its last value is
 * returned. The values of absent members, and of names that are NULL, become SCAN_NONE. */
void session_pick(scan_value object, const char *const *names, scan_value *out, size_t count);

/* Like session_pick, for the value at the current position of a walk. Returns this value, and moves
 * the walk past it. */
scan_value session_pick_next(scan_walk *walk, const char *const *names, scan_value *out,
                             size_t count);

/* Returns true if a value is a string whose decoded text equals `text`. */
bool session_string_is(scan_value value, const char *text);

#endif

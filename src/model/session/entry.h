/*
 * entry.h: one entry of a session in either dialect as plain data: what links it, what it is, and
 * the spans of what matters in its own bytes. Knows no other entries than the one before, and no
 * database.
 */
#ifndef MODEL_ENTRY_H
#define MODEL_ENTRY_H

#include <cardbox/ids.h>
#include "base/arena.h"
#include "model/session/line.h"

/* Bytes of an entry's id: it is an index key, as a card's id is. */
#define SESSION_ID_MAX CARDBOX_CARD_ID_MAX

typedef enum session_dialect { SESSION_PLAIN, SESSION_PI } session_dialect;

/* What an entry is, told by its type. The two dialects have no type in common. */
typedef enum session_kind {
    SESSION_OTHER = 0, /* a type that nobody knows: a link of the chain all the same */
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

/* Who speaks in it. */
typedef enum session_role {
    SESSION_ROLE_NONE = 0, /* nobody, or a role that is not known */
    SESSION_ROLE_USER,
    SESSION_ROLE_ASSISTANT,
    SESSION_ROLE_TOOL_RESULT,
    SESSION_ROLE_BASH,
    SESSION_ROLE_CUSTOM, /* version 2 called it hookMessage */
    SESSION_ROLE_SYSTEM
} session_role;

typedef enum session_parent {
    SESSION_PARENT_ABSENT = 0, /* no parentId: a root, or in version 1 the entry before */
    SESSION_PARENT_NULL,       /* null or "": a root */
    SESSION_PARENT_NAMED,
    SESSION_PARENT_UNUSABLE /* something that can't be an id: an extra root */
} session_parent;

/* What messages say besides, in a message or an entry of the plain dialect. */
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
    uint64_t line;  /* its number, from 1 */
    slice text;     /* the line's JSON, exactly */
    unsigned flags; /* SCAN_HAS_ of the text */
    session_kind kind;
    session_role role;
    slice type;      /* what it says, decoded where that is possible */
    slice id;        /* decoded; as made where the line has none */
    bool id_is_made; /* from the id of the file's header and the line's number */
    session_parent parent_state;
    slice parent;       /* decoded, where it is named */
    slice timestamp;    /* JSON, a string or a number; {NULL, 0} if absent */
    bool in_context;    /* can give a message for an LLM: said by its kind and role */
    scan_value value;   /* the whole object */
    scan_value body;    /* the message of a message entry, else the object */
    scan_value content; /* of the body: content, summary or output; SCAN_NONE if absent */
    scan_value target;  /* targetId, firstKeptEntryId or firstKeptEntryIndex, fromId, toolCallId */
    scan_value label;   /* a label's label, a session_info's name */
    slice first_kept; /* of a compaction: id of the first entry that it keeps, decoded; empty: none;
                        ptr NULL: its line has an index, which the reader of the file resolves */
    scan_value fields[SESSION_FIELDS]; /* of the body */
} session_entry;

/*
 * Reads an entry's line, as session_lines_next gave it; its views point into the line and into
 * `memory`. `file_id` is what ids are made of where a line has none: the id of the file's header,
 * or empty. It is not the session's: the same file has the same ids under any name, and so what
 * was appended to it and names them is right wherever an export of it goes. False: the line is no
 * entry, and *reason says why (static); reason NULL: out of memory.
 */
bool session_entry_read(session_entry *out, const session_line *line, slice file_id, arena *memory,
                        const char **reason);

/* The line of an entry that the database stores: its JSON was checked when it was written. False:
 * it is no object. */
bool session_line_from_store(session_line *out, slice text);

/* The setting that an entry changes: "model", "thinking"; NULL: none. */
const char *session_entry_sets(const session_entry *entry);

/* What a header says. Settings are version 1's. */
typedef struct session_header {
    slice text;
    slice id; /* decoded; empty if there is none that can be used */
    int64_t version;
    slice timestamp;                            /* JSON */
    scan_value provider, model, thinking_level; /* SCAN_NONE if absent */
} session_header;

bool session_header_read(session_header *out, const session_line *line, arena *memory);

/* The member that an entry lacks, of those without which one of its type says nothing to a model;
 * NULL: none. */
const char *session_entry_lacks(const session_entry *entry);

/* Why no model will see anything of an entry that is meant for models or may be; NULL: it will, or
 * is of a kind that is said to none. Whether a result has its call is not its own business. */
#define SESSION_UNKNOWN_TYPE "an entry of an unknown type is never part of a context"
#define SESSION_NO_CONTENT   "an entry without content is never part of a context"
const char *session_entry_not_in_context(const session_entry *entry);

/* "plain", "pi"; NULL for a negative number: nothing has told so far. */
const char *session_dialect_name(int dialect);

/* The session_dialect of a name; -1: there is none. */
int session_dialect_named(slice name);

/* The dialect that an entry of this kind belongs to. Of unknown ones: plain. */
session_dialect session_kind_dialect(session_kind kind);

/* Whether a kind tells the dialect: labels and names are put on sessions of either. */
bool session_kind_has_dialect(session_kind kind);

/* "message", "tool_result", ...; "" for SESSION_OTHER. */
const char *session_kind_name(session_kind kind);

/* The kind of a type; SESSION_OTHER for all that are not known. */
session_kind session_kind_named(slice type);

/* "user", "assistant", "tool", "system", as services see it; NULL: no role. */
const char *session_role_shown(session_role role);

/* The id of an entry whose line has none: one of the file and the line's number. */
const char *session_line_id(slice file_id, uint64_t line, arena *memory);

/* A UUIDv7 for what has no id of its own, made of the id of what it belongs to and of the words
 * that tell which part of that it is: the same each time. NULL: out of memory. */
const char *session_make_id(slice owner, slice part, arena *memory);

/* What a string token says, in the line itself or decoded into `memory`; false if no UTF-8 text can
 * hold it (or there is no memory, which the arena remembers). */
bool session_text_of(slice *out, scan_value string, arena *memory);

/* The values of some members of an object in one pass, the last of each name; a name may be NULL.
 */
void session_pick(scan_value object, const char *const *names, scan_value *out, size_t count);

/* The same of the value that a walk has come to (scan_to_member, scan_to_element), which it gives,
 * and steps over. */
scan_value session_pick_next(scan_walk *walk, const char *const *names, scan_value *out,
                             size_t count);

/* Whether a value is a string that says exactly this. */
bool session_says(scan_value value, const char *text);

#endif

/*
 * dialect.h: the dialects of sessions. A dialect is one table of functions, which is in the file of
 * its name. All dialects share the members of session_entry; entry.c calls the functions.
 */
#ifndef MODEL_DIALECT_H
#define MODEL_DIALECT_H

#include "model/session/message.h"

/* The members of an entry's body that are read. One pass reads all these members, because a pass
 * scans all bytes of the body. The names of the first three members depend on the entry's kind. */
enum { BODY_CONTENT, BODY_TARGET, BODY_LABEL, BODY_ROLE, BODY_EXCLUDED, BODY_FIELDS };
enum { BODY_MEMBERS = BODY_FIELDS + SESSION_FIELDS };

/* The members of a line. */
enum {
    LINE_TYPE,
    LINE_ID,
    LINE_PARENT,
    LINE_TIMESTAMP,
    LINE_MESSAGE,
    LINE_FORMAT,
    LINE_UUID,
    LINE_PAYLOAD,
    LINE_ANSWER,
    LINE_MEMBERS
};

/* A line whose members were read in one pass. */
typedef struct dialect_line {
    scan_value object;
    session_kind kind; /* the kind of the member "type" in the dialects plain and pi */
    scan_value found[LINE_MEMBERS];
    scan_value body[BODY_MEMBERS]; /* members of an object "message" */
} dialect_line;

/* Entries of a path that a context has. */
typedef struct dialect_path {
    const session_entry *const *entries;
    size_t end;
} dialect_path;

typedef struct dialect_table {
    const char *name;
    /* The kind of a file of this dialect, such as "a transcript of Claude Code". */
    const char *file;
    /* Returns true if a line belongs to this dialect, and to no other one. */
    bool (*recognise)(const dialect_line *line);
    /* Returns the JSON of the id. SCAN_NONE: the id is made from the number of the line. */
    scan_value (*id)(const dialect_line *line);
    /* Returns the JSON of the parent's id. SCAN_NONE: see SESSION_PARENT_ABSENT. */
    scan_value (*parent)(const dialect_line *line);
    /* Sets the kind of an entry and what depends on the kind. Returns false if the line is no entry
     * and is only kept. */
    bool (*classify)(session_entry *out, const dialect_line *line, arena *memory);
    /* Adds the entry at an index of a path to a context, perhaps together with later entries.
     * Returns the index after the last entry that was added. */
    size_t (*message)(context *ctx, const dialect_path *path, size_t at);
} dialect_table;

extern const dialect_table DIALECT_PLAIN, DIALECT_PI, DIALECT_CLAUDE, DIALECT_CODEX;

/* Returns the session_dialect to which a line belongs; -1: the line may belong to several dialects.
 */
int dialect_of_line(const dialect_line *line);

/* Returns the functions of a session_dialect; -1: those of plain. */
const dialect_table *dialect_numbered(int number);

/* The functions that plain and pi share. */
scan_value dialect_id(const dialect_line *line);
scan_value dialect_parent(const dialect_line *line);

/* Returns the cardbox_format that the member "format" names; -1: no format of an API. */
int dialect_format(const dialect_line *line);

/* Returns true if a line of the type "message" has such a format, and an object as its message. */
bool dialect_is_of_api(const dialect_line *line);

/* Sets role, body and content of an entry whose kind is set, from the members that the table of
 * kinds names. `body` contains members of the object "message". If this is no "message" entry with
 * an object as its message, the members of the entry itself are read. */
void dialect_read_body(session_entry *out, const dialect_line *line, arena *memory);

/* Makes an entry a message of an API. */
void dialect_set_message(session_entry *out, scan_value message, cardbox_format format);

/* Adds the body of an entry, a message of an API. */
void dialect_add_api(context *ctx, const session_entry *entry);

/* Adds a message without parts for an entry. NULL: out of memory. */
context_message *dialect_add(context *ctx, const session_entry *entry, context_role role,
                             context_origin origin);

/* Adds a text or a list of blocks, with the role of the entry. */
void dialect_add_text(context *ctx, const session_entry *entry, context_origin origin);

/* Adds the result of a call. */
void dialect_add_result(context *ctx, const session_entry *entry, context_origin origin);

/* Adds a user's message with the text in `inside`, which is the inside of a JSON string. Frees
 * `inside`. */
void dialect_add_made(context *ctx, const session_entry *entry, context_origin origin, buf *inside);

/* Adds the summary of a compaction, or of an abandoned branch. */
void dialect_add_summary(context *ctx, const session_entry *entry, context_origin origin);

#endif

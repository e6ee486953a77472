/*
 * foreign.h: recognises files that other programs wrote, which are JSON Lines but no sessions, and
 * messages of models' APIs, which are no entries.
 */
#ifndef MODEL_FOREIGN_H
#define MODEL_FOREIGN_H

#include "model/session/entry.h"

/* A kind of files of other programs. */
typedef struct session_foreign {
    const char *file;   /* such as "messages of a model's API" */
    const char *remedy; /* how the file can be stored; NULL: only with force */
} session_foreign;

/* Checks an object that no header and no entry precedes in its file. Returns what the file
 * is, if the object is not of a session. `entry` is the entry of the object; NULL: the object is no
 * entry. Returns NULL if the file may be a session. */
const session_foreign *session_foreign_file(scan_value object, const session_entry *entry);

/* The beginning of a file: its lines up to the first header or entry. */
typedef struct session_beginning {
    uint64_t lines;  /* number of lines that were checked */
    bool is_session; /* true: a header or an entry was found, or the beginning of a long object */
    const char *id;  /* id of a header that was found before other objects; NULL: none */
    uint64_t bad; /* number of the first line that is no header, no entry and not blank; 0: none */
    const char *reason; /* why the line `bad` is bad */
    const session_foreign
        *foreign; /* the kind of an object that is no entry; NULL: there is none */
} session_beginning;

/* Bytes at the beginning of a file in which a header or an entry is searched. */
enum { SESSION_BEGINNING_BYTES = 65536 };

/* Reads the beginning of a file. Returns false if memory is exhausted. */
bool session_beginning_read(session_beginning *out, slice bytes, arena *memory);

/* The type or the member by which session_is_api_message recognised an object. */
typedef struct session_api_sign {
    const char *what; /* "type" or "member" */
    slice name;
} session_api_sign;

/* Returns true if an object that a client appends looks like a message of a model's API. It has a
 * type of such messages. Or it has no type, and a member such as `role`. Or it has a type of the
 * dialect plain, and a member such as `tool_call_id`. */
bool session_is_api_message(session_api_sign *out, scan_value object);

/* Returns true if a type is that of an item of OpenAI's Responses API, other than "message". */
bool session_is_api_item(scan_value type);

#endif

/*
 * content.h: content by its class: which class it is of, its checks, its stored form and its plain
 * text. What the classes are is class.h's. Knows nothing of cards, HTTP or PostgreSQL.
 */
#ifndef MODEL_CONTENT_H
#define MODEL_CONTENT_H

#include "base/scan.h"

/* Bytes of the longest path, "files[4294967295].preview.source_frame_ts", with room; and of the
 * longest message. Both with their NUL. */
#define CONTENT_PATH_SIZE    128
#define CONTENT_MESSAGE_SIZE 128

/* Why content does not fit its class. */
typedef struct content_fault {
    const char *class_name;             /* static: the class of the whole content */
    char field[CONTENT_PATH_SIZE];      /* "text", "fields[1].name", "files[0].preview.uri" */
    char message[CONTENT_MESSAGE_SIZE]; /* goes on from the field's name: "must be a string, ..." */
} content_fault;

/* What content is of a known class, by its "__type__"; NULL if none. Static text. */
const char *content_class_of(scan_value content);

/* The same, and the members after the "__type__" where that is the first member and alone, which is
 * seen without walking through them; else rest is {NULL, 0}. */
const char *content_class_and_rest(scan_value content, view *rest);

/*
 * Checks content that scan_check accepted by its class's rules and appends its stored form:
 * "__type__", then every field of the class in the order of its table (null or its default where
 * unset), then members that the class does not know, as they came. Of members with one name the
 * last counts, the others go. Numbers and strings keep their bytes, except for strings that are
 * trimmed and times, which become UTC. Content of no known class is appended as it is.
 *
 * On a fault: false, and the buffer holds a part that is of no use. Memory and size are the
 * buffer's: see buf_ok when it is true.
 */
bool content_normalise(buf *out, view content, content_fault *fault);

/*
 * Appends content that scan_check accepted as plain text, valid UTF-8: a text; the JSON of a
 * JsonContent's data or a schema's fields; a file's uri, of several files one a line; a bare string
 * itself. Anything else, and content that does not fit its class, gives its JSON, compacted. What
 * UTF-8 can't hold (NUL, half a surrogate pair) becomes U+FFFD.
 */
void content_text(buf *out, view content);

#endif

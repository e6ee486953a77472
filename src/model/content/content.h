/*
 * content.h: recognises the class of content, checks it, and builds its stored form and its plain
 * text. class.h defines the classes. Knows nothing of cards, HTTP or PostgreSQL.
 */
#ifndef MODEL_CONTENT_H
#define MODEL_CONTENT_H

#include "base/scan.h"

/* More than the bytes of the longest path, "files[4294967295].preview.source_frame_ts", and of the
 * longest message, with a NUL. */
#define CONTENT_PATH_SIZE    128
#define CONTENT_MESSAGE_SIZE 128

/* The rule of its class that content violates. */
typedef struct content_error {
    const char *class_name;             /* static: the class of the whole content */
    char field[CONTENT_PATH_SIZE];      /* "text", "fields[1].name", "files[0].preview.uri" */
    char message[CONTENT_MESSAGE_SIZE]; /* continues after the field's name: "must be a string, ..."
                                         */
} content_error;

/* Returns the name of the class in "__type__"; NULL: no known class. Static text. */
const char *content_class_of(scan_value content);

/* Like content_class_of. If "__type__" is the first member, and the only one of that name,
 * `rest` receives the members after it; otherwise {NULL, 0}. */
const char *content_class_and_rest(scan_value content, slice *rest);

/* Checks content that scan_check accepted, and appends its stored form: "__type__", then all fields
 * of the class (null or the default if unset), then unknown members. If a name occurs twice, its
 * last member is kept. Numbers and strings keep their bytes, but some strings are trimmed and times
 * become UTC. Content of no known class is appended unchanged. Returns false for an error: ignore
 * the buffer. Otherwise check buf_ok for memory and size. */
bool content_normalise(buf *out, slice content, content_error *error);

/*
 * Appends content that scan_check accepted as plain text, valid UTF-8. This is a text, a bare
 * string, the uris of files (one a line), or the JSON of a JsonContent's data or of a schema's
 * fields. Other content, and content that breaks a rule of its class, becomes compact JSON. NUL and
 * half a surrogate pair become U+FFFD.
 */
void content_text(buf *out, slice content);

#endif

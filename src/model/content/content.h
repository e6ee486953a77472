/*
 * content.h: recognises the class of content, checks it, and builds its stored form and its plain
 * text. class.h defines the classes. Knows nothing of cards, HTTP or PostgreSQL.
 */
#ifndef MODEL_CONTENT_H
#define MODEL_CONTENT_H

#include "base/scan.h"

/* Sizes of the two buffers of a content_error. The longest path is
 * "files[N].preview.source_frame_ts". Paths and messages, with a NUL, are shorter than these sizes.
 */
#define CONTENT_PATH_SIZE    128
#define CONTENT_MESSAGE_SIZE 128

/* Describes the rule that a content violates. */
typedef struct content_error {
    const char *class_name;             /* static: the class of the whole content */
    char field[CONTENT_PATH_SIZE];      /* "text", "fields[1].name", "files[0].preview.uri" */
    char message[CONTENT_MESSAGE_SIZE]; /* continues after the field's name: "must be a string, ..."
                                         */
} content_error;

/* Returns the name of the class in "__type__" as static text; NULL if it is not a known class. */
const char *content_class_of(scan_value content);

/* Like content_class_of. If "__type__" is the first member, and other members but no second
 * "__type__" follow, `rest` receives the text from the next key to the closing brace; otherwise
 * {NULL, 0}. */
const char *content_class_and_rest(scan_value content, slice *rest);

/* Checks content that scan_check accepted, and appends its stored form: "__type__", then all fields
 * of the class (null or the default if unset), then unknown members. If a name occurs twice, its
 * last member is kept. Numbers and strings keep their bytes, but some strings are trimmed and times
 * become UTC. Content of no known class is appended unchanged. Returns false if the content
 * violates a rule: then ignore the buffer. Otherwise check buf_ok. */
bool content_normalise(buf *out, slice content, content_error *error);

/*
 * Appends content that scan_check accepted as plain text, in valid UTF-8. A TextContent or a string
 * becomes its text, files become their uris (one a line). All else becomes compact JSON: of a
 * JsonContent only its data, of a FieldsSchemaContent only its fields. In decoded strings, NUL and
 * half a surrogate pair become U+FFFD.
 */
void content_text(buf *out, slice content);

#endif

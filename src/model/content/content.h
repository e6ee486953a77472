/*
 * content.h: recognises the class of content, checks content, and builds its stored form and its
 * plain text. The classes are in the table of class.c. These files do not use cards, HTTP or
 * PostgreSQL.
 */
#ifndef MODEL_CONTENT_H
#define MODEL_CONTENT_H

#include "base/scan.h"

/* Sizes of the two buffers of a content_error. The longest path is
 * "files[N].preview.source_frame_ts". */
#define CONTENT_PATH_SIZE    128
#define CONTENT_MESSAGE_SIZE 128

/* Describes the rule that a content violates. */
typedef struct content_error {
    const char *class_name;             /* name of the class of the whole content; static text */
    char field[CONTENT_PATH_SIZE];      /* "text", "fields[1].name", "files[0].preview.uri" */
    char message[CONTENT_MESSAGE_SIZE]; /* such as "must be a string, not null" */
} content_error;

/* Returns the name of the content's class as static text; NULL if the content has no "__type__"
 * that names a class. */
const char *content_class_of(scan_value content);

/* Like content_class_of. If "__type__" is the first member, `rest` receives the text of the other
 * members, without the closing brace. `rest` receives {NULL, 0} if "__type__" is at another
 * position, is the only member, or may occur again. */
const char *content_class_and_rest(scan_value content, slice *rest);

/* Converts content from the form that reads return to the stored form, and appends it: adds
 * "__type__", and removes the member "data" around a ToolContent. The content must be a value that
 * scan_check accepted. It may have "__type__" already, if that names the same class. Returns false
 * if the content can't have the class `class_name`: then `reason` receives static text, such as "is
 * not the name of a content class". After true, the caller checks buf_ok(out). */
bool content_restore(buf *out, scan_value shown, slice class_name, const char **reason);

/* Checks content that scan_check accepted, and appends its stored form: "__type__", then all fields
 * of the class (null or a default for absent fields), then unknown members. Some strings are
 * trimmed, and times are converted to UTC. Content without a known class is appended unchanged.
 * Returns false if the content violates a rule: then `out` is incomplete. After true, the caller
 * checks buf_ok(out). */
bool content_normalise(buf *out, slice content, content_error *error);

/*
 * Appends content as plain text, in UTF-8. The content must be JSON that scan_check accepted. The
 * text of a TextContent and of a JSON string is appended decoded; NUL and half a surrogate pair
 * become U+FFFD. For files their uris are appended, one a line. Other content is appended as
 * compact JSON: for a JsonContent only its data, for a FieldsSchemaContent only its fields. For a
 * MessageContent the texts of the message are appended, one a line, or else the message as JSON.
 */
void content_text(buf *out, slice content);

#endif

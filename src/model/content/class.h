/*
 * class.h: the table of content classes, which contains the rules of their fields, and functions
 * that look up classes and fields in it. check.c applies the rules.
 */
#ifndef MODEL_CLASS_H
#define MODEL_CLASS_H

#include "model/content/content.h"

/* Maximum number of fields of a class. */
#define CONTENT_FIELDS_MAX 16

typedef enum content_kind {
    CONTENT_ANY,     /* any value, unchanged */
    CONTENT_STRING,  /* a string */
    CONTENT_URI,     /* a string with a uri that content_uri_fits accepts */
    CONTENT_TIME,    /* a string with a time, stored in UTC */
    CONTENT_NUMBER,  /* a number */
    CONTENT_INTEGER, /* a number with an integer value, such as 2 or 2.0, of any size */
    CONTENT_OBJECT,  /* an object, stored unchanged */
    CONTENT_JSON,    /* an object or an array, stored unchanged */
    CONTENT_OBJECTS, /* an array of objects, stored unchanged */
    CONTENT_PART,    /* an object with the fields of `part` */
    CONTENT_PARTS,   /* an array of objects with the fields of `part` */
    CONTENT_FILES    /* an array of objects; the "__type__" of each names a file class */
} content_kind;

enum {
    CONTENT_REQUIRED = 1 << 0,  /* the field must be present, and not null */
    CONTENT_NOT_EMPTY = 1 << 1, /* a string or an array must not be empty */
    CONTENT_TRIM = 1 << 2, /* white space at both ends of a string is removed before the checks */
    CONTENT_POSITIVE = 1 << 3, /* a number must be above 0 */
    CONTENT_NATURAL = 1 << 4   /* a number must be 0 or above */
};

typedef struct content_class content_class;

typedef struct content_field {
    const char *name;
    content_kind kind;
    unsigned rules;             /* flags, such as CONTENT_REQUIRED */
    const char *const *choices; /* the values that a string may have, then NULL; NULL: any value */
    const char *unset;          /* JSON that is stored for an absent or null field; NULL: null */
    const content_class *part;  /* class of a CONTENT_PART or of the elements of CONTENT_PARTS */
} content_field;

struct content_class {
    const char *name;            /* the value of "__type__"; the name of a part is not stored */
    const content_field *fields; /* the list ends with a field whose name is NULL */
    const char *text; /* name of the field that content_text() shows; NULL: it shows all as JSON */
    bool is_part;     /* objects of this class are inside other content and have no "__type__" */
    bool is_file;     /* objects of this class may be in a MultiFileContent */
    bool is_result;   /* the field error must be set if and only if status is not "success" */
    bool is_message;  /* the field message must have a role, or in the format responses a type */
};

/* Returns the class that the "__type__" of an object names; NULL if "__type__" is missing or names
 * no class. Classes of parts are not found. */
const content_class *content_class_find(scan_value content);

/* Returns the class with a name; NULL if there is none. Classes of parts are not found. */
const content_class *content_class_named(slice name);

/* Return the index of the field with a name; -1 if the class has no such field. `name` is C text,
 * `key` is a JSON string token. */
int content_field_named(const content_class *class, const char *name);
int content_field_find(const content_class *class, slice key);

/* Returns true if the class has no field named `key`. In a class that is no part, "__type__" counts
 * as known. */
bool content_is_unknown(const content_class *class, slice key);

/* Returns the first code point of `rest`, which is the inside of a valid string token, and moves
 * `rest` past this code point. The code point may be half a surrogate pair. `rest` must not be
 * empty. */
uint32_t content_next_char(slice *rest);

/* Returns the inside of a string token without white space at its start and end. White space is
 * Unicode's White_Space and the separators U+001C to U+001F. */
slice content_trim(slice inside);

/* Returns true if the inside of a string token is empty, or has only white space, control
 * characters and characters that Unicode calls Default_Ignorable_Code_Point. */
bool content_is_blank(slice inside);

/* Returns true if the inside of a string token, decoded, equals `text`, which must be ASCII. */
bool content_says(slice inside, const char *text);

/* Compares the insides of two string tokens by their code points. The result is below 0, 0 or above
 * 0. */
int content_compare(slice a, slice b);

/* Returns true if a decoded uri is allowed: s3 with a bucket and a key, or https with a host and a
 * path, and no control characters. If false, `must` receives static text that states the violated
 * rule. */
bool content_uri_fits(slice uri, const char **must);

/* Return whether a JSON number is above 0, and whether it is 0. Both results are exact for numbers
 * of any size. */
bool content_number_is_positive(slice number);
bool content_number_is_zero(slice number);

/* Appends the members of `object` for which content_is_unknown() is true, each after a comma. If
 * several of them have the same name, only the last one is appended. */
void content_put_unknown(buf *out, const content_class *class, scan_value object);

#endif

/*
 * class.h: the table of content classes and functions that find members by it. The table contains
 * the rules of fields; check.c applies them.
 */
#ifndef MODEL_CLASS_H
#define MODEL_CLASS_H

#include "model/content/content.h"

/* At least the number of fields of the largest class. */
#define CONTENT_FIELDS_MAX 16

typedef enum content_kind {
    CONTENT_ANY,     /* any value, unchanged */
    CONTENT_STRING,  /* a string */
    CONTENT_URI,     /* a string by the uri rule */
    CONTENT_TIME,    /* a string with a time, stored in UTC */
    CONTENT_NUMBER,  /* a number */
    CONTENT_INTEGER, /* a number without a fraction, of any size */
    CONTENT_OBJECT,  /* an object, unchanged */
    CONTENT_JSON,    /* an object or an array, unchanged */
    CONTENT_OBJECTS, /* an array of objects, each unchanged */
    CONTENT_PART,    /* an object with the fields of `part` */
    CONTENT_PARTS,   /* an array of such objects */
    CONTENT_FILES    /* an array of objects, each of a file class that its "__type__" names */
} content_kind;

enum {
    CONTENT_REQUIRED = 1 << 0,  /* must be present, and not null */
    CONTENT_NOT_EMPTY = 1 << 1, /* a string with a character, an array with an element */
    CONTENT_TRIM = 1 << 2,      /* white space around a string is removed before all other rules */
    CONTENT_POSITIVE = 1 << 3,  /* above 0 */
    CONTENT_NATURAL = 1 << 4,   /* 0 or above */
    CONTENT_AFTER = 1 << 5      /* "suspend" or "terminate" */
};

typedef struct content_class content_class;

typedef struct content_field {
    const char *name;
    content_kind kind;
    unsigned rules;            /* CONTENT_REQUIRED and so on */
    const char *unset;         /* JSON stored where the field is unset; NULL: null */
    const content_class *part; /* for CONTENT_PART and CONTENT_PARTS */
} content_field;

struct content_class {
    const char *name;            /* the value of "__type__"; of a part, a name for messages */
    const content_field *fields; /* required ones first; one without a name ends them */
    const char *text;            /* the field that is the content's plain text; NULL: none */
    bool is_part;                /* has no "__type__" */
    bool is_file;                /* may be in a MultiFileContent */
    bool is_result;              /* status and error exclude each other */
};

/* The class of an object by its "__type__", or NULL. Parts are not found. */
const content_class *content_class_find(scan_value content);

/* The class of a name, or NULL. */
const content_class *content_class_named(const char *name);

/* The index of a field in its class, by its name as text or as a string token; -1: no such field.
 */
int content_field_named(const content_class *class, const char *name);
int content_field_find(const content_class *class, slice key);

/* True if a member is not a field of the class, and not its "__type__". */
bool content_is_unknown(const content_class *class, slice key);

/* The next character of the inside of a valid string token: a code point, half a pair included.
 * Moves `rest` past it, which must not be empty. */
uint32_t content_next_char(slice *rest);

/* The inside of a token without leading and trailing white space: Unicode's White_Space, and the
 * separators U+001C to U+001F. */
slice content_trim(slice inside);

/* True if the inside of a token is empty or white space only. */
bool content_is_blank(slice inside);

/* True if the inside of a token, decoded, equals `text`, which is ASCII. */
bool content_says(slice inside, const char *text);

/* Compares the insides of two tokens by their decoded characters. */
int content_compare(slice a, slice b);

/* True if a decoded uri has an allowed scheme. Otherwise `must` becomes static text that describes
 * an allowed uri. */
bool content_uri_fits(slice uri, const char **must);

/* True if a JSON number is above 0, or is 0; exact at any size. */
bool content_number_is_positive(slice number);
bool content_number_is_zero(slice number);

/* Appends the members of an object that its class does not know, each after a comma, the last of
 * each name. */
void content_put_unknown(buf *out, const content_class *class, scan_value object);

#endif

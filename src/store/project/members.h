/*
 * members.h: the members of the lines of imports and exports. One table for both directions has the
 * members of each kind, in the order of the columns of the export's statement.
 */
#ifndef STORE_MEMBERS_H
#define STORE_MEMBERS_H

#include "db/params.h"
#include "db/rows.h"
#include "db/statement.h"
#include "store/project/item.h"

typedef enum member_type {
    MEMBER_TEXT,       /* a text without control characters, such as an id */
    MEMBER_TOKEN,      /* a string, stored as its JSON token */
    MEMBER_TEXT_TOKEN, /* a string, stored as its JSON token; its column in an export is the content
                          of a card */
    MEMBER_OBJECT,     /* an object whose bytes are stored unchanged */
    MEMBER_JSONB,      /* any JSON that jsonb can hold */
    MEMBER_IDS,        /* an array of strings; null is read as [] */
    MEMBER_UUID,    /* only imports use MEMBER_UUID and MEMBER_IDS: export_boxes.c writes boxes */
    MEMBER_CONTENT, /* the content of a card: item.c checks it */
    MEMBER_BOOL,    /* a boolean; exported only if it is true */
    MEMBER_INT4,    /* an integer of 32 bits */
    MEMBER_INT8,    /* an integer of 64 bits */
    MEMBER_MS,      /* a time in milliseconds since 1970 */
    MEMBER_TIME,    /* a time in RFC 3339 */
    MEMBER_BYTES, /* bytes as a string; exported as NAME_base64 if they are not UTF-8 or contain NUL
                   */
    MEMBER_BASE64,      /* import only: bytes in base64 */
    MEMBER_CONTENT_TEXT /* import only: a string that contains the JSON of the content */
} member_type;

enum {
    MEMBER_REQUIRED = 1, /* import: the member must be present and not null */
    MEMBER_NULL = 2,     /* export: a NULL column becomes null; without this flag it is omitted */
    MEMBER_PAST = 4,     /* import: the time may be at most CHECK_AHEAD_MAX_S after now */
    MEMBER_EMPTY = 8,    /* import: the text may be empty */
    MEMBER_LINES = 16    /* import: the text may contain tabs and line ends */
};

typedef struct member {
    const char *name; /* NULL: the end of the array */
    member_type type;
    unsigned flags;
    size_t offset; /* in import_item */
    size_t extra;  /* a text: its maximum bytes; otherwise the offset of the bool that is set if the
                      member has a value; 0: none */
} member;

/* A kind of line. The statement of a kind has the parameters tenant, keys of the last row of the
 * previous page (NULLs: the first page), and number of rows. The statement returns the rows after
 * these keys. */
enum { EXPORT_KEYS = 4 };
typedef struct member_kind {
    const char *name;
    const member *members;
    statement_id statement; /* not for boxes */
    struct {
        params_type type; /* PARAMS_TEXT or PARAMS_INT8; 0: there is no such key */
        int column;
    } keys[EXPORT_KEYS];
} member_kind;

extern const member_kind MEMBER_KINDS[TRANSFER_OTHER];

/* Appends the column of a row as a member, after a comma. Appends nothing for a member that is to
 * be omitted. */
void member_write(buf *out, const member *m, const store_rows *rows, int row, int column);

/* False: this member and all that follow in its array are only for imports, or the array ends here.
 */
bool member_is_exported(const member *m);

/* Reads a value into the item. */
cardbox_status member_read(import_item *item, const member *m, scan_value value,
                           cardbox_error *err);

/* Sets the error "NAME must be WANTED, not KIND", or that the member is missing. */
cardbox_status member_wrong_kind(cardbox_error *err, const char *name, const char *wanted,
                                 scan_value value);

/* Decodes a string token into memory of the item. False: UTF-8 can't represent the string, or
 * memory ran out. */
bool member_decode(import_item *item, scan_value value, slice *out);

/* Reads a text of 1 to `max` bytes without control characters, into memory of the item. */
cardbox_status member_read_text(import_item *item, scan_value value, const char *name, size_t max,
                                slice *out, cardbox_error *err);

#endif

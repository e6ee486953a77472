/*
 * schema.h: checks values against the part of JSON Schema that tools use, and schemas themselves.
 *
 * Keywords of values: type, enum, const, $ref within the schema ("#/$defs/x"), anyOf, allOf, oneOf.
 * Keywords of objects: properties, required, additionalProperties, minProperties, maxProperties.
 * Keywords of arrays: items, minItems, maxItems. Keywords of strings: minLength, maxLength.
 * Keywords of numbers: minimum, maximum, exclusiveMinimum, exclusiveMaximum. Annotations such as
 * format are accepted.
 *
 * They follow the rules common to 2020-12 and draft 7. `pattern` is not supported, because C's
 * regular expressions differ from those of JSON Schema.
 */
#ifndef BUS_SCHEMA_H
#define BUS_SCHEMA_H

#include "base/scan.h"
#include "cardbox/status.h"

/* Maximum levels of schemas, including references. It ends a schema that refers to itself. */
#define SCHEMA_DEPTH_MAX 64

/* Maximum properties of one schema: a bit set records those seen. */
#define SCHEMA_PROPERTIES_MAX 256

/* Maximum schema checks in one validation, because nested alternatives multiply. They take
 * about 50 ms, in which a server's loop does nothing else. The largest input of an ability,
 * 10,000 ids or 1,000 cards, needs a tenth of them. */
#define SCHEMA_STEPS_MAX 100000

/* Returns CARDBOX_OK if a text is a schema. Otherwise returns CARDBOX_INVALID with the location
 * and the error, or CARDBOX_TOO_LARGE if its JSON is nested too deeply. Keywords other than
 * those above are appended to `unchecked`, each once, separated by commas. */
cardbox_status schema_check(buf *unchecked, slice schema, cardbox_error *err);

/* Maximum errors that are listed, and that are counted. At the second limit validation stops. */
#define SCHEMA_ERRORS_MAX 10
#define SCHEMA_MORE_MAX   1000

typedef struct schema_error {
    char pointer[208]; /* a JSON pointer; "": the whole value */
    char message[264]; /* the violated rule */
    unsigned depth;    /* depth of the location */
} schema_error;

typedef struct schema_errors {
    size_t count, more;
    schema_error list[SCHEMA_ERRORS_MAX];
} schema_errors;

/* Validates a value against a schema that schema_check has accepted. Returns CARDBOX_INVALID with
 * the errors in `out`, which may be NULL, and in the message. Missing members come first. A known
 * member that occurs twice is an error. If the schema has unchecked keywords, too much is accepted:
 * oneOf counts as anyOf, and additionalProperties beside patternProperties and items beside
 * prefixItems are ignored. */
cardbox_status schema_validate(schema_errors *out, scan_value schema, scan_value value,
                               cardbox_error *err);

#endif

/*
 * schema.h: checks values against JSON Schemas, and checks the schemas themselves. Supports a
 * part of JSON Schema.
 *
 * Keywords of values: type, enum, const, $ref within the schema ("#/$defs/x"), anyOf, allOf, oneOf.
 * Keywords of objects: properties, required, additionalProperties, minProperties, maxProperties.
 * Keywords of arrays: items, minItems, maxItems. Keywords of strings: minLength, maxLength.
 * Keywords of numbers: minimum, maximum, exclusiveMinimum, exclusiveMaximum. Annotations such as
 * format are accepted.
 *
 * These keywords follow the rules that the versions 2020-12 and draft 7 share. `pattern` is not
 * supported, because C's regular expressions differ from those of JSON Schema.
 *
 * Unsupported keywords accept every value. In a schema with such keywords, oneOf accepts several
 * matches, and additionalProperties beside patternProperties and items beside prefixItems are
 * ignored.
 */
#ifndef BUS_SCHEMA_H
#define BUS_SCHEMA_H

#include "base/scan.h"
#include "cardbox/status.h"

/* Maximum depth of nested schemas, including references. This limit ends the recursion of a schema
 * that refers to itself. */
#define SCHEMA_DEPTH_MAX 64

/* Maximum number of properties and of required names of one schema. The validation records in a bit
 * set which properties it has seen. */
#define SCHEMA_PROPERTIES_MAX 256

/* Maximum number of checks of a value against a schema in one validation, because nested
 * alternatives multiply. A server's loop is blocked for about 50 ms by this number of checks. The
 * largest inputs of abilities, 10,000 ids or 1,000 cards, need about a tenth of this number. */
#define SCHEMA_STEPS_MAX 100000

/* A validation with SCHEMA_PATIENT may also have SCHEMA_BYTE_STEPS steps for each byte of the
 * value. So the work depends on the size of the value, and not on how a schema nests its
 * alternatives. A scan of SCHEMA_STEP_BYTES of a schema or a value counts as a step.
 * SCHEMA_PATIENT_MS is a second limit. */
#define SCHEMA_BYTE_STEPS 2
#define SCHEMA_STEP_BYTES 128
#define SCHEMA_PATIENT_MS 5000

/* Options of a validation. SCHEMA_NULL_IS_ABSENT: a member that is not required may be null,
 * whatever its schema. SCHEMA_PATIENT: the caller is not a loop, so the validation may take long.
 */
enum { SCHEMA_EXACT = 0, SCHEMA_NULL_IS_ABSENT = 1, SCHEMA_PATIENT = 2 };

/* Names of members of schemas, each once. They point into the text of the schema, and their escapes
 * are not decoded. */
#define SCHEMA_NAMES_MAX 100

typedef struct schema_names {
    size_t count;
    bool has_more; /* there are further names */
    slice name[SCHEMA_NAMES_MAX];
} schema_names;

/* Returns CARDBOX_OK if a text is a valid schema. Otherwise returns CARDBOX_INVALID with the
 * location and the error, or CARDBOX_TOO_LARGE if the JSON is nested too deeply. Adds the names of
 * unsupported keywords to `unchecked`. */
cardbox_status schema_check(schema_names *unchecked, slice schema, cardbox_error *err);

/* A validation lists at most SCHEMA_ERRORS_MAX errors and counts further ones. When SCHEMA_MORE_MAX
 * further errors are counted, the validation stops. */
#define SCHEMA_ERRORS_MAX 10
#define SCHEMA_MORE_MAX   1000

typedef struct schema_error {
    char pointer[208]; /* a JSON pointer; "": the whole value */
    char steps[208];   /* the steps of the pointer as JSON, each after a comma: ,"cards",3 */
    char message[264]; /* the violated rule */
    unsigned depth;    /* number of steps in the pointer */
} schema_error;

typedef struct schema_errors {
    size_t count, more;
    schema_error list[SCHEMA_ERRORS_MAX];
} schema_errors;

/* Validates a value against a schema that schema_check has accepted. Returns CARDBOX_INVALID with
 * the errors in `out`, which may be NULL, and in the message. A known member that occurs twice is
 * an error. `options` is a sum of SCHEMA_... */
cardbox_status schema_validate(schema_errors *out, scan_value schema, scan_value value,
                               unsigned options, cardbox_error *err);

#endif

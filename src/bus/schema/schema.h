/*
 * schema.h: JSON Schema, the part of it that tools use: whether a value is as a schema says, and
 * whether a schema says only what is checked here. Pure: texts in, a message out. Knows no ability.
 *
 * Keywords: type, enum, const, properties, required, additionalProperties, items, minItems,
 * maxItems, minProperties, maxProperties, minLength, maxLength, minimum, maximum,
 * exclusiveMinimum, exclusiveMaximum, anyOf, allOf, oneOf, $ref within the schema ("#/$defs/x"),
 * and the annotations, format among them. They mean what 2020-12 and draft 7 agree on. `pattern` is
 * not among them on purpose: C's regular expressions are not those of JSON Schema.
 */
#ifndef BUS_SCHEMA_H
#define BUS_SCHEMA_H

#include "base/scan.h"
#include "cardbox/status.h"

/* Levels of schemas that are followed, references included: one that refers to itself for ever
 * ends there. */
#define SCHEMA_DEPTH_MAX 64

/* Properties of one schema: what was seen of them is a bit each. */
#define SCHEMA_PROPERTIES_MAX 256

/* Times that a schema meets a value in one check: forms within forms multiply, and a list may be as
 * long as a request. Some 50 ms, in which a server's loop does nothing else; the largest input of
 * an ability, 10,000 ids or 1,000 cards, is a tenth of it. */
#define SCHEMA_STEPS_MAX 100000

/* Whether a text is a schema: CARDBOX_OK, or CARDBOX_INVALID (CARDBOX_TOO_LARGE if its JSON is
 * nested too deeply) with the place and the error there. Keywords other than those above are
 * appended to `unchecked`, each once, with commas between. */
cardbox_status schema_check(buf *unchecked, slice schema, cardbox_error *err);

/* Faults of one value that are told of; how many more there are is counted, up to so many: then the
 * check ends. */
#define SCHEMA_FAULTS_MAX 10
#define SCHEMA_MORE_MAX   1000

typedef struct schema_fault {
    char place[208];   /* a JSON pointer; "" for the whole value */
    char message[264]; /* what is wrong there */
    unsigned depth;    /* of the place */
} schema_fault;

typedef struct schema_faults {
    size_t count, more;
    schema_fault list[SCHEMA_FAULTS_MAX];
} schema_faults;

/*
 * Whether a value is as the schema says, which schema_check has accepted: CARDBOX_OK, or
 * CARDBOX_INVALID with all that is wrong, in an object what is missing first: in `out`, and as many
 * as fit in the message. In an object whose members the schema names, none of these may stand
 * twice. `out` may be NULL. A schema with unchecked keywords never refuses a value that it allows:
 * oneOf counts as anyOf, additionalProperties beside patternProperties as true, and so does items
 * beside prefixItems.
 */
cardbox_status schema_validate(schema_faults *out, scan_value schema, scan_value value,
                               cardbox_error *err);

#endif

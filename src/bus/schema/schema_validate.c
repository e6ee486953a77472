/*
 * schema_validate.c: the keywords of JSON Schema, one function each and a table of them. A keyword
 * that is about another kind of value holds, as the standard has it.
 */
#include <inttypes.h>
#include <stdio.h>
#include "bus/schema/schema_internal.h"
#include "base/errors.h"

/* Bytes of a value or name that a message shows. */
enum { SHOWN_MAX = 100 };

static bool validate(schema_run *run, scan_value schema, scan_value value, const schema_place *at);

/* Whether what stands beside a fault is looked at too. */
static bool may_go_on(const schema_run *run, bool fine)
{
    return fine || (run->all && *run->steps > 0 && run->faults->more < SCHEMA_MORE_MAX);
}

static int shown(slice text)
{
    return (int)slice_cut(text, SHOWN_MAX);
}

/* --- of any value --- */

static bool holds_type(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                       const schema_place *at)
{
    scan_value item;
    (void)schema;
    if (argument.kind == SCAN_STRING && schema_is_type(value, argument.text))
        return true;
    for (scan_walk walk = scan_enter(argument); scan_element(&walk, &item);)
        if (schema_is_type(value, item.text))
            return true;
    return schema_refuse(run, at, "expected %.*s, got %s", shown(argument.text), argument.text.ptr,
                         value.kind == SCAN_NUMBER ? "a number" : scan_kind_name(value.kind));
}

static bool holds_enum(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                       const schema_place *at)
{
    scan_value item;
    (void)schema;
    for (scan_walk walk = scan_enter(argument); scan_element(&walk, &item);)
        if (scan_equal(item, value))
            return true;
    return schema_refuse(run, at, "expected one of %.*s", shown(argument.text), argument.text.ptr);
}

static bool holds_const(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                        const schema_place *at)
{
    (void)schema;
    if (scan_equal(argument, value))
        return true;
    return schema_refuse(run, at, "expected %.*s", shown(argument.text), argument.text.ptr);
}

/* --- of objects --- */

/* The property that a string token names, and which one it is; of none, how many there are. */
static scan_value find_property(scan_value properties, slice token, size_t *index)
{
    slice key;
    scan_value value;
    *index = 0;
    for (scan_walk walk = scan_enter(properties); scan_member(&walk, &key, &value); ++*index)
        if (scan_string_equal(key, token))
            return value;
    return (scan_value){SCAN_NONE, {NULL, 0}};
}

/* Says as well what is known, as far as there is room. */
static bool refuse_unknown(schema_run *run, scan_value properties, const schema_place *at)
{
    char known[2 * SHOWN_MAX];
    size_t len = 0;
    slice key;
    scan_value value;
    for (scan_walk walk = scan_enter(properties); scan_member(&walk, &key, &value);) {
        if (len + key.len + sizeof(", ...") > sizeof(known)) {
            snprintf(known + len, sizeof(known) - len, ", ...");
            break;
        }
        len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%.*s", len == 0 ? "" : ", ",
                                (int)key.len - 2, key.ptr + 1);
    }
    if (len == 0)
        return schema_refuse(run, at, "is not known here, where there are no members");
    return schema_refuse(run, at, "is not known here (known: %s)", known);
}

/* Each member once: it is as its property says, or, if it has none, as `additional` does. */
static bool check_members(schema_run *run, scan_value properties, scan_value additional,
                          scan_value value, const schema_place *at)
{
    uint64_t seen[SCHEMA_PROPERTIES_MAX / 64] = {0};
    slice key;
    scan_value member;
    size_t index;
    bool fine = true;
    for (scan_walk walk = scan_enter(value);
         value.kind == SCAN_OBJECT && may_go_on(run, fine) && scan_member(&walk, &key, &member);) {
        scan_value wanted = find_property(properties, key, &index);
        schema_place place = schema_member(at, key);
        bool known = wanted.kind != SCAN_NONE;
        if (!known && additional.kind == SCAN_FALSE) {
            fine = refuse_unknown(run, properties, &place);
        } else if (known && (seen[index / 64] >> (index % 64) & 1) != 0) {
            fine = schema_refuse(run, &place, "is there more than once");
        } else if (known || additional.kind != SCAN_NONE) {
            fine = validate(run, known ? wanted : additional, member, &place) && fine;
            if (known)
                seen[index / 64] |= UINT64_C(1) << (index % 64);
        }
    }
    return fine;
}

/* patternProperties are not checked: any other member may be one of them. */
static scan_value additional_of(scan_value schema)
{
    if (scan_find(schema, "patternProperties").kind != SCAN_NONE)
        return (scan_value){SCAN_NONE, {NULL, 0}};
    return scan_find(schema, "additionalProperties");
}

static bool holds_properties(schema_run *run, scan_value schema, scan_value argument,
                             scan_value value, const schema_place *at)
{
    return check_members(run, argument, additional_of(schema), value, at);
}

/* Where there are properties they have looked at it. */
static bool holds_additional(schema_run *run, scan_value schema, scan_value argument,
                             scan_value value, const schema_place *at)
{
    const scan_value none = {SCAN_NONE, {NULL, 0}};
    (void)argument;
    if (scan_find(schema, "properties").kind != SCAN_NONE)
        return true;
    return check_members(run, none, additional_of(schema), value, at);
}

static bool holds_required(schema_run *run, scan_value schema, scan_value argument,
                           scan_value value, const schema_place *at)
{
    scan_value name;
    size_t index;
    bool fine = true;
    (void)schema;
    for (scan_walk walk = scan_enter(argument);
         value.kind == SCAN_OBJECT && may_go_on(run, fine) && scan_element(&walk, &name);) {
        schema_place place = schema_member(at, name.text);
        if (find_property(value, name.text, &index).kind == SCAN_NONE)
            fine = schema_refuse(run, &place, "is missing");
    }
    return fine;
}

/* --- counts --- */

static bool check_least(schema_run *run, scan_value argument, int64_t count, const char *what,
                        const schema_place *at)
{
    int64_t least = 0;
    scan_integer(argument.text, &least);
    if (count >= least)
        return true;
    return schema_refuse(run, at, "has %" PRId64 " %s, at least %" PRId64 " are expected", count,
                         what, least);
}

static bool check_most(schema_run *run, scan_value argument, int64_t count, const char *what,
                       const schema_place *at)
{
    int64_t most = INT64_MAX;
    scan_integer(argument.text, &most);
    if (count <= most)
        return true;
    return schema_refuse(run, at, "has %" PRId64 " %s, at most %" PRId64 " are allowed", count,
                         what, most);
}

#define COUNT_KEYWORD(name, kind_of, check, count, what)                                           \
    static bool name(schema_run *run, scan_value schema, scan_value argument, scan_value value,    \
                     const schema_place *at)                                                       \
    {                                                                                              \
        (void)schema;                                                                              \
        return value.kind != (kind_of) || check(run, argument, count, what, at);                   \
    }

COUNT_KEYWORD(holds_min_items, SCAN_ARRAY, check_least, (int64_t)scan_count(value), "items")
COUNT_KEYWORD(holds_max_items, SCAN_ARRAY, check_most, (int64_t)scan_count(value), "items")
COUNT_KEYWORD(holds_min_members, SCAN_OBJECT, check_least, (int64_t)scan_count(value), "members")
COUNT_KEYWORD(holds_max_members, SCAN_OBJECT, check_most, (int64_t)scan_count(value), "members")
COUNT_KEYWORD(holds_min_length, SCAN_STRING, check_least, (int64_t)scan_string_length(value.text),
              "characters")
COUNT_KEYWORD(holds_max_length, SCAN_STRING, check_most, (int64_t)scan_string_length(value.text),
              "characters")

/* --- of lists --- */

static bool holds_items(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                        const schema_place *at)
{
    scan_value item, most = scan_find(schema, "maxItems");
    size_t index = 0;
    bool fine = true;
    if (scan_find(schema, "prefixItems").kind != SCAN_NONE)
        return true; /* not checked: which items the others are is not known */
    if (most.kind != SCAN_NONE && !holds_max_items(run, schema, most, value, at))
        return false; /* too long anyway: not walked */
    for (scan_walk walk = scan_enter(value);
         value.kind == SCAN_ARRAY && may_go_on(run, fine) && scan_element(&walk, &item);) {
        schema_place place = schema_element(at, index++);
        fine = validate(run, argument, item, &place) && fine;
    }
    return fine;
}

/* --- bounds --- */

#define BOUND_KEYWORD(name, holds, words)                                                          \
    static bool name(schema_run *run, scan_value schema, scan_value argument, scan_value value,    \
                     const schema_place *at)                                                       \
    {                                                                                              \
        (void)schema;                                                                              \
        if (value.kind != SCAN_NUMBER)                                                             \
            return true;                                                                           \
        int order = scan_number_order(value.text, argument.text);                                  \
        if (holds)                                                                                 \
            return true;                                                                           \
        return schema_refuse(run, at, "expected a number " words " %.*s", shown(argument.text),    \
                             argument.text.ptr);                                                   \
    }

BOUND_KEYWORD(holds_minimum, order >= 0, "of at least")
BOUND_KEYWORD(holds_maximum, order <= 0, "of at most")
BOUND_KEYWORD(holds_above, order > 0, "above")
BOUND_KEYWORD(holds_below, order < 0, "below")

/* --- other schemas --- */

static bool holds_all(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                      const schema_place *at)
{
    scan_value item;
    (void)schema;
    for (scan_walk walk = scan_enter(argument); scan_element(&walk, &item);)
        if (!validate(run, item, value, at))
            return false;
    return true;
}

/* How many of the forms a value has. The fault that got deepest is the one of the form that was
 * meant, most likely. */
static size_t count_forms(schema_run *run, scan_value argument, scan_value value,
                          const schema_place *at, schema_faults *nearest)
{
    scan_value item;
    schema_run own = *run;
    size_t count = 0;
    own.faults = nearest;
    own.all = false;
    for (scan_walk walk = scan_enter(argument); scan_element(&walk, &item);)
        count += validate(&own, item, value, at);
    return count;
}

/* Of what has none of the forms. */
static bool refuse_forms(schema_run *run, const schema_place *at, const schema_faults *nearest)
{
    schema_faults *faults = run->faults;
    if (nearest->count == 0)
        return schema_refuse(run, at, "is none of the forms that are allowed");
    size_t at_fault = run->all ? faults->count : 0;
    if (at_fault == SCHEMA_FAULTS_MAX) {
        faults->more++;
    } else if (run->all || faults->count == 0 || faults->list[0].depth < nearest->list[0].depth) {
        faults->list[at_fault] = nearest->list[0];
        faults->count = at_fault + 1;
    }
    return false;
}

static bool holds_any(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                      const schema_place *at)
{
    schema_faults nearest = {0};
    (void)schema;
    return count_forms(run, argument, value, at, &nearest) > 0 || refuse_forms(run, at, &nearest);
}

static bool holds_one(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                      const schema_place *at)
{
    schema_faults nearest = {0};
    (void)schema;
    size_t count = count_forms(run, argument, value, at, &nearest);
    if (count == 1 || (count > 1 && schema_is_partial(run->root)))
        return true;
    if (count > 1)
        return schema_refuse(run, at, "is more than one of the forms of which one is allowed");
    return refuse_forms(run, at, &nearest);
}

static bool holds_reference(schema_run *run, scan_value schema, scan_value argument,
                            scan_value value, const schema_place *at)
{
    (void)schema;
    return validate(run, schema_resolve(run->root, argument.text), value, at);
}

/* --- the table --- */

static const schema_keyword KEYWORDS[] = {
    {"type", ARGUMENT_TYPES, holds_type},
    {"properties", ARGUMENT_MAP, holds_properties},
    {"required", ARGUMENT_NAMES, holds_required},
    {"additionalProperties", ARGUMENT_SCHEMA, holds_additional},
    {"items", ARGUMENT_SCHEMA, holds_items},
    {"enum", ARGUMENT_VALUES, holds_enum},
    {"const", ARGUMENT_ANY, holds_const},
    {"minLength", ARGUMENT_COUNT, holds_min_length},
    {"maxLength", ARGUMENT_COUNT, holds_max_length},
    {"minItems", ARGUMENT_COUNT, holds_min_items},
    {"maxItems", ARGUMENT_COUNT, holds_max_items},
    {"minProperties", ARGUMENT_COUNT, holds_min_members},
    {"maxProperties", ARGUMENT_COUNT, holds_max_members},
    {"minimum", ARGUMENT_NUMBER, holds_minimum},
    {"maximum", ARGUMENT_NUMBER, holds_maximum},
    {"exclusiveMinimum", ARGUMENT_NUMBER, holds_above},
    {"exclusiveMaximum", ARGUMENT_NUMBER, holds_below},
    {"anyOf", ARGUMENT_SCHEMAS, holds_any},
    {"allOf", ARGUMENT_SCHEMAS, holds_all},
    {"oneOf", ARGUMENT_SCHEMAS, holds_one},
    {"$ref", ARGUMENT_REFERENCE, holds_reference},
    {"$defs", ARGUMENT_MAP, NULL},
    {"definitions", ARGUMENT_MAP, NULL},
    {"title", ARGUMENT_ANY, NULL},
    {"description", ARGUMENT_ANY, NULL},
    {"default", ARGUMENT_ANY, NULL},
    {"examples", ARGUMENT_ANY, NULL},
    {"format", ARGUMENT_ANY, NULL},
    {"deprecated", ARGUMENT_ANY, NULL},
    {"readOnly", ARGUMENT_ANY, NULL},
    {"writeOnly", ARGUMENT_ANY, NULL},
    {"$schema", ARGUMENT_ANY, NULL},
    {"$comment", ARGUMENT_ANY, NULL},
};

const schema_keyword *schema_keyword_find(slice token)
{
    for (size_t i = 0; i < sizeof(KEYWORDS) / sizeof(KEYWORDS[0]); i++)
        if (scan_string_is(token, slice_of(KEYWORDS[i].name)))
            return &KEYWORDS[i];
    return NULL;
}

/* What is missing comes first: a member that is not known is often that one under another name. One
 * fault of the value itself is enough; then what is in it may be anything. */
static bool validate_keywords(schema_run *run, scan_value schema, scan_value value,
                              const schema_place *at)
{
    slice key;
    scan_value argument = scan_find(schema, "required");
    bool whole = argument.kind == SCAN_NONE || holds_required(run, schema, argument, value, at);
    bool fine = true;
    if (!may_go_on(run, whole))
        return false;
    for (scan_walk walk = scan_enter(schema); fine && scan_member(&walk, &key, &argument);) {
        const schema_keyword *keyword = schema_keyword_find(key);
        if (keyword != NULL && keyword->holds != NULL && keyword->holds != holds_required)
            fine = keyword->holds(run, schema, argument, value, at);
    }
    return fine && whole;
}

static bool validate(schema_run *run, scan_value schema, scan_value value, const schema_place *at)
{
    if (schema.kind == SCAN_TRUE)
        return true;
    if (schema.kind != SCAN_OBJECT)
        return schema_refuse(run, at, "nothing is allowed here");
    if (run->depth >= SCHEMA_DEPTH_MAX)
        return schema_refuse(run, at, "is over %d schemas deep", SCHEMA_DEPTH_MAX);
    if (*run->steps == 0)
        return false;
    --*run->steps;
    run->depth++;
    bool fine = validate_keywords(run, schema, value, at);
    run->depth--;
    return fine;
}

cardbox_status schema_validate(schema_faults *out, scan_value schema, scan_value value,
                               cardbox_error *err)
{
    schema_faults own = {.count = 0}, *faults = out == NULL ? &own : out;
    size_t steps = SCHEMA_STEPS_MAX;
    faults->count = faults->more = 0;
    const schema_place top = {NULL, {NULL, 0}, 0, 0};
    schema_run run = {schema, faults, true, 0, &steps, NULL};
    bool fine = validate(&run, schema, value, &top);
    if (steps > 0 && fine)
        return CARDBOX_OK;
    if (steps == 0) { /* what was found so far may be of a form that was not meant */
        faults->count = faults->more = 0;
        schema_refuse(&run, &top, "takes %d steps to check, give less at once", SCHEMA_STEPS_MAX);
    }
    return schema_say(faults, err);
}

/*
 * schema_validate.c: the table of the keywords of JSON Schema, and the functions that check them.
 * As the standard requires, a value satisfies a keyword that is for values of another type.
 */
#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "bus/schema/schema_internal.h"
#include "base/errors.h"

/* Maximum bytes of a value or a name that a message shows. */
enum { SHOWN_MAX = 100 };

/* One keyword of a schema and the value that it restricts. */
typedef struct keyword_check {
    schema_run *run;
    const schema_keyword *keyword;
    scan_value schema, argument, value;
    const schema_location *at;
} keyword_check;

static bool validate(schema_run *run, scan_value schema, scan_value value,
                     const schema_location *at);

/* Returns true if the validation has used all of its steps or its time. */
static bool is_over(schema_run *run)
{
    schema_work *work = run->work;
    if (work->deadline_ms > 0 && clock_ms() >= work->deadline_ms)
        work->steps = 0;
    return work->steps == 0;
}

/* Counts a step, and further steps for the scan of `bytes` bytes. */
static void count_steps(schema_work *work, size_t bytes)
{
    size_t count = 1 + (work->step_bytes > 0 ? bytes / work->step_bytes : 0);
    work->steps -= count < work->steps ? count : work->steps;
}

/* Returns whether the whole schema has unsupported keywords. */
static bool is_partial(schema_run *run)
{
    schema_work *work = run->work;
    if (!work->knows_partial)
        work->is_partial = schema_is_partial(run->root);
    work->knows_partial = true;
    return work->is_partial;
}

/* Returns true if a loop over members or elements checks the next one too. `is_valid` is false if
 * the loop has found a violation. */
static bool may_continue(schema_run *run, bool is_valid)
{
    return !is_over(run) && (is_valid || (run->all && run->errors->more < SCHEMA_MORE_MAX));
}

static int shown(slice text)
{
    return (int)slice_cut(text, SHOWN_MAX);
}

/* --- any value --- */

static bool holds_type(const keyword_check *c)
{
    scan_value item;
    if (c->argument.kind == SCAN_STRING && schema_is_type(c->value, c->argument.text))
        return true;
    for (scan_walk walk = scan_enter(c->argument); scan_element(&walk, &item);)
        if (schema_is_type(c->value, item.text))
            return true;
    return schema_refuse(c->run, c->at, "expected %.*s, got %s", shown(c->argument.text),
                         c->argument.text.ptr,
                         c->value.kind == SCAN_NUMBER ? "a number" : scan_kind_name(c->value.kind));
}

static bool holds_enum(const keyword_check *c)
{
    scan_value item;
    for (scan_walk walk = scan_enter(c->argument); scan_element(&walk, &item);)
        if (scan_equal(item, c->value))
            return true;
    return schema_refuse(c->run, c->at, "expected one of %.*s", shown(c->argument.text),
                         c->argument.text.ptr);
}

static bool holds_const(const keyword_check *c)
{
    return scan_equal(c->argument, c->value) ||
           schema_refuse(c->run, c->at, "expected %.*s", shown(c->argument.text),
                         c->argument.text.ptr);
}

/* --- objects --- */

/* Returns the member of an object whose name equals a string token, and its index. Returns
 * SCAN_NONE if there is no such member among the first SCHEMA_PROPERTIES_MAX. A schema from a row
 * of the database may have more. */
static scan_value find_property(scan_value properties, slice token, size_t *index)
{
    slice key;
    scan_value value;
    *index = 0;
    for (scan_walk walk = scan_enter(properties);
         *index < SCHEMA_PROPERTIES_MAX && scan_member(&walk, &key, &value); ++*index)
        if (scan_string_equal(key, token))
            return value;
    return (scan_value){SCAN_NONE, {NULL, 0}};
}

/* Reports that the member at `at` is unknown, and returns false. The message lists as many of the
 * known members as fit. */
static bool refuse_unknown(schema_run *run, scan_value properties, const schema_location *at)
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

static bool is_named(scan_value names, slice token)
{
    scan_value name;
    for (scan_walk walk = scan_enter(names); scan_element(&walk, &name);)
        if (scan_string_equal(name.text, token))
            return true;
    return false;
}

/* Checks each member against the schema of its property or, if it has none, against `additional`.
 * A property that occurs more than once is a violation. */
static bool check_members(schema_run *run, scan_value schema, scan_value properties,
                          scan_value additional, scan_value value, const schema_location *at)
{
    uint64_t seen[SCHEMA_PROPERTIES_MAX / 64] = {0};
    slice key;
    scan_value member;
    size_t index;
    bool is_valid = true;
    for (scan_walk walk = scan_enter(value); value.kind == SCAN_OBJECT &&
                                             may_continue(run, is_valid) &&
                                             scan_member(&walk, &key, &member);) {
        scan_value wanted = find_property(properties, key, &index);
        schema_location place = schema_member(at, key);
        bool known = wanted.kind != SCAN_NONE;
        if (!known && additional.kind == SCAN_FALSE) {
            is_valid = refuse_unknown(run, properties, &place);
        } else if (known && (seen[index / 64] >> (index % 64) & 1) != 0) {
            is_valid = schema_refuse(run, &place, "is there more than once");
        } else if (known || additional.kind != SCAN_NONE) {
            bool is_absent = known && run->null_is_absent && member.kind == SCAN_NULL &&
                             !is_named(scan_find(schema, "required"), key);
            if (!is_absent)
                is_valid = validate(run, known ? wanted : additional, member, &place) && is_valid;
            if (known)
                seen[index / 64] |= UINT64_C(1) << (index % 64);
        }
    }
    return is_valid;
}

/* Returns the schema of additional members. SCAN_NONE: there is no such schema, or there are
 * patternProperties. patternProperties are not supported, and any additional member may match one
 * of them. */
static scan_value additional_of(scan_value schema)
{
    if (scan_find(schema, "patternProperties").kind != SCAN_NONE)
        return (scan_value){SCAN_NONE, {NULL, 0}};
    return scan_find(schema, "additionalProperties");
}

static bool holds_properties(const keyword_check *c)
{
    return check_members(c->run, c->schema, c->argument, additional_of(c->schema), c->value, c->at);
}

/* Checks additionalProperties. If the schema has properties, holds_properties has checked the
 * additional members too. */
static bool holds_additional(const keyword_check *c)
{
    const scan_value none = {SCAN_NONE, {NULL, 0}};
    return scan_find(c->schema, "properties").kind != SCAN_NONE ||
           check_members(c->run, c->schema, none, additional_of(c->schema), c->value, c->at);
}

static bool holds_required(const keyword_check *c)
{
    scan_value name;
    size_t index;
    bool is_valid = true;
    for (scan_walk walk = scan_enter(c->argument); c->value.kind == SCAN_OBJECT &&
                                                   may_continue(c->run, is_valid) &&
                                                   scan_element(&walk, &name);) {
        schema_location place = schema_member(c->at, name.text);
        if (find_property(c->value, name.text, &index).kind == SCAN_NONE)
            is_valid = schema_refuse(c->run, &place, "is missing");
    }
    return is_valid;
}

/* --- counts and bounds --- */

static bool holds_count(const keyword_check *c)
{
    const schema_keyword *keyword = c->keyword;
    int64_t limit = keyword->is_maximum ? INT64_MAX : 0, count;
    if (c->value.kind != keyword->applies_to)
        return true;
    scan_integer(c->argument.text, &limit);
    count = (int64_t)(c->value.kind == SCAN_STRING ? scan_string_length(c->value.text)
                                                   : scan_count(c->value));
    if (keyword->is_maximum)
        return count <= limit ||
               schema_refuse(c->run, c->at, "has %" PRId64 " %s, at most %" PRId64 " are allowed",
                             count, keyword->words, limit);
    return count >= limit ||
           schema_refuse(c->run, c->at, "has %" PRId64 " %s, at least %" PRId64 " are expected",
                         count, keyword->words, limit);
}

static bool holds_bound(const keyword_check *c)
{
    const schema_keyword *keyword = c->keyword;
    if (c->value.kind != SCAN_NUMBER)
        return true;
    int order = scan_number_order(c->value.text, c->argument.text);
    return (order == 0 && !keyword->is_exclusive) ||
           (order != 0 && (order < 0) == keyword->is_maximum) ||
           schema_refuse(c->run, c->at, "expected a number %s %.*s", keyword->words,
                         shown(c->argument.text), c->argument.text.ptr);
}

/* --- arrays --- */

static bool holds_items(const keyword_check *c)
{
    scan_value item, most = scan_find(c->schema, "maxItems");
    const schema_keyword *max_items = schema_keyword_find(SLICE("\"maxItems\""));
    size_t index = 0;
    bool is_valid = true;
    if (scan_find(c->schema, "prefixItems").kind != SCAN_NONE)
        return true; /* `items` depends on prefixItems, which is not supported */
    if (most.kind != SCAN_NONE &&
        !holds_count(&(keyword_check){c->run, max_items, c->schema, most, c->value, c->at}))
        return false; /* the array is too long, so its items are not checked */
    for (scan_walk walk = scan_enter(c->value); c->value.kind == SCAN_ARRAY &&
                                                may_continue(c->run, is_valid) &&
                                                scan_element(&walk, &item);) {
        schema_location place = schema_element(c->at, index++);
        is_valid = validate(c->run, c->argument, item, &place) && is_valid;
    }
    return is_valid;
}

/* --- other schemas --- */

static bool holds_all_of(const keyword_check *c)
{
    scan_value item;
    for (scan_walk walk = scan_enter(c->argument); scan_element(&walk, &item);)
        if (!validate(c->run, item, c->value, c->at))
            return false;
    return true;
}

/* Counts the alternatives that a value satisfies. `nearest` receives the violation at the deepest
 * location, because most likely the alternative with that violation was meant. */
static size_t count_matches(const keyword_check *c, schema_errors *nearest)
{
    scan_value item;
    schema_run own = *c->run;
    size_t count = 0;
    own.errors = nearest;
    own.all = false;
    for (scan_walk walk = scan_enter(c->argument); scan_element(&walk, &item);)
        count += validate(&own, item, c->value, c->at);
    return count;
}

static bool refuse_no_match(const keyword_check *c, const schema_errors *nearest)
{
    schema_run *run = c->run;
    schema_errors *errors = run->errors;
    if (nearest->count == 0)
        return schema_refuse(run, c->at, "matches none of the forms that are allowed");
    size_t at_fault = run->all ? errors->count : 0;
    if (at_fault == SCHEMA_ERRORS_MAX) {
        errors->more++;
    } else if (run->all || errors->count == 0 || errors->list[0].depth < nearest->list[0].depth) {
        errors->list[at_fault] = nearest->list[0];
        errors->count = at_fault + 1;
    }
    return false;
}

static bool holds_any_of(const keyword_check *c)
{
    schema_errors nearest = {0};
    return count_matches(c, &nearest) > 0 || refuse_no_match(c, &nearest);
}

static bool holds_one_of(const keyword_check *c)
{
    schema_errors nearest = {0};
    size_t count = count_matches(c, &nearest);
    if (count == 1 || (count > 1 && is_partial(c->run)))
        return true;
    if (count > 1)
        return schema_refuse(c->run, c->at,
                             "matches more than one of the forms, and only one is allowed");
    return refuse_no_match(c, &nearest);
}

static bool holds_reference(const keyword_check *c)
{
    count_steps(c->run->work, c->run->root.text.len);
    return validate(c->run, schema_resolve(c->run->root, c->argument.text), c->value, c->at);
}

/* --- the table --- */

#define COUNT_KEYWORD(name, kind, is_maximum, words)                                               \
    {                                                                                              \
        name, ARGUMENT_COUNT, holds_count, kind, is_maximum, false, words                          \
    }
#define BOUND_KEYWORD(name, is_maximum, is_exclusive, words)                                       \
    {                                                                                              \
        name, ARGUMENT_NUMBER, holds_bound, SCAN_NUMBER, is_maximum, is_exclusive, words           \
    }
#define KEYWORD(name, argument, holds)                                                             \
    {                                                                                              \
        name, argument, holds, SCAN_NONE, false, false, NULL                                       \
    }

static const schema_keyword KEYWORDS[] = {
    KEYWORD("type", ARGUMENT_TYPES, holds_type),
    KEYWORD("properties", ARGUMENT_MAP, holds_properties),
    KEYWORD("required", ARGUMENT_NAMES, holds_required),
    KEYWORD("additionalProperties", ARGUMENT_SCHEMA, holds_additional),
    KEYWORD("items", ARGUMENT_SCHEMA, holds_items),
    KEYWORD("enum", ARGUMENT_VALUES, holds_enum),
    KEYWORD("const", ARGUMENT_ANY, holds_const),
    COUNT_KEYWORD("minLength", SCAN_STRING, false, "characters"),
    COUNT_KEYWORD("maxLength", SCAN_STRING, true, "characters"),
    COUNT_KEYWORD("minItems", SCAN_ARRAY, false, "items"),
    COUNT_KEYWORD("maxItems", SCAN_ARRAY, true, "items"),
    COUNT_KEYWORD("minProperties", SCAN_OBJECT, false, "members"),
    COUNT_KEYWORD("maxProperties", SCAN_OBJECT, true, "members"),
    BOUND_KEYWORD("minimum", false, false, "of at least"),
    BOUND_KEYWORD("maximum", true, false, "of at most"),
    BOUND_KEYWORD("exclusiveMinimum", false, true, "above"),
    BOUND_KEYWORD("exclusiveMaximum", true, true, "below"),
    KEYWORD("anyOf", ARGUMENT_SCHEMAS, holds_any_of),
    KEYWORD("allOf", ARGUMENT_SCHEMAS, holds_all_of),
    KEYWORD("oneOf", ARGUMENT_SCHEMAS, holds_one_of),
    KEYWORD("$ref", ARGUMENT_REFERENCE, holds_reference),
    KEYWORD("$defs", ARGUMENT_MAP, NULL),
    KEYWORD("definitions", ARGUMENT_MAP, NULL),
    KEYWORD("title", ARGUMENT_ANY, NULL),
    KEYWORD("description", ARGUMENT_ANY, NULL),
    KEYWORD("default", ARGUMENT_ANY, NULL),
    KEYWORD("examples", ARGUMENT_ANY, NULL),
    KEYWORD("format", ARGUMENT_ANY, NULL),
    KEYWORD("deprecated", ARGUMENT_ANY, NULL),
    KEYWORD("readOnly", ARGUMENT_ANY, NULL),
    KEYWORD("writeOnly", ARGUMENT_ANY, NULL),
    KEYWORD("$schema", ARGUMENT_ANY, NULL),
    KEYWORD("$comment", ARGUMENT_ANY, NULL),
};

const schema_keyword *schema_keyword_find(slice token)
{
    for (size_t i = 0; i < sizeof(KEYWORDS) / sizeof(KEYWORDS[0]); i++)
        if (scan_string_is(token, slice_of(KEYWORDS[i].name)))
            return &KEYWORDS[i];
    return NULL;
}

/* Checks all keywords of a schema, in the order of the schema but `required` first, because an
 * unknown member is often a required one under a wrong name. If a keyword other than `required` is
 * violated, the keywords after it are not checked. */
static bool validate_keywords(schema_run *run, scan_value schema, scan_value value,
                              const schema_location *at)
{
    slice key;
    keyword_check c = {run, NULL, schema, scan_find(schema, "required"), value, at};
    bool has_all = c.argument.kind == SCAN_NONE || holds_required(&c), is_valid = true;
    if (!may_continue(run, has_all))
        return false;
    for (scan_walk walk = scan_enter(schema);
         is_valid && !is_over(run) && scan_member(&walk, &key, &c.argument);) {
        c.keyword = schema_keyword_find(key);
        if (c.keyword != NULL && c.keyword->holds != NULL && c.keyword->holds != holds_required)
            is_valid = c.keyword->holds(&c);
    }
    return is_valid && has_all;
}

static bool validate(schema_run *run, scan_value schema, scan_value value,
                     const schema_location *at)
{
    if (schema.kind == SCAN_TRUE)
        return true;
    if (schema.kind != SCAN_OBJECT)
        return schema_refuse(run, at, "nothing is allowed here");
    if (run->depth >= SCHEMA_DEPTH_MAX)
        return schema_refuse(run, at, "is over %d schemas deep", SCHEMA_DEPTH_MAX);
    if (is_over(run))
        return false;
    count_steps(run->work, schema.text.len + value.text.len);
    run->depth++;
    bool is_valid = validate_keywords(run, schema, value, at);
    run->depth--;
    return is_valid;
}

cardbox_status schema_validate(schema_errors *out, scan_value schema, scan_value value,
                               unsigned options, cardbox_error *err)
{
    schema_errors own = {.count = 0}, *errors = out == NULL ? &own : out;
    const bool is_patient = (options & SCHEMA_PATIENT) != 0;
    schema_work work = {.steps = SCHEMA_STEPS_MAX};
    errors->count = errors->more = 0;
    const schema_location top = {NULL, {NULL, 0}, 0, 0};
    if (is_patient)
        work = (schema_work){.steps = SCHEMA_STEPS_MAX + SCHEMA_BYTE_STEPS * value.text.len,
                             .step_bytes = SCHEMA_STEP_BYTES,
                             .deadline_ms = clock_ms() + SCHEMA_PATIENT_MS};
    schema_run run = {.root = schema,
                      .errors = errors,
                      .all = true,
                      .work = &work,
                      .null_is_absent = (options & SCHEMA_NULL_IS_ABSENT) != 0};
    bool is_valid = validate(&run, schema, value, &top);
    if (work.steps > 0 && is_valid)
        return CARDBOX_OK;
    if (work.steps == 0) { /* the violations found so far may be wrong */
        errors->count = errors->more = 0;
        if (is_patient)
            schema_refuse(&run, &top,
                          "the check needs too many steps: simplify the schema, or send a smaller "
                          "value");
        else
            schema_refuse(&run, &top, "needs over %d steps to check, send less at once",
                          SCHEMA_STEPS_MAX);
    }
    return schema_status(errors, err);
}

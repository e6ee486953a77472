/*
 * delta.c: assembles a JSON object from deltas. Strings are kept as the insides of JSON strings, so
 * that they are concatenated and written without decoding.
 */
#include "worker/model/delta.h"

struct delta_value {
    delta_value *next;    /* the next member or element */
    delta_value *earlier; /* the value that was made before */
    delta_value *before;  /* the member or element before this one */
    delta_value *first, *last;
    size_t count;   /* number of members */
    slice key;      /* name of a member, a JSON string; empty: an element */
    scan_kind kind; /* SCAN_NONE: nothing was merged into the value */
    bool has_index;
    int64_t index; /* the member `index` of an element */
    buf text;      /* the inside of a string, or the text of a number */
};

void delta_init(delta_tree *d)
{
    *d = (delta_tree){.memory = ARENA_INIT};
}

void delta_free(delta_tree *d)
{
    for (delta_value *at = d->values; at != NULL; at = at->earlier)
        buf_free(&at->text);
    arena_reset(&d->memory);
    *d = (delta_tree){.memory = ARENA_INIT};
}

/* Counts bytes of the object. False: the object has failed. */
static bool count_bytes(delta_tree *d, size_t bytes)
{
    d->bytes += bytes;
    d->has_failed = d->has_failed || d->bytes > DELTA_BYTES_MAX;
    return !d->has_failed;
}

static delta_value *new_value(delta_tree *d, slice key)
{
    if (!count_bytes(d, sizeof(delta_value) + key.len))
        return NULL;
    delta_value *made = arena_zeros(&d->memory, 1, sizeof(*made));
    const char *name = arena_copy(&d->memory, key);
    if (made == NULL || name == NULL) {
        d->has_failed = true;
        return NULL;
    }
    made->key = (slice){name, key.len};
    made->text = BUF_INIT(DELTA_BYTES_MAX);
    made->earlier = d->values;
    d->values = made;
    return made;
}

delta_value *delta_object(delta_tree *d)
{
    delta_value *made = new_value(d, SLICE(""));

    if (made != NULL)
        made->kind = SCAN_OBJECT;
    return made;
}

static delta_value *append(delta_tree *d, delta_value *list, slice key)
{
    delta_value *made = new_value(d, key);

    if (made == NULL)
        return NULL;
    made->before = list->last;
    if (list->last != NULL)
        list->last->next = made;
    else
        list->first = made;
    list->last = made;
    list->count++;
    return made;
}

static void add_text(delta_tree *d, delta_value *value, slice text)
{
    if (!count_bytes(d, text.len))
        return;
    buf_slice(&value->text, text);
    d->has_failed = !buf_ok(&value->text);
}

/* --- members --- */

static delta_value *find_member(const delta_value *object, slice key)
{
    delta_value *at = object->first;

    while (at != NULL && !scan_string_equal(at->key, key))
        at = at->next;
    return at;
}

void delta_merge_member(delta_tree *d, delta_value *object, slice key, scan_value value)
{
    delta_value *member = find_member(object, key);

    if (member == NULL && object->count == DELTA_MEMBERS_MAX)
        d->has_failed = true;
    else if (member == NULL)
        member = append(d, object, key);
    if (member != NULL)
        delta_merge(d, member, value);
}

static void merge_members(delta_tree *d, delta_value *into, scan_value object)
{
    scan_value value;
    slice key;

    for (scan_walk walk = scan_enter(object); !d->has_failed && scan_member(&walk, &key, &value);)
        delta_merge_member(d, into, key, value);
}

/* Returns true for members that servers repeat, or that name a thing, so that two of their strings
 * are not two parts of one. */
static bool is_set_once(slice key)
{
    static const char *const NAMES[] = {"id",      "role",         "type",      "name",
                                        "format",  "model",        "object",    "status",
                                        "call_id", "tool_call_id", "media_type"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (scan_string_is(key, slice_of(NAMES[i])))
            return true;
    }
    return false;
}

/* --- elements --- */

/* Returns false if both have a member with this name, and the two strings differ. */
static bool may_share(const char *name, const delta_value *element, scan_value value)
{
    const delta_value *own = delta_find(element, name);
    scan_value other = scan_find(value, name);

    return delta_kind(own) != SCAN_STRING || other.kind != SCAN_STRING ||
           slice_equal(buf_as_slice(&own->text), scan_inside(other.text));
}

static bool may_be_one(const delta_value *element, scan_value value)
{
    return may_share("type", element, value) && may_share("id", element, value);
}

static delta_value *find_index(const delta_value *array, int64_t index, scan_value value)
{
    delta_value *at = array->last;

    for (size_t i = 0; at != NULL && i < DELTA_MEMBERS_MAX; i++, at = at->before) {
        if (at->has_index && at->index == index && may_be_one(at, value))
            return at;
    }
    return NULL;
}

/* Some servers send text and thinking as parts without an index, one part in several deltas.
 * Returns the last element if it is a part that `value` continues. */
static delta_value *continued_part(const delta_value *array, scan_value value)
{
    static const char *const TYPES[] = {"text", "thinking", "reasoning.text", "reasoning.summary"};
    slice type = scan_string_inside(scan_find(value, "type"));
    delta_value *last = array->last;
    bool is_part = false;

    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        is_part = is_part || slice_equal(type, slice_of(TYPES[i]));
    if (!is_part || delta_kind(last) != SCAN_OBJECT || last->has_index ||
        delta_find(last, "type") == NULL)
        return NULL;
    return may_be_one(last, value) ? last : NULL;
}

static void merge_element(delta_tree *d, delta_value *array, scan_value value, bool is_first)
{
    scan_value number = value.kind == SCAN_OBJECT ? scan_find(value, "index") : (scan_value){0};
    delta_value *element = NULL;
    int64_t index = 0;
    bool has_index = number.kind == SCAN_NUMBER && scan_integer(number.text, &index);

    if (has_index)
        element = find_index(array, index, value);
    else if (is_first && value.kind == SCAN_OBJECT)
        element = continued_part(array, value);
    if (element == NULL)
        element = append(d, array, SLICE(""));
    if (element == NULL)
        return;
    element->has_index = has_index;
    element->index = index;
    delta_merge(d, element, value);
}

static void merge_elements(delta_tree *d, delta_value *into, scan_value array)
{
    scan_value value;
    bool is_first = true;

    for (scan_walk walk = scan_enter(array); !d->has_failed && scan_element(&walk, &value);) {
        merge_element(d, into, value, is_first);
        is_first = false;
    }
}

/* --- texts and parts --- */

static void merge_text_part(delta_tree *d, delta_value *array, slice inside)
{
    buf part = BUF_INIT(DELTA_BYTES_MAX);

    buf_text(&part, "{\"type\":\"text\",\"text\":");
    buf_json_quoted(&part, inside);
    buf_char(&part, '}');
    if (buf_ok(&part))
        merge_element(d, array, scan_whole(buf_as_slice(&part)), true);
    else
        d->has_failed = true;
    buf_free(&part);
}

/* A text that was followed by parts becomes the first part. */
static void become_array(delta_tree *d, delta_value *value)
{
    buf text = value->text;

    value->text = BUF_INIT(DELTA_BYTES_MAX);
    value->kind = SCAN_ARRAY;
    merge_text_part(d, value, buf_as_slice(&text));
    buf_free(&text);
}

/* --- values --- */

static bool is_empty(const delta_value *value)
{
    return value->kind <= SCAN_NULL || (value->kind == SCAN_STRING && value->text.len == 0);
}

static void begin_value(delta_tree *d, delta_value *into, scan_value value)
{
    into->kind = value.kind;
    if (value.kind == SCAN_STRING)
        add_text(d, into, scan_inside(value.text));
    else if (value.kind == SCAN_OBJECT)
        merge_members(d, into, value);
    else if (value.kind == SCAN_ARRAY)
        merge_elements(d, into, value);
    else
        add_text(d, into, value.text);
}

void delta_merge(delta_tree *d, delta_value *into, scan_value value)
{
    if (d->has_failed || (value.kind == SCAN_NULL && into->kind != SCAN_NONE))
        return;
    if (is_empty(into) && (value.kind != into->kind || value.kind == SCAN_STRING)) {
        buf_reset(&into->text, SIZE_MAX);
        begin_value(d, into, value);
        return;
    }
    if (into->kind == SCAN_STRING && value.kind == SCAN_ARRAY)
        become_array(d, into);
    if (into->kind == SCAN_OBJECT && value.kind == SCAN_OBJECT)
        merge_members(d, into, value);
    else if (into->kind == SCAN_ARRAY && value.kind == SCAN_ARRAY)
        merge_elements(d, into, value);
    else if (into->kind == SCAN_ARRAY && value.kind == SCAN_STRING && value.text.len > 2)
        merge_text_part(d, into, scan_inside(value.text));
    else if (into->kind == SCAN_STRING && value.kind == SCAN_STRING && !is_set_once(into->key))
        add_text(d, into, scan_inside(value.text));
}

/* --- reading --- */

bool delta_next(delta_member *out, const delta_value **at, const delta_value *object)
{
    *at = *at == NULL ? object->first : (*at)->next;
    if (*at != NULL)
        *out = (delta_member){(*at)->key, *at};
    return *at != NULL;
}

scan_kind delta_kind(const delta_value *value)
{
    return value == NULL ? SCAN_NONE : value->kind;
}

const delta_value *delta_find(const delta_value *object, const char *name)
{
    const delta_value *at = delta_kind(object) == SCAN_OBJECT ? object->first : NULL;

    while (at != NULL && !scan_string_is(at->key, slice_of(name)))
        at = at->next;
    return at;
}

slice delta_inside(const delta_value *value)
{
    return delta_kind(value) == SCAN_STRING ? buf_as_slice(&value->text) : (slice){"", 0};
}

void delta_put(buf *out, const delta_value *value)
{
    bool is_object = value->kind == SCAN_OBJECT;

    if (value->kind == SCAN_STRING)
        buf_json_quoted(out, buf_as_slice(&value->text));
    else if (!is_object && value->kind != SCAN_ARRAY)
        buf_slice(out, buf_as_slice(&value->text));
    if (!is_object && value->kind != SCAN_ARRAY)
        return;
    buf_char(out, is_object ? '{' : '[');
    for (const delta_value *at = value->first; at != NULL; at = at->next) {
        if (at != value->first)
            buf_char(out, ',');
        if (is_object) {
            buf_slice(out, at->key);
            buf_char(out, ':');
        }
        delta_put(out, at);
    }
    buf_char(out, is_object ? '}' : ']');
}

/*
 * scan_keys.c: whether an object of a text that scan_check accepted has a key twice. Knows keys and
 * braces, and nothing of values.
 */
#include "base/scan.h"
#include "base/scan_token.h"
#include <stdlib.h>

/* Up to FEW_KEYS, comparing each with each is quicker than sorting. */
enum { KEYS_ON_STACK = 128, FEW_KEYS = 16 };

/* A key of an object that is still open. Where an object begins there is one without a token, whose
 * hash is the place after the mark before it. */
typedef struct key_entry {
    view token;
    uint64_t hash;
} key_entry;

/* The keys of all open objects, the innermost last. */
typedef struct key_stack {
    key_entry *entries;
    size_t count;
    size_t cap;
    size_t first; /* the innermost object's first key */
    key_entry start[KEYS_ON_STACK];
} key_stack;

/* --- one key --- */

/* FNV-1a over what the key says. It need not stand against chosen collisions: they cost comparisons
 * while sorting, and nothing more. */
static uint64_t hash_key(view token)
{
    view rest = scan_inside(token);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char storage[4];
    uint32_t code;

    while (rest.len > 0) {
        view piece = scan_next_piece(&rest, storage, &code);

        for (size_t i = 0; i < piece.len; i++)
            hash = (hash ^ (unsigned char)piece.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* A key under way, byte by byte. */
typedef struct key_reader {
    view rest;
    view piece;
    char storage[4];
} key_reader;

/* -1 at the end. */
static int next_byte(key_reader *reader)
{
    uint32_t code;
    int byte;

    if (reader->piece.len == 0)
        reader->piece = scan_next_piece(&reader->rest, reader->storage, &code);
    if (reader->piece.len == 0)
        return -1;
    byte = (unsigned char)*reader->piece.ptr++;
    reader->piece.len--;
    return byte;
}

static int compare_tokens(view a, view b)
{
    key_reader left = {.rest = scan_inside(a)}, right = {.rest = scan_inside(b)};
    int from_left, from_right;

    do {
        from_left = next_byte(&left);
        from_right = next_byte(&right);
    } while (from_left == from_right && from_left >= 0);
    return from_left - from_right;
}

static int compare_entries(const void *left, const void *right)
{
    const key_entry *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return compare_tokens(a->token, b->token);
}

/* --- the keys of an object --- */

static bool has_twin(key_entry *keys, size_t count)
{
    if (count > FEW_KEYS) {
        qsort(keys, count, sizeof(*keys), compare_entries);
        for (size_t i = 1; i < count; i++) {
            if (compare_entries(&keys[i - 1], &keys[i]) == 0)
                return true;
        }
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (compare_entries(&keys[k], &keys[i]) == 0)
                return true;
        }
    }
    return false;
}

static bool push(key_stack *keys, key_entry entry)
{
    bool borrowed = keys->entries == keys->start;
    key_entry *grown;

    if (keys->count == keys->cap) {
        grown = realloc(borrowed ? NULL : keys->entries, keys->cap * 2 * sizeof(*grown));
        if (grown == NULL)
            return false;
        if (borrowed)
            memcpy(grown, keys->start, sizeof(keys->start));
        keys->entries = grown;
        keys->cap *= 2;
    }
    keys->entries[keys->count++] = entry;
    return true;
}

static bool open_object(key_stack *keys)
{
    if (!push(keys, (key_entry){{NULL, 0}, keys->first}))
        return false;
    keys->first = keys->count;
    return true;
}

/* Whether the object that ends here had a key twice. */
static bool close_object(key_stack *keys)
{
    bool twin;

    if (keys->first == 0)
        return false;
    twin = has_twin(keys->entries + keys->first, keys->count - keys->first);
    keys->count = keys->first - 1;
    keys->first = (size_t)keys->entries[keys->count].hash;
    return twin;
}

bool scan_has_duplicate_keys(view text, bool *nomem)
{
    key_stack keys;
    const char *at = text.ptr, *end = text.len > 0 ? text.ptr + text.len : text.ptr;
    view token = {NULL, 0};
    bool found = false, good = true;

    keys.entries = keys.start;
    keys.count = keys.first = 0;
    keys.cap = KEYS_ON_STACK;
    while (at < end && good && !found) {
        const char *from = at;

        if (*from == '"') {
            at = scan_skip_string(from, end);
            token = (view){from, (size_t)(at - from)};
            continue;
        }
        at++;
        if (*from == ':') /* outside of strings only after a key */
            good = push(&keys, (key_entry){token, hash_key(token)});
        else if (*from == '{')
            good = open_object(&keys);
        else if (*from == '}')
            found = close_object(&keys);
    }
    if (keys.entries != keys.start)
        free(keys.entries);
    *nomem = !good;
    return found;
}

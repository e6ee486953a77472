/*
 * fuzz_uuid.c: any bytes as a UUID, as a key of one, and as a box with a version. What is taken as
 * a UUID must be 36 characters of the one form, and a key must always give the same UUIDv7.
 */
#include "fuzz/fuzz.h"
#include <ctype.h>
#include <cardbox/ids.h>
#include "base/uuid.h"
#include "store/box/box_context.h"

static bool has_form(slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;

        if (hyphen ? text.ptr[i] != '-' : !isxdigit((unsigned char)text.ptr[i]))
            return false;
    }
    return text.len == 36;
}

static void check_written(const uuid16 *id, slice text)
{
    char lower[UUID_TEXT_SIZE];
    uuid16 again;

    uuid16_format(lower, id);
    require(uuid16_parse(&again, slice_of(lower)));
    require(memcmp(again.bytes, id->bytes, sizeof(id->bytes)) == 0);
    for (size_t i = 0; i < text.len; i++)
        require(lower[i] == tolower((unsigned char)text.ptr[i]));
}

/* The bytes up to a NUL, and what comes after it. */
static void check_key(const uint8_t *data, size_t size)
{
    char first[CARDBOX_UUID_SIZE], second[CARDBOX_UUID_SIZE];
    char *key = malloc(size + 2);
    const char *part;

    require(key != NULL);
    if (size > 0)
        memcpy(key, data, size);
    key[size] = key[size + 1] = '\0';
    part = key + strlen(key) + 1;
    cardbox_uuid7_from_key(first, key, part);
    cardbox_uuid7_from_key(second, key, part);
    require(strcmp(first, second) == 0);
    require(has_form(slice_of(first)) && first[14] == '7');
    require(strchr("89ab", first[19]) != NULL);
    free(key);
}

/* A UUID, and perhaps "@" and decimal digits. */
static void check_then(slice text)
{
    box_then box;

    if (!box_then_parse(&box, text))
        return;
    require(has_form((slice){text.ptr, 36}));
    require((text.len == 36) == (box.version == 0) && box.version >= 0);
    require(text.len == 36 || text.ptr[36] == '@');
    for (size_t i = 37; i < text.len; i++)
        require(isdigit((unsigned char)text.ptr[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size};
    uuid16 id;
    bool taken = uuid16_parse(&id, text);

    require(taken == has_form(text));
    if (taken)
        check_written(&id, text);
    check_key(data, size);
    check_then(text);
    return 0;
}

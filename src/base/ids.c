/*
 * ids.c: the public functions of <cardbox/ids.h>, which make and check UUIDs.
 */
#include <cardbox/ids.h>
#include "base/uuid.h"
#include <uuid/uuid.h>

_Static_assert(CARDBOX_UUID_SIZE == UUID_TEXT_SIZE, "the public size is the internal one");

enum { BLOCK_SIZE = 2048 }; /* more bytes than the longest key and part together */

/* libuuid digests a namespace with one block of bytes. A longer text is digested in blocks: the
 * UUID of each block is the namespace of the next block. No memory is allocated, because
 * cardbox_uuid7_from_key could not report a failure. */
typedef struct digest {
    uuid_t uuid;
    char block[BLOCK_SIZE];
    size_t len;
} digest;

static void digest_flush(digest *d)
{
    uuid_t next;

    uuid_generate_sha1(next, d->uuid, d->block, d->len);
    memcpy(d->uuid, next, sizeof(next));
    d->len = 0;
}

static void digest_add(digest *d, slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (d->len == BLOCK_SIZE)
            digest_flush(d);
        d->block[d->len++] = text.ptr[i];
    }
}

void cardbox_uuid7(char out[CARDBOX_UUID_SIZE])
{
    uuid16 id;

    if (out == NULL)
        return;
    uuid16_v7(&id);
    uuid16_format(out, &id);
}

void cardbox_uuid7_from_key(char out[CARDBOX_UUID_SIZE], const char *key, const char *part)
{
    digest d = {.len = 0};
    uuid16 id, origin;

    if (out == NULL)
        return;
    digest_add(&d, slice_of(key));
    digest_add(&d, (slice){"", 1});
    digest_add(&d, slice_of(part));
    digest_flush(&d);
    memcpy(id.bytes, d.uuid, sizeof(id.bytes));
    if (uuid16_parse(&origin, slice_of(key)) && origin.bytes[6] >> 4 == 7 &&
        origin.bytes[8] >> 6 == 2) /* the key is a UUIDv7: the result gets the key's time */
        memcpy(id.bytes, origin.bytes, 6);
    id.bytes[6] = (unsigned char)(0x70u | (id.bytes[6] & 0x0Fu));
    uuid16_format(out, &id);
}

bool cardbox_uuid_parse(char out[CARDBOX_UUID_SIZE], const char *text)
{
    uuid16 id;

    if (!uuid16_parse(&id, slice_of(text)))
        return false;
    if (out != NULL)
        uuid16_format(out, &id);
    return true;
}

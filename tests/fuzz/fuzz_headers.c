/*
 * fuzz_headers.c: any lines as the fields of a request's head, "name:value" each. A head that is
 * not refused ends its request in one way only; what single fields say is within its bounds.
 */
#include "fuzz/fuzz.h"
#include <string.h>
#include "cardbox/limits.h"
#include "server/request/headers.h"
#include "server/response/response_format.h"
#include "store/client/list.h"

enum { FIELDS_MAX = 32 };

/* A text that ends where its memory does. */
static slice alone(const char *from, const char *to, char **memory)
{
    size_t len = (size_t)(to - from);
    *memory = malloc(len + (len == 0));
    require(*memory != NULL);
    memcpy(*memory, from, len);
    return (slice){*memory, len};
}

static void check_value(slice value)
{
    static const char TAG[] = "\"0123-tag\"";
    codings c = CODINGS_INIT;
    int64_t number;
    codings_note(&c, value);
    require(c.gzip >= -1 && c.gzip <= 1000 && c.any >= -1 && c.any <= 1000);
    require(!codings_gzip(&c) || c.gzip > 0 || c.any > 0);
    require(!etag_list_has(value, TAG) || memmem(value.ptr, value.len, "0123-tag", 8) != NULL ||
            memchr(value.ptr, '*', value.len) != NULL);
    require(!list_number_read(&number, value) || number > 0);
}

static void check_head(const headers *h)
{
    int64_t version = -1;
    bool is_json = headers_is_json(h);
    if (headers_error(h, true) == NULL) {
        require(h->hosts == 1 && h->lengths + h->encodings <= 1);
        require(h->chunked == (h->encodings == 1));
    }
    require(!headers_is_ndjson(h) || !is_json);
    require(!headers_is_foreign(h) || h->authorizations == 0);
    require(h->request_id.ptr == NULL || h->request_id.len - 1 < 128);
    require(h->idempotency_key.ptr == NULL || !headers_is_key(h->idempotency_key) ||
            h->idempotency_key.len - 1 < CARDBOX_KEY_MAX);
    require(h->if_match.ptr == NULL || !headers_read_if_match(h->if_match, &version) ||
            version >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    char *memory[2 * FIELDS_MAX];
    size_t count = 0;
    headers h = {0};
    while (at < end && count < 2 * FIELDS_MAX) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        const char *stop = next == NULL ? end : next;
        const char *colon = memchr(at, ':', (size_t)(stop - at));
        const char *value = colon == NULL ? stop : colon + 1;
        slice given = alone(value, stop, &memory[count]);
        headers_add(&h, alone(at, colon == NULL ? stop : colon, &memory[count + 1]), given);
        check_value(given);
        count += 2;
        at = stop + 1;
    }
    check_head(&h);
    while (count > 0)
        free(memory[--count]);
    return 0;
}

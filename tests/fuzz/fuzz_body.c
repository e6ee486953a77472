/*
 * fuzz_body.c: any body of a batch read, as both of its shapes. What is taken is within its bounds
 * and without duplicates; what is refused has a reason that is JSON.
 */
#include "fuzz/fuzz.h"
#include "server/request/body.h"

static void check_ids(const body_ids *body, slice text)
{
    require(body->count <= BODY_IDS_MAX);
    require(body->limit >= LIMIT_LEAST && body->limit <= LIMIT_MOST);
    for (size_t i = 0; i < body->count; i++) {
        const body_id *id = &body->ids[i];
        require(id->token.ptr >= text.ptr && id->token.ptr + id->token.len <= text.ptr + text.len);
        require(id->token.len >= 2 && id->token.ptr[0] == '"');
        require(id->text.ptr != NULL || !id->is_uuid);
        for (size_t k = 0; k < i && id->text.ptr != NULL; k++)
            require(body->ids[k].text.ptr == NULL || !slice_equal(body->ids[k].text, id->text));
    }
}

static void check_items(const buf *items)
{
    buf list = BUF_INIT(items->len + 2);
    buf_char(&list, '[');
    buf_slice(&list, buf_as_slice(items));
    buf_char(&list, ']');
    require(items->len > 0 && scan_check(buf_as_slice(&list), 200, NULL, NULL, NULL));
    buf_free(&list);
}

static void run(slice text, const body_rules *wanted)
{
    body_ids body;
    validation s;
    arena memory = ARENA_INIT;

    validation_init(&s, text, &memory);
    body_read(&body, wanted, &s);
    validation_result result = validation_check(&s);
    if (result == VALIDATION_OK)
        check_ids(&body, text);
    else if (result == VALIDATION_FAULTS)
        check_items(&s.items);
    else if (result == VALIDATION_MALFORMED)
        require(s.message != NULL && s.position <= text.len);
    validation_free(&s);
    arena_reset(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const body_rules CARDS = {"card_ids", false}, BOXES = {"box_ids", true};
    slice text = {(const char *)data, size};
    run(text, &CARDS);
    run(text, &BOXES);
    return 0;
}

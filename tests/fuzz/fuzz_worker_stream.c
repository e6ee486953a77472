/*
 * fuzz_worker_stream.c: any bytes as a model's stream. The message does not depend on where they
 * are cut, and its texts are UTF-8 without NUL.
 */
#include "fuzz/fuzz.h"
#include "worker/model/completion.h"
#include "worker/model/sse.h"

static bool take(void *arg, slice data)
{
    slice piece;
    return completion_add_chunk(arg, data, &piece);
}

static bool read_stream(completion *c, slice text, size_t step)
{
    sse s;
    bool goes_on = true;
    completion_init(c);
    sse_init(&s, 1 << 16, take, c);
    for (size_t at = 0; at < text.len && goes_on; at += step)
        goes_on = sse_feed(&s, (slice){text.ptr + at, text.len - at < step ? text.len - at : step});
    sse_free(&s);
    return completion_end(c);
}

static void check_text(const buf *text)
{
    require(slice_is_utf8(buf_as_slice(text)) && strlen(buf_str(text)) == text->len);
}

/* The messages of both are the same JSON object. */
static void check_messages(const completion *a, const completion *b)
{
    buf one = BUF_INIT(4 * DELTA_BYTES_MAX), other = BUF_INIT(4 * DELTA_BYTES_MAX);
    scan_value value;
    completion_put_message(&one, a);
    completion_put_message(&other, b);
    require(buf_ok(&one) && slice_equal(buf_as_slice(&one), buf_as_slice(&other)));
    require(scan_check(buf_as_slice(&one), DELTA_DEPTH_MAX + 2, &value, NULL, NULL));
    require(value.kind == SCAN_OBJECT);
    buf_free(&one);
    buf_free(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static completion whole, pieces; /* too large for the stack */
    slice text = {(const char *)data, size};
    bool is_whole = read_stream(&whole, text, size > 0 ? size : 1);
    require(read_stream(&pieces, text, size > 0 ? data[0] % 7 + 1U : 1) == is_whole);
    require(whole.call_count == pieces.call_count);
    require(slice_equal(buf_as_slice(&whole.text), buf_as_slice(&pieces.text)));
    check_text(&whole.text);
    for (size_t i = 0; i < whole.call_count; i++) {
        check_text(&whole.calls[i].name);
        check_text(&whole.calls[i].arguments);
        require(!is_whole || whole.calls[i].name.len > 0);
    }
    if (is_whole)
        check_messages(&whole, &pieces);
    completion_free(&whole);
    completion_free(&pieces);
    return 0;
}

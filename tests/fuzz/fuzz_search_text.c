/*
 * fuzz_search_text.c: any bytes as JSON, and the text of the first part of them. The text is not
 * longer than the JSON, has whole lines, and has terms. The timestamp is a part of the JSON.
 */
#include "fuzz/fuzz.h"
#include "model/search/search.h"

static void check_json(slice json)
{
    arena memory = ARENA_INIT;
    buf text = BUF_INIT(json.len + 1);
    slice timestamp = search_timestamp(json);
    size_t count;

    require(timestamp.len == 0 || (timestamp.ptr > json.ptr && timestamp.len < json.len &&
                                   timestamp.ptr + timestamp.len < json.ptr + json.len));
    search_text(&text, json);
    require(buf_ok(&text));
    char last = text.len == 0 ? '\n' : text.data[text.len - 1];
    require(last == '\n' || last == SEARCH_TEXT_END);
    require(!slice_is_utf8(json) || slice_is_utf8(buf_as_slice(&text)));
    const int64_t *terms = search_terms(buf_as_slice(&text), SLICE("t"), &count, &memory);
    require(terms != NULL);
    for (size_t i = 1; i < count; i++)
        require(terms[i - 1] < terms[i]);
    buf_free(&text);
    arena_reset(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice json = {(const char *)data, size};

    check_json(json);
    check_json((slice){json.ptr, slice_cut(json, size / 2)});
    return 0;
}

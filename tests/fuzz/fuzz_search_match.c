/*
 * fuzz_search_match.c: a query, a line feed, and a text. A text that matches has all terms that are
 * looked up, and a query of one run with at most two words matches each text that has them. The
 * snippet is UTF-8, and its offsets are in it.
 */
#include "fuzz/fuzz.h"
#include "model/search/query.h"

static size_t count_chars(slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0u) != 0x80u;
    return count;
}

static void check_snippet(const search_snippet *snippet)
{
    size_t chars = count_chars(snippet->text);
    int32_t before = 0;

    require(slice_is_utf8(snippet->text));
    require(chars > 0 && chars <= SEARCH_SNIPPET_CHARS && snippet->count > 0);
    for (size_t i = 0; i < snippet->count; i++) {
        require(snippet->offsets[i].from >= before);
        require(snippet->offsets[i].to > snippet->offsets[i].from);
        before = snippet->offsets[i].to;
    }
    require((size_t)before <= chars);
}

static bool has_all(const int64_t *terms, size_t count, const int64_t *wanted, size_t wanted_count)
{
    size_t at = 0;

    for (size_t i = 0; i < wanted_count; i++) {
        while (at < count && terms[at] < wanted[i])
            at++;
        if (at == count || terms[at] != wanted[i])
            return false;
    }
    return true;
}

static bool check_match(const search_query *query, slice text, arena *memory)
{
    size_t count, wanted_count;
    search_snippet snippet;
    const int64_t *wanted = search_query_terms(query, SLICE("t"), &wanted_count, memory);
    const int64_t *terms = search_terms(text, SLICE("t"), &count, memory);

    require(wanted != NULL && terms != NULL);
    require(wanted_count > 0 && wanted_count <= SEARCH_QUERY_TERMS);
    bool has = has_all(terms, count, wanted, wanted_count);
    bool matches = search_match(query, text, &snippet, memory);
    require(has || !matches);
    require(matches || !has || query->count > 1 || query->runs[0].count > 2);
    if (matches)
        check_snippet(&snippet);
    return matches;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena memory = ARENA_INIT;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t len = end != NULL ? (size_t)(end - data) : size;
    const char *reason;
    const search_query *query =
        search_query_parse((slice){(const char *)data, len}, &memory, &reason);

    require((query == NULL) == (reason != NULL));
    if (query != NULL && end != NULL)
        check_match(query, (slice){(const char *)end + 1, size - len - 1}, &memory);
    /* A query finds itself. */
    require(query == NULL || check_match(query, (slice){(const char *)data, len}, &memory));
    arena_reset(&memory);
    return 0;
}

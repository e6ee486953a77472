/*
 * test_search.c: the tokeniser of the search: the text of JSON, terms, queries, matches, snippets.
 * test_search_words.py compares it with another tokeniser.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "model/search/chars.h"
#include "model/search/search.h"
#include "model/search/terms.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const slice TENANT = {"t", 1};

static void text_of_json(void **state)
{
    static const struct {
        const char *json, *text;
    } CASES[] = {
        {"\"a\"", "a\n"},
        {"{\"__type__\":\"TextContent\",\"text\":\"Hi\\nyou\"}", "Hi\nyou\036"},
        {"{\"path\":\"/a/b\",\"n\":-1.5e3,\"b\":true,\"z\":null}", "path\n/a/b\nn\n-1.5e3\nb\nz\n"},
        {"{\"id\":\"x\",\"a\":{\"id\":\"y\"}}", "a\nid\ny\n"},
        {"[{\"id\":\"call_1\"}]", "id\ncall_1\n"},
        {"{\"type\":\"message\",\"timestamp\":12,\"message\":{\"role\":\"user\"}}", ""},
        {"{\"type\":{\"x\":\"y\"}}", "x\ny\n"},
        {"{\"type\":null,\"x\":\"y\"}", "x\ny\n"},
        {"{\"type\":\"\xE7\xA5\xA8\"}", "\xE7\xA5\xA8\n"},
        {"{\"content\":[\"a\",{\"thinking\":\"b\"}],\"c\":\"d\"}", "a\nb\036c\nd\n"},
        {"{\"typ\\u0065\":\"message\"}", ""},
        {"\"\\u4e2d\\u6587 \\ud842\\udfb7\"", "\xE4\xB8\xAD\xE6\x96\x87 \xF0\xA0\xAE\xB7\n"},
        {"\"\\ud842x\"", "\xEF\xBF\xBDx\n"},
        {"", ""},
        {"{\"arguments\":\"{\\\"id\\\":\\\"a\\\\nb\\\"}\"}", "id\na\nb\n"},
        {"{\"arguments\":\"{\\\"id\\\":\"}", "{\"id\":\n"},
        {"{\"x\":\"[\\\"id\\\"]\"}", "x\n[\"id\"]\n"},
        /* cut */
        {"{\"text\":\"begi", "begi\036"},
        {"{\"text\":\"a\\", "a\036"},
        {"{\"text\":\"a\\u4e", "a\036"},
        {"{\"text\":\"a\\ud842", "a\xEF\xBF\xBD\036"},
        {"{\"type\":\"mess", ""},
        {"{\"type\":", ""},
        {"[12", "12\n"},
        /* no JSON */
        {"]]]}\"a\"", "a\n"},
        {"\"a\\qb\"", "a\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        buf text = BUF_INIT(1000);
        search_text(&text, slice_of(CASES[i].json));
        assert_true(buf_ok(&text));
        assert_string_equal(buf_str(&text), CASES[i].text);
        buf_free(&text);
    }
}

/* A text of `before`, `count` times 'A', and `after`, without its line feed. */
static size_t length_of_text(const char *before, int count, const char *after)
{
    char json[1000];
    buf text = BUF_INIT(1000);
    int at = 0;

    json[at++] = '"';
    for (const char *c = before; *c != '\0'; c++)
        json[at++] = *c;
    for (int i = 0; i < count; i++)
        json[at++] = 'A';
    for (const char *c = after; *c != '\0'; c++)
        json[at++] = *c;
    json[at++] = '"';
    search_text(&text, (slice){json, (size_t)at});
    size_t len = text.len;
    buf_free(&text);
    return len == 0 ? 0 : len - 1;
}

static void data_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(length_of_text("", 256, ""), 256);
    assert_int_equal(length_of_text("", 257, ""), 0);
    assert_int_equal(length_of_text("", 257, " "), 258);
    assert_int_equal(length_of_text("", 257, "."), 258);
    assert_int_equal(length_of_text("data:image/png;base64,", 257, "=="), 0);
    assert_int_equal(length_of_text("data:image/png;base64,", 250, ""), 272);
}

/* The text has exactly the terms that are the words of `expected`, which spaces separate. */
static void check_terms(const char *text, const char *expected)
{
    arena memory = ARENA_INIT;
    size_t count, wanted_count = 0;
    const int64_t *terms = search_terms(slice_of(text), TENANT, &count, &memory);
    int64_t wanted[64];

    for (const char *at = expected; *at != '\0';) {
        size_t len = strcspn(at, " ");
        wanted[wanted_count++] = search_term(search_seed(TENANT), (slice){at, len});
        at += len;
        at += *at == ' ';
    }
    wanted_count = search_sort_terms(wanted, wanted_count);
    assert_non_null(terms);
    assert_int_equal(count, wanted_count);
    assert_memory_equal(terms, wanted, count * sizeof(*terms));
    arena_reset(&memory);
}

static void terms_of_texts(void **state)
{
    (void)state;
    check_terms("", "");
    check_terms(" ... \xF0\x9F\x98\x80 ", "");
    check_terms("parseJsonValue", "parse json value parsejson jsonvalue parsejsonvalue");
    check_terms("HTTPServer", "http server httpserver");
    check_terms("a_b-c.d", "a b c d ab bc cd abc bcd abcd");
    check_terms("x2y", "x 2 y x2 2y x2y");
    check_terms("_a_ 'b' c---d", "a b c d");
    check_terms("std::vector", "std vector stdvector");
    check_terms("M\xC3\xBCller MU\xCC\x88LLER", "muller");
    check_terms("Stra\xC3\x9F"
                "e STRASSE",
                "strasse");
    check_terms("\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97",
                "\xE4\xB8\xAD \xE6\x96\x87 \xE5\xAD\x97 \xE4\xB8\xAD\xE6\x96\x87 "
                "\xE6\x96\x87\xE5\xAD\x97");
    check_terms("\xE4\xB8\xAD\xE3\x80\x82\xE6\x96\x87", "\xE4\xB8\xAD \xE6\x96\x87");
    check_terms("iOS\xE7\x89\x88", "i os ios \xE7\x89\x88 os\xE7\x89\x88 ios\xE7\x89\x88");
    /* bytes that are not UTF-8 */
    check_terms("a\xFF\xC3", "a");
}

static void terms_belong_to_one_project(void **state)
{
    arena memory = ARENA_INIT;
    size_t one, other;
    const int64_t *a = search_terms(SLICE("word"), SLICE("p"), &one, &memory);
    const int64_t *b = search_terms(SLICE("word"), SLICE("q"), &other, &memory);

    (void)state;
    assert_true(a[0] != b[0]);
    assert_true(search_filter_term(SLICE("p"), "role", SLICE("word")) != a[0]);
    assert_true(search_filter_term(SLICE("p"), "role", SLICE("word")) !=
                search_filter_term(SLICE("p"), "type", SLICE("word")));
    assert_true(search_filter_term(SLICE("p"), "role", SLICE("word")) !=
                search_filter_term(SLICE("q"), "role", SLICE("word")));
    /* Stored in the database, so it must never change. */
    assert_int_equal(search_filter_term(SLICE("p"), "role", SLICE("user")),
                     INT64_C(0x1a273002cf42d2ba));
    assert_int_equal(a[0], INT64_C(0x47cdc7563084ade9));
    arena_reset(&memory);
}

static void matches_and_does_not(void **state)
{
    static const struct {
        const char *query, *text;
        bool matches;
    } CASES[] = {
        {"json", "parseJsonValue", true},
        {"json", "jsonb", false},
        {"ParseJSON", "a tryParseJsonNow", true},
        {"parse_json", "parsejson", true},
        {"parse json", "parsejson", false},
        {"json parse", "parse the json", true},
        {"parse json", "parse the text", false},
        {"iPhone15", "iphone15", true},
        {"GITHUBActions9", "githubactions9", true},
        {"src/model/search.h", "/home/src/model/search.h:12", true},
        {"src/model/search.h", "src/search.h", false},
        {"src/model/search.h", "src model search h", false},
        {"a_b_c", "a_b b_c", false},
        {"\xE4\xB8\xAD\xE6\x96\x87", "x\xE4\xB8\xAD\xE6\x96\x87y", true},
        {"\xE4\xB8\xAD\xE6\x96\x87", "\xE4\xB8\xAD \xE6\x96\x87", false},
        {"\xE4\xB8\xAD\xE6\x96\x87", "\xE6\x96\x87\xE4\xB8\xAD", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        arena memory = ARENA_INIT;
        const char *reason;
        search_snippet snippet;
        const search_query *query = search_query_parse(slice_of(CASES[i].query), &memory, &reason);

        assert_non_null(query);
        assert_int_equal(search_match(query, slice_of(CASES[i].text), &snippet, &memory),
                         CASES[i].matches);
        assert_false(memory.failed);
        arena_reset(&memory);
    }
}

static const char *reason_of(slice q)
{
    arena memory = ARENA_INIT;
    const char *reason;
    bool parsed = search_query_parse(q, &memory, &reason) != NULL;

    assert_int_equal(parsed, reason == NULL);
    arena_reset(&memory);
    return reason;
}

static void invalid_queries(void **state)
{
    char q[1100];

    (void)state;
    assert_string_equal(reason_of(SLICE("")), "must contain a letter or a digit");
    assert_string_equal(reason_of(SLICE(" ?! \xF0\x9F\x98\x80")),
                        "must contain a letter or a digit");
    memset(q, 'a', sizeof(q));
    assert_null(reason_of((slice){q, 1024}));
    assert_string_equal(reason_of((slice){q, 1025}), "must have at most 1024 bytes");
    /* The same run counts once. */
    for (size_t i = 1; i < sizeof(q); i += 2)
        q[i] = ' ';
    assert_null(reason_of((slice){q, 1000}));
    for (size_t i = 0; i < 66; i += 2)
        q[i] = (char)(i < 52 ? 'a' + (int)i / 2 : '0' + ((int)i - 52) / 2);
    assert_null(reason_of((slice){q, 64}));
    assert_string_equal(reason_of((slice){q, 66}), "must have at most 32 different words");
}

static void looks_up_the_longest_terms(void **state)
{
    arena memory = ARENA_INIT;
    const char *reason;
    char q[600];
    size_t count;

    (void)state;
    for (size_t i = 0; i < sizeof(q); i += 4)
        memcpy(q + i, (char[4]){(char)('a' + i / 4 % 26), (char)('a' + i / 104), '0', '.'}, 4);
    memcpy(q + 400, "longest", 7);
    const search_query *query = search_query_parse((slice){q, sizeof(q)}, &memory, &reason);
    const int64_t *terms = search_query_terms(query, TENANT, &count, &memory);
    int64_t longest = search_term(search_seed(TENANT), SLICE("0longest"));
    bool found = false;

    assert_int_equal(count, SEARCH_QUERY_TERMS);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || terms[i - 1] < terms[i]);
        found |= terms[i] == longest;
    }
    assert_true(found);
    arena_reset(&memory);
}

/* The snippet has the text and the offsets, "FROM-TO" separated by spaces. */
static void check_snippet(const char *q, const char *text, const char *expected,
                          const char *offsets)
{
    arena memory = ARENA_INIT;
    const char *reason;
    search_snippet snippet;
    buf got = BUF_INIT(1000);
    const search_query *query = search_query_parse(slice_of(q), &memory, &reason);

    assert_true(search_match(query, slice_of(text), &snippet, &memory));
    assert_string_equal(snippet.text.ptr, expected);
    assert_int_equal(snippet.text.len, strlen(expected));
    for (size_t i = 0; i < snippet.count; i++)
        buf_printf(&got, "%s%d-%d", i > 0 ? " " : "", snippet.offsets[i].from,
                   snippet.offsets[i].to);
    assert_string_equal(buf_str(&got), offsets);
    buf_free(&got);
    arena_reset(&memory);
}

static void snippets(void **state)
{
    (void)state;
    check_snippet("b", " a \n\t b\xE3\x80\x80 c ", "a b c", "2-3");
    check_snippet("b", "b\xFF", "b\xEF\xBF\xBD", "0-1");
    check_snippet("json", "parseJsonValue", "parseJsonValue", "5-9");
    /* code points, not bytes */
    check_snippet("c", "\xC3\xA4\xF0\x9F\x98\x80 c", "\xC3\xA4\xF0\x9F\x98\x80 c", "3-4");
    /* overlapping matches become one, adjacent ones stay two */
    check_snippet("a_b b_c", "a_b_c", "a_b_c", "0-5");
    check_snippet("a b", "a_b", "a_b", "0-1 2-3");
    /* controls, and what would be HTML, stay text */
    check_snippet("b", "a b\036c", "a b", "2-3");
    check_snippet("b", "a\036b c\036d\nb\ne", "a b c d b e", "2-3 8-9");
    check_snippet("a b", "a\036c\nb", "a c b", "0-1 4-5");
    check_snippet("b", "<b>\x01&\x7F</b>", "<b> & </b>", "1-2 8-9");
}

static void snippet_of_a_long_text(void **state)
{
    arena memory = ARENA_INIT;
    const char *reason;
    char text[3000];
    search_snippet snippet;

    (void)state;
    memset(text, '-', sizeof(text));
    for (size_t i = 0; i < sizeof(text); i += 10)
        text[i] = ' ';
    memcpy(text + 500, " one ", 5);
    memcpy(text + 2001, "one", 3);
    memcpy(text + 2040, " two ", 5);
    const search_query *query = search_query_parse(SLICE("one two"), &memory, &reason);
    assert_true(search_match(query, (slice){text, sizeof(text)}, &snippet, &memory));
    /* The one beside "two", with up to 60 characters before, from the beginning of a word. */
    assert_int_equal(snippet.count, 2);
    assert_int_equal(snippet.text.len, SEARCH_SNIPPET_CHARS - 1); /* without a space at the end */
    assert_int_equal(snippet.offsets[0].from, 50);
    assert_int_equal(snippet.offsets[0].to, 53);
    assert_int_equal(snippet.offsets[1].from, 90);
    arena_reset(&memory);
}

/* Writes a run of `count` times "a_" and returns where it ends. */
static size_t repeat_word(char *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + 2 * i, "a_", 2);
    return 2 * count;
}

static void overlapping_matches_are_compared_so_often(void **state)
{
    enum { WORDS = 500, MOST = 20000 };
    arena memory = ARENA_INIT;
    const char *reason;
    char q[2 * WORDS + 4];
    char *text = arena_take(&memory, 2 * MOST);
    search_snippet snippet;

    (void)state;
    size_t len = repeat_word(q, WORDS);
    memcpy(q + len, "aaaa", 4);
    const search_query *query = search_query_parse((slice){q, len + 4}, &memory, &reason);
    len = repeat_word(text, WORDS + 10);
    assert_false(search_match(query, (slice){text, len}, &snippet, &memory));
    len = repeat_word(text, MOST);
    assert_true(search_match(query, (slice){text, len}, &snippet, &memory));
    assert_false(memory.failed);
    arena_reset(&memory);
}

static void says_why_it_has_ended(void **state)
{
    enum { LENGTH = 4 << 20 };
    memory_budget process = {.most = (size_t)1 << 30};
    const atomic_bool given_up = true;
    const arena_budget budget = {.process = &process, .given_up = &given_up};
    arena queries = ARENA_INIT, memory = {.budget = &budget};
    const char *reason;
    char *text = arena_take(&queries, LENGTH);
    search_snippet snippet;

    (void)state;
    memset(text, 'a', LENGTH); /* one run of many words */
    const search_query *query = search_query_parse(SLICE("b"), &queries, &reason);
    assert_false(search_match(query, (slice){text, LENGTH}, &snippet, &memory));
    assert_true(memory.failed);
    assert_int_equal(memory.why, ARENA_GIVEN_UP);
    arena_reset(&memory);
    arena_reset(&queries);
}

static void folds_each_character_into_its_limit(void **state)
{
    char bytes[4], folded[SEARCH_FOLD_MAX];
    size_t most = 0;

    (void)state;
    for (uint32_t code = 0x80; code < 0x110000; code++) {
        size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t i = len; i-- > 1;)
            bytes[i] = (char)(0x80 | (code >> 6 * (len - 1 - i) & 0x3F));
        bytes[0] = (char)(0xF0u << (4 - len) | code >> 6 * (len - 1));
        search_char c = search_char_at((slice){bytes, len}, 0);
        if (c.kind < CHAR_MARK)
            continue;
        assert_int_equal(c.code, code);
        size_t size = search_fold(folded, c, bytes);
        assert_true(slice_is_utf8((slice){folded, size}));
        most = size > most ? size : most;
    }
    assert_true(most > 20 && most <= 64);
}

/* The buffer of a run grows by more than a character needs: see SEARCH_FOLD_MAX. */
static void arrays_grow_to_more_than_twice_their_size(void **state)
{
    arena memory = {0};
    size_t capacity = 0;
    (void)state;
    char *text = arena_more(&memory, NULL, 128, &capacity, 1);
    assert_true(capacity > 128);
    memset(text, 'x', capacity);
    size_t before = capacity;
    text = arena_more(&memory, text, before + 1, &capacity, 1);
    assert_true(capacity > before + 1);
    for (size_t i = 0; i < capacity; i++)
        assert_int_equal(text[i], i < before ? 'x' : 0);
    arena_reset(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_json),
        cmocka_unit_test(data_is_left_out),
        cmocka_unit_test(terms_of_texts),
        cmocka_unit_test(terms_belong_to_one_project),
        cmocka_unit_test(matches_and_does_not),
        cmocka_unit_test(invalid_queries),
        cmocka_unit_test(looks_up_the_longest_terms),
        cmocka_unit_test(snippets),
        cmocka_unit_test(snippet_of_a_long_text),
        cmocka_unit_test(overlapping_matches_are_compared_so_often),
        cmocka_unit_test(says_why_it_has_ended),
        cmocka_unit_test(folds_each_character_into_its_limit),
        cmocka_unit_test(arrays_grow_to_more_than_twice_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

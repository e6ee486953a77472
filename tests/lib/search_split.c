/*
 * search_split.c: the tokeniser of the search for tests/unit/test_search_words.py. Reads requests
 * `COMMAND LENGTH LENGTH` in lines, each with two texts of these lengths behind it, and answers a
 * line:
 *   text JSON -       "LENGTH", and the text of the JSON behind it
 *   terms TEXT WORDS  "same" if the terms of the text are those of the words, which are lines
 *   match QUERY TEXT  "-" if the query does not find the text, otherwise "LENGTH FROM TO ...", and
 *                     the snippet behind it
 */
#include <stdio.h>
#include <stdlib.h>
#include "model/search/search.h"
#include "model/search/terms.h"

static const slice TENANT = {"t", 1};

static char *read_bytes(size_t len)
{
    char *bytes = malloc(len + 1);

    if (bytes == NULL || fread(bytes, 1, len, stdin) != len)
        exit(1);
    return bytes;
}

static void print_text(slice json)
{
    buf text = BUF_INIT(json.len + 1);

    search_text(&text, json);
    if (!buf_ok(&text))
        exit(2);
    printf("%zu\n%s", text.len, "");
    fwrite(buf_str(&text), 1, text.len, stdout);
    buf_free(&text);
}

static void compare_terms(slice text, slice words, arena *memory)
{
    size_t count, expected = 0;
    int64_t *wanted = arena_take(memory, (words.len + 1) * sizeof(*wanted));
    const int64_t *terms = search_terms(text, TENANT, &count, memory);

    for (const char *at = words.ptr, *end = at + words.len; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));

        wanted[expected++] = search_term(search_seed(TENANT), (slice){at, (size_t)(line_end - at)});
        at = line_end + 1;
    }
    expected = search_sort_terms(wanted, expected);
    if (count == expected && memcmp(terms, wanted, count * sizeof(*terms)) == 0)
        puts("same");
    else
        printf("%zu terms, not %zu\n", count, expected);
}

static void print_match(slice q, slice text, arena *memory)
{
    const char *reason;
    const search_query *query = search_query_parse(q, memory, &reason);
    search_snippet snippet;

    if (query == NULL || !search_match(query, text, &snippet, memory)) {
        puts("-");
        return;
    }
    printf("%zu", snippet.text.len);
    for (size_t i = 0; i < snippet.count; i++)
        printf(" %d %d", snippet.offsets[i].from, snippet.offsets[i].to);
    putchar('\n');
    fwrite(snippet.text.ptr, 1, snippet.text.len, stdout);
}

int main(void)
{
    char command[8];
    size_t first, second;

    while (scanf("%7s %zu %zu", command, &first, &second) == 3 && getchar() == '\n') {
        arena memory = ARENA_INIT;
        slice a = {read_bytes(first), first}, b = {read_bytes(second), second};

        if (command[0] == 'm')
            print_match(a, b, &memory);
        else if (command[1] == 'e' && command[2] == 'x')
            print_text(a);
        else
            compare_terms(a, b, &memory);
        fflush(stdout);
        free((void *)(uintptr_t)a.ptr);
        free((void *)(uintptr_t)b.ptr);
        arena_reset(&memory);
    }
    return 0;
}

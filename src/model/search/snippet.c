/*
 * snippet.c: makes the snippet of a text: selects its part, collapses white space, and counts the
 * code points of the matches in it.
 */
#include "model/search/snippet.h"
#include "model/search/chars.h"

enum {
    /* between matches that are shown together: a character has at least one byte */
    NEAR_BYTES = SEARCH_SNIPPET_CHARS - SEARCH_SNIPPET_BEFORE,
    CHAR_BYTES = 4 /* maximum of UTF-8 */
};

/* Returns the index of the match with which the snippet begins: the first one after which the most
 * different runs follow within NEAR_BYTES. */
static size_t best_match(const search_found *found, size_t count)
{
    size_t near[SEARCH_QUERY_RUNS] = {0}; /* matches of each run in [i, end) */
    size_t best = 0, most = 0, different = 0, end = 0;

    for (size_t i = 0; i < count; i++) {
        for (; end < count && found[end].from < found[i].from + NEAR_BYTES; end++)
            different += near[found[end].run]++ == 0;
        if (different > most) {
            most = different;
            best = i;
        }
        different -= --near[found[i].run] == 0;
    }
    return best;
}

/* Returns the start of the character before byte `at`, which is not 0. */
static size_t char_before(slice text, size_t at)
{
    size_t from = at - 1;

    while (from > 0 && at - from < CHAR_BYTES && ((unsigned char)text.ptr[from] & 0xC0u) == 0x80u)
        from--;
    return search_char_at(text, from).len == at - from ? from : at - 1;
}

/* Returns the byte at which the snippet starts: at most SEARCH_SNIPPET_BEFORE characters before
 * `match`, and behind white space if there is any. */
static size_t snippet_start(slice text, size_t match)
{
    size_t at = match, word = match;
    bool was_space = false, has_word = false;

    for (int chars = 0; at > 0 && chars < SEARCH_SNIPPET_BEFORE;) {
        size_t before = char_before(text, at);
        bool is_space = search_char_at(text, before).kind == CHAR_SPACE;

        if (is_space && !was_space) {
            word = at;
            has_word = true;
        }
        chars += !is_space || !was_space;
        was_space = is_space;
        at = before;
    }
    return at == 0 || !has_word ? at : word;
}

/* A snippet that is being written. */
typedef struct snippet_copy {
    search_snippet *out;
    char *bytes;
    int32_t chars;
    const search_found *next; /* the next match that begins */
    const search_found *end;
    size_t match_end; /* bytes of the text where the last match ends; 0: it has ended */
} snippet_copy;

/* Ends the match that is being copied, if it ends before byte `at` of the text. */
static void end_match(snippet_copy *c, size_t at)
{
    if (c->match_end == 0 || at < c->match_end)
        return;
    c->out->offsets[c->out->count - 1].to = c->chars;
    c->match_end = 0;
}

/* Begins the matches at byte `at` of the text. Matches that overlap become one. */
static void begin_matches(snippet_copy *c, size_t at)
{
    for (; c->next < c->end && c->next->from <= at; c->next++) {
        if (c->next->to <= at)
            continue;
        if (c->match_end == 0)
            c->out->offsets[c->out->count++] = (search_range){c->chars, c->chars};
        if (c->next->to > c->match_end)
            c->match_end = c->next->to;
    }
}

static void copy_char(snippet_copy *c, search_char ch, const char *bytes)
{
    static const char REPLACEMENT[] = "\xEF\xBF\xBD";
    slice *text = &c->out->text;

    if (ch.code == 0xFFFD) {
        bytes = REPLACEMENT;
        ch.len = sizeof(REPLACEMENT) - 1;
    }
    memcpy(c->bytes + text->len, bytes, ch.len);
    text->len += ch.len;
    c->chars++;
}

/* True if the snippet ends at byte `at` of the text, because a string with the last match ends. */
static bool is_end(const snippet_copy *c, slice text, size_t at)
{
    size_t left = (size_t)(SEARCH_SNIPPET_CHARS - c->chars);

    return text.ptr[at] == SEARCH_TEXT_END && c->out->count > 0 &&
           (c->next == c->end || c->next->from >= at + left);
}

/* Copies the text from byte `at`, with one space instead of white space and control characters, and
 * without white space at both ends. */
static void copy_text(snippet_copy *c, slice text, size_t at)
{
    const search_char space = {' ', CHAR_SPACE, 1};
    bool spaced = false;
    search_char ch;

    for (; (ch = search_char_at(text, at)).len > 0; at += ch.len) {
        end_match(c, at);
        if (is_end(c, text, at))
            break;
        if (ch.kind == CHAR_SPACE) {
            spaced = c->chars > 0;
            continue;
        }
        if (c->chars + spaced >= SEARCH_SNIPPET_CHARS)
            break;
        if (spaced)
            copy_char(c, space, " ");
        spaced = false;
        begin_matches(c, at);
        copy_char(c, ch, text.ptr + at);
    }
    if (c->match_end != 0)
        c->out->offsets[c->out->count - 1].to = c->chars;
}

bool search_snippet_make(search_snippet *out, slice text, const search_found *found, size_t count,
                         arena *memory)
{
    snippet_copy copy = {.out = out, .next = found, .end = found + count};
    const size_t most = SEARCH_SNIPPET_CHARS; /* each match has a character at least */

    *out = (search_snippet){.offsets = arena_take(memory, most * sizeof(search_range))};
    copy.bytes = arena_take(memory, most * CHAR_BYTES + 1);
    if (out->offsets == NULL || copy.bytes == NULL)
        return false;
    out->text.ptr = copy.bytes;
    copy_text(&copy, text, snippet_start(text, found[best_match(found, count)].from));
    copy.bytes[out->text.len] = '\0';
    return true;
}

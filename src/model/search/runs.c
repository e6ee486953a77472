/*
 * runs.c: splits a text into runs, words and subwords. Each character is read once; a small letter
 * after several capitals moves the last of them into a new subword.
 */
#include "model/search/runs.h"
#include "model/search/chars.h"

enum { FIRST_SUBWORDS = 256, FIRST_FOLDED = 2048, CONNECTORS_MAX = 2 };

bool search_reader_init(search_reader *reader, slice text, arena *memory)
{
    if (text.len > UINT32_MAX / 4)
        text.len = UINT32_MAX / 4;
    *reader = (search_reader){.text = text, .memory = memory};
    reader->subwords = arena_take(memory, FIRST_SUBWORDS * sizeof(search_subword));
    reader->folded = arena_take(memory, FIRST_FOLDED);
    reader->subwords_cap = FIRST_SUBWORDS;
    reader->folded_cap = FIRST_FOLDED;
    return reader->subwords != NULL && reader->folded != NULL;
}

/* A run that is being read. */
typedef struct run_state {
    search_reader *reader;
    size_t count;       /* finished subwords */
    size_t len;         /* folded bytes */
    size_t start;       /* folded bytes before the present subword */
    size_t word;        /* folded bytes before the present word */
    size_t from;        /* where the present subword begins in the text */
    size_t to;          /* where it ends so far */
    size_t last_from;   /* where its last letter begins in the text */
    size_t last_folded; /* folded bytes before this letter */
    char_kind kind;     /* kind of the last letter or digit; CHAR_OTHER: none yet */
    bool begins_word;
    bool has_single;
} run_state;

/* Ends the present subword, unless its folded text is empty. */
static void end_subword(run_state *s)
{
    if (s->len == s->start)
        return;
    s->reader->subwords[s->count++] = (search_subword){
        .from = (uint32_t)s->from,
        .to = (uint32_t)s->to,
        .folded_end = (uint32_t)s->len,
        .begins_word = s->begins_word,
        .is_single = s->kind == CHAR_SINGLE,
    };
    s->start = s->len;
    s->begins_word = false;
}

static void begin_subword(run_state *s, size_t from)
{
    end_subword(s);
    s->from = s->to = from;
}

static void begin_word(run_state *s, size_t from)
{
    begin_subword(s, from);
    s->word = s->len;
    s->begins_word = true;
}

/* Moves the last of several capitals into a new subword: HTTPServer becomes HTTP, Server. `at` is
 * where the small letter after it begins. */
static void move_last_capital(run_state *s, size_t at)
{
    size_t len = s->len;

    if (s->last_folded <= s->start)
        return;
    s->len = s->last_folded;
    s->to = s->last_from;
    begin_subword(s, s->last_from);
    s->len = len;
    s->to = at;
}

/* Begins a new word or subword before a letter or digit if a rule requires it. `after_connector`:
 * connectors stand before the letter or digit. */
static void split_before(run_state *s, char_kind kind, size_t at, bool after_connector)
{
    char_kind before = s->kind;

    if (after_connector || before == CHAR_OTHER || kind == CHAR_SINGLE || before == CHAR_SINGLE ||
        (kind == CHAR_DIGIT) != (before == CHAR_DIGIT))
        begin_word(s, at);
    else if (before != CHAR_UPPER && kind == CHAR_UPPER)
        begin_subword(s, at);
    else if (before == CHAR_UPPER && kind == CHAR_LOWER)
        move_last_capital(s, at);
}

/* Appends a character to the present subword. False: no memory. */
static bool add_char(run_state *s, search_char c, size_t at)
{
    search_reader *r = s->reader;

    r->folded = arena_more(r->memory, r->folded, s->len + SEARCH_FOLD_MAX, &r->folded_cap, 1);
    if (r->folded == NULL)
        return false;
    size_t len = search_fold(r->folded + s->len, c, r->text.ptr + at);
    if (s->len + len - s->word > SEARCH_WORD_BYTES)
        begin_word(s, at);
    if (c.kind != CHAR_MARK) {
        s->last_from = at;
        s->last_folded = s->len;
        s->kind = c.kind;
        s->has_single |= c.kind == CHAR_SINGLE;
    }
    s->len += len;
    s->to = at + c.len;
    return true;
}

/* Moves behind connectors that stand between two letters or digits. Reads the character there. */
static search_char skip_connectors(const run_state *s, size_t *at, search_char c)
{
    slice text = s->reader->text;
    size_t next = *at;
    search_char after = c;

    for (int i = 0; i < CONNECTORS_MAX && after.kind == CHAR_CONNECTOR; i++) {
        next += after.len;
        after = search_char_at(text, next);
    }
    if (s->kind == CHAR_SINGLE || after.kind < CHAR_DIGIT || after.kind == CHAR_SINGLE)
        return c;
    *at = next;
    return after;
}

/* Reads the run that begins at `at`. False: no memory. */
static bool read_run(run_state *s, size_t at)
{
    search_reader *r = s->reader;

    for (;;) {
        search_char c = search_char_at(r->text, at);
        bool after_connector = c.kind == CHAR_CONNECTOR;

        if (after_connector)
            c = skip_connectors(s, &at, c);
        r->at = at;
        if (c.kind < CHAR_MARK || (c.kind == CHAR_MARK && s->kind == CHAR_SINGLE))
            return true;
        /* + 2: the character may end two subwords, before the last capital and before itself */
        r->subwords = arena_more(r->memory, r->subwords, s->count + 2, &r->subwords_cap,
                                 sizeof(search_subword));
        if (r->subwords == NULL)
            return false;
        if (c.kind != CHAR_MARK)
            split_before(s, c.kind, at, after_connector);
        if (!add_char(s, c, at))
            return false;
        at += c.len;
    }
}

bool search_next_run(search_reader *reader, search_run *out)
{
    size_t count = 0;
    run_state s;

    while (count == 0) {
        search_char c = search_char_at(reader->text, reader->at);

        while (c.len > 0 && c.kind < CHAR_DIGIT) {
            reader->at += c.len;
            c = search_char_at(reader->text, reader->at);
        }
        s = (run_state){.reader = reader};
        if (c.len == 0 || !read_run(&s, reader->at))
            return false;
        end_subword(&s);
        count = s.count;
    }
    *out = (search_run){reader->subwords, count, reader->folded, s.has_single};
    return true;
}

bool search_is_word_or_pair(const search_run *run, size_t from, size_t to)
{
    if (!run->subwords[from].begins_word)
        return false;
    size_t end = search_word_end(run, from);
    if (end < to)
        end = search_word_end(run, end);
    return end == to;
}

bool search_run_is_term(const search_run *run)
{
    return !run->has_single && run->subwords[run->count - 1].folded_end <= SEARCH_RUN_BYTES;
}

bool search_is_term(const search_run *run, size_t from, size_t to)
{
    size_t count = to - from;

    if (count < SEARCH_SUBWORDS_JOINED || search_is_word_or_pair(run, from, to))
        return true;
    if (count == run->count && search_run_is_term(run))
        return true;
    if (count > SEARCH_SUBWORDS_JOINED)
        return false;
    for (size_t i = from; i < to; i++) {
        if (run->subwords[i].is_single)
            return false;
    }
    return true;
}

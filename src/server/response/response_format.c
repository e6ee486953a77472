/*
 * response_format.c: ETags and accepted content codings. A non-cryptographic hash of 128 bits is
 * enough: a client that writes two texts with the same ETag misleads only readers of both texts.
 */
#include "server/response/response_format.h"
#include <stdio.h>
#include <strings.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char BLANKS[] = " \t";
static const char GZIP_MARK[] = "-gz";

/* Prefixes of a card's ETag. Change the number in both prefixes in a release that formats cards
 * differently, or compresses from another size on. */
static const char CARD_MARK[] = "c1-", VARYING_CARD_MARK[] = "v1-";

enum {
    GZIP_MARK_LEN = sizeof(GZIP_MARK) - 1,
    CARD_MARK_LEN = sizeof(CARD_MARK) - 1,
    CARD_ETAG_LEN = 16,
    WEIGHT_ONE = 1000
};

/* --- entity tags --- */

static char *add_hex(char *at, uint64_t number)
{
    static const char DIGITS[] = "0123456789abcdef";
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = DIGITS[number >> shift & 15];
    return at;
}

/* The hash is written without snprintf, because many reads call this function. */
void etag_make(char out[ETAG_SIZE], slice text, int64_t version)
{
    XXH128_hash_t hash = XXH3_128bits(text.ptr, text.len);
    char *at = out;
    *at++ = '"';
    if (version != 0)
        at += snprintf(at, 24, "%lld-", (long long)version);
    at = add_hex(add_hex(at, hash.high64), hash.low64);
    *at++ = '"';
    *at = '\0';
}

void etag_make_card(char out[ETAG_SIZE], int64_t etag, bool varies)
{
    char *at = out;
    *at++ = '"';
    memcpy(at, varies ? VARYING_CARD_MARK : CARD_MARK, CARD_MARK_LEN);
    at = add_hex(at + CARD_MARK_LEN, (uint64_t)etag);
    *at++ = '"';
    *at = '\0';
}

void etag_mark_gzip(char etag[ETAG_SIZE])
{
    size_t len = strlen(etag) - 1; /* the mark is inserted before the closing quote */
    snprintf(etag + len, ETAG_SIZE - len, "%s\"", GZIP_MARK);
}

static void skip(slice *rest, size_t count)
{
    rest->ptr += count;
    rest->len -= count;
}

static void drop_mark(slice *opaque)
{
    if (opaque->len >= GZIP_MARK_LEN &&
        memcmp(opaque->ptr + opaque->len - GZIP_MARK_LEN, GZIP_MARK, GZIP_MARK_LEN) == 0)
        opaque->len -= GZIP_MARK_LEN;
}

/* Removes the next ETag from a list; `opaque` is the text between its quotes. The comparison of
 * ETags is weak, so `W/` is skipped. False: the list has no more ETags, or is malformed. */
static bool next_tag(slice *rest, slice *opaque)
{
    *rest = slice_trim(*rest, ", \t");
    if (rest->len >= 2 && memcmp(rest->ptr, "W/", 2) == 0)
        skip(rest, 2);
    if (rest->len == 0 || rest->ptr[0] != '"')
        return false;
    skip(rest, 1);
    const char *end = memchr(rest->ptr, '"', rest->len);
    if (end == NULL)
        return false;
    *opaque = (slice){rest->ptr, (size_t)(end - rest->ptr)};
    skip(rest, opaque->len + 1);
    return true;
}

bool etag_list_has(slice list, const char *etag)
{
    slice mine = {etag + 1, strlen(etag) - 2}, theirs;
    drop_mark(&mine);
    if (slice_equal(slice_trim(list, BLANKS), SLICE("*")))
        return true;
    while (next_tag(&list, &theirs)) {
        drop_mark(&theirs);
        if (slice_equal(mine, theirs))
            return true;
    }
    return false;
}

void none_match_note(none_match *n, slice value)
{
    if (n->count < sizeof(n->list) / sizeof(n->list[0]))
        n->list[n->count++] = value;
}

bool none_match_has(const none_match *n, const char *etag)
{
    for (unsigned i = 0; i < n->count; i++)
        if (etag_list_has(n->list[i], etag))
            return true;
    return false;
}

/* Returns the card's etag from `opaque`, the text between the quotes of an ETag; 0: it is not the
 * ETag of a card. */
static int64_t read_card(slice opaque, bool *varies)
{
    uint64_t etag = 0;
    drop_mark(&opaque);
    if (opaque.len != CARD_MARK_LEN + CARD_ETAG_LEN)
        return 0;
    *varies = memcmp(opaque.ptr, VARYING_CARD_MARK, CARD_MARK_LEN) == 0;
    if (!*varies && memcmp(opaque.ptr, CARD_MARK, CARD_MARK_LEN) != 0)
        return 0;
    for (size_t i = CARD_MARK_LEN; i < opaque.len; i++) {
        int digit = slice_hex_digit(opaque.ptr[i]);
        if (digit < 0)
            return 0;
        etag = etag << 4 | (uint64_t)digit;
    }
    return etag > INT64_MAX ? 0 : (int64_t)etag;
}

int64_t none_match_card(const none_match *n, bool *varies)
{
    int64_t etag = 0;
    slice opaque;
    for (unsigned i = 0; i < n->count; i++)
        for (slice rest = n->list[i]; etag == 0 && next_tag(&rest, &opaque);)
            etag = read_card(opaque, varies);
    return etag;
}

/* --- codings --- */

/* Removes the text up to the next `mark`, and the mark, from `rest`. Returns the text without
 * blanks around it. */
static slice take_until(slice *rest, char mark)
{
    const char *end = rest->len == 0 ? NULL : memchr(rest->ptr, mark, rest->len);
    slice part = {rest->ptr, end == NULL ? rest->len : (size_t)(end - rest->ptr)};
    skip(rest, part.len + (end != NULL));
    return slice_trim(part, BLANKS);
}

/* Returns a weight, "0" to "1" with up to three decimals, in thousandths. A malformed weight is 0.
 */
static int read_weight(slice text)
{
    int weight = 0, unit = WEIGHT_ONE;
    if (text.len == 0 || text.len > 5 || (text.len > 1 && text.ptr[1] != '.'))
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (i == 1)
            continue;
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 0;
        weight += (text.ptr[i] - '0') * unit;
        unit /= 10;
    }
    return weight <= WEIGHT_ONE ? weight : 0;
}

static int weight_of(slice parameters)
{
    while (parameters.len > 0) {
        slice one = take_until(&parameters, ';');
        if (one.len >= 2 && strncasecmp(one.ptr, "q=", 2) == 0)
            return read_weight((slice){one.ptr + 2, one.len - 2});
    }
    return WEIGHT_ONE;
}

void codings_note(codings *c, slice value)
{
    while (value.len > 0) {
        slice item = take_until(&value, ',');
        slice name = take_until(&item, ';');
        int weight = weight_of(item);
        if (slice_equal_nocase(name, "gzip") || slice_equal_nocase(name, "x-gzip"))
            c->gzip = weight;
        else if (slice_equal_nocase(name, "identity"))
            c->identity = weight;
        else if (slice_equal_nocase(name, "*"))
            c->any = weight;
    }
}

bool codings_gzip(const codings *c)
{
    int gzip = c->gzip >= 0 ? c->gzip : c->any;
    return gzip > 0 && gzip >= c->identity;
}

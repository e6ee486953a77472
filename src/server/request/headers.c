/*
 * headers.c: the table of the request headers that the server reads. The value of a header, without
 * blanks around it, is stored or passed to a function.
 */
#include "server/request/headers.h"
#include <strings.h>
#include "cardbox/limits.h"

enum { REQUEST_ID_MAX = 128 };

static bool is_token(slice name)
{
    static const char OTHERS[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool alphanumeric =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alphanumeric && (c == '\0' || strchr(OTHERS, c) == NULL))
            return false;
    }
    return name.len > 0;
}

static bool has_controls(slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7F)
            return true;
    }
    return false;
}

/* True if the text is not empty and has only ASCII characters from `least` to '~'. `least` is a
 * blank or '!'. */
static bool is_printable(slice text, char least)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < least || text.ptr[i] > '~')
            return false;
    return text.len > 0;
}

static void note_host(headers *h, slice value)
{
    h->host = value;
    h->hosts++;
}

static void note_length(headers *h, slice value)
{
    uint64_t length = 0;
    h->lengths++;
    h->bad_length = h->bad_length || value.len == 0 || value.len > 18;
    for (size_t i = 0; i < value.len && !h->bad_length; i++) {
        h->bad_length = value.ptr[i] < '0' || value.ptr[i] > '9';
        length = length * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    h->length = length;
}

static void note_transfer_encoding(headers *h, slice value)
{
    h->encodings++;
    h->chunked = slice_equal_nocase(value, "chunked");
}

static void note_content_encoding(headers *h, slice value)
{
    h->encoded = h->encoded || !slice_equal_nocase(value, "identity");
}

static void note_expect(headers *h, slice value)
{
    h->expects = slice_equal_nocase(value, "100-continue");
}

static void note_request_id(headers *h, slice value)
{
    bool sane = value.len <= REQUEST_ID_MAX && is_printable(value, '!');
    h->request_id = sane ? value : (slice){NULL, 0};
}

static void note_authorization(headers *h, slice value)
{
    h->authorizations++;
    h->authorization = value;
}

static void note_none_match(headers *h, slice value)
{
    none_match_note(&h->none_match, value);
}

static void note_accept_encoding(headers *h, slice value)
{
    codings_note(&h->codings, value);
}

#define TEXT(name, member, once)                                                                   \
    {                                                                                              \
        {name, sizeof(name) - 1}, NULL, offsetof(headers, member), once                            \
    }
#define NOTED(name, note)                                                                          \
    {                                                                                              \
        {name, sizeof(name) - 1}, note, 0, false                                                   \
    }

static const struct {
    slice name;
    void (*note)(headers *h, slice value); /* receives the value; NULL: it is stored at `at` */
    size_t at; /* offset in `headers` at which the value is stored, if note is NULL */
    bool once; /* true: a header that occurs twice is stored as empty */
} FIELDS[] = {
    NOTED("host", note_host),
    NOTED("content-length", note_length),
    NOTED("transfer-encoding", note_transfer_encoding),
    NOTED("content-encoding", note_content_encoding),
    TEXT("origin", origin, false),
    TEXT("content-type", content_type, false),
    NOTED("expect", note_expect),
    NOTED("x-request-id", note_request_id),
    TEXT("traceparent", traceparent, false),
    NOTED("authorization", note_authorization),
    TEXT("idempotency-key", idempotency_key, true),
    TEXT("if-match", if_match, true),
    NOTED("if-none-match", note_none_match),
    NOTED("accept-encoding", note_accept_encoding),
    TEXT("last-event-id", last_event, false),
    TEXT("x-caller-id", caller_id, true),
    TEXT("x-call-id", call_id, true),
    TEXT("cardbox-lsn", lsn, true),
};

void headers_add(headers *h, slice name, slice value)
{
    value = slice_trim(value, " \t");
    h->bad_name = h->bad_name || !is_token(name);
    h->bad_value = h->bad_value || has_controls(value);
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
        if (FIELDS[i].name.len != name.len ||
            strncasecmp(FIELDS[i].name.ptr, name.ptr, name.len) != 0)
            continue;
        slice *out = (slice *)(void *)((char *)h + FIELDS[i].at);
        if (FIELDS[i].note != NULL)
            FIELDS[i].note(h, value);
        else
            *out = FIELDS[i].once && out->ptr != NULL ? (slice){out->ptr, 0} : value;
        return;
    }
}

const char *headers_error(const headers *h, bool is_http11)
{
    if (h->bad_name)
        return "a header has a malformed name";
    if (h->bad_value)
        return "a header has a control character in its value";
    if (h->hosts > 1 || (is_http11 && h->hosts == 0))
        return "the request must have exactly one Host header";
    if (h->lengths > 1 || h->bad_length)
        return "the request must have one Content-Length, a decimal number";
    if (h->encodings > 0 && h->lengths > 0)
        return "the request has both Content-Length and Transfer-Encoding";
    if (h->encodings > 1 || (h->encodings > 0 && !(h->chunked && is_http11)))
        return "the only Transfer-Encoding is chunked";
    return NULL;
}

static slice bare_type(const headers *h)
{
    slice type = h->content_type;
    const char *end = memchr(type.ptr, ';', type.len);
    type.len = end == NULL ? type.len : (size_t)(end - type.ptr);
    return slice_trim(type, " \t");
}

bool headers_is_json(const headers *h)
{
    static const char PREFIX[] = "application/", SUFFIX[] = "+json";
    if (h->content_type.ptr == NULL)
        return true;
    slice type = bare_type(h);
    if (slice_equal_nocase(type, "application/json"))
        return true;
    return type.len > sizeof(PREFIX) + sizeof(SUFFIX) - 2 &&
           strncasecmp(type.ptr, PREFIX, sizeof(PREFIX) - 1) == 0 &&
           slice_equal_nocase(
               (slice){type.ptr + type.len - (sizeof(SUFFIX) - 1), sizeof(SUFFIX) - 1}, SUFFIX);
}

bool headers_is_ndjson(const headers *h)
{
    return h->content_type.ptr != NULL && slice_equal_nocase(bare_type(h), "application/x-ndjson");
}

bool headers_is_foreign(const headers *h)
{
    const char *at = h->origin.ptr == NULL ? NULL : memmem(h->origin.ptr, h->origin.len, "://", 3);
    if (h->origin.ptr == NULL || h->authorizations > 0)
        return false;
    if (at == NULL) /* such as "null", with which a browser hides the origin of the page */
        return true;
    at += 3;
    slice authority = {at, (size_t)(h->origin.ptr + h->origin.len - at)};
    return authority.len == 0 || authority.len != h->host.len ||
           strncasecmp(at, h->host.ptr, authority.len) != 0;
}

bool headers_is_key(slice value)
{
    return value.ptr == NULL || (value.len <= CARDBOX_KEY_MAX && is_printable(value, ' '));
}

/* Reads one to eight hexadecimal digits and removes them from `text`. */
static bool take_half(uint64_t *half, slice *text)
{
    size_t len = 0;
    *half = 0;
    while (len < 8 && len < text->len && slice_hex_digit(text->ptr[len]) >= 0)
        *half = *half << 4 | (uint64_t)slice_hex_digit(text->ptr[len++]);
    *text = (slice){text->ptr + len, text->len - len};
    return len > 0;
}

bool headers_read_lsn(slice value, uint64_t *place)
{
    uint64_t high, low;
    if (!take_half(&high, &value) || value.len == 0 || value.ptr[0] != '/')
        return false;
    value = (slice){value.ptr + 1, value.len - 1};
    if (!take_half(&low, &value) || value.len > 0)
        return false;
    *place = high << 32 | low;
    return true;
}

bool headers_read_if_match(slice value, int64_t *version)
{
    size_t at = 1;
    *version = 0;
    if (slice_equal(value, SLICE("*")))
        return true;
    if (value.len < 4 || value.ptr[0] != '"' || value.ptr[value.len - 1] != '"' ||
        memchr(value.ptr + 1, '"', value.len - 2) != NULL)
        return false;
    while (at < value.len && at <= 18 && value.ptr[at] >= '0' && value.ptr[at] <= '9')
        *version = *version * 10 + (value.ptr[at++] - '0');
    return *version > 0 && value.ptr[at] == '-';
}

/*
 * path.c: splits and decodes request targets. A path is split before its segments are decoded, so
 * "%2F" is part of an id. ".." is an ordinary id, because no path of the API is a file.
 */
#include "server/request/path.h"

bool percent_decode(char *out, size_t *len, slice text, bool plus_is_blank)
{
    size_t used = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '+' && plus_is_blank) {
            c = ' ';
        } else if (c == '%') {
            int high = i + 2 < text.len ? slice_hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? slice_hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        out[used++] = c;
    }
    *len = used;
    return true;
}

/* Returns the length of "scheme://authority" at the start of a target, which requests to a proxy
 * have; 0: the target has no such start. */
static size_t authority_end(slice target)
{
    size_t at = 0;
    while (at < target.len && target.ptr[at] != ':' && target.ptr[at] != '/' &&
           target.ptr[at] != '?')
        at++;
    if (at == 0 || target.len - at < 3 || memcmp(target.ptr + at, "://", 3) != 0)
        return 0;
    for (at += 3; at < target.len; at++)
        if (target.ptr[at] == '/' || target.ptr[at] == '?')
            break;
    return at;
}

slice target_authority(slice target)
{
    size_t end = authority_end(target);
    if (end == 0)
        return (slice){NULL, 0};
    const char *from = (const char *)memchr(target.ptr, ':', end) + 3;
    return (slice){from, (size_t)(target.ptr + end - from)};
}

void target_split(slice target, slice *raw_path, slice *query)
{
    size_t from = authority_end(target);
    target = (slice){target.ptr + from, target.len - from};
    const char *mark = target.len == 0 ? NULL : memchr(target.ptr, '?', target.len);
    size_t path_len = mark == NULL ? target.len : (size_t)(mark - target.ptr);
    *raw_path = (slice){target.ptr, path_len};
    *query = mark == NULL ? (slice){"", 0} : (slice){mark + 1, target.len - path_len - 1};
    if (path_len == 0 && from > 0)
        *raw_path = SLICE("/");
}

/* True if an undecoded path has no white space and no control characters. Such characters are
 * rejected, because they can be used for request smuggling. */
static bool is_clean(slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7F)
            return false;
    return true;
}

static path_result decode_segment(slice *out, slice raw, arena *memory, const char **reason)
{
    *out = raw;
    if (memchr(raw.ptr, '%', raw.len) != NULL) {
        char *decoded = arena_take(memory, raw.len);
        if (decoded == NULL)
            return PATH_NOMEM;
        *reason = "the path has a broken percent escape";
        if (!percent_decode(decoded, &out->len, raw, false))
            return PATH_MALFORMED;
        out->ptr = decoded;
        *reason = "the path has an escaped NUL";
        if (memchr(decoded, '\0', out->len) != NULL)
            return PATH_MALFORMED;
    }
    *reason = "the path is not UTF-8";
    return slice_is_utf8(*out) ? PATH_OK : PATH_MALFORMED;
}

path_result path_decode(url_path *out, slice raw, arena *memory, const char **reason)
{
    bool known = raw.len > 0 && raw.ptr[0] == '/';
    size_t at = 1;
    out->count = 0;
    out->folder = false;
    *reason = "the path has white space or control characters";
    if (!is_clean(raw))
        return PATH_MALFORMED;
    while (known && at <= raw.len) {
        const char *slash = at == raw.len ? NULL : memchr(raw.ptr + at, '/', raw.len - at);
        size_t len = slash == NULL ? raw.len - at : (size_t)(slash - raw.ptr) - at;
        out->folder = len == 0 && at == raw.len;
        if (out->folder)
            break;
        known = len > 0 && out->count < PATH_SEGMENTS_MAX;
        if (!known)
            break;
        path_result result = decode_segment(&out->segments[out->count++],
                                            (slice){raw.ptr + at, len}, memory, reason);
        if (result != PATH_OK)
            return result;
        at += len + 1;
    }
    return known ? PATH_OK : PATH_UNKNOWN;
}

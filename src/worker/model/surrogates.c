/*
 * surrogates.c: replaces escapes that UTF-8 can't represent. All other bytes are copied.
 */
#include "worker/model/surrogates.h"
#include "base/scan_token.h"

void surrogates_replace(buf *out, char high[5], slice json)
{
    const char *at = json.ptr, *end = at + json.len, *next;

    for (const char *escape; (escape = memchr(at, '\\', (size_t)(end - at))) != NULL; at = next) {
        uint32_t code;
        bool begins_string = escape > at && escape[-1] == '"';

        buf_add(out, at, (size_t)(escape - at));
        next = scan_escape(escape, end, &code);
        if (next == NULL) { /* not JSON: the caller's parser reports it */
            at = escape;
            break;
        }
        if (code != 0 && !scan_is_half(code)) {
            buf_add(out, escape, (size_t)(next - escape));
        } else if (scan_is_half(code) && code < 0xDC00 && next < end && *next == '"') {
            memcpy(high, escape + 2, 4);
        } else if (code >= 0xDC00 && begins_string && high[0] != '\0') {
            buf_printf(out, "\\u%.4s%.6s", high, escape);
            high[0] = '\0';
        } else {
            buf_text(out, "\\ufffd");
        }
    }
    buf_add(out, at, (size_t)(end - at));
}

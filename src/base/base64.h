/*
 * base64.h: bytes as text that JSON can hold (RFC 4648, with padding). Knows nothing of what they
 * are.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Appends the text of some bytes. */
void base64_encode(buf *out, view bytes);

/* Appends the decoded bytes of a text. If the text is not in the form that base64_encode writes,
 * appends nothing and returns false. */
bool base64_decode(buf *out, view text);

#endif

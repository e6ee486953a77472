/*
 * base64.h: encodes bytes as base64 text for JSON, and decodes it (RFC 4648, with padding).
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Appends the base64 text of bytes. */
void base64_encode(buf *out, slice bytes);

/* Appends the decoded bytes of a text. If base64_encode can't have written the text, appends
 * nothing and returns false. */
bool base64_decode(buf *out, slice text);

#endif

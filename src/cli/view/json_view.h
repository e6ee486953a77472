/*
 * json_view.h: JSON set out to be read: what fits a line stands on one, else a member or an element
 * a line. Knows nothing of what it says.
 */
#ifndef CLI_JSON_VIEW_H
#define CLI_JSON_VIEW_H

#include "base/buf.h"
#include "base/scan.h"

/* Appends the value, whose further lines begin behind `indent` spaces. */
void json_view(buf *out, scan_value value, int indent);

#endif

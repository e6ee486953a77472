/*
 * foreign.h: recognises files that other programs wrote, which are JSON Lines but no sessions.
 */
#ifndef MODEL_FOREIGN_H
#define MODEL_FOREIGN_H

#include "model/session/entry.h"

/* Checks an object that no header and no entry precedes in its file. Returns a description of the
 * file, such as "a transcript of Claude Code", if the object is not of a session. `entry` is the
 * entry of the object; NULL: the object is no entry. NULL: the file may be a session. */
const char *session_foreign_file(scan_value object, const session_entry *entry);

#endif

/*
 * session_unseen.h: which of the entries that were appended no model will see. Knows no files.
 */
#ifndef CLI_SESSION_UNSEEN_H
#define CLI_SESSION_UNSEEN_H

#include "cli/cli.h"

/* What was appended: lines of entries, their numbers where they were read, and the answer of
 * cardbox_session_append. */
typedef struct session_appended {
    const char *const *lines;
    const uint64_t *numbers;
    size_t count;
    const char *answer;
} session_appended;

/* Warns of what is kept, as files may have it, but is said to nobody: entries of a type that is not
 * known or without content, and results whose call is not before them or has one already. */
void session_warn_unseen(cardbox *db, const char *project, const char *session,
                         const session_appended *what);

#endif

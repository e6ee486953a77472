/*
 * session_pages.h: all entries of a session, a page after the other, and the one among them that a
 * person means. Knows the SDK and not what the entries are wanted for.
 */
#ifndef CLI_SESSION_PAGES_H
#define CLI_SESSION_PAGES_H

#include "cardbox.h"

/* False: out of memory. */
typedef bool (*session_page_use)(void *arg, const cardbox_entries *page);

/* `json_max` as cardbox_entry_page has it. */
cardbox_status session_each_page(cardbox *db, const char *project, const char *session,
                                 size_t json_max, session_page_use use, void *arg,
                                 cardbox_error *err);

/* The id that was found. */
typedef struct session_found_id {
    char text[CARDBOX_CARD_ID_MAX + 1];
} session_found_id;

/* Where *entry (NULL: none was given) is no id of an entry, but four bytes or more that one id
 * alone begins with, or an id with its middle left out as tables show it, puts the whole id in its
 * place. What begins none is left as it is. False: why not was said. */
bool session_find_entry(cardbox *db, const char *project, const char *session, const char **entry,
                        session_found_id *storage);

#endif

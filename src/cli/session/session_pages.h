/*
 * session_pages.h: reads all entries of a session page by page, and finds entries by a part of
 * their id.
 */
#ifndef CLI_SESSION_PAGES_H
#define CLI_SESSION_PAGES_H

#include "cli/cli.h"

/* False: out of memory. */
typedef bool (*session_page_use)(void *arg, const cardbox_entries *page);

/* Uses the pages of the session that the first argument names; `json_max` as cardbox_entry_page has
 * it. */
cardbox_status session_each_page(cli_call *call, size_t json_max, session_page_use use, void *arg);

/* *entry is NULL, or names an entry of the session that the first argument names: by its id, its
 * first four bytes or more, or an id without its middle as in tables. Replaces what is unique by
 * the whole id, in memory that the next but one call reuses. Leaves unknown ids as they are. False:
 * an error was printed.
 */
bool session_find_entry(cli_call *call, const char **entry);

#endif

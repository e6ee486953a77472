/*
 * sessions.h: what the handlers of sessions have in common: the session and the entry in the path,
 * and what is said where a list is empty because there is no such session. Knows no SQL.
 */
#ifndef SERVER_SESSIONS_H
#define SERVER_SESSIONS_H

#include "server/response/page.h"
#include "store/session/sessions.h"

void handle_list_sessions(request *r);
void handle_create_session(request *r);
void handle_session(request *r);
void handle_move_head(request *r);
void handle_fork_session(request *r);
void handle_delete_session(request *r);
void handle_append_entries(request *r);
void handle_entry(request *r);
void handle_entry_children(request *r);
void handle_entry_path(request *r);
void handle_session_path(request *r);
void handle_session_tree(request *r);
void handle_session_leaves(request *r);
void handle_session_branch_points(request *r);
void handle_session_labels(request *r);
void handle_session_diff(request *r);
void handle_session_context(request *r);
void handle_export_session(request *r);
void handle_import_session(request *r);

/* In the order of session_dialect and cardbox_dialect; NULL ends them. */
extern const char *const SESSION_DIALECTS[];

/* Asks whether there is such a session and, unless its id is empty, such an entry. If there is,
 * `go_on` answers the request; else this does. */
void session_check_exists(request *r, slice session, slice entry, void (*go_on)(request *r));

#endif

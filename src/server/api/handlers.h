/*
 * handlers.h: functions that the handlers of routes share. A handler is two plain functions: one
 * turns the request into parameters of a statement, the other one turns the rows into the answer.
 */
#ifndef SERVER_HANDLERS_H
#define SERVER_HANDLERS_H

#include "server/request/body.h"
#include "server/response/http_error.h"
#include "server/request/fields.h"

/* The handlers of the table in routes.c. They are called once the whole request is there, or, with
 * ROUTE_STREAM, its headers. */
typedef void request_handler(request *r);
request_handler handle_health, handle_ready, handle_version, handle_openapi, handle_metrics;
request_handler handle_page, handle_ui_file, handle_ui_redirect;
request_handler handle_projects_list, handle_project_export, handle_project_import;
request_handler handle_card_get, handle_cards_get, handle_cards_add, handle_card_delete;
request_handler handle_cards_list, handle_card_revisions, handle_card_boxes;
request_handler handle_box_get, handle_box_cards, handle_boxes_get, handle_boxes_list;
request_handler handle_box_create, handle_box_append, handle_box_replace, handle_box_fork;
request_handler handle_box_delete, handle_box_log, handle_box_context;
request_handler handle_abilities_list, handle_ability_get, handle_ability_invoke;
request_handler handle_task_stream;
request_handler handle_sessions_list, handle_session_create, handle_session_get;
request_handler handle_session_append, handle_session_delete, handle_session_fork;
request_handler handle_session_move_head, handle_session_export, handle_session_import;
request_handler handle_entries_list, handle_entry_get;
request_handler handle_session_diff, handle_session_context;

/* The scope that a token needs: the route's, or that of the ability in the path. For an ability
 * that does not exist, it is `read`. */
route_scope ability_scope(const request *r);

/* The state for /readyz: the database passed the checks, a loop has a connection of each group to
 * the primary, and the tokens are known. A failed check of one connection counts for all. */
bool handler_is_ready(const server_state *server);

/* Begins a validation of the request. The caller ends it. */
void handler_validation(request *r, validation *s);

/* Frees the validation. True if it has no faults. Otherwise the request is answered. */
bool handler_end_validation(request *r, validation *s);

/* Answers 422 with one error. `in`: "body", "query", "header" or "path"; `member`: its member, or
 * NULL. Returns false. */
bool handler_refuse(request *r, const char *in, const char *member, const char *type,
                    const char *message);

/* The ids in the body of a batch read, in the arena of the request. NULL: answered. */
body_ids *handler_read_body_ids(request *r, const body_rules *wanted);

/* The parameters of the request's query, in its arena, as fields_read_query. NULL: answered. */
field_value *handler_read_query(request *r, const field *table, size_t count, bool lenient);

/* The members of a change's body, in the request's arena; an empty body is {} where it may be.
 * Checks that there is no query, and the form of an Idempotency-Key. NULL: answered. */
field_value *handler_read_change(request *r, const field *table, size_t count, bool may_be_empty);

/* True if the query has no parameter. Otherwise the request is answered. */
bool handler_no_query(request *r);

/* The id in the path's `param`th parameter, of a session, an entry or a task: `what`.
 * False: nothing of ours can have this id; answered. */
bool handler_id(request *r, slice *out, size_t param, const char *what);

/* The id of the card in the path. False: no card can have this id; answered. */
bool handler_card(request *r, slice *out);

/* The box in the path. False: no box can have this id; answered. */
bool handler_box(request *r, uuid16 *out);

/* Queues `count` keys for a batched statement, which calls `render` with its rows. `weight`: the
 * approximate number of rows. Keeps the ticket's flags about repeating the request, like
 * handler_queue_single. */
void handler_queue_batched(request *r, batch_kind kind, const void *keys, size_t count,
                           size_t weight, batch_render render);

/* Queues an unbatched statement. A render function may queue another one. */
void handler_queue_single(request *r, batch_kind kind, statement_id what,
                          void (*build)(params *p, const void *keys), const void *keys,
                          batch_render render);

/* For a route that answers with the output of an ability: the ability's plan, filled with zeros.
 * The handler reads the request into it and calls handler_run_ability. r->plan becomes the
 * bus_call. NULL: answered. */
void *handler_ability_plan(request *r, const char *ability_id);

/* Runs the statements of the call and answers with its output. Errors are those of the route. */
void handler_run_ability(request *r);

/* Defines a function for handler_queue_single that passes the keys to `store_function`. */
#define HANDLER_PARAMS(name, store_function)                                                       \
    static void name(params *p, const void *keys)                                                  \
    {                                                                                              \
        store_function(p, keys);                                                                   \
    }

/* Allocates from the request's arena. NULL: out of memory, and the request is answered. */
void *handler_take(request *r, size_t count, size_t size);

/* True if the rows of `keys` keys and their answer fit the response budget. Otherwise the request
 * is answered. */
bool handler_check_budget(request *r, const batch_rows *found, size_t keys);

#endif

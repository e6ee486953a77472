/*
 * handlers.h: functions that the handlers of routes share. Most handlers that read the database
 * have two functions: the first makes the parameters of a statement from the request, the second
 * makes the answer from the rows.
 */
#ifndef SERVER_HANDLERS_H
#define SERVER_HANDLERS_H

#include "server/request/body.h"
#include "server/response/http_error.h"
#include "server/request/fields.h"

/* The handlers of the table in routes.c. A handler is called when the whole request has arrived,
 * or, with ROUTE_STREAM, when its headers have. */
typedef void request_handler(request *r);
request_handler handle_health, handle_ready, handle_version, handle_openapi, handle_metrics;
request_handler handle_page, handle_ui_file, handle_ui_redirect;
request_handler handle_projects_list, handle_project_get;
request_handler handle_project_export, handle_project_import;
request_handler handle_card_get, handle_cards_get, handle_cards_add, handle_card_delete;
request_handler handle_search, handle_usage;
request_handler handle_cards_list, handle_card_revisions, handle_card_boxes;
request_handler handle_box_get, handle_box_cards, handle_boxes_get, handle_boxes_list;
request_handler handle_box_create, handle_box_append, handle_box_replace, handle_box_fork;
request_handler handle_box_seal, handle_box_delete, handle_box_log, handle_box_context;
request_handler handle_abilities_list, handle_ability_get, handle_ability_invoke;
request_handler handle_ability_put, handle_ability_delete;
request_handler handle_task_stream;
request_handler handle_sessions_list, handle_session_create, handle_session_get;
request_handler handle_session_add, handle_session_append, handle_session_delete,
    handle_session_fork;
request_handler handle_session_move_head, handle_session_export, handle_session_import;
request_handler handle_entries_list, handle_entry_get;
request_handler handle_session_diff, handle_session_context;

/* Returns the scope that a token needs: that of the route, or of the ability in the path. The scope
 * of an ability that can't exist is `read`. */
route_scope ability_scope(const request *r);

/* True if /readyz answers 200: the server is not stopping, no connection to the primary fails the
 * check of the database, and requests can be authorised. Also, at least one loop must have a usable
 * connection to the primary in each group. */
bool handler_is_ready(const server_state *server);

/* Begins a validation of the request, which the caller ends with handler_end_validation. */
void handler_validation(request *r, validation *s);

/* Frees the validation. Returns true if the request is valid. False: the request was answered with
 * an error. */
bool handler_end_validation(request *r, validation *s);

/* Answers 422 with one fault. `in`: "body", "query", "header" or "path". `member`: the name of the
 * invalid member of `in`, or NULL. Returns false. */
bool handler_refuse(request *r, const char *in, const char *member, const char *type,
                    const char *message);

/* Returns the ids and options in the body of a batch read, in the request's arena. NULL: the
 * request was answered with an error. */
body_ids *handler_read_body_ids(request *r, const body_rules *wanted);

/* Returns the values of the query parameters, read by fields_read_query, in the request's arena.
 * NULL: the request was answered with an error. */
field_value *handler_read_query(request *r, const field *table, size_t count, bool lenient);

/* Returns the members of the body of a changing request, in the request's arena. If `may_be_empty`,
 * an empty body is read as {}. Also checks that the query is empty, and the form of an
 * Idempotency-Key. NULL: the request was answered with an error. */
field_value *handler_read_change(request *r, const field *table, size_t count, bool may_be_empty);

/* Reads the version that a box or session must have, from the member expected_version of the body
 * or from If-Match; 0: any version. False: the request was answered with an error. */
bool handler_read_expected(request *r, int64_t *version, const field_value *expected);

/* Returns the error of a failed change. `precondition_failed`: the box or session does not exist or
 * has another version than expected. With If-Match, the answer is 412. */
http_error handler_change_error(const request *r, cardbox_status status, bool precondition_failed);

/* Returns true if the query has no parameter. False: the request was answered with an error. */
bool handler_no_query(request *r);

/* Reads the id in parameter `param` of the path. `what` is "session", "entry" or "task". False: no
 * object can have this id, and the request was answered with 404. */
bool handler_id(request *r, slice *out, size_t param, const char *what);

/* Reads the id of the card in the path. False: no card can have this id, and the request was
 * answered with 404. */
bool handler_card(request *r, slice *out);

/* Reads the id of the box in the path. False: no box can have this id, and the request was answered
 * with 404. */
bool handler_box(request *r, uuid16 *out);

/* Queues the request with `count` keys for a batched statement. The batcher calls `render` with the
 * rows of the request. `weight`: the approximate number of rows of a read, or KiB of a write. */
void handler_queue_batched(request *r, batch_kind kind, const void *keys, size_t count,
                           size_t weight, batch_render render);

/* Queues the request for a statement that carries no other request. A render function may queue the
 * request for a further statement. */
void handler_queue_single(request *r, batch_kind kind, statement_id what,
                          void (*build)(params *p, const void *keys), const void *keys,
                          batch_render render);

/* Returns the plan of an ability, filled with zeros, for a route that answers with the ability's
 * output. The handler reads the request into the plan and calls handler_run_ability. r->plan
 * becomes the bus_call. NULL: the request was answered with an error. */
void *handler_ability_plan(request *r, const char *ability_id);

/* Runs the statements of the ability and answers with its output. A failure is answered in the
 * error format of the route. */
void handler_run_ability(request *r);

/* Answers 404, because the project has no ability with the id in the path. Returns false. */
bool handler_answer_no_ability(request *r);

/* Queues the request for the statement abilities_get, with the id in the path. If no registered
 * ability can have this id, answers 404. */
void handler_queue_registered(request *r, batch_render render);

/* Answers with the description of the registered ability in the path. */
void handler_describe_registered(request *r);

/* Invokes the registered ability in the path, and answers with its output. `input` must be valid as
 * long as the request; kind SCAN_NONE means {}. */
void handler_invoke_registered(request *r, scan_value input);

/* Defines a function for handler_queue_single that passes the keys to `store_function`. */
#define HANDLER_PARAMS(name, store_function)                                                       \
    static void name(params *p, const void *keys)                                                  \
    {                                                                                              \
        store_function(p, keys);                                                                   \
    }

/* Allocates zeros in the request's arena. NULL: out of memory, and the request was answered with an
 * error. */
void *handler_take(request *r, size_t count, size_t size);

/* True if the rows of the first `keys` keys fit into --response-max. Then memory for the JSON of
 * these rows is reserved. False: the request was answered with 413. */
bool handler_check_budget(request *r, const batch_rows *found, size_t keys);

#endif

/*
 * cardbox.h: the whole public interface of libcardbox.
 *
 * CardBox stores the context and the work of AI agents in PostgreSQL: cards (units of content),
 * boxes (ordered lists of card ids), sessions and tasks. Each card, box, session and task belongs
 * to one tenant. The guides call a tenant a project. A program links this library and opens a
 * handle:
 *
 *     cardbox *db = NULL;
 *     cardbox_options options = CARDBOX_OPTIONS_INIT;
 *     cardbox_error err = CARDBOX_ERROR_INIT;
 *     if (cardbox_open(&db, &options, &err) != CARDBOX_OK) ...
 *     cardbox_add_card(NULL, db, "acme", &card, NULL, &err);
 *     cardbox_append_to_box(NULL, db, "acme", box_id, ids, 1, NULL, &err);
 *     cardbox_close(db);
 *
 * Conventions of all functions:
 *   - The order of parameters is: out-parameters, the handle, the tenant, other parameters, and
 *     last a cardbox_error *, which may be NULL. An out-parameter that receives a handle or the
 *     result of a read must not be NULL; other out-parameters may be NULL if their description
 *     allows NULL. After a failure, an out-parameter for a result or a handle is NULL or unchanged.
 *   - A struct that has a member struct_size must be initialised with its _INIT macro. The
 *     functions that use a handle reject options, filters and cards whose struct_size is 0. A
 *     struct without a struct_size may be initialised with zeros.
 *   - Text is UTF-8, and NUL-terminated unless its length is passed. JSON is passed as text.
 *   - After a function has returned, the library does not use the texts that were passed to it. A
 *     borrowed text is valid until the result that it belongs to is freed, unless its description
 *     names another end. Functions named *_free, cardbox_close and cardbox_rollback do nothing if
 *     they are called with NULL.
 *   - A result must not be freed twice, and a handle must not be ended twice. Transactions, writers
 *     and scans must be ended before the handle with which they were made is ended. Results stay
 *     valid after the end of the handle with which they were read.
 *   - A list of statuses that ends in "and the connection's" also contains CARDBOX_BUSY,
 *     CARDBOX_TIMEOUT, CARDBOX_UNAVAILABLE, CARDBOX_FORBIDDEN, CARDBOX_NOMEM and CARDBOX_INTERNAL.
 *     If PostgreSQL reports an error for a statement of a transaction of cardbox_begin
 *     (cardbox_error.sqlstate is set), the transaction stores nothing, and its later statements
 *     fail, most with CARDBOX_CONFLICT. After CARDBOX_NOT_FOUND and CARDBOX_GONE a transaction can
 *     continue.
 *   - A handle from cardbox_open may be used by many threads at once. Only one thread at a time may
 *     use a transaction, a writer, a scan or a result; the library does not check this rule.
 *   - A callback may use the handle of the function that calls it, if the handle is a pool. A
 *     callback must return: no exception and no longjmp may leave it.
 *   - No function prints, ends the process, changes the locale or installs signal handlers.
 *   - After fork, calls of the child that need the database fail with CARDBOX_INVALID on a handle
 *     of the parent. The child may open handles of its own. If the child closes a handle of the
 *     parent, the parent's connections stay open.
 */
#ifndef CARDBOX_H
#define CARDBOX_H

#include <cardbox/version.h>
#include <cardbox/limits.h>
#include <cardbox/status.h>
#include <cardbox/client.h>
#include <cardbox/ids.h>
#include <cardbox/card.h>
#include <cardbox/box.h>
#include <cardbox/content.h>
#include <cardbox/bus.h>
#include <cardbox/session.h>
#include <cardbox/session_writer.h>
#include <cardbox/session_file.h>
#include <cardbox/context.h>
#include <cardbox/ledger.h>
#include <cardbox/task.h>
#include <cardbox/search.h>

#endif

/*
 * cardbox.h: the whole public interface of libcardbox.
 *
 * CardBox stores the context and the work of AI agents in PostgreSQL: cards (immutable units of
 * content), boxes (ordered lists of card ids), sessions and tasks. Each belongs to a tenant, the
 * project of the guides. A program links this library, opens one handle and calls:
 *
 *     cardbox *db = NULL;
 *     cardbox_options options = CARDBOX_OPTIONS_INIT;
 *     cardbox_error err = CARDBOX_ERROR_INIT;
 *     if (cardbox_open(&db, &options, &err) != CARDBOX_OK) ...
 *     cardbox_add_card(NULL, db, "acme", &card, NULL, &err);
 *     cardbox_append_to_box(NULL, db, "acme", box_id, ids, 1, NULL, &err);
 *     cardbox_close(db);
 *
 * Conventions, valid for every function:
 *   - Out-parameters come first, then the handle, the tenant, the rest; cardbox_error * is last
 *     and may be NULL. An out-parameter that is not needed may be NULL, except the result of a
 *     read and a handle. After a failure out-parameters are NULL or unchanged.
 *   - A struct with a struct_size must be initialised with its _INIT macro. If struct_size is 0,
 *     the function returns CARDBOX_INVALID. A struct without struct_size may be zeroed.
 *   - Text is UTF-8 and NUL-terminated unless a length is given. JSON is passed as text.
 *   - Input is only read during the call. Borrowed texts are valid until their result is freed.
 *     _free(NULL), cardbox_close(NULL) and cardbox_rollback(NULL) do nothing.
 *   - Everything is ended or freed once. Transactions, writers and scans end before their handle.
 *     Results stay valid after cardbox_close.
 *   - A list of statuses that ends in "and the connection's" also contains CARDBOX_BUSY,
 *     CARDBOX_TIMEOUT, CARDBOX_UNAVAILABLE, CARDBOX_FORBIDDEN, CARDBOX_NOMEM, CARDBOX_INTERNAL. A
 *     pool after fork returns CARDBOX_INVALID. After a failed statement, a transaction returns
 *     CARDBOX_CONFLICT and stores nothing. CARDBOX_NOT_FOUND and CARDBOX_GONE do not count as
 *     failures of a statement.
 *   - A handle from cardbox_open may be used by many threads at once. Transactions, writers, scans
 *     and results may be used by one thread at a time. This is not checked.
 *   - A callback may use the function's handle, if it is a pool. It must return: no exception and
 *     no longjmp may leave it.
 *   - No function prints, exits, changes the locale or handles signals.
 *   - After fork, a child that uses the parent's handles receives CARDBOX_INVALID. It may open its
 *     own. Closing a handle of the parent frees the child's memory and does not touch the parent's
 *     connections.
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

#endif

/*
 * cardbox.h: the whole public interface of libcardbox.
 *
 * CardBox keeps what AI agents say and do: cards (immutable units of content) and boxes (ordered
 * lists of card ids), each belonging to a tenant, stored in PostgreSQL. A worker links this
 * library, opens one handle and calls:
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
 *     and may be NULL. An out-parameter that one does not want may be NULL, but for the result of
 *     a read and a handle. On failure out-parameters are left NULL or untouched.
 *   - A struct that begins with struct_size is made with its _INIT macro: zeros are not what is
 *     meant by its fields, and CARDBOX_INVALID. A struct without it may be zeroed.
 *   - Text is UTF-8 and NUL-terminated unless a length is given. JSON is passed as text.
 *   - Input is only read during the call. What a result object lends lives until that object is
 *     freed. _free(NULL), cardbox_close(NULL) and cardbox_rollback(NULL) do nothing.
 *   - Everything is ended or freed once; a transaction, writer or scan before the handle that it
 *     is of. Results need no handle: they may be kept after cardbox_close.
 *   - A list of statuses that ends in "and the connection's" has these besides: CARDBOX_BUSY,
 *     CARDBOX_TIMEOUT, CARDBOX_UNAVAILABLE, CARDBOX_FORBIDDEN, CARDBOX_NOMEM, CARDBOX_INTERNAL; of
 *     a pool after fork CARDBOX_INVALID; of a transaction in which a statement has failed
 *     CARDBOX_CONFLICT: nothing of it is kept. An answer such as CARDBOX_NOT_FOUND or CARDBOX_GONE
 *     is no failed statement.
 *   - A handle from cardbox_open may be used by many threads at once. Transactions, writers, scans
 *     and result objects belong to one thread at a time; nothing notices if they don't.
 *   - A callback may use the handle that it is called for, if that is a pool. It returns: neither
 *     an exception nor a longjmp may pass through the library.
 *   - No function prints, exits, changes the locale or handles signals.
 *   - After fork the child must not use the parent's handles, transactions among them: it receives
 *     CARDBOX_INVALID, and may open handles of its own. What ends or frees a handle frees memory
 *     there and leaves the parent's sockets, and what is under way on them, alone.
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

/*
 * call.h: checks of arguments, for public functions.
 */
#ifndef STORE_CALL_H
#define STORE_CALL_H

#include "store/client/check.h"
#include "store/client/client.h"
#include "base/errors.h"

cardbox_status check_call(cardbox *db, const char *tenant, cardbox_error *err);

/* Like check_call, for a function that returns a result: `out` must not be NULL. */
cardbox_status check_read(void *out, cardbox *db, const char *tenant, cardbox_error *err);

/* Checks that a struct of the caller begins with a size of at least `size`, as its _INIT macro sets
 * it. A struct of zeros is rejected. `given` may be NULL. */
cardbox_status check_made(const void *given, size_t size, const char *init, cardbox_error *err);

#define CHECK_MADE(given, init, err) check_made((given), sizeof(*(given)), (init), (err))

/* Checks `count` ids, at most `max`. `what` names one id in messages. */
cardbox_status check_ids(const char *what, const char *const *ids, size_t count, size_t max,
                         cardbox_error *err);

/* Returns why a list's cursor could not be read: it is malformed, or memory ran out. */
cardbox_status cursor_failure(const char *cursor, const arena *memory, cardbox_error *err);

/* Sets a limit of 0 to the default, and rejects one over CARDBOX_PAGE_MAX. */
cardbox_status check_page(unsigned *limit, cardbox_error *err);

#endif

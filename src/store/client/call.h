/*
 * call.h: what every public function checks before anything else.
 */
#ifndef STORE_CALL_H
#define STORE_CALL_H

#include "store/client/check.h"
#include "store/client/client.h"
#include "base/errors.h"

cardbox_status check_call(cardbox *db, const char *tenant, cardbox_error *err);

/* The same for a read, whose result must have somewhere to go. */
cardbox_status check_read(void *out, cardbox *db, const char *tenant, cardbox_error *err);

/* What a caller made begins with its size, as its _INIT macro says it: zeros are not what is meant
 * where there is none. NULL is fine. */
cardbox_status check_made(const void *given, size_t size, const char *init, cardbox_error *err);

#define CHECK_MADE(given, init, err) check_made((given), sizeof(*(given)), (init), (err))

/* Up to max ids of cards, or of entries. */
cardbox_status check_card_ids(const char *const *card_ids, size_t count, size_t max,
                              cardbox_error *err);
cardbox_status check_entry_ids(const char *const *entry_ids, size_t count, size_t max,
                               cardbox_error *err);

/* 0 is the default; more than CARDBOX_PAGE_MAX is refused. */
cardbox_status check_page(unsigned *limit, cardbox_error *err);

#endif

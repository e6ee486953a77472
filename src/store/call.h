/*
 * call.h: what every public function checks before anything else, and the limit that all share.
 */
#ifndef STORE_CALL_H
#define STORE_CALL_H

#include "store/card/card_input.h"
#include "store/client.h"
#include "store/errors.h"

/* Bytes of one statement's parameters: a message to PostgreSQL ends at 1 GiB. */
#define REQUEST_MAX ((size_t)900 * 1024 * 1024)

cardbox_status check_call(cardbox *db, const char *tenant, cardbox_error *err);

/* The same for a read, whose result must have somewhere to go. */
cardbox_status check_read(void *out, cardbox *db, const char *tenant, cardbox_error *err);

/* Up to max card ids. */
cardbox_status check_card_ids(const char *const *card_ids, size_t count, size_t max,
                              cardbox_error *err);

/* 0 is the default; more than CARDBOX_PAGE_MAX is refused. */
cardbox_status check_page(unsigned *limit, cardbox_error *err);

#endif

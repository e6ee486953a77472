/*
 * card_read.h: reads of cards by id, through the server's card cache. Handlers see rows and
 * finished card objects, and not where a text came from. Knows no statement of its own.
 */
#ifndef SERVER_CARD_READ_H
#define SERVER_CARD_READ_H

#include "server/api/handlers.h"

/* Queues a read of `count` cards. `keys` must live until the answer; their etags and texts are set
 * here. Then `render` is called. */
void card_read(request *r, card_key *keys, size_t count, batch_render render);

/* The same for one card. The client may already have the current text (If-None-Match). */
void card_read_one(request *r, card_key *key, batch_render render);

/* Appends the card object of a key to the answer's body. False: there is no such card. */
bool card_read_add(request *r, const batch_rows *found, size_t key);

/* Answers with the card of the only key: its object, or nothing if the client has it. False: there
 * is no such card. */
bool card_read_answer(request *r, const batch_rows *found);

#endif

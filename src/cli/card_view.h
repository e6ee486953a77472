/*
 * card_view.h: cards and boxes as people and programs see them. Knows nothing of where they come
 * from.
 */
#ifndef CLI_CARD_VIEW_H
#define CLI_CARD_VIEW_H

#include "base/scan.h"
#include "cardbox.h"
#include "cli/table.h"

/* Appends the card object that services see, on one line with its end. */
void card_view_json(buf *out, const cardbox_card *card, const char *project);

/* Appends what a card says in one line: the call of a tool, the outcome of one, the names of tools,
 * else its text. */
void card_view_summary(buf *out, const cardbox_card *card);

/* Appends what a string says, and the JSON of any other value. */
void card_view_value(buf *out, scan_value value);

/* "user", "assistant", ...; "" if neither the card nor its type says. */
const char *card_view_role(const cardbox_card *card);
term_style card_view_style(const char *role);

/* How long ago a moment of the SDK's was: "2 m", "3 d"; "" if there is none. */
#define AGE_SIZE 32
const char *card_view_age(char out[AGE_SIZE], const char *moment);

/* Prints cards as NDJSON. False: out of memory. */
bool card_view_print_json(const cardbox_cards *cards, const char *project);

/* A table of cards, whose first columns are their position in a box, or their id, or both. */
typedef struct card_table {
    table rows;
    table_column columns[7];
    bool numbered, named;
} card_table;

void card_table_init(card_table *t, bool numbered, bool named);
void card_table_add(card_table *t, const cardbox_card *card, int64_t position);
void card_table_add_missing(card_table *t, const char *id, int64_t position);

/* Prints it and frees it. False: out of memory. */
bool card_table_print(card_table *t);

#endif

/*
 * card_view.h: prints cards and boxes for people and programs.
 */
#ifndef CLI_CARD_VIEW_H
#define CLI_CARD_VIEW_H

#include "base/scan.h"
#include "cardbox.h"
#include "cli/view/table.h"

/* Appends the card object of the HTTP API, as one line without an end of line. */
void card_view_json(buf *out, const cardbox_card *card, const char *project);

/* Appends a summary of a card: the call of a tool, the result of a call, the names of tools, or
 * else the card's text. */
void card_view_summary(buf *out, const cardbox_card *card);

/* Returns the role of a card, or else of its type: "user", "assistant", ...; "" if neither has a
 * role. */
const char *card_view_role(const cardbox_card *card);
term_style card_view_style(slice role);

/* Formats the time that has passed since `moment`: "2 m", "3 d"; "" if `moment` is NULL. */
#define AGE_SIZE 32
const char *card_view_age(char out[AGE_SIZE], const char *moment);

void card_view_add_age(table *rows, const char *moment); /* as a cell */

/* Appends a box as a JSON object, with the ids of its cards if `with_ids`. */
void card_view_box(buf *out, const cardbox_box *box, bool with_ids);

/* Columns of a table of cards, without and with their ids. */
#define CARD_COLUMNS                                                                               \
    {"#", TABLE_RIGHT}, {"", TABLE_LEFT}, {"type", TABLE_WORD}, {"role", TABLE_WORD},              \
        {"age", TABLE_SPARE_RIGHT}, {"content", TABLE_FLEXIBLE},                                   \
    {                                                                                              \
        "", TABLE_SPARE                                                                            \
    }
#define CARD_COLUMNS_WITH_IDS                                                                      \
    {"#", TABLE_RIGHT}, {"card", TABLE_ID}, {"type", TABLE_WORD}, {"role", TABLE_SPARE},           \
        {"age", TABLE_SPARE_RIGHT}, {"content", TABLE_FLEXIBLE},                                   \
    {                                                                                              \
        "", TABLE_SPARE                                                                            \
    }

/* Adds a row for a card. `card` is NULL if the card is missing; the row then has `id`. `position`
 * is the card's position in a box, from 1, or 0: none. `named`: the row has a cell with the id. */
void card_view_add_row(table *rows, const cardbox_card *card, const char *id, int64_t position,
                       bool named);

#endif

/*
 * card_view.h: makes JSON of cards and boxes, and cells and rows of tables of cards.
 */
#ifndef CLI_CARD_VIEW_H
#define CLI_CARD_VIEW_H

#include "base/scan.h"
#include "cardbox.h"
#include "cli/view/table.h"

/* Appends a card as the JSON object of the HTTP API, on one line, without an end of line. */
void card_view_json(buf *out, const cardbox_card *card, const char *project);

/* Appends a summary of a card: a tool's name and arguments, the result of a call, the names of
 * tools, or for other content the card's text. */
void card_view_summary(buf *out, const cardbox_card *card);

/* Returns the role of a card, such as "user"; for a card without a role, the role of its type; ""
 * if its type has no role. */
const char *card_view_role(const cardbox_card *card);
term_style card_view_style(slice role);

/* Formats the time that has passed since `moment`, such as "2 m" or "3 d"; "" if `moment` is NULL.
 * Returns `out`. */
#define AGE_SIZE 32
const char *card_view_age(char out[AGE_SIZE], const char *moment);

/* Adds a cell with the age that card_view_age() formats. */
void card_view_add_age(table *rows, const char *moment);

/* Appends a box as a JSON object. The object has card_ids only if `with_ids` is true. */
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

/* Adds a row for the card with this id. `card` NULL: the card is missing. `position` is the card's
 * position in a box, from 1; 0: the cell is empty. `named` true: the table has a column of ids. */
void card_view_add_row(table *rows, const cardbox_card *card, const char *id, int64_t position,
                       bool named);

#endif

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

/* Appends a summary of a card in one line: the call of a tool, its result, the names of tools, or
 * the text. */
void card_view_summary(buf *out, const cardbox_card *card);

/* "user", "assistant", ...; "" if the card and its type have no role. */
const char *card_view_role(const cardbox_card *card);
term_style card_view_style(slice role);

/* The age of a time of the SDK: "2 m", "3 d". NULL: "". */
#define AGE_SIZE 32
const char *card_view_age(char out[AGE_SIZE], const char *moment);

void card_view_add_age(table *rows, const char *moment); /* as a cell */

/* Appends the object of a box, with the ids of its cards or without. */
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

/* Adds a row. `card` is NULL if the card is missing, and the row then has its id. `position` is
 * that in a box, or 0. `named`: the row has the id. */
void card_view_add_row(table *rows, const cardbox_card *card, const char *id, int64_t position,
                       bool named);

#endif

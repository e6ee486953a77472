/*
 * card_view.h: cards and boxes as people and programs see them. Knows nothing of where they come
 * from.
 */
#ifndef CLI_CARD_VIEW_H
#define CLI_CARD_VIEW_H

#include "base/scan.h"
#include "cardbox.h"
#include "cli/view/table.h"

/* Appends the card object that services see, on one line without its end. */
void card_view_json(buf *out, const cardbox_card *card, const char *project);

/* Appends a summary of a card in one line: the call of a tool, its result, the names of tools, or
 * the text. */
void card_view_summary(buf *out, const cardbox_card *card);

/* "user", "assistant", ...; "" if the card and its type have no role. */
const char *card_view_role(const cardbox_card *card);
term_style card_view_style(slice role);

/* How long ago a moment of the SDK's was: "2 m", "3 d"; "" if there is none. */
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

/* Adds a row: `card`, or that it is missing if NULL; `position` in a box, or 0; its id if `named`,
 * which a missing one shows all the same. */
void card_view_add_row(table *rows, const cardbox_card *card, const char *id, int64_t position,
                       bool named);

#endif

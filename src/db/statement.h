/*
 * statement.h: the statements of sql/statements, compiled in. STATEMENT_cards_get is
 * sql/statements/cards_get.sql.
 */
#ifndef DB_STATEMENT_H
#define DB_STATEMENT_H

typedef enum statement_id {
#define STATEMENT(name, text) STATEMENT_##name,
#include "statements.inc"
#undef STATEMENT
    STATEMENT_COUNT
} statement_id;

typedef struct statement {
    const char *name; /* such as "cardbox_cards_get"; also the name of the prepared statement */
    const char *text;
} statement;

const statement *statement_get(statement_id id);

#endif

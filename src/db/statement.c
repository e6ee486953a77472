/*
 * statement.c: the table of the statements of sql/statements.
 */
#include "db/statement.h"

static const statement STATEMENTS[STATEMENT_COUNT] = {
#define STATEMENT(name, text) {"cardbox_" #name, text},
#include "statements.inc"
#undef STATEMENT
};

const statement *statement_get(statement_id id)
{
    return &STATEMENTS[id];
}

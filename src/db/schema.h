/*
 * schema.h: sql/migrations and sql/functions, compiled in, and how a database is compared with
 * them. store/admin/migrate.h applies them.
 */
#ifndef DB_SCHEMA_H
#define DB_SCHEMA_H

#include "db/params.h"
#include "db/rows.h"

typedef struct migration {
    int version;
    const char *name;     /* "cards" of 0002_cards.sql */
    const char *checksum; /* SHA-256 of the file, hexadecimal */
    const char *text;
} migration;

typedef struct sql_function {
    const char *name;
    const char *checksum; /* SHA-256 of its file, hexadecimal */
    const char *text;
} sql_function;

typedef struct schema {
    const migration *migrations; /* their versions are 1, 2, 3, ... */
    size_t migration_count;
    const sql_function *functions; /* in the order of their names */
    size_t function_count;
    const char *release; /* numbers with dots: "0.2.0" */
} schema;

/* The schema that this build needs. */
const schema *schema_of_build(void);

/* The newest migration of this build. */
int schema_newest(void);

/* Adds two parameters, with which a statement finds out whether the database has the functions of
 * this build: their checksums, and the release. */
void schema_params(params *p);

typedef enum schema_state {
    SCHEMA_FITS,      /* at least the migrations of this build, and its functions or newer ones */
    SCHEMA_TOO_OLD,   /* migrations are missing */
    SCHEMA_FUNCTIONS, /* functions are missing, or are not those of this build or a newer release */
} schema_state;

/* Compares the first two columns of a row with this build: the newest migration (null: none), and
 * whether the functions fit. *version: the migration that the database is at. */
schema_state schema_compare(const store_rows *rows, int *version);

#endif

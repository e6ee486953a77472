/*
 * schema.h: sql/migrations and sql/functions, compiled in, and the comparison of a database with
 * them. The functions of store/admin/migrate.h apply migrations and functions.
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
    const migration *migrations; /* with the versions 1, 2, 3, ... */
    size_t migration_count;
    const sql_function *functions; /* ordered by name */
    size_t function_count;
    const char *release; /* numbers with dots: "0.2.0" */
} schema;

/* The schema that this build needs. */
const schema *schema_of_build(void);

/* Returns the version of the newest migration of this build. */
int schema_newest(void);

/* Adds two parameters: the checksums of the functions of this build, and its release. Statements
 * such as ready.sql use these parameters to check whether the database has the functions. */
void schema_params(params *p);

typedef enum schema_state {
    SCHEMA_FITS,      /* the database has this build's migrations, and its functions or newer */
    SCHEMA_TOO_OLD,   /* the database lacks migrations of this build */
    SCHEMA_FUNCTIONS, /* functions are missing, and a newer release has not replaced them */
} schema_state;

/* Compares the first two columns of a row with this build: the newest applied migration (NULL:
 * none), and whether the functions fit. *version receives the newest applied migration; 0: none. */
schema_state schema_compare(const store_rows *rows, int *version);

#endif

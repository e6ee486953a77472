/*
 * schema.c: the texts of sql/migrations and sql/functions, and the check whether a database has
 * them.
 */
#include "db/schema.h"

#include "cardbox/version.h"

static const migration MIGRATIONS[] = {
#define MIGRATION(version, name, checksum, text) {version, name, checksum, text},
#include "migrations.inc"
#undef MIGRATION
};

static const sql_function FUNCTIONS[] = {
#define FUNCTION(name, checksum, text) {name, checksum, text},
#include "functions.inc"
#undef FUNCTION
};

enum {
    MIGRATION_COUNT = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0]),
    FUNCTION_COUNT = sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0])
};

static const schema OF_BUILD = {MIGRATIONS, MIGRATION_COUNT, FUNCTIONS, FUNCTION_COUNT,
                                CARDBOX_VERSION};

const schema *schema_of_build(void)
{
    return &OF_BUILD;
}

int schema_newest(void)
{
    return MIGRATIONS[MIGRATION_COUNT - 1].version;
}

void schema_params(params *p)
{
    params_array(p, PARAMS_TEXT);
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        params_cstr(p, FUNCTIONS[i].checksum);
    params_array_end(p);
    params_cstr(p, CARDBOX_VERSION);
}

schema_state schema_compare(const store_rows *rows, int *version)
{
    *version = rows_count(rows) == 1 && !rows_null(rows, 0, 0) ? rows_int4(rows, 0, 0) : 0;
    if (*version < schema_newest())
        return SCHEMA_TOO_OLD;
    return rows_null(rows, 0, 1) || !rows_bool(rows, 0, 1) ? SCHEMA_FUNCTIONS : SCHEMA_FITS;
}

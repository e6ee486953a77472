/*
 * migrations.c: the text of sql/migrations. Knows nothing of connections.
 */
#include "db/migrations.h"

static const migration MIGRATIONS[] = {
#define MIGRATION(version, name, text) {version, name, text},
#include "migrations.inc"
#undef MIGRATION
};

enum { MIGRATION_COUNT = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0]) };

const migration *migrations_all(size_t *count)
{
    *count = MIGRATION_COUNT;
    return MIGRATIONS;
}

int migrations_newest(void)
{
    return MIGRATIONS[MIGRATION_COUNT - 1].version;
}

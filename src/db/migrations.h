/*
 * migrations.h: the migrations of sql/migrations, compiled in. What runs them is operate/migrate.h.
 */
#ifndef DB_MIGRATIONS_H
#define DB_MIGRATIONS_H

#include <stddef.h>

typedef struct migration {
    int version;
    const char *name; /* "add_cards" of 0003_add_cards.sql */
    const char *text;
} migration;

/* All of them in order; *count of them. Their versions are 1, 2, 3, ... */
const migration *migrations_all(size_t *count);

/* The newest version that this build knows: what cardbox_open asks for. */
int migrations_newest(void);

#endif

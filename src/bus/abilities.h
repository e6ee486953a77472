/*
 * abilities.h: macros and declarations for the files that define abilities. Each of these files has
 * a table of abilities; registry.c combines the tables.
 */
#ifndef BUS_ABILITIES_H
#define BUS_ABILITIES_H

#include "bus/input.h"

#define BUS_READS(name)  static void bus_##name##_read(input_reader *in)
#define BUS_BUILDS(name) static void bus_##name##_build(params *p, const bus_call *call)
#define BUS_RENDERS(name)                                                                          \
    static cardbox_status bus_##name##_render(BUS_UNUSED bus_call *call,                           \
                                              BUS_UNUSED const store_rows *rows,                   \
                                              BUS_UNUSED buf *out, BUS_UNUSED cardbox_error *err)
#define BUS_UNUSED __attribute__((unused))

/* Defines the build function of an ability, which only passes the plan to a function of the store.
 */
#define BUS_BUILDS_FROM_PLAN(name, add_params)                                                     \
    BUS_BUILDS(name)                                                                               \
    {                                                                                              \
        add_params(p, call->plan);                                                                 \
    }

/* The indexes in BUS_TEXTS of the JSON files in src/bus/abilities. */
enum {
#define ABILITY(name, id, json) TEXT_##name,
#include "abilities.inc"
#undef ABILITY
    TEXT_COUNT
};

extern const bus_text BUS_TEXTS[TEXT_COUNT];

#define BUS_TEXT(name) (&BUS_TEXTS[TEXT_##name])

/* A row of a table of abilities. BUS_ABILITY_WITH is for an ability that shares functions with
 * another one, or that has a function to free its plan. */
#define BUS_ABILITY(name, scope, traits, plan, statement)                                          \
    BUS_ABILITY_WITH(name, scope, traits, plan, statement, name, name, name, NULL)
#define BUS_ABILITY_WITH(name, scope, traits, plan, statement, reads, builds, renders, drop)       \
    {                                                                                              \
        BUS_TEXT(name), BUS_##scope, traits, sizeof(plan), STATEMENT_##statement,                  \
            bus_##reads##_read, bus_##builds##_build, bus_##renders##_render, drop                 \
    }

/* The table of abilities in one file; all are of one module. */
typedef struct bus_table {
    const bus_ability *abilities;
    size_t count;
} bus_table;

#define BUS_TABLE(abilities)                                                                       \
    {                                                                                              \
        (abilities), sizeof(abilities) / sizeof((abilities)[0])                                    \
    }

extern const bus_table BUS_OF_BUS, BUS_OF_CARDS, BUS_OF_NEW_CARDS, BUS_OF_BOXES, BUS_OF_BOX_CHANGES,
    BUS_OF_SESSIONS, BUS_OF_SESSION_TREES, BUS_OF_SESSION_CHANGES, BUS_OF_SESSION_MESSAGES,
    BUS_OF_LEDGER, BUS_OF_TASKS, BUS_OF_SEARCH, BUS_OF_USAGE;

#endif

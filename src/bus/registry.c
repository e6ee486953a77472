/*
 * registry.c: the table of all built-in abilities with their texts. To add an ability, write
 * src/bus/abilities/MODULE.NAME.json and the functions of the ability, and add a row to the table
 * in the file of these functions.
 */
#include "bus/abilities.h"

const bus_text BUS_TEXTS[] = {
#define ABILITY(name, id, json) {id, json},
#include "abilities.inc"
#undef ABILITY
};

static const bus_table *const TABLES[] = {
    &BUS_OF_BUS,           &BUS_OF_CARDS,           &BUS_OF_NEW_CARDS,
    &BUS_OF_BOXES,         &BUS_OF_BOX_CHANGES,     &BUS_OF_SESSIONS,
    &BUS_OF_SESSION_TREES, &BUS_OF_SESSION_CHANGES, &BUS_OF_SESSION_MESSAGES,
    &BUS_OF_LEDGER,        &BUS_OF_TASKS,           &BUS_OF_SEARCH,
    &BUS_OF_USAGE,
};

const bus_ability *bus_at(size_t index)
{
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++) {
        if (index < TABLES[i]->count)
            return &TABLES[i]->abilities[index];
        index -= TABLES[i]->count;
    }
    return NULL;
}

const bus_ability *bus_find(slice id)
{
    const bus_ability *ability;
    for (size_t i = 0; (ability = bus_at(i)) != NULL; i++)
        if (slice_equal(id, slice_of(ability->text->id)))
            return ability;
    return NULL;
}

slice bus_module(const bus_ability *ability)
{
    return (slice){ability->text->id, strcspn(ability->text->id, ":")};
}

slice bus_name(const bus_ability *ability)
{
    return slice_of(ability->text->id + bus_module(ability).len + 1);
}

const char *bus_scope_name(bus_scope scope)
{
    static const char *const NAMES[] = {
        [BUS_READ] = "read", [BUS_WRITE] = "write", [BUS_TASKS] = "tasks"};
    return NAMES[scope];
}

static scan_value member(const bus_ability *ability, const char *name)
{
    return scan_find(scan_whole(slice_of(ability->text->json)), name);
}

scan_value bus_input_schema(const bus_ability *ability)
{
    return member(ability, "input");
}

scan_value bus_output_schema(const bus_ability *ability)
{
    return member(ability, "output");
}

scan_value bus_description(const bus_ability *ability)
{
    return member(ability, "description");
}

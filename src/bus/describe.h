/*
 * describe.h: descriptions of abilities as JSON.
 */
#ifndef BUS_DESCRIBE_H
#define BUS_DESCRIBE_H

#include "bus/bus.h"
#include "bus/registered.h"

/* The parts of an ability that descriptions have. */
typedef struct ability_view {
    slice id;
    slice description; /* text, or with `is_token` a JSON string */
    bool is_token;
    slice input_schema, output_schema; /* JSON */
    bus_scope scope;
} ability_view;

/* These functions return the view of a built-in ability, of a registered ability, and of a row of
 * the statement abilities_list, which has no schemas. */
ability_view view_built_in(const bus_ability *ability);
ability_view view_registered(const registered_ability *definition);
ability_view view_row(const store_rows *rows, int row);

slice view_module(const ability_view *view);

/* Appends {"id","name","description","isStream"}. */
void describe_short(buf *out, const ability_view *view);

/* Appends ,"inputSchema":...,"outputSchema":... */
void describe_schemas(buf *out, const ability_view *view);

/* Appends {"id","moduleName","abilityName","description","inputSchema","outputSchema","tags"}.
 * `tags` contains only the scope. */
void describe_whole(buf *out, const ability_view *view);

/* Appends the same members as describe_whole and `unchecked`. If `is_admin`, also `url` and
 * `timeoutMs`. */
void describe_registered(buf *out, const registered_ability *definition, bool is_admin);

/* Appends {"abilities":[...]} with all built-in abilities and those of the rows of abilities_list,
 * each as in describe_whole but without the schemas. */
void describe_all(buf *out, const store_rows *rows);

#endif

/*
 * describe.h: descriptions of abilities as JSON.
 */
#ifndef BUS_DESCRIBE_H
#define BUS_DESCRIBE_H

#include "bus/bus.h"

/* Appends {"id","name","description","isStream"}. */
void describe_short(buf *out, const bus_ability *ability);

/* Appends ,"inputSchema":...,"outputSchema":... */
void describe_schemas(buf *out, const bus_ability *ability);

/* Appends {"id","moduleName","abilityName","description","inputSchema","outputSchema","tags"}.
 * `tags` contains only the scope. */
void describe_whole(buf *out, const bus_ability *ability);

/* Appends {"abilities":[...]} with all abilities, each as in describe_whole but without the
 * schemas. */
void describe_all(buf *out);

#endif

/*
 * describe.h: abilities as JSON, for those who look for one and for those who call it.
 */
#ifndef BUS_DESCRIBE_H
#define BUS_DESCRIBE_H

#include "bus/bus.h"

/* {"id","name","description","isStream"}. */
void describe_short(buf *out, const bus_ability *ability);

/* ,"inputSchema":...,"outputSchema":... */
void describe_schemas(buf *out, const bus_ability *ability);

/* {"id","moduleName","abilityName","description","inputSchema","outputSchema","tags"}: the tag is
 * the scope. */
void describe_whole(buf *out, const bus_ability *ability);

/* {"abilities":[...]}: all of them, each with its module and its tag and without its schemas. */
void describe_all(buf *out);

#endif

/*
 * registered.h: registered abilities, which a project has beside the built-in ones. A program
 * outside CardBox implements such an ability: src/outbound sends the input to the ability's URL.
 */
#ifndef BUS_REGISTERED_H
#define BUS_REGISTERED_H

#include "bus/bus.h"
#include "cardbox/client.h"

/* The scope that a token needs to invoke a registered ability, because its effects are unknown. */
#define REGISTERED_SCOPE BUS_WRITE

enum {
    /* Maximum bytes of an id. The name of each ability in the API of models has at most 64 bytes,
     * although ':' becomes "__". */
    REGISTERED_ID_MAX = 60,
    REGISTERED_COUNT_MAX = 200,       /* abilities of a project */
    REGISTERED_BYTES_MAX = 64 * 1024, /* bytes of a definition */
    REGISTERED_URL_MAX = 2048,
    REGISTERED_HEADERS_MAX = 32,
    REGISTERED_TIMEOUT_MS = 30 * 1000,
    REGISTERED_TIMEOUT_MS_MAX = 600 * 1000
};

/* The definition of an ability. The texts belong to the result of a statement or to a request. */
typedef struct registered_ability {
    slice id;
    slice description;
    slice input_schema, output_schema; /* JSON */
    slice url;
    slice headers;   /* a JSON object of texts */
    slice unchecked; /* a JSON array: the keywords of the schemas that are not checked */
    int32_t timeout_ms;
} registered_ability;

/* Returns whether a text is an id of the form module:verb or module:entity:verb. The parts consist
 * of letters, digits, '_' and '-'. */
bool registered_is_id(slice id);

/* Returns whether an id begins with the name of a module with built-in abilities. */
bool registered_is_reserved(slice id);

/* Returns whether a registered ability can have this id: registered_is_id is true for it, and
 * registered_is_reserved is false. */
bool registered_is_possible(slice id);

/* Returns whether a member of `headers` is a header that a definition may set. The name is a token
 * of up to 128 bytes. The value has 1 to 4,096 visible ASCII characters, with blanks only in
 * between. */
bool registered_is_header(slice name_token, scan_value value);

/* Appends the JSON array of the keywords that are not checked. Returns CARDBOX_INVALID if a schema
 * is not valid; then *member is the name of the member that contains it. */
cardbox_status registered_check(buf *unchecked, const char **member,
                                const registered_ability *definition, cardbox_error *err);

/* --- statements --- */

/* A request for the abilities of a project with these ids. */
typedef struct registered_ids {
    slice tenant;
    const slice *ids;
    size_t count;
} registered_ids;

/* registered_get_params adds the parameters of the statement abilities_get, and registered_row
 * reads one of its rows. */
void registered_get_params(params *p, const registered_ids *wanted);
void registered_row(registered_ability *out, const store_rows *rows, int row);

/* Runs abilities_get. The caller frees the rows. */
cardbox_status registered_read(store_rows **rows, cardbox *db, const registered_ids *wanted,
                               cardbox_error *err);

/* Adds the parameters of ability_save, whose row has `true` if the ability was saved and `false` if
 * the project has REGISTERED_COUNT_MAX abilities; and those of ability_delete. */
void registered_save_params(params *p, slice tenant, const registered_ability *definition);
void registered_delete_params(params *p, slice tenant, slice id);

#endif

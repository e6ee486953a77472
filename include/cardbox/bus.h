/*
 * bus.h: abilities: named operations with JSON input and JSON output, such as `card:get` or
 * `task:spawn`, each with a description and JSON Schemas. The same abilities are available over
 * HTTP and as tools of agents.
 */
#ifndef CARDBOX_BUS_H
#define CARDBOX_BUS_H

#include <cardbox/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Invokes an ability.
 *
 * @param out         receives the output, JSON; free it with cardbox_free
 * @param db          any handle; in a transaction the ability is part of it. May be NULL for
 * `bus:*`, which describe the abilities: `bus:list`, `bus:abilities`, `bus:inspect`
 * @param tenant      1 to CARDBOX_TENANT_MAX bytes
 * @param ability_id  such as "card:get"
 * @param call_id     an id of this call; may be NULL; 1 to CARDBOX_KEY_MAX bytes; checked, but not
 * stored
 * @param caller_id   an id of the caller; as call_id
 * @param input       JSON that satisfies the ability's input schema; NULL or "": {}
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID (the input violates its schema; the message has the
 * location); CARDBOX_NOT_FOUND (no such ability, card, box, ...); and the statuses of the ability's
 * function
 *
 * Thread safety: as the handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_invoke(char **out, cardbox *db, const char *tenant, const char *ability_id,
               const char *call_id, const char *caller_id, const char *input, cardbox_error *err);

#ifdef __cplusplus
}
#endif

#endif

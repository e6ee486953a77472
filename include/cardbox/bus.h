/*
 * bus.h: abilities: named operations with JSON in and JSON out, such as `card:get` or
 * `task:spawn`, each with a description and JSON Schemas. The same abilities are served over HTTP
 * and are tools of agents.
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
 * `bus:*`, which tell what there is: `bus:list`, `bus:abilities`, `bus:inspect`
 * @param tenant      1 to CARDBOX_TENANT_MAX bytes
 * @param ability_id  such as "card:get"
 * @param call_id     names this call; may be NULL; 1 to CARDBOX_KEY_MAX bytes; checked, not kept
 * @param caller_id   names who calls; likewise
 * @param input       JSON as the ability's input schema says; NULL or "": {}
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID when the input is not as its schema says (the message has the
 *         place); CARDBOX_NOT_FOUND when there is no such ability, or not what it is about; what
 *         the ability's own function returns, such as CARDBOX_CONFLICT
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

/*
 * bus.h: abilities: named operations with JSON input and JSON output, such as `card:get` or
 * `task:spawn`, each with a description and JSON Schemas. Abilities can also be invoked over HTTP,
 * and by agents as tools. Abilities that a project has registered are shown by `bus:list` and the
 * other abilities of `bus`, but can be invoked only over HTTP and by agents.
 */
#ifndef CARDBOX_BUS_H
#define CARDBOX_BUS_H

#include <cardbox/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Invokes a built-in ability.
 *
 * @param out         receives the output, a JSON text; free it with cardbox_free
 * @param db  any handle; if it is a transaction, the ability is part of the transaction. For the
 * abilities that describe abilities (`bus:list`, `bus:abilities`, `bus:schema`, `bus:inspect`) `db`
 * may be NULL: then they describe only built-in abilities
 * @param tenant      1 to CARDBOX_TENANT_MAX bytes
 * @param ability_id  the ability, such as "card:get"
 * @param call_id     an id of this call, 1 to CARDBOX_KEY_MAX bytes, which is checked but not
 * stored; may be NULL
 * @param caller_id   an id of the caller, 1 to CARDBOX_KEY_MAX bytes, which is checked but not
 * stored; may be NULL
 * @param input       JSON that satisfies the ability's input schema; NULL and "" count as {}
 * @param err         may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID (the input does not satisfy the schema); CARDBOX_NOT_FOUND
 * (no such ability, card, box, ...); and the statuses of the SDK function that does the
 * same as the ability. If the input does not satisfy the schema, err->message contains a JSON
 * Pointer to the wrong value
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status
cardbox_invoke(char **out, cardbox *db, const char *tenant, const char *ability_id,
               const char *call_id, const char *caller_id, const char *input, cardbox_error *err);

#ifdef __cplusplus
}
#endif

#endif

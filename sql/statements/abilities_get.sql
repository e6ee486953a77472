-- Reads abilities of a project by their ids.
-- $1 text    tenant
-- $2 text[]  abilities
SELECT a.ability_id, a.description, a.input_schema, a.output_schema, a.url, a.headers, a.timeout_ms, a.unchecked
  FROM cardbox.abilities a
 WHERE a.tenant_id = $1::text AND a.ability_id = ANY ($2::text[])

-- Lists the abilities of a project in the order of their ids.
-- $1 text  tenant
SELECT a.ability_id, a.description
  FROM cardbox.abilities a
 WHERE a.tenant_id = $1::text
 ORDER BY a.ability_id

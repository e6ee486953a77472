-- Deletes an ability of a project. Returns a row if the project had the ability.
-- $1 text  tenant
-- $2 text  ability
DELETE FROM cardbox.abilities a WHERE a.tenant_id = $1::text AND a.ability_id = $2::text RETURNING a.ability_id

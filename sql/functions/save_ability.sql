-- save_ability: creates or replaces an ability of a project.
-- Outcomes: true the ability is stored, false the project already has `most` abilities.
--
-- Calls that create abilities at the same time do not see each other, so a project may get a few more than `most`.
CREATE OR REPLACE FUNCTION cardbox.save_ability(
    tenant text, ability text, new_description text, input json, output json, new_url text, new_headers json,
    new_timeout_ms integer, new_unchecked json, most integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO cardbox.abilities (tenant_id, ability_id, description, input_schema, output_schema, url, headers,
                                   timeout_ms, unchecked)
    SELECT tenant, ability, new_description, input, output, new_url, new_headers, new_timeout_ms, new_unchecked
     WHERE (SELECT count(*) FROM cardbox.abilities a WHERE a.tenant_id = tenant) < most
        OR EXISTS (SELECT FROM cardbox.abilities a WHERE a.tenant_id = tenant AND a.ability_id = ability)
    ON CONFLICT (tenant_id, ability_id) DO UPDATE
       SET description = EXCLUDED.description, input_schema = EXCLUDED.input_schema,
           output_schema = EXCLUDED.output_schema, url = EXCLUDED.url, headers = EXCLUDED.headers,
           timeout_ms = EXCLUDED.timeout_ms, unchecked = EXCLUDED.unchecked, updated_at = clock_timestamp();
    RETURN FOUND;
END
$$;

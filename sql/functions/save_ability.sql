-- save_ability: creates or replaces an ability of a project.
-- Outcomes: true the ability is stored, false the project already has `most` abilities.
--
-- The lock makes the count exact. Readers of the table do not wait for it.
CREATE OR REPLACE FUNCTION cardbox.save_ability(
    tenant text, ability text, new_description text, input json, output json, new_url text, new_headers json,
    new_timeout_ms integer, new_unchecked json, most integer) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    LOCK TABLE cardbox.abilities IN SHARE ROW EXCLUSIVE MODE;
    UPDATE cardbox.abilities a
       SET description = new_description, input_schema = input, output_schema = output, url = new_url,
           headers = new_headers, timeout_ms = new_timeout_ms, unchecked = new_unchecked,
           updated_at = clock_timestamp()
     WHERE a.tenant_id = tenant AND a.ability_id = ability;
    IF FOUND THEN
        RETURN true;
    END IF;
    INSERT INTO cardbox.abilities (tenant_id, ability_id, description, input_schema, output_schema, url, headers,
                                   timeout_ms, unchecked)
    SELECT tenant, ability, new_description, input, output, new_url, new_headers, new_timeout_ms, new_unchecked
     WHERE (SELECT count(*) FROM cardbox.abilities a WHERE a.tenant_id = tenant) < most;
    RETURN FOUND;
END
$$;

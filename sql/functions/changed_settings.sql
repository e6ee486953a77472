-- changed_settings: returns the JSON of an entry of the type settings, or NULL if the settings do not change.
--   old     JSON of the last such entry; NULL: none. A setting that is not given keeps the value that it has there.
--   id      Id of the entry.
--   format  Format of the given settings: openai, responses or anthropic.
--   system, tools, parameters  The given settings; NULL: not given. JSON null clears a setting.
CREATE OR REPLACE FUNCTION cardbox.changed_settings(
    old json, id text, format text, system json, tools json, parameters json) RETURNS json
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    names   CONSTANT text[] := '{system,tools,parameters}';
    given   CONSTANT json[] := ARRAY[system, tools, parameters];
    changed boolean := false;
    value   json;
    entry   text := '{"id":' || to_json(id) || ',"type":"settings","format":' || to_json(format);
BEGIN
    FOR i IN 1 .. 3 LOOP
        value := cardbox.json_member(old, names[i]);
        IF json_typeof(value) = 'null' THEN
            value := NULL;
        END IF;
        IF given[i] IS NOT NULL AND (CASE json_typeof(given[i]) WHEN 'null' THEN value IS NOT NULL
                                     ELSE value IS NULL OR NOT cardbox.same_json(given[i], value) END) THEN
            changed := true;
            value := given[i];
        END IF;
        entry := entry || coalesce(',"' || names[i] || '":' || value, '');
    END LOOP;
    RETURN CASE WHEN changed THEN entry || '}' END;
END
$$;

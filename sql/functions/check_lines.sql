-- check_lines: raises 22023 (invalid_parameter_value) unless the arrays that append_entries() and import_lines() have
-- in common are valid. The function checks, for example, equal bounds, types and roles, and the lengths of ids.
--   only_entries  Whether each line must be an entry.
CREATE OR REPLACE FUNCTION cardbox.check_lines(
    ids text[], duplicate_of integer[], parents text[], refs integer[], types text[], roles text[],
    sets text[], targets text[], labels json[], contents json[], only_entries boolean)
RETURNS void
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    count CONSTANT integer := cardinality(contents);
    dims  CONSTANT text := array_dims(contents);
    fine  boolean := count = 0 OR coalesce(
        dims = '[1:' || count || ']' AND array_dims(ids) = dims AND array_dims(duplicate_of) = dims
        AND array_dims(parents) = dims AND array_dims(refs) = dims AND array_dims(types) = dims
        AND array_dims(roles) = dims AND array_dims(sets) = dims AND array_dims(targets) = dims
        AND array_dims(labels) = dims, false);
BEGIN
    FOR i IN 1 .. CASE WHEN fine THEN count ELSE 0 END LOOP
        fine := duplicate_of[i] BETWEEN 0 AND i - 1 AND refs[i] BETWEEN -1 AND i - 1
            AND CASE WHEN ids[i] IS NULL THEN NOT only_entries AND (types[i] IS NULL
                          OR types[i] = 'session' AND json_typeof(contents[i]) = 'object')
                ELSE octet_length(ids[i]) BETWEEN 1 AND 512 AND coalesce(octet_length(parents[i]) <= 512, true)
                     AND coalesce(octet_length(targets[i]) <= 512, true)
                     AND types[i] IN ('message', 'user', 'assistant', 'tool', 'tool_result', 'system', 'metadata',
                                      'thinking_level_change', 'model_change', 'compaction', 'branch_summary',
                                      'custom', 'custom_message', 'label', 'session_info', 'settings', 'other')
                     AND coalesce(roles[i] IN ('user', 'assistant', 'tool', 'system'), true)
                     AND coalesce(sets[i] IN ('model', 'thinking', 'settings'), true)
                     AND json_typeof(contents[i]) = 'object' END;
        EXIT WHEN fine IS NOT TRUE;
    END LOOP;
    IF fine IS NOT TRUE THEN
        RAISE EXCEPTION 'the arrays are not valid lines of a session' USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

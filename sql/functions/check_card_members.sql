-- check_card_members: raises 22023 (invalid_parameter_value) unless the parameters are the content, metadata and tool
-- calls of a card, as the SDK checks them. The members of the metadata that are keys of indexes may have 1,024 bytes.
CREATE OR REPLACE FUNCTION cardbox.check_card_members(content json, metadata jsonb, tool_calls jsonb) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    long text;
BEGIN
    IF content IS NULL OR octet_length(content::text) > 67108864 THEN
        RAISE EXCEPTION 'content must be JSON of up to 64 MiB' USING ERRCODE = 'invalid_parameter_value';
    ELSIF jsonb_typeof(metadata) <> 'object' THEN
        RAISE EXCEPTION 'metadata must be a JSON object, not %', jsonb_typeof(metadata)
            USING ERRCODE = 'invalid_parameter_value';
    ELSIF jsonb_typeof(tool_calls) <> 'array' THEN
        RAISE EXCEPTION 'tool_calls must be a JSON array, not %', jsonb_typeof(tool_calls)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM cardbox.check_nesting('content', content::text),
            cardbox.check_nesting('metadata', metadata::text),
            cardbox.check_nesting('tool_calls', tool_calls::text);
    SELECT m.key INTO long FROM jsonb_each(metadata) AS m
     WHERE m.key IN ('type', 'role', 'step_id', 'trace_id', 'agent_turn_id', 'author_id')
       AND octet_length(m.value::text) > 1024;
    IF long IS NOT NULL THEN
        RAISE EXCEPTION '% in the metadata must be up to 1024 bytes of JSON', long
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;

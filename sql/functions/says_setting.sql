-- says_setting: whether a line has a thinking level, or a model and its provider, as readers of
-- lines see it.
CREATE OR REPLACE FUNCTION cardbox.says_setting(kind integer, raw json) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
    line json := cardbox.readable_line(raw);
BEGIN
    IF kind % 256 = 2 THEN
        RETURN coalesce(json_typeof(line -> 'thinkingLevel') = 'string', false);
    END IF;
    IF kind % 256 = 1 AND json_typeof(line -> 'message') = 'object' THEN
        line := line -> 'message';
    END IF;
    RETURN coalesce(json_typeof(line -> 'provider') = 'string'
        AND json_typeof(line -> CASE WHEN kind % 256 = 1 THEN 'model' ELSE 'modelId' END) = 'string', false);
END
$$;
REVOKE ALL ON FUNCTION cardbox.says_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.says_setting TO cardbox_service, cardbox_worker;

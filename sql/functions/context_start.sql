-- context_start: returns the depth of the entry at which a bounded context of a path begins. The path is read from its
-- end upwards until `entries` entries of messages, or more than `bytes` bytes of them, are read. The context does not begin with
-- a result, which needs the call above it, and not inside of an answer that has several entries. Entries that no model sees
-- are not counted.
--   from_line  Line of the last entry of the path.
--   top        Depth at which the whole context begins.
CREATE OR REPLACE FUNCTION cardbox.context_start(
    tenant text, session text, from_line bigint, top integer, entries bigint, bytes bigint)
RETURNS integer
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    part      record;
    entry     record;
    start     integer;
    role      text; -- role of the entry at `start`
BEGIN
    FOR part IN SELECT p.branch, greatest(p.low, top) AS low, p.high
                  FROM cardbox.session_path(tenant, session, from_line) AS p WHERE p.high >= top ORDER BY p.high DESC LOOP
        FOR entry IN SELECT x.depth, x.role, x.size FROM cardbox.session_lines x
                      WHERE x.tenant_id = tenant AND x.session_id = session AND x.branch = part.branch
                        AND x.depth BETWEEN part.low AND part.high AND x.role IS NOT NULL
                      ORDER BY x.depth DESC LOOP
            IF (entries <= 0 OR bytes < 0) AND role <> 'tool' AND NOT (role = 'assistant' AND entry.role = 'assistant') THEN
                RETURN start;
            END IF;
            start := entry.depth;
            role := entry.role;
            entries := entries - 1;
            bytes := bytes - entry.size;
        END LOOP;
    END LOOP;
    RETURN top;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.context_start TO cardbox_worker;

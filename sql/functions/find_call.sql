-- find_call: looks for the call of a tool result on the path above the entry in line from_line. Reads at most 200
-- entries, from the parent of that entry upwards. The search ends at the first entry of the role assistant that
-- contains `token`, or after 1 MiB of entries.
--   token    The id of the call as a JSON string with its quotes. Inside of a text the quotes have backslashes, so the
--            token is not found there.
--   line     Line of the entry that was found; NULL: none was found. If the search stopped after 1 MiB, it is
--            from_line, and content is NULL.
--   results  Number of the entries of the role tool below it that contain the token.
--   content  JSON of the entry; NULL if it has more than 256 KiB.
--
-- The function is VOLATILE, so that it reads the entries which append_entries() has written in the same statement.
CREATE OR REPLACE FUNCTION cardbox.find_call(
    tenant text, session text, from_line bigint, token text, OUT line bigint, OUT results bigint, OUT content json)
LANGUAGE plpgsql VOLATILE STRICT
AS $$
DECLARE
    bytes_max CONSTANT bigint := 1048576;
    bytes     bigint;
BEGIN
    WITH RECURSIVE above AS (
        SELECT x.line, x.parent_line, false AS in_result, false AS in_call, 0 AS step, 0::bigint AS bytes
          FROM cardbox.find_line(tenant, session, from_line) AS x
        UNION ALL
        SELECT x.line, x.parent_line, x.role = 'tool' AND has.call, x.role = 'assistant' AND has.call, a.step + 1,
               a.bytes + x.size
          FROM above a
         CROSS JOIN LATERAL cardbox.find_line(tenant, session, a.parent_line) AS x
         CROSS JOIN LATERAL (SELECT x.role IN ('tool', 'assistant')
                                    AND strpos(x.content::text, token) > 0 AS call) AS has
         WHERE a.step < 200 AND a.bytes < bytes_max AND a.in_call IS NOT TRUE
    )
    SELECT max(a.line) FILTER (WHERE a.in_call), count(*) FILTER (WHERE a.in_result), max(a.bytes)
      INTO line, results, bytes FROM above a;
    IF line IS NULL AND bytes >= bytes_max THEN
        line := from_line;
    ELSIF line IS NOT NULL THEN
        SELECT x.content INTO content FROM cardbox.find_line(tenant, session, line) AS x WHERE x.size <= 262144;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.find_call TO cardbox_worker;

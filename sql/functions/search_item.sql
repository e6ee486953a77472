-- search_item: returns what can be found under an id: a live card, a message of a task, or an entry of a session.
-- The caller cuts contents after the characters that the tokeniser reads (SEARCH_TEXT_CHARS in
-- src/model/search/search.h). PostgreSQL inlines the function, and reads no content that the caller does not use.
--   states  States of the session in which its entries can be found.
--   latest  The latest time of an entry that has no timestamp of its own, such as when its id was queued. If the session
--           was last changed before, its time is that of the change. The caller looks for the entry's own timestamp.
-- A message's `ts` is its time if it is in the years 1 to 9999: the two numbers are their limits in milliseconds.
--
-- As in find_entry(), the ranges and the ORDER BYs make PostgreSQL use the indexes of the ids. A plan that was made for
-- empty tables would otherwise read all cards of the tenant for each document (test_plans.py
-- test_plans_of_empty_tables).
CREATE OR REPLACE FUNCTION cardbox.search_item(tenant text, session text, id text, states text[], latest timestamptz)
RETURNS TABLE (kind text, task_id text, type text, role text, created_at timestamptz, content json, tool_calls json)
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN m.task_id IS NULL THEN 'card' ELSE 'message' END, m.task_id, c.metadata ->> 'type',
           coalesce(m.role, c.metadata ->> 'role'),
           CASE WHEN m.ts BETWEEN -62135596800000 AND 253402300799999
                THEN timestamptz 'epoch' + m.ts * interval '1 millisecond' ELSE c.created_at END,
           c.content, c.tool_calls
      FROM (SELECT * FROM cardbox.cards x
             WHERE x.tenant_id = tenant AND x.card_id BETWEEN id AND id ORDER BY x.card_id LIMIT 1) AS c
      LEFT JOIN LATERAL (
            SELECT x.task_id, x.role, x.ts FROM cardbox.messages x
             WHERE x.tenant_id = tenant AND x.message_id BETWEEN id AND id ORDER BY x.message_id LIMIT 1) AS m ON true
     WHERE session = '' AND c.deleted_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
    UNION ALL
    SELECT 'entry', NULL, e.type, e.role, least(latest, s.updated_at), e.content, NULL
      FROM (SELECT * FROM cardbox.sessions x
             WHERE x.tenant_id = tenant AND x.session_id BETWEEN session AND session ORDER BY x.session_id LIMIT 1) AS s
     CROSS JOIN LATERAL cardbox.find_entry(tenant, session, id) AS e
     WHERE s.state = ANY (states) AND e.content IS NOT NULL
$$;

-- search_in_newest: finds documents among the `newest_max` newest ones before a position. Part of search_by_time(). The
-- documents are sorted before the join, so that the cards and entries of older ones are not read when the page is full.
CREATE OR REPLACE FUNCTION cardbox.search_in_newest(
    tenant text, terms bigint[], after_time timestamptz, before_time timestamptz, before_n bigint, page_size bigint,
    newest_max bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content json, tool_calls json)
LANGUAGE sql STABLE
AS $$
    SELECT d.kind, d.id, nullif(d.session_id, ''), d.task_id, d.created_at, d.n, c.type, c.role, c.content, c.tool_calls
      FROM (SELECT x.* FROM cardbox.search_documents x
             WHERE x.tenant_id = tenant AND (x.created_at, x.n) < (before_time, before_n) AND x.created_at > after_time
             ORDER BY x.created_at DESC, x.n DESC LIMIT newest_max) AS d
     CROSS JOIN LATERAL cardbox.search_item(tenant, d.session_id, d.id, '{live}', d.created_at) AS c
     WHERE d.terms @> search_in_newest.terms
     ORDER BY d.created_at DESC, d.n DESC LIMIT page_size
$$;

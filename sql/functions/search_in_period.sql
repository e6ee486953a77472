-- search_in_period: finds documents before a position and after `after_time`. Part of search_by_time(). PostgreSQL
-- combines the GIN index of terms with the BRIN index of times, which skips the parts of the table without documents of
-- the period. Otherwise the function is like search_in_rest(), which also explains `tenant_id || ''`.
CREATE OR REPLACE FUNCTION cardbox.search_in_period(
    tenant text, terms bigint[], after_time timestamptz, before_time timestamptz, before_n bigint, page_size bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content json, tool_calls json)
LANGUAGE sql STABLE
AS $$
    SELECT d.kind, d.id, nullif(d.session_id, ''), d.task_id, d.created_at, d.n, c.type, c.role, c.content, c.tool_calls
      FROM (SELECT x.* FROM cardbox.search_documents x
             WHERE x.tenant_id || '' = tenant AND x.terms @> search_in_period.terms
               AND x.created_at > after_time AND x.created_at <= before_time
               AND (x.created_at, x.n) < (before_time, before_n)
             ORDER BY x.created_at DESC, x.n DESC) AS d
     CROSS JOIN LATERAL cardbox.search_item(tenant, d.session_id, d.id, '{live}', d.created_at) AS c
     ORDER BY d.created_at DESC, d.n DESC LIMIT page_size
$$;

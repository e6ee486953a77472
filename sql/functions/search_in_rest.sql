-- search_in_rest: finds documents before a position with the GIN index. Part of search_by_time(). The documents are
-- materialized: otherwise PostgreSQL would read all documents in the order of time (test_plans[search_find]).
-- They are sorted before the join, so that the cards and entries of older ones are not read when the page is
-- full.
CREATE OR REPLACE FUNCTION cardbox.search_in_rest(
    tenant text, terms bigint[], after_time timestamptz, before_time timestamptz, before_n bigint, page_size bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content json, tool_calls json)
LANGUAGE sql STABLE
AS $$
    WITH matches AS MATERIALIZED (
        SELECT x.kind, x.id, x.session_id, x.task_id, x.created_at, x.n FROM cardbox.search_documents x
         WHERE x.tenant_id = tenant AND x.terms @> search_in_rest.terms
    )
    SELECT d.kind, d.id, nullif(d.session_id, ''), d.task_id, d.created_at, d.n, c.type, c.role, c.content, c.tool_calls
      FROM (SELECT m.* FROM matches m
             WHERE (m.created_at, m.n) < (before_time, before_n) AND m.created_at > after_time
             ORDER BY m.created_at DESC, m.n DESC) AS d
     CROSS JOIN LATERAL cardbox.search_item(tenant, d.session_id, d.id, '{live}', d.created_at) AS c
     ORDER BY d.created_at DESC, d.n DESC LIMIT page_size
$$;

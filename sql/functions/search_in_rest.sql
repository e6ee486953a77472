-- search_in_rest: finds documents before a position with the GIN index. Part of search_by_time(). PostgreSQL must not
-- combine it with another index, which would find nearly all documents. So the conditions have forms that no other
-- index supports: `tenant_id || ''` and `(created_at, n)`. A term is a hash of the tenant and a word, so the GIN index
-- finds hardly any documents of other tenants.
-- The documents are sorted before the join, so that the contents of older ones are not read when the page is full.
CREATE OR REPLACE FUNCTION cardbox.search_in_rest(
    tenant text, terms bigint[], before_time timestamptz, before_n bigint, page_size bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content json, tool_calls json)
LANGUAGE sql STABLE
AS $$
    SELECT d.kind, d.id, nullif(d.session_id, ''), d.task_id, d.created_at, d.n, c.type, c.role, c.content, c.tool_calls
      FROM (SELECT x.* FROM cardbox.search_documents x
             WHERE x.tenant_id || '' = tenant AND x.terms @> search_in_rest.terms
               AND (x.created_at, x.n) < (before_time, before_n)
             ORDER BY x.created_at DESC, x.n DESC) AS d
     CROSS JOIN LATERAL cardbox.search_item(tenant, d.session_id, d.id, '{live}', d.created_at) AS c
     ORDER BY d.created_at DESC, d.n DESC LIMIT page_size
$$;

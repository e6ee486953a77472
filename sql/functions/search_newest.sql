-- search_newest: finds documents among the newest `walk` ones before a position. Part of search_find(). An index-only
-- scan compares the signatures. The terms are read only of documents whose signature has all bits of
-- `bits`. Their range of n makes PostgreSQL use this index again (test_plans.py test_plans_of_empty_tables).
CREATE OR REPLACE FUNCTION cardbox.search_newest(
    tenant text, terms bigint[], bits bit, after_time timestamptz, to_time timestamptz, to_n bigint,
    page_size bigint, walk bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content text, tool_calls text)
LANGUAGE sql STABLE
AS $$
    SELECT d.kind, d.id, nullif(d.session_id, ''), d.task_id, d.created_at, d.n, c.type, c.role, c.content, c.tool_calls
      FROM (SELECT x.created_at, x.n, x.signature FROM cardbox.search_documents x
             WHERE x.tenant_id = tenant AND (x.created_at, x.n) < (to_time, to_n) AND x.created_at > after_time
             ORDER BY x.created_at DESC, x.n DESC LIMIT walk) AS w
     CROSS JOIN LATERAL (
            SELECT x.* FROM cardbox.search_documents x
             WHERE x.tenant_id = tenant AND x.created_at = w.created_at AND x.n BETWEEN w.n AND w.n
               AND x.terms @> search_newest.terms
             ORDER BY x.n LIMIT 1) AS d
     CROSS JOIN LATERAL cardbox.search_content(tenant, d.session_id, d.id, '{live}', d.created_at) AS c
     WHERE (w.signature & bits) = bits
     ORDER BY w.created_at DESC, w.n DESC LIMIT page_size
$$;

-- search_find: returns documents that have all of the terms, newest first. Only what can be read is returned: live cards,
-- and entries of live sessions. The terms are hashes, and a word may occur elsewhere than the query requires, so the
-- caller compares the content with the query.
--   created_after, created_before  Limits of created_at, both exclusive; NULL: none.
--   from_time, from_n  created_at and n of the last document of the previous page.
--   page_size          Maximum number of documents.
--   walk               Number of the newest documents that are examined first.
--
-- The function runs with the owner's rights, after role_sees_tenant() has checked the caller. Under the policy for
-- workers, PostgreSQL would not use the GIN index, because the operator `@>` is not leakproof.
--
-- Words that many documents have are found among the newest documents. The GIN index finds all documents with a word,
-- in no order, so it is used only for the older ones.
CREATE OR REPLACE FUNCTION cardbox.search_find(
    tenant text, terms bigint[], created_after timestamptz, created_before timestamptz, from_time timestamptz,
    from_n bigint, page_size bigint, walk bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content text, tool_calls text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    to_time  timestamptz := coalesce(least(from_time, created_before), 'infinity');
    to_n     bigint := CASE WHEN from_time <= coalesce(created_before, 'infinity') THEN from_n ELSE -1 END;
    end_time timestamptz; -- the oldest document that the walk examines
    end_n    bigint;
    found    bigint;
BEGIN
    IF NOT cardbox.role_sees_tenant(tenant) THEN
        RETURN;
    END IF;
    created_after := coalesce(created_after, '-infinity');
    SELECT d.created_at, d.n INTO end_time, end_n FROM cardbox.search_documents d
     WHERE d.tenant_id = tenant AND (d.created_at, d.n) < (to_time, to_n) AND d.created_at > created_after
     ORDER BY d.created_at DESC, d.n DESC OFFSET walk - 1 LIMIT 1;
    RETURN QUERY
        SELECT d.kind, d.id, nullif(d.session_id, ''), d.task_id, d.created_at, d.n, c.type, c.role, c.content,
               c.tool_calls
          FROM cardbox.search_documents d
         CROSS JOIN LATERAL cardbox.search_content(tenant, d.session_id, d.id, '{live}', d.created_at) AS c
         WHERE d.tenant_id = tenant AND (d.created_at, d.n) < (to_time, to_n) AND d.created_at > created_after
           AND (end_time IS NULL OR (d.created_at, d.n) >= (end_time, end_n))
           AND d.terms @> search_find.terms
         ORDER BY d.created_at DESC, d.n DESC LIMIT page_size;
    GET DIAGNOSTICS found = ROW_COUNT;
    IF end_time IS NULL OR found >= page_size THEN
        RETURN;
    END IF;
    RETURN QUERY
        WITH matches AS MATERIALIZED ( -- otherwise PostgreSQL walks on in the order of time (test_plans[search_find])
            SELECT d.* FROM cardbox.search_documents d
             WHERE d.tenant_id = tenant AND d.terms @> search_find.terms
        )
        SELECT d.kind, d.id, nullif(d.session_id, ''), d.task_id, d.created_at, d.n, c.type, c.role, c.content,
               c.tool_calls
          FROM (SELECT m.* FROM matches m
                 WHERE (m.created_at, m.n) < (end_time, end_n) AND m.created_at > created_after
                 ORDER BY m.created_at DESC, m.n DESC) AS d
         CROSS JOIN LATERAL cardbox.search_content(tenant, d.session_id, d.id, '{live}', d.created_at) AS c
         ORDER BY d.created_at DESC, d.n DESC LIMIT page_size - found;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.search_find TO cardbox_worker;

-- search_find: returns documents that have all of the terms, newest first. Only what can be read is returned: live cards,
-- and entries of live sessions. The terms are hashes, and a word may occur elsewhere than the query requires, so the
-- caller compares the content with the query.
--   created_after, created_before  Limits of created_at, both exclusive; NULL: none.
--   from_time, from_n  created_at and n of the last document of the previous page; NULL: the first page.
--   page_size          Maximum number of documents.
--   newest_max         Number of the newest documents that are examined before the GIN index is used.
--
-- The function runs with the owner's rights, after role_sees_tenant() has checked the caller. Under the policy for
-- workers, PostgreSQL would not use the GIN index, because the operator `@>` is not leakproof.
--
-- The setting plan_cache_mode lets PostgreSQL plan both queries once and not at each search, because planning is slower
-- than a search for a common word.
--
-- The GIN index finds all documents with a word, in no order, which is slow for a word of many documents. So
-- the function first examines the newest documents. Only if they do not fill the page, the GIN index finds older ones.
CREATE OR REPLACE FUNCTION cardbox.search_find(
    tenant text, terms bigint[], created_after timestamptz, created_before timestamptz, from_time timestamptz,
    from_n bigint, page_size bigint, newest_max bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content text, tool_calls text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    after_time CONSTANT timestamptz := coalesce(created_after, '-infinity');
    -- documents before this position are examined; n = 0 is before all documents of the time
    before_time timestamptz := coalesce(least(from_time, created_before), 'infinity');
    before_n    bigint := CASE WHEN from_time <= coalesce(created_before, 'infinity') THEN from_n ELSE 0 END;
    hits        bigint;
BEGIN
    IF NOT cardbox.role_sees_tenant(tenant) THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT s.* FROM cardbox.search_newest(tenant, search_find.terms, after_time, before_time, before_n,
                                                       page_size, newest_max) AS s;
    GET DIAGNOSTICS hits = ROW_COUNT;
    IF hits >= page_size THEN
        RETURN;
    END IF;
    -- the last document that search_newest() examined
    SELECT d.created_at, d.n INTO before_time, before_n FROM cardbox.search_documents d
     WHERE d.tenant_id = tenant AND (d.created_at, d.n) < (before_time, before_n) AND d.created_at > after_time
     ORDER BY d.created_at DESC, d.n DESC OFFSET newest_max - 1 LIMIT 1;
    IF FOUND THEN
        RETURN QUERY SELECT s.* FROM cardbox.search_older(tenant, search_find.terms, after_time, before_time, before_n,
                                                          page_size - hits) AS s;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.search_find TO cardbox_worker;

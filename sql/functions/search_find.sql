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
-- The setting plan_cache_mode lets PostgreSQL plan the queries once and not at each search, because planning is slower
-- than a search for a common word.
--
-- Large contents are slow to read and to compare. So a page ends after the document with which its contents reach
-- `bytes_max`. If another document follows, it is returned without contents.
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
    chars_max  CONSTANT integer := 65536;   -- SEARCH_TEXT_CHARS in src/model/search/search.h
    bytes_max  CONSTANT bigint  := 2097152; -- SEARCH_PAGE_BYTES in src/store/search/search_find.c
    bytes      bigint := 0;
    item       json; -- the content of a document
    item_calls json;
BEGIN
    IF NOT cardbox.role_sees_tenant(tenant) THEN
        RETURN;
    END IF;
    FOR kind, id, session_id, task_id, created_at, n, type, role, item, item_calls IN
        SELECT s.* FROM cardbox.search_by_time(tenant, search_find.terms, created_after, created_before, from_time,
                                               from_n, page_size, newest_max) AS s
    LOOP
        content := CASE WHEN bytes < bytes_max THEN left(item::text, chars_max) END;
        tool_calls := CASE WHEN bytes < bytes_max THEN left(item_calls::text, chars_max) END;
        RETURN NEXT;
        EXIT WHEN bytes >= bytes_max;
        bytes := bytes + coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0);
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.search_find TO cardbox_worker;

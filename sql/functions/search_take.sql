-- search_take: removes rows from the queue of the search, and returns what is stored now under their ids. If `kind` is
-- NULL, nothing can be found under the id any more. The caller writes the documents in the same transaction, with the
-- statement search_store. If the transaction fails, the rows are back in the queue.
--   last      The last tenant of the previous call; '': none.
--   max_rows  Maximum number of rows to remove.
--
-- Only one transaction at a time removes rows: otherwise an earlier content could be indexed last. While another
-- transaction does, the function returns no row.
--
-- Each of up to `tenants_max` tenants gets an equal share of the rows, and the next call begins with other tenants.
--
-- The commit does not wait for the disk (synchronous_commit). If PostgreSQL crashes before the commit is on disk, the
-- documents are lost, but the rows are still in the queue.
--
-- The functions of the queue always use its index (enable_seqscan). The statistics of the queue are often those of an
-- empty table, for which PostgreSQL would read all rows for each tenant.
CREATE OR REPLACE FUNCTION cardbox.search_take(last text, max_rows bigint) RETURNS SETOF cardbox.search_source
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    tenants_max CONSTANT bigint := 32;
    tenants     text[];
    share       bigint;
BEGIN
    IF NOT cardbox.try_lock_row('search') THEN
        RETURN;
    END IF;
    tenants := cardbox.search_tenants(last, least(max_rows, tenants_max));
    IF tenants = '{}' THEN
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    share := max_rows / cardinality(tenants);
    RETURN QUERY
        WITH taken AS ( -- by ctid, because a row has no key; no other transaction removes or changes rows
            DELETE FROM cardbox.search_queue q
             WHERE q.ctid = ANY (ARRAY (
                    SELECT x.tid FROM unnest(tenants) AS t(id)
                     CROSS JOIN LATERAL (
                            SELECT o.ctid AS tid FROM cardbox.search_queue o WHERE o.tenant_id = t.id LIMIT share) AS x))
            RETURNING q.tenant_id, q.session_id, q.id, q.at
        ), queued AS (
            SELECT k.tenant_id, k.session_id, k.id, min(k.at) AS at FROM taken k
             GROUP BY k.tenant_id, k.session_id, k.id
        )
        SELECT k.tenant_id, k.session_id, k.id, k.at, d.kind, d.task_id, d.type, d.role, d.created_at,
               left(d.content::text, 65536), left(d.tool_calls::text, 65536)
          FROM queued k
          LEFT JOIN LATERAL cardbox.search_item(
               k.tenant_id, k.session_id, k.id, '{live,restoring}', k.at) AS d ON true
         ORDER BY k.tenant_id;
END
$$;

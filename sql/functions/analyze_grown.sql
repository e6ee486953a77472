-- analyze_grown: runs ANALYZE for one table that is larger than 64 pages and more than four times its size in
-- PostgreSQL's statistics. If there are several such tables, the function chooses one at random. Returns the table's
-- name. Returns no row if no table has grown, or on a standby. If another session has locked the table, ANALYZE skips
-- the table.
--
-- A cached plan fits the table sizes for which it was made. For example, a plan that was made for an empty table may
-- read the whole table later. After a first load of 200,000 cards each read took 15 ms, until autovacuum analyzed the
-- table. ANALYZE invalidates the cached plans that use the table, on all connections.
CREATE OR REPLACE FUNCTION cardbox.analyze_grown()
RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least_pages CONSTANT bigint := 16;
    times CONSTANT bigint := 4;
    grown text;
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    SELECT c.relname INTO grown
      FROM pg_class c
     WHERE c.relnamespace = 'cardbox'::regnamespace AND c.relkind = 'r'
       AND pg_relation_size(c.oid) / current_setting('block_size')::bigint > times * greatest(c.relpages, least_pages)
     ORDER BY random() LIMIT 1;
    IF grown IS NOT NULL THEN
        EXECUTE format('ANALYZE (SKIP_LOCKED) cardbox.%I', grown);
        RETURN NEXT grown;
    END IF;
END
$$;

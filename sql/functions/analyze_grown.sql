-- analyze_grown: analyzes one table, at random, that has grown beyond what PostgreSQL knows of its
-- size. Returns its name, or no row. cardboxd calls it every second.
-- A kept plan is as good as the sizes that it was made for. A plan for an empty table reads all of
-- it: after a first load of 200,000 cards each read took 15 ms until autovacuum came. ANALYZE makes
-- all connections plan again.
CREATE OR REPLACE FUNCTION cardbox.analyze_grown()
RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least CONSTANT bigint := 16; -- pages
    times CONSTANT bigint := 4;
    grown text;
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    SELECT c.relname INTO grown
      FROM pg_class c
     WHERE c.relnamespace = 'cardbox'::regnamespace AND c.relkind = 'r'
       AND pg_relation_size(c.oid) / current_setting('block_size')::bigint > times * greatest(c.relpages, least)
     ORDER BY random() LIMIT 1;
    IF grown IS NOT NULL THEN
        EXECUTE format('ANALYZE (SKIP_LOCKED) cardbox.%I', grown);
        RETURN NEXT grown;
    END IF;
END
$$;

-- A plan that a connection keeps is as good as the sizes were that it was made for. One made while a table was empty
-- reads all of it, or any index: after a first load of 200,000 cards each read of one took 15 ms, until autovacuum came
-- by (a minute) and all connections planned anew. So cardboxd looks every second whether a table has grown out of what
-- PostgreSQL knows of its size, and has it looked at, which is what makes connections plan anew, also those of workers.

-- Gives the table that was analyzed, if there was one. A hundred pages are read of it, since no statistics of its
-- columns are kept (0051); one that somebody else is at work on is left for later.
CREATE FUNCTION cardbox.analyze_grown()
RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
REVOKE EXECUTE ON FUNCTION cardbox.analyze_grown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.analyze_grown TO cardbox_service;

-- estimates_that_tell: the text columns and index expressions whose values the planner's estimates
-- reveal to this role, with commas; '' if there are none. `cardbox doctor` reports them.
-- Nothing is below '' and nearly everything is above it. Without statistics both estimates are
-- equal. (The view pg_stats shows nothing to a role that is bound by row-level security.)
CREATE OR REPLACE FUNCTION cardbox.estimates_that_tell() RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    r       record;
    before  json;
    behind  json;
    telling text[] := '{}';
BEGIN
    FOR r IN SELECT c.oid::regclass::text AS source, c.relname, e.key
               FROM pg_class c,
                    LATERAL (SELECT quote_ident(a.attname) AS key FROM pg_attribute a
                              WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.atttypid = 'text'::regtype
                              UNION
                             SELECT pg_get_indexdef(a.attrelid, a.attnum, true)
                               FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid
                              WHERE i.indrelid = c.oid AND a.atttypid = 'text'::regtype
                                AND i.indkey[a.attnum - 1] = 0) AS e
              WHERE c.relnamespace = 'cardbox'::regnamespace AND c.relkind = 'r'
                AND has_table_privilege(c.oid, 'SELECT') AND (c.relpersistence = 'p' OR NOT pg_is_in_recovery())
                AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'tenant_id')
              ORDER BY c.relname, e.key LOOP
        EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM %s WHERE %s < ''''', r.source, r.key) INTO before;
        EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM %s WHERE %s > ''''', r.source, r.key) INTO behind;
        IF before #>> '{0,Plan,Plan Rows}' <> behind #>> '{0,Plan,Plan Rows}' THEN
            telling := telling || format('%s.%s', r.relname, r.key);
        END IF;
    END LOOP;
    RETURN array_to_string(telling, ', ');
END
$$;
REVOKE ALL ON FUNCTION cardbox.estimates_that_tell FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.estimates_that_tell TO cardbox_service, cardbox_worker;

-- Returns a LOCK TABLE statement for all existing tables that a migration names; NULL: the migration names no table.
-- $1 text  text of the migration
SELECT 'LOCK TABLE ' || string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid) || ' IN ACCESS EXCLUSIVE MODE'
  FROM pg_class c
 WHERE c.relnamespace = to_regnamespace('cardbox') AND c.relkind = 'r'
   AND $1::text ~ ('\mcardbox\.' || c.relname || '\M')

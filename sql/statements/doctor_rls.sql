-- Returns the names of the tables on which row-level security is not enabled and forced, separated by commas.
SELECT coalesce(string_agg(c.relname, ', ' ORDER BY c.relname), '')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'cardbox' AND c.relkind = 'r'
   AND c.relname NOT IN ('migrations', 'functions') -- these tables have no rows of tenants
   AND NOT (c.relrowsecurity AND c.relforcerowsecurity)

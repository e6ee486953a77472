-- The names of tables of ours that row-level security does not guard for everybody, with commas.
SELECT coalesce(string_agg(c.relname, ', ' ORDER BY c.relname), '')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'cardbox' AND c.relkind = 'r'
   AND c.relname NOT IN ('migrations', 'functions') -- no rows of tenants
   AND NOT (c.relrowsecurity AND c.relforcerowsecurity)

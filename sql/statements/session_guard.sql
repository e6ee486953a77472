-- What our sessions ask for when they begin, where the server did not get it with the connection: names
-- are looked up in pg_catalog alone, since what others may have put into a schema on the path, such as an
-- operator that fits better than PostgreSQL's own, must not run with our rights; and row-level security
-- takes away what is not ours to see, where off would have each statement fail. The planner is steered as connect.c
-- does it. Not behind a pooler, whose
-- sessions are others' too: there the process has another number than the one that we know. This runs
-- before the path is safe, so all in it is qualified.
-- $1 int4  the number of our server process, as far as we know
SELECT pg_catalog.set_config('search_path', 'pg_catalog', false), pg_catalog.set_config('row_security', 'on', false),
       pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', false),
       pg_catalog.set_config('jit', 'off', false), pg_catalog.set_config('enable_seqscan', 'off', false),
       pg_catalog.set_config('enable_sort', 'off', false)
 WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) $1::pg_catalog.int4

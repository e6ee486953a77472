-- Sets parameters of a new connection to which connect.c has not sent them as startup options. The search_path has only
-- pg_catalog, so that operators and functions of other users do not run with the role's rights. The parameter
-- row_security is on: if it were off, statements would fail instead of hiding rows. The other parameters are for the
-- planner, as in connect.c. Behind a pooler nothing is set, because a pooler shares its connections with other clients.
-- A pooler is recognized because pg_backend_pid() differs from $1. Every name has its schema, because the search_path
-- is not set yet.
-- $1 int4  PQbackendPID() of the connection
SELECT pg_catalog.set_config('search_path', 'pg_catalog', false), pg_catalog.set_config('row_security', 'on', false),
       pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', false),
       pg_catalog.set_config('jit', 'off', false), pg_catalog.set_config('enable_seqscan', 'off', false),
       pg_catalog.set_config('enable_sort', 'off', false)
 WHERE pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) $1::pg_catalog.int4

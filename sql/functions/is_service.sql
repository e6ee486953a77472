-- is_service: whether the caller of a writing function is a member of cardbox_service. The caller is
-- the role that SET ROLE has set, else the log-in role of the connection: in a function with SECURITY
-- DEFINER current_user is its owner. PostgreSQL writes this expression into the function that calls it.
CREATE OR REPLACE FUNCTION cardbox.is_service() RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT pg_catalog.pg_has_role(
        coalesce(nullif(pg_catalog.current_setting('role'), 'none'), session_user)::name, 'cardbox_service', 'USAGE')
$$;

-- is_service: returns whether the caller of a writing function has the rights of cardbox_service. The caller is the
-- role that SET ROLE has set, or else the log-in role. The function can't use current_user, which is the owner in a
-- SECURITY DEFINER function. PostgreSQL inlines the function.
CREATE OR REPLACE FUNCTION cardbox.is_service() RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT pg_catalog.pg_has_role(
        coalesce(nullif(pg_catalog.current_setting('role'), 'none'), session_user)::name, 'cardbox_service', 'USAGE')
$$;

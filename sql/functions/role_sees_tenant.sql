-- role_sees_tenant: returns whether the calling role may read the rows of a tenant according to the policies. Reading
-- functions that run with the owner's rights check their caller with role_sees_tenant(). The caller is the role that
-- SET ROLE has set, or else the log-in role. The check for the service is a separate IF, so that plpgsql runs no query
-- for the service.
CREATE OR REPLACE FUNCTION cardbox.role_sees_tenant(tenant text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asking name := coalesce(nullif(current_setting('role'), 'none'), session_user);
BEGIN
    IF pg_has_role(asking, 'cardbox_service', 'USAGE') THEN
        RETURN true;
    END IF;
    RETURN pg_has_role(asking, 'cardbox_worker', 'USAGE')
       AND EXISTS (SELECT FROM cardbox.tenant_grants g
                    WHERE g.tenant_id = role_sees_tenant.tenant AND g.role_name = asking);
END
$$;

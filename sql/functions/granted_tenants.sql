-- granted_tenants: returns those of the tenants that the role may serve, each once. For the service these are all;
-- for a worker's role they are its grants. So a revoked grant stops the claims of that tenant only.
-- Raises 42501 (insufficient_privilege) if none is left.
CREATE OR REPLACE FUNCTION cardbox.granted_tenants(tenants text[]) RETURNS text[]
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    granted text[];
BEGIN
    IF pg_has_role(current_user, 'cardbox_service', 'MEMBER') THEN
        RETURN ARRAY(SELECT DISTINCT n.id FROM unnest(tenants) AS n(id));
    END IF;
    -- row-level security shows only the grants of the role
    granted := ARRAY(SELECT g.tenant_id FROM cardbox.tenant_grants g WHERE g.tenant_id = ANY (tenants));
    IF granted = '{}' AND tenants <> '{}' THEN
        RAISE EXCEPTION 'role "%" may serve none of the projects', current_user
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN granted;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.granted_tenants TO cardbox_worker;

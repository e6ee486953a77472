-- granted_tenants: returns the elements of `tenants` whose tasks the current role may claim, each once. The service may
-- claim the tasks of all tenants, a worker's role those of its granted tenants. So if a grant is revoked, a worker
-- continues to claim tasks of its other tenants. For a worker's role, raises 42501 (insufficient_privilege) if
-- `tenants` is not empty and none of its elements is granted.
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
        RAISE EXCEPTION 'role "%" may serve none of the projects: cardbox doctor shows its grants or the grant to make',
            current_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN granted;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.granted_tenants TO cardbox_worker;

-- check_grants: raises 42501 (insufficient_privilege) unless all tenants are granted to the caller of a writing
-- function. See is_service() for the definition of the caller.
CREATE OR REPLACE FUNCTION cardbox.check_grants(tenants text[]) RETURNS void
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    caller CONSTANT name := coalesce(nullif(current_setting('role'), 'none'), session_user);
    tenant text;
BEGIN
    FOREACH tenant IN ARRAY coalesce(tenants, ARRAY[NULL]) LOOP
        PERFORM FROM cardbox.tenant_grants g WHERE g.tenant_id = tenant AND g.role_name = caller;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'role "%" may not write to project "%"', caller, left(coalesce(tenant, '(NULL)'), 100)
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END LOOP;
END
$$;

-- search_tenants: returns up to `most` tenants that have rows in the queue of the search: first those after the tenant
-- `last`, then those up to it. Each tenant is one look-up in the index, however many rows it has. Part of
-- search_take().
CREATE OR REPLACE FUNCTION cardbox.search_tenants(last text, most bigint) RETURNS text[]
LANGUAGE plpgsql
AS $$
DECLARE
    tenants text[] := '{}';
    tenant  text := last;
    wrapped boolean := false;
BEGIN
    WHILE cardinality(tenants) < most LOOP
        SELECT q.tenant_id INTO tenant FROM cardbox.search_queue q
         WHERE q.tenant_id > tenant AND (NOT wrapped OR q.tenant_id <= last) ORDER BY q.tenant_id LIMIT 1;
        IF FOUND THEN
            tenants := tenants || tenant;
        ELSE
            EXIT WHEN wrapped;
            wrapped := true;
            tenant := '';
        END IF;
    END LOOP;
    RETURN tenants;
END
$$;

-- search_tenants: returns up to `most` tenants that have rows in the queue of the search: first those after the tenant
-- `last`, then those up to it. Each tenant is one look-up in the index, however many rows it has. Part of
-- search_take(), which explains enable_seqscan. Programs refuse the tenant '', but a superuser can insert it. Its
-- rows must not stay in the queue, so it comes before the first tenant.
CREATE OR REPLACE FUNCTION cardbox.search_tenants(last text, most bigint) RETURNS text[]
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    tenants text[] := '{}';
    tenant  text COLLATE "C" := last;
    wrapped boolean := false;
BEGIN
    WHILE cardinality(tenants) < most LOOP
        SELECT q.tenant_id INTO tenant FROM cardbox.search_queue q
         WHERE q.tenant_id > tenant ORDER BY q.tenant_id LIMIT 1;
        EXIT WHEN wrapped AND (NOT FOUND OR tenant > last);
        IF FOUND THEN
            tenants := tenants || tenant;
        ELSE
            wrapped := true;
            tenant := '';
            tenants := tenants || ARRAY (SELECT q.tenant_id FROM cardbox.search_queue q WHERE q.tenant_id = '' LIMIT 1);
        END IF;
    END LOOP;
    RETURN tenants;
END
$$;

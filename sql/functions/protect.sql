-- protect: makes a table safe to share between tenants. A migration calls it for each table, behind
-- the table's indexes.
--   service, worker  privileges of the two group roles on the whole table; worker NULL: none
--   writer           privileges of the owner of the writing functions; NULL: none
-- Row-level security is enabled and forced, also on the owner: the service sees every row, a
-- worker's role those of the tenants that are granted to it. It is the second check behind the
-- tenant that every statement names. Writing functions see every row: they check their caller.
CREATE OR REPLACE FUNCTION cardbox.protect(
    protected regclass, service text, worker text, writer text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', protected);
    EXECUTE format('CREATE POLICY service ON %s TO cardbox_service USING (true) WITH CHECK (true)', protected);
    EXECUTE format('GRANT %s ON %s TO cardbox_service', service, protected);
    IF worker IS NOT NULL THEN
        EXECUTE format('CREATE POLICY worker ON %s TO cardbox_worker
                        USING (tenant_id IN (SELECT g.tenant_id FROM cardbox.tenant_grants g
                                              WHERE g.role_name = current_user))', protected);
        EXECUTE format('GRANT %s ON %s TO cardbox_worker', worker, protected);
    END IF;
    IF writer IS NOT NULL THEN
        EXECUTE format('CREATE POLICY writer ON %s TO cardbox_writer USING (true) WITH CHECK (true)', protected);
        EXECUTE format('GRANT %s ON %s TO cardbox_writer', writer, protected);
    END IF;
END
$$;

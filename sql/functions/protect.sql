-- protect: isolates the tenants in a table. A migration calls the function for each new table with data of tenants,
-- after it has created the table's indexes.
--   service  Privileges of cardbox_service on the table.
--   worker   Privileges of cardbox_worker; NULL: none.
--   writer   Privileges of cardbox_writer, the owner of the writing functions; NULL: none.
--
-- Row-level security is enabled and forced, so that it binds the owner too. The service sees all rows. If `worker` is
-- not NULL, a worker's role sees the rows of its granted tenants. If `writer` is not NULL, writing functions see all
-- rows, because they check their caller. Statements for one tenant also name it in their WHERE, so the policies are a
-- second check.
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

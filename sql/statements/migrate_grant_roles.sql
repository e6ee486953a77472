-- Makes the current role a member of cardbox_service and cardbox_writer. Row-level security shows all rows to members
-- of cardbox_service. PostgreSQL requires membership in cardbox_writer to make cardbox_writer the owner of functions.
-- From PostgreSQL 16 on, a role with CREATEROLE that creates another role may grant the new role, but does not have the
-- new role's rights. Before the first migration of a cluster, cardbox_service and cardbox_writer do not exist.
DO $$
DECLARE
    needed text;
BEGIN
    FOREACH needed IN ARRAY ARRAY['cardbox_service', 'cardbox_writer'] LOOP
        CONTINUE WHEN to_regrole(needed) IS NULL OR pg_has_role(needed, 'USAGE');
        BEGIN
            EXECUTE format('GRANT %I TO %I', needed, current_user);
        EXCEPTION WHEN insufficient_privilege THEN
            NULL;
        END;
        IF NOT pg_has_role(needed, 'USAGE') THEN
            RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format(
                'role "%s" lacks the rights of %s, which migrating needs: as superuser run '
                'ALTER ROLE %I INHERIT; GRANT %I TO %I WITH ADMIN OPTION', current_user, needed, current_user,
                needed, current_user);
        END IF;
    END LOOP;
END
$$

-- Makes our role a member of two roles, where it may. cardbox_service: row-level security lets its members see
-- the rows that are migrated. cardbox_writer: only a member can give it functions. From PostgreSQL 16 on, the
-- role that makes a role administers it, and has nothing of its rights. Before the first migration of a
-- cluster there are no such roles.
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
                'role "%s" has not the rights of %s, which migrating needs: as superuser run '
                'GRANT %I TO %I WITH ADMIN OPTION; ALTER ROLE %I INHERIT', current_user, needed, needed,
                current_user, current_user);
        END IF;
    END LOOP;
END
$$

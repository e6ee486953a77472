-- That row-level security lets our role see what it migrates: through cardbox_service, which it makes
-- itself a member of where it may. From PostgreSQL 16 on, who makes a role administers it and has nothing
-- of its rights; and who has not, would move no rows and say nothing. Before the first migration of a
-- cluster there is no such role.
DO $$
BEGIN
    IF to_regrole('cardbox_service') IS NOT NULL AND NOT pg_has_role('cardbox_service', 'USAGE') THEN
        BEGIN
            EXECUTE format('GRANT cardbox_service TO %I', current_user);
        EXCEPTION WHEN insufficient_privilege THEN
            NULL;
        END;
        IF NOT pg_has_role('cardbox_service', 'USAGE') THEN
            RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format(
                'role "%s" has not the rights of cardbox_service, without which it sees no rows: as superuser run '
                'GRANT cardbox_service TO %I WITH ADMIN OPTION; ALTER ROLE %I INHERIT', current_user, current_user,
                current_user);
        END IF;
    END IF;
END
$$

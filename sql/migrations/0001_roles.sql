-- The schema, and the two group roles that log-in roles are made members of:
--   cardbox_service  cardboxd and operators: every tenant
--   cardbox_worker   workers that link the SDK: only the tenants in tenant_grants
-- Roles belong to the whole cluster: another database may have made them already, or be making
-- them at this moment.
CREATE SCHEMA IF NOT EXISTS cardbox;

DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['cardbox_service', 'cardbox_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;
            END;
        END IF;
    END LOOP;
    -- Row-level security is forced on the owner too; this is how the owner passes it.
    IF NOT pg_has_role(current_user, 'cardbox_service', 'MEMBER') THEN
        EXECUTE format('GRANT cardbox_service TO %I', current_user);
    END IF;
    -- Compiling a plan takes longer than any statement of ours. Set here and not per session,
    -- since a session belongs to nobody behind a transaction pooler.
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
END
$$;

GRANT USAGE ON SCHEMA cardbox TO cardbox_service, cardbox_worker;

-- Which worker role may see which tenant. The role name is that of the log-in role.
CREATE TABLE cardbox.tenant_grants (
    tenant_id  text COLLATE "C" NOT NULL,
    role_name  name NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, role_name)
);
CREATE INDEX tenant_grants_by_role ON cardbox.tenant_grants (role_name, tenant_id);
GRANT SELECT ON cardbox.tenant_grants TO cardbox_service, cardbox_worker;

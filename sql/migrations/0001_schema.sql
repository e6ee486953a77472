-- The roles, the grants of projects to worker roles, and the tokens of the HTTP API.
-- `cardbox migrate` has created the schema and its own tables, cardbox.migrations and cardbox.functions.
-- needs: protect
-- needs: count_token_change

-- cardbox_service: cardboxd and operators are members. They see every tenant.
-- cardbox_worker: workers that link the SDK are members. They see the tenants that tenant_grants grants them.
-- cardbox_writer: owns the writing functions (see README.md), and nothing else. Nobody logs in as this role. Only
-- the role that migrates is a member, because PostgreSQL requires that of a role that changes an owner.
-- Roles belong to the cluster: another database may have created them, or may create them at this moment.
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['cardbox_service', 'cardbox_worker', 'cardbox_writer'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;
            END;
        END IF;
        -- Row-level security binds the owner too. As a member of cardbox_service the owner sees all rows.
        IF role_name <> 'cardbox_worker' AND NOT pg_has_role(current_user, role_name, 'USAGE') THEN
            EXECUTE format('GRANT %I TO %I', role_name, current_user);
        END IF;
    END LOOP;
END
$$;

-- Settings of the database, because settings of a session do not survive a pooler in transaction mode.
--   jit               Compiling a plan would be slower than running any of our statements.
--   random_page_cost  Without statistics PostgreSQL expects a few rows. With the default 4 it sorts these instead
--                     of using the index that has the order.
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
    EXECUTE format('ALTER DATABASE %I SET random_page_cost = 1', current_database());
END
$$;

GRANT USAGE ON SCHEMA cardbox TO cardbox_service, cardbox_worker, cardbox_writer;
GRANT SELECT ON cardbox.migrations, cardbox.functions TO cardbox_service, cardbox_worker;

-- The tenants that a worker's role may see. role_name is the log-in role.
CREATE TABLE cardbox.tenant_grants (
    tenant_id  text COLLATE "C" NOT NULL,
    role_name  name NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, role_name)
);
CREATE INDEX tenant_grants_by_role ON cardbox.tenant_grants (role_name, tenant_id);

-- A worker sees only its own rows, so that it does not learn the roles of other tenants.
SELECT cardbox.protect('cardbox.tenant_grants', service => 'SELECT', worker => NULL);
CREATE POLICY worker ON cardbox.tenant_grants TO cardbox_worker USING (role_name = current_user);
GRANT SELECT ON cardbox.tenant_grants TO cardbox_worker;
-- The writing functions look up the grants of their caller.
CREATE POLICY writer ON cardbox.tenant_grants FOR SELECT TO cardbox_writer USING (true);
GRANT SELECT ON cardbox.tenant_grants TO cardbox_writer;

-- Tokens of the HTTP API. A token is a secret of 256 random bits. The table has only its SHA-256, which does not
-- reveal the secret.
CREATE TABLE cardbox.tokens (
    token_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text COLLATE "C" NOT NULL
               CHECK (octet_length(name) BETWEEN 1 AND 255 AND name !~ '^[0-9]+$'), -- digits are an id
    hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    tenants    text[] CHECK (cardinality(tenants) > 0 AND array_position(tenants, NULL) IS NULL), -- NULL: all
    scopes     text[] NOT NULL CHECK (cardinality(scopes) > 0
                                      AND scopes <@ ARRAY['read', 'write', 'tasks', 'admin']),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz CHECK (isfinite(expires_at)), -- NULL: never
    revoked_at timestamptz
);
-- Names are unique among the tokens that are not revoked: a new token may replace a revoked one.
CREATE UNIQUE INDEX tokens_by_name ON cardbox.tokens (name) WHERE revoked_at IS NULL;

-- Counts the changes of tokens, so that servers can check for changes often and cheaply. It is a row instead of a
-- sequence, because transactions that update one row commit in order. So a reader of a version sees all changes up to
-- that version.
CREATE TABLE cardbox.token_changes (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    version bigint NOT NULL
);
INSERT INTO cardbox.token_changes (version) VALUES (0);
CREATE TRIGGER tokens_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON cardbox.tokens
    FOR EACH STATEMENT EXECUTE FUNCTION cardbox.count_token_change();

-- The service can only read tokens. Only the owner creates and revokes them, so that an attacker on a server can't
-- create one. Workers see no tokens.
SELECT cardbox.protect('cardbox.tokens', service => 'SELECT', worker => NULL);
SELECT cardbox.protect('cardbox.token_changes', service => 'SELECT', worker => NULL);

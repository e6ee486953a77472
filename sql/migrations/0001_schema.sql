-- The roles, the grants of tenants to roles of workers, and the tokens of the HTTP API.
-- `cardbox migrate` has created the schema cardbox and the tables cardbox.migrations and cardbox.functions before.
--
-- needs: protect
-- needs: count_token_change

-- Members of cardbox_service, such as cardboxd and operators, see every tenant. Members of cardbox_worker, such as
-- workers that link the SDK, see the tenants that tenant_grants grants to them.

-- The role cardbox_writer owns the writing functions (see README.md), and nothing else. No program logs in as
-- cardbox_writer. Only the role that migrates is a member: PostgreSQL requires membership in a role to make the role an
-- owner.

-- Roles belong to the cluster. So a migration of another database may have created these roles, or may create them at
-- the same time.
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
        -- Row-level security is forced for the owner of the tables too. As a member of cardbox_service the owner sees
        -- all rows.
        IF role_name <> 'cardbox_worker' AND NOT pg_has_role(current_user, role_name, 'USAGE') THEN
            EXECUTE format('GRANT %I TO %I', role_name, current_user);
        END IF;
    END LOOP;
END
$$;

-- The settings jit and random_page_cost are set for the database, because settings of a session do not survive a pooler
-- in transaction mode.
--
-- jit is off, because compiling a plan would take longer than running a usual statement of CardBox. The setting
-- random_page_cost is 1. Without statistics PostgreSQL expects few rows, and with the default of 4 it would sort these
-- rows instead of reading them in the order of an index.
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
    EXECUTE format('ALTER DATABASE %I SET random_page_cost = 1', current_database());
END
$$;

GRANT USAGE ON SCHEMA cardbox TO cardbox_service, cardbox_worker, cardbox_writer;
GRANT SELECT ON cardbox.migrations, cardbox.functions TO cardbox_service, cardbox_worker;

-- The tenants that a worker's role may use. The column role_name is the name of the worker's log-in role.
CREATE TABLE cardbox.tenant_grants (
    tenant_id  text COLLATE "C" NOT NULL,
    role_name  name NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, role_name)
);
CREATE INDEX tenant_grants_by_role ON cardbox.tenant_grants (role_name, tenant_id);

-- A worker's role sees only its own rows of tenant_grants, so that it does not learn the roles of other tenants.
SELECT cardbox.protect('cardbox.tenant_grants', service => 'SELECT', worker => NULL);
CREATE POLICY worker ON cardbox.tenant_grants TO cardbox_worker USING (role_name = current_user);
GRANT SELECT ON cardbox.tenant_grants TO cardbox_worker;
-- Functions owned by cardbox_writer look up the grants of their caller.
CREATE POLICY writer ON cardbox.tenant_grants FOR SELECT TO cardbox_writer USING (true);
GRANT SELECT ON cardbox.tenant_grants TO cardbox_writer;

-- Tokens of the HTTP API. A token is a secret of 256 random bits. The table has only the SHA-256 of the secret, which
-- does not reveal the secret.
CREATE TABLE cardbox.tokens (
    token_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text COLLATE "C" NOT NULL
               CHECK (octet_length(name) BETWEEN 1 AND 255 AND name !~ '^[0-9]+$'), -- a number is read as a token_id
    hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    tenants    text[] CHECK (cardinality(tenants) > 0 AND array_position(tenants, NULL) IS NULL), -- NULL: all
    scopes     text[] NOT NULL CHECK (cardinality(scopes) > 0
                                      AND scopes <@ ARRAY['read', 'write', 'tasks', 'admin']),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz CHECK (isfinite(expires_at)), -- NULL: never
    revoked_at timestamptz
);
-- The names of tokens that are not revoked are unique. A new token may have the name of a revoked token.
CREATE UNIQUE INDEX tokens_by_name ON cardbox.tokens (name) WHERE revoked_at IS NULL;

-- The number of changes of tokens, which servers poll cheaply. The number is a row and not a sequence, because
-- transactions that update one row commit one after the other. So a reader of a version sees all changes up to that
-- version.
CREATE TABLE cardbox.token_changes (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    version bigint NOT NULL
);
INSERT INTO cardbox.token_changes (version) VALUES (0);
CREATE TRIGGER tokens_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON cardbox.tokens
    FOR EACH STATEMENT EXECUTE FUNCTION cardbox.count_token_change();

-- Members of cardbox_service can only read tokens. The owner of the table creates and revokes tokens. So an attacker
-- who controls a server can't create a token. Workers see no tokens.
SELECT cardbox.protect('cardbox.tokens', service => 'SELECT', worker => NULL);
SELECT cardbox.protect('cardbox.token_changes', service => 'SELECT', worker => NULL);

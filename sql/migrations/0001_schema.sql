-- The roles, the tables that say who may see which project, and the tokens of the HTTP API.
-- `cardbox migrate` has made the schema and its own record, cardbox.migrations and cardbox.functions.
-- needs: protect
-- needs: count_token_change

-- Two group roles. Log-in roles are made members of them:
--   cardbox_service  cardboxd and operators: every tenant
--   cardbox_worker   workers that link the SDK: only the tenants of their rows in tenant_grants
-- And the role that owns the writing functions (see README.md), and nothing else: cardbox_writer.
-- Nobody logs in as it. Only the role that migrates is a member, so that it can give it functions.
-- Roles belong to the whole cluster. Another database may have made them, or may be making them now.
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
    END LOOP;
    -- Row-level security is forced on the owner too. As a member of the service the owner passes it.
    FOREACH role_name IN ARRAY ARRAY['cardbox_service', 'cardbox_writer'] LOOP
        IF NOT pg_has_role(current_user, role_name, 'USAGE') THEN
            EXECUTE format('GRANT %I TO %I', role_name, current_user);
        END IF;
    END LOOP;
END
$$;

-- Settings of the database. A session's own settings would be lost behind a transaction pooler.
--   jit               compiling a plan takes longer than any statement of ours
--   random_page_cost  for rows without statistics PostgreSQL expects a handful. At the default of 4
--                     it sorts that handful and ignores the index that has the order
DO $$
BEGIN
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
    EXECUTE format('ALTER DATABASE %I SET random_page_cost = 1', current_database());
END
$$;

GRANT USAGE ON SCHEMA cardbox TO cardbox_service, cardbox_worker, cardbox_writer;
GRANT SELECT ON cardbox.migrations, cardbox.functions TO cardbox_service, cardbox_worker;

-- Which worker role may see which tenant. role_name is the name of the log-in role.
CREATE TABLE cardbox.tenant_grants (
    tenant_id  text COLLATE "C" NOT NULL,
    role_name  name NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, role_name)
);
CREATE INDEX tenant_grants_by_role ON cardbox.tenant_grants (role_name, tenant_id);

-- A worker sees its own rows here: it must not learn which roles other tenants are granted to.
SELECT cardbox.protect('cardbox.tenant_grants', service => 'SELECT', worker => NULL);
CREATE POLICY worker ON cardbox.tenant_grants TO cardbox_worker USING (role_name = current_user);
GRANT SELECT ON cardbox.tenant_grants TO cardbox_worker;
-- The writing functions look for the grant of their caller.
CREATE POLICY writer ON cardbox.tenant_grants FOR SELECT TO cardbox_writer USING (true);
GRANT SELECT ON cardbox.tenant_grants TO cardbox_writer;

-- Tokens of the HTTP API. A token is a secret of 256 random bits. Only its SHA-256 is stored, from
-- which the secret can't be computed.
CREATE TABLE cardbox.tokens (
    token_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text COLLATE "C" NOT NULL
               CHECK (octet_length(name) BETWEEN 1 AND 255 AND name !~ '^[0-9]+$'), -- digits: an id
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

-- A counter of the changes of tokens: servers ask often and cheaply whether there was one. It is a
-- row and no sequence, because updates of one row commit in order: a reader of a number has seen
-- all changes up to it.
CREATE TABLE cardbox.token_changes (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    version bigint NOT NULL
);
INSERT INTO cardbox.token_changes (version) VALUES (0);
CREATE TRIGGER tokens_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON cardbox.tokens
    FOR EACH STATEMENT EXECUTE FUNCTION cardbox.count_token_change();

-- The service reads tokens. Only the owner makes and revokes them, so a server that was broken into
-- can't give itself rights. Workers see none.
SELECT cardbox.protect('cardbox.tokens', service => 'SELECT', worker => NULL);
SELECT cardbox.protect('cardbox.token_changes', service => 'SELECT', worker => NULL);

-- Tokens of the HTTP API. A token is a secret of 256 random bits; here is only its SHA-256, from which
-- it can't be found again.
CREATE TABLE cardbox.tokens (
    token_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text COLLATE "C" NOT NULL
               CHECK (octet_length(name) BETWEEN 1 AND 255 AND name !~ '^[0-9]+$'), -- no id
    hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    tenants    text[] CHECK (cardinality(tenants) > 0 AND array_position(tenants, NULL) IS NULL), -- NULL: all
    scopes     text[] NOT NULL CHECK (cardinality(scopes) > 0
                                      AND scopes <@ ARRAY['read', 'write', 'tasks', 'admin']),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz CHECK (isfinite(expires_at)), -- NULL: never
    revoked_at timestamptz
);
-- Of the tokens that were not revoked each has its own name; a new one may follow an old one.
CREATE UNIQUE INDEX tokens_by_name ON cardbox.tokens (name) WHERE revoked_at IS NULL;

-- Counts the changes of the list, so that servers can ask often and cheaply whether there was one. A
-- counter in a row and not a time or a sequence: changes of it commit one after the other, so who has
-- seen a number has seen all up to it.
CREATE TABLE cardbox.token_changes (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    version bigint NOT NULL
);
INSERT INTO cardbox.token_changes (version) VALUES (0);

CREATE FUNCTION cardbox.count_token_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE cardbox.token_changes SET version = version + 1;
    RETURN NULL;
END
$$;
CREATE TRIGGER tokens_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON cardbox.tokens
    FOR EACH STATEMENT EXECUTE FUNCTION cardbox.count_token_change();
REVOKE EXECUTE ON FUNCTION cardbox.count_token_change() FROM PUBLIC;

-- The service reads; only the owner, who is a member of it too, makes and revokes: a server that was
-- broken into can't give itself rights. Workers see nothing of it.
ALTER TABLE cardbox.tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE cardbox.tokens FORCE ROW LEVEL SECURITY;
ALTER TABLE cardbox.token_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE cardbox.token_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON cardbox.tokens TO cardbox_service USING (true) WITH CHECK (true);
CREATE POLICY service ON cardbox.token_changes TO cardbox_service USING (true) WITH CHECK (true);
GRANT SELECT ON cardbox.tokens, cardbox.token_changes TO cardbox_service;

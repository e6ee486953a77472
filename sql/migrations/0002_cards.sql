-- Cards: units of content, unique per tenant. Content changes only by a repair, which is recorded.
-- needs: protect
-- needs: random_etag
-- needs: renew_card_etag
-- needs: refuse_change_of_sealed
CREATE TABLE cardbox.cards (
    tenant_id    text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    card_id      text COLLATE "C" NOT NULL CHECK (octet_length(card_id) BETWEEN 1 AND 512),
    content      json NOT NULL, -- the exact text. SQL programs: cardbox.card_text(content)
    tool_calls   jsonb,
    tool_call_id text COLLATE "C" CHECK (octet_length(tool_call_id) <= 512),
    ttl_seconds  integer,
    expires_at   timestamptz, -- fixed at first insert
    deleted_at   timestamptz, -- soft delete
    metadata     jsonb,
    created_at   timestamptz NOT NULL,
    etag         bigint NOT NULL DEFAULT cardbox.random_etag() CHECK (etag > 0), -- new with each update
    sealed       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, card_id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
-- About that option, which all tables have that mainly grow: by default autovacuum visits new pages
-- when a fifth of the table is new. Until then index-only scans read the rows too, and nothing is
-- frozen. A fiftieth at a time is less work each time, and hardly more in all.

-- json and not jsonb: jsonb sorts keys, drops duplicates and rewrites numbers, and to parse it was 43 %
-- of the instructions of an insert. A server may be built without lz4.
DO $$
BEGIN
    ALTER TABLE cardbox.cards ALTER content SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;

-- One live tool.result for each call.
CREATE UNIQUE INDEX cards_one_result ON cardbox.cards (tenant_id, tool_call_id)
    WHERE metadata ->> 'type' = 'tool.result' AND deleted_at IS NULL AND tool_call_id IS NOT NULL;
CREATE INDEX cards_by_call ON cardbox.cards (tenant_id, tool_call_id)
    WHERE tool_call_id IS NOT NULL;
-- Lists. Cards of one time are sorted by their ids in the query. text_pattern_ops compares bytes: a
-- newer glibc or ICU can't change that order under the index, and plain equality finds rows by it too.
CREATE INDEX cards_by_time ON cardbox.cards (tenant_id, created_at);
CREATE INDEX cards_of_step ON cardbox.cards
    (tenant_id, (metadata ->> 'step_id') text_pattern_ops, created_at)
    WHERE metadata ->> 'step_id' IS NOT NULL;
CREATE INDEX cards_of_turn ON cardbox.cards
    (tenant_id, (metadata ->> 'agent_turn_id') text_pattern_ops, created_at)
    WHERE metadata ->> 'agent_turn_id' IS NOT NULL;
CREATE INDEX cards_of_trace ON cardbox.cards
    (tenant_id, (metadata ->> 'trace_id') text_pattern_ops, created_at)
    WHERE metadata ->> 'trace_id' IS NOT NULL;
CREATE INDEX cards_of_type ON cardbox.cards
    (tenant_id, (metadata ->> 'type') text_pattern_ops, created_at)
    WHERE metadata ->> 'type' IS NOT NULL;
-- What the collector removes.
CREATE INDEX cards_by_expiry ON cardbox.cards (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX cards_by_deletion ON cardbox.cards (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER cards_etag BEFORE UPDATE ON cardbox.cards
    FOR EACH ROW EXECUTE FUNCTION cardbox.renew_card_etag();
CREATE TRIGGER cards_sealed BEFORE UPDATE OR DELETE ON cardbox.cards
    FOR EACH ROW WHEN (OLD.sealed) EXECUTE FUNCTION cardbox.refuse_change_of_sealed();

-- What a repaired card contained before, so that repairs can be audited.
CREATE TABLE cardbox.card_revisions (
    tenant_id    text COLLATE "C" NOT NULL,
    card_id      text COLLATE "C" NOT NULL,
    revision     bigint NOT NULL, -- 1 is the oldest of its card
    replaced_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    content      json NOT NULL,
    tool_calls   jsonb,
    tool_call_id text COLLATE "C",
    ttl_seconds  integer,
    expires_at   timestamptz,
    metadata     jsonb,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, card_id, revision)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);

SELECT cardbox.protect('cardbox.cards', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE');
SELECT cardbox.protect('cardbox.card_revisions', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT');

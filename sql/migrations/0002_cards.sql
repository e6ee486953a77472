-- Cards: units of content, whose ids are unique within a tenant. A write of other content under the id of a stored card
-- stores the earlier content as a revision.
--
-- needs: protect
-- needs: random_etag
-- needs: renew_card_etag
-- needs: refuse_change_of_sealed
CREATE TABLE cardbox.cards (
    tenant_id    text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    card_id      text COLLATE "C" NOT NULL CHECK (octet_length(card_id) BETWEEN 1 AND 512),
    content      json COMPRESSION lz4 NOT NULL, -- the exact text; see cardbox.card_text()
    tool_calls   jsonb,
    tool_call_id text COLLATE "C" CHECK (octet_length(tool_call_id) <= 512),
    ttl_seconds  integer,
    expires_at   timestamptz, -- a repair of a live card does not change this time
    deleted_at   timestamptz, -- NULL: not deleted
    metadata     jsonb,
    created_at   timestamptz NOT NULL,
    etag         bigint NOT NULL DEFAULT cardbox.random_etag() CHECK (etag > 0), -- a new value with each update
    sealed       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, card_id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
-- Tables that mainly grow set autovacuum_vacuum_insert_scale_factor to a fiftieth. By default autovacuum processes new
-- pages when a fifth of the table is new. Until then, index-only scans also read the new pages of the table, and the
-- new rows are not frozen. Processing a fiftieth of the table at a time is less work each time, and hardly more work in
-- total.

-- The column content has the type json, because jsonb sorts keys, drops duplicate keys and rewrites numbers. Parsing
-- jsonb was also 43 % of the instructions of an insert.

-- Each call of a tool has at most one card of type tool.result that is not deleted.
CREATE UNIQUE INDEX cards_one_result ON cardbox.cards (tenant_id, tool_call_id)
    WHERE metadata ->> 'type' = 'tool.result' AND deleted_at IS NULL AND tool_call_id IS NOT NULL;
CREATE INDEX cards_by_call ON cardbox.cards (tenant_id, tool_call_id)
    WHERE tool_call_id IS NOT NULL;
-- The indexes cards_by_time and cards_of_* are for lists. A query sorts cards with equal times by their ids. The
-- operator class text_pattern_ops compares bytes, so a newer glibc or ICU can't change the order of an index. An index
-- with text_pattern_ops also finds rows by equality.
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
-- For gc.
CREATE INDEX cards_by_expiry ON cardbox.cards (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX cards_by_deletion ON cardbox.cards (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER cards_etag BEFORE UPDATE ON cardbox.cards
    FOR EACH ROW EXECUTE FUNCTION cardbox.renew_card_etag();
CREATE TRIGGER cards_sealed BEFORE UPDATE OR DELETE ON cardbox.cards
    FOR EACH ROW WHEN (OLD.sealed) EXECUTE FUNCTION cardbox.refuse_change_of_sealed();

-- Earlier contents of cards that were repaired or restored, for audits.
CREATE TABLE cardbox.card_revisions (
    tenant_id    text COLLATE "C" NOT NULL,
    card_id      text COLLATE "C" NOT NULL,
    revision     bigint NOT NULL, -- counted from 1, the oldest revision of the card
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

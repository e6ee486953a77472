-- Cards: immutable units of content, unique per tenant.
CREATE TABLE cardbox.cards (
    tenant_id    text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    card_id      text COLLATE "C" NOT NULL CHECK (octet_length(card_id) BETWEEN 1 AND 512),
    content      jsonb,        -- for SQL; what jsonb can't hold is replaced. NULL: not readable
    raw          json,         -- the content's exact text, which is what reads give
    tool_calls   jsonb,
    tool_call_id text COLLATE "C" CHECK (octet_length(tool_call_id) <= 512),
    ttl_seconds  integer,
    expires_at   timestamptz,  -- fixed at first insert
    deleted_at   timestamptz,  -- soft delete
    metadata     jsonb,
    created_at   timestamptz NOT NULL,
    sealed       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, card_id)
);

-- Why every card has both. Hardly a text that clients send comes back from jsonb to the byte: it
-- sorts keys, drops duplicates, writes exponents out. And printing jsonb is most of what a read costs
-- PostgreSQL: a page of 50 cards of 2 KB is read twice as fast from raw, measured. What it takes is
-- disk; lz4, where the server has it, makes both together as large as pglz made one.
DO $$
BEGIN
    ALTER TABLE cardbox.cards ALTER content SET COMPRESSION lz4, ALTER raw SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;

-- One live tool.result a call.
CREATE UNIQUE INDEX cards_one_result ON cardbox.cards (tenant_id, tool_call_id)
    WHERE metadata ->> 'type' = 'tool.result' AND deleted_at IS NULL AND tool_call_id IS NOT NULL;
CREATE INDEX cards_by_time ON cardbox.cards (tenant_id, created_at, card_id);
CREATE INDEX cards_by_call ON cardbox.cards (tenant_id, tool_call_id)
    WHERE tool_call_id IS NOT NULL;
CREATE INDEX cards_by_step ON cardbox.cards
    (tenant_id, (metadata ->> 'step_id'), created_at, card_id)
    WHERE metadata ->> 'step_id' IS NOT NULL;
CREATE INDEX cards_by_turn ON cardbox.cards
    (tenant_id, (metadata ->> 'agent_turn_id'), created_at, card_id)
    WHERE metadata ->> 'agent_turn_id' IS NOT NULL;
CREATE INDEX cards_by_trace ON cardbox.cards
    (tenant_id, (metadata ->> 'trace_id'), created_at, card_id)
    WHERE metadata ->> 'trace_id' IS NOT NULL;
CREATE INDEX cards_by_type ON cardbox.cards
    (tenant_id, (metadata ->> 'type'), created_at, card_id)
    WHERE metadata ->> 'type' IS NOT NULL;
-- How common a step or a type is, which PostgreSQL doesn't learn from a partial index: without, a
-- list is sorted where an index has it in order.
CREATE STATISTICS cardbox.cards_step ON (metadata ->> 'step_id') FROM cardbox.cards;
CREATE STATISTICS cardbox.cards_turn ON (metadata ->> 'agent_turn_id') FROM cardbox.cards;
CREATE STATISTICS cardbox.cards_trace ON (metadata ->> 'trace_id') FROM cardbox.cards;
CREATE STATISTICS cardbox.cards_type ON (metadata ->> 'type') FROM cardbox.cards;
CREATE INDEX cards_by_expiry ON cardbox.cards (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX cards_by_deletion ON cardbox.cards (deleted_at) WHERE deleted_at IS NOT NULL;

-- What a repaired card said before: "immutable" stays auditable.
CREATE TABLE cardbox.card_revisions (
    tenant_id    text COLLATE "C" NOT NULL,
    card_id      text COLLATE "C" NOT NULL,
    revision     bigint NOT NULL, -- 1 is the oldest of its card
    replaced_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    content      jsonb,
    raw          json,
    tool_calls   jsonb,
    tool_call_id text COLLATE "C",
    ttl_seconds  integer,
    expires_at   timestamptz,
    metadata     jsonb,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, card_id, revision)
);

-- A sealed card never changes again. What is dead, by expiry or by an import's deletion, may be removed
-- or be brought back, with the same content and sealed as before.
CREATE FUNCTION cardbox.refuse_change_of_sealed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.deleted_at IS NOT NULL OR OLD.expires_at <= clock_timestamp() THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        IF NEW.sealed AND NEW.tenant_id = OLD.tenant_id AND NEW.card_id = OLD.card_id
           AND NEW.content IS NOT DISTINCT FROM OLD.content
           AND NEW.raw::text IS NOT DISTINCT FROM OLD.raw::text
           AND NEW.metadata IS NOT DISTINCT FROM OLD.metadata
           AND NEW.tool_calls IS NOT DISTINCT FROM OLD.tool_calls
           AND NEW.tool_call_id IS NOT DISTINCT FROM OLD.tool_call_id THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'card % is sealed', OLD.card_id USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER cards_sealed BEFORE UPDATE OR DELETE ON cardbox.cards
    FOR EACH ROW WHEN (OLD.sealed) EXECUTE FUNCTION cardbox.refuse_change_of_sealed();

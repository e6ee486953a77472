-- Boxes: ordered lists of card ids, stored in pieces. Ids at positions below length / 64 * 64 lie in
-- sealed segments of 64 that never change. The others are the short tail in the head row. So an
-- append changes one small row, whatever the length of the box.
-- needs: protect
-- needs: is_id_list
-- needs: id_key
-- needs: id_keys
-- needs: chain_segments
-- needs: all_ids

-- PostgreSQL parses the CHECKs of a table again for each statement that writes to the table: 14,000
-- instructions for each comparison. It checks the type of a column only if a statement sets the column.
-- So rules for columns that an append does not set are in types.
CREATE DOMAIN cardbox.id_list AS jsonb CHECK (cardbox.is_id_list(VALUE));
CREATE DOMAIN cardbox.segment_start AS bigint CHECK (VALUE >= 0 AND VALUE % 64 = 0);
CREATE DOMAIN cardbox.box_op AS text CHECK (VALUE IN ('create', 'append', 'replace', 'fork'));

-- The heads. An append updates its head row: half of each page stays free for the new version of a
-- row, so that no index is written (HOT). A tail is kept in the row up to 8 kB.
-- autovacuum comes when a fiftieth of the rows is dead: dead versions slow each look-up.
CREATE TABLE cardbox.card_boxes (
    tenant_id  text COLLATE "C" NOT NULL,
    box_id     uuid NOT NULL,
    chain_id   uuid NOT NULL,
    own_from   cardbox.segment_start NOT NULL DEFAULT 0, -- positions below belong to the parents of the chain
    length     bigint NOT NULL,
    version    bigint NOT NULL,
    tail       jsonb NOT NULL,            -- ids from length / 64 * 64 on
    parent_ids cardbox.id_list NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (tenant_id, box_id),
    -- A tail has ids only. The largest length is CARDBOX_BOX_IDS_MAX in cardbox/limits.h.
    CONSTRAINT card_boxes_limits
    CHECK (octet_length(tenant_id) BETWEEN 1 AND 255 AND version >= 1 AND length BETWEEN own_from AND 2147483647
           AND jsonb_array_length(tail) = length % 64
           AND NOT tail @? 'strict $[*] ? (@.type() != "string")')
) WITH (fillfactor = 50, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX card_boxes_by_chain ON cardbox.card_boxes (tenant_id, chain_id);
-- For lists. Only their statements have this condition: with deleted_at IS NULL PostgreSQL took the
-- index for the best one to look up single boxes in, which it is not.
CREATE INDEX card_boxes_live ON cardbox.card_boxes (tenant_id, created_at, box_id)
    WHERE CASE WHEN deleted_at IS NULL THEN true ELSE false END;
CREATE INDEX card_boxes_by_deletion ON cardbox.card_boxes (deleted_at) WHERE deleted_at IS NOT NULL;

-- Sealed runs of 64 ids. The last run of a chain that its box has left may be shorter.
CREATE TABLE cardbox.card_box_segments (
    tenant_id text COLLATE "C" NOT NULL,
    chain_id  uuid NOT NULL,
    start     bigint NOT NULL, -- position of the first id, a multiple of 64
    card_ids  jsonb NOT NULL,
    PRIMARY KEY (tenant_id, chain_id, start),
    CHECK (start >= 0 AND start % 64 = 0 AND cardbox.is_id_list(card_ids)
           AND jsonb_array_length(card_ids) BETWEEN 1 AND 64)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
-- lz4 compresses ids as well as pglz in a third of the time.
DO $$
BEGIN
    ALTER TABLE cardbox.card_box_segments ALTER card_ids SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;
CREATE INDEX card_box_segments_by_card
    ON cardbox.card_box_segments USING gin (cardbox.id_keys(tenant_id, card_ids));

-- A fork continues its parent's chain: positions below parent_length (a multiple of 64) are the
-- parent's. A chain without a parent has no row. A fork that would be deeper than 256 copies the
-- segments instead, so a read never climbs further.
CREATE TABLE cardbox.card_box_chains (
    tenant_id       text COLLATE "C" NOT NULL,
    chain_id        uuid NOT NULL,
    parent_chain_id uuid NOT NULL,
    parent_length   bigint NOT NULL,
    depth           integer NOT NULL CHECK (depth BETWEEN 1 AND 256),
    PRIMARY KEY (tenant_id, chain_id),
    CHECK (parent_length > 0 AND parent_length % 64 = 0)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX card_box_chains_by_parent
    ON cardbox.card_box_chains (tenant_id, parent_chain_id, parent_length);

-- One small row for each change. At a version the box was the first `length` ids of `chain_id`.
CREATE TABLE cardbox.card_box_log (
    tenant_id      text COLLATE "C" NOT NULL,
    box_id         uuid NOT NULL,
    version        bigint NOT NULL,
    op             cardbox.box_op NOT NULL,
    chain_id       uuid NOT NULL,
    length         bigint NOT NULL,
    added          bigint NOT NULL,
    append_key     text COLLATE "C",
    request_digest bytea,
    at             timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, box_id, version),
    CHECK (version >= 1 AND length >= 0 AND added >= 0 AND octet_length(append_key) BETWEEN 1 AND 512)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE UNIQUE INDEX card_box_log_by_key ON cardbox.card_box_log (tenant_id, box_id, append_key)
    WHERE append_key IS NOT NULL;

-- Every box with its whole list, for people with psql.
CREATE VIEW cardbox.boxes WITH (security_invoker = true) AS
SELECT b.tenant_id, b.box_id,
       cardbox.all_ids(b.tenant_id, b.chain_id, b.own_from, b.length, b.tail) AS card_ids,
       b.length, b.version, b.parent_ids, b.created_at, b.updated_at
  FROM cardbox.card_boxes b WHERE b.deleted_at IS NULL;
GRANT SELECT ON cardbox.boxes TO cardbox_service, cardbox_worker;

-- Segments, chains and log rows never change. Workers write by functions only: see README.md.
SELECT cardbox.protect('cardbox.card_boxes', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE');
SELECT cardbox.protect(t, service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT', writer => 'SELECT, INSERT')
  FROM unnest(ARRAY['cardbox.card_box_segments', 'cardbox.card_box_chains', 'cardbox.card_box_log']::regclass[]) AS t;

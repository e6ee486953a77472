-- Boxes: ordered lists of card ids. Ids at positions below length / 64 * 64 (integer division) are in segments of 64
-- ids, which never change. The other ids are the tail, a column of the row of the box. The row of a box is called its
-- head. An append changes the head, and every 64 ids adds a segment, so the cost of an append does not depend on the
-- length of the box.
--
-- needs: protect
-- needs: is_id_list
-- needs: id_key
-- needs: id_keys
-- needs: chain_segments
-- needs: all_ids

-- PostgreSQL parses the CHECK constraints of a table for each statement that writes to the table, which costs 14,000
-- instructions for each comparison in a constraint. The constraint of a domain is checked only if a statement sets a
-- column of this domain. So some rules for single columns are in domains.
CREATE DOMAIN cardbox.id_list AS jsonb CHECK (cardbox.is_id_list(VALUE));
CREATE DOMAIN cardbox.segment_start AS bigint CHECK (VALUE >= 0 AND VALUE % 64 = 0);
CREATE DOMAIN cardbox.box_op AS text CHECK (VALUE IN ('create', 'append', 'replace', 'fork'));

-- The heads of boxes. Half of each page stays free for the new row versions of appends, so that an append usually
-- writes no index (HOT). A tail of up to 8 kB stays in the row. Autovacuum runs when a fiftieth of the rows is dead,
-- because dead row versions slow down each look-up of a box.
CREATE TABLE cardbox.card_boxes (
    tenant_id  text COLLATE "C" NOT NULL,
    box_id     uuid NOT NULL,
    chain_id   uuid NOT NULL,
    own_from   cardbox.segment_start NOT NULL DEFAULT 0, -- positions below own_from are in the parents of chain_id
    length     bigint NOT NULL,
    version    bigint NOT NULL,
    tail       jsonb NOT NULL,            -- the ids from position length / 64 * 64 on
    parent_ids cardbox.id_list NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (tenant_id, box_id),
    -- The maximum length of a box is also CARDBOX_BOX_IDS_MAX in cardbox/limits.h.
    CONSTRAINT card_boxes_limits
    CHECK (octet_length(tenant_id) BETWEEN 1 AND 255 AND version >= 1 AND length BETWEEN own_from AND 2147483647
           AND jsonb_array_length(tail) = length % 64
           AND NOT tail @? 'strict $[*] ? (@.type() != "string")')
) WITH (fillfactor = 50, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02);
-- The index card_boxes_live is for lists. Only statements for lists have the unusual condition of this index. With the
-- condition `deleted_at IS NULL` PostgreSQL also used this index to look up single boxes, for which the primary key is
-- better.
CREATE INDEX card_boxes_live ON cardbox.card_boxes (tenant_id, created_at, box_id)
    WHERE CASE WHEN deleted_at IS NULL THEN true ELSE false END;
CREATE INDEX card_boxes_by_deletion ON cardbox.card_boxes (deleted_at) WHERE deleted_at IS NOT NULL;

-- Segments of 64 ids. If the list of a box was replaced, the last segment of its earlier chain may have fewer ids.
CREATE TABLE cardbox.card_box_segments (
    tenant_id text COLLATE "C" NOT NULL,
    chain_id  uuid NOT NULL,
    start     bigint NOT NULL, -- position of the first id, a multiple of 64
    card_ids  jsonb COMPRESSION lz4 NOT NULL, -- lz4 compresses as well as pglz, in a third of the time
    PRIMARY KEY (tenant_id, chain_id, start),
    CHECK (start >= 0 AND start % 64 = 0 AND cardbox.is_id_list(card_ids)
           AND jsonb_array_length(card_ids) BETWEEN 1 AND 64)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX card_box_segments_by_card
    ON cardbox.card_box_segments USING gin (cardbox.id_keys(tenant_id, card_ids));

-- The chain of a fork usually continues the chain of the original box, which is then called the parent chain. The ids
-- at positions below parent_length, a multiple of 64, are in the parent chain. A chain without a parent chain has no
-- row. If a fork would have a depth of more than 256, it copies the segments instead, to limit the number of chains
-- that a read visits.
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

-- The log of boxes has one row for each change of the list of a box. At the row's version, the box consisted of the
-- first `length` ids of the chain `chain_id`.
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

-- The view shows each box that is not deleted with its whole list, for people who use psql.
CREATE VIEW cardbox.boxes WITH (security_invoker = true) AS
SELECT b.tenant_id, b.box_id,
       cardbox.all_ids(b.tenant_id, b.chain_id, b.own_from, b.length, b.tail) AS card_ids,
       b.length, b.version, b.parent_ids, b.created_at, b.updated_at
  FROM cardbox.card_boxes b WHERE b.deleted_at IS NULL;
GRANT SELECT ON cardbox.boxes TO cardbox_service, cardbox_worker;

-- Segments, chains and rows of the log never change, so cardbox_writer may not update them. Workers write only with
-- functions: see README.md.
SELECT cardbox.protect('cardbox.card_boxes', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE');
SELECT cardbox.protect(t, service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT', writer => 'SELECT, INSERT')
  FROM unnest(ARRAY['cardbox.card_box_segments', 'cardbox.card_box_chains', 'cardbox.card_box_log']::regclass[]) AS t;

-- Whether a value is an array of strings, as every list of ids must be. Not in the language sql: such a
-- body in a CHECK is parsed and planned again for every statement that writes, which was an eighth of
-- what an append costs.
CREATE FUNCTION cardbox.is_id_list(ids jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN jsonb_typeof(ids) = 'array' AND NOT ids @? 'strict $[*] ? (@.type() != "string")';
END
$$;

-- Boxes: ordered lists of card ids, in pieces. Ids at positions below length / 64 * 64 lie in
-- sealed segments of 64 that never change; the rest is the short tail in the head row. So an append
-- touches one small row whatever the length of the box.
CREATE TABLE cardbox.card_boxes (
    tenant_id  text COLLATE "C" NOT NULL,
    box_id     uuid NOT NULL,
    chain_id   uuid NOT NULL,
    own_from   bigint NOT NULL DEFAULT 0, -- positions below belong to the parents of the chain
    length     bigint NOT NULL,
    version    bigint NOT NULL,
    tail       jsonb NOT NULL,            -- ids from length / 64 * 64 on
    parent_ids jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (tenant_id, box_id),
    CHECK (version >= 1 AND length >= 0 AND own_from BETWEEN 0 AND length AND own_from % 64 = 0
           AND jsonb_typeof(tail) = 'array' AND jsonb_array_length(tail) = length % 64)
) WITH (fillfactor = 50, toast_tuple_target = 8160);

-- What an append doesn't change needs no look at each append, as a CHECK would take it: every CHECK is
-- read and compiled anew for each statement, which is a sixth of what an append costs.
CREATE FUNCTION cardbox.check_box() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF octet_length(NEW.tenant_id) NOT BETWEEN 1 AND 255 OR NOT cardbox.is_id_list(NEW.parent_ids) THEN
        RAISE EXCEPTION 'a box has a tenant of 1 to 255 bytes and parent_ids that are an array of strings'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER card_boxes_checked BEFORE INSERT OR UPDATE OF tenant_id, parent_ids
    ON cardbox.card_boxes FOR EACH ROW EXECUTE FUNCTION cardbox.check_box();
CREATE INDEX card_boxes_by_chain ON cardbox.card_boxes (tenant_id, chain_id);
CREATE INDEX card_boxes_by_time ON cardbox.card_boxes (tenant_id, created_at, box_id);

-- Sealed runs of 64 ids; the last run of a chain that its box has left may be shorter.
CREATE TABLE cardbox.card_box_segments (
    tenant_id text COLLATE "C" NOT NULL,
    chain_id  uuid NOT NULL,
    start     bigint NOT NULL, -- position of the first id, a multiple of 64
    card_ids  jsonb NOT NULL,
    PRIMARY KEY (tenant_id, chain_id, start),
    CHECK (start >= 0 AND start % 64 = 0 AND cardbox.is_id_list(card_ids)
           AND jsonb_array_length(card_ids) BETWEEN 1 AND 64)
);

-- A fork continues its parent's chain: positions below parent_length (a multiple of 64) are the
-- parent's. Chains without a parent have no row. A fork that would be deeper than 256 copies the
-- segments instead: so a read never climbs further, whatever a row says.
CREATE TABLE cardbox.card_box_chains (
    tenant_id       text COLLATE "C" NOT NULL,
    chain_id        uuid NOT NULL,
    parent_chain_id uuid NOT NULL,
    parent_length   bigint NOT NULL,
    depth           integer NOT NULL CHECK (depth BETWEEN 1 AND 256),
    PRIMARY KEY (tenant_id, chain_id),
    CHECK (parent_length > 0 AND parent_length % 64 = 0)
);
CREATE INDEX card_box_chains_by_parent
    ON cardbox.card_box_chains (tenant_id, parent_chain_id, parent_length);

-- One small row a change. What the box was at a version is the first `length` ids of `chain_id`.
CREATE TABLE cardbox.card_box_log (
    tenant_id      text COLLATE "C" NOT NULL,
    box_id         uuid NOT NULL,
    version        bigint NOT NULL,
    op             text NOT NULL,
    chain_id       uuid NOT NULL,
    length         bigint NOT NULL,
    added          bigint NOT NULL,
    append_key     text COLLATE "C",
    request_digest bytea,
    at             timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, box_id, version),
    CHECK (version >= 1 AND length >= 0 AND added >= 0
           AND op IN ('create', 'append', 'replace', 'fork')
           AND (append_key IS NULL OR octet_length(append_key) BETWEEN 1 AND 512))
);
CREATE UNIQUE INDEX card_box_log_by_key ON cardbox.card_box_log (tenant_id, box_id, append_key)
    WHERE append_key IS NOT NULL;

-- The version that a box had at a moment; NULL: it was not there yet. Found by halving: versions are
-- dense and times never run against them, so that the primary key does for both.
CREATE FUNCTION cardbox.version_at(tenant text, box uuid, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    below  bigint; -- was then, or is before the log begins
    above  bigint; -- was not yet
    middle bigint;
    first  bigint;
    early  boolean;
BEGIN
    SELECT min(l.version), max(l.version) + 1 INTO first, above
      FROM cardbox.card_box_log l WHERE l.tenant_id = tenant AND l.box_id = box;
    below := first - 1;
    WHILE above - below > 1 LOOP
        middle := (below + above) / 2;
        SELECT l.at <= moment INTO early FROM cardbox.card_box_log l
         WHERE l.tenant_id = tenant AND l.box_id = box AND l.version = middle;
        IF early THEN
            below := middle;
        ELSE
            above := middle;
        END IF;
    END LOOP;
    RETURN CASE WHEN below >= first THEN below END;
END
$$;

-- Index keys of card ids: hashes that carry the tenant, so that one tenant's ids never meet
-- another's in the index.
CREATE FUNCTION cardbox.id_key(tenant text, id text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended(tenant || E'\x1f' || id, 0)
$$;

CREATE FUNCTION cardbox.id_keys(tenant text, ids jsonb) RETURNS bigint[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(cardbox.id_key(tenant, e.id)) FROM jsonb_array_elements_text(ids) AS e(id)
$$;
CREATE INDEX card_box_segments_by_card
    ON cardbox.card_box_segments USING gin (cardbox.id_keys(tenant_id, card_ids));

-- The ids of an array from one position, from 0, up to before another.
CREATE FUNCTION cardbox.slice_ids(ids jsonb, from_pos bigint, before_pos bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_agg(e.id ORDER BY e.place), '[]')
      FROM jsonb_array_elements(ids) WITH ORDINALITY AS e(id, place)
     WHERE e.place > from_pos AND e.place <= before_pos
$$;

-- The sealed segments that cover positions from_pos to before_pos of a chain, its own and those of
-- the chains that it continues. The first may begin before from_pos, the last end after before_pos.
-- OFFSET 0 keeps each step to a look into the index: joined freely, the planner reads a whole table
-- for the few rows of a lineage, however long the table's boxes are.
CREATE FUNCTION cardbox.chain_segments(
    tenant text, chain uuid, own_from bigint, from_pos bigint, before_pos bigint)
RETURNS TABLE (start bigint, card_ids jsonb)
LANGUAGE sql STABLE AS $$
    SELECT s.start, s.card_ids
      FROM cardbox.card_box_segments s
     WHERE s.tenant_id = tenant AND s.chain_id = chain
       AND s.start > from_pos - 64 AND s.start < before_pos
    UNION ALL
    SELECT s.start, s.card_ids
      FROM (WITH RECURSIVE lineage AS (
                SELECT c.parent_chain_id AS chain_id, c.parent_length AS ceiling, 1 AS climbed
                  FROM cardbox.card_box_chains c
                 WHERE c.tenant_id = tenant AND c.chain_id = chain AND from_pos < own_from
                UNION ALL
                SELECT c.parent_chain_id, least(l.ceiling, c.parent_length), l.climbed + 1
                  FROM lineage l
                 CROSS JOIN LATERAL (
                        SELECT p.parent_chain_id, p.parent_length
                          FROM cardbox.card_box_chains p
                         WHERE p.tenant_id = tenant AND p.chain_id = l.chain_id OFFSET 0) AS c
                 WHERE from_pos < least(l.ceiling, c.parent_length) AND l.climbed < 256)
            SELECT * FROM lineage) AS l
     CROSS JOIN LATERAL (
            SELECT x.start, x.card_ids
              FROM cardbox.card_box_segments x
             WHERE x.tenant_id = tenant AND x.chain_id = l.chain_id
               AND x.start > from_pos - 64 AND x.start < least(l.ceiling, before_pos)
            OFFSET 0) AS s
$$;

-- Every box with its whole list, for people with psql. Not for workers before PostgreSQL 15, where
-- a view reads as its owner.
DO $$
BEGIN
    EXECUTE format($view$
        CREATE VIEW cardbox.boxes %s AS
        SELECT b.tenant_id, b.box_id,
               coalesce((SELECT jsonb_agg(e.id ORDER BY p.start, e.place)
                           FROM (SELECT * FROM cardbox.chain_segments(b.tenant_id, b.chain_id,
                                        b.own_from, 0, b.length)
                                 UNION ALL SELECT b.length / 64 * 64, b.tail) AS p
                          CROSS JOIN LATERAL jsonb_array_elements(p.card_ids)
                                WITH ORDINALITY AS e(id, place)), '[]') AS card_ids,
               b.length, b.version, b.parent_ids, b.created_at, b.updated_at
          FROM cardbox.card_boxes b WHERE b.deleted_at IS NULL $view$,
        CASE WHEN current_setting('server_version_num')::integer >= 150000
             THEN 'WITH (security_invoker = true)' ELSE '' END);
END
$$;

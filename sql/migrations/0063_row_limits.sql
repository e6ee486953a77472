-- A worker's database role may write any number into the rows of its projects. Programs that read such a
-- row check it themselves; these constraints refuse the row before that.
--
-- NOT VALID: new and changed rows are checked at once. VALIDATE would read the whole table under this
-- migration's exclusive lock, and would stop the migration where such a row is there already.

-- A tail has ids only. The largest length is CARDBOX_BOX_IDS_MAX in cardbox/limits.h.
ALTER TABLE cardbox.card_boxes ADD CONSTRAINT card_boxes_limits
    CHECK (length BETWEEN 0 AND 2147483647 AND jsonb_typeof(tail) = 'array'
           AND NOT tail @? 'strict $[*] ? (@.type() != "string")') NOT VALID;

-- kind: the kinds and roles of src/store/session/core/entry.h. depth: statements add up to 2^30 to it.
ALTER TABLE cardbox.session_entries ADD CONSTRAINT session_entries_limits
    CHECK (kind >= 0 AND kind % 256 < 16 AND kind / 256 < 7 AND depth BETWEEN 0 AND 1000000000) NOT VALID;

-- As in 0010, but a step that does not lead to a smaller depth ends the path: a cycle of parents had
-- no end before statement_timeout. Readers see that the path does not begin at depth 0.
CREATE OR REPLACE FUNCTION cardbox.session_path(tenant text, session text, from_seq bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE way AS (
        SELECT e.branch, e.depth FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = from_seq
        UNION ALL
        SELECT p.branch, p.depth
          FROM way w
         CROSS JOIN LATERAL (
                SELECT x.parent_seq FROM cardbox.session_entries x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.seq >= w.branch
                 ORDER BY x.seq LIMIT 1) AS f
         CROSS JOIN LATERAL (
                SELECT x.branch, x.depth FROM cardbox.session_entries x
                 WHERE x.tenant_id = tenant AND x.session_id = session AND x.seq >= f.parent_seq
                 ORDER BY x.seq LIMIT 1) AS p
         WHERE p.depth < w.depth
    )
    SELECT w.branch, least(lead(w.depth, 1, -1) OVER (ORDER BY w.depth DESC), 2147483646) + 1, w.depth
      FROM way w
$$;

-- As in 0044, but `first + most` is not computed: it is out of range for a large stored length.
CREATE OR REPLACE FUNCTION cardbox.boxes_wanted(
    tenants text[], box_ids uuid[], wants integer[], tails bigint[], skips bigint[], mosts bigint[],
    versions bigint[], lengths bigint[], times timestamptz[])
RETURNS TABLE (ord bigint, want integer, tenant_id text, parent_ids jsonb, created_at timestamptz,
               version bigint, chain_id uuid, own_from bigint, length bigint, updated_at timestamptz,
               tail jsonb, tail_start bigint, first bigint, before bigint, ids_first bigint, ids_before bigint)
LANGUAGE sql STABLE AS $$
    SELECT k.ord, k.want, b.tenant_id, b.parent_ids, b.created_at,
           h.version, h.chain_id, h.own_from, h.length, h.updated_at,
           CASE WHEN h.chain_id = b.chain_id THEN b.tail END AS tail,
           b.length / 64 * 64 AS tail_start,
           r.first, r.before,
           CASE WHEN k.want & 4 <> 0 THEN 0 ELSE r.first END AS ids_first,
           CASE WHEN k.want & 4 <> 0 THEN h.length ELSE r.before END AS ids_before
      FROM unnest((SELECT tenants), box_ids, wants, tails, skips, mosts, versions, lengths, times) WITH ORDINALITY
           AS k(tenant_id, box_id, want, tail, skip, most, at_version, at_length, at_time, ord)
      JOIN cardbox.card_boxes b
        ON b.tenant_id = k.tenant_id COLLATE "C" AND b.box_id = k.box_id AND b.deleted_at IS NULL
     CROSS JOIN LATERAL (
        SELECT b.version, b.chain_id, b.own_from, coalesce(k.at_length, b.length) AS length,
               b.updated_at
         WHERE k.at_version IS NULL AND k.at_time IS NULL
           AND (k.at_length IS NULL OR k.at_length <= b.length)
        UNION ALL
        SELECT l.version, l.chain_id, 9223372036854775807, l.length, l.at
          FROM cardbox.card_box_log l
         WHERE l.tenant_id = b.tenant_id AND l.box_id = b.box_id
           AND l.version = coalesce(k.at_version,
                                    cardbox.version_at(b.tenant_id, b.box_id, k.at_time))) AS h
     CROSS JOIN LATERAL (
        SELECT CASE WHEN k.tail IS NULL THEN greatest(least(k.skip, h.length), 0)
                    ELSE greatest(h.length - least(k.tail, h.length), 0) END AS first) AS f
     CROSS JOIN LATERAL (
        SELECT f.first, CASE WHEN k.tail IS NULL AND k.most < h.length - f.first THEN f.first + k.most
                             ELSE h.length END AS before) AS r
$$;

-- As in 0004, but a step leads to a smaller depth, as fork_box writes it: a cycle of chains gave each of
-- its segments up to 256 times.
CREATE OR REPLACE FUNCTION cardbox.chain_segments(
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
                SELECT c.parent_chain_id AS chain_id, c.parent_length AS ceiling, 1 AS climbed, c.depth
                  FROM cardbox.card_box_chains c
                 WHERE c.tenant_id = tenant AND c.chain_id = chain AND from_pos < own_from
                UNION ALL
                SELECT c.parent_chain_id, least(l.ceiling, c.parent_length), l.climbed + 1, c.depth
                  FROM lineage l
                 CROSS JOIN LATERAL (
                        SELECT p.parent_chain_id, p.parent_length, p.depth
                          FROM cardbox.card_box_chains p
                         WHERE p.tenant_id = tenant AND p.chain_id = l.chain_id OFFSET 0) AS c
                 WHERE from_pos < least(l.ceiling, c.parent_length) AND l.climbed < 256
                   AND c.depth < l.depth)
            SELECT * FROM lineage) AS l
     CROSS JOIN LATERAL (
            SELECT x.start, x.card_ids
              FROM cardbox.card_box_segments x
             WHERE x.tenant_id = tenant AND x.chain_id = l.chain_id
               AND x.start > from_pos - 64 AND x.start < least(l.ceiling, before_pos)
            OFFSET 0) AS s
$$;

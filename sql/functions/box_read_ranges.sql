-- box_read_ranges: returns the boxes and the ranges of positions that requests read. The file boxes_read.sql, a statement
-- that calls this function, explains the parallel arrays. PostgreSQL inlines the function.
CREATE OR REPLACE FUNCTION cardbox.box_read_ranges(
    tenants text[], box_ids uuid[], parts_lists integer[], tails bigint[], skips bigint[], max_lengths bigint[],
    versions bigint[], lengths bigint[], times timestamptz[])
RETURNS TABLE (ord bigint, parts integer, tenant_id text, parent_ids jsonb, created_at timestamptz,
               version bigint, chain_id uuid, own_from bigint, length bigint, updated_at timestamptz,
               tail jsonb, tail_start bigint, first bigint, before bigint, ids_first bigint, ids_before bigint,
               sealed boolean)
LANGUAGE sql STABLE
AS $$
    SELECT k.ord, k.parts, b.tenant_id, b.parent_ids, b.created_at,
           h.version, h.chain_id, h.own_from, h.length, h.updated_at,
           CASE WHEN h.chain_id = b.chain_id THEN b.tail END AS tail,
           b.length / 64 * 64 AS tail_start,
           r.first, r.before,
           CASE WHEN k.parts & 4 <> 0 THEN 0 ELSE r.first END AS ids_first,
           CASE WHEN k.parts & 4 <> 0 THEN h.length ELSE r.before END AS ids_before,
           b.sealed AND h.version = b.version -- the seal is the last change of a box
      FROM unnest(tenants, box_ids, parts_lists, tails, skips, max_lengths, versions, lengths, times) WITH ORDINALITY
           AS k(tenant_id, box_id, parts, tail, skip, max_ids, at_version, at_length, at_time, ord)
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
        SELECT f.first, CASE WHEN k.tail IS NULL AND k.max_ids < h.length - f.first THEN f.first + k.max_ids
                             ELSE h.length END AS before) AS r
$$;
GRANT EXECUTE ON FUNCTION cardbox.box_read_ranges TO cardbox_worker;

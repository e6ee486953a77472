-- gc_count: counts the rows and bytes that batches of gc_batch() would remove in all. It changes nothing. Ids
-- of deleted sessions are not counted.
CREATE OR REPLACE FUNCTION cardbox.gc_count(retention bigint) RETURNS cardbox.gc_totals
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE dead_cards AS (
        SELECT c.tenant_id, c.card_id, cardbox.card_bytes(c.content, c.metadata) AS bytes
          FROM cardbox.cards c
         WHERE (c.expires_at <= statement_timestamp()
                OR c.deleted_at <= statement_timestamp() - make_interval(secs => retention))
           AND NOT cardbox.card_is_used(c.tenant_id, c.card_id)
    ), dead_revisions AS (
        SELECT cardbox.card_bytes(r.content, r.metadata) AS bytes
          FROM dead_cards d
          JOIN cardbox.card_revisions r ON r.tenant_id = d.tenant_id AND r.card_id = d.card_id
    ), dead_boxes AS (
        SELECT b.tenant_id, b.box_id, b.chain_id, pg_column_size(b.*) AS bytes
          FROM cardbox.card_boxes b WHERE b.deleted_at <= statement_timestamp() - make_interval(secs => retention)
    ), dead_changes AS (
        SELECT d.tenant_id, l.chain_id, l.bytes
          FROM dead_boxes d -- LATERAL: the size of a joined row could differ from the size of the stored row
         CROSS JOIN LATERAL (SELECT x.chain_id, pg_column_size(x.*) AS bytes FROM cardbox.card_box_log x
                              WHERE x.tenant_id = d.tenant_id AND x.box_id = d.box_id ORDER BY x.version) AS l
    ), orphans AS (
        SELECT tenant_id, chain_id FROM dead_boxes
        UNION SELECT tenant_id, chain_id FROM dead_changes
        UNION SELECT tenant_id, chain_id FROM cardbox.card_box_orphans
    ), links AS ( -- chains that continue an orphan
        SELECT o.tenant_id, o.chain_id AS parent_id, c.chain_id, c.parent_length
          FROM orphans o
          JOIN cardbox.card_box_chains c ON c.tenant_id = o.tenant_id AND c.parent_chain_id = o.chain_id
    ), kept AS ( -- orphans that a chain in use continues, directly or through other orphans
        SELECT l.tenant_id, l.parent_id AS chain_id FROM links l
         WHERE (l.tenant_id, l.chain_id) NOT IN (SELECT o.tenant_id, o.chain_id FROM orphans o)
        UNION
        SELECT l.tenant_id, l.parent_id FROM kept k
          JOIN links l ON l.tenant_id = k.tenant_id AND l.chain_id = k.chain_id
    ), ceilings AS (
        SELECT o.tenant_id, o.chain_id, coalesce(max(l.parent_length), 0) AS ceiling
          FROM orphans o
          LEFT JOIN links l
            ON l.tenant_id = o.tenant_id AND l.parent_id = o.chain_id
           AND ((l.tenant_id, l.chain_id) NOT IN (SELECT x.tenant_id, x.chain_id FROM orphans x)
                OR (l.tenant_id, l.chain_id) IN (SELECT k.tenant_id, k.chain_id FROM kept k))
         GROUP BY o.tenant_id, o.chain_id
    ), dead_segments AS (
        SELECT pg_column_size(s.card_ids) AS bytes
          FROM ceilings t
          JOIN cardbox.card_box_segments s
            ON s.tenant_id = t.tenant_id AND s.chain_id = t.chain_id AND s.start >= t.ceiling
    ), dead_chains AS (
        SELECT c.bytes
          FROM orphans o
         CROSS JOIN LATERAL (SELECT pg_column_size(x.*) AS bytes FROM cardbox.card_box_chains x
                              WHERE x.tenant_id = o.tenant_id AND x.chain_id = o.chain_id LIMIT 1) AS c
         WHERE (o.tenant_id, o.chain_id) NOT IN (SELECT k.tenant_id, k.chain_id FROM kept k)
    ), dead_lines AS (
        SELECT x.entry_id, pg_column_size(x.*) AS bytes
          FROM cardbox.sessions s
          JOIN cardbox.session_lines x ON x.tenant_id = s.tenant_id AND x.session_id = s.session_id
         WHERE s.state = 'deleted'
    )
    SELECT ROW(false, false, 0,
               (SELECT count(*) FROM dead_cards), (SELECT coalesce(sum(bytes), 0) FROM dead_cards),
               (SELECT count(*) FROM dead_revisions), (SELECT coalesce(sum(bytes), 0) FROM dead_revisions),
               (SELECT count(*) FROM dead_boxes), (SELECT coalesce(sum(bytes), 0) FROM dead_boxes),
               (SELECT count(*) FROM dead_changes), (SELECT coalesce(sum(bytes), 0) FROM dead_changes),
               (SELECT count(*) FROM dead_segments), (SELECT coalesce(sum(bytes), 0) FROM dead_segments),
               (SELECT count(*) FROM dead_chains), (SELECT coalesce(sum(bytes), 0) FROM dead_chains),
               (SELECT count(entry_id) FROM dead_lines), (SELECT coalesce(sum(bytes), 0) FROM dead_lines))::cardbox.gc_totals
$$;

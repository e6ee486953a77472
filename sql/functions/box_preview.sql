-- box_preview: returns {"role","text"} of a box: the beginning of the text that describes the box. This is the
-- first text of a user among the first 8 cards of the box, otherwise the first text of any card among them. NULL: there
-- is no such text. Contents that are larger than 16 KiB on disk are left out.
CREATE OR REPLACE FUNCTION cardbox.box_preview(tenant text, box uuid) RETURNS json
LANGUAGE sql STABLE
AS $$
    SELECT row_to_json(t)
      FROM (SELECT b.chain_id, b.own_from, b.length / 64 * 64 AS tail_start, b.tail
              FROM cardbox.card_boxes b
             WHERE b.tenant_id = tenant AND b.box_id = box) AS b
     CROSS JOIN LATERAL cardbox.box_segments(tenant, b.chain_id, b.own_from, 0, 8, b.tail_start, b.tail) AS s
     CROSS JOIN LATERAL jsonb_array_elements_text(s.card_ids) WITH ORDINALITY AS e(id, ord)
     CROSS JOIN LATERAL (
            SELECT c.metadata ->> 'role' AS role, left(cardbox.card_text(c.content), 400) AS text
              FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = e.id COLLATE "C" AND c.deleted_at IS NULL
               AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
               AND pg_column_size(c.content) <= 16384
             LIMIT 1) AS t
     WHERE s.start + e.ord <= 8 AND t.text ~ '\S'
     ORDER BY t.role IS NOT DISTINCT FROM 'user' DESC, s.start, e.ord
     LIMIT 1
$$;
GRANT EXECUTE ON FUNCTION cardbox.box_preview TO cardbox_worker;

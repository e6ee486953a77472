-- Removes a batch of dead cards, of all tenants: expired ones, and deleted ones after the retention
-- period. For operators. One row: how many, and the bytes of what they say,
-- as they are stored: like gc_cards_count.
-- $1 int8  retention of deleted cards in seconds
-- $2 int8  most rows in this batch
WITH dead AS (
    (SELECT c.tenant_id, c.card_id FROM cardbox.cards c
      WHERE c.expires_at <= statement_timestamp() LIMIT $2::int8)
    UNION
    (SELECT c.tenant_id, c.card_id FROM cardbox.cards c
      WHERE c.deleted_at <= statement_timestamp() - make_interval(secs => $1::int8) LIMIT $2::int8)
), removed AS (
    DELETE FROM cardbox.cards c USING dead d
     WHERE c.tenant_id = d.tenant_id AND c.card_id = d.card_id
       -- once more, since the row may have been brought back while this waited for it
       AND (c.expires_at <= statement_timestamp()
            OR c.deleted_at <= statement_timestamp() - make_interval(secs => $1::int8))
    RETURNING coalesce(pg_column_size(c.content), 0) + coalesce(pg_column_size(c.raw), 0)
              + coalesce(pg_column_size(c.metadata), 0) AS bytes
)
SELECT count(*), coalesce(sum(r.bytes), 0)::int8 FROM removed r

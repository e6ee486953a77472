-- What gc_cards would remove in all. One row: how many, and the bytes of what they say.
-- $1 int8  retention of deleted cards in seconds
WITH dead AS (
    SELECT coalesce(pg_column_size(c.content), 0) + coalesce(pg_column_size(c.raw), 0)
         + coalesce(pg_column_size(c.metadata), 0) AS bytes
      FROM cardbox.cards c
     WHERE c.expires_at <= statement_timestamp()
        OR c.deleted_at <= statement_timestamp() - make_interval(secs => $1::int8)
)
SELECT count(*), coalesce(sum(d.bytes), 0)::int8 FROM dead d

-- What gc_cards would remove in all. One row: how many, and their bytes.
-- $1 int8  retention of deleted cards in seconds
SELECT count(*), coalesce(sum(pg_column_size(c.*)), 0)::int8
  FROM cardbox.cards c
 WHERE c.expires_at <= statement_timestamp()
    OR (c.deleted_at <= statement_timestamp() - make_interval(secs => $1::int8) AND NOT c.sealed)

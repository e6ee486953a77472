-- What lies where cards were last found in the table, without an index and without a join: 16 of them take
-- two thirds of the time that they do in cards_get_at. The places are guesses: whose card and which one
-- a row is, its reader compares with what was asked for, and asks cards_get_at where it is another or none.
-- What must hold of the cards stands outside, so that a place is all that they can be found by.
-- $1 text[] tenants whose cards they may be
-- $2 tid[]  places
-- The columns from card_id on are those of enum card_column in the C code, then the version, which is how
-- cards_versions knows it again.
SELECT c.tenant_id, c.card_id, coalesce(c.raw, c.content::text::json), c.tool_calls, c.tool_call_id,
       c.ttl_seconds, c.expires_at, c.metadata, c.created_at, c.sealed,
       c.place, (SELECT pg_postmaster_start_time()), (SELECT pg_last_wal_replay_lsn()), c.xid
  FROM (SELECT p.*, p.ctid AS place, p.xmin AS xid FROM cardbox.cards p WHERE p.ctid = ANY($2::tid[]) OFFSET 0) AS c
 WHERE c.tenant_id = ANY($1::text[]) AND c.content IS NOT NULL AND c.deleted_at IS NULL
   AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())

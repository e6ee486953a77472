-- As cards_placed, for a reader who has kept the cards: only which version of them lies there. What PostgreSQL
-- need not unpack and send is most of what a card costs: 16 of them take a third of the time.
-- $1 text[] tenants whose cards they may be
-- $2 tid[]  places
-- The columns from place on are those of struct card_version in the C code.
SELECT c.tenant_id, c.card_id, c.place, (SELECT pg_postmaster_start_time()), (SELECT pg_last_wal_replay_lsn()), c.xid
  FROM (SELECT p.*, p.ctid AS place, p.xmin AS xid FROM cardbox.cards p WHERE p.ctid = ANY($2::tid[]) OFFSET 0) AS c
 WHERE c.tenant_id = ANY($1::text[]) AND c.content IS NOT NULL AND c.deleted_at IS NULL
   AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())

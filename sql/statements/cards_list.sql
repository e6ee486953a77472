-- A page of cards, newest first: see the function, which says of each whether it is one of the page (1), and
-- whether the walk ended at it (2), or both (3).
-- $1 text  tenant
-- $2 text  step_id, $3 text type, $4 text trace_id, $5 text agent_turn_id, $6 text role; NULL: any
-- $7 text[]  tool call ids; NULL: any
-- $8 jsonb   members that the metadata must have; NULL: any
-- $9 timestamptz  created after, $10 timestamptz created before; NULL: any
-- $11 timestamptz, $12 text  the last row of the page before; NULL: from the newest
-- $13 int8   how many
-- $14 int8   how many are looked at
SELECT l.said, l.card_id, l.content, l.tool_calls, l.tool_call_id, l.ttl_seconds, l.expires_at, l.metadata,
       l.created_at, l.sealed
  FROM cardbox.list_cards($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text[], $8::jsonb,
                          $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::text, $13::int8,
                          $14::int8) AS l

-- Lists a page of cards, newest first: see the function list_cards. The first column is 1 if the card matches the
-- filters, 2 if the search ended at this card because of $14, 3 if both. A filter that is NULL matches all cards.
-- $1 text          tenant
-- $2 text          step_id
-- $3 text          type
-- $4 text          trace_id
-- $5 text          agent_turn_id
-- $6 text          role
-- $7 text[]        tool_call_ids
-- $8 jsonb         members that the metadata must have
-- $9 timestamptz   created_after
-- $10 timestamptz  created_before
-- $11 timestamptz  creation time of the last card of the previous page; NULL: the first page
-- $12 text         id of the last card of the previous page
-- $13 int8         maximum number of cards
-- $14 int8         maximum number of cards to examine
SELECT l.flags, l.card_id, l.content, l.tool_calls, l.tool_call_id, l.ttl_seconds, l.expires_at, l.metadata,
       l.created_at, l.sealed
  FROM cardbox.list_cards($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text[], $8::jsonb,
                          $9::timestamptz, $10::timestamptz, $11::timestamptz, $12::text, $13::int8,
                          $14::int8) AS l

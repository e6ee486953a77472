-- A page of cards, newest first. Planned anew each time: NULL parameters fall out of the plan, and
-- the index of the filter that is left is used. Of the rest, role has few values and a page of one is
-- soon found on the way along the cards by time; $8 goes the same way, which is slow for what is rare
-- in a large tenant. An index on all members would cost each insert several entries, and gives its
-- matches in no order, of all tenants: all of a common value, of whoever has it, would be read for one
-- page. What bounds the walk is the request's time, and the server's turns: see join_turns.c.
-- The first key of the order is the same in all rows. It names the index: behind row-level security
-- PostgreSQL does not see by itself that the filter, which is not leakproof, makes its key constant.
-- Without statistics PostgreSQL takes NULL for rare; of a CASE it thinks nothing, and so keeps to the index
-- that gives the order.
-- plan: each time
-- $1 text  tenant
-- $2 text  step_id, $3 text type, $4 text trace_id, $5 text agent_turn_id, $6 text role; NULL: any
-- $7 text[]  tool call ids; NULL: any
-- $8 jsonb   members that the metadata must have; NULL: any
-- $9 timestamptz  created after, $10 timestamptz created before; NULL: any
-- $11 timestamptz, $12 text  the last row of the page before; NULL: from the newest
-- $13 int8   how many
SELECT 1::int8, c.card_id, coalesce(c.raw, c.content::text::json), c.tool_calls, c.tool_call_id, c.ttl_seconds,
       c.expires_at, c.metadata, c.created_at, c.sealed
  FROM cardbox.cards c
 WHERE c.tenant_id = $1::text
   AND ($2::text IS NULL OR c.metadata ->> 'step_id' = $2::text)
   AND ($3::text IS NULL OR c.metadata ->> 'type' = $3::text)
   AND ($4::text IS NULL OR c.metadata ->> 'trace_id' = $4::text)
   AND ($5::text IS NULL OR c.metadata ->> 'agent_turn_id' = $5::text)
   AND ($6::text IS NULL OR c.metadata ->> 'role' = $6::text)
   AND ($7::text[] IS NULL OR c.tool_call_id = ANY ($7::text[]))
   AND ($8::jsonb IS NULL OR c.metadata @> $8::jsonb)
   AND ($9::timestamptz IS NULL OR c.created_at > $9::timestamptz)
   AND ($10::timestamptz IS NULL OR c.created_at < $10::timestamptz)
   AND ($11::timestamptz IS NULL OR (c.created_at, c.card_id) < ($11::timestamptz, $12::text))
   AND c.content IS NOT NULL AND CASE WHEN c.deleted_at IS NULL THEN true ELSE false END
   AND CASE WHEN c.expires_at IS NULL THEN true ELSE c.expires_at > statement_timestamp() END
 ORDER BY CASE WHEN $2::text IS NOT NULL THEN c.metadata ->> 'step_id'
               WHEN $5::text IS NOT NULL THEN c.metadata ->> 'agent_turn_id'
               WHEN $4::text IS NOT NULL THEN c.metadata ->> 'trace_id'
               WHEN $3::text IS NOT NULL THEN c.metadata ->> 'type' END DESC,
          c.created_at DESC, c.card_id DESC
 LIMIT $13::int8

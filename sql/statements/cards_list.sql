-- A page of cards, newest first. Planned anew each time: NULL parameters fall out of the plan, and one
-- index is walked: that of the calls, a step, a turn, a trace or a type, else that of all cards by time.
-- Everything else is asked of each card on the way, and of no more than $14 of them: a filter that hardly
-- any card meets gives a short page, and says where to go on. An index on all members of the metadata
-- would cost each insert several entries, and gives its matches in no order.
-- The first key of the order is the same in all rows. It names the index: behind row-level security
-- PostgreSQL does not see by itself that the filter, which is not leakproof, makes its key constant. (With a
-- worker's policy such a filter is no condition of an index at all: there the walk is not bounded by $14.)
-- Without statistics PostgreSQL expects a few cards of any filter, and would sort them. A BETWEEN that adds
-- nothing makes it expect none, for which the index that gives the order is best.
-- The order of the walk stays: nothing above it sorts. Columns: whether the card is one of the page (1),
-- and whether the walk ended at it (2), or both (3); and the card.
-- plan: each time
-- $1 text  tenant
-- $2 text  step_id, $3 text type, $4 text trace_id, $5 text agent_turn_id, $6 text role; NULL: any
-- $7 text[]  tool call ids; NULL: any
-- $8 jsonb   members that the metadata must have; NULL: any
-- $9 timestamptz  created after, $10 timestamptz created before; NULL: any
-- $11 timestamptz, $12 text  the last row of the page before; NULL: from the newest
-- $13 int8   how many
-- $14 int8   how many are looked at
SELECT CASE WHEN w.fits THEN 1 ELSE 0 END + CASE WHEN w.n = $14::int8 THEN 2 ELSE 0 END::int8, w.card_id,
       CASE WHEN w.fits THEN coalesce(w.raw, w.content::text::json) END,
       CASE WHEN w.fits THEN w.tool_calls END, w.tool_call_id, w.ttl_seconds, w.expires_at,
       CASE WHEN w.fits THEN w.metadata END, w.created_at, w.sealed
  FROM (SELECT o.*, row_number() OVER () AS n
          FROM (SELECT c.card_id, c.content, c.raw, c.tool_calls, c.tool_call_id, c.ttl_seconds, c.expires_at,
                       c.metadata, c.created_at, c.sealed,
                       c.content IS NOT NULL AND c.deleted_at IS NULL
                       AND (c.expires_at IS NULL OR c.expires_at > statement_timestamp())
                       AND ($2::text IS NULL OR c.metadata ->> 'step_id' = $2::text)
                       AND ($3::text IS NULL OR c.metadata ->> 'type' = $3::text)
                       AND ($4::text IS NULL OR c.metadata ->> 'trace_id' = $4::text)
                       AND ($5::text IS NULL OR c.metadata ->> 'agent_turn_id' = $5::text)
                       AND ($6::text IS NULL OR c.metadata ->> 'role' = $6::text)
                       AND ($8::jsonb IS NULL OR c.metadata @> $8::jsonb) AS fits
                  FROM cardbox.cards c,
                       LATERAL (SELECT CASE WHEN $7::text[] IS NOT NULL THEN NULL
                                            WHEN $2::text IS NOT NULL THEN c.metadata ->> 'step_id'
                                            WHEN $5::text IS NOT NULL THEN c.metadata ->> 'agent_turn_id'
                                            WHEN $4::text IS NOT NULL THEN c.metadata ->> 'trace_id'
                                            WHEN $3::text IS NOT NULL THEN c.metadata ->> 'type' END AS key,
                                       CASE WHEN $7::text[] IS NULL
                                            THEN coalesce($2::text, $5::text, $4::text, $3::text) END AS value) AS i
                 WHERE c.tenant_id = $1::text
                   AND ($7::text[] IS NULL OR c.tool_call_id = ANY ($7::text[]))
                   AND (i.value IS NULL OR i.key = i.value AND i.key BETWEEN i.value AND i.value)
                   AND ($9::timestamptz IS NULL OR $10::timestamptz IS NULL
                        OR c.tenant_id BETWEEN $1::text AND $1::text)
                   AND ($9::timestamptz IS NULL OR c.created_at > $9::timestamptz)
                   AND ($10::timestamptz IS NULL OR c.created_at < $10::timestamptz)
                   AND ($11::timestamptz IS NULL OR (c.created_at, c.card_id) < ($11::timestamptz, $12::text))
                 ORDER BY i.key DESC, c.created_at DESC, c.card_id DESC
                 LIMIT $14::int8) AS o) AS w
 WHERE w.fits OR w.n = $14::int8
 LIMIT $13::int8

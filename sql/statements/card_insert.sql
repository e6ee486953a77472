-- Adds a card that is new: one row. No row: something is in its way, and cards_add says what.
-- $1 text tenant, $2 text card id, $3 json content, $4 jsonb tool calls, $5 text tool call id,
-- $6 int4 ttl_seconds, $7 jsonb metadata, $8 timestamptz created_at, $9 timestamptz expires_at,
-- $10 timestamptz deleted_at, $11 bool sealed
INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_calls, tool_call_id, ttl_seconds,
                           expires_at, deleted_at, metadata, created_at, sealed)
SELECT $1::text, $2::text, $3::json, $4::jsonb, $5::text, $6::int4,
       coalesce($9::timestamptz, m.made + make_interval(secs => $6::int4)),
       $10::timestamptz, $7::jsonb, m.made, $11::bool
  FROM (SELECT coalesce($8::timestamptz, clock_timestamp()) AS made) AS m
ON CONFLICT DO NOTHING
RETURNING true

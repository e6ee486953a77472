-- Adds a card that is new: one row. No row: something is in its way, and cards_add says what.
-- $1 text tenant, $2 text card id, $3 json content, $4 jsonb projection or NULL, $5 jsonb tool calls,
-- $6 text tool call id, $7 int4 ttl_seconds, $8 jsonb metadata, $9 timestamptz created_at,
-- $10 timestamptz expires_at, $11 timestamptz deleted_at, $12 bool sealed
INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, tool_calls, tool_call_id, ttl_seconds,
                           expires_at, deleted_at, metadata, created_at, sealed)
SELECT $1::text, $2::text, coalesce($4::jsonb, $3::json::jsonb), $3::json, $5::jsonb, $6::text,
       $7::int4, coalesce($10::timestamptz, m.made + make_interval(secs => $7::int4)),
       $11::timestamptz, $8::jsonb, m.made, $12::bool
  FROM (SELECT coalesce($9::timestamptz, clock_timestamp()) AS made) AS m
ON CONFLICT DO NOTHING
RETURNING true

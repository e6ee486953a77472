-- card_bytes: the bytes of a card's values as they are stored, for the reports of the collector.
CREATE OR REPLACE FUNCTION cardbox.card_bytes(content json, metadata jsonb) RETURNS bigint
LANGUAGE sql STABLE
AS $$
    SELECT (pg_column_size(content) + coalesce(pg_column_size(metadata), 0))::bigint
$$;

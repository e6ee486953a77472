-- card_bytes: returns the stored size of a card's content and metadata in bytes, for the reports of gc.
CREATE OR REPLACE FUNCTION cardbox.card_bytes(content json, metadata jsonb) RETURNS bigint
LANGUAGE sql STABLE
AS $$
    SELECT (pg_column_size(content) + coalesce(pg_column_size(metadata), 0))::bigint
$$;

-- is_card_key: returns whether the ids of a card have valid lengths, which are also in cardbox/limits.h. PostgreSQL
-- inlines the function.
--   call  Id of the tool call to which the card belongs, or NULL.
CREATE OR REPLACE FUNCTION cardbox.is_card_key(tenant text, card text, call text) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT pg_catalog.octet_length(tenant) BETWEEN 1 AND 255 AND pg_catalog.octet_length(card) BETWEEN 1 AND 512
           AND (call IS NULL OR pg_catalog.octet_length(call) <= 512)
$$;

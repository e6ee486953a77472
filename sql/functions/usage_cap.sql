-- usage_cap: returns a sum of tokens, but at most 2^53. NULL stays NULL. PostgreSQL inlines the function.
CREATE OR REPLACE FUNCTION cardbox.usage_cap(total numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN total > 9007199254740992 THEN 9007199254740992 ELSE total END
$$;
GRANT EXECUTE ON FUNCTION cardbox.usage_cap TO cardbox_worker;

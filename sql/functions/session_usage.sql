-- session_usage: returns the sums of a session's usage in one row. The cost is NULL if no answer had one. PostgreSQL
-- inlines the function.
CREATE OR REPLACE FUNCTION cardbox.session_usage(tenant text, session text)
RETURNS TABLE (input_tokens bigint, cached_input_tokens bigint, output_tokens bigint, cost text)
LANGUAGE sql STABLE
AS $$
    SELECT coalesce(cardbox.usage_cap(sum(u.input_tokens)), 0)::bigint,
           coalesce(cardbox.usage_cap(sum(u.cached_input_tokens)), 0)::bigint,
           coalesce(cardbox.usage_cap(sum(u.output_tokens)), 0)::bigint, trim_scale(sum(u.cost))::text
      FROM cardbox.usage u
     WHERE u.tenant_id = tenant AND u.source = 'session' AND u.source_id = session
$$;
GRANT EXECUTE ON FUNCTION cardbox.session_usage TO cardbox_worker;

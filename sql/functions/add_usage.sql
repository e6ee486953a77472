-- add_usage: adds numbers of tokens to the sums of a session or a task, whose row the caller has locked.
--   given_source, id  The source: session or task, and its id; '': deleted sources.
--   used      An array of objects with the members model, input_tokens, cached_input_tokens and output_tokens. The
--             members cost and on_day may be absent: the default of the day is today in UTC.
--   outcomes  The member n of each object is an index from 1 in this array: only lines with the outcome appended count.
--             NULL: all objects count.
CREATE OR REPLACE FUNCTION cardbox.add_usage(tenant text, given_source text, id text, used jsonb, outcomes text[])
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO cardbox.usage AS u (tenant_id, source, source_id, on_day, model, input_tokens, cached_input_tokens,
           output_tokens, cost)
    SELECT tenant, given_source, id, g.on_day, g.model, cardbox.usage_cap(sum(g.input_tokens)),
           cardbox.usage_cap(sum(g.cached_input_tokens)), cardbox.usage_cap(sum(g.output_tokens)),
           cardbox.usage_cap(sum(g.cost))
      FROM (SELECT coalesce(x.on_day, (now() AT TIME ZONE 'UTC')::date) AS on_day, coalesce(x.model, '') AS model,
                   x.input_tokens, x.cached_input_tokens, x.output_tokens, round(x.cost, 12) AS cost
              FROM jsonb_to_recordset(used) AS x(
                   n integer, model text, input_tokens bigint, cached_input_tokens bigint, output_tokens bigint,
                   cost numeric, on_day date)
             WHERE outcomes IS NULL OR outcomes[x.n] = 'appended') AS g
     GROUP BY g.on_day, g.model
     ORDER BY g.on_day, g.model
    ON CONFLICT ON CONSTRAINT usage_pkey DO UPDATE
       SET input_tokens = cardbox.usage_cap(u.input_tokens + excluded.input_tokens),
           cached_input_tokens = cardbox.usage_cap(u.cached_input_tokens + excluded.cached_input_tokens),
           output_tokens = cardbox.usage_cap(u.output_tokens + excluded.output_tokens),
           cost = cardbox.usage_cap(coalesce(u.cost + excluded.cost, u.cost, excluded.cost));
END
$$;

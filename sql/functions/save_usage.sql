-- save_usage: writes sums of a project's export. A stored sum only grows, so that the same export can be imported again.
-- The arrays are parallel and have the columns of the table usage. Returns a row for each element, with its index from 1
-- and an outcome: created, updated, or unchanged: the stored sums are at least as large.
CREATE OR REPLACE FUNCTION cardbox.save_usage(
    tenant text, sources text[], source_ids text[], days text[], models text[], inputs bigint[], cached_inputs bigint[],
    outputs bigint[], costs text[])
RETURNS TABLE (number bigint, outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    RETURN QUERY
    WITH given AS (
        SELECT u.* FROM unnest(sources, source_ids, days, models, inputs, cached_inputs, outputs, costs)
               WITH ORDINALITY AS u(source, id, on_day, model, input, cached_input, output, cost, n)),
    saved AS (
        INSERT INTO cardbox.usage AS s (tenant_id, source, source_id, on_day, model, input_tokens, cached_input_tokens,
               output_tokens, cost)
        SELECT tenant, g.source, g.id, g.on_day::date, g.model, g.input, g.cached_input, g.output, g.cost::numeric
          FROM given g
         ORDER BY g.source, g.id, g.on_day, g.model
        ON CONFLICT ON CONSTRAINT usage_pkey DO UPDATE
           SET input_tokens = greatest(s.input_tokens, excluded.input_tokens),
               cached_input_tokens = greatest(s.cached_input_tokens, excluded.cached_input_tokens),
               output_tokens = greatest(s.output_tokens, excluded.output_tokens),
               cost = greatest(s.cost, excluded.cost)
         WHERE s.input_tokens < excluded.input_tokens OR s.cached_input_tokens < excluded.cached_input_tokens
            OR s.output_tokens < excluded.output_tokens OR coalesce(s.cost, -1) < coalesce(excluded.cost, -1)
        RETURNING s.source, s.source_id, s.on_day, s.model, s.xmax = 0 AS is_new)
    SELECT g.n, CASE WHEN s.is_new THEN 'created' WHEN s.is_new IS NOT NULL THEN 'updated' ELSE 'unchanged' END
      FROM given g
      LEFT JOIN saved s ON s.source = g.source AND s.source_id = g.id AND s.on_day = g.on_day::date AND s.model = g.model
     ORDER BY g.n;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.save_usage TO cardbox_worker;
ALTER FUNCTION cardbox.save_usage OWNER TO cardbox_writer;

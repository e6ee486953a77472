-- write_lines: writes lines to a session: by write_lines_behind() if possible, else by
-- write_session(), which documents the parameters and outcomes.
-- The first is called by a generic plan: a custom one has copies of all lines in it. Sequential
-- scans are off: a plan that was made for small tables is kept while they grow.
CREATE OR REPLACE FUNCTION cardbox.write_lines(
    tenant text, session text, import boolean, given_dialect integer, expected bigint, key text,
    seqs bigint[], ords integer[], ids text[], twins integer[], parents text[],
    parent_places integer[], kinds integer[], raws json[], befores bytea[], afters bytea[],
    targets text[], labels json[])
RETURNS TABLE (place integer, outcome integer, seq bigint, version bigint)
LANGUAGE plpgsql
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    n integer := coalesce(cardinality(kinds), 0);
BEGIN
    IF import AND n > 0 AND key IS NULL AND expected IS NULL AND seqs[n] - seqs[1] = n - 1
       AND 0 = ALL (ords) AND 0 = ALL (twins) AND NOT parent_places && '{-2,-4,-5}'
       AND -1 <> ALL (kinds) AND -2 <> ALL (kinds[2:]) THEN
        RETURN QUERY SELECT * FROM cardbox.write_lines_behind(
            tenant, session, given_dialect, seqs, ids, parents, parent_places, kinds, raws, befores,
            afters, targets, labels);
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM set_config('plan_cache_mode', 'auto', true); -- it looks things up: a plan for a small table must not stay
    RETURN QUERY SELECT * FROM cardbox.write_session(
        tenant, session, import, given_dialect, expected, key, seqs, ords, ids, twins, parents,
        parent_places, kinds, raws, befores, afters, targets, labels);
END
$$;
REVOKE ALL ON FUNCTION cardbox.write_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.write_lines TO cardbox_service, cardbox_worker;

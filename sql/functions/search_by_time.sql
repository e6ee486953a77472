-- search_by_time: finds documents that have all of the terms, newest first. Part of search_find(), which describes the
-- parameters. Contents are not cut, and PostgreSQL does not read them here.
--
-- The GIN index finds all documents with a word, in no order, which is slow for a word of many documents. So the
-- function first examines the newest documents. If they do not fill the page, it examines up to three periods, each just
-- before the previous one, and then all older documents. The length of a period is estimated from the hits so far: the
-- period probably fills the page. But its length is at most ten times the time from its end to the newest document. If
-- the period were more than a quarter of the remaining time, all older documents are examined instead.
CREATE OR REPLACE FUNCTION cardbox.search_by_time(
    tenant text, terms bigint[], created_after timestamptz, created_before timestamptz, from_time timestamptz,
    from_n bigint, page_size bigint, newest_max bigint)
RETURNS TABLE (kind text, id text, session_id text, task_id text, created_at timestamptz, n bigint, type text,
               role text, content json, tool_calls json)
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    after_time CONSTANT timestamptz := coalesce(created_after, '-infinity');
    -- documents before this position are examined; n = 0 is before all documents of the time
    before_time timestamptz := coalesce(least(from_time, created_before), 'infinity');
    before_n    bigint := CASE WHEN from_time <= coalesce(created_before, 'infinity') THEN from_n ELSE 0 END;
    max_n       CONSTANT bigint := 9223372036854775807; -- after all documents of a time
    newest_time timestamptz;
    oldest_time timestamptz;
    period      interval;
    begin_time  timestamptz; -- the period begins after this time
    hits        bigint;
    period_hits bigint;
BEGIN
    RETURN QUERY SELECT s.* FROM cardbox.search_in_newest(tenant, search_by_time.terms, after_time, before_time,
                                                          before_n, page_size, newest_max) AS s;
    GET DIAGNOSTICS hits = ROW_COUNT;
    IF hits >= page_size THEN
        RETURN;
    END IF;
    newest_time := (SELECT d.created_at FROM cardbox.search_documents d
                     WHERE d.tenant_id = tenant AND (d.created_at, d.n) < (before_time, before_n)
                     ORDER BY d.created_at DESC, d.n DESC LIMIT 1);
    oldest_time := greatest(after_time, (SELECT min(d.created_at) FROM cardbox.search_documents d
                                          WHERE d.tenant_id = tenant));
    -- the last document that search_in_newest() examined
    SELECT d.created_at, d.n INTO before_time, before_n FROM cardbox.search_documents d
     WHERE d.tenant_id = tenant AND (d.created_at, d.n) < (before_time, before_n) AND d.created_at > after_time
     ORDER BY d.created_at DESC, d.n DESC OFFSET newest_max - 1 LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    FOR i IN 1 .. 3 LOOP
        period := greatest(newest_time - before_time, interval '1 second')
                  * least(10, 2 * page_size / greatest(hits, 1));
        EXIT WHEN before_time - oldest_time < 4 * period;
        begin_time := before_time - period;
        RETURN QUERY SELECT s.* FROM cardbox.search_in_period(tenant, search_by_time.terms, begin_time, before_time,
                                                              before_n, page_size - hits) AS s;
        GET DIAGNOSTICS period_hits = ROW_COUNT;
        hits := hits + period_hits;
        IF hits >= page_size THEN
            RETURN;
        END IF;
        before_time := begin_time;
        before_n := max_n;
    END LOOP;
    IF created_after IS NULL THEN
        RETURN QUERY SELECT s.* FROM cardbox.search_in_rest(tenant, search_by_time.terms, before_time, before_n,
                                                            page_size - hits) AS s;
    ELSE
        RETURN QUERY SELECT s.* FROM cardbox.search_in_period(tenant, search_by_time.terms, after_time, before_time,
                                                              before_n, page_size - hits) AS s;
    END IF;
END
$$;

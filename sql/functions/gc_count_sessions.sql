-- gc_count_sessions: what batches of gc_sessions() would remove in all.
CREATE OR REPLACE FUNCTION cardbox.gc_count_sessions(OUT entries bigint, OUT entry_bytes bigint)
LANGUAGE sql STABLE
AS $$
    SELECT count(x.entry_id), coalesce(sum(pg_column_size(x.*)), 0)
      FROM cardbox.sessions s
      JOIN cardbox.session_lines x ON x.tenant_id = s.tenant_id AND x.session_id = s.session_id
     WHERE s.state = 'deleted'
$$;

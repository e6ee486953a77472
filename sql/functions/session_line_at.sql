-- session_line_at: the line at a position: an entry's, or one that is no entry.
CREATE OR REPLACE FUNCTION cardbox.session_line_at(
    tenant text, session text, at_seq bigint, at_ord integer,
    OUT entry_id text, OUT branch bigint, OUT depth integer, OUT bytes bytea)
LANGUAGE sql STABLE
AS $$
    SELECT e.entry_id, e.branch, e.depth, cardbox.session_line(e.before, c.content, e.after)
      FROM cardbox.session_entries e
      JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.card_id
     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = at_seq AND at_ord = 0
    UNION ALL
    SELECT NULL, NULL, NULL, k.bytes FROM cardbox.session_lines k
     WHERE k.tenant_id = tenant AND k.session_id = session AND k.seq = at_seq AND k.ord = at_ord
$$;
REVOKE ALL ON FUNCTION cardbox.session_line_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_line_at TO cardbox_service, cardbox_worker;

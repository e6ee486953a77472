-- is_named_line: whether a line is the entry's at a position as an export writes it: with its id,
-- its parent's id and the entry that it keeps added at the end, where a reader would take others.
CREATE OR REPLACE FUNCTION cardbox.is_named_line(tenant text, session text, at_seq bigint, given json)
RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN octet_length(given::text) > octet_length(c.content::text) THEN EXISTS (
               SELECT FROM (VALUES (''), (',"id":' || to_json(e.entry_id)::text)) AS i(id)
                CROSS JOIN (VALUES (''), (',"parentId":' || coalesce(
                            to_json(p.entry_id)::text, to_json(nullif(e.missing, ''))::text, 'null')))
                       AS u(parent)
                CROSS JOIN (VALUES (''), (',"firstKeptEntryId":' || coalesce(to_json(
                            cardbox.kept_entry(tenant, session, e.seq, e.target, c.content))::text, 'null')))
                       AS k(kept)
                WHERE given::text = left(c.content::text, -1) || i.id || u.parent || k.kept || '}')
           ELSE false END
      FROM cardbox.session_entries e
      JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.card_id
      LEFT JOIN cardbox.session_entries p
        ON p.tenant_id = tenant AND p.session_id = session AND p.seq = e.parent_seq
     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = at_seq
$$;
REVOKE ALL ON FUNCTION cardbox.is_named_line FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.is_named_line TO cardbox_service, cardbox_worker;

-- session_entry_rest: what an entry's row does not contain: its parent's id, its label, and its
-- line if wants_line. It is inlined, and columns that the caller does not use are not read. The
-- orders name the index that has the key: see session_path().
CREATE OR REPLACE FUNCTION cardbox.session_entry_rest(
    tenant text, session text, id text, parent bigint, card text, wants_line boolean)
RETURNS TABLE (parent_id text, label json, raw json)
LANGUAGE sql STABLE
AS $$
    SELECT (SELECT p.entry_id FROM cardbox.session_entries p
             WHERE p.tenant_id = tenant AND p.session_id = session AND p.seq BETWEEN parent AND parent
             ORDER BY p.seq LIMIT 1),
           (SELECT (array_agg(l.label ORDER BY l.seq DESC))[1] FROM cardbox.session_entries l
             WHERE l.tenant_id = tenant AND l.session_key = session AND l.target = id AND l.kind = 8),
           CASE WHEN wants_line THEN (
               SELECT c.content FROM cardbox.cards c
                WHERE c.tenant_id = tenant AND c.card_id BETWEEN card AND card
                ORDER BY c.card_id LIMIT 1) END
$$;
REVOKE ALL ON FUNCTION cardbox.session_entry_rest FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_entry_rest TO cardbox_service, cardbox_worker;

-- What an entry's row doesn't say itself: its parent's id, its label, and its line where that is wanted.
-- Written into the plan of whoever asks, and what he doesn't use is not read.
CREATE FUNCTION cardbox.session_entry_rest(
    tenant text, session text, id text, parent bigint, card text, wants_line boolean)
RETURNS TABLE (parent_id text, label json, raw json)
LANGUAGE sql STABLE AS $$
    SELECT (SELECT p.entry_id FROM cardbox.session_entries p
             WHERE p.tenant_id = tenant AND p.session_id = session AND p.seq = parent),
           (SELECT (array_agg(l.label ORDER BY l.seq DESC))[1] FROM cardbox.session_entries l
             WHERE l.tenant_id = tenant AND l.session_key = session AND l.target = id),
           (SELECT c.raw FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = card AND wants_line)
$$;

REVOKE EXECUTE ON FUNCTION cardbox.session_entry_rest FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_entry_rest TO cardbox_service, cardbox_worker;

-- An entry is found by its place with the index of places. PostgreSQL may take any index that begins with
-- the tenant where it knows nothing of a tenant so far, and reads all of that tenant's entries then: but
-- only that index gives them in their order.
CREATE OR REPLACE FUNCTION cardbox.session_entry_rest(
    tenant text, session text, id text, parent bigint, card text, wants_line boolean)
RETURNS TABLE (parent_id text, label json, raw json)
LANGUAGE sql STABLE AS $$
    SELECT (SELECT p.entry_id FROM cardbox.session_entries p
             WHERE p.tenant_id = tenant AND p.session_id = session AND p.seq BETWEEN parent AND parent
             ORDER BY p.seq LIMIT 1),
           (SELECT (array_agg(l.label ORDER BY l.seq DESC))[1] FROM cardbox.session_entries l
             WHERE l.tenant_id = tenant AND l.session_key = session AND l.target = id),
           (SELECT c.raw FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = card AND wants_line)
$$;

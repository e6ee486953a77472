-- restore_held_lines: restore_session_lines() with cards that nobody removes meanwhile. The
-- session's row is locked first.
CREATE OR REPLACE FUNCTION cardbox.restore_held_lines(
    tenant text, session text, seqs bigint[], ords integer[], ids text[], parents text[], kinds integer[],
    cards text[], befores bytea[], afters bytea[], targets text[], labels json[], lines bytea[],
    rings text[])
RETURNS TABLE (place bigint, outcome integer)
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM cardbox.restore_session_lines(tenant, session, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
                                          '{}', '{}', '{}', '{}');
    PERFORM FROM (SELECT u.id FROM unnest(cards) AS u(id) ORDER BY u.id COLLATE "C" OFFSET 0) AS k
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = k.id COLLATE "C" FOR KEY SHARE) AS c;
    RETURN QUERY
    SELECT r.place, r.outcome
      FROM cardbox.restore_session_lines(tenant, session, seqs, ords, ids, parents, kinds, cards, befores,
                                         afters, targets, labels, lines, rings) AS r;
END
$$;
REVOKE ALL ON FUNCTION cardbox.restore_held_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.restore_held_lines TO cardbox_service, cardbox_worker;

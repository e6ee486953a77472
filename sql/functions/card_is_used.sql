-- card_is_used: whether something still needs a card: a session's entry or a message. A session that
-- is being deleted needs none. Lists of boxes may name cards that are gone, so they do not count. The
-- caller has locked the card, and its statement began after that: see remove_unused_cards.
-- A range of one card, in order and without a sort, is read by the one index that has this order, also
-- by a plan that was made when there was next to nothing in the tables.
CREATE OR REPLACE FUNCTION cardbox.card_is_used(tenant text, card text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $$
BEGIN
    RETURN (SELECT e.card_id FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.card_id BETWEEN card AND card
               AND NOT EXISTS (SELECT FROM cardbox.session_remains r
                                WHERE r.tenant_id = tenant AND r.session_id = e.session_id
                                  AND NOT r.restoring OFFSET 0)
             ORDER BY e.card_id LIMIT 1) IS NOT NULL
        OR (SELECT m.message_id FROM cardbox.messages m
             WHERE m.tenant_id = tenant AND m.message_id BETWEEN card AND card
             ORDER BY m.message_id LIMIT 1) IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION cardbox.card_is_used FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.card_is_used TO cardbox_service, cardbox_worker;

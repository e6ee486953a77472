-- remove_unused_cards: removes those cards that are no entry of any session of the tenant and no
-- message. For why that is safe see remove_session_part().
CREATE OR REPLACE FUNCTION cardbox.remove_unused_cards(tenant text, ids text[]) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    unused text[];
BEGIN
    PERFORM FROM (SELECT u.id FROM unnest(ids) AS u(id) ORDER BY u.id COLLATE "C" OFFSET 0) AS k
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id BETWEEN k.id AND k.id
             ORDER BY c.card_id LIMIT 1 FOR UPDATE) AS c;
    SELECT array_agg(k.id) INTO unused
      FROM unnest(ids) AS k(id)
     WHERE NOT cardbox.card_is_used(tenant, k.id);
    PERFORM set_config('cardbox.deletes_session', 'on', true);
    DELETE FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = ANY (unused);
    PERFORM set_config('cardbox.deletes_session', '', true);
    DELETE FROM cardbox.card_revisions r WHERE r.tenant_id = tenant AND r.card_id = ANY (unused);
END
$$;
REVOKE ALL ON FUNCTION cardbox.remove_unused_cards FROM PUBLIC;

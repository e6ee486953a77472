-- The card of an entry that goes out of the tree goes with it: it would be nobody's, and could neither be
-- deleted, being sealed, nor go with its session.
LOCK TABLE cardbox.session_lines IN SHARE ROW EXCLUSIVE MODE; -- who drops entries without their cards has ended

-- Removes those cards that are no entry of any session of the tenant, nor a message. Why none goes that
-- somebody needs: see 0024.
CREATE FUNCTION cardbox.remove_unused_cards(tenant text, ids text[]) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
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
     WHERE NOT EXISTS (SELECT FROM cardbox.session_entries e
                        WHERE e.tenant_id = tenant AND e.card_id = k.id OFFSET 0)
       AND NOT EXISTS (SELECT FROM cardbox.messages m
                        WHERE m.tenant_id = tenant AND m.message_id = k.id OFFSET 0);
    PERFORM set_config('cardbox.deletes_session', 'on', true);
    DELETE FROM cardbox.cards c WHERE c.tenant_id = tenant AND c.card_id = ANY (unused);
    PERFORM set_config('cardbox.deletes_session', '', true);
    DELETE FROM cardbox.card_revisions r WHERE r.tenant_id = tenant AND r.card_id = ANY (unused);
END
$$;

-- Forks copy an entry while they hold the session's row, and so have it before the card is looked at, or
-- come when it has gone.
CREATE OR REPLACE FUNCTION cardbox.drop_ring_entry() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    card text;
BEGIN
    PERFORM FROM cardbox.sessions s
      WHERE s.tenant_id = NEW.tenant_id AND s.session_id = NEW.session_id FOR UPDATE;
    DELETE FROM cardbox.session_entries e
     WHERE e.tenant_id = NEW.tenant_id AND e.session_id = NEW.session_id AND e.seq = NEW.seq
       AND e.entry_id = NEW.ring_id
    RETURNING e.card_id INTO card;
    IF FOUND THEN
        PERFORM cardbox.remove_unused_cards(NEW.tenant_id, ARRAY[card]);
    END IF;
    RETURN NULL;
END
$$;

REVOKE EXECUTE ON FUNCTION cardbox.remove_unused_cards FROM PUBLIC;

-- drop_ring_entry: trigger of session_lines: the line of an entry that leaves the tree replaces the
-- entry. Its card is removed with it. It runs as the owner because workers may not delete.
-- The session's row is locked first: forks, which copy entries, hold it.
CREATE OR REPLACE FUNCTION cardbox.drop_ring_entry() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
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
REVOKE ALL ON FUNCTION cardbox.drop_ring_entry FROM PUBLIC;

-- session_card_prefix: the beginning of the card ids of a session's lines: a UUID (version 8) of
-- the session's id, to which the line's seq is added. So the cards of a session are neighbours in
-- the index, in order.
CREATE OR REPLACE FUNCTION cardbox.session_card_prefix(session text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-8' || substr(h, 13, 3) || '-8'
           || substr(h, 16, 3) || '-'
      FROM encode(sha256(convert_to(session, 'UTF8')), 'hex') AS h
$$;
REVOKE ALL ON FUNCTION cardbox.session_card_prefix FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_card_prefix TO cardbox_service, cardbox_worker;

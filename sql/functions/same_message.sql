-- same_message: returns whether a stored card has the content of a message: the same JSON, or a MessageContent with the
-- same text. An export and the clients of the ledger give only the text of a message.
CREATE OR REPLACE FUNCTION cardbox.same_message(stored json, given json) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT cardbox.same_json(stored, given) OR (
               SELECT coalesce(s.value ->> '__type__' = 'MessageContent' AND g.value ->> '__type__' = 'TextContent'
                               AND s.value ->> 'text' = g.value ->> 'text', false)
                 FROM cardbox.readable_json(stored) AS s(value) CROSS JOIN cardbox.readable_json(given) AS g(value))
$$;

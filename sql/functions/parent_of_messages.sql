-- parent_of_messages: returns the id of the entry after which messages were appended, or NULL if they begin at a root.
--   first_line   Line of the first message.
--   settings_id  Id of the entry with the settings of the messages, which may be before the first message; NULL: none.
CREATE OR REPLACE FUNCTION cardbox.parent_of_messages(tenant text, session text, first_line bigint, settings_id text)
RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN p.entry_id = settings_id THEN q.entry_id ELSE p.entry_id END
      FROM cardbox.find_line(tenant, session, first_line) AS e
     CROSS JOIN LATERAL cardbox.find_line(tenant, session, e.parent_line) AS p
      LEFT JOIN LATERAL cardbox.find_line(tenant, session, p.parent_line) AS q ON true
$$;

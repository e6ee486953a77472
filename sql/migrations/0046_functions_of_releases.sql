-- Servers of before 0036 run on while others are upgraded, and call what 0036 took away: each deletion of a
-- session failed there, and the connection that had it refused all writes for a second.
CREATE FUNCTION cardbox.delete_session(tenant text, session text, OUT entries bigint, OUT cards bigint)
LANGUAGE sql AS $$
    SELECT d.entries, d.cards FROM cardbox.delete_session(tenant, session, 9223372036854775807) AS d
$$;
REVOKE EXECUTE ON FUNCTION cardbox.delete_session(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.delete_session(text, text) TO cardbox_service;

-- As all others.
REVOKE EXECUTE ON FUNCTION cardbox.boxes_wanted FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.boxes_wanted TO cardbox_service, cardbox_worker;

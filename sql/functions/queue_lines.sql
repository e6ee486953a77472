-- queue_lines: trigger of session_lines that adds the changed entries to the queue of the search.
CREATE OR REPLACE FUNCTION cardbox.queue_lines() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO cardbox.search_queue (tenant_id, session_id, id)
        SELECT u.tenant_id, u.session_id, u.entry_id
          FROM (SELECT OLD.tenant_id, OLD.session_id, OLD.entry_id
                 UNION SELECT NEW.tenant_id, NEW.session_id, NEW.entry_id) AS u
         WHERE u.entry_id IS NOT NULL;
    ELSE
        INSERT INTO cardbox.search_queue (tenant_id, session_id, id)
        SELECT l.tenant_id, l.session_id, l.entry_id FROM changed l WHERE l.entry_id IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;

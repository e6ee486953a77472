-- save_message: inserts a message and its sealed card. The outcomes are those of save_ledger().
--   content   Content of the card.
--   given_ts  Time of the message in Unix milliseconds; NULL: now.
CREATE OR REPLACE FUNCTION cardbox.save_message(
    tenant text, id text, task text, role text, content json, metadata jsonb,
    tool_calls jsonb, given_ts bigint)
RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
    old record;
    ts  bigint := coalesce(given_ts, cardbox.now_ms());
BEGIN
    PERFORM FROM cardbox.tasks t
      WHERE t.tenant_id = tenant AND t.task_id = task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 5;
    END IF;
    SELECT m.task_id, m.role, m.ts, c.content INTO old
      FROM cardbox.messages m
      JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = id
     WHERE m.tenant_id = tenant AND m.message_id = id;
    IF FOUND THEN
        RETURN CASE WHEN old.task_id = task AND old.role = save_message.role
                     AND (given_ts IS NULL OR old.ts = given_ts)
                     AND cardbox.same_message(old.content, content) THEN 2 ELSE 4 END;
    END IF;
    -- An import writes the card before the message. If that card is removed after attempt 1, attempt 2 inserts it.
    FOR attempt IN 1 .. 2 LOOP
        INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_calls, metadata, created_at, sealed)
        VALUES (tenant, id, content, save_message.tool_calls,
                save_message.metadata, 'epoch'::timestamptz + ts * interval '1 millisecond', true)
        ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
        PERFORM FROM cardbox.cards c
          WHERE c.tenant_id = tenant AND c.card_id = id AND c.sealed AND c.expires_at IS NULL
            AND c.deleted_at IS NULL AND cardbox.same_message(c.content, save_message.content) FOR KEY SHARE;
        EXIT WHEN FOUND;
        IF attempt = 2 THEN
            RETURN 4;
        END IF;
    END LOOP;
    INSERT INTO cardbox.messages (tenant_id, message_id, task_id, role, ts, seq)
    SELECT tenant, id, task, save_message.role, ts, t.events + 1
      FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = task
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 4; -- another transaction has inserted a message with this id
    END IF;
    PERFORM cardbox.add_event(tenant, task, 'message', id, save_message.role);
    DELETE FROM cardbox.task_chunks k
     WHERE k.tenant_id = tenant AND k.task_id = task AND k.message_id = id;
    RETURN 1;
END
$$;

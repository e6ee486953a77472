-- fill_task_box: appends the cards of a task's messages and results that are not in its box yet: see task_items(). The
-- caller has locked the task's row.
--   own  Ids of messages that the task's worker has just saved. If there are also other messages, the function appends
--        nothing, because only the next turn determines their order. NULL: all items are appended.
--
-- The last item must ask the model. If the box already ends with a question, and no item asks the model, messages that
-- are not a user's wait until the next question.
--
-- Outcomes: 1 done; 3 the task has no box, or its box was deleted; others are those of append_to_box().
--   version      Version of the box.
--   has_message  Whether the items include a message of role user.
CREATE OR REPLACE FUNCTION cardbox.fill_task_box(
    tenant text, task text, own text[], OUT outcome integer, OUT version bigint, OUT has_message boolean)
LANGUAGE plpgsql
AS $$
DECLARE
    filled cardbox.tasks;
    item   record;
    call   cardbox.calls;
    known  jsonb; -- ids that are in the box already, and may be among the items
    ids    text[] := '{}';
    held   text[] := '{}'; -- ids of messages that wait
    waits  boolean;
    until  bigint;
BEGIN
    SELECT * INTO filled FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = task;
    SELECT b.version, CASE WHEN filled.has_gap AND b.length > 0
                           THEN cardbox.all_ids(tenant, b.chain_id, b.own_from, b.length, b.tail) ELSE '[]' END
      INTO version, known
      FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = filled.box_id AND b.deleted_at IS NULL;
    outcome := CASE WHEN FOUND THEN 1 ELSE 3 END;
    has_message := false;
    waits := own IS NULL AND filled.is_asked AND filled.completion_status IS NULL;
    until := filled.events;
    IF outcome = 3 OR filled.boxed = filled.events THEN
        RETURN;
    END IF;
    IF filled.boxed = 0 AND NOT cardbox.is_blank(filled.system_prompt) AND NOT EXISTS (
            SELECT FROM cardbox.messages m
             WHERE m.tenant_id = tenant AND m.task_id = task AND m.role = 'system') THEN
        ids := ARRAY[cardbox.prompt_card(tenant, task, filled.system_prompt)];
    END IF;
    FOR item IN SELECT * FROM cardbox.task_items(tenant, task, filled.boxed) LOOP
        IF item.message <> ALL (own) THEN
            RETURN;
        ELSIF item.call_id IS NOT NULL THEN
            SELECT * INTO call FROM cardbox.calls c WHERE c.tenant_id = tenant AND c.call_id = item.call_id;
            ids := ids || CASE WHEN NOT item.is_listed THEN ARRAY[cardbox.call_card(tenant, call)] END
                       || cardbox.result_card(tenant, call);
        ELSE
            ids := ids || item.message;
            held := held || CASE WHEN NOT item.is_user THEN ARRAY[item.message] END;
            until := least(until, CASE WHEN NOT item.is_user THEN item.n - 1 END);
        END IF;
        waits := waits AND item.asks IS NULL;
        has_message := has_message OR item.is_user;
        filled.is_asked := coalesce(item.asks, filled.is_asked);
    END LOOP;
    IF NOT waits THEN
        held := '{}';
        until := filled.events;
    END IF;
    ids := ARRAY(SELECT u.id FROM unnest(ids) WITH ORDINALITY AS u(id, n)
                  WHERE NOT known ? u.id AND u.id <> ALL (held) ORDER BY u.n);
    IF ids <> '{}' THEN
        SELECT a.outcome, a.version INTO outcome, version
          FROM cardbox.append_ids(tenant, filled.box_id, to_jsonb(ids), NULL, NULL, true) AS a;
    END IF;
    IF outcome = 1 THEN
        UPDATE cardbox.tasks t SET boxed = until, has_gap = until < filled.events, is_asked = filled.is_asked
         WHERE t.tenant_id = tenant AND t.task_id = task;
    END IF;
END
$$;

-- fill_task_box: appends the cards of a task's new messages and results to its box: see task_cards(). The caller has
-- locked the task's row.
--   begins  Whether a turn begins. Then new cards wait if none of them is to be answered, so that the last card of the
--           box stays one that the model has to answer. At the end of a turn, all are appended. If the task has had no
--           turn, nothing is appended then.
--
-- Outcomes: 1 done; 3 the task has no box, or its box was deleted; others are those of append_ids().
--   version      Version of the box.
--   has_message  Whether this call has appended a user's message.
CREATE OR REPLACE FUNCTION cardbox.fill_task_box(
    tenant text, task text, begins boolean, OUT outcome integer, OUT version bigint, OUT has_message boolean)
LANGUAGE plpgsql
AS $$
DECLARE
    filled cardbox.tasks;
    box    cardbox.card_boxes;
    ids    text[];
    asks   boolean;
BEGIN
    SELECT * INTO filled FROM cardbox.tasks t WHERE t.tenant_id = tenant AND t.task_id = task;
    SELECT * INTO box FROM cardbox.card_boxes b
     WHERE b.tenant_id = tenant AND b.box_id = filled.box_id AND b.deleted_at IS NULL;
    outcome := CASE WHEN FOUND THEN 1 ELSE 3 END;
    version := box.version;
    has_message := false;
    IF outcome = 3 OR filled.boxed = filled.events OR (filled.boxed = 0 AND NOT begins) THEN
        RETURN;
    END IF;
    SELECT array_agg(c.card ORDER BY c.number), bool_or(c.kind > 0), coalesce(bool_or(c.kind = 2), false)
      INTO ids, asks, has_message
      FROM cardbox.task_cards(tenant, task, filled.boxed) AS c
     WHERE NOT EXISTS ( -- if the task was imported, its box may have cards already
           SELECT FROM jsonb_array_elements_text(
                  CASE WHEN filled.boxed = 0
                       THEN cardbox.all_ids(tenant, box.chain_id, box.own_from, box.length, box.tail) END) AS k(id)
            WHERE k.id = c.card);
    IF begins AND NOT asks THEN
        RETURN;
    END IF;
    IF ids IS NOT NULL THEN
        SELECT a.outcome, a.version INTO outcome, version
          FROM cardbox.append_ids(tenant, filled.box_id, to_jsonb(ids), NULL, NULL, true) AS a;
    END IF;
    IF outcome = 1 THEN
        UPDATE cardbox.tasks t SET boxed = filled.events WHERE t.tenant_id = tenant AND t.task_id = task;
    END IF;
END
$$;

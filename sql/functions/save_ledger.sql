-- save_ledger: saves tasks, messages and calls, in this order, all or none. Each kind has an
-- array of objects with what jsonb can hold, and beside it the texts that only json can hold. A
-- parent comes before its subtasks. Returns the outcome of each (kind: 1 task, 2 message, 3 call),
-- up to the first that fails:
--   1 inserted  2 unchanged  3 updated  4 it exists with other values  5 no such task
--   6 no such message  7 it would undo what is finished  9 the task is finished
-- The numbers are those of enum ledger_outcome in the C code.
-- Existing tasks are locked in one order. Tasks that do not exist yet can't be locked, so two
-- batches of several tasks of one project, which only imports send, run one after the other.
CREATE OR REPLACE FUNCTION cardbox.save_ledger(
    tenant text, tasks jsonb, prompts json[], messages jsonb, contents json[],
    calls jsonb, parameters json[], details json[])
RETURNS TABLE (kind integer, ord integer, outcome integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kinds    integer[] := '{}';
    ords     integer[] := '{}';
    outcomes integer[] := '{}';
    one      record;
    done     integer;
    given_calls text[]; -- a batch that ends a task may contain how its calls ended
BEGIN
    IF NOT cardbox.is_service() THEN
        PERFORM cardbox.check_grants(ARRAY[tenant]);
    END IF;
    given_calls := ARRAY(SELECT g.value ->> 'id' FROM jsonb_array_elements(save_ledger.calls) AS g);
    IF jsonb_array_length(save_ledger.tasks) > 1 THEN
        PERFORM cardbox.lock_ledger(tenant);
    END IF;
    PERFORM cardbox.lock_tasks(tenant, ARRAY(
        SELECT g.value ->> 'task' FROM jsonb_array_elements(save_ledger.messages || save_ledger.calls) AS g
         UNION ALL SELECT g.value ->> 'id' FROM jsonb_array_elements(save_ledger.tasks) AS g
         UNION ALL SELECT g.value ->> 'parent' FROM jsonb_array_elements(save_ledger.tasks) AS g
                    WHERE g.value ->> 'status' IS NOT NULL));
    BEGIN
        FOR one IN
            SELECT 1 AS kind, g.place::integer AS place, g.value
              FROM jsonb_array_elements(save_ledger.tasks) WITH ORDINALITY AS g(value, place)
            UNION ALL
            SELECT 2, g.place::integer, g.value
              FROM jsonb_array_elements(save_ledger.messages) WITH ORDINALITY AS g(value, place)
            UNION ALL
            SELECT 3, g.place::integer, g.value
              FROM jsonb_array_elements(save_ledger.calls) WITH ORDINALITY AS g(value, place)
             ORDER BY 1, 2
        LOOP
            IF one.kind = 1 THEN
                IF one.value ->> 'status' IS NOT NULL THEN
                    PERFORM cardbox.fail_open_calls(tenant, one.value ->> 'id', 'Task ended', NULL, given_calls);
                END IF;
                done := cardbox.save_task(tenant, one.value, prompts[one.place]);
            ELSIF one.kind = 2 THEN
                done := cardbox.save_message(
                    tenant, one.value ->> 'id', one.value ->> 'task', one.value ->> 'role',
                    contents[one.place], one.value -> 'metadata',
                    one.value -> 'tool_calls', (one.value ->> 'ts')::bigint);
            ELSE
                done := cardbox.save_call(tenant, one.value, parameters[one.place], details[one.place]);
            END IF;
            kinds := kinds || one.kind;
            ords := ords || one.place;
            outcomes := outcomes || done;
            IF done > 3 THEN
                RAISE EXCEPTION USING ERRCODE = 'CB001'; -- undoes this block; the outcomes survive
            END IF;
        END LOOP;
    EXCEPTION WHEN SQLSTATE 'CB001' THEN
        NULL;
    END;
    RETURN QUERY SELECT * FROM unnest(kinds, ords, outcomes);
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.save_ledger TO cardbox_worker;
ALTER FUNCTION cardbox.save_ledger OWNER TO cardbox_writer;

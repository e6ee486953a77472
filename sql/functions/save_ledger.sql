-- save_ledger: saves tasks, messages and calls in this order, all or none. Each kind has a JSON array of objects. Texts
-- that may contain \u0000 or half a surrogate pair are in parallel arrays, because jsonb can't hold these. A new parent
-- task must come before its subtasks. Returns a row for each object, up to the first failure. The kinds are 1 task, 2
-- message, 3 call.
--
-- Outcomes are those of enum ledger_outcome in the C code:
--   1  inserted
--   2  unchanged
--   3  updated
--   4  the object exists with other values
--   5  the parent task of a task, or the task of a message or call, does not exist
--   6  the call's task has no such message
--   7  save_task() or save_call() does not allow this change of the status
--   9  the task is finished, so no call can be opened
--
-- Stored tasks are locked in the order of their ids. Tasks that do not exist yet can't be locked. Therefore batches
-- with several tasks of one project run one after the other.
CREATE OR REPLACE FUNCTION cardbox.save_ledger(
    tenant text, tasks jsonb, prompts json[], messages jsonb, contents json[],
    calls jsonb, parameters json[], details json[])
RETURNS TABLE (kind integer, ord integer, outcome integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kinds       integer[] := '{}';
    ords        integer[] := '{}';
    outcomes    integer[] := '{}';
    one         record;
    done        integer;
    given_calls text[]; -- in their order; these stay open when the batch ends their task, until they are saved
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
            SELECT 1 AS kind, g.ord::integer AS ord, g.value
              FROM jsonb_array_elements(save_ledger.tasks) WITH ORDINALITY AS g(value, ord)
            UNION ALL
            SELECT 2, g.ord::integer, g.value
              FROM jsonb_array_elements(save_ledger.messages) WITH ORDINALITY AS g(value, ord)
            UNION ALL
            SELECT 3, g.ord::integer, g.value
              FROM jsonb_array_elements(save_ledger.calls) WITH ORDINALITY AS g(value, ord)
             ORDER BY 1, 2
        LOOP
            IF one.kind = 1 THEN
                IF one.value ->> 'status' IS NOT NULL THEN
                    PERFORM cardbox.fail_open_calls(tenant, one.value ->> 'id', 'Task ended', NULL, given_calls);
                END IF;
                done := cardbox.save_task(tenant, one.value, prompts[one.ord]);
            ELSIF one.kind = 2 THEN
                done := cardbox.save_message(
                    tenant, one.value ->> 'id', one.value ->> 'task', one.value ->> 'role',
                    contents[one.ord], one.value -> 'metadata', one.value -> 'tool_calls', (one.value ->> 'ts')::bigint);
                PERFORM cardbox.add_usage(tenant, 'task', one.value ->> 'task', jsonb_build_array(one.value -> 'usage'), NULL)
                  WHERE done = 1 AND one.value ? 'usage';
            ELSE
                done := cardbox.save_call(tenant, one.value, parameters[one.ord], details[one.ord]);
                -- A repeated batch may give the statuses of a call one after the other.
                IF done = 7 AND one.value ->> 'id' = ANY (given_calls[one.ord + 1 :]) THEN
                    done := 2;
                END IF;
            END IF;
            kinds := kinds || one.kind;
            ords := ords || one.ord;
            outcomes := outcomes || done;
            IF done > 3 THEN
                RAISE EXCEPTION USING ERRCODE = 'CB001'; -- rolls back this block; the variables keep the outcomes
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

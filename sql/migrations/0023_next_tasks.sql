-- An export of tasks of which there are no statistics yet, as behind a large import, read all of a project's
-- for each that has no parent: PostgreSQL then takes NULL for rare. Of a CASE it thinks nothing, and so
-- keeps to the index that gives the order.
CREATE OR REPLACE FUNCTION cardbox.next_tasks(tenant text, after text, most bigint) RETURNS SETOF text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    at     text := after;
    follow text;
    parent text;
    made   bigint;
BEGIN
    FOR i IN 1 .. most LOOP
        SELECT t.task_id INTO follow FROM cardbox.tasks t
         WHERE t.tenant_id = tenant AND t.parent_task_id = at
         ORDER BY t.created_at, t.task_id LIMIT 1;
        WHILE follow IS NULL AND at IS NOT NULL LOOP
            SELECT t.parent_task_id, t.created_at INTO parent, made FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.task_id = at;
            EXIT WHEN parent IS NULL;
            SELECT t.task_id INTO follow FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND t.parent_task_id = parent
               AND (t.created_at, t.task_id) > (made, at)
             ORDER BY t.created_at, t.task_id LIMIT 1;
            at := CASE WHEN follow IS NULL THEN parent ELSE at END;
        END LOOP;
        IF follow IS NULL THEN
            SELECT t.task_id INTO follow FROM cardbox.tasks t
             WHERE t.tenant_id = tenant AND CASE WHEN t.parent_task_id IS NULL THEN true ELSE false END
               AND (t.created_at, t.task_id) > (coalesce(made, -1), coalesce(at, ''))
             ORDER BY t.created_at, t.task_id LIMIT 1;
        END IF;
        EXIT WHEN follow IS NULL;
        at := follow;
        RETURN NEXT follow;
    END LOOP;
END
$$;

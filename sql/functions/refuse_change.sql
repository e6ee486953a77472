-- refuse_change: trigger of the tables messages and task_events that rejects updates and deletions of their rows.
CREATE OR REPLACE FUNCTION cardbox.refuse_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION '% never change', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

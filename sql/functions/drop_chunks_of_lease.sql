-- drop_chunks_of_lease: trigger of tasks: deletes the pieces of a task's message when a lease
-- begins or ends. It runs as the owner because workers may not delete.
CREATE OR REPLACE FUNCTION cardbox.drop_chunks_of_lease() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM cardbox.task_chunks k WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION cardbox.drop_chunks_of_lease FROM PUBLIC;

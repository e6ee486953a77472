-- drop_other_chunks: trigger of task_chunks: when a message begins, deletes the pieces of the
-- task's other messages, which were broken off. It runs as the owner because workers may not
-- delete.
CREATE OR REPLACE FUNCTION cardbox.drop_other_chunks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- two ranges, since an index does not find what is unequal
    DELETE FROM cardbox.task_chunks k
     WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id AND k.message_id < NEW.message_id;
    DELETE FROM cardbox.task_chunks k
     WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id AND k.message_id > NEW.message_id;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION cardbox.drop_other_chunks FROM PUBLIC;

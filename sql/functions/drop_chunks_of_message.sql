-- drop_chunks_of_message: trigger of messages: deletes the pieces of a message that is now stored.
-- It runs as the owner because workers may not delete.
CREATE OR REPLACE FUNCTION cardbox.drop_chunks_of_message() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM cardbox.task_chunks k
     WHERE k.tenant_id = NEW.tenant_id AND k.task_id = NEW.task_id AND k.message_id = NEW.message_id;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION cardbox.drop_chunks_of_message FROM PUBLIC;

-- refuse_change_of_sealed: trigger of cards that rejects updates and removals of a sealed card. There is one exception,
-- for a sealed card that has expired or is deleted. Such a card may be removed, or updated if it stays sealed and keeps
-- its content, metadata and tool calls.
CREATE OR REPLACE FUNCTION cardbox.refuse_change_of_sealed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF OLD.deleted_at IS NOT NULL OR OLD.expires_at <= clock_timestamp() THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        IF NEW.sealed AND NEW.tenant_id = OLD.tenant_id AND NEW.card_id = OLD.card_id
           AND NEW.content::text = OLD.content::text
           AND NEW.metadata IS NOT DISTINCT FROM OLD.metadata
           AND NEW.tool_calls IS NOT DISTINCT FROM OLD.tool_calls
           AND NEW.tool_call_id IS NOT DISTINCT FROM OLD.tool_call_id THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'card % is sealed', OLD.card_id USING ERRCODE = 'restrict_violation';
END
$$;

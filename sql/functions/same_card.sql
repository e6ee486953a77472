-- same_card: returns whether two rows of one card have the same content. Times and the seal are not compared.
CREATE OR REPLACE FUNCTION cardbox.same_card(a cardbox.cards, b cardbox.cards) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT a.metadata IS NOT DISTINCT FROM b.metadata
       AND a.tool_calls IS NOT DISTINCT FROM b.tool_calls
       AND a.tool_call_id IS NOT DISTINCT FROM b.tool_call_id
       AND cardbox.same_json(a.content, b.content)
$$;

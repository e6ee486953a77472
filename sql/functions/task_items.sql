-- task_items: returns the messages and ended calls of a task that have events after the event after_event, in the order
-- in which the model gets them. Leaves out the start and end messages of calls that changed after this event, unless a
-- user has sent these messages.
--   n          Number of the item's event.
--   message    Id of a message, or NULL.
--   is_user    Whether the message has the role user.
--   call_id    Id of a call that has ended, or NULL.
--   is_listed  For a call: whether one of the last messages lists it in its tool_calls.
--   asks       Whether the model has to answer after this item: true for a user's message and for a call; false for an
--              answer without calls. Other messages have NULL, because they change nothing.
--
-- The order is that of the events, with three exceptions:
--   - A result comes directly after the message that lists its call.
--   - A user's message comes after an answer of the model during which it arrived. The member seen of the answer's
--     metadata is the number of the last event that the model had read.
--   - Other messages after the last question come before it, because some servers of models reject a request whose last
--     message is not a user's or a result.
CREATE OR REPLACE FUNCTION cardbox.task_items(tenant text, task text, after_event bigint)
RETURNS TABLE (n bigint, message text, is_user boolean, call_id text, is_listed boolean, asks boolean)
LANGUAGE sql STABLE
AS $$
    WITH said AS (
        SELECT e.n, m.message_id, m.role, c.content,
               CASE WHEN m.role = 'assistant' AND jsonb_typeof(c.tool_calls) = 'array' THEN c.tool_calls END AS listed,
               CASE WHEN m.role = 'assistant' AND jsonb_typeof(c.metadata -> 'seen') = 'number'
                    THEN (c.metadata ->> 'seen')::numeric END AS seen
          FROM cardbox.task_events e
          JOIN cardbox.messages m ON m.tenant_id = tenant AND m.message_id = e.ref
          JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.ref
         WHERE e.tenant_id = tenant AND e.task_id = task AND e.n > after_event AND e.what = 'message'
           AND (m.role = 'user' OR m.message_id NOT IN (
                SELECT u.id FROM cardbox.task_events h
                  JOIN cardbox.calls k ON k.tenant_id = tenant AND k.call_id = h.ref
                 CROSS JOIN unnest(ARRAY[k.start_message_id, k.end_message_id]) AS u(id)
                 WHERE h.tenant_id = tenant AND h.task_id = task AND h.n > after_event AND h.what = 'call'
                   AND u.id IS NOT NULL))
    ), listed AS (
        SELECT l.call ->> 'id' AS id, min(s.n) AS n
          FROM said s CROSS JOIN jsonb_array_elements(s.listed) AS l(call) GROUP BY 1
    ), earlier AS (
        SELECT l.call ->> 'id' AS id
          FROM (SELECT m.message_id FROM cardbox.messages m
                 WHERE m.tenant_id = tenant AND m.task_id = task AND m.seq <= after_event ORDER BY m.seq DESC LIMIT 200) AS p
          JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = p.message_id
         CROSS JOIN jsonb_array_elements(CASE WHEN jsonb_typeof(c.tool_calls) = 'array' THEN c.tool_calls END) AS l(call)
    ), items AS (
        SELECT s.message_id AS message, s.role = 'user' AS is_user, NULL::text AS call_id, false AS is_listed,
               CASE WHEN s.role = 'user' THEN CASE WHEN NOT cardbox.is_blank(s.content) THEN true END
                    WHEN s.listed <> '[]' THEN true
                    WHEN s.seen IS NOT NULL THEN false END AS asks,
               CASE s.role WHEN 'user' THEN coalesce((SELECT max(a.n) FROM said a WHERE a.n > s.n AND a.seen < s.n), s.n)
                           ELSE s.n END AS place,
               CASE s.role WHEN 'user' THEN 2 ELSE 0 END AS rank, s.n
          FROM said s
        UNION ALL
        SELECT NULL, false, k.call_id, p.is_listed, CASE WHEN NOT p.is_listed THEN true END,
               coalesce(l.n, CASE WHEN p.is_listed THEN after_event ELSE greatest(k.seq, after_event) END), 1, e.n
          FROM cardbox.task_events e
          JOIN cardbox.calls k ON k.tenant_id = tenant AND k.call_id = e.ref
          LEFT JOIN listed l ON l.id = k.call_id
         CROSS JOIN LATERAL (SELECT l.n IS NOT NULL OR k.call_id IN (SELECT r.id FROM earlier r) AS is_listed) AS p
         WHERE e.tenant_id = tenant AND e.task_id = task AND e.n > after_event AND e.what = 'call'
           AND e.how IN ('completed', 'failed')
    ), numbered AS (
        SELECT i.*, row_number() OVER (ORDER BY i.place, i.rank, i.n) AS number FROM items i
    ), question AS (
        SELECT q.number FROM (SELECT n.number, n.asks FROM numbered n
                               WHERE n.asks IS NOT NULL ORDER BY n.number DESC LIMIT 1) AS q WHERE q.asks
    )
    SELECT n.n, n.message, n.is_user, n.call_id, n.is_listed, n.asks
      FROM numbered n LEFT JOIN question q ON n.message IS NOT NULL AND n.number > q.number
     ORDER BY coalesce(q.number - 0.5, n.number), n.number
$$;

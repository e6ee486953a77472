-- Removes rows from the queue of the search and returns what must be indexed: see the function search_take.
-- $1 text  the last tenant of the previous call; '': none
-- $2 int8  maximum number of rows
SELECT s.tenant_id, s.session_id, s.id, s.queued_at, s.kind, s.task_id, s.type, s.role, s.created_at, s.content,
       s.tool_calls
  FROM cardbox.search_take($1::text, $2::int8) AS s

-- Saves tasks, messages and calls, all or none: see the function. One row an entity: its kind (1 task,
-- 2 message, 3 call), its place from 1, its outcome. Arrays stand parallel to the objects before them.
-- $1 text  tenant
-- $2 jsonb tasks: objects with id, parent, status, created, updated; $3 json[] their system prompts
-- $4 jsonb messages: id, task, role, ts, metadata, tool_calls; $5 json[] cards' content
-- $6 jsonb calls: id, task, ability, status, created, updated, start, end; $7 json[] parameters,
-- $8 json[] details or NULL
SELECT s.kind, s.ord, s.outcome
  FROM cardbox.save_ledger($1::text, $2::jsonb, $3::json[], $4::jsonb, $5::json[], $6::jsonb,
                           $7::json[], $8::json[]) AS s

-- Finds documents with all terms, newest first: see the function search_find.
-- $1 text         tenant
-- $2 int8[]       terms
-- $3 timestamptz  created_after, or NULL
-- $4 timestamptz  created_before, or NULL
-- $5 timestamptz  created_at of the last document of the previous page; NULL: the first page
-- $6 int8         n of that document, or NULL
-- $7 int8         maximum number of documents
-- $8 int8         number of the newest documents that are examined before the GIN index is used
SELECT f.kind, f.id, f.session_id, f.task_id, f.type, f.role, f.created_at, f.n, f.content, f.tool_calls
  FROM cardbox.search_find($1::text, $2::int8[], $3::timestamptz, $4::timestamptz, $5::timestamptz, $6::int8,
                           $7::int8, $8::int8) AS f

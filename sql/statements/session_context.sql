-- Reads the entries that the context of an entry needs, in any order, with their depths. There is also a row with line -1,
-- which session_path.sql explains. The content is NULL if the type of an entry is never part of a context. But the root
-- always has its content: if the session has no header, the session began at the time of the root.
-- $1 text  tenant
-- $2 text  session
-- $3 text  entry; '': the head
-- $4 int8  maximum total size of the contents in bytes; if the size is greater, the contents of all entries are NULL
-- $5 int8  entries that the context has at least; NULL: all. See context_start()
-- $6 int8  bytes of the entries that the context has at least; NULL: all.
-- The last column of the row with line -1 is the number of entries that the context would also have without $5 and $6.
WITH leaf AS (
    SELECT s.header, e.line, e.entry_id, e.depth
      FROM cardbox.sessions s
      LEFT JOIN LATERAL (
            SELECT s.head_line AS line, s.head_entry_id AS entry_id, s.head_depth AS depth
             WHERE $3::text = '' AND s.head_line IS NOT NULL
            UNION ALL
            SELECT x.line, x.entry_id, x.depth FROM cardbox.find_entry($1::text, $2::text, $3::text) AS x) AS e ON true
     WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
), path AS (
    SELECT e.line, e.entry_id, e.depth, e.type, e.size, e.target, e.content, w.unread,
           e.type NOT IN ('custom', 'label', 'session_info', 'metadata') AS in_context
      FROM leaf g
     CROSS JOIN LATERAL cardbox.context_ranges($1::text, $2::text, g.line, $5::int8, $6::int8) AS w
     CROSS JOIN LATERAL cardbox.branch_entries($1::text, $2::text, w.branch, w.low, w.high) AS e
)
SELECT -1::int8 AS line, g.entry_id, g.depth, NULL::text AS type, NULL::text AS target, g.header AS content,
       (SELECT max(p.unread)::int8 FROM path p) AS unread
  FROM leaf g
UNION ALL
SELECT e.line, e.entry_id, e.depth, e.type, e.target,
       CASE WHEN (e.in_context OR e.depth = 0)
             AND $4::int8 >= (SELECT sum(p.size) FROM path p WHERE p.in_context) THEN e.content END, NULL::int8
  FROM path e

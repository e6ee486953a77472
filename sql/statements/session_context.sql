-- Reads the entries that the context of an entry needs, in any order, with their depths. There is also a row with line -1,
-- which session_path.sql explains. The content is NULL if the type of an entry is never part of a context. But the root
-- always has its content: if the session has no header, the session began at the time of the root.
-- $1 text  tenant
-- $2 text  session
-- $3 text  entry; '': the head
-- $4 int8  maximum total size of the contents in bytes; if the size is greater, the contents of all entries are NULL
-- $5 int8  entries that the context has at least; NULL: all. See context_start()
-- $6 int8  bytes of the entries that the context has at least; NULL: all
--
-- The column unread of the row with line -1 is the number of entries that the context would also have without $5 and $6.
-- The column target of this row is the missing parent of the path's root; NULL: the root has none. Its column version is
-- the version of the session.
-- In a session of Claude Code, an answer has a line for each call, and the parent of a result is the line with its call.
-- So other lines of an answer and their results may be beside the path. The column of_depth of such a row is the depth
-- of the last line of the path above it. Lines without a role, such as those of hooks, may be between them.
WITH RECURSIVE leaf AS (
    SELECT s.header, s.dialect, s.version, e.line, e.entry_id, e.depth
      FROM cardbox.sessions s
      LEFT JOIN LATERAL (
            SELECT s.head_line AS line, s.head_entry_id AS entry_id, s.head_depth AS depth
             WHERE $3::text = '' AND s.head_line IS NOT NULL
            UNION ALL
            SELECT x.line, x.entry_id, x.depth FROM cardbox.find_entry($1::text, $2::text, $3::text) AS x
             WHERE $3::text <> '') AS e ON true
     WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
), path AS (
    SELECT e.line, e.entry_id, e.branch, e.depth, e.type, e.role, e.size, e.target, e.content, w.unread, w.root,
           e.type NOT IN ('custom', 'label', 'session_info', 'metadata') AS in_context
      FROM leaf g
     CROSS JOIN LATERAL cardbox.context_ranges($1::text, $2::text, g.line, $5::int8, $6::int8) AS w
     CROSS JOIN LATERAL cardbox.branch_entries($1::text, $2::text, w.branch, w.low, w.high) AS e
), answers AS (
    SELECT p.line, p.branch, p.depth FROM path p
     WHERE p.role = 'assistant' AND (SELECT g.dialect FROM leaf g) = 'claude'
), beside AS (
    SELECT x.line, x.entry_id, x.branch, x.depth, x.type, x.role, x.size, x.content, a.depth AS of_depth
      FROM answers a
     CROSS JOIN LATERAL cardbox.children_of($1::text, $2::text, a.line, a.branch, a.depth) AS x
     WHERE (x.role IS NULL OR x.role IN ('assistant', 'tool'))
       AND NOT EXISTS (SELECT FROM path q WHERE q.line = x.line)
    UNION ALL
    SELECT x.line, x.entry_id, x.branch, x.depth, x.type, x.role, x.size, x.content, b.of_depth
      FROM beside b
     CROSS JOIN LATERAL cardbox.children_of($1::text, $2::text, b.line, b.branch, b.depth) AS x
     WHERE (b.role IS NULL OR b.role = 'assistant') AND (x.role IS NULL OR x.role IN ('assistant', 'tool'))
), total AS (
    SELECT (SELECT coalesce(sum(p.size), 0) FROM path p WHERE p.in_context)
           + (SELECT coalesce(sum(b.size), 0) FROM beside b WHERE b.role IS NOT NULL) AS size
)
SELECT -1::int8 AS line, g.entry_id, g.depth, NULL::text AS type,
       (SELECT nullif(r.missing_parent_id, '')
          FROM cardbox.find_line($1::text, $2::text, (SELECT max(p.root) FROM path p)) AS r) AS target,
       g.header AS content, (SELECT max(p.unread)::int8 FROM path p) AS unread, NULL::integer AS of_depth, g.version
  FROM leaf g
UNION ALL
SELECT e.line, e.entry_id, e.depth, e.type, e.target,
       CASE WHEN (e.in_context OR e.depth = 0) AND $4::int8 >= t.size THEN e.content END, NULL::int8, NULL::integer,
       NULL::int8
  FROM path e CROSS JOIN total t
UNION ALL
SELECT b.line, b.entry_id, b.of_depth, b.type, NULL::text, CASE WHEN $4::int8 >= t.size THEN b.content END, NULL::int8,
       b.of_depth, NULL::int8
  FROM beside b CROSS JOIN total t WHERE b.role IS NOT NULL

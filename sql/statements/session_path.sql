-- Reads the entries of a part of the path from a root to an entry, in any order, with their depths.
-- $1 text  tenant
-- $2 text  session
-- $3 text  entry; '': the head
-- $4 int4  first depth
-- $5 int4  last depth
-- $6 int8  maximum total size of the contents in bytes; NULL: no contents. If the size is greater, the contents of all
--          entries are NULL
--
-- If the session exists, there is also a row with line -1. The entry_id and depth of this row are those of the last
-- entry of the path, NULL if there is no such entry. The content of this row is the session's header.
--
-- The column extra is 1 if the entry's JSON has no id, 2 if the JSON names the target by a line number, 3 if both. The
-- parent of an entry is the entry before it on the path, so only the parent of the first entry is looked up.
WITH leaf AS (
    SELECT s.header, e.line, e.entry_id, e.depth
      FROM cardbox.sessions s
      LEFT JOIN LATERAL (
            SELECT s.head_line AS line, s.head_entry_id AS entry_id, s.head_depth AS depth
             WHERE $3::text = '' AND s.head_line IS NOT NULL
            UNION ALL
            SELECT x.line, x.entry_id, x.depth FROM cardbox.find_entry($1::text, $2::text, $3::text) AS x
             WHERE $3::text <> '') AS e ON true
     WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
), path AS (
    SELECT e.*, sum(e.size) OVER () AS total, lag(e.entry_id) OVER (ORDER BY e.depth) AS above
      FROM leaf g
     CROSS JOIN LATERAL cardbox.session_path($1::text, $2::text, g.line) AS w
     CROSS JOIN LATERAL cardbox.branch_entries(
            $1::text, $2::text, w.branch, greatest(w.low, $4::int4), least(w.high, $5::int4)) AS e
)
SELECT -1::int8 AS line, g.entry_id, NULL::text AS parent_id, g.depth, NULL::text AS type, NULL::text AS role,
       NULL::text AS missing_parent_id, NULL::int4 AS size, NULL::json AS label, g.header AS content,
       NULL::int8 AS extra, NULL::timestamptz AS appended_at, NULL::text AS target
  FROM leaf g
UNION ALL
SELECT e.line, e.entry_id, coalesce(e.above, r.parent_id), e.depth, e.type, e.role, e.missing_parent_id,
       e.size, r.label, CASE WHEN e.total <= $6::int8 THEN e.content END,
       (e.id_is_made::int + 2 * e.target_is_made::int)::int8, e.appended_at, e.target
  FROM path e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r

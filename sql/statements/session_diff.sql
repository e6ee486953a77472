-- Compares the paths to two entries. The column extra is 0 for the last common entry, 1 for later entries of the first
-- path, and 2 for later entries of the second path. Rows are ordered by extra, then by depth. If the session exists,
-- there is also a row with extra 3. In this row, the column line is 0 if both entries are missing, 1 if only the first
-- exists, 2 if only the second exists, 3 if both exist.
-- $1 text  tenant
-- $2 text  session
-- $3 text  first entry
-- $4 text  second entry
-- $5 int4  maximum number of entries of each path after the last common entry
-- $6 int4  maximum size of a returned content in bytes; NULL: no contents
WITH ends AS (
    SELECT (SELECT e.line FROM cardbox.find_entry($1::text, $2::text, $3::text) AS e) AS a,
           (SELECT e.line FROM cardbox.find_entry($1::text, $2::text, $4::text) AS e) AS b
      FROM cardbox.sessions s
     WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live'
), a AS (
    SELECT w.* FROM ends CROSS JOIN LATERAL cardbox.session_path($1::text, $2::text, ends.a) AS w
), b AS (
    SELECT w.* FROM ends CROSS JOIN LATERAL cardbox.session_path($1::text, $2::text, ends.b) AS w
), common AS (
    SELECT a.branch, least(a.high, b.high) AS depth FROM a JOIN b ON b.branch = a.branch
     ORDER BY depth DESC LIMIT 1
), fork AS ( -- the depth of the last common entry; -1: there is none
    SELECT coalesce((SELECT k.depth FROM common k), -1) AS depth
), sides AS (
    SELECT 0::int8 AS side, k.branch, k.depth AS low, k.depth AS high FROM common k
    UNION ALL
    SELECT 1, a.branch, greatest(a.low, u.depth + 1), least(a.high, u.depth + $5::int4) FROM a CROSS JOIN fork u
    UNION ALL
    SELECT 2, b.branch, greatest(b.low, u.depth + 1), least(b.high, u.depth + $5::int4) FROM b CROSS JOIN fork u
)
SELECT ((ends.a IS NOT NULL)::int + 2 * (ends.b IS NOT NULL)::int)::int8 AS line, NULL AS entry_id,
       NULL AS parent_id, -1 AS depth, NULL AS type, NULL AS role, NULL AS missing_parent_id, 0 AS size,
       NULL::json AS label, NULL::json AS content, 3::int8 AS extra, NULL::timestamptz AS appended_at
  FROM ends
UNION ALL
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, r.label,
       CASE WHEN e.size <= $6::int4 THEN e.content END, e.side, e.appended_at
  FROM (SELECT s.side, e.*
          FROM sides s
         CROSS JOIN LATERAL cardbox.branch_entries($1::text, $2::text, s.branch, s.low, s.high) AS e) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 ORDER BY extra, depth

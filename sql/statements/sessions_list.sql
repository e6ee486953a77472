-- Lists a page of a tenant's sessions, newest first. See boxes_list.sql for why the condition has no coalesce().
-- $1 text         tenant
-- $2 timestamptz  creation time of the last session of the previous page; NULL: the first page
-- $3 text         id of the last session of the previous page
-- $4 int8         maximum number of sessions
-- $5 int4         maximum size in bytes of the last two columns; NULL: both are NULL. They are the contents of two
--                 messages: the first of a user among the first 50 lines, and the last one among the last 50 lines.
SELECT s.session_id, s.dialect, s.header, s.name, s.forked_from, s.head_entry_id, s.entries, s.version,
       s.created_at, s.updated_at, u.input_tokens, u.cached_input_tokens, u.output_tokens, u.cost,
       CASE WHEN $5::int4 IS NOT NULL THEN (
            SELECT e.content FROM cardbox.session_lines e
             WHERE e.tenant_id = $1::text AND e.session_id = s.session_id AND e.line < 50 AND e.role = 'user'
               AND e.size <= $5::int4
             ORDER BY e.line LIMIT 1) END,
       CASE WHEN $5::int4 IS NOT NULL THEN (
            SELECT e.content FROM cardbox.session_lines e
             WHERE e.tenant_id = $1::text AND e.session_id = s.session_id AND e.line >= s.lines - 50
               AND e.role IS NOT NULL AND e.size <= $5::int4
             ORDER BY e.line DESC LIMIT 1) END
  FROM cardbox.sessions s
 CROSS JOIN LATERAL cardbox.session_usage($1::text, s.session_id) AS u
 WHERE s.tenant_id = $1::text AND s.state = 'live'
   AND (s.created_at, s.session_id) < (least($2::timestamptz, 'infinity'), greatest($3::text, ''))
 ORDER BY s.created_at DESC, s.session_id DESC
 LIMIT $4::int8

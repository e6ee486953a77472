-- Reads entries by their ids, with their contents, in any order.
-- $1 text    tenant
-- $2 text    session
-- $3 text[]  entry ids
SELECT e.line, e.entry_id, r.parent_id, e.depth, e.type, e.role, e.missing_parent_id, e.size, r.label, e.content,
       NULL::int8 AS extra, e.appended_at
  FROM unnest($3::text[]) AS g(entry_id)
 CROSS JOIN LATERAL cardbox.find_entry($1::text, $2::text, g.entry_id) AS e
 CROSS JOIN LATERAL cardbox.session_entry_details($1::text, $2::text, e.entry_id, e.parent_line) AS r
 WHERE EXISTS (SELECT FROM cardbox.sessions s
                WHERE s.tenant_id = $1::text AND s.session_id = $2::text AND s.state = 'live')

-- Completes an import of a file: links entries to parents that are later in the file. See the function
-- link_late_parents. Row 0 is for the whole call. The other rows are for the entries of $3, in their order.
-- $1 text    tenant
-- $2 text    session
-- $3 text[]  ids of dangling entries
SELECT u.number, u.issue, a.version, a.links, a.cycles
  FROM cardbox.link_late_parents($1::text, $2::text, $3::text[]) AS a
 CROSS JOIN LATERAL (
       SELECT 0::int8 AS number, NULL AS issue
       UNION ALL
       SELECT o.number, o.issue FROM unnest(a.issues) WITH ORDINALITY AS o(issue, number)) AS u
 ORDER BY u.number

-- branch_parents: returns the branches of a session as parallel arrays, in the order of their first lines.
--   starts           Line number of the branch's first entry.
--   is_late          Whether the first entry is a root whose parent was missing at its import, and which is not linked
--                    yet.
--   parent_branches  Index from 1 of the branch of the first entry's parent; NULL: the entry has no parent, or the
--                    parent is still missing.
--   parent_lines     Line number of the first entry's parent.
--   parent_depths    Depth of the first entry's parent.
--   is_continued     Whether another child of the first entry's parent continues the parent's branch.
CREATE OR REPLACE FUNCTION cardbox.branch_parents(
    tenant text, session text, OUT starts bigint[], OUT is_late boolean[], OUT parent_branches integer[],
    OUT parent_lines bigint[], OUT parent_depths integer[], OUT is_continued boolean[])
LANGUAGE sql STABLE
AS $$
    WITH branch AS (
        SELECT x.line, x.parent_line, x.missing_parent_id FROM cardbox.session_lines x
         WHERE x.tenant_id = tenant AND x.session_id = session AND x.line = x.branch
    ), numbered AS (
        SELECT array_agg(b.line ORDER BY b.line) AS lines FROM branch b
    )
    SELECT n.lines, f.*
      FROM numbered n
     CROSS JOIN LATERAL (
        SELECT array_agg(b.missing_parent_id IS NOT NULL ORDER BY b.line),
               array_agg(width_bucket(p.branch, n.lines) ORDER BY b.line),
               array_agg(p.line ORDER BY b.line), array_agg(p.depth ORDER BY b.line),
               array_agg(NOT cardbox.is_leaf(tenant, session, p.branch, p.depth) ORDER BY b.line)
          FROM branch b
          LEFT JOIN LATERAL cardbox.find_entry(tenant, session, b.missing_parent_id) AS late ON true
          LEFT JOIN LATERAL cardbox.find_line( -- CASE, since coalesce() is not leakproof (test_plans_of_workers)
                tenant, session, CASE WHEN b.parent_line IS NULL THEN late.line ELSE b.parent_line END) AS p ON true) AS f
$$;

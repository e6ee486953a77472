-- branch_parents: the branches of a session in the order of their first lines, as parallel arrays.
--   starts     first line
--   is_late    it starts with a root whose parent was missing
--   ups        number, from 1, of the parent's branch; NULL: a root, or its parent is missing
--   up_lines, up_depths  the parent
--   continued  a child of the parent continues the parent's branch
CREATE OR REPLACE FUNCTION cardbox.branch_parents(
    tenant text, session text, OUT starts bigint[], OUT is_late boolean[], OUT ups integer[],
    OUT up_lines bigint[], OUT up_depths integer[], OUT continued boolean[])
LANGUAGE sql STABLE
AS $$
    WITH branch AS MATERIALIZED (
        SELECT x.line, x.parent_line, x.missing_parent_id FROM cardbox.session_lines x
         WHERE x.tenant_id = tenant AND x.session_id = session AND x.line = x.branch
    ), numbered AS MATERIALIZED (
        SELECT array_agg(b.line ORDER BY b.line) AS lines FROM branch b
    )
    SELECT n.lines, f.is_late, f.ups, f.up_lines, f.up_depths, f.continued
      FROM numbered n
     CROSS JOIN LATERAL (
        SELECT array_agg(b.missing_parent_id IS NOT NULL ORDER BY b.line) AS is_late,
               array_agg(width_bucket(p.branch, n.lines) ORDER BY b.line) AS ups,
               array_agg(p.line ORDER BY b.line) AS up_lines, array_agg(p.depth ORDER BY b.line) AS up_depths,
               array_agg(NOT cardbox.is_leaf(tenant, session, p.branch, p.depth) ORDER BY b.line) AS continued
          FROM branch b
          LEFT JOIN LATERAL cardbox.find_entry(tenant, session, b.missing_parent_id) AS late ON true
          LEFT JOIN LATERAL cardbox.find_line( -- CASE: coalesce() is not leakproof (test_plans_of_workers)
                tenant, session, CASE WHEN b.parent_line IS NULL THEN late.line ELSE b.parent_line END) AS p ON true) AS f
$$;

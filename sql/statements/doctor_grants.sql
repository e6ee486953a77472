-- The projects that our role was granted as a worker's. One row: how many, and the names of the first.
-- $1 int8  how many to name
SELECT count(*),
       coalesce(string_agg(left(g.tenant_id, 40), ', ' ORDER BY g.tenant_id)
                FILTER (WHERE g.place <= $1::int8), '')
  FROM (SELECT t.tenant_id, row_number() OVER (ORDER BY t.tenant_id) AS place
          FROM cardbox.tenant_grants t WHERE t.role_name = current_user) g

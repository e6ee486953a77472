-- Returns the number of projects that are granted to the role, and the first of their ids, separated by commas.
-- $1 int8  maximum number of returned ids
SELECT count(*),
       coalesce(string_agg(left(g.tenant_id, 40), ', ' ORDER BY g.tenant_id)
                FILTER (WHERE g.number <= $1::int8), '')
  FROM (SELECT t.tenant_id, row_number() OVER (ORDER BY t.tenant_id) AS number
          FROM cardbox.tenant_grants t WHERE t.role_name = current_user) g

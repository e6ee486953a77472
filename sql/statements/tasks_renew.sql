-- Renews leases: see the function. One row for each lease: its number from 1; 1 renewed, 2 held but not
-- renewed this time, 3 lost; the completion status of the task.
-- $1 text[] tenants, $2 text[] tasks, $3 int8[] epochs, $4 int8 lease in ms
SELECT r.ord, r.state, r.status
  FROM cardbox.renew_tasks($1::text[], $2::text[], $3::int8[], $4::int8) AS r

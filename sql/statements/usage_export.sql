-- Lists a page of the rows of a tenant's usage, in the order of the primary key. See boxes_list.sql for why the condition
-- has no coalesce().
-- $1 text  tenant
-- $2 text  source of the last row of the previous page; NULL: the first page
-- $3 text  its source_id
-- $4 text  its day
-- $5 text  its model
-- $6 int8  maximum number of rows
SELECT u.source, u.source_id, to_char(u.on_day, 'YYYY-MM-DD'), u.model, u.input_tokens, u.cached_input_tokens, u.output_tokens,
       trim_scale(u.cost)::text
  FROM cardbox.usage u
 WHERE u.tenant_id = $1::text
   AND (u.source, u.source_id, u.on_day, u.model)
       > (greatest($2::text, ''), greatest($3::text, ''), greatest($4::text::date, '-infinity'), greatest($5::text, ''))
 ORDER BY u.source, u.source_id, u.on_day, u.model LIMIT $6::int8

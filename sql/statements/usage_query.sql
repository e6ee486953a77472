-- Sums the usage of a project in a range of days. The first row has the sums of all. Each further row has the sums of a
-- day, a model, or a session or task. Days are in descending order. Otherwise the groups with the most tokens come first.
-- See boxes_list.sql for why the condition has no coalesce().
-- $1 text  tenant
-- $2 text  first day; NULL: from the beginning
-- $3 text  last day; NULL: to the end
-- $4 text  day, model or session
-- $5 int8  maximum number of rows
SELECT g.key, g.source, cardbox.usage_cap(g.input_tokens)::int8, cardbox.usage_cap(g.cached_input_tokens)::int8,
       cardbox.usage_cap(g.output_tokens)::int8, trim_scale(g.cost)::text, (count(*) OVER ())::int8 - 1 AS groups
  FROM (SELECT k.key, k.source, grouping(k.key) AS is_total, coalesce(sum(k.input_tokens), 0) AS input_tokens,
               coalesce(sum(k.cached_input_tokens), 0) AS cached_input_tokens,
               coalesce(sum(k.output_tokens), 0) AS output_tokens, sum(k.cost) AS cost
          FROM (SELECT CASE $4::text WHEN 'day' THEN to_char(u.on_day, 'YYYY-MM-DD') WHEN 'model' THEN u.model
                                     ELSE u.source_id END AS key,
                       CASE $4::text WHEN 'session' THEN u.source END AS source,
                       u.input_tokens, u.cached_input_tokens, u.output_tokens, u.cost
                  FROM cardbox.usage u
                 WHERE u.tenant_id = $1::text AND u.on_day >= greatest($2::text::date, '-infinity')
                   AND u.on_day <= least($3::text::date, 'infinity')) AS k
         GROUP BY GROUPING SETS ((k.key, k.source), ())) AS g
 ORDER BY g.is_total DESC, CASE $4::text WHEN 'day' THEN g.key END DESC, g.input_tokens + g.output_tokens DESC, g.key, g.source
 LIMIT $5::int8

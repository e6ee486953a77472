-- Creates or replaces an ability of a project: see the function save_ability.
-- $1 text  tenant
-- $2 text  ability
-- $3 text  description
-- $4 json  input schema
-- $5 json  output schema
-- $6 text  URL
-- $7 json  headers
-- $8 int4  timeout in milliseconds
-- $9 json  keywords that are not checked
-- $10 int4  maximum number of abilities of a project
SELECT cardbox.save_ability($1::text, $2::text, $3::text, $4::json, $5::json, $6::text, $7::json, $8::int4, $9::json,
                            $10::int4)

-- Seals a box: see the function seal_box.
-- $1 text  tenant
-- $2 uuid  box
SELECT s.outcome, s.version, s.length FROM cardbox.seal_box($1::text, $2::uuid, NULL) AS s

-- Lists the applied functions with their checksums. The checksum is empty if a function should run with the rights of
-- cardbox_writer but does not, as after pg_restore --no-owner. `cardbox migrate` then applies this function again.
SELECT f.name, CASE WHEN EXISTS (
                         SELECT FROM pg_proc p
                          WHERE p.pronamespace = to_regnamespace('cardbox') AND p.proname = f.name
                            AND p.prosrc ~ 'cardbox\.is_service\(\)'
                            AND (p.proowner IS DISTINCT FROM to_regrole('cardbox_writer') OR NOT p.prosecdef))
                    THEN '' ELSE f.checksum END
  FROM cardbox.functions f

-- The functions that were applied, with their checksums. The checksum is empty, so that the function is applied
-- again, if it should run with the rights of cardbox_writer and does not: pg_restore --no-owner changes owners.
SELECT f.name, CASE WHEN EXISTS (
                         SELECT FROM pg_proc p
                          WHERE p.pronamespace = to_regnamespace('cardbox') AND p.proname = f.name
                            AND p.prosrc ~ 'cardbox\.is_service\(\)'
                            AND (p.proowner IS DISTINCT FROM to_regrole('cardbox_writer') OR NOT p.prosecdef))
                    THEN '' ELSE f.checksum END
  FROM cardbox.functions f

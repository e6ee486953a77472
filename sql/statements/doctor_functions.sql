-- Returns the names of the writing functions that do not run with the rights of cardbox_writer, separated by commas.
SELECT coalesce(string_agg(p.proname, ', ' ORDER BY p.proname), '')
  FROM pg_proc p
 WHERE p.pronamespace = to_regnamespace('cardbox') AND p.prosrc ~ 'cardbox\.is_service\(\)'
   AND (p.proowner IS DISTINCT FROM to_regrole('cardbox_writer') OR NOT p.prosecdef)

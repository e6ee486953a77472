-- Returns the newest applied migration, and whether the database has the SQL functions of this build or of a newer
-- release. The third column is whether the role is a service's, with privileges on some important tables and functions;
-- NULL: a function is missing. The role of a worker would find no rows of other projects. The statement does not lock the
-- tables with content, so it also answers while others have locked them.
-- $1 text[]  checksums of this build's functions
-- $2 text    release of this build
-- $3 bool    whether the connection is for writes
SELECT (SELECT max(m.version) FROM cardbox.migrations m) AS version,
       (SELECT count(*) FILTER (WHERE f.checksum = ANY ($1::text[])) >= cardinality($1::text[])
               OR max(string_to_array(f.release, '.')::int4[]) > string_to_array($2::text, '.')::int4[]
          FROM cardbox.functions f) AS has_functions,
       bool_and(has_table_privilege(t.name, 'SELECT'))
       AND EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'cardbox_service' AND pg_has_role(r.oid, 'USAGE'))
       AND has_function_privilege(to_regproc('cardbox.chain_segments'), 'EXECUTE')
       AND (NOT $3::bool OR (has_function_privilege(to_regproc('cardbox.write_cards'), 'EXECUTE')
                             AND has_function_privilege(to_regproc('cardbox.append_to_boxes'), 'EXECUTE')
                             AND has_function_privilege(to_regproc('cardbox.append_entries'), 'EXECUTE')
                             AND has_function_privilege(to_regproc('cardbox.save_ledger'), 'EXECUTE'))) AS fit
  FROM unnest(ARRAY['cardbox.cards', 'cardbox.card_boxes', 'cardbox.card_box_segments',
                    'cardbox.card_box_chains', 'cardbox.card_box_log']) AS t (name)

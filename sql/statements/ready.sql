-- Which migration the database is at, and whether this role may do on it what a connection is for; null:
-- a function is missing. Takes no lock on the tables, so that it says so also while others hold them.
-- $1 bool  whether it is for writes
SELECT (SELECT max(m.version) FROM cardbox.migrations m) AS version,
       bool_and(has_table_privilege(t.name, 'SELECT')
                AND (NOT $1::bool OR has_table_privilege(t.name, 'INSERT')))
       AND has_function_privilege(
               to_regproc(CASE WHEN $1::bool THEN 'cardbox.append_to_box'
                               ELSE 'cardbox.chain_segments' END), 'EXECUTE') AS fit
  FROM unnest(ARRAY['cardbox.cards', 'cardbox.card_boxes', 'cardbox.card_box_segments',
                    'cardbox.card_box_chains', 'cardbox.card_box_log']) AS t (name)

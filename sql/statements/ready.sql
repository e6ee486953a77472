-- Which migration the database is at, and whether this role may read what cardboxd reads; null: a
-- function is missing. Takes no lock on the tables, so that it says so also while others hold them.
SELECT (SELECT max(m.version) FROM cardbox.migrations m) AS version,
       bool_and(has_table_privilege(t.name, 'SELECT'))
       AND has_function_privilege(to_regproc('cardbox.chain_segments'), 'EXECUTE') AS readable
  FROM unnest(ARRAY['cardbox.cards', 'cardbox.card_boxes', 'cardbox.card_box_segments',
                    'cardbox.card_box_chains', 'cardbox.card_box_log']) AS t (name)

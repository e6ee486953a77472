-- Returns the newest release that has migrated this database, or no row if $1 is at least as new.
-- $1 text  release of the program
SELECT array_to_string(n.release, '.')
  FROM (SELECT max(string_to_array(r.release, '.')::int4[]) AS release
          FROM (SELECT m.release FROM cardbox.migrations m
                UNION ALL SELECT f.release FROM cardbox.functions f) AS r) AS n
 WHERE n.release > string_to_array($1::text, '.')::int4[]

-- Which migration the database is at, and whether it has the SQL functions of this build, or those of a newer release.
-- $1 text[]  checksums of this build's functions
-- $2 text    its release
SELECT (SELECT max(m.version) FROM cardbox.migrations m) AS version,
       (SELECT count(*) FILTER (WHERE f.checksum = ANY ($1::text[])) >= cardinality($1::text[])
               OR max(string_to_array(f.release, '.')::int4[]) > string_to_array($2::text, '.')::int4[]
          FROM cardbox.functions f) AS has_functions

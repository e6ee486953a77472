-- Writes lines of a file, or of a project's export, to a session: see the function import_lines. Row 0 has the outcome
-- of the whole call. The other rows have the outcomes of the lines, in their order. The caller passes the values of
-- the columns made and diverged_at with the next batch.
-- $1 text      tenant
-- $2 text      session
-- $3 text      dialect, or NULL
-- $4 text      id in the file's header; '': no header; NULL: any file is accepted
-- $5 bool      whether a project is imported
-- $6 int8      number that the first line of the batch has in the file
-- $7 text[]    ids
-- $8 int4[]    duplicate_of
-- $9 text[]    parents
-- $10 int4[]   refs
-- $11 text[]   types
-- $12 text[]   roles
-- $13 text[]   sets
-- $14 text[]   targets
-- $15 int8[]   indexes
-- $16 json[]   labels
-- $17 json[]   contents
-- $18 bytea[]  before
-- $19 bytea[]  after
-- $20 bool[]   whether the JSON has no id
-- $21 int8     value of the column `made` for the previous batch; NULL: this is the first batch
-- $22 int8     value of the column `diverged_at` for the previous batch
-- $23 bool     whether the id may be that of a deleted session; false: not, or this is not the first batch
-- $24 jsonb    numbers of tokens of the lines: see the function add_usage; NULL: none
SELECT u.number, u.outcome, u.issue, a.version, (extract(epoch FROM a.made) * 1000000)::int8 AS made, a.diverged_at,
       CASE WHEN u.number = 0 AND a.outcome = 'done' AND $24::jsonb IS NOT NULL
            THEN cardbox.count_usage($1::text, $2::text, a.outcomes, $24::jsonb) END
  FROM cardbox.import_lines(
       $1::text, CASE WHEN $23::bool THEN cardbox.release_session_id($1::text, $2::text) ELSE $2::text END, $3::text,
       timestamptz 'epoch' + $21::int8 * interval '1 microsecond', $4::text,
       $5::bool, $6::int8, $7::text[], $8::int4[], $9::text[], $10::int4[], $11::text[], $12::text[],
       $13::text[], $14::text[], $15::int8[], $16::json[], $17::json[], $18::bytea[], $19::bytea[],
       $20::bool[], $22::int8) AS a
 CROSS JOIN LATERAL (
       SELECT 0::int8 AS number, a.outcome, NULL AS issue
       UNION ALL
       SELECT o.number, o.outcome, o.issue
         FROM unnest(a.outcomes, a.issues) WITH ORDINALITY AS o(outcome, issue, number)) AS u
 ORDER BY u.number

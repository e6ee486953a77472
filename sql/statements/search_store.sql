-- Writes documents of the search, and removes documents whose card or entry is gone. The arrays from $1 to $9 are
-- parallel.
-- $1 text[]         tenants
-- $2 text[]         session ids; '': a card
-- $3 text[]         card ids or entry ids, each once
-- $4 text[]         kinds; NULL: the document is removed
-- $5 text[]         task ids, or NULL
-- $6 timestamptz[]  times of creation, or NULL; times outside of the years 1 to 9999 become the nearest time within
-- $7 timestamptz[]  times at which the ids were queued
-- $8 int8[]         number of terms in $10 before those of the document
-- $9 int8[]         the same number including them; -1: the id is queued again
-- $10 int8[]       terms of all documents, one after the other
WITH given AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[],
                         $7::timestamptz[], $8::int8[], $9::int8[])
                  AS g(tenant_id, session_id, id, kind, task_id, created_at, queued_at, terms_before, terms_end)
), queued AS (
    INSERT INTO cardbox.search_queue (tenant_id, session_id, id, at)
    SELECT g.tenant_id, g.session_id, g.id, g.queued_at FROM given g WHERE g.terms_end < 0
), removed AS (
    DELETE FROM cardbox.search_documents d USING given g
     WHERE g.kind IS NULL AND g.terms_end >= 0 AND d.tenant_id = g.tenant_id COLLATE "C"
       AND d.session_id = g.session_id COLLATE "C" AND d.id = g.id COLLATE "C"
)
INSERT INTO cardbox.search_documents AS d (tenant_id, session_id, id, kind, task_id, created_at, terms)
SELECT g.tenant_id, g.session_id, g.id, g.kind, g.task_id,
       least(greatest(g.created_at, '0001-01-01Z'), '9999-12-31 23:59:59.999999Z'),
       ($10::int8[])[g.terms_before + 1 : g.terms_end]
  FROM given g WHERE g.kind IS NOT NULL AND g.terms_end >= 0
    ON CONFLICT (tenant_id, session_id, id) DO UPDATE
   SET kind = excluded.kind, task_id = excluded.task_id, created_at = excluded.created_at, terms = excluded.terms
 WHERE (d.kind, d.task_id, d.created_at, d.terms)
       IS DISTINCT FROM (excluded.kind, excluded.task_id, excluded.created_at, excluded.terms)

-- What a compaction keeps is an entry, also where its line names it by an index, as version 1 did: that counts
-- the lines of one file, which a session need not be, nor what is exported of it. An import, which has the
-- file, writes the entry into the target of the compaction's row ('': the index names none that is before it);
-- of rows without a target, which were written before or appended, the index is a place in the session.

CREATE FUNCTION cardbox.kept_entry(tenant text, session text, at_seq bigint, target text, raw json)
RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    said json := cardbox.readable_line(raw);
BEGIN
    IF target IS NOT NULL THEN
        RETURN nullif(target, '');
    END IF;
    said := coalesce(said -> 'firstKeptEntryId', said -> 'firstKeptEntryIndex');
    IF json_typeof(said) = 'number' THEN
        RETURN (SELECT e.entry_id FROM cardbox.session_entries e
                 WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = said::text::bigint
                   AND e.seq < at_seq);
    END IF;
    RETURN CASE WHEN json_typeof(said) = 'string' THEN said #>> '{}' END;
EXCEPTION WHEN data_exception THEN
    RETURN NULL; -- a number that is no place
END
$$;

-- The part of the way from a root to an entry that a context is made of, as session_path gives all of it:
-- from the first entry on that the last compaction keeps, and before that the last that says a thinking
-- level and the last that says a model, which assistants' messages do as well.
CREATE OR REPLACE FUNCTION cardbox.context_path(tenant text, session text, from_seq bigint)
RETURNS TABLE (branch bigint, low integer, high integer)
LANGUAGE plpgsql STABLE ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    fold  record; -- the compaction
    kept  text;   -- the entry that it names
    first integer := 0;
BEGIN
    SELECT * INTO fold
      FROM cardbox.last_on_path(tenant, session, from_seq, 2147483647, '{4,260}') AS c;
    IF fold.depth IS NOT NULL THEN
        SELECT cardbox.kept_entry(tenant, session, e.seq, e.target, c.raw) INTO kept
          FROM cardbox.session_entries e
          LEFT JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = fold.card_id
         WHERE e.tenant_id = tenant AND e.session_key = session AND e.branch = fold.branch
           AND e.depth = fold.depth;
        SELECT e.depth INTO first
          FROM cardbox.session_entries e
          JOIN cardbox.session_path(tenant, session, from_seq) AS p
            ON p.branch = e.branch AND e.depth BETWEEN p.low AND p.high
         WHERE e.tenant_id = tenant AND e.session_key = session AND e.entry_id = kept
           AND e.depth < fold.depth;
        first := coalesce(first, fold.depth);
    END IF;
    RETURN QUERY
    SELECT p.branch, greatest(p.low, first), p.high
      FROM cardbox.session_path(tenant, session, from_seq) AS p WHERE p.high >= first
    UNION ALL
    SELECT m.branch, m.depth, m.depth
      FROM (VALUES ('{2}'::integer[]), ('{3,513}')) AS s(kinds)
     CROSS JOIN LATERAL cardbox.last_setting(tenant, session, from_seq, first, s.kinds) AS m
     WHERE first > 0;
END
$$;

-- Whether a line is an entry's as an export writes it: with what its file says of it, and another would
-- not, at the end: its id and its parent's, and what it keeps.
CREATE OR REPLACE FUNCTION cardbox.is_named_line(tenant text, session text, at_seq bigint, given json)
RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN octet_length(given::text) > octet_length(c.raw::text) THEN EXISTS (
               SELECT FROM (VALUES (''), (',"id":' || to_json(e.entry_id)::text)) AS i(id)
                CROSS JOIN (VALUES (''), (',"parentId":' || coalesce(
                            to_json(p.entry_id)::text, to_json(nullif(e.missing, ''))::text, 'null')))
                       AS u(parent)
                CROSS JOIN (VALUES (''), (',"firstKeptEntryId":' || coalesce(to_json(
                            cardbox.kept_entry(tenant, session, e.seq, e.target, c.raw))::text, 'null')))
                       AS k(kept)
                WHERE given::text = left(c.raw::text, -1) || i.id || u.parent || k.kept || '}')
           ELSE false END
      FROM cardbox.session_entries e
      JOIN cardbox.cards c ON c.tenant_id = tenant AND c.card_id = e.card_id
      LEFT JOIN cardbox.session_entries p
        ON p.tenant_id = tenant AND p.session_id = session AND p.seq = e.parent_seq
     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = at_seq
$$;

-- The target of an entry that is no label labels nothing.
CREATE OR REPLACE FUNCTION cardbox.session_entry_rest(
    tenant text, session text, id text, parent bigint, card text, wants_line boolean)
RETURNS TABLE (parent_id text, label json, raw json)
LANGUAGE sql STABLE AS $$
    SELECT (SELECT p.entry_id FROM cardbox.session_entries p
             WHERE p.tenant_id = tenant AND p.session_id = session AND p.seq BETWEEN parent AND parent
             ORDER BY p.seq LIMIT 1),
           (SELECT (array_agg(l.label ORDER BY l.seq DESC))[1] FROM cardbox.session_entries l
             WHERE l.tenant_id = tenant AND l.session_key = session AND l.target = id AND l.kind = 8),
           (SELECT c.raw FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id = card AND wants_line)
$$;

REVOKE EXECUTE ON FUNCTION cardbox.kept_entry FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.kept_entry TO cardbox_service, cardbox_worker;

-- remove_session_part: removes up to `most` entries of a deleted session, whose row in
-- session_remains the caller has locked, with their cards unless another session has them; as many
-- of its other lines; and as many keys. The last entries go first: a reader on its way from an
-- entry to its root finds the whole path or its end. `more`: something is left.
--
-- Why no card is removed that another session needs. Cards are shared by forks, and by sessions
-- that were imported with the cards of others.
--   * The deleter locks the session's row, then the cards in the order of their ids. Only then a
--     statement of its own, with a new snapshot (READ COMMITTED), looks which cards other sessions
--     have.
--   * A fork locks its source's row FOR KEY SHARE: it was there before and is seen, or it waits and
--     then finds no session.
--   * A writer that makes an entry of an existing card locks the card FOR KEY SHARE.
--   * Of two deleters of sessions with common cards the second waits for the cards, and then sees
--     what the first has left.
CREATE OR REPLACE FUNCTION cardbox.remove_session_part(
    tenant text, session text, most bigint, OUT entries bigint, OUT entry_bytes bigint,
    OUT cards bigint, OUT card_bytes bigint, OUT more boolean)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    ids   text[];
    first bigint;
    others bigint;
BEGIN
    SELECT array_agg(k.card_id ORDER BY k.card_id), min(k.seq) INTO ids, first
      FROM (SELECT e.card_id, e.seq FROM cardbox.session_entries e
             WHERE e.tenant_id = tenant AND e.session_id = session ORDER BY e.seq DESC LIMIT most) AS k;
    PERFORM FROM unnest(ids) AS k(id) -- in this order
      CROSS JOIN LATERAL (
            SELECT FROM cardbox.cards c
             WHERE c.tenant_id = tenant AND c.card_id BETWEEN k.id AND k.id
             ORDER BY c.card_id LIMIT 1 FOR UPDATE) AS c;
    WITH removed AS (
        DELETE FROM cardbox.session_entries e
         WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq >= first
        RETURNING pg_column_size(e.*) AS bytes)
    SELECT count(*), coalesce(sum(r.bytes), 0) INTO entries, entry_bytes FROM removed r;
    PERFORM set_config('cardbox.deletes_session', 'on', true);
    WITH unused AS MATERIALIZED (
        SELECT c.place, c.card_id
          FROM unnest(ids) AS k(id)
         CROSS JOIN LATERAL (
                SELECT x.ctid AS place, x.card_id FROM cardbox.cards x
                 WHERE x.tenant_id = tenant AND x.card_id BETWEEN k.id AND k.id
                 ORDER BY x.card_id LIMIT 1) AS c
         WHERE NOT cardbox.card_is_used(tenant, c.card_id)
    ), removed AS (
        DELETE FROM cardbox.cards c WHERE c.ctid = ANY (ARRAY (SELECT u.place FROM unused u))
        RETURNING cardbox.card_bytes(c.content, c.metadata) AS bytes
    ), unrevised AS (
        DELETE FROM cardbox.card_revisions r
         WHERE r.ctid = ANY (ARRAY (
                SELECT v.place FROM unused u
                 CROSS JOIN LATERAL (
                        SELECT x.ctid AS place FROM cardbox.card_revisions x
                         WHERE x.tenant_id = tenant AND x.card_id = u.card_id
                        OFFSET 0) AS v))
    )
    SELECT count(*), coalesce(sum(r.bytes), 0) INTO cards, card_bytes FROM removed r;
    PERFORM set_config('cardbox.deletes_session', '', true);
    more := entries >= most;
    DELETE FROM cardbox.session_lines l
     WHERE l.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_lines x
                                 WHERE x.tenant_id = tenant AND x.session_id = session
                                 ORDER BY x.seq, x.ord LIMIT most));
    GET DIAGNOSTICS others = ROW_COUNT;
    more := more OR others >= most;
    DELETE FROM cardbox.session_keys k
     WHERE k.ctid = ANY (ARRAY (SELECT x.ctid FROM cardbox.session_keys x
                                 WHERE x.tenant_id = tenant AND x.session_id = session
                                 ORDER BY x.append_key LIMIT most));
    GET DIAGNOSTICS others = ROW_COUNT;
    more := more OR others >= most;
    IF NOT more THEN
        DELETE FROM cardbox.session_remains r WHERE r.tenant_id = tenant AND r.session_id = session;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION cardbox.remove_session_part FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.remove_session_part TO cardbox_service;

-- session_rings: of entries that are about to be appended from first_seq on, those that would be
-- their own ancestors once the roots that wait for them are linked. A step goes from an entry to
-- its parent if that is new too, else to the new entry that the root above it waits for.
CREATE OR REPLACE FUNCTION cardbox.session_rings(
    tenant text, session text, ids text[], seqs bigint[], parents bigint[], first_seq bigint)
RETURNS bigint[]
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    starts bigint[]; -- new ones that something waits for
    ups    bigint[] := '{}'; -- by place among the new ones, from 1: the next one on the way up
    walks  bigint[] := '{}';
    rings  boolean[] := '{}';
    n      record;
    up     bigint;
    at     bigint;
BEGIN
    SELECT array_agg(DISTINCT u.seq) INTO starts FROM unnest(ids, seqs) AS u(id, seq)
     WHERE u.seq >= first_seq
       AND (u.id IN (SELECT e.missing FROM cardbox.session_entries e -- hashed, as no join could be
                      WHERE e.tenant_id = tenant AND e.session_id = session AND e.missing IS NOT NULL)) IS TRUE;
    FOR n IN SELECT u.seq, u.parent FROM unnest(seqs, parents) AS u(seq, parent)
              WHERE u.seq >= first_seq AND u.parent IS NOT NULL LOOP
        up := n.parent;
        IF up < first_seq THEN
            SELECT seqs[array_position(ids, root.missing)] INTO up
              FROM cardbox.session_path(tenant, session, n.parent) AS w
             CROSS JOIN LATERAL (
                    SELECT e.missing FROM cardbox.session_entries e
                     WHERE e.tenant_id = tenant AND e.session_id = session AND e.seq = w.branch
                    OFFSET 0) AS root
             WHERE w.low = 0;
        END IF;
        IF up >= first_seq THEN
            ups[n.seq - first_seq + 1] := up - first_seq + 1;
        END IF;
    END LOOP;
    FOREACH up IN ARRAY coalesce(starts, '{}') LOOP
        at := up - first_seq + 1;
        WHILE at IS NOT NULL AND walks[at] IS NULL LOOP
            walks[at] := up;
            at := ups[at];
        END LOOP;
        IF walks[at] = up THEN
            WHILE rings[at] IS NULL LOOP
                rings[at] := true;
                at := ups[at];
            END LOOP;
        END IF;
    END LOOP;
    RETURN ARRAY(SELECT s.seq FROM unnest(starts) AS s(seq) WHERE rings[s.seq - first_seq + 1]);
END
$$;
REVOKE ALL ON FUNCTION cardbox.session_rings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.session_rings TO cardbox_service, cardbox_worker;

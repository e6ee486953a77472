-- place_entries: places new entries in the tree; the first line may be a header. Their parents are
-- earlier lines here (parent_places above 0), the line before (-1), entries of the session or
-- missing (-3), or there is none (0).
CREATE OR REPLACE FUNCTION cardbox.place_entries(
    tenant text, session text, seqs bigint[], parents text[], parent_places integer[], kinds integer[],
    OUT outcomes integer[], OUT branches bigint[], OUT depths integer[], OUT ups bigint[],
    OUT missings text[])
LANGUAGE plpgsql
SET plan_cache_mode = auto
AS $$
DECLARE
    n         integer := cardinality(seqs);
    first     integer := CASE WHEN kinds[1] < 0 THEN 2 ELSE 1 END;
    taken     boolean[] := array_fill(false, ARRAY[n]); -- it has a first child
    new_taken bigint[] := '{}'; -- the same of entries that are in the session
    up        integer;
    e         record;
BEGIN
    outcomes := array_fill(1, ARRAY[n]);
    branches := seqs;
    depths := array_fill(0, ARRAY[n]);
    ups := array_fill(NULL::bigint, ARRAY[n]);
    missings := array_fill(NULL::text, ARRAY[n]);
    IF first = 2 THEN
        outcomes[1] := 7;
    END IF;
    FOR i IN first .. n LOOP
        up := parent_places[i];
        IF up = -1 AND i > first THEN
            up := i - 1;
        END IF;
        IF up > 0 THEN
            ups[i] := seqs[up];
            depths[i] := depths[up] + 1;
            IF NOT taken[up] THEN
                taken[up] := true;
                branches[i] := branches[up];
            END IF;
            CONTINUE;
        ELSIF up = 0 THEN
            CONTINUE;
        ELSE -- in the session, also of the first line where that goes on from the batch before
            SELECT x.seq, x.branch, x.depth INTO e FROM cardbox.session_entries x
             WHERE x.tenant_id = tenant AND x.session_key = session AND x.entry_id = parents[i];
            IF NOT FOUND AND parents[i] IS NOT NULL THEN
                outcomes[i] := 4;
                missings[i] := parents[i];
            END IF;
        END IF;
        CONTINUE WHEN e.seq IS NULL;
        ups[i] := e.seq;
        depths[i] := e.depth + 1;
        IF e.seq <> ALL (new_taken) AND NOT EXISTS (
               SELECT FROM cardbox.session_entries x
                WHERE x.tenant_id = tenant AND x.session_key = session AND x.branch = e.branch
                  AND x.depth = e.depth + 1) THEN
            branches[i] := e.branch;
        END IF;
        new_taken := new_taken || e.seq;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION cardbox.place_entries FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.place_entries TO cardbox_service, cardbox_worker;

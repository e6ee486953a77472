-- number_lines: assigns line numbers from `next` to the lines whose outcome is appended or kept. The other elements
-- of `lines` stay.
CREATE OR REPLACE FUNCTION cardbox.number_lines(next bigint, outcomes text[], lines bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    FOR i IN 1 .. cardinality(outcomes) LOOP
        IF outcomes[i] IN ('appended', 'kept') THEN
            lines[i] := next;
            next := next + 1;
        END IF;
    END LOOP;
    RETURN lines;
END
$$;

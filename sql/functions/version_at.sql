-- version_at: returns the version that a box had at a moment; NULL if the log begins later. The function bisects the
-- log by the primary key, since versions are consecutive and their times never decrease. Two queries find the first and
-- the last version, because one query for both could read the whole log.
CREATE OR REPLACE FUNCTION cardbox.version_at(tenant text, box uuid, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    below  bigint; -- a version that existed at the moment, or first - 1
    above  bigint; -- a version that did not exist yet at the moment
    middle bigint;
    first  bigint;
    early  boolean;
BEGIN
    SELECT l.version INTO first FROM cardbox.card_box_log l
     WHERE l.tenant_id = tenant AND l.box_id = box ORDER BY l.version LIMIT 1;
    SELECT l.version + 1 INTO above FROM cardbox.card_box_log l
     WHERE l.tenant_id = tenant AND l.box_id = box ORDER BY l.version DESC LIMIT 1;
    below := first - 1;
    WHILE above - below > 1 LOOP
        middle := (below + above) / 2;
        SELECT l.at <= moment INTO early FROM cardbox.card_box_log l
         WHERE l.tenant_id = tenant AND l.box_id = box AND l.version = middle;
        IF early THEN
            below := middle;
        ELSE
            above := middle;
        END IF;
    END LOOP;
    RETURN CASE WHEN below >= first THEN below END;
END
$$;
GRANT EXECUTE ON FUNCTION cardbox.version_at TO cardbox_worker;

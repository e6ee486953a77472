-- gc_batch: removes one batch of dead rows: cards, boxes, orphaned chains, then lines of deleted sessions, and the ids
-- of sessions that were deleted long ago. The migration 0006_admin.sql explains why this is safe while other
-- transactions write. The result has no number of removed ids of deleted sessions.
--   retention  Seconds for which deleted cards and boxes, and the ids of deleted sessions, are kept.
--   max_rows   Limit for the number of rows. The function counts cards, boxes, changes of boxes, segments, examined
--              orphans, entries and ids of deleted sessions, but not, for example, revisions of cards.
CREATE OR REPLACE FUNCTION cardbox.gc_batch(retention bigint, max_rows bigint) RETURNS cardbox.gc_totals
LANGUAGE plpgsql
AS $$
DECLARE
    totals cardbox.gc_totals := (false, false, max_rows, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'gc needs the isolation level read committed' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    IF NOT cardbox.try_lock_row('gc') THEN
        totals.busy := true;
        RETURN totals;
    END IF;
    totals := cardbox.gc_cards(totals, retention);
    IF totals.rows_left > 0 THEN
        totals := cardbox.gc_boxes(totals, retention);
    END IF;
    IF totals.rows_left > 0 THEN
        totals := cardbox.gc_chains(totals);
    END IF;
    totals.more := totals.more OR totals.rows_left <= 0;
    totals := cardbox.gc_sessions(totals);
    RETURN CASE WHEN totals.rows_left > 0 THEN cardbox.gc_session_ids(totals, retention) ELSE totals END;
END
$$;

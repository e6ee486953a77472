-- gc_batch: removes one batch of dead rows: cards, boxes, then orphaned chains, at most `most` rows,
-- revisions not counted. See card_box_orphans for why that is safe.
--   retention  seconds for which deleted cards and boxes stay
CREATE OR REPLACE FUNCTION cardbox.gc_batch(retention bigint, most bigint) RETURNS cardbox.gc_totals
LANGUAGE plpgsql
AS $$
DECLARE
    done cardbox.gc_totals := (false, false, most, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'collecting needs the isolation level read committed'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    IF NOT cardbox.try_lock_gc() THEN
        done.busy := true;
        RETURN done;
    END IF;
    done := cardbox.gc_cards(done, retention);
    IF done.room > 0 THEN
        done := cardbox.gc_boxes(done, retention);
    END IF;
    IF done.room > 0 THEN
        done := cardbox.gc_chains(done);
    END IF;
    done.more := done.more OR done.room <= 0;
    RETURN done;
END
$$;

-- Of tables that only grow PostgreSQL would see to the newest pages when a fifth is new: of a hundred million rows
-- twenty million, in one go, and until then reads that an index alone could answer look at the rows too, and
-- nothing of it is frozen. A fiftieth at a time is less work each, and hardly more in all.
-- Of tables whose rows change all the time, a fifth dead is as many entries of indexes that lead to nothing:
-- who looks for a task to run walks over those of all leases that were renewed.
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['cards', 'card_revisions', 'card_box_segments', 'card_box_chains', 'card_box_log',
                             'session_entries', 'session_lines', 'messages', 'task_events'] LOOP
        EXECUTE format('ALTER TABLE cardbox.%I SET (autovacuum_vacuum_insert_scale_factor = 0.02)', t);
    END LOOP;
    FOREACH t IN ARRAY ARRAY['card_boxes', 'sessions', 'tasks', 'calls'] LOOP
        EXECUTE format('ALTER TABLE cardbox.%I SET (autovacuum_vacuum_scale_factor = 0.02)', t);
    END LOOP;
END
$$;

-- What 0047 replaced. In a transaction of its own: with those builds it would wait for writers that have read cards,
-- and they for it. The index by type stays for servers of before 0043, which would sort all cards of a type: nothing
-- else reads it, a later migration may drop it when no such server runs, and it costs an insert an eighth. (To keep
-- all four would cost half as much again.)
DROP INDEX cardbox.cards_by_step, cardbox.cards_by_turn, cardbox.cards_by_trace;

-- The ids of deleted sessions. The row of a deleted session stays in the state `gone` for the retention period, without
-- lines and header. So a late append does not create the session again. The column `deleted_at` has the time of the
-- deletion, if the session was visible before. NOT VALID skips the check of the stored rows: the old constraint has
-- checked them.
ALTER TABLE cardbox.sessions
    ADD COLUMN deleted_at timestamptz,
    DROP CONSTRAINT sessions_state_check,
    ADD CONSTRAINT sessions_state_check CHECK (state IN ('live', 'restoring', 'deleted', 'gone')) NOT VALID;
GRANT DELETE ON cardbox.sessions TO cardbox_writer;

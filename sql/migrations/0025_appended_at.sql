-- The time at which a line was stored. The column of the stored lines is NULL, and no row is written: a column without a
-- default, and a default that is set afterwards, change only the catalog. A fork copies the times of its source.
ALTER TABLE cardbox.session_lines ADD COLUMN appended_at timestamptz;
ALTER TABLE cardbox.session_lines ALTER COLUMN appended_at SET DEFAULT now();

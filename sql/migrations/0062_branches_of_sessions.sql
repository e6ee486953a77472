-- A page of an entry's children, or of branch points, read the branches of all sessions of a project: this index is
-- shorter than session_entries_starts, held the same rows and began alike, with the project, for which PostgreSQL expects
-- a row as it does for the whole key (0051). So it begins with the session_id, which those statements do not name.
DROP INDEX cardbox.session_entries_branches;
CREATE INDEX session_entries_branches ON cardbox.session_entries (session_id, tenant_id, seq)
    WHERE seq = branch;

-- A page of an entry's children, or of branch points, read the branches of all sessions of a project: this index is
-- shorter than session_entries_starts, held the same rows and began alike, with the project, for which PostgreSQL expects
-- a row as it does for the whole key (0051). So it begins with the session_id, which those statements do not name. The
-- new one first: who writes waits while it is built, who reads only for the moment in which the old one goes.
CREATE INDEX session_entries_by_branch ON cardbox.session_entries (session_id, tenant_id, seq)
    WHERE seq = branch;
DROP INDEX cardbox.session_entries_branches;

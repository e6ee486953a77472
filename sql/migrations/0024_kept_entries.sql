-- no-transaction
-- The index finds the entries that a context needs although it begins after them. An index that an earlier attempt has
-- left may be invalid. The function context_ranges() replaces context_path().
DROP INDEX CONCURRENTLY IF EXISTS cardbox.session_lines_kept;
CREATE INDEX CONCURRENTLY session_lines_kept ON cardbox.session_lines (tenant_id, session_id, branch, depth)
    WHERE type IN ('compaction', 'settings', 'thinking_level_change') OR role = 'system';
DROP FUNCTION IF EXISTS cardbox.context_path;

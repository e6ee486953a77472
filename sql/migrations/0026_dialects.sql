-- Transcripts of Claude Code and rollouts of codex are sessions with dialects of their own.
ALTER TABLE cardbox.sessions DROP CONSTRAINT IF EXISTS sessions_dialect_check;
ALTER TABLE cardbox.sessions ADD CONSTRAINT sessions_dialect_check
    CHECK (dialect IN ('plain', 'pi', 'claude', 'codex')) NOT VALID;
ALTER TABLE cardbox.sessions VALIDATE CONSTRAINT sessions_dialect_check;

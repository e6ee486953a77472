-- check_append: returns the outcome of append_entries() if it can't append, else NULL. Reads the idempotency key,
-- but does not store it.
--   s  The session's row; NULL: there is no such session.
CREATE OR REPLACE FUNCTION cardbox.check_append(
    s cardbox.sessions, given_dialect text, expected bigint, key text, contents json[],
    OUT outcome text, OUT version bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    own_digest bytea;
    used       record;
BEGIN
    version := s.version;
    IF s.session_id IS NULL THEN
        outcome := 'not_found';
        RETURN;
    END IF;
    IF key IS NOT NULL THEN
        own_digest := sha256(convert_to(array_to_string(contents, E'\n'), 'UTF8'));
        SELECT k.digest, k.version INTO used FROM cardbox.session_append_keys k
         WHERE k.tenant_id = s.tenant_id AND k.session_id = s.session_id AND k.append_key = key;
        IF FOUND AND used.digest = own_digest THEN
            outcome := 'replayed';
            version := used.version;
            RETURN;
        ELSIF FOUND THEN
            outcome := 'key_reused';
            RETURN;
        END IF;
    END IF;
    IF expected <> s.version THEN
        outcome := 'wrong_version';
    ELSIF given_dialect <> s.dialect AND (s.entries > 0 OR s.header IS NOT NULL) THEN
        outcome := 'other_dialect';
    END IF;
END
$$;

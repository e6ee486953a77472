-- check_append: checks the idempotency key, version and dialect of an append. If these already determine the outcome of
-- append_entries(), such as replayed or wrong_version, returns this outcome, otherwise the outcome NULL. Does not store
-- the key.
--   s  The session's row; NULL: there is no such session.
CREATE OR REPLACE FUNCTION cardbox.check_append(
    s cardbox.sessions, given_dialect text, expected bigint, key text, contents json[],
    OUT outcome text, OUT version bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    used record;
BEGIN
    version := s.version;
    IF key IS NOT NULL THEN
        SELECT k.digest = sha256(convert_to(array_to_string(contents, E'\n'), 'UTF8')) AS is_same, k.version INTO used
          FROM cardbox.session_append_keys k
         WHERE k.tenant_id = s.tenant_id AND k.session_id = s.session_id AND k.append_key = key;
        IF FOUND THEN
            outcome := CASE WHEN used.is_same THEN 'replayed' ELSE 'key_reused' END;
            version := CASE WHEN used.is_same THEN used.version ELSE s.version END;
            RETURN;
        END IF;
    END IF;
    outcome := CASE WHEN s.session_id IS NULL THEN 'not_found' WHEN expected <> s.version THEN 'wrong_version'
                    WHEN given_dialect <> s.dialect AND (s.entries > 0 OR s.header IS NOT NULL) THEN 'other_dialect' END;
END
$$;

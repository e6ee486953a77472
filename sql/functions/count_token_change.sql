-- count_token_change: trigger of the table tokens that increments the version in token_changes.
CREATE OR REPLACE FUNCTION cardbox.count_token_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE cardbox.token_changes SET version = version + 1;
    RETURN NULL;
END
$$;

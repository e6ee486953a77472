-- renew_card_etag: trigger of cards that sets a new etag in each UPDATE of a row, also if another program makes the
-- UPDATE.
CREATE OR REPLACE FUNCTION cardbox.renew_card_etag() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.etag := cardbox.random_etag();
    RETURN NEW;
END
$$;

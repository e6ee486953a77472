-- renew_card_etag: trigger of cards: every UPDATE sets a new etag, also one by another program.
CREATE OR REPLACE FUNCTION cardbox.renew_card_etag() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.etag := cardbox.random_etag();
    RETURN NEW;
END
$$;

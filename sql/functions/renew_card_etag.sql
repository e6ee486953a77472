-- renew_card_etag: trigger of cards: each update gives the row another etag, whoever makes it.
CREATE OR REPLACE FUNCTION cardbox.renew_card_etag() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.etag := cardbox.random_etag();
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION cardbox.renew_card_etag FROM PUBLIC;
GRANT EXECUTE ON FUNCTION cardbox.renew_card_etag TO cardbox_service, cardbox_worker;

-- Creates the log-in role of the server of `cardbox dev`. Sets cardbox.dev for new sessions of the database, so that
-- `cardbox doctor` recognizes the database.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cardbox_server') THEN
        CREATE ROLE cardbox_server LOGIN IN ROLE cardbox_service;
    END IF;
    EXECUTE format('ALTER DATABASE %I SET cardbox.dev = on', current_database());
END
$$

-- Creates the log-in role of the server of `cardbox dev`.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cardbox_server') THEN
        CREATE ROLE cardbox_server LOGIN IN ROLE cardbox_service;
    END IF;
END
$$

-- The role that the server of `cardbox dev` logs in as: what a server should be, and no more.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cardbox_server') THEN
        CREATE ROLE cardbox_server LOGIN IN ROLE cardbox_service;
    END IF;
END
$$

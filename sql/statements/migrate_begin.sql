-- What `cardbox migrate` needs before the first migration.
CREATE SCHEMA IF NOT EXISTS cardbox;
CREATE TABLE IF NOT EXISTS cardbox.migrations (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL, -- SHA-256 of the file, hexadecimal
    applied_at timestamptz NOT NULL DEFAULT now()
);

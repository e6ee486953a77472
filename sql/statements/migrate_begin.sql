-- The record of `cardbox migrate`, which it needs before the first migration.
CREATE SCHEMA IF NOT EXISTS cardbox;
CREATE TABLE IF NOT EXISTS cardbox.migrations (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL, -- SHA-256 of the file, hexadecimal
    release    text NOT NULL, -- of the program that applied it: numbers with dots
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS cardbox.functions (
    name       text COLLATE "C" PRIMARY KEY,
    checksum   text NOT NULL, -- as of migrations
    release    text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

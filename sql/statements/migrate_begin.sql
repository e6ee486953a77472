-- Creates the tables in which `cardbox migrate` records the migrations and functions that it has applied.
CREATE SCHEMA IF NOT EXISTS cardbox;
CREATE TABLE IF NOT EXISTS cardbox.migrations (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL, -- SHA-256 of the file, hexadecimal
    release    text NOT NULL, -- release of the program that applied the migration: numbers separated by dots
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS cardbox.functions (
    name       text COLLATE "C" PRIMARY KEY,
    checksum   text NOT NULL, -- as of migrations
    release    text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

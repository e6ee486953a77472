-- Creates the database of `cardbox dev`. PostgreSQL's single-user mode requires that it is one line.
CREATE DATABASE cardbox

-- Creates the database of `cardbox dev`. PostgreSQL's single-user mode requires that the statement is one line.
CREATE DATABASE cardbox

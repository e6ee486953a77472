-- Makes the database of `cardbox dev`, in PostgreSQL's single-user mode: one line.
CREATE DATABASE cardbox

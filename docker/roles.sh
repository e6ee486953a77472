#!/bin/bash
# Run once by the postgres image, as superuser, when the database is made: two log-in roles.
#   cardbox_owner    owns the database and migrates it
#   cardbox_server   what cardboxd connects as; the migrations say what its group may do
# Neither is a superuser, and the server does not own the tables: row-level security holds for it.
set -euo pipefail

psql -X -v ON_ERROR_STOP=1 -d "$POSTGRES_DB" -U "$POSTGRES_USER" \
    -v owner_password="$CARDBOX_OWNER_PASSWORD" -v server_password="$CARDBOX_SERVER_PASSWORD" <<'SQL'
CREATE ROLE cardbox_owner LOGIN CREATEROLE PASSWORD :'owner_password';
CREATE ROLE cardbox_service NOLOGIN ADMIN cardbox_owner;
CREATE ROLE cardbox_server LOGIN PASSWORD :'server_password' IN ROLE cardbox_service;
SELECT format('ALTER DATABASE %I OWNER TO cardbox_owner', current_database()) \gexec
SQL

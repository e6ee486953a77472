#!/bin/bash
# Run once by the postgres image, as superuser, when the database is made: three log-in roles.
#   cardbox_owner    owns the database and migrates it
#   cardbox_server   what cardboxd connects as; the migrations say what its group may do
#   cardbox_agent    what cardbox-worker connects as; it sees the projects that grant.sh grants it
# None is a superuser, and the last two do not own the tables: row-level security holds for them.
set -euo pipefail

psql -X -v ON_ERROR_STOP=1 -d "$POSTGRES_DB" -U "$POSTGRES_USER" \
    -v owner_password="$CARDBOX_OWNER_PASSWORD" -v server_password="$CARDBOX_SERVER_PASSWORD" \
    -v worker_password="$CARDBOX_WORKER_PASSWORD" <<'SQL'
CREATE ROLE cardbox_owner LOGIN CREATEROLE PASSWORD :'owner_password';
CREATE ROLE cardbox_service NOLOGIN ADMIN cardbox_owner;
CREATE ROLE cardbox_server LOGIN PASSWORD :'server_password' IN ROLE cardbox_service;
CREATE ROLE cardbox_worker NOLOGIN ADMIN cardbox_owner;
CREATE ROLE cardbox_agent LOGIN PASSWORD :'worker_password' IN ROLE cardbox_worker;
SELECT format('ALTER DATABASE %I OWNER TO cardbox_owner', current_database()) \gexec
SQL

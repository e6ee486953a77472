#!/bin/bash
# Run once by the postgres image, as superuser, when the database is made: three log-in roles.
#   cardbox_owner    owns the database and migrates it
#   cardbox_server   what cardboxd connects as; the migrations say what its group may do
#   cardbox_agent    what cardbox-worker connects as; it sees the projects that grant.sh grants it
# None is a superuser, and the last two do not own the tables: row-level security holds for them.
set -euo pipefail

# As that image does with its own: from a file, if there is a variable NAME_FILE that names one.
take_password() { # NAME
    local file=$1_FILE
    [ -z "${!file:-}" ] || export "$1=$(cat "${!file}")"
    [ -n "${!1:-}" ] || { echo "set $1 or $file" >&2 && return 1; }
}

for name in CARDBOX_OWNER_PASSWORD CARDBOX_SERVER_PASSWORD CARDBOX_WORKER_PASSWORD; do take_password "$name"; done
# Not as arguments, which every process of the machine may read.
psql -X -v ON_ERROR_STOP=1 -d "$POSTGRES_DB" -U "$POSTGRES_USER" <<'SQL'
\getenv owner_password CARDBOX_OWNER_PASSWORD
\getenv server_password CARDBOX_SERVER_PASSWORD
\getenv worker_password CARDBOX_WORKER_PASSWORD
CREATE ROLE cardbox_owner LOGIN CREATEROLE PASSWORD :'owner_password';
CREATE ROLE cardbox_service NOLOGIN ADMIN cardbox_owner;
CREATE ROLE cardbox_server LOGIN PASSWORD :'server_password' IN ROLE cardbox_service;
CREATE ROLE cardbox_worker NOLOGIN ADMIN cardbox_owner;
CREATE ROLE cardbox_agent LOGIN PASSWORD :'worker_password' IN ROLE cardbox_worker;
SELECT format('ALTER DATABASE %I OWNER TO cardbox_owner', current_database()) \gexec
SQL

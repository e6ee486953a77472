#!/bin/bash
# Creates three login roles. The postgres image runs this once, as superuser, when it creates the database. Without
# Docker, run it yourself: see "Roles" in docker/README.md.
#   cardbox_owner    owns the database and migrates it
#   cardbox_server   the role of cardboxd; migrations grant its rights to the group role cardbox_service
#   cardbox_agent    the role of cardbox-worker; it sees the projects that rows of cardbox.tenant_grants grant to it
# No role is a superuser, and cardbox_server and cardbox_agent do not own the tables, so row-level security applies to them.
set -euo pipefail

# Reads a password from the file that the variable NAME_FILE names, if it is set, as the postgres image does.
take_password() { # NAME
    local file=$1_FILE
    [ -z "${!file:-}" ] || export "$1=$(cat "${!file}")"
    [ -n "${!1:-}" ] || { echo "set $1 or $file" >&2 && return 1; }
}

for name in CARDBOX_OWNER_PASSWORD CARDBOX_SERVER_PASSWORD CARDBOX_WORKER_PASSWORD; do take_password "$name"; done
# The passwords are not passed as arguments, which every process of the machine may read.
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

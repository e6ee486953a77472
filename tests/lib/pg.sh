#!/usr/bin/env bash
# pg.sh: private PostgreSQL clusters for tests: trust, a unix socket in DIR, no TCP. Source it for
# its pg_* functions, or run it (the Python tests do):
#   pg.sh start DIR [SETTING=VALUE...]   makes the cluster if DIR has none, and starts it
#   pg.sh stop DIR [fast|immediate]      stops it; the data stays
#   pg.sh restart DIR [fast|immediate]
#   pg.sh standby DIR PRIMARY [SETTING=VALUE...]   a hot standby in DIR of the cluster in PRIMARY
#   pg.sh promote DIR                    makes a standby a primary
#   pg.sh age DIR XID                    restarts it, with XID as its next transaction
#   pg.sh createdb DIR NAME              an empty database; prints its owner's DSN
#   pg.sh migrated DIR NAME              the same, migrated by $CARDBOX_BUILD/bin/cardbox
#   pg.sh copied DIR NAME TEMPLATE       the same, a copy of another, to which nobody is connected
#   pg.sh dropdb DIR NAME...
# Roles, none of which needs a password: postgres (superuser), cardbox (owner of the databases),
# cardbox_app (what servers run as: in cardbox_service, owner of nothing).
#   pg.sh pooled DIR DSN                 the DSN through PgBouncer, which is started if need be
#   pg.sh remove DIR                     stops it and removes DIR

pg_bin() {
    local found
    found=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1)
    [ -n "$found" ] || found=$(command -v initdb)
    dirname "${found:?PostgreSQL is missing: run tests/deps test}"
}

# PostgreSQL refuses to run as root. From / because that user may not enter the current folder.
pg_as_owner() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

pg_psql() { # DIR DATABASE [psql's options]
    local dir=$1 database=$2
    shift 2
    PGOPTIONS='-c client_min_messages=warning' \
        psql -h "$dir" -U postgres -d "$database" -X -q -v ON_ERROR_STOP=1 "$@"
}

pg_init() { # DIR [SETTING=VALUE...]
    local dir=$1
    shift
    mkdir -p "$dir"
    [ "$(id -u)" -ne 0 ] || chown postgres: "$dir"
    chmod 755 "$dir"
    pg_as_owner "$(pg_bin)/initdb" -D "$dir/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 \
        --no-sync --no-instructions >"$dir/initdb.log" || return
    # Tests trade durability for speed; one that is about durability asks for fsync=on.
    printf '%s\n' "listen_addresses=''" "unix_socket_directories='$dir'" max_connections=500 \
        shared_buffers=64MB fsync=off full_page_writes=off log_min_messages=warning \
        "timezone='UTC'" "$@" >>"$dir/data/postgresql.conf"
}

pg_start() { # DIR [SETTING=VALUE...]
    local dir=$1
    local new=false
    if [ ! -d "$dir/data" ]; then
        new=true
        pg_init "$@" || return
    fi
    # Its output goes to a file: else it would hold the caller's pipe open.
    pg_as_owner "$(pg_bin)/pg_ctl" -D "$dir/data" -l "$dir/log" -w -s start >"$dir/pg_ctl.log" 2>&1 ||
        { cat "$dir/pg_ctl.log" "$dir/log" >&2 && return 1; }
    ! $new || pg_psql "$dir" postgres -c 'CREATE ROLE cardbox LOGIN CREATEDB CREATEROLE' \
        -c 'CREATE ROLE cardbox_app LOGIN'
}

pg_stop() { # DIR [MODE]
    pg_as_owner "$(pg_bin)/pg_ctl" -D "$1/data" -m "${2:-fast}" -w -s stop
}

pg_restart() { # DIR [MODE]
    pg_stop "$@" && pg_start "$1"
}

pg_standby() { # DIR PRIMARY [SETTING=VALUE...]
    local dir=$1 primary=$2
    shift 2
    [ "$(id -u)" -ne 0 ] || chown postgres: "$dir"
    chmod 755 "$dir"
    pg_as_owner "$(pg_bin)/pg_basebackup" -h "$primary" -U postgres -D "$dir/data" -R -c fast --no-sync || return
    printf '%s\n' "unix_socket_directories='$dir'" "$@" >>"$dir/data/postgresql.conf"
    pg_start "$dir"
}

pg_promote() { # DIR
    pg_as_owner "$(pg_bin)/pg_ctl" -D "$1/data" -w -s promote
}

# The status of all transactions around XID is in one file, which must be there.
pg_age() { # DIR XID
    local file
    file=$1/data/pg_xact/$(printf %04X $(($2 / 1048576)))
    pg_stop "$1" && pg_as_owner "$(pg_bin)/pg_resetwal" -x "$2" "$1/data" >&2 &&
        pg_as_owner truncate -s 262144 "$file" && pg_start "$1"
}

pg_createdb() { # DIR NAME
    pg_psql "$1" postgres -c "CREATE DATABASE \"$2\" OWNER cardbox" &&
        echo "host=$1 port=5432 user=cardbox dbname=$2"
}

# The first of a build is kept as it is, and the others are copies: that costs a fifth of migrating.
pg_migrated() { # DIR NAME
    local template
    template=migrated_$(stat -c %i_%Y "${CARDBOX_BUILD:-build}/bin/cardbox") || return
    (
        flock 9 # tests that run at the same time share it
        [ -e "$1/$template" ] || pg_template "$1" "$template"
    ) 9>"$1.lock" && pg_copied "$@" "$template"
}

pg_template() { # DIR NAME
    local dsn said
    # Where the last one failed, this one says why again.
    pg_psql "$1" postgres -c "DROP DATABASE IF EXISTS \"$2\"" && dsn=$(pg_createdb "$@") || return
    said=$("${CARDBOX_BUILD:-build}/bin/cardbox" migrate --dsn "$dsn" 2>&1) ||
        { echo "$said" >&2 && return 1; }
    pg_psql "$1" "$2" -c 'GRANT cardbox_service TO cardbox_app' && touch "$1/$2"
}

# PostgreSQL copies all but what ALTER DATABASE has set.
pg_copied() { # DIR NAME TEMPLATE
    pg_psql "$1" postgres <<END && echo "host=$1 port=5432 user=cardbox dbname=$2"
CREATE DATABASE "$2" OWNER cardbox TEMPLATE "$3" STRATEGY file_copy;
SELECT format('ALTER DATABASE %I SET %s', '$2', setting)
  FROM pg_db_role_setting, unnest(setconfig) AS setting
 WHERE setrole = 0 AND setdatabase = (SELECT oid FROM pg_database WHERE datname = '$3') \\gexec
END
}

pg_dropdb() { # DIR NAME...
    printf 'DROP DATABASE IF EXISTS "%s" WITH (FORCE);\n' "${@:2}" | pg_psql "$1" postgres
}

# In transaction mode and set as cardboxd(8) says, with as few server connections as there can be trouble with, taken in turn: a
# client that leaves anything in its session soon meets another's. All else is PgBouncer's default.
pg_pooler() { # DIR
    local pooler=$1/pooler
    mkdir -p "$pooler"
    [ "$(id -u)" -ne 0 ] || chown postgres: "$pooler"
    printf '"%s" ""\n' postgres cardbox cardbox_app >"$pooler/users"
    printf '%s\n' '[databases]' "* = host=$1" '[pgbouncer]' pool_mode=transaction auth_type=trust \
        "auth_file=$pooler/users" listen_port=5432 "unix_socket_dir=$pooler" default_pool_size=3 \
        server_round_robin=1 max_client_conn=500 "logfile=$pooler/log" "pidfile=$pooler/pid" \
        server_login_retry=1 query_wait_timeout=5 \
        stats_users=postgres >"$pooler/ini"
    pg_as_owner pgbouncer -q -d "$pooler/ini" || return
    # It goes into the background before it listens.
    local tries=500
    until [ -S "$pooler/.s.PGSQL.5432" ]; do
        [ "$((tries -= 1))" -gt 0 ] || return 1
        sleep 0.02
    done
}

pg_pooled() { # DIR DSN
    (
        flock 9 # tests that run at the same time share it
        [ -S "$1/pooler/.s.PGSQL.5432" ] || pg_pooler "$1" 9>&-
    ) 9>"$1.lock" && echo "${2/host=$1 /host=$1/pooler }"
}

pg_remove() { # DIR
    [ ! -f "$1/pooler/pid" ] || kill "$(cat "$1/pooler/pid")"
    rm -f "$1.lock"
    [ ! -f "$1/data/postmaster.pid" ] || pg_stop "$1" immediate
    rm -rf "$1"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -uo pipefail
    verb=${1:-}
    case "$verb" in
    start | stop | restart | standby | promote | age | createdb | migrated | copied | dropdb | pooled | remove) "pg_$verb" "${@:2}" ;;
    *) sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
fi

#!/usr/bin/env bash
# docker/, without a Docker engine: the Dockerfile's own COPY and RUN lines are run in a copy of
# the tree, and what compose.yaml starts is started by hand, with its roles and variables. What
# can't be seen here is whether the base images have what they are said to have. The packages of the image are checked on
# the release of Debian that it is made of: by tests/run debian13.
# shellcheck disable=SC2016 # what is in single quotes here are filters of jq
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

root=$PWD
# shellcheck source=tests/lib/check.sh
. tests/lib/check.sh
dir=$(mktemp -d "${TMPDIR:-/tmp}/cardbox-docker-XXXXXX")
chmod 755 "$dir" # the database's owner is another user
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
    wait
    [ ! -d "$dir/pg" ] || tests/lib/pg.sh remove "$dir/pg"
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- the Dockerfile ---

# One instruction a line: STAGE INSTRUCTION ARGUMENTS, stages counted from 1.
instructions() {
    sed -e '/^#/d' -e ':a' -e '/\\$/{N;s/\\\n */ /;ba' -e '}' docker/Dockerfile |
        awk 'NF == 0 { next } $1 == "FROM" { stage++ } { print stage, $0 }'
}

instruction() { # STAGE WORD: the arguments of each
    instructions | sed -n "s/^$1 $2 *//p"
}

packages() { # STAGE
    instruction "$1" RUN | grep -o 'apt-get install [^&]*' | tr ' ' '\n' | grep -vE '^(apt-get|install|-.*|)$'
}

# The image's release of Debian is this machine's.
is_release_of_the_image() {
    local release
    release=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' /etc/os-release)
    [ "$(instructions | grep -c " FROM debian:$release-slim")" -eq 2 ]
}

is_packaged() { # PACKAGE
    dpkg -s "$1" || apt-cache show "$1" | grep -q '^Package:'
}

# What `tests/deps` installs for building.
builder_has_the_dependencies() {
    diff <(sed -n '/^need_for_building/,/^}/s/^ *need \([^ ]*\).*/\1/p' tests/deps | sort) \
        <(packages 1 | sort)
}

# The folders and files of the build context that docker/Dockerfile.dockerignore lets through.
context() {
    [ "$(head -n 1 docker/Dockerfile.dockerignore)" = '*' ] || return
    sed -n 's/^!//p' docker/Dockerfile.dockerignore | while read -r path; do
        mkdir -p "$dir/context/$(dirname "$path")"
        cp -r "$path" "$dir/context/$path" || exit
    done
}

# COPY SOURCE... DESTINATION, from $1 to below $2.
copy() { # FROM TO SOURCE... DESTINATION
    local from=$1 to=$2/${*: -1} source
    for source in "${@:3:$#-3}"; do
        if [ -d "$from/$source" ]; then
            mkdir -p "$to" && cp -r "$from/$source/." "$to/" || return
        else
            mkdir -p "$(dirname "$to/.")" && cp "$from/$source" "$to/" || return
        fi
    done
}

build_stage_copies() {
    local line words
    while read -r line; do
        read -ra words <<<"$line"
        copy "$dir/context" "$dir/src" "${words[@]}" || return
    done < <(instruction 1 COPY)
    # Copies the objects of this build to save time. make still fails if a source that the Dockerfile
    # must copy is missing.
    local known
    for known in flags gen obj; do mkdir -p "$dir/src/build" && cp -r "build/$known" "$dir/src/build/" || return; done
}

build_stage_needs_its_sources() {
    local status
    mv "$dir/src/include" "$dir/include" || return
    (cd "$dir/src" && env -u MAKEFLAGS -u MAKELEVEL make build)
    status=$?
    mv "$dir/include" "$dir/src/include" && [ "$status" -ne 0 ]
}

build_stage_runs() {
    local line
    while read -r line; do
        (cd "$dir/src" && env -u MAKEFLAGS -u MAKELEVEL bash -c "${line//\/out/$dir/out}") || return
    done < <(instruction 1 RUN | grep -v apt-get)
    test -d "$dir/out"
}

# Everything that the second stage takes from the first; /usr/bin is below $dir/image then.
runtime_stage_copies() {
    local line words
    while read -r line; do
        read -ra words <<<"${line#--from=build }"
        copy "$dir" "$dir/image" "${words[@]}" || return
    done < <(instruction 2 COPY)
}

# Looked for once: dpkg reads the lists of all packages for each file.
package_of() { # FILE
    local known=$dir/owners/${1//\//,}
    mkdir -p "$dir/owners"
    [ -s "$known" ] || find_package "$1" >"$known"
    cat "$known"
}

find_package() { # FILE
    local path
    for path in "$1" "/usr$1" "${1#/usr}" "$(readlink -f "$1")"; do
        dpkg -S "$path" 2>/dev/null | grep -v '^diversion ' | sed 's/:.*//' | grep . && return
    done
    echo "no package has $1"
}

# The packages that come with the ones named, by their dependencies as installed here.
with_dependencies() { # PACKAGE...
    apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts \
        --no-breaks --no-replaces --no-enhances "$@" | grep '^[a-z]' | sed 's/:.*//' | sort -u
}

# Every shared library of a program is in the runtime stage's packages, or comes with them. libc is
# in every image.
libraries_are_there() { # PROGRAM
    local path package named known missing=0
    test -x "$1" || return
    mapfile -t named < <(packages 2)
    known=$(with_dependencies "${named[@]}" libc6)
    ! ldd "$1" | grep 'not found' || return
    while read -r path; do
        package=$(package_of "$path")
        grep -qx "$package" <<<"$known" && continue
        echo "$path is in $package"
        missing=1
    done < <(ldd "$1" | grep -o '/[^ ]*')
    [ "$missing" -eq 0 ]
}

# The other way round: nothing is installed that no program needs. Whom to trust (TLS of models'
# servers) is read, not linked.
package_is_needed() { # PACKAGE
    local path
    [ "$1" != ca-certificates ] || return 0
    while read -r path; do
        [ "$(package_of "$path")" != "$1" ] || return 0
    done < <(ldd "$dir"/image/usr/bin/* | grep -o '/lib[^ ]*' | sort -u)
    return 1
}

image_has_the_entrypoint() {
    local program
    program=$(instruction 2 ENTRYPOINT | jq -r '.[0]')
    test -x "$dir/image/usr/bin/$program"
}

runs_as_a_user_of_its_own() {
    local user
    user=$(instruction 2 USER)
    [ -n "$user" ] && [ "$user" != root ] && instruction 2 RUN | grep -E "^useradd .* $user$"
}

# --- compose.yaml ---

passwords=(CARDBOX_POSTGRES_PASSWORD CARDBOX_OWNER_PASSWORD CARDBOX_SERVER_PASSWORD CARDBOX_WORKER_PASSWORD)
for name in "${passwords[@]}"; do export "$name=secret"; done
export CARDBOX_TLS_DIR=$dir/tls

compose() { # JQ-FILTER [FILE]
    tests/docker/compose.py "docker/${2:-compose.yaml}" | jq -er "$1"
}

needs_every_password() {
    local name
    for name in "${passwords[@]}"; do
        ! env -u "$name" tests/docker/compose.py docker/compose.yaml 2>"$dir/refusal" &&
            grep -F "variable $name is missing a value: set it in" "$dir/refusal" || return
    done
}

names_what_exists() {
    compose '.services | keys as $services | [.[] | .depends_on // {} | keys[]] - $services == []' &&
        compose '. as $all | [.services[].networks // [] | .[]] - ($all.networks | keys) == []' &&
        compose '. as $all | [.services[].volumes // [] | .[] | split(":")[0] | select(startswith(".") | not)]
                 - ($all.volumes | keys) == []' &&
        test -f "docker/$(compose '.services.migrate.build.context')/$(compose '.services.migrate.build.dockerfile')" &&
        compose '[.services[].volumes // [] | .[] | split(":")[0] | select(startswith("."))] | .[]' |
        while read -r path; do test -x "docker/$path" || exit; done
}

# The others start after it, and none of them pulls.
one_service_builds() {
    compose '[.services[] | select(.build)] | length == 1' &&
        compose '[.services[] | select(.image == "cardbox")] | length == 4 and all(.pull_policy == "never")' &&
        compose '.services | . as $all | def needs: [.depends_on // {} | keys[] | ., ($all[.] | needs[])];
                 [.[] | select(.image == "cardbox" and (.build | not)) | needs | index("migrate")] | all'
}

publishes_on_loopback_only() {
    compose '[.services[].ports // [] | .[]] | length > 0 and all(startswith("127.0.0.1:"))'
}

# Every CARDBOX_ variable of a service is one that its program reads.
knows_variables() { # SERVICE PROGRAM [SUBCOMMAND]
    local name known
    known=$("$dir/image/usr/bin/$2" "${@:3}" --help) || return
    for name in $(compose ".services[\"$1\"].environment | keys[] | select(startswith(\"CARDBOX_\"))"); do
        grep -qwF "$name" <<<"$known" || { echo "$2 does not know $name" && return 1; }
    done
}

port_is_exposed() {
    [ "$(instruction 2 EXPOSE)" = "$(compose '.services.cardboxd.ports[0] | split(":")[2]')" ] &&
        compose '.services.cardboxd.environment.CARDBOX_LISTEN' | grep -x "0.0.0.0:$(instruction 2 EXPOSE)"
}

# --- what compose.yaml starts, started here ---

start_database() {
    tests/lib/pg.sh start "$dir/pg" &&
        psql -h "$dir/pg" -U postgres -d postgres -X -q -c 'CREATE DATABASE cardbox'
}

# One password in a file: the others in the environment.
make_roles() {
    echo 'it:is' >"$dir/worker_password"
    PGHOST=$dir/pg POSTGRES_DB=cardbox POSTGRES_USER=postgres CARDBOX_OWNER_PASSWORD="it's" \
        CARDBOX_SERVER_PASSWORD=b CARDBOX_WORKER_PASSWORD_FILE=$dir/worker_password docker/roles.sh
}

roles_need_passwords() {
    ! env -u CARDBOX_OWNER_PASSWORD PGHOST="$dir/pg" POSTGRES_DB=cardbox POSTGRES_USER=postgres docker/roles.sh 2>"$dir/refusal" &&
        grep -F 'set CARDBOX_OWNER_PASSWORD or CARDBOX_OWNER_PASSWORD_FILE' "$dir/refusal"
}

# A service's CARDBOX_DSN with this cluster's folder in the place of the host.
dsn_of() { # SERVICE
    compose ".services[\"$1\"].environment.CARDBOX_DSN" | sed "s|host=db|host=$dir/pg|"
}

migrate() {
    local words
    mapfile -t words < <(compose '.services.migrate | .entrypoint + .command | .[]')
    CARDBOX_DSN=$(dsn_of migrate) "$dir/image/usr/bin/${words[0]}" "${words[@]:1}"
}

# As the service does, but for what only Docker gives it: the host's name, and a password.
grant() { # PROJECT,...
    local script
    script=$(compose '.services.grant | .volumes[0] | split(":")[0]') &&
        PGHOST=$dir/pg PGDATABASE=$(compose '.services.grant.environment.PGDATABASE' | tr -d '"') \
            PGUSER=$(compose '.services.grant.environment.PGUSER' | tr -d '"') \
            CARDBOX_PROJECT=$1 "docker/$script"
}

sees_projects() { # WHAT-THE-DOCTOR-SAYS
    CARDBOX_DSN=$(dsn_of worker) "$dir/image/usr/bin/cardbox" doctor >"$dir/doctor" || return
    grep -qE "^ok .* worker: sees $1\$" "$dir/doctor" || { cat "$dir/doctor" && return 1; }
}

worker_sees_what_it_was_granted() {
    sees_projects 'project .*' && return 1 # nothing yet
    grant demo,other && sees_projects 'projects demo, other' && grant demo && sees_projects 'project demo'
}

# A server that asks the worker's role for its password, which is in a file.
password_in_a_file() {
    local dsn
    dsn="$(dsn_of worker) passfile=$dir/secret"
    sed -i '1i local all cardbox_agent scram-sha-256' "$dir/pg/data/pg_hba.conf" &&
        psql -h "$dir/pg" -U postgres -d cardbox -X -q -c 'SELECT pg_reload_conf()' &&
        (umask 077 && echo '*:*:cardbox:cardbox_agent:it\:is' >"$dir/secret") &&
        "$dir/image/usr/bin/cardbox" task list --project demo --dsn "$dsn" || return
    chmod 644 "$dir/secret" && ! "$dir/image/usr/bin/cardbox" task list --project demo --dsn "$dsn"
}

# A program that is process 1 ignores each signal that it does not handle itself.
ends_when_it_is_told() {
    compose '[.services[] | select(.image == "cardbox") | .init] | length == 4 and all'
}

# Docker kills a service after 10 seconds: fewer than each of them may need to stop.
stops_in_its_own_time() {
    compose '[.services[] | select(.restart == "unless-stopped") | .stop_grace_period // "0s" | rtrimstr("s") | tonumber]
             | length == 3 and all(. > 30)' && compose '.services.db.stop_grace_period == "60s"'
}

work() {
    local turn worker
    CARDBOX_DSN=$(dsn_of worker) CARDBOX_PROJECT=demo CARDBOX_MODEL_URL=http://model.invalid/v1 CARDBOX_MODEL=none \
        "$dir/image/usr/bin/cardbox-worker" >"$dir/worker.log" 2>&1 &
    worker=$!
    for ((turn = 0; turn < 300; turn++)); do
        ! grep -q '^ready: ' "$dir/worker.log" || break
        sleep 0.1
    done
    kill -TERM "$worker" && wait "$worker" && grep '^ready: ' "$dir/worker.log" && return
    cat "$dir/worker.log"
    return 1
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

serve() {
    local turn
    CARDBOX_DSN=$(dsn_of cardboxd) CARDBOX_LISTEN=0.0.0.0:$port \
        "$dir/image/usr/bin/cardboxd" >"$dir/cardboxd.log" 2>&1 &
    server=$!
    for ((turn = 0; turn < 600; turn++)); do
        ! curl -sf "http://127.0.0.1:$port/readyz" || return 0
        sleep 0.1
    done
    cat "$dir/cardboxd.log"
    return 1
}

refuses_without_a_token() {
    [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/projects/p/cards/none")" = 401 ] &&
        grep -F "cardbox token create" "$dir/cardboxd.log"
}

make_token() {
    local words
    mapfile -t words < <(compose '.services.cardbox.entrypoint[]')
    token=$(CARDBOX_DSN=$(dsn_of cardbox) "$dir/image/usr/bin/${words[0]}" token create --name first \
        --all-tenants --scope read,write,tasks,admin)
}

asks_for_the_token() {
    local card=http://127.0.0.1:$port/projects/p/cards/none
    local turn
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$card")" = 401 ] || return
    for ((turn = 0; turn < 100; turn++)); do # a new token is known within a second
        [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$card")" != 404 ] || return 0
        sleep 0.1
    done
    return 1
}

healthcheck() {
    local words
    mapfile -t words < <(instruction 2 HEALTHCHECK | sed 's/.* CMD //' | jq -r '.[]')
    "${words[@]//8099/$port}"
}

sick() { ! healthcheck; }

# Something that takes connections, and is no HTTP server.
healthcheck_with_tls() {
    CARDBOX_TLS_CERT=cert.pem healthcheck && ! CARDBOX_TLS_CERT=cert.pem port=1 healthcheck
}

make_pair() { # NAME: as a program that renews certificates, which replaces the files
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "/CN=$1" \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/new_key" -out "$dir/new_cert" &&
        mkdir -p "$dir/tls" && mv "$dir/new_key" "$dir/tls/key.pem" && mv "$dir/new_cert" "$dir/tls/cert.pem"
}

# A path in the container, below the folder that compose.tls.yaml mounts.
mounted() { # VARIABLE
    compose ".services.cardboxd.environment.$1" compose.tls.yaml |
        sed "s|^$(compose '.services.cardboxd.volumes[0] | split(":")[1]' compose.tls.yaml)/|$dir/tls/|"
}

answers_with_its_certificate() {
    curl -sf --cacert "$dir/tls/cert.pem" "https://127.0.0.1:$port/readyz"
}

serve_with_tls() {
    local turn
    make_pair first || return
    CARDBOX_DSN=$(dsn_of cardboxd) CARDBOX_LISTEN=0.0.0.0:$port CARDBOX_TLS_CERT=$(mounted CARDBOX_TLS_CERT) \
        CARDBOX_TLS_KEY=$(mounted CARDBOX_TLS_KEY) "$dir/image/usr/bin/cardboxd" >"$dir/cardboxd.log" 2>&1 &
    server=$!
    for ((turn = 0; turn < 600; turn++)); do
        ! answers_with_its_certificate || return 0
        sleep 0.1
    done
    cat "$dir/cardboxd.log"
    return 1
}

renew() {
    local turn
    make_pair second && ! answers_with_its_certificate && kill -HUP "$server" || return
    for ((turn = 0; turn < 100; turn++)); do
        ! answers_with_its_certificate || return 0
        sleep 0.1
    done
    return 1
}

stop() {
    kill -TERM "$server" && wait "$server"
    local status=$?
    server=
    [ "$status" -eq 0 ] || cat "$dir/cardboxd.log"
    return "$status"
}

if is_release_of_the_image; then
    for package in $(packages 1) $(packages 2); do check "Debian has $package" is_packaged "$package"; done
else
    echo "SKIPPED: the packages of the image: tests/run debian13 checks them"
fi
check "the builder has what tests/deps installs" builder_has_the_dependencies
check "build context" context
check "build stage: COPY" build_stage_copies
check "build stage: make fails without one of the copied folders" build_stage_needs_its_sources
check "build stage: RUN" build_stage_runs
check "runtime stage: COPY" runtime_stage_copies
check "runtime stage: entry point" image_has_the_entrypoint
check "runtime stage: not root" runs_as_a_user_of_its_own
if is_release_of_the_image; then
    for program in cardboxd cardbox cardbox-worker; do
        check "$program: its libraries" libraries_are_there "$dir/image/usr/bin/$program"
    done
    for package in $(packages 2); do check "$package is needed" package_is_needed "$package"; done
fi

check "compose.yaml names what exists" names_what_exists
check "compose.yaml builds the image once" one_service_builds
check "compose.yaml needs every password" needs_every_password
check "compose.yaml publishes on 127.0.0.1 only" publishes_on_loopback_only
check "compose.yaml leaves services time to stop" stops_in_its_own_time
check "compose.yaml has what passes signals on" ends_when_it_is_told
check "compose.yaml and the Dockerfile agree on the port" port_is_exposed
check "migrate: its variables" knows_variables migrate cardbox migrate
check "cardboxd: its variables" knows_variables cardboxd cardboxd
check "worker: its variables" knows_variables worker cardbox-worker
check "database" start_database
check "roles.sh wants passwords" roles_need_passwords
check "roles.sh" make_roles
check "cardbox migrate as the owner" migrate
check "the worker's role sees what it was granted" worker_sees_what_it_was_granted
check "cardbox-worker as that role" work
check "a password in a file" password_in_a_file
port=$(free_port) # as late as can be: others take some meanwhile
check "cardboxd with compose.yaml's variables" serve
check "cardboxd refuses requests as long as there is no token" refuses_without_a_token
check "cardbox token create" make_token
check "cardboxd asks for the token" asks_for_the_token
check "health check: healthy" healthcheck
check "health check: with TLS" healthcheck_with_tls
check "cardboxd stops" stop
check "health check: stopped" sick
check "cardboxd with compose.tls.yaml's variables" serve_with_tls
check "cardboxd uses a new certificate after SIGHUP" renew
check "cardboxd with TLS stops" stop

cd "$root" || exit 1
check_summary

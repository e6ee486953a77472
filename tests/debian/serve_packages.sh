#!/usr/bin/env bash
# Runs in a root of Debian with the packages in /src/1 installed, as docker/README.md says: roles, migrations, a server with
# the program, the user's rights and the variables of its unit. The server is upgraded to the packages in /src/2.
set -uo pipefail
# shellcheck source=tests/lib/check.sh
. /src/check.sh
version=$1
dir=$(mktemp -d)
server=

units_name_programs() {
    local unit units
    mapfile -t units < <(dpkg -L cardbox | grep '/systemd/system/.')
    [ ${#units[@]} -eq 3 ] || return
    for unit in "${units[@]}"; do
        [[ $unit == *.socket ]] || test -x "$(sed -n 's/^ExecStart=//p' "$unit")" || return
    done
}

has_manuals() {
    local page
    for page in man1/cardbox.1 man8/cardboxd.8 man8/cardbox-worker.8; do
        gzip -t "/usr/share/man/$page.gz" || return
    done
}

create_database() {
    local release
    release=$(pg_lsclusters -h | awk '{ print $1 }')
    pg_ctlcluster "$release" main start && runuser -u postgres -- createdb -E UTF8 -T template0 cardbox || return
    POSTGRES_DB=cardbox POSTGRES_USER=postgres CARDBOX_OWNER_PASSWORD=o CARDBOX_SERVER_PASSWORD=s \
        CARDBOX_WORKER_PASSWORD=w runuser -u postgres -- bash </usr/share/cardbox/roles.sh
}

configure() {
    install -D -m 600 /usr/share/doc/cardbox/examples/cardboxd.env /etc/cardbox/cardboxd.env &&
        install -m 600 /usr/share/doc/cardbox/examples/worker.env /etc/cardbox/worker-one.env &&
        sed -i 's/^PGPASSWORD=.*/PGPASSWORD=s/' /etc/cardbox/cardboxd.env
}

# As `systemctl enable` does.
enable_units() {
    local folder wanted=/etc/systemd/system/multi-user.target.wants
    folder=$(dirname "$(dpkg -L cardbox | grep '/cardboxd.service$')") && mkdir -p "$wanted" &&
        ln -s "$folder/cardboxd.service" "$wanted/" &&
        ln -s "$folder/cardbox-worker@.service" "$wanted/cardbox-worker@one.service"
}

migrate() {
    CARDBOX_DSN='host=127.0.0.1 dbname=cardbox user=cardbox_owner' PGPASSWORD=o cardbox migrate
}

make_token() {
    token=$(CARDBOX_DSN='host=127.0.0.1 dbname=cardbox user=cardbox_owner' PGPASSWORD=o \
        cardbox token create --name first --all-tenants --scope read,write) && [ -n "$token" ]
}

# As the unit does: a user without rights, and no other variables.
start_server() {
    local unit turn settings
    unit=$(dpkg -L cardbox | grep '/cardboxd.service$')
    mapfile -t settings < <(grep -E '^[A-Z_]+=' "$(sed -n 's/^EnvironmentFile=//p' "$unit")")
    setpriv --reuid nobody --regid nogroup --clear-groups env -i "${settings[@]}" \
        "$(sed -n 's/^ExecStart=//p' "$unit")" 2>"$dir/cardboxd.log" &
    server=$!
    for ((turn = 0; turn < 600; turn++)); do
        ! curl -sf http://127.0.0.1:8099/readyz || return 0
        kill -0 "$server" || break
        sleep 0.1
    done
    cat "$dir/cardboxd.log"
    return 1
}

stop_server() {
    kill -TERM "$server" && wait "$server"
}

# A server knows a new token within a second.
request() { # PATH [curl's options]
    curl -sS -f --retry 30 --retry-all-errors --retry-delay 1 -H "Authorization: Bearer $token" "${@:2}" \
        "http://127.0.0.1:8099/projects/demo/$1"
}

writes_a_card() {
    request cards -H 'Content-Type: application/json' -d '{"card_id": "one", "type": "note", "content": {"text": "kept"}}'
}

reads_the_card() { request cards/one | tee /dev/stderr | grep -F '"kept"'; }
upgrades() { dpkg -i /src/2/cardbox_*.deb /src/2/lib*[0-9]_*.deb && kill -0 "$server"; }
has_version() { [ "$(dpkg-query -W -f '${Version}' cardbox)" = "$1" ]; }
same_version() { [[ $(cardboxd --version) == *"$version"* ]]; }

check "the programs have the version $version" same_version
check "the units start installed programs" units_name_programs
check "the manuals are there" has_manuals
check "the database and roles.sh" create_database
check "the unit's variables, from the example" configure
check "the units are enabled" enable_units
check "cardbox migrate" migrate
check "cardbox token create" make_token
check "cardboxd, as its unit starts it" start_server
check "a card is written" writes_a_card
check "an upgrade leaves the server running" upgrades
check "the higher version is installed" has_version "$version+2"
check "the card is read during the upgrade" reads_the_card
check "the server stops" stop_server
check "the upgraded server starts" start_server
check "the card is read after the upgrade" reads_the_card
check "the upgraded server stops" stop_server
check_summary

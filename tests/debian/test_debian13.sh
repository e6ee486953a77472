#!/usr/bin/env bash
# The tree, built in Debian 13 by its compiler, and tested with its PostgreSQL and libraries: the groups unit, store, http,
# cli, worker and docker. The first time it takes minutes to install the packages. Logs: build/test-logs/debian13.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/debian_root.sh
. tests/lib/debian_root.sh

root=$(root_made 13 tests) || root_skip 13
root_tree "$root" || exit
rm -rf "$root/src/cardbox/build/test-logs"
groups=("$@")
[ $# -gt 0 ] || groups=(unit store http cli worker docker)
root_run "$root" tests/run "${groups[@]}"
status=$?
rm -rf build/test-logs/debian13
mkdir -p build/test-logs
cp -r "$root/src/cardbox/build/test-logs" build/test-logs/debian13
# What follows the summary would hide it.
exit "$status"

#!/usr/bin/env bash
# The packages of `make deb`, in clean roots of Debian 12 and 13 (or of the releases that are named): built there twice, the
# second time with a higher version, then installed, used and upgraded by serve_packages.sh, and purged without a trace.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/debian_root.sh
. tests/lib/debian_root.sh
# shellcheck source=tests/lib/check.sh
. tests/lib/check.sh

dir=$(mktemp -d "${TMPDIR:-/tmp}/cardbox-packages-XXXXXX")
installed=
trap 'rm -rf "$dir" "$installed"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
version=$(sed -n 's/^#define CARDBOX_VERSION  *"\(.*\)"/\1/p' include/cardbox/version.h)
library=libcardbox${version%.*} # as the soname, which has the minor version while the major one is 0
names=(cardbox "$library" libcardbox-dev)
apt=(apt-get -q -y --no-install-recommends)

# The build root gets what the packages say that their build needs, and nothing else.
install_build_depends() {
    mkdir -p "$build/src/needs/debian" && cp docker/debian/control "$build/src/needs/debian/" &&
        root_run "$build" "${apt[@]}" build-dep /src/needs
}

make_packages() { # FOLDER VERSION
    local file
    root_run "$build" make deb DEB_VERSION="$2" && mkdir -p "$dir/$1" &&
        cp "$build/src/cardbox/build/deb/"*.deb "$dir/$1/" && rm -f "$dir/$1/"*-dbgsym_* || return
    [ "$(for file in "$dir/$1"/*.deb; do dpkg-deb -f "$file" Package; done)" = "$(printf '%s\n' "${names[@]}" | sort)" ]
}

# In the build's root, which has a compiler and pkg-config.
compiles_a_program() {
    local status
    rm -rf "$build/src/packages"
    cp -r "$dir/1" "$build/src/packages"
    cat >"$build/src/packages/program.c" <<'C'
#include <cardbox.h>
#include <stdio.h>

int main(void)
{
    return puts(cardbox_version()) < 0;
}
C
    # shellcheck disable=SC2016 # the inner shell's
    root_run "$build" bash -euxc 'cd /src/packages && dpkg -i libcardbox*.deb && man=/usr/share/man/man3/cardbox.3.gz
        cc -o program program.c $(pkg-config --cflags --libs cardbox)
        gzip -t "$man" && ldd program | grep -F libcardbox.so && [ "$(./program)" = "$1" ]' bash "$version"
    status=$?
    root_run "$build" dpkg --purge libcardbox-dev "$library" || return
    return "$status"
}

# Type, mode, owner, name and target of all files, but for what apt, the database and running programs write.
list_files() {
    (cd "$installed" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/lib/postgresql \
        -o -path ./var/cache -o -path ./var/log -o -path ./run -o -path ./tmp -o -path ./src -o -path ./dev \
        -o -path ./root \) -prune -o -printf '%y %m %U %G %p %l\n' | sort)
}

install_packages() {
    list_files >"$dir/before"
    cp -r "$dir/1" "$dir/2" tests/lib/check.sh tests/debian/serve_packages.sh "$installed/src/" &&
        root_run "$installed" sh -c "${apt[*]} install /src/1/cardbox_*.deb /src/1/lib*[0-9]_*.deb"
}

# Counts a failure if the script ended without its summary.
serve_packages() {
    local passed_there failed_there
    ROOT_OFFLINE=1 root_run "$installed" bash /src/serve_packages.sh "$version" | tee "$dir/served"
    read -r passed_there _ failed_there _ < <(tail -n 1 "$dir/served" | grep -E '^[0-9]+ passed, [0-9]+ failed$')
    passed=$((passed + ${passed_there:-0})) failed=$((failed + ${failed_there:-1}))
}

purge_packages() {
    ROOT_OFFLINE=1 root_run "$installed" "${apt[@]}" purge cardbox "$library" &&
        ROOT_OFFLINE=1 root_run "$installed" "${apt[@]}" autoremove --purge
}

leaves_no_trace() {
    list_files >"$dir/after"
    diff "$dir/before" "$dir/after" && ! grep -rl cardbox "$installed/etc" "$installed/var/lib/dpkg/info"
}

[ $# -gt 0 ] || set -- 12 13
for release in "$@"; do
    build=$(root_made "$release" build) || root_skip "$release"
    database=$(root_made "$release" database) || root_skip "$release"
    echo "# Debian $release"
    root_tree "$build" || exit
    check "packages that the build needs" install_build_depends
    check "make deb" make_packages 1 "$version"
    check "make deb with a higher version" make_packages 2 "$version+2"
    check "a program with libcardbox-dev" compiles_a_program
    check "PostgreSQL and curl" root_run "$database" "${apt[@]}" install postgresql curl
    installed=${database%/*}/installed
    check "a root for the packages" root_copied "$database" "$installed"
    check "the packages are installed" install_packages
    serve_packages
    check "the packages are purged" purge_packages
    check "no trace is left" leaves_no_trace
    rm -rf "$installed" "${dir:?}"/[12]
done
check_summary

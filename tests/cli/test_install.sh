#!/usr/bin/env bash
# `make install` into a temporary DESTDIR: what a C or C++ program needs is there, found through
# pkg-config, and linked with the shared or the static library it runs. `make uninstall` leaves
# nothing behind.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

build=${CARDBOX_BUILD:-build}
build=${build#"$PWD"/} # as make was called: the same flags, so nothing is built again
if [ "$build" != build ]; then
    echo "SKIPPED: install: what is installed is the plain build"
    echo "0 passed, 0 failed"
    exit 0
fi

# shellcheck source=tests/lib/check.sh
. tests/lib/check.sh
dir=$(mktemp -d "${TMPDIR:-/tmp}/cardbox-install-XXXXXX")
trap 'rm -rf "$dir"' EXIT
root=$dir/root
lib=$root/usr/lib/somewhere
version=$(sed -n 's/^#define CARDBOX_VERSION  *"\(.*\)"/\1/p' include/cardbox/version.h)
case $version in # a minor version may be another ABI while the major one is 0
0.*) abi=${version%.*} ;;
*) abi=${version%%.*} ;;
esac

make_it() { # TARGET
    make -s BUILD="$build" DESTDIR="$root" PREFIX=/usr LIBDIR=/usr/lib/somewhere "$1"
}

# The installed pkg-config file, as if $root were /.
flags() {
    PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@" cardbox
}

is_file() { test -f "$root/usr/$1" && ! test -L "$root/usr/$1"; }
is_program() { test -x "$root/usr/bin/$1" && "$root/usr/bin/$1" --version | grep -F "$version"; }
links_to() { [ "$(readlink "$lib/$1")" = "$2" ]; }
soname_is() { readelf -d "$lib/libcardbox.so.$version" | grep -F "SONAME" | grep -F "[$1]"; }
version_is() { [ "$(flags --modversion)" = "$version" ]; }
says_where() { [ "$(make_it install | tail -n 1)" = "installed in $root/usr" ]; }
names_no_destdir() { ! grep -rF "$dir" "$lib/pkgconfig/cardbox.pc"; }
same_headers() { diff -r -x README.md include "$root/usr/include"; }
manual_is_clean() { # FILE
    local complaints
    complaints=$(groff -mandoc -ww -z -Tutf8 "$root/usr/share/man/$1" 2>&1) && [ -z "$complaints" ] && return
    echo "$complaints"
    return 1
}

cat >"$dir/program.c" <<'C'
#include <cardbox.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char id[CARDBOX_UUID_SIZE];
    char *content = NULL;
    cardbox *db = NULL;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;

    cardbox_uuid7(id);
    if (!cardbox_uuid_parse(NULL, id) || strcmp(cardbox_version(), CARDBOX_VERSION) != 0)
        return 1;
    if (cardbox_text_content(&content, "hello", &err) != CARDBOX_OK)
        return 2;
    cardbox_free(content);
    options.conninfo = "no such parameter=1";
    if (cardbox_open(&db, &options, &err) != CARDBOX_INVALID || err.message[0] == '\0')
        return 3;
    puts(cardbox_status_name(err.status));
    return 0;
}
C
cp "$dir/program.c" "$dir/program.cc"
cat >"$dir/with_jansson.c" <<'C'
#include <cardbox/jansson.h>
#include <stdio.h>

int main(void)
{
    cardbox_card card = CARDBOX_CARD_INIT;
    json_error_t error;
    json_t *content = NULL;

    card.content = "{ \"a\": 1 }";
    content = cardbox_jansson_content(&card, JSON_REJECT_DUPLICATES, &error);
    if (content == NULL)
        return fprintf(stderr, "%s\n", error.text), 1;
    json_dumpf(content, stdout, JSON_COMPACT);
    json_decref(content);
    return 0;
}
C
cp "$dir/with_jansson.c" "$dir/with_jansson.cc"

# The compiler's flags come from pkg-config, word by word.
compile_and_run() { # COMPILER SOURCE shared|static
    local cflags libs
    read -ra cflags < <(flags --cflags)
    if [ "$3" = static ]; then
        # Without the shared library the linker takes the other one.
        mkdir -p "$dir/static"
        cp "$lib/libcardbox.a" "$dir/static"
        read -ra libs < <(flags --libs --static | sed "s|-L$lib|-L$dir/static|")
    else
        read -ra libs < <(flags --libs)
    fi
    "$1" -Wall -Wextra -Werror -pedantic "${cflags[@]}" -o "$dir/program" "$2" "${libs[@]}" || return
    if [ "$3" = static ]; then
        ! ldd "$dir/program" | grep -F libcardbox || return
        [ "$("$dir/program")" = invalid ]
    else
        [ "$(LD_LIBRARY_PATH=$lib "$dir/program")" = invalid ]
    fi
}

# <cardbox/jansson.h> is for programs that link jansson; the library and the server do not.
needs_no_jansson() { ! readelf -d "$lib/libcardbox.so.$version" "$root/usr/bin/cardboxd" | grep -F jansson; }
program_with_jansson() { # COMPILER SOURCE
    local words
    read -ra words < <(flags --cflags --libs)
    "$1" -Wall -Wextra -Werror -o "$dir/with_jansson" "$2" "${words[@]}" -ljansson &&
        [ "$(LD_LIBRARY_PATH=$lib "$dir/with_jansson")" = '{"a":1}' ]
}

# As if $root were /: what it starts is there, and systemd knows each line.
unit_is_right() { # NAME
    local unit=$root/usr/lib/systemd/system/$1 said
    test -x "$root$(sed -n 's/^ExecStart=//p' "$unit")" && ! grep -F /usr/local "$unit" || return
    command -v systemd-analyze || return 0
    said=$(systemd-analyze verify --man=no --root="$root" "$unit" 2>&1 | grep "$1:[0-9]")
    [ -z "$said" ] && return
    echo "$said"
    return 1
}

socket_is_right() { # NAME, with the address that the server listens on by default
    local unit=$root/usr/lib/systemd/system/$1 said
    "$root/usr/bin/cardboxd" --help | tr -s ' \n' ' ' | grep -F "$(sed -n 's/^ListenStream=//p' "$unit")" || return
    command -v systemd-analyze || return 0
    said=$(systemd-analyze verify --man=no --root="$root" "$unit" 2>&1 | grep "$1:[0-9]")
    [ -z "$said" ]
}

# Each variable of an example, also those in comments, is one of its program or of libpq.
knows_example() { # FILE PROGRAM
    local name names
    names=$(sed -n 's/^#\{0,1\}\([A-Z_]*\)=.*/\1/p' "$root/usr/share/doc/cardbox/examples/$1")
    grep -qx CARDBOX_DSN <<<"$names" || return
    for name in $names; do
        [ "$name" = PGPASSWORD ] || "$root/usr/bin/$2" --help | grep -w "$name" || return
    done
}

# Fails before it connects to a database.
roles_script_runs() {
    ! env -u CARDBOX_OWNER_PASSWORD "$root/usr/share/cardbox/roles.sh" 2>"$dir/said" && grep "set CARDBOX_OWNER_PASSWORD" "$dir/said"
}

# A program may call its own functions what it likes, also where the library is part of it.
archive_keeps_to_itself() {
    nm --defined-only --extern-only "$lib/libcardbox.a" | awk 'NF == 3 { print $3 }' >"$dir/names"
    grep -qx cardbox_open "$dir/names" && ! grep -v '^cardbox_' "$dir/names"
}

nothing_left() {
    [ -z "$(find "$root" -type f -o -type l)" ] && ! test -d "$root/usr/include/cardbox" &&
        ! test -d "$root/usr/share/doc/cardbox" && ! test -d "$root/usr/share/cardbox"
}

check "make install" make_it install
for program in cardboxd cardbox cardbox-worker; do check "$program runs" is_program "$program"; done
for file in include/cardbox.h share/man/man1/cardbox.1 share/man/man3/cardbox.3 \
    share/man/man8/cardboxd.8 share/man/man8/cardbox-worker.8 \
    lib/systemd/system/cardboxd.service lib/systemd/system/cardbox-worker@.service \
    lib/systemd/system/cardboxd.socket share/doc/cardbox/examples/cardboxd.env \
    share/doc/cardbox/examples/worker.env share/cardbox/roles.sh share/doc/cardbox/LICENSE lib/somewhere/libcardbox.a "lib/somewhere/libcardbox.so.$version"; do
    check "$file" is_file "$file"
done
check "the headers are those of include/" same_headers
check "libcardbox.so.$abi" links_to "libcardbox.so.$abi" "libcardbox.so.$version"
check "libcardbox.so" links_to libcardbox.so "libcardbox.so.$abi"
check "the Debian package of libcardbox.so.$abi" test -f "docker/debian/libcardbox$abi.install"
check "soname" soname_is "libcardbox.so.$abi"
check "libcardbox.a defines only what is public" archive_keeps_to_itself
check "cardbox.pc: version" version_is
check "cardbox.pc: no DESTDIR" names_no_destdir
for page in man1/cardbox.1 man3/cardbox.3 man8/cardboxd.8 man8/cardbox-worker.8; do check "$page is clean" manual_is_clean "$page"; done
for kind in shared static; do
    check "C program, $kind" compile_and_run gcc "$dir/program.c" "$kind"
    check "C++ program, $kind" compile_and_run g++ "$dir/program.cc" "$kind"
done
check "C program with jansson" program_with_jansson gcc "$dir/with_jansson.c"
check "C++ program with jansson" program_with_jansson g++ "$dir/with_jansson.cc"
check "the library and the server need no jansson" needs_no_jansson
for unit in cardboxd.service cardbox-worker@.service; do check "$unit is right" unit_is_right "$unit"; done
check "cardboxd.socket is right" socket_is_right cardboxd.socket
check "cardboxd.env has variables of cardboxd" knows_example cardboxd.env cardboxd
check "worker.env has variables of cardbox-worker" knows_example worker.env cardbox-worker
check "roles.sh runs" roles_script_runs
check "make install again says where" says_where
check "make uninstall" make_it uninstall
check "nothing is left" nothing_left

check_summary

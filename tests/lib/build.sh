# build.sh: the builds that tests run on. A variant is plain, asan, tsan or valgrind (which is the
# plain build under valgrind) or pooled (the plain build behind PgBouncer); fuzz is asan by clang with
# coverage for libFuzzer.
# shellcheck shell=bash

BUILT=

variant_build() { # VARIANT
    case "$1" in
    plain | valgrind | pooled) echo build ;;
    *) echo "build/$1" ;;
    esac
}

variant_make() { # VARIANT: the variables that make gets for it, one a line
    case "$1" in
    asan) echo "CFLAGS=-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" ;;
    tsan) echo "CFLAGS=-O1 -g1 -fsanitize=thread -fno-omit-frame-pointer" ;;
    fuzz)
        echo "CC=clang"
        echo "CFLAGS=-O1 -g1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
        ;;
    esac
}

# The targets of make. The first build also makes the files of `make install`, because several tests
# run that at once. Fuzz targets are linked with archives only, and the programs are not built.
variant_targets() { # VARIANT
    if [ "$1" = fuzz ]; then
        echo build/fuzz/lib/libcardbox.a
        find src/app src/outbound src/server src/worker -name '*.c' | sed 's|^src/\(.*\)c$|build/fuzz/obj/\1o|'
    elif [ "$(variant_build "$1")" = build ]; then
        echo build build/lib/public/libcardbox.a
    else
        echo build
    fi
}

# The environment of a test: where its programs are, and how the sanitizers report.
set_variant() { # VARIANT
    CARDBOX_BUILD=$PWD/$(variant_build "$1")
    export CARDBOX_BUILD
    export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:exitcode=99
    export UBSAN_OPTIONS=print_stacktrace=1
    export TSAN_OPTIONS=exitcode=66
    case "$1" in
    # Everything is several times slower: the tests with thousands of repetitions do fewer.
    asan | tsan | valgrind) export CARDBOX_TEST_LIGHT=1 ;;
    pooled) export CARDBOX_TEST_POOLED=1 ;;
    esac
}

build_all() ( # VARIANT BUILD MAKE'S VARIABLES...
    flock 9 # another run may be building
    # shellcheck disable=SC2046
    make -k -j"$JOBS" BUILD="$2" "${@:3}" $(variant_targets "$1")
    status=$?
    for folder in app outbound server cli worker; do archive_folder "$2" "$folder"; done
    exit "$status"
)

# Builds the programs and libraries, once a run. A failed build is reported as a failed test; what
# was built all the same is tested.
build_variant() { # VARIANT
    local build log started settings
    build=$(variant_build "$1")
    log=$LOGS/build-$1.log
    [[ " $BUILT " != *" $build "* ]] || return 0
    BUILT="$BUILT $build"
    started=$EPOCHREALTIME
    mkdir -p "$build"
    mapfile -t settings < <(variant_make "$1")
    # With other optimisations gcc warns of what -O2 can rule out: no -Werror there.
    [ "${#settings[@]}" -eq 0 ] || settings+=(WERROR=)
    timed "$build" build_all "$1" "$build" "${settings[@]}" >"$log" 2>&1 9>"$build/.lock" &&
        printf 'built   %s (%s s)\n' "$build" "$(seconds_since "$started")" && return
    report_test "$build" "$log" 1 "$started"
}

# Unit tests and fuzz targets may use what is in a program and not in the library. An object whose
# source has moved or gone would define things twice.
archive_folder() { # BUILD FOLDER
    local source object objects=()
    while read -r source; do
        object=${source/#src/$1/obj}
        [ ! -e "${object%.c}.o" ] || objects+=("${object%.c}.o")
    done < <(find "src/$2" -name '*.c' | sort)
    [ "${#objects[@]}" -gt 0 ] || return 0
    mkdir -p "$1/tests"
    rm -f "$1/tests/new$2.a"
    ar rcs "$1/tests/new$2.a" "${objects[@]}" && mv "$1/tests/new$2.a" "$1/tests/lib$2.a" # another run may link it
}

folder_archives() { # BUILD
    compgen -G "$1/tests/lib*.a"
    echo "$1/lib/libcardbox.a"
}

# Compiles a C test with the flags that the build used, and those that a line `link with: FLAGS` of
# its own asks for; prints the program's path.
compile_test() { # VARIANT FILE [FLAG...]
    local build program
    build=$(variant_build "$1")
    program=$build/tests/${2#tests/}
    program=${program%.c}
    mkdir -p "${program%/*}"
    (
        flock 9 # another variant of the same build may need it too
        # Each run makes the archives again. A program that is newer was compiled by this run.
        [ "$program" -nt "$build/tests/libserver.a" ] || compile "$build" "$2" "$program" "${@:3}" >&2
    ) 9>"$program.lock" && echo "$program"
}

compile() { # BUILD FILE PROGRAM [FLAG...]
    local flags own
    read -ra own < <(sed -n 's/^ \* link with: //p' "$2")
    read -ra flags <"$1/flags"
    # The archives are listed twice, because they may need one another. The test itself needs no
    # optimisation.
    # shellcheck disable=SC2046
    "${flags[@]}" -O0 -Itests -o "$3" "$2" "${@:4}" "${own[@]}" $(folder_archives "$1") \
        $(folder_archives "$1") -lcmocka -ljansson -lmicrohttpd -lcurl -lz -lgnutls -lpq -luuid -lutf8proc
}

# Each target over its corpus and then for some seconds; a finding is left in the log's folder.
run_fuzz() { # FILE...
    local target
    build_variant fuzz
    for target in "$@"; do start fuzz_target "$target"; done
}

fuzz_file() ( # FILE NAME
    set_variant fuzz
    program=$(compile_test fuzz "$1" -fsanitize=fuzzer) || exit 1
    "$program" -max_total_time="${FUZZ_SECONDS:-4}" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="$LOGS/fuzz/$2-" "build/fuzz/corpus/$2" "tests/fuzz/corpus/$2"
)

fuzz_target() { # FILE
    local name log started status
    name=$(basename "$1" .c)
    log=$LOGS/fuzz/$name.log
    mkdir -p "$LOGS/fuzz" "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name"
    started=$EPOCHREALTIME
    timed "fuzz/$name" fuzz_file "$1" "$name" >"$log" 2>&1
    status=$?
    [ "$status" -eq 0 ] && echo "1 passed, 0 failed" >>"$log"
    report_test "fuzz/$name" "$log" "$status" "$started"
}

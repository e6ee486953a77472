#!/usr/bin/env bash
# How report.sh counts test files that fail once, twice, or with a sanitizer's report.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/report.sh
. tests/lib/report.sh
# shellcheck source=tests/lib/check.sh
. tests/lib/check.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A run of test files. In place of a test, run_file() prints the text of a file, and removes it: a second run passes.
new_run() {
    LOGS=$dir/logs RESULTS=$dir/results TIMES=$dir/times
    rm -rf "$LOGS" "$RESULTS" "$dir/failures"
    mkdir -p "$LOGS" "$RESULTS" "$dir/failures"
}

fails_once() { # NAME TEXT
    echo "$2" >"$dir/failures/$1"
}

run_file() { # VARIANT FILE
    local failure=$dir/failures/${2#tests/}
    if [ -e "$failure" ]; then
        cat "$failure"
        [[ $2 == *always* ]] || rm "$failure"
        echo '0 passed, 1 failed'
        return 1
    fi
    echo '1 passed, 0 failed'
}

run_all() { # NAME...
    local name
    {
        for name in "$@"; do run_test plain "tests/$name"; done
        run_failed_again
    } >"$dir/output"
    summary >"$dir/summary"
    status=$?
}

last_line() { tail -n 1 "$dir/summary"; }

flaky_is_listed_and_passes() {
    new_run
    fails_once b 'FAILED  the first time'
    run_all a b
    cat "$dir/summary"
    [ "$status" -eq 0 ] && [ "$(last_line)" = '2 passed, 0 failed' ] && grep -qx 'flaky: b' "$dir/summary"
}

both_logs_of_a_flaky_file_are_kept() {
    new_run
    fails_once b 'FAILED  the first time'
    run_all b
    grep -q 'the first time' "$dir/logs/b.first.log" && grep -q '^1 passed' "$dir/logs/b.log" &&
        grep -q 'the first time' "$dir/summary"
}

two_failures_of_a_file_fail_the_run() {
    new_run
    fails_once always 'FAILED  each time'
    run_all a always
    cat "$dir/summary"
    [ "$status" -eq 1 ] && [ "$(last_line)" = '1 passed, 1 failed' ] && ! grep -q '^flaky: ' "$dir/summary"
}

three_flaky_files_fail_the_run() {
    new_run
    local name
    for name in a b c; do fails_once "$name" 'FAILED  the first time'; done
    run_all a b c
    cat "$dir/summary"
    [ "$status" -eq 1 ] && [ "$(last_line)" = '3 passed, 1 failed' ] && [ "$(grep -c '^flaky: ' "$dir/summary")" -eq 3 ]
}

a_report_of_a_sanitizer_is_not_flaky() {
    new_run
    fails_once b '==1==ERROR: AddressSanitizer: heap-use-after-free'
    run_all b
    [ "$status" -eq 1 ] && [ ! -e "$dir/logs/b.first.log" ]
}

flaky_files_of_an_inner_run_are_listed() {
    new_run
    mkdir "$dir/logs/debian"
    printf '%s\n' 'flaky: http/test_x.py' '1 passed, 0 failed' >"$dir/logs/debian/inner.log"
    report_test debian/inner "$dir/logs/debian/inner.log" 0 "$EPOCHREALTIME" >"$dir/output"
    summary >"$dir/summary"
    cat "$dir/summary"
    grep -qx 'flaky: debian/inner: http/test_x.py' "$dir/summary"
}

many_failed_files_are_not_run_again() {
    new_run
    local number names=()
    for number in $(seq $((AGAIN_MAX + 1))); do
        names+=("f$number")
        fails_once "f$number" 'FAILED  the first time'
    done
    run_all "${names[@]}"
    [ "$(last_line)" = "0 passed, $((AGAIN_MAX + 1)) failed" ]
}

check 'a file that fails once is listed as flaky, and the run passes' flaky_is_listed_and_passes
check 'both logs of a flaky file are kept' both_logs_of_a_flaky_file_are_kept
check 'a file that fails twice fails the run' two_failures_of_a_file_fail_the_run
check 'three flaky files fail the run' three_flaky_files_fail_the_run
check 'a file with a report of a sanitizer is not run again' a_report_of_a_sanitizer_is_not_flaky
check 'flaky files of a run in another release are listed' flaky_files_of_an_inner_run_are_listed
check 'if many files fail, none is run again' many_failed_files_are_not_run_again
check_summary

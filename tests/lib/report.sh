# report.sh: runs test files, counts their cases, runs those that failed once more, and prints the summary. The caller
# has run_file() and these variables:
#   LOGS     folder of the logs
#   TIMES    file of the seconds that each test took
#   RESULTS  folder, where the tests of one run leave their results, since each runs in a subshell of its own
# shellcheck shell=bash

FLAKY_MAX=2
AGAIN_MAX=10 # files that are run again; if more have failed, they probably have one cause

# Prints "PASSED FAILED": from cmocka's summary lines, or from a script's last line.
count_cases() { # LOG
    awk '
        /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
        /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
        { last = $0 }
        END {
            if (last ~ /^[0-9]+ passed, [0-9]+ failed$/) {
                split(last, words, " ")
                passed += words[1]
                failed += words[3]
            }
            print passed + 0, failed + 0
        }' "$1"
}

sanitizer_report() { # LOG
    grep -qE 'ERROR: [A-Za-z]+Sanitizer|WARNING: ThreadSanitizer|runtime error:' "$1"
}

seconds_since() { # EPOCHREALTIME
    awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

# Runs a command and adds a line to $TIMES: LABEL, seconds until it ended, CPU seconds (user, system) of it
# and of the processes that were waited for. A PostgreSQL server goes into the background, and is not among them.
timed() { # LABEL COMMAND...
    local TIMEFORMAT=$1$'\t%R\t%U\t%S'
    { time "${@:2}" 2>&3; } 3>&2 2>>"$TIMES"
}

slowest() {
    echo
    echo 'The slowest (seconds; of them CPU):'
    sort -t $'\t' -k 2,2rn "$TIMES" | head -n 10 |
        awk -F '\t' '{ printf "%7.1f %7.1f  %s\n", $2, $3 + $4, $1 }'
}

test_label() { # VARIANT FILE
    [ "$1" = plain ] && echo "${2#tests/}" || echo "$1/${2#tests/}"
}

run_test() { # VARIANT FILE
    local label log started status
    label=$(test_label "$@")
    log=$LOGS/$label.log
    mkdir -p "${log%/*}"
    started=$EPOCHREALTIME
    timed "$label" run_file "$@" >"$log" 2>&1
    status=$?
    report_test "$label" "$log" "$status" "$started" ||
        printf '%s\t%s\n' "$@" >>"$RESULTS/failed"
}

# Returns whether it passed.
report_test() { # LABEL LOG STATUS STARTED
    local passed failed verdict=ok
    read -r passed failed < <(count_cases "$2")
    # A crash, a leak, a bad exit or a test without any case is a failure, whatever was counted.
    if [ "$failed" -eq 0 ]; then
        if [ "$3" -ne 0 ] || sanitizer_report "$2" ||
            { [ "$passed" -eq 0 ] && ! grep -q 'SKIPPED' "$2"; }; then
            echo "(exit status $3)" >>"$2"
            failed=1
        fi
    fi
    [ "$failed" -eq 0 ] || verdict=FAILED
    printf '%-7s %s (%d cases, %s s)\n' "$verdict" "$1" "$((passed + failed))" \
        "$(seconds_since "$4")"
    grep -E '^SKIPPED: |^\[  SKIPPED \] [0-9]+ test' "$2" | sed "s|^|        $1 |" |
        tee -a "$RESULTS/skipped"
    echo "$passed $failed $1 $2" >"$(result_file "$1")"
    # A test that runs tests/run in another release of Debian lists the flaky files of that run.
    sed -n "s|^flaky: \(.*\)|$1: \1\t$2|p" "$2" >>"$RESULTS/flaky"
    [ "$failed" -eq 0 ]
}

result_file() { # LABEL
    mkdir -p "$RESULTS/tests"
    echo "$RESULTS/tests/${1//\//,}"
}

result_failed() { # LABEL
    local _ failed
    read -r _ failed _ <"$(result_file "$1")"
    [ "$failed" -ne 0 ]
}

# Runs each test file that has failed once more. The log of its first run is kept as NAME.first.log. A report of a
# sanitizer, such as a data race, is a defect even if it appears in one run of many: its test is not run again. Nor are
# the tests in other releases of Debian, which take long: the run in Debian 13 has run its own failed files again.
run_failed_again() {
    local variant file label log failed
    [ -s "$RESULTS/failed" ] || return 0
    mapfile -t failed <"$RESULTS/failed"
    [ "${#failed[@]}" -le "$AGAIN_MAX" ] || return 0
    for file in "${failed[@]}"; do
        IFS=$'\t' read -r variant file <<<"$file"
        label=$(test_label "$variant" "$file")
        log=$LOGS/$label.log
        [[ $file != tests/debian/* ]] && ! sanitizer_report "$log" || continue
        cp "$log" "${log%.log}.first.log"
        echo "again   $label"
        run_test "$variant" "$file"
        result_failed "$label" || printf '%s\t%s\n' "$label" "${log%.log}.first.log" >>"$RESULTS/flaky"
    done
}

# What a script's log has of its cases that failed; of any other log, the end.
failures() { # LOG
    awk '/^(ok|SKIPPED:|FAILED) / { shown = $1 == "FAILED" } shown' "$1" | head -n 60 | grep . || tail -n 60 "$1"
}

# The failures of a log, under a line that names it.
show_failures() { # LABEL LOG
    echo
    echo "=== $1 failed; ${2#"$PWD"/}:"
    failures "$2"
}

# Prints the flaky test files, and returns whether they are at most $FLAKY_MAX.
show_flaky() {
    local label log
    [ -s "$RESULTS/flaky" ] || return 0
    while IFS=$'\t' read -r label log; do show_failures "$label" "$log"; done <"$RESULTS/flaky"
    echo
    echo 'These failed once, and passed when they ran again, alone. Add them to tests/flaky.txt with the suspected cause:'
    cut -f 1 "$RESULTS/flaky" | sed 's/^/flaky: /'
    [ "$(wc -l <"$RESULTS/flaky")" -le "$FLAKY_MAX" ] || { echo "FAILED: more than $FLAKY_MAX test files are flaky" && false; }
}

summary() {
    local passed=0 failed=0 p f label log
    [ ! -s "$RESULTS/skipped" ] || { echo && sort -u "$RESULTS/skipped"; }
    while read -r p f label log; do
        passed=$((passed + p))
        failed=$((failed + f))
        [ "$f" -eq 0 ] || show_failures "$label" "$log"
    done < <(find "$RESULTS/tests" -type f -exec cat {} + | sort -k3)
    show_flaky || failed=$((failed + 1))
    echo
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

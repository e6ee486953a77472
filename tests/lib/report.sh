# report.sh: counts the cases of each test, prints a line for it, and the summary. A test runs in
# a subshell of its own, so what it led to is kept in a file of $RESULTS.
# shellcheck shell=bash

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
    echo "$passed $failed $1 $2" >"$RESULTS/${1//\//,}"
}

# What a script's log has of its cases that failed; of any other log, the end.
failures() { # LOG
    awk '/^(ok|SKIPPED:|FAILED) / { shown = $1 == "FAILED" } shown' "$1" | head -n 60 | grep . || tail -n 60 "$1"
}

summary() {
    local passed=0 failed=0 p f label log
    [ ! -s "$RESULTS/skipped" ] || { echo && cat "$RESULTS/skipped"; }
    while read -r p f label log; do
        passed=$((passed + p))
        failed=$((failed + f))
        [ "$f" -eq 0 ] && continue
        echo
        echo "=== $label failed; ${log#"$PWD"/}:"
        failures "$log"
    done < <(find "$RESULTS" -type f ! -name skipped -exec cat {} + | sort -k3)
    echo
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

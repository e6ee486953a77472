# check.sh: the cases of a script, one a command. What a command writes is shown if it fails; $dir is
# the script's folder for temporary files.
# shellcheck shell=bash disable=SC2154 # dir

passed=0
failed=0

check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$dir/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAILED  $name"
        cat "$dir/log"
    fi
}

check_summary() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

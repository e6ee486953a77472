#!/usr/bin/env python3
"""`make bench`: measures the rows of rows.py, prints a table and writes build/bench.json.

Figures of one machine mean nothing on another, so each is a ratio of two that are measured in the
same run, in turn, and what counts is the median of the rounds' ratios. A goal that is not met is no
failure; the exit status is 1 when something could not be measured.

Environment: BENCH_ONLY, names of rows (a,b,c); BENCH_ROUNDS (5); BENCH_SECONDS, of each measurement
(2; wrk takes no less than 1); BENCH_DATA=small, for trying; BENCH_OUT, the file, in which the rows
that BENCH_ONLY leaves out stay as they are.
"""

import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
import data  # noqa: E402
from rows import ROWS, Bench  # noqa: E402

HEAD = f"{'name':<18}{'ours':>12} {'reference':>12}  {'unit':<11}{'ratio':>9}  {'min..max':<19}{'goal':>9}  met"


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def chosen(names):
    wanted = [name for name in names.split(",") if name]
    unknown = set(wanted) - {row.name for row in ROWS}
    if unknown:
        sys.exit(f"BENCH_ONLY: there is no row {', '.join(sorted(unknown))}; "
                 f"there are {', '.join(row.name for row in ROWS)}")
    return [row for row in ROWS if not wanted or row.name in wanted]


def measure(row, bench, rounds):
    """The rounds' (ours, reference, ratio); one more goes before them and counts for nothing."""
    results = []
    bench.settle()
    for turn in range(0 if rounds == 1 else -1, rounds):
        progress(f"{row.name}: round {turn + 1} of {rounds}" if turn >= 0 else f"{row.name}: warming up")
        result = row.measure(bench, turn % 2 == 0)
        if turn >= 0:
            results.append(result)
    progress("")
    return results


def figure(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def entry(row, results):
    """The row of bench.json: medians, each of its own column."""
    ours, references, ratios = zip(*results)
    return {"ratio": statistics.median(ratios), "goal": row.goal, "better": row.better,
            "ours": statistics.median(ours),
            "reference": None if references[0] is None else statistics.median(references),
            "unit": row.unit}


def line(row, result, results):
    ratios = [ratio for _, _, ratio in results]
    goal = (">= " if row.better == "higher" else "<= ") + f"{row.goal:g}"
    spread = f"{figure(min(ratios))}..{figure(max(ratios))}"
    return (f"{row.name:<18}{figure(result['ours']):>12} {figure(result['reference']):>12}  {row.unit:<11}"
            f"{figure(result['ratio']):>9}  {spread:<19}{goal:>9}  {'yes' if row.met(result['ratio']) else 'NO'}")


def merged(path, results):
    """Of what is in the file already, the rows that were not measured now, where there still are
    such; all in the order of the table."""
    try:
        with open(path, encoding="utf-8") as file:
            before = json.load(file)
    except (OSError, ValueError):
        before = {}
    known = {**(before if isinstance(before, dict) else {}), **results}
    return {row.name: known[row.name] for row in ROWS if row.name in known}


def write(path, results):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


def main():
    about = cardbox_test.command_line(__doc__)
    about.epilog = f"Rows: {', '.join(row.name for row in ROWS)}"
    about.parse_args()
    rows = chosen(os.environ.get("BENCH_ONLY", ""))
    rounds = int(data.number_from("BENCH_ROUNDS", 5, whole=True))
    seconds = data.number_from("BENCH_SECONDS", 2)
    sizes = data.sizes_from("BENCH_DATA")
    out = os.environ.get("BENCH_OUT", os.path.join(cardbox_test.BUILD, "bench.json"))
    progress("loading the data")
    bench = Bench(sizes, seconds)
    progress("")
    print(f"{sizes['cards']:,} cards of {bench.database.card_bytes():,.0f} bytes, which the database keeps at "
          f"1:{bench.database.compression():.1f}; {rounds} rounds; load {os.getloadavg()[0]:.1f} on "
          f"{os.cpu_count()} cores\n{HEAD}", flush=True)
    results = {}
    failed = False
    for row in rows:
        try:
            measured = measure(row, bench, rounds)
        except (RuntimeError, AssertionError, OSError) as error:
            progress("")
            print(f"{row.name:<18}could not be measured: {error}", flush=True)
            failed = True
            continue
        results[row.name] = entry(row, measured)
        print(line(row, results[row.name], measured), flush=True)
    write(out, merged(out, results) if len(rows) < len(ROWS) else results)
    bench.server.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

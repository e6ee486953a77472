#!/usr/bin/env python3
"""That `make bench` and `make bench-cpu` measure every row and write what they should, on little data
and in little time. The figures are not judged: they mean nothing so."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
import bench  # noqa: E402
import cpu  # noqa: E402
import data  # noqa: E402
from rows import ROWS  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def run(program, **variables):
    """What the program printed, and what it wrote."""
    out = os.path.join(cardbox_test.temp_dir(), "out.json")
    env = {**os.environ, "BENCH_DATA": "small", "BENCH_OUT": out, **variables}
    done = subprocess.run([os.path.join(HERE, program)], capture_output=True, text=True, env=env,
                          cwd=os.path.dirname(out))
    assert done.returncode == 0, done.stdout + done.stderr
    with open(out, encoding="utf-8") as file:
        return done.stdout, json.load(file)


def test_every_row_is_measured():
    text, results = run("bench.py", BENCH_ROUNDS="1", BENCH_SECONDS="0.3")
    assert list(results) == [row.name for row in ROWS], results
    for row in ROWS:
        result = results[row.name]
        assert list(result) == ["ratio", "goal", "better", "ours", "reference", "unit"], result
        assert (result["goal"], result["better"], result["unit"]) == (row.goal, row.better, row.unit)
        assert result["ours"] > 0 or row.name == "replay_free", result
        alone = row.reference is None and not row.pair
        expected = result["ours"] if alone else result["ours"] / result["reference"]
        assert result["ratio"] == expected and alone == (result["reference"] is None), result
        assert f"\n{row.name} " in text, text


def test_what_cannot_be_measured_is_a_failure():
    done = subprocess.run([os.path.join(HERE, "bench.py")], capture_output=True, text=True,
                          env={**os.environ, "BENCH_ONLY": "get_card,no_such_row"})
    assert done.returncode != 0 and "no_such_row" in done.stderr, done


def test_some_rows_leave_the_others():
    """The file keeps what is not measured again, but for rows that are no more."""
    path = os.path.join(cardbox_test.temp_dir(), "some.json")
    old = {"no_such_row": {"ratio": 1}, "add_card": {"ratio": 7}, "get_card": {"ratio": 8}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(old, file)
    new = bench.merged(path, {"get_card": {"ratio": 9}})
    assert new == {"get_card": {"ratio": 9}, "add_card": {"ratio": 7}} and list(new) == ["get_card", "add_card"]
    assert bench.merged(path + ".none", {"get_card": {"ratio": 9}}) == {"get_card": {"ratio": 9}}


def test_bad_values_are_refused():
    for program, name, value in (("bench.py", "BENCH_ROUNDS", "0"), ("bench.py", "BENCH_ROUNDS", "1.5"),
                                 ("bench.py", "BENCH_SECONDS", "x"), ("bench.py", "BENCH_SECONDS", "nan"),
                                 ("bench.py", "BENCH_DATA", "tiny"), ("cpu.py", "BENCH_REQUESTS", "-1")):
        done = subprocess.run([os.path.join(HERE, program)], capture_output=True, text=True,
                              env={**os.environ, name: value})
        assert done.returncode == 1 and done.stderr.startswith(f"{name} must be "), done
        assert f'"{value}"' in done.stderr, done


def test_help_measures_nothing():
    for program in "bench.py", "cpu.py":
        done = subprocess.run([os.path.join(HERE, program), "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and "BENCH_OUT" in done.stdout, done
        for arguments in ["get_card"], ["--rounds", "3"]:
            done = subprocess.run([os.path.join(HERE, program), *arguments], capture_output=True, text=True)
            assert done.returncode == 2 and "unrecognized arguments: " + arguments[0] in done.stderr, done


def test_instructions_of_every_request():
    text, result = run("cpu.py", BENCH_REQUESTS="2")
    assert set(result) == {"by", "requests"}, result
    assert list(result["requests"]) == list(cpu.requests(data.SMALL)), result
    assert all(count > 1000 for count in result["requests"].values()), result
    assert result["by"] in text


if __name__ == "__main__":
    cardbox_test.main()

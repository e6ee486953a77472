#!/usr/bin/env python3
"""The example worker, built with the installed SDK as by a user. It is killed by SIGKILL at any moment
and started again. Its box then contains every line of the session once, in order."""

import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Skip, shared_file, temp_dir

SOURCES = os.path.join(cardbox_test.ROOT, "tests", "worker")
KILLS = 5 if cardbox_test.LIGHT else 20
BOX = "0197f2c1-0000-7000-8000-%012x"


def install(name="session_worker"):
    """Builds an example program with the installed libcardbox, through pkg-config."""
    if os.path.basename(cardbox_test.BUILD) != "build":
        raise Skip("the worker links the plain build")
    prefix = temp_dir()
    subprocess.run(["make", "-s", "-C", cardbox_test.ROOT, "install", f"PREFIX={prefix}",
                    f"LIBDIR={prefix}/lib"], check=True, stdout=subprocess.DEVNULL)
    env = dict(os.environ, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "cardbox"], env=env, check=True,
                           capture_output=True, text=True).stdout.split()
    program = os.path.join(prefix, name)
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O2", os.path.join(SOURCES, name + ".c"),
                    *flags, "-ljansson", f"-Wl,-rpath,{prefix}/lib", "-o", program], check=True)
    return program


def box_cards(dsn, box):
    """The contents of the box's cards, in order, as the CLI reads them."""
    out = cardbox_test.cardbox("box", "cards", "--dsn", dsn, "--project", "acme", "--json", box)
    return [json.loads(line)["content"] for line in out.stdout.splitlines()]


def own_session(path, turns):
    """Writes a session, in case the real one is missing."""
    with open(path, "w", encoding="utf-8") as file:
        for turn in range(turns):
            for role in ("user", "assistant", "toolResult", "assistant"):
                text = f"turn {turn} \"{role}\" \u00e9\u6f22\U0001f600 " + "x" * random.Random(turn).randrange(400)
                file.write(json.dumps({"type": "message", "message": {"role": role, "content": text}}) + "\n")


def check_killed(path, number):
    program, dsn = install(), Postgres.shared().database()
    box = BOX % number
    arguments = [program, dsn, "acme", box, path]
    rng = random.Random(number)
    killed = 0
    while killed < KILLS:
        worker = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.0, 0.25))
        killed += worker.poll() is None
        worker.kill()
        assert worker.wait() in (0, -signal.SIGKILL)  # done before it could be killed, or killed
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert box_cards(dsn, box) == lines, "the box is not the session"
    again = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0 and box_cards(dsn, box) == lines


def test_own_session():
    path = os.path.join(temp_dir(), "session.jsonl")
    own_session(path, 60)
    check_killed(path, 1)


def test_real_session():
    check_killed(shared_file("data", "pi", "large-session.jsonl"), 2)


def test_two_at_once():
    """Two workers read one session and write to one box: the box contains every line once."""
    program, dsn = install(), Postgres.shared().database()
    path = os.path.join(temp_dir(), "session.jsonl")
    own_session(path, 40)
    arguments = [program, dsn, "acme", BOX % 3, path]
    workers = [subprocess.Popen(arguments, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [worker.wait(120) for worker in workers] == [0, 0]
    with open(path, encoding="utf-8") as file:
        assert box_cards(dsn, BOX % 3) == [json.loads(line) for line in file]


def test_read_context():
    """The reader prints the last 50 cards that the worker wrote."""
    dsn = Postgres.shared().database()
    path = os.path.join(temp_dir(), "session.jsonl")
    own_session(path, 20)
    subprocess.run([install(), dsn, "acme", BOX % 5, path], check=True, stdout=subprocess.DEVNULL)
    read = subprocess.run([install("read_context"), dsn, "acme", BOX % 5], check=True,
                          capture_output=True, text=True)
    lines = read.stdout.splitlines()
    assert len(lines) == 50 and read.stderr == "", read
    assert "session.tool_result" in lines[-2] and "turn 19" in lines[-1], lines[-2:]


def test_bad_line():
    """A line that is not JSON stops the worker, which reports its number. Earlier turns are stored."""
    program, dsn = install(), Postgres.shared().database()
    path = os.path.join(temp_dir(), "session.jsonl")
    own_session(path, 2)
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"type":"message","message":{"role":"user"}\n')
    done = subprocess.run([program, dsn, "acme", BOX % 4, path], capture_output=True, text=True)
    assert done.returncode == 1 and "JSON" in done.stderr, done.stderr
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()[:4]
    assert box_cards(dsn, BOX % 4)[:4] == [json.loads(line) for line in lines]


if __name__ == "__main__":
    cardbox_test.main()

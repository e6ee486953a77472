#!/usr/bin/env python3
"""A server behind PgBouncer in transaction mode without --no-prepared-statements: it is not ready, and its log and its
answers name the option."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_, pooled

OPTION = "--no-prepared-statements"
LOOPS = 2  # each of them notices it


def set_pooler(postgres, name, value):
    """Sets a setting of the cluster's PgBouncer, and waits until it has read it."""
    folder = os.path.join(postgres.directory, "pooler")
    with open(os.path.join(folder, "ini"), "a", encoding="utf-8") as ini:
        ini.write(f"{name} = {value}\n")
    with open(os.path.join(folder, "pid"), encoding="ascii") as pid:
        os.kill(int(pid.read()), signal.SIGHUP)
    await_(lambda: f"{name}|{value}" in shown(postgres, "CONFIG"))


def shown(postgres, what):
    folder = os.path.join(postgres.directory, "pooler")
    command = ["psql", "-XqAt", "-h", folder, "-p", "5432", "-U", "postgres", "pgbouncer", "-c", f"SHOW {what}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def queries(postgres):
    """How many queries all databases of the pooler have had."""
    return sum(int(line.split("|")[2]) for line in shown(postgres, "STATS_TOTALS").splitlines())


@cardbox_test.once
def setting():
    """A cluster of its own with a pooler. Returns the cluster, and the DSN through the pooler."""
    postgres = Postgres()
    return postgres, pooled(postgres.database())


def test_a_pooler_that_refuses_the_settings():
    """By default PgBouncer accepts no startup options."""
    _, dsn = setting()
    server = Server(dsn)
    await_(lambda: "event=database_away" in server.log(), server.log)
    assert server.get("/readyz").status == 503
    line = next(line for line in server.log().splitlines() if "event=database_away" in line)
    assert "startup parameter" in line and OPTION in line, line
    server.stop()


def test_a_pooler_that_ignores_the_settings():
    """Then prepared statements of other connections are in the sessions, unless the pooler keeps track of them."""
    postgres, dsn = setting()
    if "max_prepared_statements|" in shown(postgres, "CONFIG"):
        set_pooler(postgres, "max_prepared_statements", 0)
    set_pooler(postgres, "ignore_startup_parameters", "options")
    server = Server(dsn, "--loops", str(LOOPS))

    def read():
        answer = server.get("/projects/p/cards/none")
        assert answer.status in (404, 503), answer
        return answer

    await_(lambda: read().status == 503 and "event=database_pooled" in server.log(), server.log)
    for _ in range(3):
        answer = read()
        assert answer.status == 503 and OPTION in answer.json()["detail"]["hint"], answer
        assert server.get("/readyz").status == 503
    lines = [line for line in server.log().splitlines() if "event=database_pooled" in line]
    assert len(lines) <= LOOPS and all(OPTION in line for line in lines), server.log()
    # Meanwhile some polls of the auth watcher fail.
    before, polls = server.log().count("event=tokens_unknown"), queries(postgres)
    await_(lambda: queries(postgres) >= polls + 60)
    assert server.log().count("event=tokens_unknown") <= before + 1, server.log()
    server.stop()


def test_with_the_option():
    _, dsn = setting()
    server = Server(dsn, OPTION)
    server.await_ready()
    for _ in range(20):
        assert server.get("/projects/p/cards/none").status == 404
    assert "database_pooled" not in server.log(), server.log()
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Connection slots of PostgreSQL: how many the server takes, what it does without them, and who gets the last ones."""

import contextlib
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import CARDBOXD, Postgres, Server, as_role, await_, cardbox

CARD = "/projects/p/cards/a"
STATES = ("reads", "lists", "writes")


def sessions(postgres, dsn, name="cardboxd%"):
    """How many sessions the servers have."""
    return int(postgres.psql(dsn, f"SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '{name}'"))


def usable(server, group):
    return server.metric(f'cardbox_database_connections{{group="{group}",state="usable"}}')


def links(server, group):
    """All connections of a group, whatever their state."""
    return server.metric(f'cardbox_database_connections{{group="{group}"')


def check_serves(server):
    """A read, a write and a list, on new connections: on any loop that takes clients."""
    for _ in range(6):
        assert server.post("/projects/p/cards", {"card_id": "a", "content": 1}).status == 200, server.log()
        assert server.get(CARD).status == 200, server.log()
        assert server.get("/projects/p/cards").status == 200, server.log()


@contextlib.contextmanager
def limited(most):
    """A cluster where the role of the server may have so many connections."""
    postgres = Postgres()
    dsn = postgres.database()
    postgres.psql(dsn, f"ALTER ROLE cardbox_app CONNECTION LIMIT {most}")
    yield postgres, dsn


# --- how many ---


def test_cap():
    """All connections of the process are counted, those beside the loops too."""
    postgres = Postgres()
    dsn = postgres.database()
    for most in (8, 10, 13, 24):
        server = Server(dsn, "--database-connections", str(most), "--loops", "8", "--read-connections", "64")
        server.await_ready()
        check_serves(server)
        for _ in range(4):  # a transfer's, and the worker's listener
            assert server.post("/projects/p/abilities/task:spawn", {"goal": "x"}).status == 200
            assert server.get("/projects/p/export").status == 200
        await_(lambda: usable(server, "reads") == links(server, "reads"), server.log)
        assert sum(links(server, group) for group in STATES) <= most - 5, server.get("/metrics").body
        assert sessions(postgres, dsn) <= most, (most, sessions(postgres, dsn))
        server.stop()


def test_cap_of_environment():
    server = Server(cardbox_test.dsn(), prefix=("env", "CARDBOX_DATABASE_CONNECTIONS=8"))
    server.await_ready()
    assert [links(server, group) for group in STATES] == [1, 1, 1]
    assert server.metric("cardbox_loops") == 1
    server.stop()
    done = subprocess.run([CARDBOXD, "--database-connections", "7"], capture_output=True, text=True)
    assert done.returncode == 2 and "database-connections" in done.stderr, done


def test_cpus_of_affinity():
    """On one of the machine's CPUs there is one loop."""
    cpu = str(min(os.sched_getaffinity(0)))
    server = Server(cardbox_test.dsn(), prefix=("taskset", "-c", cpu))
    server.await_ready()
    assert server.metric("cardbox_loops") == 1
    assert re.search("event=serving .*database_connections=19 ", server.log()), server.log()
    server.stop()


# --- too few ---


def test_role_with_three():
    """The auth watcher has one, so that a group has none: the server is not ready, answers at once, and says why."""
    with limited(3) as (postgres, dsn):
        server = Server(dsn, "--database-timeout-ms", "5000")
        await_(lambda: "53300" in server.log(), server.log)
        time.sleep(2)
        assert server.get("/readyz").status == 503
        assert server.metric("cardbox_ready") == 0
        assert sessions(postgres, dsn, "cardboxd-auth-watcher") == 1
        assert server.get("/projects/p/cards").status == 503 or server.get(CARD).status == 503 or \
            server.post("/projects/p/cards", {"card_id": "a", "content": 1}).status == 503
        for path in (CARD, "/projects/p/cards"):
            asked = time.monotonic()
            answer = server.get(path)
            assert answer.status in (200, 404, 503) and time.monotonic() - asked < 4, answer
            assert answer.status != 503 or "no connection left" in answer.json()["detail"]["error_message"], answer
        lines = [line for line in server.log().splitlines() if "event=connection_refused" in line]
        assert lines and "too many connections for role" in lines[0] and "sqlstate=53300" in lines[0], server.log()
        time.sleep(3)
        assert server.log().count("event=connection_refused") == 1, server.log()  # the same reason is logged once a minute
        postgres.psql(dsn, "ALTER ROLE cardbox_app CONNECTION LIMIT -1")
        server.await_ready()
        check_serves(server)
        server.stop()


def test_role_with_few():
    """With one of each group it serves, whatever it would have liked; also after PostgreSQL was restarted."""
    for most in (4, 5, 7):
        with limited(most) as (postgres, dsn):
            server = Server(dsn, "--loops", "2", "--read-connections", "8")
            for _ in range(2):
                server.await_ready()
                check_serves(server)
                await_(lambda: sessions(postgres, dsn, "cardboxd-auth-watcher") == 1, server.log)
                postgres.restart()
            server.await_ready()
            server.stop()


def test_unknown_database():
    """What PostgreSQL refuses for other reasons is said in the log, too."""
    dsn = cardbox_test.dsn()
    server = Server(re.sub(r"dbname=\S+", "dbname=nowhere", dsn))
    await_(lambda: "event=connection_refused sqlstate=3D000 reason=" in server.log(), server.log)
    assert server.get("/readyz").status == 503
    server.stop()


def test_full_cluster():
    """Servers that find a cluster full leave slots to others: to the command line and to workers."""
    postgres = Postgres("max_connections=20")
    dsn = postgres.database()
    app = as_role(dsn, "cardbox_app")
    servers = [Server(dsn, "--loops", "2"), Server(dsn, "--loops", "1")]
    for server in servers:
        server.await_ready()
    await_(lambda: all(cardbox("card", "list", "--dsn", app, "--project", "p", check=False).returncode == 0
                       for _ in range(10)), lambda: servers[0].log() + servers[1].log())
    for server in servers:
        server.await_ready()
        check_serves(server)
    postgres.restart()
    for server in servers:
        server.await_ready()
        check_serves(server)
    await_(lambda: sessions(postgres, dsn, "cardboxd-auth-watcher") == 2)
    for server in servers:
        server.stop()


def test_others_take_the_slots():
    """A server that has all that it wants gives back when others take what is left, down to one connection of each group.
    A client of a loop that has none hears so, and connects to another. It takes connections again when the others left."""
    def take():
        one = cardbox_test.Connection(dsn)
        with contextlib.suppress(BrokenPipeError):
            if one.run("SELECT 1") == "1":
                others.append(one)
        return len(others) == 26

    with limited(30) as (postgres, dsn):
        server, others, closed = Server(dsn, "--loops", "2"), [], 0
        had = await_(lambda: sum(usable(server, group) for group in STATES) == 16 and 16, server.log)
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.client()) for _ in range(40)]
            for client in clients:  # they are on both loops, and stay
                assert client.request("POST", "/projects/p/cards", '{"card_id": "a", "content": 1}',
                                      {"Content-Type": "application/json"}).status == 200
            await_(take, server.log)
            await_(lambda: sessions(postgres, dsn) == 4, server.log)
            for client in clients:
                answer = client.request("GET", CARD)
                assert answer.status in (200, 503), answer
                assert (answer.header("Connection") == "close") == (answer.status == 503), answer.headers
                closed += answer.status == 503
            assert 0 < closed < 40, closed
            assert {client.request("GET", CARD).status for client in clients} == {200}  # those were connected anew
        check_serves(server)
        for one in others:
            one.close()
        await_(lambda: sum(usable(server, group) for group in STATES) == had, server.log)
        server.stop()


def test_auth_watcher_first():
    """After a restart the loops do not take the slot of the thread that reads tokens."""
    with limited(7) as (postgres, dsn):
        token = cardbox("token", "create", "--dsn", dsn, "--name", "t", "--all-tenants", "--scope", "read,write").stdout
        secret = re.search(r"cbx_\w+|\S{30,}", token).group(0)
        server = Server(dsn, "--loops", "2", "--database-connections", "24")
        for _ in range(5):
            await_(lambda: server.get(CARD, {"Authorization": f"Bearer {secret}"}).status == 404, server.log)
            postgres.restart()
        server.stop()


if __name__ == "__main__":
    cardbox_test.main()

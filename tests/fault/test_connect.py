#!/usr/bin/env python3
"""Connection strings whose hosts are dead, silent or unknown: libpq finds the host that works, an attempt that hangs delays
nobody else, and a server that waits for one stops promptly."""

import os
import re
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, await_, cardbox, free_port, temp_dir

PROMPT_S = 10 if cardbox_test.LIGHT else 4  # a server that stops, beside attempts that take 60 s


class Silent:
    """A host that accepts connections of TCP and never says anything."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(100)
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def connections(self):
        """How many were made so far."""
        self.socket.setblocking(False)
        count = 0
        try:
            while self.socket.accept():
                count += 1
        except BlockingIOError:
            return count


def behind(dsn, port):
    """The same with a host before it."""
    host = re.search(r"host=(\S+)", dsn).group(1)
    return re.sub(r"port=\d+", f"port={port},5432", dsn.replace(f"host={host}", f"host=127.0.0.1,{host}"))


def alone(dsn, port):
    """The same database of another host."""
    return re.sub(r"port=\d+", f"port={port}", re.sub(r"host=\S+", "host=127.0.0.1", dsn))


def usable(server):
    return sum(server.metric(f'cardbox_database_connections{{group="{group}",state="usable"}}')
               for group in ("reads", "lists", "writes"))


def stop_promptly(server):
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < PROMPT_S, time.monotonic() - begun


def test_first_host_refuses():
    dsn = behind(Postgres.shared().database(), free_port())
    server = Server(dsn)
    server.await_ready()
    assert server.post("/projects/p/cards", {"card_id": "a", "content": 1}).status == 200
    server.stop()
    assert "a" in cardbox("card", "list", "--dsn", dsn, "--project", "p").stdout


def test_first_host_is_silent():
    """The host that answered is asked alone for a while: not each of the connections waits for the silent one."""
    postgres = Postgres.shared()
    dsn = postgres.database()
    with Silent() as silent:
        server = Server(behind(dsn, silent.port), "--connect-timeout-ms", "2000")
        server.await_ready()
        await_(lambda: usable(server) == 16, server.log)
        assert silent.connections() < 8
        assert server.get("/projects/p/cards/none").status == 404
        server.stop()


def test_unknown_name():
    """Name resolution fails, and then does not: the service file is read again by each attempt."""
    dsn = as_role(Postgres.shared().database(), "cardbox_app")
    words = dict(word.split("=", 1) for word in dsn.split())
    path = os.path.join(temp_dir(), "services")

    def write(**changes):
        with open(path, "w", encoding="utf-8") as file:
            file.write("[box]\n" + "".join(f"{key}={value}\n" for key, value in {**words, **changes}.items()))

    write(host="no-such-host.invalid")
    os.environ["PGSERVICEFILE"] = path
    try:
        server = Server("service=box user=cardbox_app")
    finally:
        del os.environ["PGSERVICEFILE"]
    await_(lambda: "no-such-host.invalid" in server.log(), server.log)
    assert server.get("/readyz").status == 503
    assert server.get("/projects/p/cards/none").status == 503
    write()
    server.await_ready()
    assert server.get("/projects/p/cards/none").status == 404
    server.stop()


def test_attempts_that_hang():
    """The server answers meanwhile, and stops at once, whatever its threads wait for."""
    with Silent() as silent:
        dsn = alone(Postgres.shared().database(), silent.port)
        server = Server(dsn, "--connect-timeout-ms", "60000")
        await_(lambda: "event=database_away" in server.log(), server.log)
        begun = time.monotonic()
        assert server.get("/projects/p/cards/none").status == 503
        assert server.get("/readyz").status == 503
        assert time.monotonic() - begun < PROMPT_S
        assert silent.connections() > 0
        stop_promptly(server)


def test_standbys_that_hang():
    """The primary serves as if there were none."""
    dsn = Postgres.shared().database()
    with Silent() as silent:
        standby = as_role(alone(dsn, silent.port), "cardbox_app")
        server = Server(dsn, "--standby-dsn", standby, "--connect-timeout-ms", "60000")
        server.await_ready()
        await_(lambda: silent.connections() > 0)
        begun = time.monotonic()
        for _ in range(100):
            assert server.get("/projects/p/cards/none").status == 404
        assert time.monotonic() - begun < PROMPT_S
        stop_promptly(server)


if __name__ == "__main__":
    cardbox_test.main()

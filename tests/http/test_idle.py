#!/usr/bin/env python3
"""What a server costs that nobody asks for anything: hardly a wake-up of its threads, also with idle clients."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, dsn

SECONDS, WAKEUPS = 10, 5  # a second, of all threads together
CLIENTS = 100


def check_idle(server):
    """Once its clients and connections have come to rest."""
    time.sleep(3)
    before = server.wakeups()
    time.sleep(SECONDS)
    count = server.wakeups() - before
    assert count <= WAKEUPS * SECONDS, count


def test_nobody():
    server = Server(dsn(), "--loops", "2")
    server.await_ready()
    check_idle(server)
    server.stop()


def test_idle_clients():
    """They keep their connections open after a request."""
    server = Server(dsn(), "--loops", "2")
    clients = [server.client() for _ in range(CLIENTS)]
    for client in clients:
        assert client.request("GET", "/projects/p/cards/none").status == 404
    check_idle(server)
    assert {client.request("GET", "/projects/p/cards/none").status for client in clients} == {404}
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()

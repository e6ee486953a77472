#!/usr/bin/env python3
"""How connections come to the loops: as many to each."""

import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_


def is_socket(path):
    """A connection may be closed at any time."""
    try:
        return "socket:" in os.readlink(path)
    except FileNotFoundError:
        return False


def descriptors(server):
    """For each epoll set of the server how many sockets are in it. libmicrohttpd 1.0 has an eventfd there too."""
    counts = {}
    process = f"/proc/{server.process.pid}"
    for fd in os.listdir(process + "/fd"):
        with contextlib.suppress(FileNotFoundError):
            if "[eventpoll]" in os.readlink(f"{process}/fd/{fd}"):
                with open(f"{process}/fdinfo/{fd}", encoding="ascii") as info:
                    members = [line.split()[1] for line in info if line.startswith("tfd:")]
                counts[fd] = sum(is_socket(f"{process}/fd/{member}") for member in members)
    return counts


class Clients:
    """Of a server with two loops: open connections, each with an answer, and how they are spread."""

    def __init__(self):
        self.server = Server(Postgres.shared().database(), "--loops", "2")
        self.server.await_ready()
        self.sets = []  # those in which nothing but clients is
        self.count = 0
        self.open = contextlib.ExitStack()

        def all_left():
            self.sets = [fd for fd, count in descriptors(self.server).items() if count == 0]
            return len(self.sets) == 2
        await_(all_left, self.server.log)

    def connect(self, count):
        self.count += count
        for _ in range(count):
            one = self.open.enter_context(self.server.client())
            assert one.request("GET", "/healthz").status == 200

    def leave(self):
        self.open.close()
        self.count = 0

    def spread(self):
        """How many each loop has, the fewest first."""
        now = []

        def all_seen():
            counts = descriptors(self.server)
            now[:] = sorted(counts[fd] for fd in self.sets)
            return sum(now) == self.count
        await_(all_seen, lambda: f"{now} of {self.count}")
        return now


def test_spread():
    clients = Clients()
    for _ in range(3):
        clients.connect(8)
        few, many = clients.spread()
        assert many - few <= 4, (few, many)
        clients.connect(56)
        few, many = clients.spread()
        assert many - few <= 8, (few, many)
        clients.leave()
        assert clients.spread() == [0, 0]
    clients.server.stop()


def test_one_request_each():
    """Connections that come and go are not lost on the way from loop to loop."""
    clients = Clients()
    clients.connect(60)
    for _ in range(500):
        with clients.server.client() as one:
            assert one.request("GET", "/healthz").status == 200
    clients.server.stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Writers against two servers while servers, backends and PostgreSQL are killed: every acknowledged
write is stored exactly once, in its writer's order.

CARDBOX_SOAK_SECONDS sets the length: 600 is a soak, the default only shows that the test works.
"""

import http.client
import itertools
import json
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, WAIT_S, Postgres, Server, psql

SECONDS = int(os.environ.get("CARDBOX_SOAK_SECONDS", 6 if LIGHT else 12))
CLIENTS = 8
SERVERS = 2
SHARED_BOXES = 3
KILL_EVERY_S = 4
RESTART_EVERY_S = 30 if SECONDS >= 60 else 6  # immediate restarts of PostgreSQL
BROKEN = (OSError, http.client.HTTPException)
PROJECT = "/projects/soak"


class Fleet:
    """Two servers on fixed ports, which are killed and started again."""

    def __init__(self, dsn):
        self.dsn = dsn
        self.servers = [Server(dsn) for _ in range(SERVERS)]
        self.ports = [server.port for server in self.servers]
        self.kills = self.restarts = 0

    def kill_one(self):
        at = random.randrange(SERVERS)
        self.servers[at].kill()
        self.servers[at].check_log()
        self.servers[at] = Server(self.dsn, port=self.ports[at])
        self.kills += 1

    def kill_backend(self, postgres):
        """Ends one server connection in the middle of whatever it does."""
        backends = postgres.backends(self.dsn)
        if backends:
            psql(self.dsn, f"SELECT pg_terminate_backend({random.choice(backends)})")

    def stop(self):
        for server in self.servers:
            server.stop()


class Writer:
    """One client: repeats each write until it is acknowledged, and notes it then."""

    def __init__(self, number, fleet, shared):
        self.number, self.fleet, self.shared = number, fleet, shared
        self.client = None
        self.own_box, self.session = None, f"session-{number}"
        self.cards, self.appended, self.entries = [], {}, []
        self.repeats = 0
        self.error = None

    def send(self, method, path, value, key=None):
        """Returns the answer's JSON when the write is acknowledged."""
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
        deadline = time.monotonic() + 4 * WAIT_S
        for attempt in itertools.count():
            assert time.monotonic() < deadline, f"{method} {path}: not acknowledged"
            try:
                if self.client is None:
                    self.client = cardbox_test.Client(random.choice(self.fleet.ports), WAIT_S)
                response = self.client.request(method, path, json.dumps(value), headers)
                if response.status in (200, 201):
                    return response.json()
                assert response.status in (503, 504), response
            except BROKEN:
                pass
            self.repeats += 1
            self.client = None
            time.sleep(min(0.02 * 2 ** min(attempt, 5), 0.5))

    def append(self, box, card_id):
        self.send("POST", f"{PROJECT}/boxes/{box}/append", {"card_ids": [card_id]}, key=card_id)
        self.appended.setdefault(box, []).append(card_id)

    def step(self, i):
        name = f"w{self.number}-{i}"
        if i % 10 < 5:
            self.send("POST", f"{PROJECT}/cards", {"card_id": name, "content": {"text": name}})
            self.cards.append(name)
        elif i % 10 < 9:
            self.append(self.own_box if i % 2 else random.choice(self.shared), name)
        else:
            self.send("POST", f"{PROJECT}/sessions/{self.session}/entries",
                      {"entry": {"id": name, "type": "user", "content": name}}, key=name)
            self.entries.append(name)

    def run(self, until):
        try:
            self.own_box = make_box(self)
            self.send("PUT", f"{PROJECT}/sessions/{self.session}", {"dialect": "plain"})
            for i in itertools.count():
                if time.monotonic() > until:
                    return
                self.step(i)
        except Exception as error:
            self.error = error


def make_box(writer):
    box = f"01970000-0000-7000-8000-{random.getrandbits(48):012x}"
    writer.send("PUT", f"{PROJECT}/boxes/{box}", {"card_ids": []})
    return box


def wreak_havoc(fleet, postgres, until):
    started = time.monotonic()
    next_restart = started + RESTART_EVERY_S / 2
    while time.monotonic() < until:
        time.sleep(min(KILL_EVERY_S * random.uniform(0.5, 1.5), max(0, until - time.monotonic())))
        fleet.kill_one()
        fleet.kill_backend(postgres)
        if time.monotonic() >= next_restart:
            postgres.restart("immediate")
            fleet.restarts += 1
            next_restart += RESTART_EVERY_S


def box_ids(server, box):
    return server.get(f"{PROJECT}/boxes/{box}").json()["card_ids"]


def check_boxes(server, writers, shared):
    """In a box of all, each writer's ids stand in its order, and nothing else stands there."""
    for writer in writers:
        assert box_ids(server, writer.own_box) == writer.appended.get(writer.own_box, [])
    for box in shared:
        stored = box_ids(server, box)
        assert len(stored) == len(set(stored))
        for writer in writers:
            own = [name for name in stored if name.startswith(f"w{writer.number}-")]
            assert own == writer.appended.get(box, [])
        assert len(stored) == sum(len(writer.appended.get(box, [])) for writer in writers)


def check_cards(dsn, writers):
    stored = set(psql(dsn, "SELECT card_id FROM cardbox.cards WHERE tenant_id = 'soak'").split())
    for writer in writers:
        missing = set(writer.cards) - stored
        assert not missing, sorted(missing)[:5]


def check_sessions(server, writers):
    for writer in writers:
        lines = server.get(f"{PROJECT}/sessions/{writer.session}/export").body.splitlines()
        assert [json.loads(line)["id"] for line in lines] == writer.entries


def test_acknowledged_writes_survive():
    postgres = Postgres("fsync=on", "synchronous_commit=on")
    dsn = postgres.database()
    fleet = Fleet(dsn)
    starter = Writer("x", fleet, [])
    shared = [make_box(starter) for _ in range(SHARED_BOXES)]
    writers = [Writer(number, fleet, shared) for number in range(CLIENTS)]
    until = time.monotonic() + SECONDS
    threads = [threading.Thread(target=writer.run, args=(until,)) for writer in writers]
    for thread in threads:
        thread.start()
    wreak_havoc(fleet, postgres, until)
    for thread in threads:
        thread.join()
    errors = [writer.error for writer in writers if writer.error]
    assert not errors, errors
    server = fleet.servers[0]
    server.await_ready()
    check_boxes(server, writers, shared)
    check_cards(dsn, writers)
    check_sessions(server, writers)
    written = sum(len(w.cards) + len(w.entries) + sum(map(len, w.appended.values())) for w in writers)
    print(f"soak: {SECONDS} s, {written} acknowledged writes, {sum(w.repeats for w in writers)} repeats,"
          f" {fleet.kills} servers killed, {fleet.restarts} immediate restarts")
    assert written > 100
    fleet.stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Random requests of 16 clients to two servers on one database do what tests/lib/model.py says, also
where connections of clients and of servers are cut at random.

Environment: CARDBOX_MODEL_REQUESTS, how many in each case (default 6,000; 200,000 take some minutes);
CARDBOX_MODEL_SEED, to ask for the same again, as far as threads allow.
"""

import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import model
from cardbox_test import LIGHT, Postgres, Server
from model import Box, Cards, Write, expect

CLIENTS = 16
REQUESTS = int(os.environ.get("CARDBOX_MODEL_REQUESTS", 1500 if LIGHT else 6000))
SEED = os.environ.get("CARDBOX_MODEL_SEED") or str(time.time_ns())
BOXES = 24          # that are in use at a time
BOX_REQUESTS = 150  # after which another takes its place
BRIEF_S = 1         # that some cards live
CLOCKS_S = 0.05     # by which PostgreSQL's clock may run differently meanwhile
CARDS = 40          # of each client that are in use at a time
TENANTS = ("m", "модель")


class Lost(Exception):
    """No answer, or one that says that the outcome is unknown."""


class Wire:
    """One keep-alive connection after the other, to one of several ports."""

    def __init__(self, ports):
        self.ports = ports
        self.socket = None

    def ask(self, method, path, body, headers):
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Content-Length: {len(data)}",
                 "Content-Type: application/json", *(f"{name}: {headers[name]}" for name in headers)]
        try:
            if self.socket is None or random.random() < 0.01:
                self.close()
                self.socket = socket.create_connection(("127.0.0.1", random.choice(self.ports)), 60)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + data)
            return self._answer()
        except (OSError, ValueError) as error:
            self.close()
            raise Lost(str(error)) from None

    def _answer(self):
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._more()
        top, _, body = received.partition(b"\r\n\r\n")
        lines = top.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in
                   (line.partition(":") for line in lines[1:])}
        length = int(headers["content-length"])
        while len(body) < length:
            body += self._more()
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), headers, json.loads(body) if body else None

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise OSError("closed")
        return data

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None


class World:
    """What the clients share. Boxes and cards are (tenant, ...), ids the same in both tenants."""

    def __init__(self, ports, requests):
        self.ports = ports
        self.left = requests
        self.boxes = {tenant: [] for tenant in TENANTS}   # all that were made
        self.active = {tenant: [] for tenant in TENANTS}
        self.cards = {tenant: Cards() for tenant in TENANTS}
        self.errors = []
        self.lost = 0
        self.lock = threading.Lock()

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0 and not self.errors

    def keep(self, tenant, box):
        with self.lock:
            self.boxes[tenant].append(box)
            self.active[tenant].append(box)
            if len(self.active[tenant]) > BOXES:
                self.active[tenant].pop(0)


class Client(threading.Thread):
    def __init__(self, world, number):
        super().__init__(daemon=True)
        self.world = world
        self.number = number
        self.wire = Wire(world.ports)
        self.random = random.Random(f"{SEED}-{number}")
        self.serial = 0
        self.own = {tenant: [] for tenant in TENANTS}  # cards that are written still
        self.brief = {tenant: [] for tenant in TENANTS}  # cards that expire, oldest first

    def run(self):
        try:
            while self.world.take():
                self.tenant = self.random.choice(TENANTS)
                self.cards = self.world.cards[self.tenant]
                name = self.random.choices(list(CHOICES), CHOICES.values())[0]
                getattr(self, name)()
        except Exception as error:  # reported by the case
            self.world.errors.append(error)
        self.wire.close()

    # --- asking ---

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, answer). 503 and 504 leave open what was done, as no answer does."""
        tenant = "m" if self.tenant == "m" else "%D0%BC%D0%BE%D0%B4%D0%B5%D0%BB%D1%8C"
        status, headers, answer = self.wire.ask(method, f"/projects/{tenant}/{path}", body, headers or {})
        if status in (503, 504):
            raise Lost(answer)
        return status, headers, answer

    def ask_until_answered(self, *request):
        """Also whether it took more than once."""
        deadline = time.monotonic() + 60
        for attempt in range(1, 10000):
            try:
                return (*self.ask(*request), attempt)
            except Lost as why:
                self.world.lost += 1
                expect(time.monotonic() < deadline, "no answer in a minute:", str(why))
                time.sleep(0.005 * min(attempt, 20))
        raise AssertionError("unreachable")

    def box(self):
        active = self.world.active[self.tenant]
        if not active or (len(active) < BOXES and self.random.random() < 0.2):
            self.create()
        return self.random.choice(active)

    def new_ids(self):
        """The first names no card and is nobody else's, so that it shows who wrote a list."""
        self.serial += 1
        count = self.random.choice((0, 0, 1, 2, 3, 5, self.random.randrange(60, 200)))
        return (f"tag-{self.number}-{self.serial}", *(
            f"card-{self.random.randrange(CLIENTS)}-{self.random.randrange(CARDS)}" for _ in range(count)))

    # --- writes of boxes ---

    def create(self):
        box = Box(str(uuid.uuid4()))
        write = Write("create", time.monotonic(), self.new_ids())
        self.make(box, write, "boxes", {"box_id": box.box_id, "card_ids": write.ids})

    def make(self, box, write, path, body):
        """A box with an id of ours: that it exists is then our own doing."""
        box.writes.append(write)
        status, _, answer, attempts = self.ask_until_answered("POST", path, body)
        write.end = time.monotonic()
        if status == 409 and attempts > 1:
            return self.world.keep(self.tenant, box)  # an earlier one was done
        expect(status == 200 and answer["version"] == 1, path, status, answer)
        write.answer = (1, answer["length"])
        return self.world.keep(self.tenant, box)

    def fork(self):
        source, box = self.box(), Box(str(uuid.uuid4()))
        kind = self.random.choice((None, "version", "length"))
        argument = self.random.randint(*((1, max(source.newest, 1)) if kind == "version" else
                                         (0, source.length)))
        write = Write("fork", time.monotonic(), source=(source, kind, argument))
        body = {"box_id": box.box_id}
        if kind:
            body["at_" + kind] = argument
        box.writes.append(write)
        status, _, answer, attempts = self.ask_until_answered("POST", f"boxes/{source.box_id}/fork", body)
        write.end = time.monotonic()
        if status == 404:  # the length that it had is not that of its present list
            expect(kind == "length", "fork", kind, argument, answer)
            return
        if not (status == 409 and attempts > 1):
            expect(status == 200, "fork", status, answer)
            write.answer = (1, answer["length"])
        self.world.keep(self.tenant, box)

    def append(self):
        box = self.box()
        again = self.random.random()
        if box.keyed and again < 0.1:
            first = self.random.choice(box.keyed)
            other = self.random.random() < 0.3
            write = Write("append", time.monotonic(), self.new_ids() if other else first.ids, first.key)
        else:
            write = Write("append", time.monotonic(), self.new_ids())
            if self.random.random() < 0.5:
                self.serial += 1
                write.key = f"key-{self.number}-{self.serial}"
            if self.random.random() < 0.3:
                write.expected = max(1, box.newest - self.random.choice((0, 0, 0, 1)))
        headers = {"Idempotency-Key": write.key} if write.key else {}
        self.change(box, write, "POST", f"boxes/{box.box_id}/append", headers)

    def replace(self):
        box = self.box()
        old = [w for w in box.writes[-3:] if w.kind == "replace"]
        same = old and self.random.random() < 0.3
        write = Write("replace", time.monotonic(), old[-1].ids if same else self.new_ids())
        condition, headers = self.random.random(), {}
        if condition < 0.3:
            write.expected = max(1, box.newest)
        elif condition < 0.6 and box.tag:
            write.tagged = True
            write.expected, headers["If-Match"] = box.tag
        elif condition < 0.7:
            headers["If-Match"] = "*"  # it is there
        self.change(box, write, "PUT", f"boxes/{box.box_id}", headers)

    def change(self, box, write, method, path, headers):
        body = {"card_ids": write.ids}
        if write.expected and not write.tagged:
            body["expected_version"] = write.expected
        box.writes.append(write)
        try:
            if write.key:
                status, told, answer, write.attempts = self.ask_until_answered(method, path, body, headers)
            else:
                write.attempts = 1
                status, told, answer = self.ask(method, path, body, headers)
        except Lost:
            self.world.lost += 1
            return
        write.end = time.monotonic()
        if status in (409, 412):
            write.refused = (status, answer["detail"].get("current_version"))
            return
        expect(status == 200, method, path, status, answer)
        write.answer = (answer["version"], answer["length"])
        write.replayed = told.get("idempotent-replayed") == "true"
        box.newest, box.length = max(box.newest, answer["version"]), answer["length"]
        if write.key:
            box.keyed.append(write)
        if len(box.writes) + len(box.reads) > BOX_REQUESTS:
            with self.world.lock:
                if box in self.world.active[self.tenant]:
                    self.world.active[self.tenant].remove(box)

    # --- reads of boxes ---

    def read(self, box, kind, argument, path, body=None):
        start = time.monotonic()
        try:
            status, headers, answer = self.ask("POST" if body else "GET", path, body)
        except Lost:
            self.world.lost += 1
            return
        seen = SEEN[kind](answer) if status == 200 else None
        box.reads.append((kind, argument, start, time.monotonic(), status, seen))
        if kind == "now" and seen:
            box.tag = (seen[0], headers["etag"])
        if kind == "log" and seen:
            box.moments = [entry["at"] for entry in seen]

    def read_box(self):
        box = self.box()
        kind = self.random.choice(("now", "batch", "at_version", "at_length", "at_time", "tail", "log"))
        path = f"boxes/{box.box_id}"
        if kind == "now":
            self.read(box, kind, None, path)
        elif kind == "batch":
            self.read_batch()
        elif kind == "log":
            self.read(box, kind, None, f"{path}/log?limit={self.random.randint(1, 20)}")
        elif kind == "tail":
            limit = self.random.choice((1, 10, 70, 500))
            self.read(box, kind, limit, f"{path}/cards?limit={limit}")
        elif kind != "at_time" or box.moments:
            argument = {"at_version": lambda: self.random.randint(1, box.newest + 1),
                        "at_length": lambda: self.random.randint(0, box.length + 1),
                        "at_time": lambda: self.random.choice(box.moments)}[kind]()
            self.read(box, kind, argument, f"{path}?{kind}={argument}")

    def read_batch(self):
        """Some boxes, and among them ids of none."""
        boxes = {box.box_id: box for box in (self.box() for _ in range(self.random.randint(1, 4)))}
        ids = [*boxes, *(str(uuid.uuid4()) for _ in range(self.random.randrange(3)))]
        self.random.shuffle(ids)
        hydrate = self.random.random() < 0.5
        start = time.monotonic()
        try:
            status, _, answer = self.ask("POST", "boxes/batch", {"box_ids": ids, "hydrate": hydrate, "limit": 3})
        except Lost:
            self.world.lost += 1
            return
        shown = answer["boxes"] if status == 200 else [None] * len(boxes)
        if status == 200:
            expect([box["box_id"] for box in shown] == [box for box in ids if box in boxes] and
                   answer["missing_box_ids"] == [box for box in ids if box not in boxes],
                   "a batch of", ids, "gave", answer)
        for box_id, box in zip((box for box in ids if box in boxes), shown):
            seen = hash(tuple(box["card_ids"])) if box else None
            boxes[box_id].reads.append(("batch", None, start, time.monotonic(), status, seen))

    # --- cards ---

    def card(self):
        """One of our own, or none yet; those whose writes were lost are left as they are."""
        own = self.own[self.tenant]
        while len(own) < CARDS:
            self.serial += 1
            own.append(f"card-{self.number}-{len(own)}" if self.serial <= CARDS else
                       f"card-{self.number}-late-{self.serial}")
        return self.random.choice(own)

    def add_card(self):
        self.add([self.card()], single=True)

    def add_cards(self):
        self.add(sorted({self.card() for _ in range(self.random.randint(1, 12))}), single=False)

    def add(self, ids, single):
        options = {name: True for name in ("strict", "sealed", "restore") if self.random.random() < 0.15}
        flags = {name: name in options for name in ("strict", "sealed", "restore")}
        given = [(card_id, {"n": self.random.randrange(4)}) for card_id in ids]
        foreseen = [self.cards.foresee(card_id, content, **flags) for card_id, content in given]
        cards = [{"card_id": card_id, "content": content} for card_id, content in given]
        body = {**(cards[0] if single else {"cards": cards}), **options}
        start = time.monotonic()
        status, _, answer, attempts = self.ask_until_answered("POST", "cards", body)
        end = time.monotonic()
        refused = [outcome for outcome in foreseen if outcome in ("conflict", "gone")]
        if status == 200:
            told = [answer["outcome"]] if single else [one["outcome"] for one in answer["cards"]]
        elif single:
            told = [answer["detail"]["outcome"]]
        else:
            told = [one["outcome"] for one in answer["detail"]["outcomes"]]
        expect(status == (200 if not refused else 409 if "conflict" in refused else 410),
               "cards", given, flags, "foreseen", foreseen, "but", status, told)
        for outcome, said in zip(foreseen, told, strict=True):
            done_before = attempts > 1 and not refused and said == "unchanged"
            expect(said == outcome or done_before, given, flags, "foreseen", foreseen, "told", told)
        for card_id, content in given:
            if not refused:
                self.cards.add(card_id, content, flags["sealed"], start, end)
            if attempts > 1:
                self.own[self.tenant].remove(card_id)  # the lost one may still be under way

    def add_brief_card(self):
        self.serial += 1
        card_id, kind = f"brief-{self.number}-{self.serial}", f"brief-{self.number}"
        body = {"card_id": card_id, "content": self.serial, "type": kind, "ttl_seconds": BRIEF_S,
                "metadata": {"of": kind}}
        start = time.monotonic()
        status, _, answer, attempts = self.ask_until_answered("POST", "cards", body)
        end = time.monotonic()
        expect(status == 200, "cards", body, status, answer)
        if attempts == 1:  # else its time may have begun, and ended, before
            self.cards.states[card_id] += [(self.serial, start, end),
                                           (None, start + BRIEF_S - CLOCKS_S, end + BRIEF_S + CLOCKS_S)]
            self.brief[self.tenant].append(card_id)

    def list_brief_cards(self):
        """The newest of our own, by a filter: none is left out, and each only while it lives."""
        name, limit = self.random.choice(("type", "meta.of")), self.random.choice((1, 3, 500))
        start = time.monotonic()
        try:
            status, _, answer = self.ask("GET", f"cards?{name}=brief-{self.number}&limit={limit}")
        except Lost:
            self.world.lost += 1
            return
        end = time.monotonic()
        expect(status == 200, "list", status, answer)
        known = self.brief[self.tenant][::-1]
        told = [(card["card_id"], card["content"]) for card in answer["cards"]]
        shown = {card_id: content for card_id, content in told if card_id in known}
        expect([card_id for card_id in known if card_id in shown] == list(shown), "list", told, "of", known)
        expect(all(card_id.startswith(f"brief-{self.number}-") for card_id, _ in told), "list", told)
        if len(told) == limit:  # what is older is on another page
            known = known[:known.index(list(shown)[-1]) + 1] if shown else []
        self.cards.reads += [(card_id, shown.get(card_id), start, end) for card_id in known]

    def delete_card(self):
        card_id, start = self.card(), time.monotonic()
        status, _, answer, attempts = self.ask_until_answered("DELETE", f"cards/{card_id}")
        there = len(self.cards.states[card_id]) > 1
        wanted = 404 if not there else 409 if card_id in self.cards.sealed else 200
        expect(status == wanted, "delete", card_id, status, answer, "instead of", wanted)
        if status == 200:
            self.cards.delete(card_id, start, time.monotonic())
        if attempts > 1:
            self.own[self.tenant].remove(card_id)

    def read_cards(self):
        """Anybody's: as it may be; and what our own said before, which nobody else changes."""
        ids = [f"card-{self.random.randrange(CLIENTS)}-{self.random.randrange(CARDS)}" for _ in range(5)]
        start = time.monotonic()
        try:
            status, _, answer = self.ask("POST", "cards/batch", {"card_ids": ids})
            expect(status == 200, status, answer)
            end = time.monotonic()
            found = {card["card_id"]: card["content"] for card in answer["cards"]}
            expect(found.keys().isdisjoint(answer["missing_ids"]), answer)
            self.cards.reads += [(card_id, found.get(card_id), start, end) for card_id in ids]
            own = self.card()
            status, _, answer = self.ask("GET", f"cards/{own}/revisions?limit=200")
        except Lost:
            self.world.lost += 1
            return
        told = [one["card"]["content"] for one in answer["revisions"]] if status == 200 else []
        if len(self.cards.states[own]) > 1 and own not in self.cards.deleted:
            expect(told == self.cards.revisions[own][::-1], "revisions of", own, told,
                   "instead of", self.cards.revisions[own][::-1])


def hashed(answer):
    expect(answer["length"] == len(answer["card_ids"]), "length and ids differ:", answer["length"], len(answer["card_ids"]))
    return answer["version"], hash(tuple(answer["card_ids"]))


SEEN = {
    "now": hashed, "at_version": hashed, "at_length": hashed, "at_time": hashed,
    "tail": lambda answer: [(card["card_id"], card["content"]) for card in answer],
    "log": lambda answer: answer["log"],
}

CHOICES = {"append": 30, "replace": 8, "create": 1, "fork": 4, "read_box": 30, "add_card": 10,
           "add_cards": 5, "delete_card": 5, "read_cards": 10,
           "add_brief_card": 4, "list_brief_cards": 4}


# --- the end: everything is read, and compared ---


def whole_log(client, box):
    entries, cursor = [], ""
    while True:
        status, _, answer, _ = client.ask_until_answered(
            "GET", f"boxes/{box.box_id}/log?limit=500{cursor}")
        if status == 404:
            return None
        expect(status == 200, status, answer)
        entries += answer["log"]
        if not answer["next_cursor"]:
            return entries[::-1]
        cursor = f"&cursor={answer['next_cursor']}"


def compare(world, ports):
    client = Client(World(ports, 0), 0)
    logs, counts = {}, {"writes": 0, "reads": 0, "cards": 0, "versions": 0}
    for tenant in TENANTS:
        client.tenant = tenant
        for box in world.boxes[tenant]:
            client.read(box, "now", None, f"boxes/{box.box_id}")
            log = logs[box] = whole_log(client, box)
            expect(log, box.box_id, "was made and is not there")
            first = None
            if log[0]["op"] == "fork":
                first = client.ask("GET", f"boxes/{box.box_id}?at_version=1")[2]["card_ids"]
            counts["writes"] += model.settle(box, log, first)
            counts["versions"] += len(log)
        for box in world.boxes[tenant]:
            counts["reads"] += model.check_reads(box, world.cards[tenant], logs[box])
            if logs[box][0]["op"] == "fork":
                fork = next(write for write in box.writes if write.kind == "fork")
                model.check_fork(box, fork.source[0], fork)
        counts["cards"] += world.cards[tenant].check()
    client.wire.close()
    return counts


def play(ports, requests):
    world = World(ports, requests)
    clients = [Client(world, number) for number in range(CLIENTS)]
    started = time.monotonic()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if world.errors:
        raise world.errors[0]
    return world, time.monotonic() - started


def report(world, counts, seconds):
    print(f"        seed {SEED}: {counts}, {world.lost} without an answer, {seconds:.0f} s", flush=True)


def test_as_the_model_says():
    dsn = Postgres.shared().database()
    servers = [Server(dsn), Server(dsn)]
    world, seconds = play([server.port for server in servers], REQUESTS)
    expect(world.lost == 0, "requests without an answer:", world.lost)
    report(world, compare(world, [servers[0].port]), seconds)
    for server in servers:
        server.stop()


def test_with_connections_cut():
    """Clients' by a proxy that resets them, the servers' by PostgreSQL."""
    postgres = Postgres.shared()
    dsn = postgres.database()
    servers = [Server(dsn), Server(dsn)]
    command = [sys.executable, os.path.join(cardbox_test.ROOT, "tests", "lib", "cutter.py"), "0.01",
               *(str(server.port) for server in servers)]
    cutter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    cardbox_test.at_end(cutter.kill)
    ports = [int(cutter.stdout.readline()) for _ in servers]
    playing = threading.Event()

    def terminate():
        while not playing.wait(random.uniform(0.1, 0.5)):
            postgres.psql(dsn, "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity"
                               " WHERE datname = current_database() AND application_name = 'cardboxd'"
                               " ORDER BY random() LIMIT 1) AS one")

    terminator = threading.Thread(target=terminate, daemon=True)
    terminator.start()
    world, seconds = play(ports, REQUESTS)
    playing.set()
    terminator.join()
    expect(world.lost > 0, "nothing was cut")
    report(world, compare(world, [server.port for server in servers]), seconds)
    cutter.kill()
    cutter.wait()
    for server in servers:
        server.stop()


if __name__ == "__main__":
    cardbox_test.main()

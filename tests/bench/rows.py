"""The rows of the table: for each what is measured, against what, and the goal. `ours` and
`reference` are functions that measure once; they are called in turn, and each pair gives a ratio.
"""

import http.client
import json
import os
import random
import resource
import socket
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Callable, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
import data  # noqa: E402
import statements  # noqa: E402
from cardbox_test import Server, free_port, temp_dir  # noqa: E402
from load import PlainServer, Reference, Sdk, Wrk  # noqa: E402

BATCH = 50           # cards of a batch, and of a page of a box
BOXES_BATCH = 100
SCRIPTS = 16         # with as many different lists of ids
WAL_APPENDS = 640    # ten sealed segments
REPLAYED = 10_000
SESSION_BYTES = 1500  # entries
TURN_AT = 200         # messages of the session
TURNS = 20            # of one session: it grows by three messages in each
ANSWERS = 200         # of one session


class Bench:
    """What all rows measure on: the data, a server, and the programs that make load."""

    def __init__(self, sizes, seconds):
        self.sizes = sizes
        self.seconds = seconds
        self.database = data.Database(sizes)
        self.dsn = self.database.dsn
        self.server = Server(self.database.owner)
        self.dice = random.Random(2)
        self.document = data.document(random.Random(3))
        document_file = os.path.join(temp_dir(), "document")
        with open(document_file, "w", encoding="utf-8") as file:
            file.write(f"{self.document}\n{data.metadata(0)}\n")
        self.document_file = document_file
        self.sdk = Sdk(self.dsn, document_file)
        self.folder = temp_dir()
        self.uncached = None
        self.has_path = False
        self._references = {}
        self._ranges = 0

    def settle(self):
        """Until the server has indexed what was written: its thread would run beside the next row."""
        while self.database.sql("SELECT EXISTS (SELECT FROM cardbox.search_queue)") == "t":
            time.sleep(0.2)
        self.database.settle()

    def wrk(self, connections, *what):
        return Wrk(self.server.port, connections, self.seconds, *what)

    def reference(self, name, make, clients=8):
        """A reference's rate; it is made when it is first asked for."""
        if name not in self._references:
            self._references[name] = make(self)
        return self._references[name].rate(self.dsn, self.seconds, clients)

    def boxes(self, kind):
        """What names the boxes of a kind to wrk and the SDK's program."""
        return data.box_prefix(kind), self.sizes[kind]

    def checked(self, method, path, body, count):
        """The answer's JSON if it has `count` members: what is measured must be what is meant."""
        answer = (self.server.get(path) if method == "GET" else self.server.post(path, body))
        if answer.status != 200 or len(answer.json()) != count:
            raise RuntimeError(f"{method} {path}: {answer!r}")
        return answer.json()


# --- references ---


def numbers(count):
    """pgbench's lines that choose a number and its tenant."""
    return (f"\\set t random(0, {data.TENANTS - 1})\n"
            f"\\set n {data.FIRST} + random(0, {count // data.TENANTS - 1}) * {data.TENANTS} + :t\n")


def one_card(bench):
    select = statements.cards_get("ARRAY['tenant-' || :t]", "ARRAY['0197a000-0000-7000-8000-' || :n]", 1)
    return Reference(numbers(bench.sizes["cards"]) + select)


def batch_of_cards(bench):
    """Lists of ids as parameters: pgbench can't make texts up, so each script has one."""
    lists = {}
    for number in range(SCRIPTS):
        tenant = number % data.TENANTS
        of_tenant = range(tenant, bench.sizes["cards"], data.TENANTS)
        ids = [data.card_id(card) for card in bench.dice.sample(of_tenant, BATCH)]
        lists[f"ids{number}"] = "{" + ",".join(ids) + "}"
        lists[f"tenants{number}"] = "{" + ",".join([data.tenant(tenant)] * BATCH) + "}"
    scripts = [statements.cards_get(f":tenants{number}", f":ids{number}", BATCH) for number in range(SCRIPTS)]
    return Reference(*scripts, **lists)


def one_box(bench):
    select = statements.box_cards("'tenant-' || :t", f"'{data.box_prefix('fifty')}' || :n", BATCH)
    return Reference(numbers(bench.sizes["fifty"]) + select)


def plain_insert(bench):
    return Reference(statements.PLAIN_INSERT, content=bench.document, metadata=data.metadata(0))


def plain_append(kind):
    def make(bench):
        bench.database.make_plain_boxes(kind)
        update = statements.PLAIN_APPEND.format(kind=kind, prefix=data.box_prefix(kind))
        return Reference(numbers(bench.sizes[kind]) + update, ids=json.dumps([data.card_id(0)]))
    return make


# --- reads ---


def get_card(connections):
    def ours(bench):
        bench.checked("GET", f"/projects/{data.tenant(5)}/cards/{data.card_id(5)}", None, 13)
        return bench.wrk(connections, "card", bench.sizes["cards"]).rate
    return ours


def get_card_cold(bench):
    """A server without a cache, and all cards."""
    if bench.uncached is None:
        bench.uncached = Server(bench.database.owner, "--card-cache", "0")
    return Wrk(bench.uncached.port, 64, bench.seconds, "any_card", bench.sizes["cards"]).rate


def cards_batch(bench):
    ids = [data.card_id(4 * n) for n in range(BATCH)]
    answer = bench.checked("POST", f"/projects/{data.tenant(0)}/cards/batch", {"card_ids": ids}, 2)
    assert len(answer["cards"]) == BATCH, "cards are missing"
    return bench.wrk(8, "cards_batch", bench.sizes["cards"], BATCH).rate


def box_cards(kind, connections):
    def ours(bench):
        path = f"/projects/{data.tenant(1)}/boxes/{data.box_id(kind, 1)}/cards?limit={BATCH}"
        bench.checked("GET", path, None, BATCH)
        return bench.wrk(connections, "box_cards", *bench.boxes(kind), BATCH).rate
    return ours


def boxes_batch_ms(bench):
    ids = [data.box_id("fifty", 4 * n) for n in range(BOXES_BATCH)]
    answer = bench.checked("POST", f"/projects/{data.tenant(0)}/boxes/batch",
                           {"box_ids": ids, "hydrate": True, "limit": BATCH}, 3)
    assert all(len(box["hydrated_cards"]) == BATCH for box in answer["boxes"]), "cards are missing"
    return 1000 / bench.wrk(1, "boxes_batch", *bench.boxes("fifty"), BOXES_BATCH, BATCH).rate


def boxes_one_by_one_ms(bench):
    return 1000 * BOXES_BATCH / box_cards("fifty", 1)(bench)


def tail_of_small(bench):
    return box_cards("fifty", 8)(bench)


def latency_p99_and_p50(bench):
    run = bench.wrk(64, "card", bench.sizes["cards"])
    return run.p99, run.p50


# --- search ---

SEARCHES = 8         # of each kind in a measurement, at least
# Words of all cards, of one card in eight, of one in some hundred, and of none. A number is one of the lines of a file.
QUERIES = ("rollback", "snapshot branch", "rollback commit lock", "Cards.c", "41", "error 7", "nothere", "snap nothere")


def p95(times):
    return sorted(times)[int(0.95 * (len(times) - 1))]


def search_and_card_p95(bench):
    """One client searches and reads cards in turn."""
    connection = http.client.HTTPConnection("127.0.0.1", bench.server.port, timeout=30)
    searches, cards = [], []
    end = time.monotonic() + bench.seconds
    while len(searches) < SEARCHES * len(QUERIES) or time.monotonic() < end:
        query = QUERIES[len(searches) % len(QUERIES)].replace(" ", "+")
        number = bench.dice.randrange(bench.sizes["cards"])
        for times, path in ((searches, f"{data.tenant(number)}/search?q={query}"),
                            (cards, f"{data.tenant(number)}/cards/{data.card_id(number)}")):
            began = time.monotonic()
            exchange(connection, "GET", f"/projects/{path}")
            times.append(1000 * (time.monotonic() - began))
    connection.close()
    return p95(searches), p95(cards)


# --- writes ---


def append_ms(kind):
    return lambda bench: 1000 / bench.sdk.append(1, bench.seconds, *bench.boxes(kind))


def fork_ms(kind):
    return lambda bench: 1000 / bench.sdk.fork(1, bench.seconds, *bench.boxes(kind))


def append_rate(kind):
    return lambda bench: bench.sdk.append(8, bench.seconds, *bench.boxes(kind))


def add_cards(threads, batch):
    return lambda bench: bench.sdk.add(threads, bench.seconds, batch)


def post_card(bench):
    return bench.wrk(64, "post_card", bench.document_file).rate


def reference(name, make):
    return lambda bench: bench.reference(name, make)


# --- sessions ---


def session_file(bench, count):
    """A session of so many entries as a file; made when it is first asked for."""
    path = os.path.join(bench.folder, f"session-{count}.jsonl")
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in data.session_lines(count))
    return path


def import_rate(bench):
    bench.database.settle()
    return bench.sdk.import_session(session_file(bench, bench.sizes["session"])) / 1e6


def copy_rate(bench):
    """COPY of the same lines into a table of one column, as psql measures it."""
    path = session_file(bench, bench.sizes["session"])
    bench.database.sql("SET client_min_messages = warning; CREATE TABLE IF NOT EXISTS public.session_lines"
                       " (line jsonb); TRUNCATE public.session_lines")
    bench.database.settle()
    ms = bench.database.copy_ms("public.session_lines", path)
    return os.path.getsize(path) / 1e6 / (ms / 1000)


def prepare_path(bench):
    """The session of data.PATH entries, called "path"; imported when it is first asked for."""
    if not bench.has_path:
        cardbox_test.cardbox("session", "import", "--dsn", bench.database.owner, "--project", data.tenant(0),
                             "--session", "path", session_file(bench, data.PATH))
        bench.database.settle()
        bench.has_path = True


def context_ms(bench):
    prepare_path(bench)
    return 1000 / bench.sdk.context(bench.seconds, "path")


def path_rows(bench):
    prepare_path(bench)
    return Reference(statements.PATH_ROWS)


def path_rows_ms(bench):
    return 1000 / bench.reference("path_rows", path_rows, clients=1)


def append_entries(bench):
    return bench.sdk.append_entries(8, bench.seconds, bench.document_file)


def plain_message(bench):
    bench.database.make_plain_messages()
    return Reference(statements.PLAIN_MESSAGE, message=json.dumps({"type": "user", "content": bench.document}))


def bytes_of_session(bench):
    path = os.path.join(bench.folder, "documents.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in data.session_of_documents(SESSION_BYTES))
    cardbox_test.cardbox("session", "import", "--dsn", bench.database.owner, "--project", data.tenant(0),
                         "--session", "documents", path)
    return bench.database.bytes_of_session_and_plain_messages("documents")


# --- answers with usage ---


def answer_body(bench, number, with_usage):
    answer = {"model": "bench", "usage": {"prompt_tokens": 1000 + number, "completion_tokens": 100}} if with_usage else {"model": "bench"}
    entry = {"id": f"e{number}", "type": "message", "format": "openai", "message": {"role": "assistant", "content": bench.document}}
    return {"create": {"dialect": "plain"}, "entry": {**entry, "answer": answer}}


def append_answer(bench, connection, number, with_usage):
    path = f"/projects/{data.tenant(0)}/sessions/usage-{with_usage}-{bench.of_answers}/entries"
    exchange(connection, "POST", path, answer_body(bench, number, with_usage))


def answers_ms(bench):
    """The median times of an append with usage and of one without, one after the other."""
    times = {True: [], False: []}
    connection = http.client.HTTPConnection("127.0.0.1", bench.server.port, timeout=30)
    bench.of_answers = time.monotonic_ns()
    end = time.monotonic() + bench.seconds
    while len(times[True]) < 20 or time.monotonic() < end:
        for with_usage, taken in times.items():
            began = time.monotonic()
            append_answer(bench, connection, len(taken), with_usage)
            taken.append(1000 * (time.monotonic() - began))
    connection.close()
    return statistics.median(times[True]), statistics.median(times[False])


def answers_wal(bench):
    """Bytes of WAL of an append with usage, and of one without. Earlier appends have written the pages whole."""
    sizes = []
    connection = http.client.HTTPConnection("127.0.0.1", bench.server.port, timeout=30)
    bench.of_answers = time.monotonic_ns()
    for with_usage in (True, False):
        append_answer(bench, connection, 0, with_usage)
        bench.settle()
        wal = bench.database.wal_bytes(lambda: [append_answer(bench, connection, n, with_usage) for n in range(1, ANSWERS)])
        sizes.append(wal / (ANSWERS - 1))
    connection.close()
    return tuple(sizes)


def bytes_of_usage(bench):
    """Bytes of a row of a session, a day and a model, with all indexes."""
    return bench.database.bytes_of_usage()


# --- turns over HTTP ---


def exchange(connection, method, path, value=None):
    body = None if value is None else json.dumps(value)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{method} {path}: {answer.status} {text[:500]}")
    return text


def turn_ms(bench, port, path_of, body_of):
    """The median time of a turn: three entries are appended, then all messages are read.
    path_of(name) returns where a session is appended to and where it is read, body_of(entries) the body."""
    times = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    end = time.monotonic() + bench.seconds
    while not times or time.monotonic() < end:
        dice = random.Random(6)
        entries = [data.session_entry(dice, number) for number in range(TURN_AT + 3 * TURNS)]
        append, read = path_of(f"turns-{time.monotonic_ns()}")
        exchange(connection, "POST", append, body_of(entries[:TURN_AT]))
        for first in range(TURN_AT, len(entries), 3):
            body = body_of(entries[first:first + 3])
            began = time.monotonic()
            exchange(connection, "POST", append, body)
            text = exchange(connection, "GET", read)
            times.append(1000 * (time.monotonic() - began))
        if len(json.loads(text)["messages"] if text[:1] == b"{" else json.loads(text)) != len(entries):
            raise RuntimeError(f"{read}: not all messages")
    connection.close()
    return statistics.median(times)


def turn(bench):
    def path_of(name):
        path = f"/projects/{data.tenant(0)}/sessions"
        bench.server.request("PUT", f"{path}/{name}", '{"dialect":"pi"}', {"Content-Type": "application/json"})
        return f"{path}/{name}/entries", f"{path}/{name}/context"
    return turn_ms(bench, bench.server.port, path_of, lambda entries: {"entries": entries})


def plain_turn(bench):
    bench.database.make_plain_messages()
    server = PlainServer(bench.dsn)
    try:
        return turn_ms(bench, server.port, lambda name: (f"/{name}", f"/{name}"), lambda entries: entries)
    finally:
        server.stop()


# --- bytes of WAL ---
# The first change of a page after a checkpoint writes the whole page, which says something of the
# time since the checkpoint and nothing of the change. So appends follow others to the same box, and
# the rest follows a checkpoint on both sides.


def append_wal(bench):
    box = (data.box_prefix("ten_thousand"), 1)
    seconds = 0.1

    def appends():
        rate = bench.sdk.append(1, seconds, *box)
        appends.count = rate * seconds
    appends()
    length = "SELECT length FROM cardbox.card_boxes WHERE box_id = '%s'" % data.box_id("ten_thousand", 0)
    before = int(bench.database.sql(length))
    wal = 0
    while int(bench.database.sql(length)) - before < WAL_APPENDS:
        wal += bench.database.wal_bytes(appends)
    return wal / (int(bench.database.sql(length)) - before)


def ids_in_big_box(bench):
    return float(bench.database.sql(
        "SELECT sum(octet_length(e)) FROM cardbox.boxes, jsonb_array_elements_text(card_ids) AS e"
        f" WHERE tenant_id = '{data.tenant(0)}' AND box_id = '{data.box_id('ten_thousand', 0)}'"))


def range_wal(bench):
    bench.database.sql("CHECKPOINT")
    return bench.database.wal_bytes(lambda: bench.sdk.write_range(bench._ranges * REPLAYED, REPLAYED))


def replayed_and_written_wal(bench):
    written = range_wal(bench)
    replayed = range_wal(bench)
    bench._ranges += 1
    return replayed, written


def bytes_of_cards(bench):
    return bench.database.bytes_of_cards_and_plain_ones()


# --- the process ---


def rss_mb(server, field):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith(field)).split()[1]) / 1024


def rss_idle(bench):
    server = Server(bench.database.owner)
    path = f"/projects/{data.tenant(5)}/cards/{data.card_id(5)}"
    connections = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    for _ in range(1000):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", path)
        if connection.getresponse().read()[:1] != b"{" or connection.sock is None:
            raise RuntimeError("a connection was not kept")
        connections.append(connection)
    resident = rss_mb(server, "VmRSS")
    for connection in connections:
        connection.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    server.stop()
    return resident


def idle_wakeups(bench):
    """How often in a second a thread of an idle server is woken."""
    server = Server(bench.database.owner)
    server.await_ready()
    time.sleep(3)
    begun, before = time.monotonic(), server.wakeups()
    time.sleep(10)
    rate = (server.wakeups() - before) / (time.monotonic() - begun)
    server.stop()
    return rate


def rss_load(bench):
    """The highest that the server of all rows before has reached."""
    return rss_mb(bench.server, "VmHWM")


def is_ready(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return connection.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def start_ms(bench):
    port = free_port()
    command = [cardbox_test.CARDBOXD, "--dsn", bench.dsn,
               "--listen", f"127.0.0.1:{port}", "--log-level", "error"]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while not is_ready(port):
            if process.poll() is not None or time.monotonic() - began > 30:
                raise RuntimeError("cardboxd does not become ready")
            time.sleep(0.0005)
        return (time.monotonic() - began) * 1000
    finally:
        process.terminate()
        process.wait()


# --- the table ---


@dataclass
class Row:
    name: str
    goal: float
    better: str  # "higher" or "lower"
    unit: str
    ours: Callable                        # with `pair` it gives ours and the reference's
    reference: Optional[Callable] = None  # None: the ratio is the figure itself
    pair: bool = False

    def measure(self, bench, ours_first):
        """One round: ours, the reference's or None, the ratio."""
        if self.pair:
            ours, reference = self.ours(bench)
        elif self.reference is None:
            ours, reference = self.ours(bench), None
        elif ours_first:
            ours, reference = self.ours(bench), self.reference(bench)
        else:
            reference, ours = self.reference(bench), self.ours(bench)
        return ours, reference, ours if reference is None else ours / reference

    def met(self, ratio):
        return ratio >= self.goal if self.better == "higher" else ratio <= self.goal


ROWS = [
    Row("get_card", 1.35, "higher", "requests/s", get_card(64), reference("one_card", one_card)),
    Row("get_card_cold", 1.15, "higher", "requests/s", get_card_cold, reference("one_card", one_card)),
    Row("get_card_low", 0.7, "higher", "requests/s", get_card(8), reference("one_card", one_card)),
    Row("cards_batch_50", 0.8, "higher", "requests/s", cards_batch, reference("cards", batch_of_cards)),
    Row("box_cards_50", 0.8, "higher", "requests/s", box_cards("fifty", 8), reference("box", one_box)),
    Row("boxes_batch_100", 0.6, "lower", "ms", boxes_batch_ms, boxes_one_by_one_ms),
    Row("box_tail_flat", 0.9, "higher", "requests/s", box_cards("ten_thousand", 8), tail_of_small),
    Row("append_flat", 1.2, "lower", "ms", append_ms("ten_thousand"), append_ms("ten")),
    Row("append_wal", 0.01, "lower", "bytes", append_wal, ids_in_big_box),
    Row("append_rate", 0.75, "higher", "appends/s", append_rate("mixed"),
        reference("plain_mixed", plain_append("mixed"))),
    Row("append_rate_1000", 3, "higher", "appends/s", append_rate("thousand"),
        reference("plain_thousand", plain_append("thousand"))),
    Row("fork_flat", 1.5, "lower", "ms", fork_ms("ten_thousand"), fork_ms("ten")),
    Row("add_card", 0.9, "higher", "cards/s", add_cards(8, 1), reference("insert", plain_insert)),
    Row("post_card", 1.5, "higher", "cards/s", post_card, reference("insert", plain_insert)),
    Row("add_cards_100", 6, "higher", "cards/s", add_cards(1, 100), add_cards(1, 1)),
    Row("replay_free", 0.01, "lower", "bytes", replayed_and_written_wal, pair=True),
    Row("card_bytes", 1.3, "lower", "bytes", bytes_of_cards, pair=True),
    Row("session_append", 0.45, "higher", "entries/s", append_entries, reference("message", plain_message)),
    Row("session_bytes", 1.2, "lower", "bytes", bytes_of_session, pair=True),
    Row("append_usage", 1.2, "lower", "ms", answers_ms, pair=True),
    Row("append_usage_wal", 1.3, "lower", "bytes", answers_wal, pair=True),
    Row("usage_bytes", 400, "lower", "bytes", bytes_of_usage),
    Row("import", 0.4, "higher", "MB/s", import_rate, copy_rate),
    Row("context_1000", 1.2, "lower", "ms", context_ms, path_rows_ms),
    Row("turn_200", 1.2, "lower", "ms", turn, plain_turn),
    Row("search", 20, "lower", "ms", search_and_card_p95, pair=True),
    Row("p99_over_p50", 4, "lower", "ms", latency_p99_and_p50, pair=True),
    Row("rss_idle", 64, "lower", "MB", rss_idle),
    Row("idle_wakeups", 5, "lower", "1/s", idle_wakeups),
    Row("start", 100, "lower", "ms", start_ms),
    Row("rss_load", 128, "lower", "MB", rss_load),
]

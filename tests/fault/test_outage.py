#!/usr/bin/env python3
"""What clients see while PostgreSQL is away, stuck or back, and while cardboxd stops under load.

http-api.md: "a database that is away gives 503 and a false /readyz, and recovers with no failed
request once it is back".
"""

import contextlib
import http.client
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_

CARD = "/projects/p/cards/a"
THREADS = 8
DEADLINE_S = 5   # what cardboxd is told: long enough for every read, however busy the machine is
ANSWER_S = 60    # a request without an answer after that is lost
REFUSED = (ConnectionRefusedError, ConnectionResetError, http.client.RemoteDisconnected, BrokenPipeError)


class Load:
    """Threads that GET one card on keep-alive connections and note every outcome."""

    def __init__(self, server, threads=THREADS):
        self.server = server
        self.outcomes = []  # (when asked, seconds, status or exception, Retry-After), by end
        self.under_way = {}  # of each thread, when its request was asked
        self.stopping = False
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        for thread in self.threads:
            thread.join(ANSWER_S)

    def _run(self):
        client = self.server.client(timeout=ANSWER_S)
        while not self.stopping:
            asked = self.under_way[threading.get_ident()] = time.monotonic()
            try:
                response = client.request("GET", CARD)
                outcome = (response.status, response.header("Retry-After"))
            except Exception as error:
                outcome = (error, None)
                client = self.server.client(timeout=ANSWER_S)
            self.outcomes.append((asked, time.monotonic() - asked, *outcome))
            if outcome[0] != 200:
                time.sleep(0.01)  # refusals come at once; this is no test of how many a second

    def await_answers(self):
        """Until all that was asked before has an answer, or is lost; returns when it began to wait."""
        began = time.monotonic()
        await_(lambda: all(asked > began for asked in list(self.under_way.values())))
        return began

    def between(self, start, end):
        """Outcomes of requests that were asked in that time."""
        return [outcome for outcome in list(self.outcomes) if start <= outcome[0] <= end]


def summary(outcomes):
    counts = {}
    for _, _, status, _ in outcomes:
        counts[str(status)] = counts.get(str(status), 0) + 1
    slowest = max((seconds for _, seconds, _, _ in outcomes), default=0)
    return f"{counts}, slowest {slowest:.2f} s"


def seed(dsn):
    path = os.path.join(cardbox_test.temp_dir(), "rows.ndjson")
    with open(path, "w", encoding="utf-8") as rows:
        rows.write(json.dumps({"kind": "card", "card_id": "a", "content": {"text": "alpha"}}) + "\n")
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "p", path)


@cardbox_test.once
def cluster():
    """Of their own: others must not lose their database."""
    return Postgres("fsync=on")


@contextlib.contextmanager
def setting():
    """(cluster, DSN, server); at the end of a case that goes well the cluster is there."""
    postgres = cluster()
    dsn = postgres.database()
    seed(dsn)
    server = Server(dsn, "--database-timeout-ms", str(DEADLINE_S * 1000))
    try:
        await_served(server)
        yield postgres, dsn, server
    finally:
        server.kill()


def check_refused(outcomes, allowed):
    """Every outcome is one of the allowed statuses, with Retry-After where it is 503."""
    assert outcomes
    for _, _, status, retry_after in outcomes:
        assert status in allowed, summary(outcomes)
        assert status != 503 or int(retry_after) >= 1, f"503 without Retry-After: {retry_after!r}"


def await_served(server):
    await_(lambda: server.get(CARD).status == 200)


def check_while_away(server, load):
    gone = load.await_answers()
    # What was on its way when the database went may be tried again up to its deadline; after that,
    # all that comes is refused at once: these refusals would not come in time if each took seconds.
    time.sleep(DEADLINE_S)
    settled = load.await_answers()
    await_(lambda: len(load.between(settled, time.monotonic())) >= 500)
    check_refused(load.between(gone, settled), (503, 504))
    check_refused(load.between(settled, time.monotonic()), (503,))
    assert server.get("/readyz").status == 503
    assert server.get("/healthz").status == 200


def check_served(load, since):
    """Of the requests that were asked since then, 500 and all that came before them were served."""
    await_(lambda: len(load.between(since, time.monotonic())) >= 500)
    outcomes = load.between(since, time.monotonic())
    assert {status for _, _, status, _ in outcomes} == {200}, summary(outcomes)


def await_all_connections(server):
    """A server serves before it has all of them."""
    await_(lambda: sum(server.metric(f'cardbox_database_connections{{group="{group}",state="{state}"')
                       for group in ("reads", "lists", "writes") for state in ("down", "checking")) == 0)


def await_all_in_flight(server):
    """A request of every thread, and this one."""
    await_(lambda: server.metric("cardbox_requests_in_flight") > THREADS)


def test_database_away_and_back():
    with setting() as (postgres, _, server), Load(server) as load:
        for _ in range(2):
            check_served(load, time.monotonic())
            postgres.stop("immediate")
            check_while_away(server, load)
            postgres.start()
            await_served(server)
            served = time.monotonic()
            await_(lambda: server.get("/readyz").status == 200)
            check_served(load, served)
        server.check_log()


def test_restart_under_load():
    """An immediate restart: requests fail with 503 or 504, or not at all."""
    with setting() as (postgres, _, server), Load(server) as load:
        start = time.monotonic()
        check_served(load, start)
        postgres.restart("immediate")
        await_served(server)
        healthy = load.await_answers()
        check_refused(load.between(start, healthy), (200, 503, 504))
        check_served(load, healthy)


def test_backends_terminated():
    """Killed sessions, as by an operator or a failover: reads are safe to repeat, so none fails."""
    with setting() as (postgres, dsn, server), Load(server) as load:
        start = time.monotonic()
        for _ in range(5):
            postgres.psql(dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                               " WHERE datname = current_database() AND pid <> pg_backend_pid()")
            time.sleep(0.2)
        load.await_answers()
        check_served(load, start)


def postmaster(postgres):
    """Its process id. While it is stopped too, no new backend can answer."""
    with open(os.path.join(postgres.directory, "data", "postmaster.pid"), encoding="ascii") as pid:
        return int(pid.readline())


def test_stuck_backends():
    """A database that hangs: an answer after the deadline, and service again when it goes on."""
    with setting() as (postgres, dsn, server), Load(server) as load:
        start = time.monotonic()
        check_served(load, start)
        pids = [postmaster(postgres), *postgres.backends(dsn)]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            stuck = load.await_answers()
            load.await_answers()
            check_refused(load.between(stuck, time.monotonic()), (503, 504))
            assert server.get("/healthz", timeout=ANSWER_S).status == 200
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        await_served(server)
        load.await_answers()
        check_refused(load.between(start, time.monotonic()), (200, 503, 504))


def test_stop_under_load():
    """SIGTERM: what was accepted is answered; then the exit status is 0."""
    with setting() as (_, _, server), Load(server) as load:
        check_served(load, time.monotonic())
        server.stop()
    answered = [outcome for outcome in load.outcomes if isinstance(outcome[2], int)]
    assert {status for _, _, status, _ in answered} <= {200, 503}, summary(answered)
    for _, _, status, _ in load.outcomes:
        if not isinstance(status, int):
            assert isinstance(status, REFUSED), summary(load.outcomes)
    # A keep-alive connection may be closed just as the next request is on its way: one each.
    cut = [outcome for outcome in load.outcomes
           if isinstance(outcome[2], Exception) and not isinstance(outcome[2], ConnectionRefusedError)]
    assert len(cut) <= THREADS, summary(load.outcomes)


def test_stop_while_away():
    """SIGTERM with requests waiting for a database that is stuck: all are answered, perhaps by new backends."""
    with setting() as (postgres, dsn, server):
        await_all_connections(server)
        for pid in postgres.backends(dsn):
            os.kill(pid, signal.SIGSTOP)
        with Load(server) as load:
            await_all_in_flight(server)
            asked = time.monotonic()
            await_all_in_flight(server)  # what was asked before then has come
            server.stop()
        # The cluster can't be stopped while these sleep.
        for pid in postgres.backends(dsn):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        check_refused(load.between(0, asked), (200, 503, 504))


def test_ready_is_ready():
    """Once the line is printed requests are served, not refused while connections are made."""
    postgres = Postgres.shared()
    dsn = postgres.database()
    seed(dsn)
    for _ in range(5):
        server = Server(dsn)
        statuses = [server.get(CARD).status for _ in range(3)]
        server.stop()
        assert statuses == [200, 200, 200], statuses
        assert len(server.output) == 1, server.output


def test_start_while_away():
    """A server started before its database: not ready, and serving once the database is there."""
    postgres = Postgres()
    dsn = postgres.database()
    seed(dsn)
    postgres.stop()
    server = Server(dsn, "--database-timeout-ms", str(DEADLINE_S * 1000))
    await_(lambda: len(server.output) > 1)
    assert server.output[1].startswith("the database is away: requests get 503"), server.output
    assert server.get("/healthz").status == 200
    assert server.get("/readyz").status == 503
    assert server.get(CARD).status == 503
    postgres.start()
    await_served(server)
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()

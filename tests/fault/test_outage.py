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
from cardbox_test import Postgres, Server

CARD = "/projects/p/cards/a"
THREADS = 8
DEADLINE_S = 2          # what cardboxd is told
ANSWER_S = DEADLINE_S + 1  # within which every request is answered, whatever happens below
RECOVERY_S = 2
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
            thread.join(30)

    def _run(self):
        client = self.server.client(timeout=20)
        while not self.stopping:
            asked = self.under_way[threading.get_ident()] = time.monotonic()
            try:
                response = client.request("GET", CARD)
                outcome = (response.status, response.header("Retry-After"))
            except Exception as error:
                outcome = (error, None)
                client = self.server.client(timeout=20)
            self.outcomes.append((asked, time.monotonic() - asked, *outcome))
            if outcome[0] != 200:
                time.sleep(0.01)  # refusals come at once; this is no test of how many a second

    def longest_wait(self):
        """Seconds that the oldest request without an answer has waited."""
        return time.monotonic() - min(self.under_way.values())

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
        wait_for(lambda: server.get(CARD).status == 200, RECOVERY_S)
        yield postgres, dsn, server
    finally:
        server.kill()


def check_refused(outcomes, allowed):
    """Every outcome is one of the allowed statuses, in time, with Retry-After where it is 503."""
    assert outcomes
    for _, seconds, status, retry_after in outcomes:
        assert status in allowed, summary(outcomes)
        assert seconds < ANSWER_S, summary(outcomes)
        assert status != 503 or int(retry_after) >= 1, f"503 without Retry-After: {retry_after!r}"


def wait_for(condition, seconds):
    """Seconds until condition() held; fails after `seconds`."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, f"not within {seconds} s"
        time.sleep(0.02)
    return time.monotonic() - started


def check_while_away(server, load):
    gone = time.monotonic()
    # What was on its way when the database went may be tried again up to its deadline; soon, all
    # that comes must be refused at once.
    time.sleep(DEADLINE_S + 0.5)
    settled = time.monotonic()
    time.sleep(1)
    check_refused(load.between(gone, settled), (503, 504))
    refused = load.between(settled, time.monotonic())
    check_refused(refused, (503,))
    quick = sorted(seconds for _, seconds, _, _ in refused)
    assert quick[len(quick) // 2] < 0.2, summary(refused)
    assert server.get("/readyz").status == 503
    assert server.get("/healthz").status == 200


def await_all_connections(server):
    """A server serves before it has all of them."""
    wait_for(lambda: sum(server.metric(f'cardbox_database_connections{{group="{group}",state="{state}"')
                         for group in ("reads", "lists", "writes") for state in ("down", "checking")) == 0, RECOVERY_S)


def test_database_away_and_back():
    with setting() as (postgres, _, server), Load(server) as load:
        for _ in range(2):
            time.sleep(0.5)
            postgres.stop("immediate")
            check_while_away(server, load)
            postgres.start()
            back = time.monotonic()
            wait_for(lambda: server.get(CARD).status == 200, RECOVERY_S)
            served = time.monotonic()
            print(f"    served again {served - back:.2f} s after the database was back")
            wait_for(lambda: server.get("/readyz").status == 200, 1)
            time.sleep(1.5)
            after = load.between(served, time.monotonic() - 0.3)
            assert {status for _, _, status, _ in after} == {200}, summary(after)
        server.check_log()


def test_restart_under_load():
    """An immediate restart: requests fail with 503 or 504 in time or not at all."""
    with setting() as (postgres, _, server), Load(server) as load:
        time.sleep(0.5)
        start = time.monotonic()
        postgres.restart("immediate")
        back = time.monotonic()
        time.sleep(RECOVERY_S)
        check_refused(load.between(start, back + RECOVERY_S), (200, 503, 504))
        healthy = time.monotonic()
        time.sleep(1)
        late = load.between(healthy, time.monotonic() - 0.3)
        assert {status for _, _, status, _ in late} == {200}, summary(late)


def test_backends_terminated():
    """Killed sessions, as by an operator or a failover: reads are safe to repeat, so none fails."""
    with setting() as (postgres, dsn, server), Load(server) as load:
        time.sleep(0.3)
        start = time.monotonic()
        for _ in range(5):
            postgres.psql(dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                               " WHERE datname = current_database() AND pid <> pg_backend_pid()")
            time.sleep(0.2)
        time.sleep(0.5)
        outcomes = load.between(start, time.monotonic() - 0.3)
        assert {status for _, _, status, _ in outcomes} == {200}, summary(outcomes)


def test_stuck_backends():
    """A database that hangs: an answer within the deadline, and service again when it goes on."""
    with setting() as (postgres, dsn, server), Load(server) as load:
        time.sleep(0.3)
        pids = postgres.backends(dsn)
        assert pids
        start = time.monotonic()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(2 * DEADLINE_S):
                time.sleep(1)
                assert load.longest_wait() < ANSWER_S, load.longest_wait()
            check_refused(load.between(start - 1, time.monotonic()), (200, 503, 504))
            assert server.get("/healthz", timeout=ANSWER_S).status == 200
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        wait_for(lambda: server.get(CARD).status == 200, RECOVERY_S)
        time.sleep(0.5)
        check_refused(load.between(start, time.monotonic() - 0.3), (200, 503, 504))


def test_stop_under_load():
    """SIGTERM: what was accepted is answered; then the exit status is 0."""
    with setting() as (_, _, server), Load(server) as load:
        time.sleep(1)
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
    """SIGTERM with requests waiting for a database that is stuck: answered, and gone in time."""
    with setting() as (postgres, dsn, server):
        await_all_connections(server)
        for pid in postgres.backends(dsn):
            os.kill(pid, signal.SIGSTOP)
        with Load(server) as load:
            time.sleep(0.5)
            told = time.monotonic()
            server.stop(wait=10)
        # The cluster can't be stopped while these sleep.
        for pid in postgres.backends(dsn):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        waited = load.between(0, told)
        assert len(waited) >= THREADS, summary(load.outcomes)
        assert {status for _, _, status, _ in waited} <= {503, 504}, summary(load.outcomes)


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
    wait_for(lambda: len(server.output) > 1, DEADLINE_S)
    assert server.output[1].startswith("the database is away: requests get 503"), server.output
    assert server.get("/healthz").status == 200
    assert server.get("/readyz").status == 503
    assert server.get(CARD).status == 503
    postgres.start()
    wait_for(lambda: server.get(CARD).status == 200, RECOVERY_S)
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Writes over HTTP when connections are cut, rows are locked or lists are slow: what was answered
200 is there once, what was not is there once at most, and nobody waits for another's lock."""

import concurrent.futures
import contextlib
import json
import os
import re
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import WAIT_S, Postgres, Server, as_role, await_, await_locks, dsn, holding, psql

LOAD_S = 4
CONNECTIONS = 3  # of each group, so that few requests are enough to use them up


@contextlib.contextmanager
def serving(*options, dsn_=None):
    server = Server(dsn_ or dsn(), "--loops", "1", "--write-connections", str(CONNECTIONS), *options)
    try:
        yield server
        server.stop()
    finally:
        server.kill()


def make_box(server, tenant):
    response = server.post(f"/projects/{tenant}/boxes", {})
    assert response.status in (200, 201), response
    return response.json()["box_id"]


def append(server, tenant, box, card_id, key=None):
    return server.post(f"/projects/{tenant}/boxes/{box}/append", {"card_ids": [card_id]},
                       headers={"Idempotency-Key": key} if key else None)


def replace(server, tenant, box, card_id, expected=None):
    body = {"card_ids": [card_id], **({"expected_version": expected} if expected else {})}
    return server.request("PUT", f"/projects/{tenant}/boxes/{box}", json.dumps(body).encode(),
                          {"Content-Type": "application/json"})


def ids_of(server, tenant, box):
    return server.get(f"/projects/{tenant}/boxes/{box}").json()["card_ids"]


def lsn_of(response):
    lsn = response.header("Cardbox-Lsn")
    assert lsn and re.fullmatch(r"[0-9A-F]{1,8}/[0-9A-F]{1,8}", lsn), response.headers
    return lsn


# --- Cardbox-Lsn ---


def check_position(dsn_, row, write):
    """By the number of the transaction that wrote the row: others commit in this cluster, too."""
    postgres, root = Postgres.shared(), as_role(dsn_, "postgres")
    before = postgres.psql(root, "SELECT pg_current_wal_insert_lsn()").strip()
    response = write()
    assert response.status in (200, 201), response
    lsn = lsn_of(response)
    xid = postgres.psql(root, f"SELECT xmin FROM cardbox.{row}").strip()
    await_(lambda: postgres.psql(root, f"SELECT pg_current_wal_flush_lsn() >= '{lsn}'").strip() == "t")
    commits = postgres.psql(root, f"SELECT count(*) FROM pg_get_wal_records_info('{before}', '{lsn}')"
                                  " WHERE resource_manager = 'Transaction' AND record_type = 'COMMIT'"
                                  f" AND xid = '{xid}' AND end_lsn <= '{lsn}'")
    assert int(commits) == 1, (before, lsn, xid)


def test_position_covers_the_commit():
    """What is told lies behind the record of the commit, where a replica has it; also where nobody waits for it to be
    flushed."""
    for setting in ("on", "off"):
        own = Postgres.shared().database()
        name = own.split("dbname=")[1]
        psql(own, f"CREATE EXTENSION pg_walinspect; ALTER DATABASE {name} SET synchronous_commit = {setting}")
        with serving(dsn_=own) as server:
            box = make_box(server, "lsn")
            for number in range(5):
                check_position(own, f"cards WHERE card_id = 'c{number}'", lambda: server.post(
                    "/projects/lsn/cards", {"card_id": f"c{number}", "content": 1}))
                check_position(own, f"card_boxes WHERE box_id = '{box}'", lambda: append(server, "lsn", box, "x"))


def test_reads_have_no_position():
    with serving() as server:
        box = make_box(server, "lsn")
        for path in ("/projects/lsn/cards", f"/projects/lsn/boxes/{box}"):
            assert server.get(path).header("Cardbox-Lsn") is None


# --- locks ---


def test_neighbours_do_not_wait_for_a_lock():
    """A worker of one tenant holds its box: appends to it wait, all others go on meanwhile."""
    with serving() as server, concurrent.futures.ThreadPoolExecutor(24) as pool:
        held, free = make_box(server, "held"), make_box(server, "free")
        with holding(dsn(), f"SELECT 1 FROM cardbox.card_boxes WHERE box_id = '{held}' FOR UPDATE"):
            waiting = [pool.submit(append, server, "held", held, f"w{i}") for i in range(8)]
            await_locks(dsn())
            others = [pool.submit(append, server, "free", free, f"o{i}") for i in range(8)]
            cards = [pool.submit(server.post, "/projects/free/cards", {"card_id": f"c{i}", "content": i})
                     for i in range(8)]
            assert {done.result(WAIT_S).status for done in others + cards} <= {200, 201}
            assert not any(done.done() for done in waiting)
        assert {done.result(WAIT_S).status for done in waiting} == {200}
        assert sorted(ids_of(server, "held", held)) == [f"w{i}" for i in range(8)]
        assert sorted(ids_of(server, "free", free)) == [f"o{i}" for i in range(8)]


def test_many_waiting_of_one_tenant_hold_up_no_others():
    """A hundred appends and a hundred adds to what one tenant's worker holds: whatever neighbours
    write meanwhile, also many to one box at once, is done before it lets go."""
    hold = ("SELECT 1 FROM cardbox.card_boxes WHERE box_id = '{0}' FOR UPDATE;"
            "INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
            " SELECT 'many', 'c' || n, '1', now() FROM generate_series(0, 99) AS n")
    with serving() as server, concurrent.futures.ThreadPoolExecutor(240) as pool:
        held, free = make_box(server, "many"), make_box(server, "some")
        with holding(dsn(), hold.format(held)):
            waiting = [pool.submit(append, server, "many", held, f"w{i}") for i in range(100)]
            waiting += [pool.submit(server.post, "/projects/many/cards", {"card_id": f"c{i}", "content": i})
                        for i in range(100)]
            await_locks(dsn())
            others = [pool.submit(append, server, "some", free, f"o{i}") for i in range(16)]
            for i in range(20):
                others.append(pool.submit(append, server, "some", free, f"p{i}"))
                others.append(pool.submit(server.post, "/projects/some/cards", {"card_id": f"c{i}", "content": i}))
                time.sleep(0.02)
            assert {done.result(WAIT_S).status for done in others} == {200}
            assert not any(done.done() for done in waiting)
        statuses = {done.result(WAIT_S).status for done in waiting}
        assert statuses <= {200, 409}, statuses  # an add may find its card, of other content
        assert sorted(ids_of(server, "many", held)) == sorted(f"w{i}" for i in range(100))
        assert len(ids_of(server, "some", free)) == 36


def test_slow_writes_of_one_tenant_hold_up_no_others():
    """Each slow write occupies a connection. One is left to tenants that have no statement running."""
    own = Postgres.shared().database()
    psql(as_role(own, "postgres"), """
        CREATE TABLE public.gate AS SELECT 1 AS is_shut;
        GRANT SELECT ON public.gate TO PUBLIC;
        CREATE FUNCTION public.await_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            WHILE EXISTS (SELECT FROM public.gate) LOOP PERFORM pg_sleep(0.01); END LOOP;
            RETURN NEW;
        END $$;
        CREATE TRIGGER slow BEFORE INSERT ON cardbox.sessions FOR EACH ROW WHEN (new.tenant_id = 'slow')
            EXECUTE FUNCTION public.await_gate()""")
    with serving("--database-timeout-ms", "60000", dsn_=own) as server, concurrent.futures.ThreadPoolExecutor(12) as pool:
        def make(tenant, name):
            return server.request("PUT", f"/projects/{tenant}/sessions/{name}", b"{}").status
        slow = [pool.submit(make, "slow", f"s{n}") for n in range(12)]
        await_(lambda: int(psql(as_role(own, "postgres"), "SELECT count(*) FROM pg_stat_activity"
                                                 " WHERE wait_event = 'PgSleep'")) > 0)
        assert [make("other", f"s{n}") for n in range(3)] == [200] * 3
        assert not any(one.done() for one in slow)
        psql(as_role(own, "postgres"), "DELETE FROM public.gate")
        assert {one.result() for one in slow} == {200}


def test_lists_hold_up_no_reads():
    with serving() as server, concurrent.futures.ThreadPoolExecutor(12) as pool:
        box = make_box(server, "lists")
        assert append(server, "lists", box, "a").status == 200
        with holding(dsn(), "LOCK TABLE cardbox.card_revisions IN ACCESS EXCLUSIVE MODE"):
            slow = [pool.submit(server.get, "/projects/lists/cards/a/revisions") for _ in range(10)]
            await_locks(dsn())
            for _ in range(10):
                assert ids_of(server, "lists", box) == ["a"]
                assert server.get("/projects/lists/cards/none").status == 404
            assert not any(done.done() for done in slow)
        assert {done.result(WAIT_S).status for done in slow} <= {200, 404}


# --- connections are cut ---


class Cutter:
    """Terminates the server's sessions again and again."""

    def __init__(self):
        self.stopping = threading.Event()
        self.cuts = 0
        self.thread = threading.Thread(target=self._run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def _run(self):
        cut = ("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
               " WHERE application_name = 'cardboxd' AND datname = current_database()")
        while not self.stopping.wait(0.15):
            self.cuts += int(Postgres.shared().psql(as_role(dsn(), "postgres"), cut))


def load_and_cut(server, request):
    """What request(client) gives to several clients, again and again; enough of it while enough was cut."""
    answers, began = [], time.monotonic()

    def one():
        with server.client() as client:
            while time.monotonic() < began + LOAD_S or cutter.cuts <= 10 or len(answers) <= 100:
                answers.append(request(client))
                assert time.monotonic() < began + WAIT_S, (cutter.cuts, len(answers))

    with Cutter() as cutter, concurrent.futures.ThreadPoolExecutor(8) as pool:
        for client in [pool.submit(one) for _ in range(8)]:
            client.result()
    return answers


def cut_load(keyed):
    def append_one(client):
        card_id = uuid.uuid4().hex
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": card_id} if keyed else {})}
        return card_id, client.request("POST", f"/projects/cut/boxes/{box}/append",
                                       f'{{"card_ids":["{card_id}"]}}', headers)

    with serving() as server:
        box = make_box(server, "cut")
        outcomes = dict(load_and_cut(server, append_one))
        ids = ids_of(server, "cut", box)
    counts = {card_id: 0 for card_id in outcomes}
    for card_id in ids:
        counts[card_id] += 1
    return outcomes, counts


def test_keyed_appends_survive_cuts():
    outcomes, counts = cut_load(keyed=True)
    assert {response.status for response in outcomes.values()} == {200}
    assert set(counts.values()) == {1}


def test_appends_without_a_key_happen_once_at_most():
    outcomes, counts = cut_load(keyed=False)
    for card_id, response in outcomes.items():
        if response.status == 200:
            assert counts[card_id] == 1
            continue
        assert response.status == 503 and counts[card_id] <= 1, response
        detail = response.json()["detail"]
        assert "not known" in detail["error_message"] and "Idempotency-Key" in detail["hint"], response
    assert any(response.status == 200 for response in outcomes.values())


def test_committed_but_not_answered():
    """The worst moment to lose a connection: the commit waits for a standby that is not there."""
    postgres = Postgres()
    own = postgres.database()
    root = as_role(own, "postgres")

    def wait_for_standby(names):
        postgres.psql(root, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        postgres.psql(root, "SELECT pg_reload_conf()")
        await_(lambda: postgres.psql(root, "SHOW synchronous_standby_names").strip() == names)

    def cut_waiting():
        cut = ("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
               " WHERE wait_event = 'SyncRep' AND application_name = 'cardboxd'")  # the index of the search waits too
        await_(lambda: int(postgres.psql(root, cut)))

    server = Server(own, "--loops", "1")
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for key, status in ((None, 503), ("key", 200)):
                box = make_box(server, "p")
                wait_for_standby("nobody")
                answer = pool.submit(append, server, "p", box, "a", key)
                cut_waiting()
                wait_for_standby("")
                response = answer.result(WAIT_S)
                assert response.status == status, response
                assert ids_of(server, "p", box) == ["a"]
                if status == 503:
                    assert "not known" in response.json()["detail"]["error_message"], response
            for expected, status in ((2, 503), (None, 200)):  # of these a second finds another version than it expects
                wait_for_standby("nobody")
                answer = pool.submit(replace, server, "p", box, f"of {expected}", expected)
                cut_waiting()
                wait_for_standby("")
                response = answer.result(WAIT_S)
                assert response.status == status, response
                assert ids_of(server, "p", box) == [f"of {expected}"]
                if status == 503:
                    assert "not known" in response.json()["detail"]["error_message"], response
            made = server.request("PUT", "/projects/p/sessions/s", b"{}", {"Content-Type": "application/json"})
            assert made.status in (200, 201), made
            wait_for_standby("nobody")
            answer = pool.submit(server.post, "/projects/p/sessions/s/entries",
                                 {"entries": [{"id": "a", "type": "user", "content": "x"}], "expected_version": 1})
            cut_waiting()
            wait_for_standby("")
            response = answer.result(WAIT_S)
            assert response.status == 503, response
            assert "not known" in response.json()["detail"]["error_message"], response
            wait_for_standby("nobody")  # an id that the server made is the same when it sends again
            answer = pool.submit(server.post, "/projects/p/sessions/s/entries",
                                 {"entries": [{"type": "user", "content": "y"}]})
            cut_waiting()
            wait_for_standby("")
            response = answer.result(WAIT_S)
            assert response.status == 200, response
            session = server.get("/projects/p/sessions/s").json()
            assert (session["entries"], session["head_entry_id"]) == (2, response.json()["entries"][0]["entry_id"]), session
        server.stop()
    finally:
        server.kill()


def test_cards_survive_cuts():
    def add_one(client):
        return client.request("POST", "/projects/cut/cards", f'{{"card_id":"{uuid.uuid4().hex}","content":1}}',
                              {"Content-Type": "application/json"}).status

    with serving() as server:
        statuses = set(load_and_cut(server, add_one))
        assert statuses <= {200, 201}, statuses


if __name__ == "__main__":
    cardbox_test.main()

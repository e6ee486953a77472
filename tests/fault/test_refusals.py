#!/usr/bin/env python3
"""Statements that PostgreSQL refuses: each is the fault of its request, and says why in the log; the server is ready
all the while, and others hear nothing of it."""

import os
import re
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, await_, connected, psql

BOX = "01970000-0000-7000-8000-000000000001"
# A card whose id asks for it is refused with an SQLSTATE.
REFUSE = """
CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.card_id LIKE 'raise-%' THEN
        RAISE EXCEPTION USING ERRCODE = substr(NEW.card_id, 7, 5), MESSAGE = 'primary' || repeat('ä', 200),
            DETAIL = 'secret detail', HINT = 'secret hint';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON cardbox.cards FOR EACH ROW EXECUTE FUNCTION public.refuse()"""


def refusing():
    dsn = Postgres.shared().database()
    psql(as_role(dsn, "postgres"), REFUSE)
    return dsn, Server(dsn, "--loops", "1")


def add(server, card, project="p"):
    return server.post(f"/projects/{project}/cards", {"card_id": card, "content": 1})


class Others:
    """Another project writes, and somebody asks whether the server is ready, as long as this lasts."""

    def __init__(self, server):
        self.server, self.wrong, self.count = server, [], 0
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(number,)) for number in range(3)]

    def _run(self, number):
        while not self.stopping.is_set():
            answers = [add(self.server, f"c{number}-{self.count}", "other"), self.server.get("/readyz")]
            self.wrong += [answer for answer in answers if answer.status != 200]
            self.count += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        assert self.count > 0 and not self.wrong, self.wrong[:3]


def test_forks_of_forged_logs():
    """Rows that claim more ids than the box has, as a damaged dump may bring: the last few, and whole segments."""
    dsn = Postgres.shared().database()
    server = Server(dsn)
    assert server.post("/projects/p/boxes", {"box_id": BOX, "card_ids": [f"c{n}" for n in range(70)]}).status in (200, 201)
    with connected(dsn, "postgres") as owner:
        for version, length in ((2, 71), (3, 100), (4, 128), (5, 6400000000), (6, 6400000001)):
            owner.run("INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)"
                       f" SELECT tenant_id, box_id, {version}, 'append', chain_id, {length}, 1, now() FROM cardbox.card_boxes")
    with Others(server):
        for _ in range(10):
            for version in range(2, 7):
                answer = server.post(f"/projects/p/boxes/{BOX}/fork", {"at_version": version})
                assert answer.status == 409 and "fewer card ids" in answer.json()["detail"]["error_message"], answer
    for what in ({"at_version": 1}, {"at_length": 64}, {"at_length": 65}, {"at_length": 3}, {}):
        assert server.post(f"/projects/p/boxes/{BOX}/fork", what).status in (200, 201), what
    server.stop()


def test_a_refusal_is_its_requests_fault():
    """Also one that looks as if rights or a part of the schema were missing."""
    _, server = refusing()
    with Others(server):
        for _ in range(8):
            for state in ("42501", "42883", "42703", "42P01"):
                answer = add(server, f"raise-{state}")
                assert answer.status == 500 and answer.json()["detail"]["error_code"] == "internal", answer
    for state in ("42501", "42883", "42703", "42P01"):
        assert f"event=statement_failed sqlstate={state} statement=cardbox_" in server.log(), server.log()
    assert "database_forbidden" not in server.log() and "database_not_migrated" not in server.log(), server.log()
    server.stop()


def test_unexpected_refusals():
    _, server = refusing()
    for state in ("58P01", "0A000", "XX000", "P0001", "72000"):
        answer = add(server, f"raise-{state}")
        assert answer.status == 500 and answer.json()["detail"]["error_code"] == "internal", answer
        line = re.search(f"event=statement_failed sqlstate={state} statement=cardbox_\\w+ .*", server.log()).group()
        said = re.search('message="(.*?)(\\.\\.\\.)?"', line).group(1)
        assert said.startswith("primaryää") and 100 < len(said.encode()) <= 200, line
    for state, status, said in (("53100", 503, "lacks disk space"), ("58030", 503, "its files"), ("40001", 503, "other transactions"),
                                ("57014", 504, "in time"), ("22P02", 400, "refuses a value"), ("23514", 400, "refuses a value")):
        answer = add(server, f"raise-{state}")
        assert answer.status == status and said in answer.json()["detail"]["error_message"], answer
    for state in ("22P02", "23514"):
        assert re.search(f"event=value_refused sqlstate={state} statement=cardbox_\\w+ request=\\S+ message=-\n", server.log()), server.log()
    assert "secret" not in server.log() and "does not answer" not in server.log(), server.log()
    assert add(server, "good").status == 200 and server.get("/readyz").status == 200
    server.stop()


def test_a_kind_is_logged_once_a_second():
    _, server = refusing()
    began = time.monotonic()
    for _ in range(50):
        assert add(server, "raise-XX000").status == 500
    seconds = time.monotonic() - began
    assert 1 <= server.log().count("event=statement_failed sqlstate=XX000") <= 1 + seconds, server.log()
    time.sleep(1)
    add(server, "raise-XX000")
    lines = re.findall("event=statement_failed .*", server.log())
    assert len(lines) + sum(int(n) for n in re.findall("unlogged=(\\d+)", server.log())) == 51, lines
    server.stop()


def test_an_export_without_rights():
    """A transfer asks the same of the database as the connections of a loop."""
    postgres = Postgres()
    dsn = postgres.database()
    server = Server(dsn, "--loops", "1")
    assert add(server, "a").status == 200 and server.get("/projects/p/export").status == 200
    postgres.psql(dsn, "REVOKE SELECT ON cardbox.cards FROM cardbox_service")
    answer = server.get("/projects/p/export")
    assert answer.status == 503 and "cardbox_service" in answer.json()["detail"]["hint"], answer
    postgres.psql(dsn, "GRANT SELECT ON cardbox.cards TO cardbox_service")
    server.await_ready()
    postgres.psql(dsn, "REVOKE SELECT ON cardbox.sessions FROM cardbox_service")
    answer = server.get("/projects/p/export")
    assert answer.status == 500, answer
    assert "event=statement_failed sqlstate=42501 statement=cardbox_" in server.log(), server.log()
    server.stop()


def test_a_database_that_refuses_the_server_answers():
    postgres = Postgres()
    dsn = postgres.database()
    server = Server(dsn, "--loops", "1")
    postgres.psql(as_role(dsn, "postgres"), "ALTER ROLE cardbox_app NOLOGIN")

    def is_refused():
        """A connection that was being opened may outlive the first round."""
        postgres.psql(as_role(dsn, "postgres"), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'cardbox_app'")
        return "refuses connections" in server.get("/projects/p/cards/a").json()["detail"].get("error_message", "")

    await_(is_refused, server.log)
    assert "does not answer" not in server.get("/projects/p/cards/a").json()["detail"]["error_message"]
    postgres.psql(as_role(dsn, "postgres"), "ALTER ROLE cardbox_app LOGIN")
    await_(lambda: add(server, "a").status == 200, server.log)
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()

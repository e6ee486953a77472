#!/usr/bin/env python3
"""A database that is there but can't be read: rights taken away, tables or functions lost."""

import json
import os
import re
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_

CARD = "/projects/p/cards/a"


@cardbox_test.once
def setting():
    """A cluster of its own, since memberships are the cluster's, and a database with one card."""
    postgres = Postgres()
    dsn = postgres.database()
    card = {"kind": "card", "card_id": "a", "content": {"text": "alpha"}}
    path = os.path.join(cardbox_test.temp_dir(), "rows")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(card, out)
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "p", path)
    return postgres, dsn


def check_unfit_and_back(server, spoil, repair, hint, event):
    """Under load: 503 with a hint and not ready, one line in the log, and by itself back again."""
    unexpected, stopping = [], threading.Event()

    def load():
        with server.client() as client:
            while not stopping.is_set():
                response = client.request("GET", CARD)
                if response.status == 503 and hint in response.json()["detail"].get("hint", ""):
                    time.sleep(0.01)
                elif response.status != 200:
                    unexpected.append(response)

    def await_ready(status):
        await_(lambda: server.get("/readyz").status == status, server.log)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.3)
        spoil()
        await_ready(503)
        time.sleep(2.5)  # it is asked again each second
        assert server.get("/readyz").status == 503
        assert hint in server.get(CARD).json()["detail"]["hint"]
        assert server.log().count(event) == 1 and "statement_failed" not in server.log()
        repair()
        await_ready(200)
        assert server.get(CARD).status == 200
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    assert not unexpected, unexpected[:3]


def check(spoil, repair, hint, event):
    postgres, dsn = setting()
    server = Server(dsn)
    try:
        check_unfit_and_back(server, lambda: postgres.psql(dsn, spoil),
                             lambda: postgres.psql(dsn, repair), hint, event)
        server.stop()
    finally:
        server.kill()


def test_membership_revoked():
    check("REVOKE cardbox_service FROM cardbox_app", "GRANT cardbox_service TO cardbox_app",
          "cardbox_service", "database_forbidden")


def test_role_of_a_worker():
    """It may read and write, but finds no rows of other projects: a list would be empty and seem complete."""
    postgres, dsn = setting()
    postgres.psql(dsn, "GRANT cardbox_worker TO cardbox_app; REVOKE cardbox_service FROM cardbox_app")
    try:
        server = Server(dsn)
        await_(lambda: "event=database_forbidden" in server.log(), server.log)
        assert server.get("/readyz").status == 503
        answer = server.get("/projects/p/cards")
        assert answer.status == 503 and "cardbox_service" in answer.json()["detail"]["hint"], answer
    finally:
        postgres.psql(dsn, "GRANT cardbox_service TO cardbox_app; REVOKE cardbox_worker FROM cardbox_app")
    server.await_ready()
    assert server.get(CARD).status == 200
    server.stop()


def test_table_revoked():
    check("REVOKE SELECT ON cardbox.cards FROM cardbox_service",
          "GRANT SELECT ON cardbox.cards TO cardbox_service",
          "cardbox_service", "database_forbidden")


def test_table_lost():
    check("ALTER TABLE cardbox.cards RENAME TO elsewhere",
          "ALTER TABLE cardbox.elsewhere RENAME TO cards",
          "cardbox migrate", "database_not_migrated")


def test_schema_lost():
    check("ALTER SCHEMA cardbox RENAME TO elsewhere", "ALTER SCHEMA elsewhere RENAME TO cardbox",
          "cardbox migrate", "database_not_migrated")


def test_transaction_ids_run_out():
    """Something forgotten held VACUUM back until PostgreSQL takes no more writes: reads go on, writes may come
    again, and who asks the doctor in time or too late hears why."""
    postgres = Postgres("wal_level=logical")
    dsn = postgres.database()
    server = Server(dsn)
    write = {"card_id": "a", "content": 1}
    assert server.post("/projects/p/cards", write).status == 200
    postgres.psql(dsn, "SELECT pg_create_logical_replication_slot('forgotten', 'pgoutput')")

    def doctor():
        done = cardbox_test.cardbox("doctor", "--json", "--dsn", cardbox_test.as_role(dsn, "cardbox_app"), check=False)
        row = next(json.loads(line) for line in done.stdout.splitlines() if '"wraparound"' in line)
        return row["result"], "VACUUM" in row["detail"], done.returncode

    assert doctor() == ("ok", False, 0)
    postgres.age(1_500_000_000)
    assert doctor() == ("warning", True, 0)
    postgres.age(2_145_500_000)
    server.await_ready()
    for ask in (lambda: server.post("/projects/p/cards", {"card_id": "b", "content": 1}),
                lambda: server.post("/projects/p/abilities/task:spawn", {"goal": "x"}),
                lambda: server.request("PUT", "/projects/p/sessions/s", '{"dialect": "plain"}', {"Content-Type": "application/json"})):
        answer = ask()
        assert answer.status == 503 and "vacuumed" in answer.json()["detail"]["error_message"], answer
        assert answer.header("Retry-After"), answer.headers
    assert server.get(CARD).status == 200 and doctor() == ("error", True, 1)
    postgres.psql(dsn, "SELECT pg_drop_replication_slot('forgotten')")
    for name in postgres.psql(dsn, "SELECT datname FROM pg_database WHERE datallowconn").split():
        postgres.psql(f"{dsn} dbname={name} options='-c client_min_messages=error'", "VACUUM (FREEZE, TRUNCATE false)")
    await_(lambda: server.post("/projects/p/cards", {"card_id": "b", "content": 1}).status == 200, server.log)
    server.stop()


def test_file_that_cannot_be_read():
    """As on a file system that came back read-only: it is not our role that lacks a right."""
    postgres, dsn = setting()
    server = Server(dsn, "--read-connections", "1", "--loops", "1")
    path = os.path.join(postgres.directory, "data", postgres.psql(dsn, "SELECT pg_relation_filepath('cardbox.card_box_log')").strip())
    os.chmod(path, 0)
    box = "01970000-0000-7000-8000-000000000001"
    try:
        for _ in range(3):
            answer = server.post("/projects/p/boxes", {"box_id": box})
            assert answer.status == 503 and "its files" in answer.json()["detail"]["error_message"], answer
        assert len(re.findall("event=database_refuses sqlstate=58030 reason=.*could not open file", server.log())) == 1, server.log()
        assert server.get(CARD).status == 200 and "database_forbidden" not in server.log(), server.log()
    finally:
        os.chmod(path, 0o600)
    assert server.post("/projects/p/boxes", {"box_id": box}).status == 200
    server.stop()


def test_check_that_fails_at_start():
    """The server starts, tells why it can't serve yet, and serves as soon as it can."""
    postgres, dsn = setting()
    path = os.path.join(postgres.directory, "data", postgres.psql(dsn, "SELECT pg_relation_filepath('cardbox.migrations')").strip())
    os.chmod(path, 0)
    try:
        server = Server(dsn)
        await_(lambda: "the database refuses the server's check" in "".join(server.output), server.log)
        assert "database_check_failed" in server.get(CARD).json()["detail"]["hint"]
    finally:
        os.chmod(path, 0o600)
    server.await_ready()
    server.stop()


def test_loop_without_a_fit_connection():
    """A loop that has found all of its connections unfit says so at once, although those of other
    loops have not been used since and pass for usable."""
    postgres, dsn = setting()
    server = Server(dsn, "--loops", "8", "--database-timeout-ms", "3000")
    try:
        postgres.psql(dsn, "REVOKE cardbox_service FROM cardbox_app")
        answers = [server.get(CARD) for _ in range(60)]  # on as many connections, to any loop
        postgres.psql(dsn, "GRANT cardbox_service TO cardbox_app")
        told = [r for r in answers if r.status == 503 and "cardbox_service" in r.json()["detail"]["hint"]]
        assert len(told) > 40 and all(r in told or r.status == 200 for r in answers), answers
        server.stop()
    finally:
        server.kill()


if __name__ == "__main__":
    cardbox_test.main()

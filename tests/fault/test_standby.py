#!/usr/bin/env python3
"""A hot standby: what reads serves there, though replay takes rows and connections away; what writes says why not."""

import contextlib
import http.client
import json
import os
import re
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, await_, cardbox

CARDS = 2000


@cardbox_test.once
def primary():
    postgres = Postgres()
    dsn = postgres.database()
    lines = [{"kind": "card", "card_id": f"c{number}", "content": {"text": "x" * 2000}} for number in range(CARDS)]
    lines.append({"kind": "box", "box_id": "01970000-0000-7000-8000-000000000001", "card_ids": ["c1", "c2"]})
    assert cardbox_test.load(dsn, *lines)[0] == 0
    entries = [{"id": f"e{number}", "type": "user", "content": "why?"} for number in range(100)]
    cardbox("session", "append", "--dsn", dsn, "--project", "p", "--create", "plain", "talk",
            stdin="\n".join(map(json.dumps, entries)))
    return postgres, dsn


@cardbox_test.once
def standby():
    """Its cluster and DSN; replay waits for nobody who reads."""
    postgres, dsn = primary()
    other = postgres.standby("max_standby_streaming_delay=0", "max_standby_archive_delay=0")
    return other, other.there(dsn)


@cardbox_test.once
def reader():
    return Server(standby()[1], "--read-only")


def replayed():
    """Until the standby has what the primary has."""
    postgres, dsn = primary()
    position = postgres.psql(dsn, "SELECT pg_current_wal_flush_lsn()").strip()
    await_(lambda: standby()[0].psql(standby()[1], f"SELECT pg_last_wal_replay_lsn() >= '{position}'").strip() == "t")


READS = ("/projects", "/readyz", "/metrics") + tuple("/projects/p" + path for path in (
    "/cards/c1", "/cards", "/cards/c1/revisions", "/cards/c1/boxes", "/boxes", "/export", "/abilities",
    *(f"/boxes/01970000-0000-7000-8000-000000000001{rest}" for rest in ("", "/cards", "/log", "/context", "?at_version=1")),
    "/sessions", *(f"/sessions/talk{rest}" for rest in (
        "", "/tree", "/leaves", "/branch-points", "/labels", "/entries/e5", "/entries/e5/children", "/entries/e5/path",
        "/path", "/diff?a=e1&b=e5", "/context", "/export"))))


def test_all_reads():
    for path in READS:
        answer = reader().get(path)
        assert answer.status == 200, (path, answer)


def test_a_task_is_followed():
    """Its events come by replay; the pieces of a message that is being said are on the primary alone."""
    _, dsn = primary()
    writer = Server(dsn)
    task = writer.post("/projects/p/abilities/task:spawn", {"goal": "count"}).json()["taskId"]
    replayed()
    with socket.create_connection(("127.0.0.1", reader().port)) as stream:
        stream.sendall(f"GET /projects/p/tasks/{task}/stream HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        stream.settimeout(0.1)
        said = []

        def tells(word):
            with contextlib.suppress(TimeoutError):
                said.append(stream.recv(65536))
            return word in b"".join(said)

        await_(lambda: tells(b"count"), lambda: said)
        assert writer.post("/projects/p/abilities/task:cancel", {"taskId": task, "reason": "enough"}).json()["success"]
        await_(lambda: tells(b"enough"), lambda: said)
    assert "count" in cardbox("task", "show", "--dsn", standby()[1], "--project", "p", task).stdout
    writer.stop()


def test_what_writes_says_why_not():
    writer = Server(standby()[1])
    card = {"card_id": "new", "content": 1}
    answers = [writer.post("/projects/p/import", {"kind": "card", **card})]
    assert "were processed" in answers[0].json()["detail"]["error_message"], answers[0]
    assert "event=database_refuses" in writer.log(), writer.log()
    answers += [writer.post("/projects/p/cards", card),
                writer.post("/projects/p/abilities/task:spawn", {"goal": "count"})]
    for answer in answers:
        assert answer.status == 503 and "only reads" in answer.json()["detail"]["error_message"], answer
    writer.stop()
    assert "event=dsn_is_standby" in writer.log() and "nothing can be changed" in writer.log(), writer.log()
    assert "dsn_is_standby" not in reader().log(), reader().log()
    for command in (("gc",), ("token", "create", "--name", "t", "--tenant", "p")):
        done = cardbox(*command, "--dsn", standby()[1], check=False)
        assert done.returncode == 1 and "is it a standby?" in done.stderr, done


def test_doctor():
    """It says nothing of what can't be tried there."""
    done = cardbox("doctor", "--dsn", as_role(standby()[1], "cardbox_app"))
    assert "a standby" in done.stdout, done
    assert "can't read past" in done.stdout and "make a token" not in done.stdout, done


def disturb(stop):
    """What replay takes rows and locks away for, as a busy primary does."""
    postgres, dsn = primary()
    while not stop.is_set():
        postgres.psql(dsn, "UPDATE cardbox.cards SET ttl_seconds = NULL WHERE NOT sealed")
        postgres.psql(dsn, "VACUUM cardbox.cards")
        postgres.psql(dsn, "BEGIN; LOCK TABLE cardbox.cards IN ACCESS EXCLUSIVE MODE; COMMIT")


def conflicts():
    with open(os.path.join(standby()[0].directory, "log"), encoding="utf-8", errors="replace") as log:
        return len(re.findall("due to conflict with recovery", log.read()))


def test_conflicts_with_replay():
    """A request is answered, or refused as one that may be sent again; an export is whole, or breaks off."""
    answers, stop, before = [], threading.Event(), conflicts()

    def ask(path, body=None):
        while not stop.is_set():
            with contextlib.suppress(http.client.IncompleteRead, ConnectionError, http.client.RemoteDisconnected):
                answers.append((path, reader().post(path, body) if body else reader().get(path)))

    asked = [("/projects/p/export",), ("/projects/p/cards?limit=500",), ("/projects/p/sessions/talk/export",),
             ("/projects/p/cards/batch", {"card_ids": [f"c{number}" for number in range(100)]})]
    threads = [threading.Thread(target=disturb, args=(stop,)), *(threading.Thread(target=ask, args=each) for each in asked)]
    for thread in threads:
        thread.start()
    try:
        await_(lambda: conflicts() >= before + 5 and len(answers) > 100)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for path, answer in answers:
        assert answer.status == 200 or (answer.status == 503 and answer.header("Retry-After")), (path, answer.status, answer.body[:500])
        if path == "/projects/p/export" and answer.status == 200:
            cards = re.findall(rb'"kind":"card","card_id":"c\d+"', answer.body)
            assert len(cards) == CARDS, len(cards)
    assert reader().get("/readyz").status == 200


if __name__ == "__main__":
    cardbox_test.main()

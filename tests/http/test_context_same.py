#!/usr/bin/env python3
"""A prompt cache must survive: the context of one leaf, and of one box, is the same to the byte however
often it is asked for, on whichever server, and after a dump and a restore."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, POOLED, Postgres, Server, as_role, temp_dir

TIMES = 100 if LIGHT or POOLED else 1000
FORMATS = ("openai", "anthropic", "entries")
BOX = "01970000-0000-7000-8000-000000000001"


@cardbox_test.once
def database():
    """The sample's session, and a box of its messages, one call without an answer among them."""
    dsn = Postgres.shared().database()
    first = Server(dsn)
    with open(os.path.join(cardbox_test.ROOT, "tests", "lib", "sample_session.jsonl"), "rb") as file:
        answer = first.request("POST", "/projects/p/sessions/s/import", file.read(),
                               {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200, answer
    cards = [{"card_id": "ask", "content": {"__type__": "TextContent", "text": "find \u00e9\u4e16"},
              "metadata": {"role": "user"}},
             {"card_id": "call", "type": "tool.call", "tool_call_id": "c1",
              "content": {"__type__": "ToolCallContent", "tool_name": "find", "status": "called",
                          "arguments": {"z": 1.50, "a": [1e3, -0.0], "m": {}}}}]
    assert first.post("/projects/p/cards", {"cards": cards}).status == 200
    answer = first.post("/projects/p/boxes", {"box_id": BOX, "card_ids": ["ask", "call", "gone", "ask"]})
    assert answer.status == 200, answer
    first.stop()
    return dsn


def restored(dsn):
    """The database again, of its dump."""
    pg = Postgres.shared()
    dump = os.path.join(temp_dir(), "dump")
    copy = pg.database(migrate=False)
    with open(dump, "wb") as file:
        subprocess.run(["pg_dump", "-Fc", as_role(dsn, "postgres")], check=True, stdout=file)
    subprocess.run(["pg_restore", "--exit-on-error", "-d", as_role(copy, "postgres"), dump], check=True)
    return copy


def paths(server, box):
    leaves = server.get("/projects/p/sessions/s/leaves").json()["entries"]
    assert len(leaves) == 2, leaves
    where = [f"sessions/s/context?leaf={leaf['entry_id']}&format=" for leaf in leaves]
    return [f"/projects/p/{start}{form}" for form in FORMATS
            for start in (*where, f"boxes/{box}/context?format=")]


def contexts(server, box):
    got = {path: server.get(path) for path in paths(server, box)}
    assert all(answer.status == 200 for answer in got.values()), got
    return {path: answer.body for path, answer in got.items()}


def test_same_bytes():
    dsn = database()
    box = BOX
    servers = [Server(dsn, "--loops", "1"), Server(dsn)]
    wanted = contexts(servers[0], box)
    assert len(set(wanted.values())) == len(wanted) == 9
    clients = [server.client() for server in servers]
    for time in range(TIMES):
        path = list(wanted)[time // 2 % len(wanted)]
        answer = clients[time % 2].request("GET", path)
        assert answer.body == wanted[path], (time, path, answer)
    for client in clients:
        client.__exit__()
    for server in servers:
        server.stop()
    after = Server(restored(dsn))
    assert contexts(after, box) == wanted
    after.stop()


if __name__ == "__main__":
    cardbox_test.main()

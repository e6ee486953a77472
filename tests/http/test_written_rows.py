#!/usr/bin/env python3
"""What a worker's role can write by calling the functions itself, with odd values in any mixture, the server reads:
each endpoint answers for each row, and the server stays alive."""

import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, at_end, once, psql, url
from writers import calls, values_of, writers

ROLE = f"odd_writer_{os.getpid()}"
TENANT = "mine"
CALLS_OF_A_FUNCTION = 400
SEED = 1
# What a program gives, by the name and type of a parameter. Of other parameters it is the first value of the type. Another id
# may stand for x.
GIVEN = {
    ("ids", "text[]"): "'{x}'", ("duplicate_of", "integer[]"): "'{0}'", ("parents", "text[]"): "'{NULL}'",
    ("refs", "integer[]"): "'{0}'", ("types", "text[]"): "'{message}'", ("roles", "text[]"): "'{user}'",
    ("sets", "text[]"): "'{NULL}'", ("targets", "text[]"): "'{NULL}'", ("labels", "json[]"): "'{NULL}'",
    ("contents", "json[]"): """ARRAY['{"type": "message", "id": "x", "parentId": null, "message": {"role": "user", "content": "hi"}}']::json[]""", ("given_dialect", "text"): "'pi'",
    ("given_header", "json"): "NULL", ("key", "text"): "NULL", ("expected", "bigint"): "NULL",
    ("prompt", "json"): "'\"p\"'", ("prompts", "json[]"): "ARRAY['\"p\"']::json[]", ("parent", "text"): "NULL",
    **dict.fromkeys([("parameters", "json[]"), ("details", "json[]")], "ARRAY['\"{}\"']::json[]"),
    ("tasks", "jsonb"): """'[{"id": "x", "created": 1, "updated": 2}]'""", ("messages", "jsonb"): """'[{"id": "x", "task": "x", "role": "user", "created": 1, "ts": 1}]'""",
    ("calls", "jsonb"): """'[{"id": "x", "task": "x", "status": "pending", "ability": "a", "start": "x", "created": 1}]'""",
}
CORRUPT = "the session's stored tree is corrupt"  # what the server says of entries that no program makes
OF_A_CARD = ("", "/revisions", "/boxes")
OF_A_BOX = ("", "?at_version=1", "?at_length=1", "/cards", "/log", "/context", "/context?format=anthropic")
OF_A_SESSION = ("", "/tree", "/tree?preview=100", "/leaves", "/branch-points", "/labels", "/path", "/context",
                "/context?format=entries&repair=off", "/context?format=anthropic", "/context?format=messages", "/export")
OF_A_TASK = ("ldg:task:get", "ldg:call:list", "ldg:msg:list")


@once
def database():
    """It has rows of all that a client makes, so that values of a call may name them."""
    dsn = Postgres.shared().database()
    psql(dsn, f"CREATE ROLE {ROLE} LOGIN IN ROLE cardbox_worker;"
              f" INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('{TENANT}', '{ROLE}')")
    at_end(lambda: psql(as_role(dsn, "postgres"), f"DROP ROLE {ROLE}"))
    return dsn


def mixed_calls(chance):
    """Most values are what a program gives, the others are odd."""
    for name, names, types in writers(database()):
        for _ in range(CALLS_OF_A_FUNCTION):
            given, one = [], f"x{chance.randrange(30)}"
            for parameter, kind in zip(names, types, strict=True):
                odd = values_of(kind)
                usual = re.sub(r"\bx\b", one, GIVEN.get((parameter, kind), odd[0]))
                given.append({"tenant": f"'{TENANT}'", "tenants": f"'{{{TENANT}}}'"}.get(parameter)
                             or (usual if chance.random() < 0.8 else chance.choice(odd)))
            yield f"SELECT FROM cardbox.{name}({', '.join(given)})"


def write_as_worker():
    """Returns how many rows each table has then."""
    chance = random.Random(SEED)
    tried = [*mixed_calls(chance), *calls(database(), {"tenant": (f"'{TENANT}'",), "tenants": (f"'{{{TENANT}}}'",)})]
    chance.shuffle(tried)
    subprocess.run(["psql", as_role(database(), ROLE), "-Xq", "-o", os.devnull], input=";\n".join(tried) + ";\n",
                   text=True, capture_output=True, check=True)
    return {table: int(psql(database(), f"SELECT count(*) FROM cardbox.{table} WHERE tenant_id = '{TENANT}'"))
            for table in ("cards", "card_boxes", "sessions", "session_lines", "tasks", "messages", "calls")}


def ids(table, column):
    return json.loads(psql(database(), f"SELECT coalesce(json_agg(t.{column} ORDER BY t.{column}), '[]') FROM cardbox.{table} t"
                                       f" WHERE t.tenant_id = '{TENANT}'"))


def entries():
    return json.loads(psql(database(), "SELECT json_agg(ARRAY[l.session_id, l.entry_id]) FROM cardbox.session_lines l"
                                       f" WHERE l.tenant_id = '{TENANT}' AND l.entry_id IS NOT NULL"))


def reads():
    """(method, path, body) of all that reads a project."""
    for part in ("cards", "boxes", "sessions", "export", "abilities"):
        yield "GET", url(TENANT, part), None
    for part, name, rest in (("cards", "card_id", OF_A_CARD), ("boxes", "box_id", OF_A_BOX), ("sessions", "session_id", OF_A_SESSION)):
        for one in ids({"boxes": "card_boxes"}.get(part, part), name):
            for end in rest:
                yield "GET", url(TENANT, part, one) + end, None
    for session, entry in entries():
        for end in ("", "/path", "/children"):
            yield "GET", url(TENANT, "sessions", session, "entries", entry) + end, None
    yield "POST", url(TENANT, "cards", "batch"), {"card_ids": ids("cards", "card_id")[:100]}
    yield "POST", url(TENANT, "boxes", "batch"), {"box_ids": ids("card_boxes", "box_id")[:100], "hydrate": True}
    for task in ids("tasks", "task_id"):
        for ability in OF_A_TASK:
            yield "POST", url(TENANT, "abilities", ability), {"taskId": task}
    for ability in ("ldg:task:query", "task:active", "card:list", "box:list", "session:list"):
        yield "POST", url(TENANT, "abilities", ability), {}


def test_what_a_worker_wrote_is_read():
    rows = write_as_worker()
    assert all(rows.values()), f"nothing was written: {rows}"
    server = Server(database())
    answers = [(method, path, server.request(method, path, None if body is None else json.dumps(body),
                                             {"Content-Type": "application/json"})) for method, path, body in reads()]
    failed = [(method, path[:200], answer) for method, path, answer in answers
              if answer.status >= 500 and not answer.json()["detail"]["error_message"].startswith(CORRUPT)]
    assert len(answers) > 500 and not failed, (len(answers), failed[:5])
    assert server.alive()
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()

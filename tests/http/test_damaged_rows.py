#!/usr/bin/env python3
"""Rows that a worker's database role wrote past the functions: unknown types, wrong depths, cycles of
parents, lists that are no lists of ids, lengths that are no lengths. The database refuses them now; a server
that meets one of before answers, in bounded time and memory, and goes on."""

import json
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, Server, as_role, await_, json_lines, once, session_url as session, url

WORKER = f"rows_worker_{os.getpid()}"
TYPES = ("", "nothing", "x" * 5000, "\x01\n\"")
DEPTHS = (-1, -2147483648, 1000000001, 2147483646, 2147483647)
TAILS = ('[1,null,{},["x"]]', "[null]", '["x",1]', "{}", '"x"', "null")
LENGTHS = (-1, 6400000000, 9223372036854775807)
CONTRADICTS = "the session's stored tree is corrupt"
DAMAGED = "the box is damaged"
SOON_S = 8  # an answer that costs no more than it should takes some ms; before, a cycle took 10 s


@once
def dsn():
    """A database without the constraints, for rows of before them."""
    made = Postgres.shared().database()
    psql(made, "ALTER TABLE cardbox.card_boxes DROP CONSTRAINT card_boxes_limits")
    return made


def psql(to, sql):
    return Postgres.shared().psql(to, sql)


@once
def server():
    return Server(dsn(), "--database-timeout-ms", "10000", "--request-read-timeout-ms", "10000")


def get(path):
    began = time.monotonic()
    answer = server().get(path)
    assert time.monotonic() - began < SOON_S, path
    return answer


def refused(path, message):
    """It is answered with a clear error, and no part of an answer was sent before."""
    answer = get(path)
    assert answer.status == 500 and message in answer.json()["detail"]["error_message"], (path, answer)


def entry(name, parent=None):
    return {"id": name, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", "type": "user", "content": name}


# c and e begin branches of their own.
TREE = json_lines(entry("a"), entry("b", "a"), entry("c", "a"), entry("d", "c"), entry("e", "c"))


def make_session(name, change=None, project="p"):
    answer = server().request("POST", session(name, "import", project=project), TREE,
                              {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200, answer
    if change is not None:
        psql(dsn(), f"UPDATE cardbox.session_lines SET {change} AND session_id = '{name}' AND tenant_id = '{project}'")


def make_box(count, project="p"):
    ids = [f"id-{at}" for at in range(count)]
    box = server().post(url(project, "boxes"), {"card_ids": ids[:10000]}).json()["box_id"]
    for first in range(10000, count, 10000):
        answer = server().post(url(project, "boxes", box, "append"), {"card_ids": ids[first:first + 10000]})
        assert answer.status == 200, answer
    return box


def damage(box, change):
    psql(dsn(), f"UPDATE cardbox.card_boxes SET {change} WHERE box_id = '{box}'")


def exported_boxes(project):
    """Box lines of a whole export, by their ids."""
    answer = get(url(project, "export"))
    assert answer.status == 200, answer
    rows = [json.loads(row) for row in answer.body.splitlines()]
    return {row["box_id"]: row["card_ids"] for row in rows if row["kind"] == "box"}


# --- the database ---


def test_the_database_refuses_them():
    """New rows and changed ones, of every role: also where rows of before are still there."""
    pg = Postgres.shared()
    guarded = pg.database()
    pg.psql(guarded, f"CREATE ROLE {WORKER} LOGIN IN ROLE cardbox_worker")
    cardbox_test.at_end(lambda: pg.psql(as_role(guarded, "postgres"), f"DROP ROLE {WORKER}"))
    pg.psql(guarded, f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('p', '{WORKER}')")
    with_rows = json_lines({"kind": "box", "box_id": "01970000-0000-7000-8000-000000000001", "card_ids": ["a"]})
    cardbox_test.cardbox("import", "--dsn", guarded, "--project", "p", stdin=with_rows.decode())
    # A length and a tail that fit each other.
    changes = [f"cardbox.card_boxes SET length = jsonb_array_length('{tail}'), tail = '{tail}'"
               for tail in TAILS if tail.startswith("[")]
    changes += ["cardbox.card_boxes SET length = 6400000000, tail = '[]'"]
    statements = [f"UPDATE {change} WHERE tenant_id = 'p'" for change in changes]
    for role in (WORKER, "postgres"):
        for statement in statements:
            done = subprocess.run(["psql", as_role(guarded, role), "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statement],
                                  capture_output=True, text=True)
            why = "permission denied" if role == WORKER and "card_boxes" in statement else "_limits"
            assert done.returncode != 0 and why in done.stderr, (role, statement, done)


# --- sessions ---


def test_types_and_roles():
    for number, kind in enumerate(TYPES):
        name = f"kind{number}"
        make_session(name, f"type = '{kind}', role = '{kind}' WHERE entry_id = 'd'")
        for path in (("tree",), ("tree?lines=1000",), ("leaves",), ("entries", "d"), ("path",),
                     ("entries", "d", "path"), ("entries", "c", "children"), ("diff?a=d&b=b",), ("labels",),
                     ("context",), ("export",)):
            answer = get(session(name, *path[:-1]) + "/" + path[-1])
            assert answer.status == 200, (kind, path, answer)
        shown = get(session(name, "entries", "d")).json()
        assert shown["entry_id"] == "d", (kind, shown)


def test_depths():
    """Memory follows the rows, and a depth below 0 is not a lack of it."""
    before = server().peak_rss_kb()
    for depth in DEPTHS:
        name = f"depth{depth}"
        make_session(name, f"depth = {depth} WHERE entry_id = 'e'")
        refused(session(name, "context"), CONTRADICTS)
        refused(session(name, "path"), CONTRADICTS)
        assert get(session(name, "tree")).status == 200
    assert LIGHT or server().peak_rss_kb() - before < 300 << 10


def test_cycles_of_parents():
    """Of branches that begin below one another, and of one that begins below itself."""
    for name, change in (("two", "parent_line = 4 WHERE entry_id = 'c'"), ("own", "parent_line = 3 WHERE entry_id = 'c'")):
        make_session(name, change)
        for path in (("entries", "e", "path"), ("entries", "d", "path"), ("context?leaf=e",), ("context?leaf=d",),
                     ("export?leaf=d",)):
            refused(session(name, *path[:-1]) + "/" + path[-1], CONTRADICTS)
        assert get(session(name, "tree")).status == 200
        assert get(session(name, "diff") + "?a=d&b=e").status == 200
        assert get(session(name, "export")).body == TREE


# --- boxes ---


def test_tails():
    box = make_box(4)
    damage(box, "tail = '[1,null,{},[\"x\"]]'")
    for path in ("context", "cards", "log", "context?format=entries"):
        answer = get(url("p", "boxes", box) + "/" + path)
        assert answer.status == 200, (path, answer)
    assert get(url("p", "boxes", box)).json()["card_ids"] == [1, None, {}, ["x"]]
    for body in ({"box_ids": [box]}, {"box_ids": [box], "hydrate": True}):
        assert server().post(url("p", "boxes", "batch"), body).status == 200


def test_lengths_without_ids():
    """The answer is an error, and no answer that breaks off; an export has what is there, and ends."""
    for length in (6400000000, 9223372036854775807 // 64 * 64):
        project = f"lengths{length}"
        empty, long = make_box(0, project), make_box(10001, project)
        for box in (empty, long):
            damage(box, f"length = {length}" + (", tail = '[]'" if box == empty else ""))
            refused(url(project, "boxes", box), DAMAGED)
            refused(url(project, "boxes", box) + "?at_length=20000", DAMAGED)
            for path in ("cards", "context?tail=3", "context?limit=3&token_budget=100000", "log", "cards?offset=100"):
                assert get(url(project, "boxes", box) + "/" + path).status < 500, path
        boxes = exported_boxes(project)
        assert boxes[empty] == [] and boxes[long][:9984] == [f"id-{at}" for at in range(9984)], boxes


def test_lists_with_gaps():
    """What an export has of them is JSON, whichever run is missing."""
    first, middle = make_box(200, "gaps"), make_box(30000, "gaps")
    psql(dsn(), "DELETE FROM cardbox.card_box_segments s USING cardbox.card_boxes b WHERE s.chain_id = b.chain_id"
                f" AND ((b.box_id = '{first}' AND s.start = 0) OR (b.box_id = '{middle}' AND s.start = 640))")
    boxes = exported_boxes("gaps")
    assert boxes[first] == [f"id-{at}" for at in range(64, 200)]
    assert boxes[middle] == [f"id-{at}" for at in range(30000) if not 640 <= at < 704]
    refused(url("gaps", "boxes", middle), DAMAGED)


def test_cycles_of_chains():
    """Each segment is read once."""
    stem = make_box(640, "chains")
    fork = server().post(url("chains", "boxes", stem, "fork"), {}).json()["box_id"]
    psql(dsn(), "INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length, depth)"
                " SELECT b.tenant_id, b.chain_id, f.chain_id, 640, 1 FROM cardbox.card_boxes b, cardbox.card_boxes f"
                f" WHERE b.box_id = '{stem}' AND f.box_id = '{fork}'")
    answer = get(url("chains", "boxes", fork))
    assert answer.status == 200 and len(answer.json()["card_ids"]) == 640, answer


# --- exports ---


def test_a_client_that_leaves_ends_its_export():
    """Also of a box that has an id in each page and next to nothing to send: its place is free for another, and
    PostgreSQL holds no snapshot for it."""
    alone, pages = Server(dsn(), "--project-transfers-max", "1"), 60000
    box = make_box(1, "leave")
    psql(dsn(), f"UPDATE cardbox.card_boxes SET length = {pages} * 8192, tail = '[]' WHERE box_id = '{box}';"
                " INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)"
                f" SELECT 'leave', b.chain_id, n * 8192, '[\"a\"]' FROM cardbox.card_boxes b, generate_series(0, {pages - 1}) n"
                f" WHERE b.box_id = '{box}';"
                # A page looks into all of its 256 chains, so that what is to be sent grows slowly.
                f" UPDATE cardbox.card_boxes SET own_from = {pages} * 8192 WHERE box_id = '{box}';"
                " INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length, depth)"
                " SELECT 'leave', CASE WHEN n = 256 THEN b.chain_id ELSE md5('chain' || n)::uuid END,"
                f" md5('chain' || n - 1)::uuid, {pages} * 8192, n"
                f" FROM cardbox.card_boxes b, generate_series(1, 256) n WHERE b.box_id = '{box}'")
    reading = ("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
               " AND application_name LIKE '%transfer%' AND xact_start IS NOT NULL")
    with socket.create_connection(("127.0.0.1", alone.port)) as connection:
        connection.sendall(f"GET {url('leave', 'export')} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        assert psql(dsn(), reading) == "1\n"
    await_(lambda: psql(dsn(), reading) == "0\n", seconds=SOON_S)
    assert alone.get(url("empty", "export")).status == 200
    alone.kill()


def test_the_server_is_well():
    assert server().alive() and get("/readyz").status == 200
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Sessions by a worker's database role, which is granted one tenant: it imports, writes and reads that
one's, broken files too, and another tenant's sessions are not there in any way it asks."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role, cardbox

ROLE = f"session_worker_{os.getpid()}"


TABLES = ("sessions", "session_lines", "session_append_keys")


def lines(*entries):
    return "".join(json.dumps({"type": "user", "content": "hi", **entry}) + "\n" for entry in entries)


def entry(name, parent=None):
    return {"id": name, "parentId": parent} if parent else {"id": name}


TREE = lines(entry("a"), entry("b", "a"), entry("c", "b"), entry("d", "b"))

# c's parent comes later; x and y are each other's parents, and z is a child of x.
RING = lines(entry("c", "b"), entry("b", "a"), entry("a"), entry("x", "y"), entry("z", "x"), entry("y", "x"))
RING_IDS = ["c", "b", "a", "x", "z", "y"]


@cardbox_test.once
def database():
    """The same session, written by the service, in the worker's tenant and in another."""
    pg = Postgres.shared()
    dsn = pg.database()
    pg.psql(dsn, f"CREATE ROLE {ROLE} LOGIN IN ROLE cardbox_worker")
    cardbox_test.at_end(lambda: pg.psql(as_role(dsn, "postgres"), f"DROP ROLE {ROLE}"))
    pg.psql(dsn, f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('mine', '{ROLE}')")
    for tenant in ("mine", "other"):
        session(dsn, "cardbox_app", tenant, "import", "--session", "s", stdin=TREE)
    return dsn


def session(dsn, role, tenant, *words, check=True, stdin=None):
    env = {"CARDBOX_DSN": as_role(dsn, role), "CARDBOX_PROJECT": tenant}
    return cardbox("session", *words, env=env, check=check, stdin=stdin)


def mine(*words, **more):
    return session(database(), ROLE, "mine", *words, **more)


def others(*words, **more):
    return session(database(), ROLE, "other", *words, check=False, **more)


def sql(dsn, text):
    command = ["psql", as_role(dsn, ROLE), "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", text]
    return subprocess.run(command, capture_output=True, text=True)


def rows(table, tenant="other"):
    return Postgres.shared().psql(database(), f"SELECT to_jsonb(t) FROM cardbox.{table} t "
                                              f"WHERE tenant_id = '{tenant}' ORDER BY t::text")


READS = (["show", "s"], ["tree", "s"], ["path", "s"], ["path", "s", "c"], ["leaves", "s"],
         ["branch-points", "s"], ["children", "s", "b"], ["labels", "s"], ["diff", "s", "c", "d"],
         ["context", "s"], ["head", "s"], ["export", "s"])

CHANGES = (["append", "s"], ["label", "s", "a", "seen"], ["head", "s", "c"], ["fork", "s", "c"])


def test_worker_has_its_sessions():
    for words in READS:
        assert mine(*words).returncode == 0, words
    assert mine("export", "s").stdout == TREE
    mine("append", "s", stdin=lines(entry("e", "d")))
    mine("label", "s", "e", "seen")
    mine("head", "s", "c")
    mine("fork", "--new-id", "forked", "s", "c")
    assert mine("export", "forked").stdout == lines(entry("a"), entry("b", "a"), entry("c", "b"))
    assert "e " in mine("labels", "s").stdout


def test_worker_imports():
    """Longer and again; and a file whose parents come later, with a cycle; and one that broke off."""
    assert "4 entries appended" in mine("import", "--session", "grows", stdin=TREE).stdout
    longer = TREE + lines(entry("e", "d"))
    assert "1 entry appended" in mine("import", "--session", "grows", stdin=longer).stdout
    assert "nothing new" in mine("import", "--session", "grows", stdin=longer).stdout
    report = json.loads(mine("import", "--json", "--session", "ring", stdin=RING, check=False).stdout)
    assert (report["cycles"], report["entries"], report["leaves"]) == (1, 6, 3), report
    assert mine("export", "ring").stdout == RING
    assert Postgres.shared().psql(database(), "SELECT entry_id FROM cardbox.session_lines WHERE tenant_id = 'mine'"
                                  " AND session_id = 'ring' ORDER BY line").split() == RING_IDS
    assert json.loads(mine("import", "--json", "--session", "ring", stdin=RING, check=False).stdout)["changed"] is False
    mine("import", "--session", "torn", stdin=TREE[:-9], check=False)
    mine("import", "--session", "torn", stdin=TREE)
    assert mine("export", "torn").stdout == TREE


def test_worker_deletes_nothing():
    """Its own tenant's sessions neither: who may delete in a table may lock all of it."""
    before = [rows(table, "mine") for table in TABLES]
    done = mine("delete", "s", check=False)
    assert done.returncode == 1 and done.stdout == "" and "permission" in done.stderr, done
    assert others("delete", "s").returncode == 1
    assert [rows(table, "mine") for table in TABLES] == before and mine("show", "s").returncode == 0


def test_others_are_not_there():
    before = [rows(table) for table in TABLES]
    for words in (*READS, *CHANGES):
        given = lines(entry("new", "a")) if words[0] == "append" else None
        done = others(*words, stdin=given)
        assert done.returncode == 1 and done.stdout == "" and done.stderr, (words, done)
        # As of one that nobody has.
        nobody = others(*["nix" if word == "s" else word for word in words], stdin=given)
        assert nobody.stderr.replace("nix", "s") == done.stderr, (done, nobody)
    assert "s " not in others("list").stdout
    for words in (["append", "--create", "plain", "made"], ["import", "--session", "made"], ["import", "--session", "s"]):
        done = others(*words, stdin=TREE)
        assert done.returncode == 1 and done.stdout == "" and done.stderr, (words, done)
    assert [rows(table) for table in TABLES] == before


def test_statements_of_its_own():
    """What the role can send without the SDK: it sees its own rows alone, and takes nothing away."""
    dsn = database()
    for table in TABLES:
        seen = sql(dsn, f"SELECT DISTINCT tenant_id FROM cardbox.{table}")
        assert seen.returncode == 0 and seen.stdout.split() in (["mine"], []), (table, seen)
        refused = sql(dsn, f"DELETE FROM cardbox.{table}")
        assert "permission denied" in refused.stderr, (table, refused)
    before = [rows(table) for table in TABLES]
    for text in ("UPDATE cardbox.sessions SET version = 99 WHERE tenant_id = 'other'",
                 "UPDATE cardbox.session_lines SET depth = 7 WHERE tenant_id = 'other'",
                 "UPDATE cardbox.sessions SET state = 'deleted' WHERE tenant_id = 'other'",
                 "INSERT INTO cardbox.session_lines (tenant_id, session_id, line, size, bytes)"
                 " VALUES ('other', 's', 99, 1, 'b')",
                 "SELECT cardbox.move_session_head('other', 's', 'c', NULL, NULL)"):
        sql(dsn, text)
    assert [rows(table) for table in TABLES] == before
    refused = sql(dsn, "UPDATE cardbox.sessions SET state = 'deleted' WHERE tenant_id = 'mine'")
    assert "permission denied" in refused.stderr, refused


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""cardbox project list."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import as_role, cardbox, database, load, once, psql


@once
def filled():
    """Projects that have each a thing of another kind, one with all kinds, and one that has much."""
    dsn = database()
    load(dsn, {"kind": "card", "card_id": "c", "content": 1}, project="cards")
    cardbox("box", "create", "--dsn", dsn, "--project", "boxes")
    cardbox("session", "append", "--dsn", dsn, "--project", "sessions", "--create", "plain", "s",
            stdin=json.dumps({"type": "user", "content": "x"}))
    cardbox("task", "run", "--dsn", dsn, "--project", "tasks", "go")
    load(dsn, *[{"kind": "card", "card_id": f"c{n}", "content": n} for n in range(1200)], project="much")
    cardbox("card", "delete", "--dsn", dsn, "--project", "much", "c1", "c1199")
    load(dsn, {"kind": "card", "card_id": "gone", "content": 1}, project="é, the \"last\"")
    cardbox("card", "delete", "--dsn", dsn, "--project", "é, the \"last\"", "gone")
    return as_role(dsn, "cardbox_app")


def found(dsn, *options):
    done = cardbox("project", "list", "--dsn", dsn, "--json", *options)
    cursor = done.stderr.split("--cursor ")[1].strip() if done.stderr else None
    return [json.loads(line) for line in done.stdout.splitlines()], cursor


def row(project, cards=0, boxes=0, sessions=0, tasks=0, capped=()):
    return {"project_id": project, "cards": cards, "boxes": boxes, "sessions": sessions, "tasks": tasks,
            "capped": list(capped)}


ALL = [row("boxes", boxes=1), row("cards", cards=1), row("much", cards=999, capped=["cards"]),
       row("sessions", sessions=1), row("tasks", cards=2, boxes=1, tasks=1), row("é, the \"last\"")]


def test_all_of_them():
    """For the service and the owner; what is counted has an end, and what was deleted is none of it."""
    owner = as_role(filled(), "cardbox")
    assert found(filled()) == found(owner) == found(as_role(owner, "postgres")) == (ALL, None), found(filled())
    table = cardbox("project", "list", "--dsn", filled()).stdout.splitlines()
    assert table[0].split() == ["project", "cards", "boxes", "sessions", "tasks"], table
    assert table[3].split() == ["much", "999+", "0", "0", "0"], table
    assert cardbox("project", "list", "--dsn", database()).stderr == "no projects\n"


def test_pages():
    for limit in (1, 2, 5):
        projects, cursor = found(filled(), "--limit", str(limit))
        while cursor:
            more, cursor = found(filled(), "--limit", str(limit), "--cursor", cursor)
            assert 0 < len(more) <= limit
            projects += more
        assert projects == ALL, (limit, projects)
    assert found(filled(), "--limit", str(len(ALL))) == (ALL, None)
    for bad in ("x", "0.", "0.6", "1-2"):
        done = cardbox("project", "list", "--dsn", filled(), "--cursor", bad, check=False)
        assert done.returncode == 2 and "--cursor" in done.stderr, done


def test_a_worker_sees_its_own():
    """What is granted to it, whether there is anything in it yet or not, and of others nothing."""
    name = f"worker_of_projects_{os.getpid()}"
    psql(filled(), f"CREATE ROLE {name} LOGIN IN ROLE cardbox_worker; INSERT INTO cardbox.tenant_grants"
                   f" VALUES ('much', '{name}'), ('cards', '{name}'), ('none', '{name}'), ('tasks', 'another')")
    cardbox_test.at_end(lambda: psql(filled(), f"DROP ROLE {name}"))
    dsn = as_role(filled(), name)
    assert found(dsn) == ([ALL[1], ALL[2], row("none")], None), found(dsn)
    first, cursor = found(dsn, "--limit", "2")
    assert first == ALL[1:3] and found(dsn, "--limit", "2", "--cursor", cursor) == ([row("none")], None)


if __name__ == "__main__":
    cardbox_test.main()

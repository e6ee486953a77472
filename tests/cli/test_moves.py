#!/usr/bin/env python3
"""A project moves as a whole: what an export has beside cards and boxes comes to the same places again."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, cardbox

COUNTED = ("cards", "boxes", "tasks", "messages", "calls")


def database():
    return Postgres.shared().database()


def psql(dsn, sql):
    return Postgres.shared().psql(dsn, sql)


def export(dsn, project="p"):
    return cardbox("export", "--dsn", dsn, "--project", project, binary=True).stdout


def load(dsn, data, project="p", check=True):
    """Imports; returns the report and the complaints."""
    done = cardbox("import", "--dsn", dsn, "--project", project, "--json", stdin=data, check=False, binary=True)
    assert not check or done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.decode().splitlines()


def rows(*given):
    return "".join(json.dumps(row) + "\n" for row in given).encode()


def moved(dsn):
    """Moves project p to another database, and to another project of the same one; returns its lines."""
    first = export(dsn)
    kinds = [json.loads(line)["kind"] for line in first.splitlines()]
    for goal, project in ((database(), "p"), (dsn, "copy")):
        report, _ = load(goal, first, project)
        assert report["lines"] == len(kinds) == sum(report[kind]["inserted"] for kind in COUNTED), report
        second = export(goal, project)
        for a, b in zip(first.splitlines(), second.splitlines()):
            assert a == b, f"{a[:600]}\n{b[:600]}"
        assert first == second
        report, _ = load(goal, first, project)
        assert report["lines"] == sum(report[kind]["unchanged"] for kind in COUNTED), report
        assert export(goal, project) == first
    return [json.loads(line) for line in first.splitlines()]


def task(task_id, status=None, parent=None, created=1000):
    return {"kind": "task", "id": task_id, "parent_task_id": parent, "completion_status": status,
            "system_prompt": "be \0 good", "created_at": created, "updated_at": created + 5}


def message(message_id, task_id, role="user", timestamp=5):
    return {"kind": "message", "id": message_id, "task_id": task_id, "role": role,
            "content": f"{message_id}: NUL \0, half \ud83d", "timestamp": timestamp}


def call(call_id, task_id, start, end=None, status="completed"):
    return {"kind": "call", "id": call_id, "task_id": task_id, "ability_name": "card:get", "parameters": '{"cardId":"c"}',
            "status": status, "details": '{"r":"\0"}', "created_at": 7, "updated_at": 8, "start_message_id": start,
            "end_message_id": end}


def test_a_ledger():
    dsn = database()
    given = rows(task("t-1", "success"), task("t-2", parent="t-1"), message("m-1", "t-1"),
                 message("m-2", "t-2", "assistant", 9), message("m-3", "t-1", "assistant", 5),
                 call("c-1", "t-1", "m-1", "m-3"), call("c-2", "t-2", "m-2", None, "in_progress"))
    load(dsn, given)
    lines = [line for line in moved(dsn) if line["kind"] != "card"]
    assert [(line["kind"], line["id"]) for line in lines] == [
        ("task", "t-1"), ("task", "t-2"), ("message", "m-1"), ("message", "m-3"), ("message", "m-2"), ("call", "c-1"),
        ("call", "c-2")]
    for line in given.splitlines():
        assert json.loads(line) in lines, line


def test_an_unfinished_task_arrives_asleep():
    """Two of a task must not both be at work."""
    dsn, goal = database(), database()
    done = cardbox("task", "run", "--dsn", dsn, "--project", "p", "do it", check=False)
    assert done.returncode == 0, done.stderr
    assert psql(dsn, "SELECT wake_at IS NULL FROM cardbox.tasks") == "f\n"
    load(goal, export(dsn))
    assert psql(goal, "SELECT completion_status, wake_at, lease_owner, lease_epoch, messages FROM cardbox.tasks") == "|||0|1\n"
    task_id = psql(goal, "SELECT task_id FROM cardbox.tasks").strip()
    cardbox("task", "send", "--dsn", goal, "--project", "p", task_id, "go on")
    assert psql(goal, "SELECT wake_at IS NULL FROM cardbox.tasks") == "f\n"


def test_parents_come_before_their_subtasks():
    """Whatever their times say, and on many pages."""
    dsn = database()
    given = [task(f"chain-{n}", None, f"chain-{n - 1}" if n else None, 100000 - n) for n in range(700)]
    given += [task(f"wide-{n}", None, "chain-7", n % 3) for n in range(700)]
    given += [task(f"root-{n}", None, None, n % 5 * 40000) for n in range(300)]
    load(dsn, rows(*given))
    seen = set()
    for line in moved(dsn):
        assert line["parent_task_id"] is None or line["parent_task_id"] in seen, line
        assert line["id"] not in seen
        seen.add(line["id"])
    assert len(seen) == 1700


def test_pages_of_messages_and_calls():
    dsn = database()
    given = [task(f"t-{n}") for n in range(3)]
    given += [message(f"m-{n}", f"t-{n % 3}", timestamp=n // 100) for n in range(2500)]
    given += [call(f"c-{n}", f"t-{n % 3}", f"m-{n}") for n in range(1500)]
    load(dsn, rows(*given))
    assert len(moved(dsn)) == 3 + 2 * 2500 + 1500


if __name__ == "__main__":
    cardbox_test.main()

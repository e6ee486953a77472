#!/usr/bin/env python3
"""cardbox import of a ledger: tasks, messages and calls by the columns of the original, exactly, once,
and with nothing lost for a row that is wrong."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import database, load, psql


def task(task_id, status=None, parent=None, **members):
    return {"kind": "task", "id": task_id, "parent_task_id": parent, "completion_status": status,
            "system_prompt": "be good", "created_at": 1000, "updated_at": 2000, **members}


def message(message_id, task_id, role="user", content="hi", timestamp=5):
    return {"kind": "message", "id": message_id, "task_id": task_id, "role": role, "content": content, "timestamp": timestamp}


def call(call_id, task_id, status="completed", start="m-1", end=None, **members):
    return {"kind": "call", "id": call_id, "task_id": task_id, "ability_name": "card:get", "parameters": '{"cardId":"c"}',
            "status": status, "details": '{"r":1}', "created_at": 7, "updated_at": 8, "start_message_id": start,
            "end_message_id": end, **members}


def count(inserted=0, unchanged=0, repaired=0, refused=0):
    return {"inserted": inserted, "unchanged": unchanged, "repaired": repaired, "refused": refused}


def test_a_ledger_moves_over_once():
    dsn = database()
    exact = json.dumps(message("m-2", "t-1", "assistant", "NUL \0, half \ud83d"))
    rows = (task("t-2", parent="t-1"), task("t-1", "success"), message("m-1", "t-1"), exact, call("c-1", "t-1", end="m-2"))
    status, counts, said = load(dsn, *rows)
    assert status == 0 and not said, said
    assert (counts["tasks"], counts["messages"], counts["calls"]) == (count(2), count(2), count(1)), counts
    assert psql(dsn, "SELECT task_id, parent_task_id, completion_status, system_prompt, created_at, updated_at, wake_at"
                     " FROM cardbox.tasks ORDER BY 1") == 't-1||success|"be good"|1000|2000|\nt-2|t-1||"be good"|1000|2000|\n'
    assert psql(dsn, "SELECT m.message_id, m.role, m.ts, c.content, c.sealed FROM cardbox.messages m JOIN cardbox.cards c"
                     " ON c.card_id = m.message_id ORDER BY 1") == (
        'm-1|user|5|{"__type__":"TextContent","text":"hi"}|t\n'
        'm-2|assistant|5|{"__type__":"TextContent","text":"NUL \\u0000, half \\ud83d"}|t\n')
    assert psql(dsn, "SELECT parameters #>> '{}', details #>> '{}', status, start_message_id, end_message_id"
                     " FROM cardbox.calls") == '{"cardId":"c"}|{"r":1}|completed|m-1|m-2\n'
    before = psql(dsn, "SELECT count(*), sum(n) FROM cardbox.task_events")
    status, counts, _ = load(dsn, *rows)
    assert status == 0 and counts["messages"] == count(unchanged=2) and counts["tasks"] == count(unchanged=2), counts
    assert psql(dsn, "SELECT count(*), sum(n) FROM cardbox.task_events") == before
    status, counts, _ = load(dsn, task("t-2", "failed: x", "t-1", updated_at=3000))
    assert status == 0 and counts["tasks"] == count(repaired=1), counts


def test_counts_stand_below_one_another():
    entry = {"kind": "session_entry", "session_id": "s", "position": 1}
    for rows, width in (((task("t-1"), call("c-1", "t-1", start=None)), len("cards")), ((task("t-1"), entry), len("session entries"))):
        said = cardbox_test.cardbox("import", "--dsn", database(), "--project", "p", check=False,
                                    stdin="\n".join(map(json.dumps, rows))).stdout.splitlines()
        assert len(said) == 4, said
        assert {re.match(r"[a-z ]+?  +", line).end() for line in said} == {width + 2}, said


def test_more_than_a_batch():
    """What a row names is written before it, though each kind is gathered by itself."""
    dsn = database()
    rows = []
    for i in range(700):
        rows += [task(f"t-{i}", parent=f"t-{i - 1}" if i else None), message(f"m-{i}", f"t-{i}"), call(f"c-{i}", f"t-{i}", start=f"m-{i}")]
    status, counts, said = load(dsn, *rows)
    assert status == 0 and [counts[kind]["inserted"] for kind in ("tasks", "messages", "calls")] == [700] * 3, said[:3]


def test_rows_of_many_projects():
    dsn = database()
    rows = [dict(row, tenant_id=f"p-{i % 3}") for i in range(30) for row in (task(f"t-{i}"), message(f"m-{i}", f"t-{i}"))]
    status, counts, said = load(dsn, *rows, project=None, options=["--tenant-from-rows"])
    assert status == 0 and counts["messages"] == count(30), said
    assert psql(dsn, "SELECT tenant_id, count(*) FROM cardbox.messages GROUP BY 1 ORDER BY 1") == "p-0|10\np-1|10\np-2|10\n"


BAD = [
    ("no task", message("b", "nobody"), "message b names a task that does not exist"),
    ("no parent", task("b", parent="nobody"), "task b names a parent that does not exist"),
    ("its own parent", task("b", parent="b"), "parentTaskId names the task itself"),
    ("no start message", call("b", "t", start="nobody"), "call b names a start or end message that its task does not have"),
    ("another content", message("m", "t", content="other"), "message m exists with other content"),
    ("another role", message("b", "t", role="tool"), "role must be system, user or assistant"),
    ("no content", {"kind": "message", "id": "b", "task_id": "t", "role": "user", "timestamp": 1}, "the row has no content"),
    ("content of another type", message("b", "t", content={}), "content must be a string, not object"),
    ("time of another type", message("b", "t", timestamp="now"), "timestamp must be an integer"),
    ("time before 1970", message("b", "t", timestamp=-1), "timestamp must be milliseconds since 1970"),
    ("another status", call("b", "t", status="done"), "status must be pending, in_progress, completed or failed"),
    ("no id", {"kind": "task", "system_prompt": "", "created_at": 1, "updated_at": 1}, "the row has no id"),
    ("empty id", task(""), "id must be 1 to 512 bytes"),
    ("long status", task("b", "x" * 65537), "completion_status must be 1 to 65536 bytes"),
    ("a status that queries take for none", task("b", "null"), 'completionStatus is the text "null"'),
    ("empty status", task("b", ""), "completion_status must be 1 to 65536 bytes"),
    ("status with a control character", task("b", "a\x1bb"), "completion_status must be 1 to 65536 bytes"),
    ("status of another type", task("b", 1), "completion_status must be a string, not number"),
    ("open call of a task that is over", call("b", "over", "pending", start="over"), "call b belongs to a task that is already completed"),
    ("start message of another task", call("b", "t", start="over"), "a start or end message that its task does not have"),
    ("member twice", '{"kind":"task","id":"b","id":"c"}', "the row has id twice"),
]


def test_each_bad_row_alone():
    dsn = database()
    load(dsn, task("t"), message("m", "t"), task("over", "success"), message("over", "over"))
    for index, (name, row, say) in enumerate(BAD):
        good = [message(f"good-{index}-{i}", "t") for i in range(4)]
        status, counts, said = load(dsn, task(f"good-{index}"), good[0], good[1], row, good[2], good[3],
                                    call(f"good-{index}", "t", start="m"))
        assert status == 1 and len(said) == 1 and said[0].startswith("line 4: ") and say in said[0], (name, said)
        assert counts["messages"]["inserted"] == 4 and counts["calls"]["inserted"] == 1, (name, counts)


def test_statuses_of_several_lines():
    dsn, text = database(), "Error: no\r\n\tat read (file.js:1)"
    status, counts, said = load(dsn, task("a", text))
    assert status == 0 and counts["tasks"] == count(1), said
    exported = cardbox_test.cardbox("export", "--dsn", dsn, "--project", "p").stdout.splitlines()
    assert [json.loads(line)["completion_status"] for line in exported if '"task"' in line] == [text]


def test_two_that_name_each_other():
    dsn = database()
    status, counts, said = load(dsn, task("a", parent="b"), task("b", parent="a"), task("c"))
    assert status == 1 and counts["tasks"] == count(1, refused=2), (counts, said)


def test_members_that_nobody_knows():
    dsn = database()
    status, counts, _ = load(dsn, task("t", mood="fine"))
    assert counts["ignored_members"] == 1 and counts["tasks"] == count(1), counts


def test_a_refused_row_is_told_once():
    """Of a batch that PostgreSQL refuses for another row each half is tried by itself."""
    dsn = database()
    psql(dsn, "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS"
              " $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;"
              " CREATE TRIGGER refuse BEFORE INSERT ON cardbox.tasks FOR EACH ROW"
              " WHEN (NEW.task_id = 'bad') EXECUTE FUNCTION public.refuse()")
    status, counts, complaints = load(dsn, task("orphan", parent="nobody"), task("bad"), task("good"))
    assert status == 1 and counts["tasks"] == count(1, refused=2), counts
    assert [line.split(":")[0] for line in sorted(complaints)] == ["line 1", "line 2"], complaints


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""A project moves as a whole: what an export has beside cards and boxes comes to the same places again."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import await_, cardbox, database, psql

COUNTED = ("cards", "boxes", "session_entries", "usage", "sessions", "tasks", "messages", "calls")


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
    assert psql(goal, "SELECT completion_status, wake_at, lease_owner, lease_epoch, messages FROM cardbox.tasks") == "|||0|2\n"
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


# --- sessions ---


def entry(name, parent, kind="user", **more):
    return {"id": name, "parentId": parent, "timestamp": "2026-01-02T03:04:05Z", "type": kind, **more}


def lines(*given):
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in given)


NO_MESSAGES = b"cardbox session import: warning: no line of the file is a message: contexts have nothing of it\n"


def load_session(dsn, name, data, *options):
    done = cardbox("session", "import", "--dsn", dsn, "--project", "p", "--session", name, *options, "-", stdin=data, check=False,
                   binary=True)
    assert done.returncode == 1 or not done.stderr.replace(NO_MESSAGES, b""), done.stderr


def session(dsn, name, *words, project="p"):
    return cardbox("session", *words[:1], "--dsn", dsn, "--project", project, name, *words[1:], binary=True).stdout


def without_times(output):
    """A line that is imported is stored at that time."""
    return re.sub(rb'"appended_at": ?"[^"]*"', b"", output)


HARD = lines(b"\n", {"type": "session", "version": 3, "id": "hard", "cwd": "/"}, entry("u1", None, content="a"),
             b"no JSON\r\n", b"\xff\xfe\0\n", b'\0\0 {"id":"a1","parentId":"u1","type":"assistant","content":"NUL \\u0000"} \r\n',
             entry("late", "later", content="its parent comes later"), entry("u1", None, content="another"),
             entry("later", "u1", content="x"), entry("own", "own"), entry("r1", "r2"), entry("r2", "r1"),
             entry("lost", "nowhere"), {"type": "label", "id": "l1", "parentId": "a1", "targetId": "u1", "label": "caf\u00e9"},
             {"type": "session_info", "id": "i1", "parentId": "l1", "name": "its name"},
             entry("side", "u1", content="b"), b'{"id":"end","parentId":"side","type":"user"}')
OLD = lines({"type": "session", "id": "old", "provider": "p", "modelId": "m", "thinkingLevel": "off"},
            {"type": "message", "message": {"role": "user", "content": "x"}},
            {"type": "message", "message": {"role": "assistant", "content": []}})


def make_sessions(dsn):
    load_session(dsn, "hard", HARD)
    load_session(dsn, "old", OLD)
    load_session(dsn, "empty", b"")
    load_session(dsn, "long", lines({"type": "session", "version": 3, "id": "long"},
                                    *[entry(f"e{n}", f"e{n - 1 - (n % 7 == 6) * 3}" if n else None, content="x" * (n % 90))
                                      for n in range(1300)]))
    session(dsn, "hard", "head", "later")
    session(dsn, "long", "fork", "e1200", "--new-id", "branch")
    session(dsn, "branch", "fork", "--new-id", "twig")
    session(dsn, "old", "fork", "--new-id", "new")


def test_sessions():
    dsn = database()
    make_sessions(dsn)
    kinds = [line["kind"] for line in moved(dsn)]
    assert kinds.count("session") == 7 and kinds.count("session_entry") > 2000
    goal = database()
    load(goal, export(dsn))
    for name in ("hard", "old", "empty", "long", "branch", "twig", "new"):
        for words in (("export",), ("show", "--json"), ("tree", "--json"), ("path", "--json")):
            assert without_times(session(goal, name, *words)) == without_times(session(dsn, name, *words)), (name, words)
    assert session(goal, "hard", "export") == HARD
    columns = psql(dsn, "SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'cardbox.session_lines'::regclass"
                        " AND attnum > 0 AND NOT attisdropped AND attname <> 'appended_at'").strip()
    rows_of = f"SELECT {columns} FROM cardbox.session_lines WHERE tenant_id = 'p' ORDER BY session_id, line"
    assert psql(goal, rows_of) == psql(dsn, rows_of)
    state = "SELECT s.* FROM cardbox.sessions s WHERE s.tenant_id = 'p' ORDER BY s.session_id"
    assert psql(goal, state).splitlines() == psql(dsn, state).splitlines()


def test_sessions_go_on_after_the_move():
    """Here as there: the file again changes nothing, entries that are appended come to the same places."""
    dsn, goal = database(), database()
    make_sessions(dsn)
    load(goal, export(dsn))
    before = psql(goal, "SELECT session_id, version FROM cardbox.sessions ORDER BY 1")
    load_session(goal, "hard", HARD)
    assert psql(goal, "SELECT session_id, version FROM cardbox.sessions ORDER BY 1") == before
    load_session(dsn, "hard", HARD + b"\n" + lines(entry("more", "end")))
    session(dsn, "old", "head", psql(dsn, "SELECT entry_id FROM cardbox.session_lines WHERE session_id = 'old' AND line = 1").strip())
    report, _ = load(goal, export(dsn))
    assert report["session_entries"]["inserted"] == 1 and report["session_entries"]["refused"] == 0, report
    assert report["sessions"]["repaired"] == 2, report
    assert export(goal) == export(dsn)


def test_a_session_that_came_as_a_file_before():
    dsn, goal = database(), database()
    file = lines(entry("a", None), entry("b", "a"), entry("c", "b"))
    load_session(dsn, "s", file)
    session(dsn, "s", "fork", "b", "--new-id", "f")
    load_session(goal, "s", file)
    report, said = load(goal, export(dsn))
    assert report["session_entries"] == {"inserted": 2, "unchanged": 3, "repaired": 0, "refused": 0}, (report, said)
    assert [session(goal, name, "export") for name in "sf"] == [session(dsn, name, "export") for name in "sf"]


def test_a_session_that_has_gone_another_way():
    dsn, goal = database(), database()
    load_session(dsn, "s", lines(entry("a", None), entry("b", "a")))
    load(goal, export(dsn))
    load_session(goal, "s", lines(entry("a", None), entry("b", "a"), entry("here", "b")))
    load_session(dsn, "s", lines(entry("a", None), entry("b", "a"), entry("there", "b"), entry("c", "there")))
    here = session(goal, "s", "export")
    report, said = load(goal, export(dsn), check=False)
    assert report["session_entries"] == {"inserted": 0, "unchanged": 2, "repaired": 0, "refused": 2}, (report, said)
    assert session(goal, "s", "export") == here


def test_a_deleted_session():
    """It stays deleted, like a deleted card. A new session with its id takes the lines of the export."""
    dsn = database()
    load_session(dsn, "s", lines(*(entry(f"e{n}", f"e{n - 1}" if n else None) for n in range(40))))
    before = export(dsn)
    session(dsn, "s", "delete")

    def failed():
        return int(psql(dsn, "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()"))
    for _ in range(2):
        earlier = failed()
        report, said = load(dsn, before, check=False)
        assert report["session_entries"]["refused"] == 40 and report["sessions"]["refused"] == 1, report
        assert len(said) == 41 and all("session s was deleted" in line for line in said), said
        await_(lambda: failed() > earlier)
        assert failed() - earlier < 10, "one statement fails for all lines of the session"
        assert not export(dsn)
    load_session(dsn, "s", b"", "--restore")
    report, said = load(dsn, before)
    assert report["session_entries"]["inserted"] == 40 and report["sessions"]["repaired"] == 1, (report, said)
    assert export(dsn) == before


BAD_LINES = [
    ({"entry_id": "other"}, "content has another id than entry_id"),
    ({"content": {"n": 1}}, "content: line has no type and no id"),
    ({"content": [1]}, "content must be an object"),
    ({"content": None}, "the row must have either entry_id and content, or bytes"),
    ({"bytes": "x"}, "the row must have either entry_id and content, or bytes"),
    ({"entry_id": None, "content": None, "bytes": ""}, "the row must have either entry_id and content, or bytes"),
    ({"line": 10 ** 7 + 1}, "line must be 0 to 10000000, not 10000001"),
    ({"line": -1}, "line must be 0 to 10000000, not -1"),
    ({"line": "1"}, "line must be an integer, not string"),
    ({"line": 1}, "the stored session differs from the file before or in this line"),
    ({"session_id": ""}, "session_id must be 1 to 512 bytes"),
    ({"entry_id": None, "content": None, "bytes_base64": "!"}, "bytes_base64 must be base64"),
    ({"entry_id": None, "content": None, "bytes": "\0"}, "bytes must not contain \\u0000 or half a surrogate pair: pass it as bytes_base64"),
]


def test_bad_lines_of_sessions():
    dsn = database()
    good = {"kind": "session_entry", "session_id": "s", "line": 0, "entry_id": "a", "parent_id": None,
            "content": entry("a", None)}
    for change, say in BAD_LINES:
        report, said = load(dsn, rows({**good, **change}), check=False)
        assert len(said) == 1 and say in said[0] and report["session_entries"]["refused"] == 1, (change, said)
    head = {"kind": "session", "session_id": "s", "version": 1}
    for change, say in (({"version": 0}, "version must be 1 to 9007199254740991, not 0"), ({"dialect": "x"}, "dialect must be plain, pi, claude or codex"),
                        ({"head_entry_id": "b"}, "has no entry with the id in head_entry_id"), ({"header": []}, "header must be an object")):
        report, said = load(dsn, rows(good, {**head, **change}), check=False)
        assert len(said) == 1 and say in said[0] and report["sessions"]["refused"] == 1, (change, said)
    report, _ = load(dsn, rows({**head, "head_entry_id": "a"}))
    assert report["sessions"]["inserted"] == 1
    assert json.loads(session(dsn, "s", "export"))["id"] == "a"


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""cardbox session: what people and programs see of sessions, from files and from the store."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import cardbox, shared_file, temp_dir


def entry(name, parent, kind="user", **more):
    return {"id": name, "parentId": parent, "timestamp": "2026-01-02T03:04:05Z", "type": kind, **more}


PLAIN = [
    entry("u1", None, content="create hello.ts", metadata={"source": "cli"}),
    entry("a1", "u1", "assistant", content="I'll create the file",
          toolCalls=[{"id": "c1", "name": "write", "params": {"path": "hello.ts"}}]),
    entry("t1", "a1", "tool_result", toolCallId="c1", output="File written: hello.ts", success=True),
    entry("u2", "t1", content="use TypeScript instead"),
    entry("a2", "u2", "assistant", content="TypeScript file created"),
    entry("u3", "t1", content="add tests"),
]


def write(lines, name="session.jsonl"):
    path = os.path.join(temp_dir(), name)
    with open(path, "wb") as file:
        for line in lines:
            file.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
    return path


# --- files ---


def test_check_draws_the_tree():
    path = write(PLAIN)
    assert cardbox("session", "check", "--tree", path).stdout == """\
o user       create hello.ts
o assistant  I'll create the file  -> write
o result     File written: hello.ts
|-o user       use TypeScript instead
| o assistant  TypeScript file created
`-o user       add tests           (head)
"""
    with_ids = cardbox("session", "check", "--tree", "--ids", path).stdout.splitlines()
    assert with_ids[0] == "o u1  user       create hello.ts" and with_ids[3].startswith("|-o u2  user  ")


def test_check_of_what_is_wrong():
    path = write([*PLAIN, b"no JSON\n", entry("u4", "nowhere", content="x"), entry("u1", None, content="y"),
                  entry("r1", "r2", content="ring"), entry("r2", "r1", content="ring"), b'{"torn": '])
    done = cardbox("session", "check", "--json", path, check=False)
    report = json.loads(done.stdout)
    assert done.returncode == 1 and not done.stderr
    assert (report["lines"], report["entries"], report["bad"], report["torn"], report["cycles"]) == (12, 8, 2, 1, 1)
    assert report["dangling_parents"] == 2 and report["conflicts"] == 1
    assert [issue["line"] for issue in report["issues"]] == [7, 8, 9, 10, 11, 12]
    done = cardbox("session", "check", path, check=False)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines() if "bad  " in line] == ["bad", "7"], done.stdout
    assert "  dangling parents  2\n" in done.stdout and "torn" in done.stdout


def test_check_of_nothing_and_of_what_is_not_there():
    done = cardbox("session", "check", "-", stdin="")
    assert done.stdout == "  dialect  plain\n"
    assert cardbox("session", "check", "--tree", "-", stdin="").stdout == ""
    done = cardbox("session", "check", "/nowhere/at/all", check=False)
    assert done.returncode == 1 and "cannot open /nowhere/at/all" in done.stderr
    assert cardbox("session", "check", check=False).returncode == 2


def test_convert_there_and_back():
    path = write(PLAIN)
    pi = cardbox("session", "convert", path).stdout
    assert json.loads(pi.splitlines()[0])["type"] == "session"
    back = cardbox("session", "convert", "--to", "plain", "-", stdin=pi).stdout
    with open(path) as file:
        assert back == file.read()
    done = cardbox("session", "convert", "--to", "plain", path, check=False)
    assert done.returncode == 1 and "plain already" in done.stderr and not done.stdout
    assert cardbox("session", "convert", "--to", "xml", path, check=False).returncode == 2
    done = cardbox("session", "convert", write([*PLAIN, b"junk\n"]), check=False)
    assert done.returncode == 1 and "1 lines are in no tree" in done.stderr and done.stdout == pi


def test_real_file():
    path = shared_file("data", "pi", "large-session.jsonl")
    report = json.loads(cardbox("session", "check", "--json", path).stdout)
    assert (report["lines"], report["entries"], report["leaves"], report["issues"]) == (1019, 1018, 1, [])
    lines = cardbox("session", "check", "--tree", path).stdout.splitlines()
    assert lines[2] == ": 1,014 more" and len(lines) == 5 and lines[4].endswith("(head)")
    whole = cardbox("session", "check", "--tree", "--all", path).stdout.splitlines()
    assert len(whole) == 1018 and all("-> read" in line for line in whole if line.endswith("read"))


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""cardbox session: what people and programs see of sessions, from files and from the store."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, cardbox, json_lines, on_terminal, shared_file, temp_dir

SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample_session.jsonl")
HEAD, SIDE, FORK = "5e550019", "5e550010", "5e55000a"


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
    assert (report["lines"], report["entries"], report["bad"], report["torn"], report["cycles"]) == (12, 9, 2, 1, 1)
    assert report["dangling_parents"] == 1 and report["conflicts"] == 1
    assert [issue["line"] for issue in report["issues"]] == [7, 8, 9, 10, 12]
    done = cardbox("session", "check", path, check=False)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines() if "bad  " in line] == ["bad", "7"], done.stdout
    assert "  dangling parents  1\n" in done.stdout and "torn" in done.stdout


def test_check_and_import_say_what_no_model_sees():
    """In the words of an append; it is no failure."""
    path = write([*PLAIN, json.dumps({"type": "fly", "id": "f"}).encode() + b"\n", b'{"type": "user", "id": "e"}\n'])
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    for words in (["check"], ["import", "--session", "unseen"]):
        said = " ".join(cardbox("session", *words, path, env=env).stdout.split())
        assert " not in context 2 " in said and "7 not_in_context an entry of an unknown type is never part of a context" in said, said
        assert "8 not_in_context an entry without content is never part of a context" in said, said


def test_a_session_that_is_not_there():
    for words in (["tree", "5e550001"], ["context", "5e550001"], ["show", "5e550001"]):
        done = cardbox("session", *words, env=shared(), check=False)
        assert done.returncode == 1 and "not found: 5e550001; see `cardbox session list`; give an entry as SESSION ENTRY\n" in done.stderr, done
    done = cardbox("session", "append", "s-1", stdin="hello", env=shared(), check=False)
    assert done.returncode == 1 and "line 1: entry cannot be read: expected a value at byte 0" in done.stderr, done


def test_check_of_nothing_and_of_what_is_not_there():
    done = cardbox("session", "check", "-", stdin="")
    assert done.stdout == "  dialect  plain\n"
    assert cardbox("session", "check", "--tree", "-", stdin="").stdout == ""
    done = cardbox("session", "check", "/nowhere/at/all", check=False)
    assert done.returncode == 1 and "cannot open /nowhere/at/all" in done.stderr
    assert cardbox("session", "check", check=False).returncode == 2


def test_real_file():
    path = shared_file("data", "pi", "large-session.jsonl")
    report = json.loads(cardbox("session", "check", "--json", path).stdout)
    assert (report["lines"], report["entries"], report["leaves"], report["issues"]) == (1019, 1018, 1, [])
    lines = cardbox("session", "check", "--tree", path).stdout.splitlines()
    assert lines[2] == ": 1,014 more (--all shows them)" and len(lines) == 5 and lines[4].endswith("(head)")
    whole = cardbox("session", "check", "--tree", "--all", path).stdout.splitlines()
    assert len(whole) == 1018 and all("-> read" in line for line in whole if line.endswith("read"))



# --- the store ---


def store():
    """The environment of commands that work on a database of their own, which holds the sample."""
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    with open(SAMPLE, encoding="utf-8") as file:
        entries = "".join(file.readlines()[1:])
    cardbox("session", "append", "--create", "pi", "s-1", stdin=entries, env=env)
    return env


@cardbox_test.once
def shared():
    """The same for those that only read."""
    return store()


def objects(*arguments, env=None):
    done = cardbox("session", *arguments, "--json", env=env or shared())
    return [json.loads(line) for line in done.stdout.splitlines()]


def ids(*arguments, env=None):
    return [entry["entry_id"] for entry in objects(*arguments, env=env)]


def test_tree():
    lines = cardbox("session", "tree", "s-1", env=shared()).stdout.splitlines()
    assert lines[0] == "s-1   25 entries   2 leaves   Nightly backup of orders"
    assert len(lines) == 26 and lines[1] == "o setting    model anthropic/claude-sonnet-4-5", "short trees are whole"
    assert lines[9].endswith("[diagnosis]") and "Then make room." in lines[11] and lines[11].startswith("|-o user")
    assert lines[17].startswith("`-o summary") and lines[-1].endswith("(head)")
    assert lines[14].endswith("-> remove_files") and "(aborted)" in lines[14]
    whole = cardbox("session", "tree", "--all", "--ids", "s-1", env=shared()).stdout.splitlines()
    assert len(whole) == 26 and whole[1].startswith("o 5e550001  setting")
    found = objects("tree", "s-1")
    assert len(found) == 25 and found[1]["parent_id"] == found[0]["entry_id"] and "entry" not in found[0]
    assert found[0]["appended_at"].startswith("20")


def test_tree_of_many_pages():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    lines = [json.dumps(entry(f"e{i}", f"e{i - 1}" if i else None, content=f"number {i}")) for i in range(2500)]
    for start in range(0, 2500, 900):
        cardbox("session", "append", "--create", "plain", "long", stdin="\n".join(lines[start:start + 900]), env=env)
    drawn = cardbox("session", "tree", "long", env=env).stdout.splitlines()
    assert drawn[0] == "long   2,500 entries   1 leaf" and drawn[3] == ": 2,496 more (--all shows them)", drawn
    assert len(cardbox("session", "tree", "--all", "long", env=env).stdout.splitlines()) == 2501
    assert len(objects("tree", "long", env=env)) == 2500
    done = cardbox("session", "append", "long", stdin="\n".join(lines), env=env, check=False)
    assert done.returncode == 1 and "in parts" in done.stderr


def test_list_and_show():
    session, = objects("list")
    assert (session["session_id"], session["dialect"], session["entries"]) == ("s-1", "pi", 25)
    assert session["name"] == "Nightly backup of orders" and session["head_entry_id"] == HEAD
    table = cardbox("session", "list", env=shared()).stdout.splitlines()
    assert table[1].split()[:3] == ["s-1", "pi", "25"] and table[1].endswith("orders")
    shown, = objects("show", "s-1")
    assert (shown["leaves"], shown["branch_points"], shown["max_depth"]) == (2, 1, 18)
    assert "  branch points  1\n" in cardbox("session", "show", "s-1", env=shared()).stdout
    assert cardbox("session", "list", "--project", "x", env=shared()).stderr == "no sessions in project x\n"


def test_a_list_tells_forks():
    """Also on a narrow terminal, and those without a name."""
    env = store()
    cardbox("session", "fork", "s-1", "--new-id", "named", env=env)
    cardbox("session", "fork", "s-1", FORK, "--new-id", "unnamed", env=env)
    rows = {line.split()[0]: line for line in cardbox("session", "list", env=env).stdout.splitlines()}
    assert rows["named"].endswith("  Nightly backup of orders, fork of s-1") and rows["s-1"].endswith("orders"), rows
    assert rows["unnamed"].endswith("  fork of s-1"), rows
    assert "fork of s-1" in on_terminal("session", "list", columns=60, env=env)


def test_lists_of_entries():
    assert ids("leaves", "s-1") == [SIDE, HEAD]
    assert ids("branch-points", "s-1") == [FORK] and objects("branch-points", "s-1")[0]["children"] == 2
    assert ids("children", "s-1", FORK) == ["5e55000b", "5e550011"] and ids("children", "s-1") == ["5e550001"]
    assert ids("labels", "s-1") == ["5e550009", "5e550015"]  # as the conversation goes
    path = objects("path", "s-1")
    assert len(path) == 19 and path[-1]["entry_id"] == HEAD and path[-1]["entry"]["name"].startswith("Nightly")
    assert ids("path", "s-1", SIDE, "--from", "14", "--limit", "1") == ["5e55000f"]
    shown = cardbox("session", "path", "s-1", env=shared()).stdout.splitlines()
    assert [line.endswith("(head)") for line in shown] == [False] * 19 + [True], shown
    leaves = cardbox("session", "leaves", "s-1", env=shared()).stdout.splitlines()
    assert leaves[0].split() == ["depth", "entry", "role"] and leaves[2].endswith("(head)"), leaves
    first = cardbox("session", "leaves", "--limit", "1", "s-1", env=shared())
    assert SIDE in first.stdout and first.stderr.startswith("further ones: --cursor ")
    assert ids("leaves", "--limit", "1", "--cursor", first.stderr.split()[-1], "s-1") == [HEAD]


def test_repairs_in_words():
    """A line for each kind, with how many there are."""
    failed = [{"type": "message", "id": f"f{at}", "parentId": f"f{at - 1}" if at else None,
               "timestamp": "2025-01-02T03:04:05Z",
               "message": {"role": "assistant", "content": [], "stopReason": "error"}} for at in range(3)]
    text = "".join(json.dumps(one) + "\n" for one in failed)
    cardbox("session", "import", "--session", "failed", "-", env=shared(), stdin=text)
    said = cardbox("session", "context", "failed", env=shared()).stderr
    assert said.splitlines()[1:] == ["  3 messages that ended in error or were aborted were left out", "  next: user"], said
    done = cardbox("session", "delete", "failed", env=shared())
    assert done.stdout == "session failed is deleted\n", done
    gone = cardbox("session", "delete", "failed", env=shared(), check=False)
    assert gone.returncode == 1 and gone.stderr == "cardbox session delete: session not found: failed\n", gone


def test_diff():
    sides = [(row["side"], row["entry"]["entry_id"]) for row in objects("diff", "s-1", SIDE, "5e550012")]
    assert sides[0] == ("both", FORK) and sides[1][0] == "a" and sides[-1] == ("b", "5e550012")
    table = cardbox("session", "diff", "s-1", SIDE, "5e550012", env=shared()).stdout.splitlines()
    assert table[0].split() == ["side", "depth", "entry", "role"] and len(table) == 10


def test_narrow_terminals():
    """Beside UUIDs: what one asked for is there, and the ids give way."""
    env, ids_ = store(), {name: f"0192{name:0>4}-0000-7000-8000-{name:0>12}" for name in ("1", "2", "3", "4")}
    lines = [entry(ids_[name], ids_.get(parent), content=f"what is said in number {name}")
             for name, parent in (("1", None), ("2", "1"), ("3", "1"))]
    lines.append(entry(ids_["4"], ids_["3"], "assistant", content="I look",
                       toolCalls=[{"id": "c", "name": "read", "params": {}}]))
    cardbox("session", "import", "--session", "wide", write(lines), env=env)
    cardbox("session", "label", "wide", ids_["2"], "good", env=env)
    for columns in (60, 80):
        for words, shown in ((["labels", "wide"], "[good]"), (["branch-points", "wide"], "2 children"),
                             (["leaves", "wide"], "(head)"), (["path", "wide", ids_["4"]], "-> read"),
                             (["diff", "wide", ids_["2"], ids_["4"]], "what is said")):
            text = on_terminal("session", *words, columns=columns, env={**env, "NO_COLOR": "1"})
            assert shown in text and "depth" not in text, (columns, text)
            assert all(len(line) <= columns for line in text.splitlines()), (columns, text)
    assert ids_["2"] in on_terminal("session", "labels", "wide", columns=120, env=env)


def test_calls_of_one_tool_are_counted():
    def calls(name, *tools):
        blocks = [{"type": "toolCall", "id": f"{name}{i}", "name": tool, "arguments": {}} for i, tool in enumerate(tools)]
        return json.dumps({"type": "message", "id": name, "message": {"role": "assistant", "content": blocks}})
    env, said = store(), "said " * 30
    lines = [json.dumps({"type": "message", "id": "u", "message": {"role": "user", "content": said}}),
             calls("many", *["edit"] * 12), calls("some", "read", "edit", "edit", "read"),
             calls("long", *[f"a-tool-with-a-long-name-{i}" for i in range(4)])]
    cardbox("session", "append", "--create", "pi", "calls", stdin="\n".join(lines), env=env)
    path = cardbox("session", "path", "calls", env=env).stdout.splitlines()
    assert path[2].endswith(" -> edit x12") and path[3].endswith(" -> read, edit x2, read"), path
    drawn = on_terminal("session", "path", "calls", columns=60, env={**env, "NO_COLOR": "1"}).splitlines()
    assert all(len(line) <= 60 for line in drawn) and drawn[1].count("said") == 8, drawn


def test_beginnings_of_ids():
    """And what tables leave of an id on a narrow terminal."""
    env = store()
    first, second, third = (f"0192{part}-0000-7000-8000-00000000abcd" for part in ("aaaa", "aabb", "cccc"))
    lines = [entry(first, None, content="x"), entry(second, first, content="y"), entry(third, second, content="z")]
    cardbox("session", "import", "--session", "wide", write(lines), env=env)
    assert ids("path", "wide", "0192aab", env=env) == [first, second]
    assert ids("children", "wide", "0192aabb…", env=env) == [third]
    assert objects("head", "wide", "0192aab…00abcd", env=env)[0]["head_entry_id"] == second
    cardbox("session", "label", "wide", "0192aabb", "good", env=env)
    assert ids("labels", "wide", env=env) == [second]
    assert objects("fork", "wide", "0192c", env=env)[0]["entries"] == 3
    assert [row["entry"]["entry_id"] for row in objects("diff", "wide", "0192aabb", "0192cccc", env=env)] == [second, third]
    assert objects("context", "wide", "0192aaaa", "--compare", "0192cccc", env=env)[0]["b"]["entry_id"] == third
    exported = cardbox("session", "export", "--entry", "0192aabb", "wide", env=env).stdout.splitlines()
    assert json.loads(exported[-1])["id"] == second
    for given, said in (("0192", "3 entries of session wide begin with 0192: "), ("0192aa…abcd", "2 entries of session wide begin ")):
        done = cardbox("session", "path", "wide", given, env=env, check=False)
        assert done.returncode == 1 and said in done.stderr, done
    for given, rest in (("019", ": give at least 4 characters of the id"), ("aab", ""), ("0192aabb…x", ""), ("aabb", "")):
        done = cardbox("session", "path", "wide", given, env=env, check=False)
        assert done.returncode == 1 and f"session wide has no entry {given}{rest}\n" in done.stderr, done


def test_entries_that_are_not_there():
    for words, missing in ((["children", "s-1", "zz"], "zz"), (["diff", "s-1", "nope", SIDE], "nope"),
                           (["diff", "s-1", SIDE, "nix"], "nix"), (["path", "s-1", "zz"], "zz")):
        done = cardbox("session", *words, env=shared(), check=False)
        assert done.returncode == 1 and done.stdout == "" and f"has no entry {missing}" in done.stderr, done
    for words in (["children", "s-9"], ["leaves", "s-9"], ["labels", "s-9"]):
        done = cardbox("session", *words, env=shared(), check=False)
        assert done.returncode == 1 and "session not found: s-9" in done.stderr, done
    done = cardbox("session", "children", "s-1", HEAD, env=shared())
    assert done.stdout == "" and done.stderr == "there are no children\n"


def test_context():
    done = cardbox("session", "context", "s-1", env=shared())
    roles = [message["role"] for message in json.loads(done.stdout)]
    assert roles[:2] == ["user", "assistant"] and len(roles) == 15
    assert "model anthropic/claude-sonnet-4-5, thinking low; messages: 15" in done.stderr
    assert "\n  1 result was added for a call without one: entry 5e550013, call call_6\n" in done.stderr, done.stderr
    whole, = objects("context", "s-1", SIDE, "--format", "anthropic")
    dropped, = whole["report"]["repairs"]
    assert 0 < dropped.pop("message") <= len(whole["messages"]) and dropped == {"repair": "dropped_message", "entry": "5e55000e"}
    done = cardbox("session", "context", "s-1", "--format", "anthropic", env=shared())
    count = len(json.loads(done.stdout)["messages"] if done.stdout.startswith("{") else json.loads(done.stdout))
    assert count < 15 and f"; messages: {count} (15 before messages of one role were merged" in done.stderr, done
    raw, = objects("context", "s-1", SIDE, "--no-repair")
    assert len(raw["messages"]) == whole["report"]["messages_before"]
    assert objects("context", "s-1", SIDE, "--compare", HEAD)[0]["shared"] == 7
    said = cardbox("session", "context", "s-1", HEAD, "--compare", HEAD, env=shared()).stdout
    assert said == "the contexts are the same: 15 messages\n"
    assert cardbox("session", "context", "--format", "xml", "s-1", env=shared(), check=False).returncode == 2


def test_plain_sessions_of_the_document():
    """The document's context, with a system text beside it; and times that are numbers, also of labels."""
    env = store()
    lines = [{"type": "system", "content": "be good"}, {"id": "u", "type": "user", "content": "go"}]
    cardbox("session", "append", "--create", "plain", "d-1", stdin="\n".join(map(json.dumps, lines)), env=env)
    done = cardbox("session", "context", "d-1", "--format", "messages", env=env)
    start = json.loads(cardbox("session", "export", "d-1", env=env).stdout.split("\n")[0])["timestamp"]
    metadata = {"sessionId": "d-1", "provider": "unknown", "model": "unknown", "startTime": start}
    assert type(start) is int and json.loads(done.stdout) == {
        "metadata": metadata, "system": [{"type": "text", "text": "be good"}], "messages": [{"role": "user", "content": "go"}]}, done
    assert "; messages: 1 (2 before system texts were separated)" in done.stderr, done.stderr
    whole, = objects("context", "d-1", "--format", "messages", env=env)
    assert whole["report"]["metadata"] == metadata and "metadata" not in whole
    cardbox("session", "label", "d-1", "u", "here", env=env)
    label = json.loads(cardbox("session", "export", "d-1", env=env).stdout.strip().split("\n")[-1])
    assert label["type"] == "label" and type(label["timestamp"]) is int, label


def test_head_label_fork():
    env = store()
    assert cardbox("session", "head", "s-1", env=env).stdout.endswith(f"head {HEAD}\n")
    assert objects("head", "s-1", SIDE, env=env)[0]["head_entry_id"] == SIDE
    done = cardbox("session", "head", "s-1", FORK, "--expected", HEAD, env=env, check=False)
    assert done.returncode == 1 and objects("head", "s-1", env=env)[0]["head_entry_id"] == SIDE
    assert cardbox("session", "head", "s-1", "--expected", HEAD, env=env, check=False).returncode == 2
    cardbox("session", "label", "s-1", SIDE, 'it "learnt"', env=env)
    row = next(row for row in objects("labels", "s-1", env=env) if row["entry_id"] == SIDE)
    assert row["label"] == 'it "learnt"'
    tree = objects("tree", "s-1", env=env)
    assert tree[-1]["type"] == "label" and tree[-1]["parent_id"] == SIDE
    cardbox("session", "label", "s-1", SIDE, env=env)
    assert SIDE not in ids("labels", "s-1", env=env)
    assert objects("fork", "s-1", FORK, "--new-id", "s-2", env=env) == [{"session_id": "s-2", "entries": 10}]
    assert ids("leaves", "s-2", env=env) == [FORK]
    done = cardbox("session", "fork", "s-1", "--new-id", "s-2", env=env, check=False)
    assert done.returncode == 1 and "exists" in done.stderr, done


def test_append():
    env = store()

    def said(entry_id, parent, content):
        return entry(entry_id, parent, type="message", message={"role": "user", "content": content})

    one = json.dumps(said("n1", HEAD, "more"))
    first = objects("append", "--key", "k", "s-1", write([one.encode() + b"\n\n"]), env=env)
    again = cardbox("session", "append", "--key", "k", "s-1", "--json", stdin=one, env=env).stdout
    put = first[0]["entries"][0]
    assert put == {"entry_id": "n1", "outcome": "appended", "line": 26}, put
    assert json.loads(again) == {**first[0], "entries": [{**put, "outcome": "unchanged"}]}, again
    for line, say in ((said("n2", "nix", "x"), "nix"), (said("n1", HEAD, "other"), "n1"),
                      (entry("n2", "n1", content="plain"), "dialect")):
        done = cardbox("session", "append", "s-1", stdin=json.dumps(line), env=env, check=False)
        assert done.returncode == 1 and say in done.stderr, done
    done = cardbox("session", "append", "s-1", stdin="no JSON", env=env, check=False)
    assert done.returncode == 1 and done.stderr.startswith("cardbox session append: "), done
    done = cardbox("session", "append", "nix", stdin=one, env=env, check=False)
    assert done.returncode == 1 and "session nix not found: --create pi or" in done.stderr, done
    assert cardbox("session", "append", "--create", "xml", "x", stdin=one, env=env, check=False).returncode == 2


def test_add_messages():
    env = store()
    user = '{"role":"user", "content":"q"}'
    calls = json.dumps({"role": "assistant", "content": None, "tool_calls": [
        {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": "{}"}}]})
    done = cardbox("session", "add", "chat", "--key", "turn", stdin=user, env=env)
    leaf = objects("head", "chat", env=env)[0]["head_entry_id"]
    assert done.stdout == f"session chat   version 2   1 message added   next model   last {leaf}\n", done
    assert cardbox("session", "add", "chat", "--key", "turn", "-", stdin=f"[{user}]", env=env).stdout == done.stdout
    path = write([calls.encode() + b"\n\n", json.dumps({"role": "tool", "tool_call_id": "functions.f:0", "content": "r"}).encode() + b"\n"], "lines")
    answer = json.loads(cardbox("session", "add", "--format", "openai", "--model", "m", "--json", "chat", path, env=env).stdout)
    assert (answer["version"], len(answer["ids"]), answer["next"], answer["open_calls"]) == (3, 2, "model", []), answer
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "usage": {"input_tokens": 1},
             "content": [{"type": "tool_use", "id": "t", "name": "g", "input": {"n": 1}}]}
    done = cardbox("session", "add", "--format", "anthropic", "--json", "chat", stdin=json.dumps(whole, indent=1), env=env)
    calls_left = json.loads(done.stdout)["open_calls"]
    assert [(call["id"], call["name"], call["arguments"]) for call in calls_left] == [("t", "g", {"n": 1})], done
    output = json.dumps({"type": "function_call_output", "call_id": "t", "output": "r"})
    assert "   next model   " in cardbox("session", "add", "--format", "responses", "chat", stdin=output, env=env).stdout
    lines = cardbox("session", "context", "--format", "openai", "--json", "chat", env=env).stdout
    assert user in lines and calls in lines, lines
    for given, options, said in (("{}", [], "needs a role"), (f"[{user}, 1]", [], "messages[1]: a message is an object"),
                                 (f"{user}\n\nno JSON", [], "line 3 is not JSON: "), ("", [], "must not be empty"),
                                 (calls, ["--key", "turn"], "key"), (user, ["--expected-version", "1"], "version 5"),
                                 (user, ["--parent", "nix"], "nix"), (user, ["--model", "m"], "there is none")):
        done = cardbox("session", "add", "chat", *options, stdin=given, env=env, check=False)
        assert done.returncode == 1 and done.stderr.startswith("cardbox session add: ") and said in done.stderr, (said, done)
    assert cardbox("session", "add", "--format", "xml", "chat", stdin=user, env=env, check=False).returncode == 2


def test_messages_of_apis_for_people():
    """What the loop does next, previews in the tree, and the report of a context in another format."""
    env = store()
    answer = [{"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "secret"},
              *({"type": "function_call", "id": f"fc{n}", "call_id": f"c{n}", "name": name, "arguments": "{}"}
                for n, name in enumerate(("clock", "clock", "read")))]
    cardbox("session", "add", "said", "--format", "responses", stdin='{"role": "user", "content": "What time is it?"}', env=env)
    done = cardbox("session", "add", "said", "--format", "responses", stdin=json.dumps(answer), env=env)
    assert "   next tools: clock, clock, read   last " in done.stdout, done
    done = cardbox("session", "context", "said", "--format", "responses", env=env)
    assert done.stderr.endswith("  next: tools: clock, clock, read\n") and json.loads(done.stdout)[1:] == answer, done
    done = cardbox("session", "context", "said", "--format", "anthropic", env=env)
    assert re.search(r"\n  not in this format: reasoning, first in entry \S+\n", done.stderr), done.stderr
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"result {n}"} for n in range(3)]
    last = {"role": "assistant", "content": None, "refusal": "I can't.", "tool_calls": []}
    done = cardbox("session", "add", "said", stdin=json.dumps([*results, last]), env=env)
    assert "   next user   last " in done.stdout, done
    done = cardbox("session", "context", "said", env=env)
    assert "  1 answer without content got an empty text: entry " in done.stderr and "  next: user\n" in done.stderr, done
    drawn = cardbox("session", "tree", "said", env=env).stdout
    for role, text in (("user", "What time is it?"), ("assistant", "-> clock"), ("result", "result 2"), ("assistant", "I can't.")):
        assert re.search(rf"(?m)^.*\b{role}\b.*{re.escape(text)}", drawn), (text, drawn)


def test_append_says_the_ids_it_gives():
    env = store()
    two = '{"type":"user","content":"one"}\n\n{"type":"user","content":"two"}\n'
    done = cardbox("session", "append", "--create", "plain", "new", stdin=two, env=env)
    head = objects("head", "new", env=env)[0]["head_entry_id"]
    assert done.stdout == f"session new   version 2   2 entries appended   last {head}\n", done
    answer = json.loads(cardbox("session", "append", "--json", "new", stdin=two, env=env).stdout)
    assert [one["outcome"] for one in answer["entries"]] == ["appended"] * 2 and answer["version"] == 3
    assert [one["entry_id"] for one in answer["entries"]] == ids("path", "new", "--from", "2", env=env)
    done = cardbox("session", "append", "new", stdin="\n", env=env)
    assert done.stdout == "session new   version 3   nothing appended: the input is empty\n", done


def test_append_refuses_in_the_words_of_the_caller():
    env = store()
    for given, options, said in (
            ('\n{"id":"a","type":"user","content":"x"}\n{"type":"user","content":"x"}', ["--key", "k"],
             "cardbox session append: line 3: with a key an entry needs an id of its own: "),
            ('{"type":"message","message":{"role":"user","content":"x"}}\n\n{"type":"session"}', [], "append: line 3: "),
            ('{"type":"message","parentId":"nix","message":{"role":"user","content":"x"}}', [], "append: line 1 has the unknown parent nix"),
            ('{"id":"r","type":"message","message":{"role":"usr","content":"x"}}', [],
             'toolResult, bashExecution and custom, not "usr"\n'),
            ('{"type":"user","content":"x"}', [],
             "append: line 1: an entry of type user is of the dialect plain, the session is of another one\n"),
            ('\n{"type":"label","targetId":"5e550001","label":"x"}\n\n{"type":"user","content":"x"}', [],
             "append: line 4: an entry of type user is of the dialect plain, the session is of another one\n")):
        done = cardbox("session", "append", *options, "s-1", stdin=given, env=env, check=False)
        assert done.returncode == 1 and said in done.stderr, done


def test_append_that_is_refused_makes_no_session():
    env = store()
    two = '{"type":"user","content":"x"}\n{"type":"branch_summary","summary":"x"}'
    no_parent = '{"type":"user","content":"x","parentId":"nix"}'
    for given, said in ((two, "append: line 2: an entry of type branch_summary is of the dialect pi, "
                              "the session or the entries before it are of plain\n"),
                        (no_parent, "append: line 1 has the unknown parent nix")):
        done = cardbox("session", "append", "--create", "plain", "unborn", stdin=given, env=env, check=False)
        assert done.returncode == 1 and said in done.stderr, done
        assert cardbox("session", "show", "unborn", env=env, check=False).returncode == 1
    assert "1 entry appended" in cardbox("session", "append", "--create", "plain", "unborn",
                                         stdin=two.splitlines()[0], env=env).stdout


def test_cut_contexts():
    env = store()
    lines = "\n".join(json.dumps({"id": f"e{i}", "type": "user", "content": f"text {i}"}) for i in range(5))
    cardbox("session", "append", "--create", "plain", "cut", stdin=lines, env=env)
    done = cardbox("session", "context", "--limit", "2", "cut", env=env)
    assert [one["content"] for one in json.loads(done.stdout)] == ["text 3", "text 4"] and "omitted 3" in done.stderr, done
    report = json.loads(cardbox("session", "context", "--token-budget", "30", "--json", "cut", env=env).stdout)["report"]
    assert report["omitted_messages"] > 0 and report["token_estimate"]["tokens"] <= 30
    done = cardbox("session", "context", "--token-budget", "1", "cut", env=env, check=False)
    assert done.returncode == 1 and "do not fit" in done.stderr, done
    assert cardbox("session", "context", "--limit", "0", "cut", env=env, check=False).returncode == 2


def test_append_says_what_was_there():
    env = store()
    two = '{"id":"a","type":"user","content":"x"}\n{"id":"b","type":"usr","content":"x"}\n'
    done = cardbox("session", "append", "--create", "plain", "seen", stdin=two, env=env)
    assert done.stdout == "session seen   version 2   2 entries appended   last b\n", done
    assert not done.stderr, done
    done = cardbox("session", "append", "seen", stdin=two.splitlines()[0] + '\n{"id":"c","type":"user","content":"x"}', env=env)
    assert "version 3   1 entry appended, 1 unchanged   last c\n" in done.stdout and not done.stderr, done


def test_tree_shows_what_entries_of_unknown_types_say():
    env = store()
    line = '{"id":"a","type":"usr","parentId":null,"content":"x","n":{"m": [1]}}'
    cardbox("session", "append", "--create", "plain", "odd", stdin=line, env=env)
    assert cardbox("session", "tree", "odd", env=env).stdout.splitlines()[1] == 'o usr        content: x, n: {"m":[1]}  (head)'


def test_what_is_not_there_is_named():
    env = store()
    for words, said in ((("head", "s-1", "nope"), "session s-1 has no entry nope"),
                        (("fork", "s-1", "nope"), "session s-1 has no entry nope"),
                        (("path", "s-1", "nope"), "session s-1 has no entry nope"),
                        (("diff", "s-1", "nope", FORK), "session s-1 has no entry nope"),
                        (("context", "s-1", "nope"), "session s-1 has no entry nope"),
                        (("label", "s-1", "nope", "x"), "session s-1 has no entry nope"),
                        (("label", "nosuch", "nope", "x"), "session not found: nosuch"),
                        (("fork", "--new-id", "s-1", "s-1"), "session s-1 exists: it is at version"),
                        (("fork", "--session", "s-1", "s-1"), "session s-1 exists: it is at version")):
        done = cardbox("session", *words, env=env, check=False)
        assert done.returncode == 1 and said in done.stderr, (words, done)


def test_append_up_to_the_limit():
    env = store()
    lines = ['{"type":"user","content":"x"}'] * 1001
    done = cardbox("session", "append", "--create", "plain", "many", stdin="\n".join(lines), env=env, check=False)
    assert done.returncode == 1 and "has over 1000 entries" in done.stderr, done
    done = cardbox("session", "append", "--create", "plain", "many", stdin="\n".join(lines[1:]), env=env)
    assert "1,000 entries appended" in done.stdout, done


def test_export():
    env = shared()
    with open(SAMPLE, "rb") as file:
        sample = file.read().splitlines(keepends=True)
    whole = cardbox("session", "export", "s-1", env=env, binary=True).stdout.splitlines(keepends=True)
    assert json.loads(whole[0])["id"] == "s-1" and whole[1:] == sample[1:]
    path = os.path.join(temp_dir(), "branch.jsonl")
    said = cardbox("session", "export", "--entry", FORK, "s-1", path, env=env).stdout
    assert said.startswith(f"session s-1 in {path}, ")
    with open(path, "rb") as file:
        assert file.read().splitlines(keepends=True)[1:] == sample[1:11]
    assert cardbox("session", "export", "nix", path, env=env, check=False).returncode == 1
    assert os.path.exists(path)  # what is there stays


def imported(path, *options, env, check=True):
    done = cardbox("session", "import", "--json", *options, path, env=env, check=check)
    return json.loads(done.stdout)


def exported(session, env):
    return cardbox("session", "export", session, env=env, binary=True).stdout


def test_import():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    text = cardbox("session", "import", SAMPLE, env=env).stdout
    assert text.startswith("session demo-session: 25 entries appended\n") and "  leaves         2\n" in text, text
    again = cardbox("session", "import", SAMPLE, env=env).stdout
    assert again.startswith("session demo-session: nothing new")
    with open(SAMPLE, "rb") as file:
        sample = file.read()
    assert exported("demo-session", env) == sample
    assert imported(write(PLAIN, "talk.of.jsonl"), env=env)["session_id"] == "talk.of"
    assert imported(write(PLAIN), "--session", "p", env=env)["appended"] == 6
    assert imported(write([*PLAIN, entry("u9", "u3", content="x")]), "--session", "p", env=env)["appended"] == 1
    done = cardbox("session", "import", stdin=json.dumps(PLAIN[0]), env=env, check=False)
    assert done.returncode == 1 and "give the id of a session" in done.stderr, done
    assert cardbox("session", "import", "/nowhere", env=env, check=False).returncode == 1
    said = cardbox("session", "import", "--session", "none", stdin="", env=env).stdout
    assert said.startswith("session none: the file is empty\n")
    done = cardbox("import", SAMPLE, env=env, check=False)
    assert done.returncode == 1 and "`cardbox session import`" in done.stderr


def test_import_shows_how_far_it_is():
    """Of a file, whose size is known, also where the session's id is given."""
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    for words in ([], ["--session", "named"]):
        assert "] 100 %" in on_terminal("session", "import", *words, write(PLAIN), env=env), words


def test_import_of_what_is_wrong():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    path = write([b"\xef\xbb\xbf", *PLAIN[:2], b"no JSON\r\n", b"\n", entry("x", "nix", content="\u0000"),
                  entry("u1", None, content="other"), b'{"torn": '])
    done = cardbox("session", "import", "--session", "w", path, env=env, check=False)
    assert done.returncode == 1 and "3 entries appended" in done.stdout and not done.stderr, done
    report = imported(path, "--session", "w", env=env, check=False)
    assert report["appended"] == 0 and report["changed"] is False
    report = imported(path, "--session", "again", env=env, check=False)
    assert {issue["kind"] for issue in report["issues"]} >= {"bad", "torn", "conflict"}
    with open(path, "rb") as file:
        assert exported("w", env) == file.read()


def test_import_of_no_session():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    junk = bytes(byte for byte in range(256)) * 1000
    prose = b"# A page\n\nof prose\n" * 10000
    project = [{"kind": "card", "created_at": "2026-01-02T03:04:05Z"}] * 3
    for number, (lines, why) in enumerate((([junk], "line 1: "), ([prose], "(line 1: "), ([b"[]\n"], "no JSON object"),
                                           ([{"a": 1}], "no type and no id"),
                                           (project, "`cardbox import`"), ([b"\n\n{\n", b'  "type": 1\n}'], "(line 3: "),
                                           ([prose, PLAIN[0]], "lines have no entry"))):
        path, name = write(lines), f"none-{number}"
        done = cardbox("session", "import", "--session", name, path, env=env, check=False)
        assert done.returncode == 1 and why in done.stderr and "with force, its lines are stored" in done.stderr, done
        assert not done.stdout and done.stderr.count("\n") == 1, done
        with open(path, "rb") as file:
            same = cardbox("session", "import", "--session", name, env=env, check=False, stdin=file.read(), binary=True)
        assert (same.returncode, same.stdout) == (1, b"") and b"the file is no session" in same.stderr, same
        assert cardbox("session", "export", name, env=env, check=False).returncode == 1
        report = imported(path, "--force", "--session", name, env=env, check=False)
        assert report["appended"] == (number == 6) and report["bad"] > 0, report
        with open(path, "rb") as file:
            assert exported(name, env) == file.read()


FOREIGN = {
    "messages of a model's API; `cardbox session add` and POST .../messages append them": (
        [{"role": "user", "content": "Start"}],
        [{"id": "m", "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Start"}]}]),
    "messages of a model's API; import the array of each line as a file of its own": (
        [{"messages": [{"role": "user", "content": "Start"}]}],),
    "a file of another program": ([{"type": "turn", "text": "Start"}], [{"type": "user", "text": "Start"}]),
}


def test_import_of_files_of_other_programs():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    number = 0
    for what, files in FOREIGN.items():
        for lines in files:
            number += 1
            path, name = write([*lines, PLAIN[0]], f"foreign-{number}.jsonl"), f"foreign-{number}"
            with open(path, "rb") as file:
                data = file.read()
            for done in (cardbox("session", "import", path, env=env, check=False),
                         cardbox("session", "import", env=env, check=False, stdin=data.decode())):
                assert done.returncode == 1 and f"is no session: from line" in done.stderr and f"it looks like {what}; with force" in done.stderr, done
                assert not done.stdout and done.stderr.count("\n") == 1, done
            assert cardbox("session", "export", name, env=env, check=False).returncode == 1
            imported(path, "--force", env=env, check=False)
            assert exported(name, env) == data
    own = json.dumps({"id": "o", "type": "turn", "sessionId": "s"})
    cardbox("session", "append", "--create", "plain", "own", env=env, stdin=own)
    assert imported(write([exported("own", env)]), "--session", "moved", env=env)["entries"] == 1
    behind_a_header = write([{"type": "session", "id": "named"}, *FOREIGN["a file of another program"][0]])
    assert imported(behind_a_header, env=env)["not_in_context"] == 1
    done = cardbox("session", "import", behind_a_header, env=env)
    assert "no line of the file is a message: contexts have nothing of it\n" in done.stderr, done
    own = [{"type": "user", "content": "hi", "uuid": "u", "sessionId": "s"}, *FOREIGN["a file of another program"][0]]
    assert imported(write(own), env=env)["entries"] == 2


def test_import_says_what_it_took_a_file_for():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "programs"}
    hi = {"role": "user", "content": "Hi"}
    node = {"id": "a", "parent": None, "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}}
    chats = [{"title": "One", "conversation_id": f"chat-{n}", "current_node": "a", "mapping": {"a": node}} for n in range(2)]
    for number, (what, data) in enumerate((
            ("a session of CardBox", json_lines({"type": "user", "content": "Hi"})),
            ("a session of pi", json_lines({"type": "session", "id": "s"}, {"type": "message", "id": "a", "parentId": None, "message": hi})),
            ("a transcript of Claude Code", json_lines({"type": "file-history-snapshot", "isSnapshotUpdate": False},
                                                       {"type": "user", "uuid": "u1", "parentUuid": None, "message": hi})),
            ("a rollout of codex", json_lines({"timestamp": "2026-01-02T03:04:05.000Z", "type": "session_meta", "payload": {"id": "1"}})),
            ("messages of the format openai", json.dumps([hi], indent=1).encode()))):
        done = cardbox("session", "import", "--session", f"p-{number}", write([data], f"p-{number}.json"), env=env)
        assert re.search(f"  file +{what}\n", done.stdout), done
        if what.startswith("a "):
            assert exported(f"p-{number}", env) == data
    path = write([json.dumps(chats, indent=1).encode()], "conversations.json")
    done = cardbox("session", "import", path, env=env)
    for n in range(2):
        assert f"session chat-{n}: 2 entries appended\n" in done.stdout, done
    assert done.stdout.count(" a conversation of ChatGPT\n") == 2, done
    done = cardbox("session", "import", "--session", "x", path, env=env, check=False)
    assert done.returncode == 1 and "without --session" in done.stderr, done
    done = cardbox("session", "import", write([b"[1, 2]"], "numbers.json"), env=env, check=False)
    assert done.returncode == 1 and "Accepted are JSON Lines of plain" in done.stderr, done
    one = write([json.dumps(chats[0]).encode()], "one.json")  # with its own id, or the one that is given
    assert "session chat-0: nothing new" in cardbox("session", "import", one, env=env).stdout
    assert "session mine: 2 entries appended" in cardbox("session", "import", "--session", "mine", one, env=env).stdout


def test_formats_of_files():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "formats"}
    texts = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    path = write([json.dumps(texts).encode()], "texts.json")
    for form in ("openai", "responses", "anthropic"):
        assert f" of the format {form}\n" in cardbox("session", "import", "--session", form, "--format", form, path, env=env).stdout
        done = cardbox("session", "export", "--format", form, form, env=env)
        assert json.loads(done.stdout) == texts, done
    done = cardbox("session", "import", "--format", "openai", write(PLAIN), env=env, check=False)
    assert done.returncode == 1 and "format is for a JSON array of messages" in done.stderr, done
    for words in (["import", "--format", "xml", path], ["export", "--format", "entries", "openai"]):
        assert cardbox("session", *words, env=env, check=False).returncode == 2
    asked = write([json.dumps({"system": "Be brief", "messages": texts}).encode()], "asked.json")
    cardbox("session", "import", "--format", "anthropic", asked, env=env)
    target = os.path.join(temp_dir(), "out.json")
    said = cardbox("session", "export", "--format", "anthropic", "asked", target, env=env).stdout
    with open(target, encoding="utf-8") as file:
        assert json.load(file) == {"system": "Be brief", "messages": texts} and f" {os.path.getsize(target)} bytes" in said, said
    assert json.loads(cardbox("session", "export", "--format", "responses", "asked", env=env).stdout)["instructions"] == "Be brief"
    first = ids("path", "openai", env=env)[0]
    assert json.loads(cardbox("session", "export", "--format", "openai", "--entry", first, "openai", env=env).stdout) == texts[:1]
    done = cardbox("session", "export", "--format", "openai", "nix", target, env=env, check=False)
    assert done.returncode == 1 and "not found" in done.stderr, done


def test_restore():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "restored"}
    path = write([{"type": "session", "id": "s"}, b'{"id":"a","type":"label","targetId":"a"}\n'])
    entry = json.dumps({"type": "user", "content": "late"})
    with open(path, encoding="utf-8") as file:
        late_header = "no JSON\n" + file.read()
    for words in (["append", "--create", "plain", "s"], ["import", path], ["import", "--session", "s", path], ["import"]):
        cardbox("session", "append", "--create", "plain", "s", "--restore", env=env, stdin=entry)
        cardbox("session", "delete", "s", env=env)
        data = entry if words[0] == "append" else late_header if words == ["import"] else None
        done = cardbox("session", *words, env=env, check=False, stdin=data)
        assert done.returncode == 1 and "session s was deleted: use another id, or set restore" in done.stderr, done
        assert done.stderr.count("\n") == 1, done
        for entries in (1, 2 if data == entry else 1):
            done = cardbox("session", *words, "--restore", env=env, check=False, stdin=data)
            assert done.returncode == (data == late_header), done  # its first line is reported
            assert objects("show", "s", env=env)[0]["entries"] == entries
        cardbox("session", "delete", "s", env=env)
    assert cardbox("session", "append", "--restore", "s", env=env, check=False, stdin=entry).returncode == 2


def test_import_counts_a_header_once():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    with open(SAMPLE, "rb") as file:
        lines = file.readlines()
    text = cardbox("session", "import", "--session", "s", write(lines), env=env).stdout
    assert "  headers " in text and "  kept " not in text, text
    text = cardbox("session", "import", "--session", "s", write([*lines, b"no JSON\n"]), env=env, check=False).stdout
    assert "  headers " in text and "  kept " in text, text


def test_import_of_what_may_be_a_session():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    long = entry("long", None, content="x" * 100_000)
    for number, lines in enumerate(([b'{"id": "a", "ty'], [b"\0" * 100_000], [b" \n"], [b"\xef\xbb\xbf", long],
                                    [b"\0\0", long], [b"junk\n", PLAIN[0]], [b"x\n", {"a": 1}, {"type": "session"}])):
        path, name = write(lines), f"some-{number}"
        report = imported(path, "--session", name, env=env, check=False)
        assert report["entries"] == (number in (3, 4, 5)), report
        with open(path, "rb") as file:
            assert exported(name, env) == file.read()


def test_import_of_another_session():
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    pi = [{"type": "session", "id": name} for name in ("own", "other")]
    own, other, plain = (write([*header, entry(name, None, "custom" if header else "user", content=name)], name)
                         for header, name in ((pi[:1], "e1"), (pi[1:], "e2"), ([], "e3")))
    imported(own, "--session", "s", env=env)
    before = exported("s", env)
    for path, why in ((other, "header has another id"), (plain, "dialect is pi")):
        done = cardbox("session", "import", "--session", "s", path, env=env, check=False)
        assert done.returncode == 1 and why in done.stderr and not done.stdout, done
        assert exported("s", env) == before
    forced = cardbox("session", "import", "--force", "--session", "s", "--json", other, env=env, check=False)
    assert json.loads(forced.stdout)["appended"] == 1, forced
    assert exported("s", env) != before


def test_import_of_the_real_file():
    path = shared_file("data", "pi", "large-session.jsonl")
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    report = imported(path, "--session", "real", env=env)
    assert (report["lines"], report["entries"], report["appended"], report["issues"]) == (1019, 1018, 1018, [])
    with open(path, "rb") as file:
        assert exported("real", env) == file.read()
    again = imported(path, "--session", "real", env=env)
    assert (again["appended"], again["changed"]) == (0, False)
    drawn = cardbox("session", "tree", "real", env=env).stdout.splitlines()
    assert drawn[0] == "real   1,018 entries   1 leaf" and drawn[3] == ": 1,014 more (--all shows them)"
    whole, = objects("context", "real", env=env)
    assert whole["report"]["model"] == "claude-sonnet-4-5" and whole["report"]["thinking_level"] == "off"


def test_what_is_not_there():
    for words in (["tree"], ["show"], ["path"], ["leaves"], ["children"], ["context"], ["head"], ["export"], ["fork"]):
        done = cardbox("session", *words, "nix", env=shared(), check=False)
        assert done.returncode == 1 and done.stdout == "" and "not found" in done.stderr, done
    done = cardbox("session", "context", "s-1", "nix", env=shared(), check=False)
    assert done.returncode == 1 and "nix" in done.stderr


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Sessions as the source document has them: its types of entries and contexts, the orders of its functions, line numbers.

The document's functions stand here in Python, and their results are compared.
"""

import json
import os
import random
import sys
import time

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, server
from cardbox_test import session_url as url

TREES = 4 if LIGHT else 12


def ask(method, path, body=None, status=200):
    data = None if body is None else json.dumps(body)
    answer = server().request(method, path, data, {"Content-Type": "application/json"})
    assert answer.status == status, (method, path, body, answer)
    return answer.json()


def get(path, status=200):
    return ask("GET", path, None, status)


def make(session, *entries, dialect="plain"):
    ask("PUT", url(session), {"dialect": dialect})
    return append(session, *entries) if entries else None


def append(session, *entries):
    return ask("POST", url(session, "entries"), {"entries": list(entries)})["entries"]


def import_lines(session, text):
    answer = server().request("POST", url(session, "import"), text, {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200, answer
    return answer.json()


def stored(session):
    """The lines of the session's export, as objects."""
    return [json.loads(line) for line in server().get(url(session, "export")).body.decode().split("\n") if line.strip()]


def pages(path, limit, member="entries"):
    found, cursor = [], ""
    while cursor is not None:
        page = get(f"{path}?limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
        found += page[member]
        cursor = page["next_cursor"]
        assert cursor is None or len(page[member]) == limit, page
    return found


# --- the document's SessionBranch and buildContext ---


class Branch:
    def __init__(self, entries):
        self.entries, self.children = {}, {}
        for entry in entries:
            self.entries[entry["id"]] = entry
            if entry.get("parentId"):
                self.children.setdefault(entry["parentId"], []).append(entry["id"])

    def path(self, entry):
        way = []
        while entry and entry in self.entries:
            way.insert(0, self.entries[entry])
            entry = way[0].get("parentId")
        return way

    def branch_points(self):
        return [parent for parent, children in self.children.items() if len(children) > 1 and parent in self.entries]

    def leaves(self):
        return [entry for entry in self.entries if not self.children.get(entry)]


def build_context(session, entries, leaf):
    path, messages = Branch(entries).path(leaf), []
    for entry in path:
        if entry["type"] == "user":
            messages.append({"role": "user", "content": entry["content"]})
        elif entry["type"] == "assistant":
            calls = {"toolCalls": entry["toolCalls"]} if "toolCalls" in entry else {}
            messages.append({"role": "assistant", "content": entry["content"], **calls})
        elif entry["type"] == "tool_result":
            messages.append({"role": "tool", "content": entry["output"], "toolCallId": entry["toolCallId"]})
    return {"messages": messages, "metadata": {"sessionId": session, "provider": "unknown", "model": "unknown",
                                               "startTime": path[0]["timestamp"]}}


def random_tree(rng, count):
    """Conversations with whole calls, each turn after a random earlier one."""
    entries, ends = [], []

    def add(parent, kind, **more):
        identifier = f"e{len(entries)}"
        entries.append({"id": identifier, **({"parentId": parent} if parent else {}), "type": kind,
                        "timestamp": 1708300000000 + rng.randrange(1000), **more})
        return identifier

    for turn in range(count):
        parent = None if turn == 0 or rng.random() < 0.05 else rng.choice(ends[-6:])
        at = add(parent, "user", content=f"question {turn}", metadata={"source": "cli", "userId": "user-1"})
        if rng.random() < 0.5:
            call = {"id": f"call-{turn}", "name": "write", "params": {"path": "hello.ts", "n": turn}}
            at = add(at, "assistant", content="I write", toolCalls=[call], thinking="hm")
            at = add(at, "tool", name=call["name"], params=call["params"], toolCallId=call["id"])
            at = add(at, "tool_result", toolCallId=call["id"], output="written", details={"bytes": 23}, success=True)
        if rng.random() < 0.3:
            at = add(at, "metadata", note=turn)
        ends.append(add(at, "assistant", content=f"answer {turn}"))
    return entries


def test_functions_of_the_document():
    for seed in range(TREES):
        entries = random_tree(random.Random(seed), 30)
        session, branch = f"tree-{seed}", Branch(entries)
        import_lines(session, "\n".join(map(json.dumps, entries)) + "\n")
        assert stored(session) == entries
        for limit in (1, 7, 500):
            assert [one["entry_id"] for one in pages(url(session, "leaves"), limit)] == branch.leaves(), seed
            assert [one["entry_id"] for one in pages(url(session, "branch-points"), limit)] == branch.branch_points(), seed
        for leaf in branch.leaves():
            way = get(url(session, "entries", leaf, "path") + "?lines=1000")["path"]
            assert [one["entry"] for one in way] == branch.path(leaf)
            context = get(url(session, "context") + f"?format=messages&branchLeafId={leaf}")
            expected = build_context(session, entries, leaf)
            assert {name: context[name] for name in expected} == expected, (seed, leaf)


# --- entries ---


def test_what_is_filled_in():
    """Numbers of milliseconds, and no parentId of a root. What was sent stays as it was."""
    before = int(time.time() * 1000)
    make("filled", {"type": "user", "content": "a"}, {"type": "odd"}, {"type": "session_info", "name": "n"})
    lines = stored("filled")
    assert "parentId" not in lines[0] and [line["parentId"] for line in lines[1:]] == [line["id"] for line in lines[:2]]
    for line in lines:
        assert type(line["timestamp"]) is int and before <= line["timestamp"] <= time.time() * 1000, line
    for name, root in (("null", {"parentId": None}), ("none", {}), ("text", {"timestamp": "2025-01-02T03:04:05Z"}),
                       ("number", {"timestamp": 1708300000.5, "id": "n"}), ("id", {"id": "own"})):
        sent = {"type": "user", "content": "a", **root}
        make(f"sent-{name}", sent)
        line, = stored(f"sent-{name}")
        assert {member: line[member] for member in sent} == sent and ("parentId" in line) == (name == "null"), line
        assert ("timestamp" in line) == (name != "id"), line
        append(f"sent-{name}", {**sent, "id": "again"})
        append(f"sent-{name}", {**sent, "id": "again"})  # a repeated root is the same root


def test_what_pi_gets():
    """Texts, and a parentId in each entry, also where both dialects have the type."""
    make("pi", {"type": "odd"}, {"type": "message", "message": {"role": "user", "content": "a"}}, dialect="pi")
    append("pi", {"type": "session_info", "name": "n"})
    append("pi", {"type": "odd", "timestamp": 5})
    header, *lines = stored("pi")
    assert header["type"] == "session" and lines[0]["parentId"] is None
    assert [line["parentId"] for line in lines[1:]] == [line["id"] for line in lines[:-1]]
    for line in lines[:3]:
        assert line["timestamp"].endswith("Z") and line["timestamp"][:2] == "20", line
    assert lines[3]["timestamp"] == 5
    ask("PUT", url("open"), {})  # the first entry decides
    append("open", {"type": "odd"}, {"type": "message", "message": {"role": "user", "content": "a"}})
    assert [type(line["timestamp"]) for line in stored("open")] == [str, str]


def test_branches_into_one_file():
    """The document's third scenario: createBranch is an append with a parent."""
    make("branch", {"id": "msg-1", "type": "user", "content": "create"},
         {"id": "msg-2", "parentId": "msg-1", "type": "assistant", "content": "created"},
         {"id": "msg-3", "parentId": "msg-2", "type": "user", "content": "change"})
    one, = append("branch", {"type": "user", "content": "TypeScript", "parentId": "msg-2"})
    children = get(url("branch", "entries", "msg-2", "children"))["entries"]
    assert [child["entry_id"] for child in children] == ["msg-3", one["entry_id"]]
    assert [child["line"] for child in children] == [2, 3] and one["line"] == 3


# --- orders ---


def test_many_leaves():
    """Far more than a few, in and out of the order of their branches."""
    count, rng = 700, random.Random(5)
    entries = [{"id": "root", "type": "user", "content": "r"}]
    entries += [{"id": f"a{i}", "parentId": "root", "type": "user", "content": "a"} for i in range(count)]
    for i in rng.sample(range(count), 250):  # later leaves of earlier branches, and branch points of theirs
        entries += [{"id": f"b{i}", "parentId": f"a{i}", "type": "user", "content": "b"},
                    {"id": f"c{i}", "parentId": f"a{i}", "type": "user", "content": "c"}]
    for session, used in (("star", entries[:count + 1]), ("bushy", entries)):
        branch = Branch(used)
        make(session)
        for start in range(0, len(used), 1000):
            append(session, *used[start:start + 1000])
        for limit in (50, 500):
            assert [one["entry_id"] for one in pages(url(session, "leaves"), limit)] == branch.leaves()
            points = pages(url(session, "branch-points"), limit)
            assert [one["entry_id"] for one in points] == branch.branch_points()
            assert [one["children"] for one in points] == [len(branch.children[one["entry_id"]]) for one in points]


def test_children_before_their_parent():
    """In a file: the first child may stand before its parent."""
    lines = [{"id": "late-1", "parentId": "p"}, {"id": "q"}, {"id": "q-1", "parentId": "q"}, {"id": "q-2", "parentId": "q"},
             {"id": "p"}, {"id": "p-2", "parentId": "p"}, {"id": "p-3", "parentId": "p"}]
    entries = [{**line, "type": "user", "content": "x"} for line in lines]
    import_lines("late", "\n".join(map(json.dumps, entries)) + "\n")
    branch = Branch(entries)
    assert branch.branch_points() == ["p", "q"]
    for limit in (1, 2, 50):
        assert [one["entry_id"] for one in pages(url("late", "branch-points"), limit)] == branch.branch_points()
        assert [one["entry_id"] for one in pages(url("late", "leaves"), limit)] == branch.leaves()


# --- line numbers ---


def test_line_numbers():
    """Blank lines and headers count, as in the document's SessionIndex."""
    def line(identifier, **more):
        return json.dumps({"id": identifier, "type": "user", "content": identifier, **more})
    import_lines("index", f"{line('a')}\n\n{line('b', parentId='a')}\n \n{line('c', parentId='b')}\n")
    assert {one["entry_id"]: one["line"] for one in pages(url("index", "tree"), 2)} == {"a": 0, "b": 2, "c": 4}
    assert get(url("index", "entries", "b"))["line"] == 2
    assert [one["line"] for one in get(url("index", "entries", "c", "path"))["path"]] == [0, 2, 4]
    assert append("index", {"id": "d", "type": "user", "content": "d"})[0]["line"] == 5
    make("header", {"id": "a", "type": "message", "message": {"role": "user", "content": "a"}}, dialect="pi")
    assert get(url("header", "entries", "a"))["line"] == 1
    append("header", {"type": "label", "targetId": "a", "label": "l"})
    assert pages(url("header", "labels"), 5)[0]["line"] == 1


# --- contexts ---

TALK = [{"id": "s", "type": "system", "content": "be good", "timestamp": 7},
        {"id": "u", "parentId": "s", "type": "user", "content": "go"},
        {"id": "x", "parentId": "u", "type": "assistant", "content": "", "toolCalls": [
            {"id": "c1", "name": "get", "params": {"a": 1}}, {"id": "c2", "name": "get", "params": {}}]},
        {"id": "t", "parentId": "x", "type": "tool_result", "toolCallId": "c1", "output": "found", "success": True}]


def test_repairs_hold():
    make("talk", *TALK)
    context = get(url("talk", "context") + "?format=messages")
    assert context["system"] == [{"type": "text", "text": "be good"}] and context["metadata"]["startTime"] == 7
    assert [(one["role"], one["content"], one.get("toolCallId")) for one in context["messages"]] == [
        ("user", "go", None), ("assistant", "", None), ("tool", "found", "c1"), ("tool", "No result provided", "c2")]
    assert context["messages"][1]["toolCalls"] == TALK[2]["toolCalls"]
    assert [one["repair"] for one in context["report"]["repairs"]] == ["synthetic_result"]
    assert len(context["digests"]) == 4
    raw = get(url("talk", "context") + "?format=messages&repair=off")
    assert [one["role"] for one in raw["messages"]] == ["user", "assistant", "tool"]
    assert get(url("talk", "context") + "?format=messages&leaf=u")["messages"] == [{"role": "user", "content": "go"}]


def test_start_times():
    def start(session):
        return get(url(session, "context") + "?format=messages")["metadata"]["startTime"]
    for name, sent, expected in (("text", "2024-02-18T23:46:40.123Z", 1708300000123), ("fraction", 1.5, 1.5), ("huge", 10**30, 10**30),
                                 ("word", "soon", None), ("object", {}, None)):
        make(f"start-{name}", {"id": "m", "type": "metadata", "timestamp": sent}, {"id": "u", "type": "user", "content": "x"})
        assert start(f"start-{name}") == expected, name
    header = {"type": "session", "version": 3, "id": "h", "timestamp": "2024-02-18T23:46:40.123Z", "cwd": "/"}
    user = {"type": "message", "id": "a", "parentId": None, "timestamp": "2025-01-01T00:00:00Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "look"},
                                                     {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}}
    model = {"type": "model_change", "id": "b", "parentId": "a", "timestamp": "t", "provider": "anthropic", "modelId": "claude"}
    import_lines("start-header", "\n".join(map(json.dumps, (header, user, model))) + "\n")
    context = get(url("start-header", "context") + "?format=messages")
    assert context["metadata"] == {"sessionId": "start-header", "provider": "anthropic", "model": "claude", "startTime": 1708300000123}
    assert context["messages"] == [{"role": "user", "content": "look"}]
    assert (context["report"]["repairs"], context["report"]["left_out"]) == ([], [{"entry": "a", "what": "image"}])
    ask("PUT", url("start-empty"), {})
    empty = get(url("start-empty", "context") + "?format=messages")
    assert empty["messages"] == [] and empty["metadata"]["startTime"] is None


def test_names_of_the_leaf():
    make("names", *TALK)
    path = url("names", "context")
    assert get(path + "?branchLeafId=u")["leaf"] == "u" == get(path + "?branchLeafId=u&leaf=u")["leaf"]
    assert get(path + "?branchLeafId=u&leaf=x", 422)["detail"]["faults"][0]["loc"] == ["query", "branchLeafId"]
    get(path + "?branchLeafId=", 422)
    get(path + "?branchLeafId=nobody", 404)
    for form in ("openai", "entries"):
        assert "metadata" not in get(path + f"?format={form}")


def test_boxes_and_abilities():
    """The same from boxes, without metadata; and from abilities, in the form that they promise."""
    def invoke(ability, **value):
        return ask("POST", f"/projects/p/abilities/{ability}", value)
    make("both", *TALK)
    card = invoke("card:add", content="hi", metadata={"role": "user"})["card_id"]
    box = invoke("box:create", card_ids=[card])["box_id"]
    answers = {"session:context": invoke("session:context", session_id="both", format="messages"),
               "box:context": invoke("box:context", box_id=box, format="messages")}
    for ability, answer in answers.items():
        jsonschema.Draft202012Validator(get(f"/projects/p/abilities/{ability}")["outputSchema"]).validate(answer)
    assert answers["session:context"]["metadata"] == get(url("both", "context") + "?format=messages")["metadata"]
    assert answers["box:context"] == get(f"/projects/p/boxes/{box}/context?format=messages")
    assert answers["box:context"]["messages"] == [{"role": "user", "content": "hi"}] and "metadata" not in answers["box:context"]


if __name__ == "__main__":
    cardbox_test.main()

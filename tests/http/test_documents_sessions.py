#!/usr/bin/env python3
"""What the sessions' document requires, line by line, over HTTP. Rows marked "argued" are differences with a written
reason: they are tested as they are. test_document_code.py runs the document's own code."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import json_lines
from document_rows import Rows

row = Rows("sessions")

# Lines 22-25 and 428-435 of the document.
FIRST = """{"id":"msg-1","type":"user","content":"创建 hello.ts"}
{"id":"msg-2","type":"assistant","content":"我来创建文件"}
{"id":"msg-3","type":"tool","name":"write","params":{"path":"hello.ts"}}
{"id":"msg-4","type":"tool_result","output":"File created"}
"""
TREE = """{"id":"msg-1","type":"user","content":"创建文件"}
{"id":"msg-2","parentId":"msg-1","type":"assistant","content":"文件已创建"}
{"id":"msg-3","parentId":"msg-2","type":"user","content":"修改文件"}
{"id":"msg-4","parentId":"msg-3","type":"assistant","content":"文件已修改"}
{"id":"msg-5","parentId":"msg-2","type":"user","content":"改用 TypeScript"}
{"id":"msg-6","parentId":"msg-5","type":"assistant","content":"TypeScript 文件已创建"}
"""

# Lines 163-261: a call and its result.
CALL = {"id": "call-1", "name": "write", "params": {"path": "hello.ts", "content": "console.log('hello')"}}
TALK = [
    {"id": "msg-1", "type": "user", "content": "创建 hello.ts", "timestamp": 1708300000, "metadata": {"source": "cli", "userId": "user-123"}},
    {"id": "msg-2", "parentId": "msg-1", "type": "assistant", "content": "我来创建文件", "timestamp": 1708300001, "toolCalls": [CALL]},
    {"id": "msg-3", "parentId": "msg-2", "type": "tool", "name": "write", "params": CALL["params"], "toolCallId": "call-1",
     "timestamp": 1708300002},
    {"id": "msg-4", "parentId": "msg-3", "type": "tool_result", "toolCallId": "call-1", "output": "File written: hello.ts",
     "details": {"path": "hello.ts", "bytes": 23, "lines": 1}, "success": True, "timestamp": 1708300003},
]


def load(p, file):
    file = file if isinstance(file, bytes) else file.encode()
    return p.request("POST", "/sessions/s/import", file, Content_Type="application/x-ndjson").json()


def export(p):
    return p.request("GET", "/sessions/s/export").body


def lines_of(p):
    return [json.loads(line) for line in export(p).splitlines()]


def make(p, *entries, **members):
    p.put("/sessions/s", {"dialect": "plain", **members})
    if entries:
        append(p, *entries)


def append(p, *entries, status=200):
    return p.post("/sessions/s/entries", {"entries": list(entries)}, status)


def ids(p, place, member="entries"):
    return [entry["entry_id"] for entry in p.get(f"/sessions/s{place}")[member]]


def context_of(p, query="format=messages"):
    return p.get(f"/sessions/s/context?{query}")


# --- files ---


@row("19-26,22-25", "one JSON object a line; the first example is kept to the byte")
def _(p):
    report = load(p, FIRST)
    assert (report["entries"], report["roots"], report["leaves"]) == (4, 4, 4), report
    assert export(p) == FIRST.encode()


@row("71-83", "the full history is kept, also of lines without a type")
def _(p):
    file = json_lines(*({"id": f"msg-{n}", "content": f"{n}", "timestamp": 1708300000 + n} for n in range(1, 5)))
    load(p, file)
    assert export(p) == file
    append(p, {"id": "msg-5", "parentId": "msg-4", "type": "user", "content": "x", "timestamp": 1708300005})
    assert export(p).startswith(file) and len(lines_of(p)) == 5


@row("86-98", "branches by parentId in one session, without types too")
def _(p):
    load(p, json_lines({"id": "msg-1"}, {"id": "msg-2", "parentId": "msg-1"}, {"id": "msg-3", "parentId": "msg-1"},
                       {"id": "msg-4", "parentId": "msg-3"}))
    assert ids(p, "/branch-points") == ["msg-1"] and ids(p, "/leaves") == ["msg-2", "msg-4"]


@row("102-121,815-834", "the export is a stream of lines")
def _(p):
    load(p, TREE)
    answer = p.request("GET", "/sessions/s/export")
    assert answer.header("Content-Type").startswith("application/x-ndjson"), answer.headers
    assert [json.loads(line)["id"] for line in answer.body.splitlines()] == [f"msg-{n}" for n in range(1, 7)]


# --- entries ---


@row("132", "an entry has an id: the client's, or one that the server makes")
def _(p):
    make(p)
    answer = append(p, {"id": "mine", "type": "user", "content": "x"}, {"type": "assistant", "content": "y"})
    first, second = [entry["entry_id"] for entry in answer["entries"]]
    assert first == "mine" and [line["id"] for line in lines_of(p)] == [first, second]


@row("133", "an entry without a parent has no member parentId")
def _(p):
    make(p, {"type": "user", "content": "a"}, {"id": "root", "parentId": None, "type": "user", "content": "b", "timestamp": 1})
    first, second = lines_of(p)
    assert "parentId" not in first and second.get("parentId") is None, (first, second)
    append(p, {"type": "assistant", "content": "c"})
    assert lines_of(p)[2]["parentId"] == "root"


@row("134", "the timestamp is a number of milliseconds, where the server fills it in too")
def _(p):
    before = int(time.time() * 1000) - 1000
    make(p, {"type": "user", "content": "a"}, {"id": "b", "type": "user", "content": "b", "timestamp": 1708300000})
    first, second = lines_of(p)
    assert isinstance(first["timestamp"], int) and before <= first["timestamp"] <= before + 600_000, first
    assert second["timestamp"] == 1708300000, second


@row("134", "a file with numbers goes on with numbers")
def _(p):
    load(p, json_lines(*TALK))
    append(p, {"type": "user", "content": "and now?"})
    assert isinstance(lines_of(p)[-1]["timestamp"], int), lines_of(p)[-1]


@row("140-145", "the types user, assistant, tool, tool_result, system, metadata")
def _(p):
    make(p, *TALK, {"id": "s", "parentId": "msg-4", "type": "system", "content": "x", "timestamp": 1},
         {"id": "m", "parentId": "s", "type": "metadata", "timestamp": 2, "any": {"thing": 1}})
    assert [line["type"] for line in lines_of(p)] == ["user", "assistant", "tool", "tool_result", "system", "metadata"]


@row("155-261", "the members of the examples are kept: metadata, toolCalls, thinking, params, details, success")
def _(p):
    talk = [*TALK, {"id": "t", "parentId": "msg-4", "type": "assistant", "content": "done", "thinking": "hm", "timestamp": 1}]
    make(p, *talk)
    assert lines_of(p) == talk


@row("240-244", "output goes to the model, details do not")
def _(p):
    make(p, *TALK)
    text = json.dumps(context_of(p, "format=openai")["messages"])
    assert "File written: hello.ts" in text and "bytes" not in text, text


@row("275-278", "a session is opened or made")
def _(p):
    assert p.put("/sessions/s", {"dialect": "plain"})["outcome"] == "created"
    assert p.put("/sessions/s", {"dialect": "plain"})["outcome"] == "exists"


@row("281-357", "entries of each kind are appended with parent, and get ids")
def _(p):
    make(p)
    parent = None
    for entry in TALK:
        entry = {name: value for name, value in entry.items() if name not in ("id", "timestamp", "parentId")}
        parent = append(p, {**entry, **({"parentId": parent} if parent else {})})["entries"][0]["entry_id"]
    assert [{name: value for name, value in line.items() if name not in ("id", "timestamp", "parentId")} for line in lines_of(p)] == [
        {name: value for name, value in entry.items() if name not in ("id", "timestamp", "parentId")} for entry in TALK]
    assert len(ids(p, f"/entries/{parent}/path", "path")) == 4


# --- the tree ---


@row("411-446", "a branch begins where an entry gets a second child")
def _(p):
    load(p, "".join(line + "\n" for line in TREE.splitlines()[:4]))
    append(p, *map(json.loads, TREE.splitlines()[4:]))
    assert ids(p, "/branch-points") == ["msg-2"] and ids(p, "/leaves") == ["msg-4", "msg-6"]


@row("474,540-560", "getChildren")
def _(p):
    load(p, TREE)
    assert ids(p, "/entries/msg-2/children") == ["msg-3", "msg-5"] and ids(p, "/entries/msg-4/children") == []


@row("480,540-560", "getPath")
def _(p):
    load(p, TREE)
    assert ids(p, "/entries/msg-4/path", "path") == ["msg-1", "msg-2", "msg-3", "msg-4"]


@row("474,480", "an unknown entry is 404")
def _(p):
    load(p, TREE)
    for place in ("children", "path"):
        p.get(f"/sessions/s/entries/nobody/{place}", 404)


# e (line 4) continues the first branch, and ends behind c and d.
ORDER = json_lines({"id": "a"}, {"id": "b", "parentId": "a"}, {"id": "c", "parentId": "b"}, {"id": "d", "parentId": "a"},
                   {"id": "e", "parentId": "b"}, {"id": "f", "parentId": "c"}, {"id": "r"})


@row("512", "getLeaves in the order of lines")
def _(p):
    load(p, ORDER)
    assert ids(p, "/leaves") == ["d", "e", "f", "r"]
    found, cursor = [], ""
    while cursor is not None:
        page = p.get(f"/sessions/s/leaves?limit=1{cursor and '&cursor=' + cursor}")
        found += [entry["entry_id"] for entry in page["entries"]]
        cursor = page["next_cursor"]
    assert found == ["d", "e", "f", "r"], found
    append(p, {"id": "g", "parentId": "d", "type": "user", "content": "x", "timestamp": 1})
    assert ids(p, "/leaves") == ["e", "f", "r", "g"]


@row("496", "getBranchPoints in the order of the lines of their first children")
def _(p):
    load(p, json_lines({"id": "a"}, {"id": "b"}, {"id": "c", "parentId": "b"}, {"id": "d", "parentId": "a"}, {"id": "e", "parentId": "a"},
                       {"id": "f", "parentId": "b"}))
    assert ids(p, "/branch-points") == ["b", "a"]


@row("526,563-569", "createBranch")
def _(p):
    load(p, TREE)
    append(p, {"id": "msg-7", "parentId": "msg-2", "type": "user", "content": "删除文件", "timestamp": 1})
    assert ids(p, "/entries/msg-2/children") == ["msg-3", "msg-5", "msg-7"]


# --- contexts ---


@row("579-595,638-657", "a context of the document's shape")
def _(p):
    make(p, *TALK)
    context = context_of(p)
    assert context["messages"] == [
        {"role": "user", "content": "创建 hello.ts"},
        {"role": "assistant", "content": "我来创建文件", "toolCalls": [CALL]},
        {"role": "tool", "content": "File written: hello.ts", "toolCallId": "call-1"}], context
    metadata = context["metadata"]
    assert set(metadata) == {"sessionId", "provider", "model", "startTime"}, metadata
    assert (metadata["sessionId"], metadata["startTime"]) == ("s", 1708300000), metadata
    assert isinstance(metadata["provider"], str) and isinstance(metadata["model"], str), metadata


@row("590-595", "the content of each message is a string")
def _(p):
    make(p, {"id": "a", "type": "user", "content": [{"type": "text", "text": "hi"}], "timestamp": 1},
         {"id": "b", "parentId": "a", "type": "assistant", "toolCalls": [CALL], "timestamp": 2},
         {"id": "c", "parentId": "b", "type": "tool_result", "toolCallId": "call-1", "output": {"n": 1}, "success": True, "timestamp": 3})
    messages = context_of(p)["messages"]
    assert len(messages) == 3 and all(isinstance(message["content"], str) for message in messages), messages


@row("602-613,740-748", "a context is that of one branch: back in time to msg-2")
def _(p):
    load(p, TREE)
    for name in ("leaf", "branchLeafId"):
        messages = context_of(p, f"format=messages&{name}=msg-2")["messages"]
        assert messages == [{"role": "user", "content": "创建文件"}, {"role": "assistant", "content": "文件已创建"}], messages
    assert "修改文件" not in json.dumps(context_of(p, "format=messages&branchLeafId=msg-6"), ensure_ascii=False)


@row("620-623", "branchLeafId is accepted for leaf, in every format; both, or an unknown one, are refused")
def _(p):
    load(p, TREE)
    for form in ("openai", "anthropic", "entries", "messages"):
        assert context_of(p, f"format={form}&branchLeafId=msg-4") == context_of(p, f"format={form}&leaf=msg-4"), form
    p.get("/sessions/s/context?branchLeafId=nobody", 404)
    p.get("/sessions/s/context?branchLeafId=msg-4&leaf=msg-2", 422)


@row("629 (argued)", "the default leaf is the head: the last line, or where it was moved")
def _(p):
    load(p, TREE)
    assert context_of(p)["messages"][-1]["content"] == "TypeScript 文件已创建"
    p.put("/sessions/s/head", {"entry_id": "msg-4"})
    assert context_of(p)["messages"][-1]["content"] == "文件已修改"


@row("638-657 (argued)", "a system entry is a message, a tool entry a call, and missing results are added")
def _(p):
    make(p, {"id": "a", "type": "system", "content": "be brief", "timestamp": 1},
         {"id": "b", "parentId": "a", "type": "user", "content": "go", "timestamp": 2},
         {"id": "c", "parentId": "b", "type": "assistant", "content": "ok", "timestamp": 3},
         {"id": "d", "parentId": "c", "type": "tool", "name": "write", "params": {}, "toolCallId": "call-1", "timestamp": 4})
    roles = [message["role"] for message in context_of(p, "format=openai")["messages"]]
    assert roles == ["system", "user", "assistant", "tool"], roles
    assert [message["role"] for message in context_of(p, "format=openai&repair=off")["messages"]][-1] == "assistant"


@row("700-713", "a session is resumed: the next entry continues the last line")
def _(p):
    load(p, TREE)
    append(p, {"type": "user", "content": "谢谢"})
    assert lines_of(p)[-1]["parentId"] == "msg-6" and export(p).startswith(TREE.encode())


@row("717-736", "a branch is appended under msg-2")
def _(p):
    load(p, TREE)
    first = append(p, {"type": "user", "content": "x", "parentId": "msg-2"})["entries"][0]["entry_id"]
    second = append(p, {"type": "assistant", "content": "y", "parentId": first})["entries"][0]["entry_id"]
    assert ids(p, f"/entries/{second}/path", "path") == ["msg-1", "msg-2", first, second]


@row("754-774", "entries are appended in batches, all or none")
def _(p):
    make(p)
    entries = [{"id": f"e{n}", "type": "user", "content": f"{n}", "timestamp": n} for n in range(10)]
    answer = append(p, *entries)
    assert [entry["line"] for entry in answer["entries"]] == list(range(10))
    append(p, {"id": "new", "type": "user", "content": "x"}, {**entries[0], "content": "other"}, status=409)
    assert len(lines_of(p)) == 10


@row("786-811", "each entry has its line number in the file, from 0; lines that are no entries count")
def _(p):
    load(p, '{"id":"a","type":"user","content":"x"}\n\n{"id":"b","parentId":"a","type":"user","content":"y"}\nno JSON\n'
            '{"id":"c","parentId":"b","type":"user","content":"z"}\n')
    for name, line in (("a", 0), ("b", 2), ("c", 4)):
        assert p.get(f"/sessions/s/entries/{name}")["line"] == line
    assert [entry["line"] for entry in p.get("/sessions/s/entries/c/path")["path"]] == [0, 2, 4]
    assert [entry["line"] for entry in p.get("/sessions/s/leaves")["entries"]] == [4]
    assert append(p, {"id": "d", "type": "user", "content": "w"})["entries"][0]["line"] == 5


@row("843 (argued)", "nothing is deleted, but a session as a whole")
def _(p):
    load(p, TREE)
    p.request("DELETE", "/sessions/s/entries/msg-1", status=405)
    p.request("DELETE", "/sessions/s")
    p.get("/sessions/s", 404)


@row("852", "an entry can't be changed")
def _(p):
    make(p, *TALK)
    append(p, {**TALK[0], "content": "other"}, status=409)
    assert lines_of(p) == TALK


@row("9", "a session moves between providers: the formats openai and anthropic")
def _(p):
    make(p, *TALK)
    openai, anthropic = (context_of(p, f"format={form}")["messages"] for form in ("openai", "anthropic"))
    assert [message["role"] for message in openai] == ["user", "assistant", "tool"]
    assert [message["role"] for message in anthropic] == ["user", "assistant", "user"]


def test_rows():
    yield from row.cases()


if __name__ == "__main__":
    cardbox_test.main(globals())

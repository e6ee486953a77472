#!/usr/bin/env python3
"""Transcripts of other programs, of this test's own making in the shapes that the programs write:
byte for byte out again, and their contexts."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from cardbox_test import json_lines, server
from cardbox_test import session_url as url

NDJSON = {"Content-Type": "application/x-ndjson"}
API_FORMATS = ("openai", "responses", "anthropic")


def bring(session, data, query="", status=200):
    answer = server().request("POST", url(session, "import") + query, data, NDJSON, timeout=120)
    assert answer.status == status, answer
    return answer.json()


def take(session, query=""):
    answer = server().get(url(session, "export") + query)
    assert answer.status == 200, answer
    return answer.body


def context(session, query="format=anthropic"):
    answer = server().get(url(session, "context") + "?" + query)
    assert answer.status == 200, answer
    return answer.json()


# --- Claude Code ---

def claude(kind, uuid, parent, message=None, **more):
    line = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/work", "sessionId": "5e55", "version": "2.0.1",
            "gitBranch": "main", "type": kind}
    if message is not None:
        line["message"] = message
    return {**line, "uuid": uuid, "timestamp": "2026-01-02T03:04:05.678Z", **more}


def said(uuid, parent, text, **more):
    return claude("user", uuid, parent, {"role": "user", "content": text}, **more)


def answer_line(uuid, parent, message_id, block, **more):
    message = {"model": "claude-sonnet-4-5", "id": message_id, "type": "message", "role": "assistant", "content": [block],
               "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 3}}
    return claude("assistant", uuid, parent, message, requestId="req_1", **more)


def result(uuid, parent, call, text, **more):
    block = {"tool_use_id": call, "type": "tool_result", "content": text}
    return claude("user", uuid, parent, {"role": "user", "content": [block]}, toolUseResult={"stdout": text}, **more)


def use(call, name="Bash"):
    return {"type": "tool_use", "id": call, "name": name, "input": {"command": "ls"}}


THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
TEXT = {"type": "text", "text": "I look."}

# The first result of the parallel calls is a sibling of the second call.
CLAUDE = [
    {"type": "summary", "summary": "What was done", "leafUuid": "b2"},
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {"trackedFileBackups": {}}, "isSnapshotUpdate": False},
    said("u1", None, "Look around", permissionMode="default"),
    answer_line("a1", "u1", "msg_1", THINKING),
    answer_line("a2", "a1", "msg_1", TEXT),
    answer_line("a3", "a2", "msg_1", use("toolu_1")),
    answer_line("a4", "a3", "msg_1", use("toolu_2")),
    result("r1", "a3", "toolu_1", "one"),
    result("r2", "a4", "toolu_2", "two"),
    claude("system", "s1", "r2", subtype="turn_duration", durationMs=12, isMeta=False),
    said("k1", None, "A task", isSidechain=True, agentId="x"),
    answer_line("k2", "k1", "msg_k", {"type": "text", "text": "of the subagent"}, isSidechain=True),
    answer_line("b1", "s1", "msg_2", {"type": "text", "text": "Done."}),
    {"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-01-02T03:04:06.000Z", "sessionId": "5e55"},
    {"type": "custom-title", "customTitle": "Around", "sessionId": "5e55"},
]
CALLS = [THINKING, TEXT, use("toolu_1"), use("toolu_2")]
RESULTS = [{"tool_use_id": f"toolu_{n}", "type": "tool_result", "content": text} for n, text in ((1, "one"), (2, "two"))]
MESSAGES = [{"role": "user", "content": "Look around"}, {"role": "assistant", "content": CALLS}, {"role": "user", "content": RESULTS},
            {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}]


def check_all_formats(session):
    for form in API_FORMATS:
        context(session, f"format={form}")


def test_claude():
    data = json_lines(*CLAUDE)
    report = bring("claude", data)
    assert report["dialect"] == "claude" and not report["issues"], report
    assert (report["appended"], report["kept"]) == (13, 2), report
    assert take("claude") == data
    got = server().get(url("claude")).json()
    assert (got["dialect"], got["name"], got["head_entry_id"]) == ("claude", "Around", "b1"), got
    read = context("claude")
    assert read["messages"] == MESSAGES, read["messages"]
    assert read["report"]["left_out"] == [] and read["next"] == "user", read
    check_all_formats("claude")
    assert context("claude", "format=anthropic&leaf=k2")["messages"] == [
        {"role": "user", "content": "A task"}, {"role": "assistant", "content": [{"type": "text", "text": "of the subagent"}]}]
    assert not bring("claude", data)["changed"]
    assert bring("claude", data + json_lines(said("u2", "b1", "More")))["appended"] == 1
    assert context("claude")["messages"] == [*MESSAGES, {"role": "user", "content": "More"}]


def test_results_between_the_lines_of_an_answer():
    """Some versions write the result of the first call before the line of the second call."""
    lines = [said("u1", None, "Look around"), answer_line("a3", "u1", "msg_1", use("toolu_1")), result("r1", "a3", "toolu_1", "one"),
             answer_line("a4", "r1", "msg_1", use("toolu_2")), result("r2", "a4", "toolu_2", "two")]
    bring("between", json_lines(*lines))
    assert context("between")["messages"][1:] == [{"role": "assistant", "content": CALLS[2:]}, {"role": "user", "content": RESULTS}]
    branch = [lines[0], lines[1], {**lines[3], "parentUuid": "a3"}, lines[2], lines[4]]
    for name, order in (("beside", branch), ("before", [*branch[:2], branch[3], branch[2], branch[4]])):
        bring(name, json_lines(*order))
        read = context(name)
        assert read["messages"][1:] == [{"role": "assistant", "content": CALLS[2:]}, {"role": "user", "content": RESULTS}], (name, read)
        assert read["path_length"] == 4 and read["open_calls"] == [], read
        assert context(name, "format=openai&limit=3&leaf=r2")["messages"], name


def test_claude_after_a_compaction():
    lines = [*CLAUDE[2:9], claude("system", "c1", None, subtype="compact_boundary", content="Conversation compacted", logicalParentUuid="r2",
                                  compactMetadata={"trigger": "auto", "preTokens": 9}),
             said("c2", "c1", "This session is being continued", isCompactSummary=True, isVisibleInTranscriptOnly=True),
             answer_line("c3", "c2", "<synthetic>", {"type": "text", "text": "API Error"}, isApiErrorMessage=True),
             said("c4", "c3", "go on")]
    bring("compacted", json_lines(*lines))
    assert take("compacted") == json_lines(*lines)
    assert [one["content"] for one in context("compacted", "format=anthropic&repair=off")["messages"]] == [
        "This session is being continued", "go on"]


def test_members_that_a_request_may_not_have():
    bring("members", json_lines(claude("user", "u1", None, {"role": "user", "content": "x", "id": "1"})))
    assert context("members")["messages"] == [{"role": "user", "content": "x"}]


# --- codex ---

def codex(kind, /, **payload):
    return {"timestamp": "2026-01-02T03:04:05.678Z", "type": kind, "payload": payload}


def item(kind, /, **members):
    return codex("response_item", type=kind, **members)


def turn(role, text):
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": text}])


CODEX = [
    codex("session_meta", id="0199", timestamp="2026-01-02T03:04:05.000Z", cwd="/work", originator="codex_cli_rs", cli_version="0.50.0",
          instructions=None, source="cli"),
    turn("developer", "Be careful"),
    turn("user", "List"),
    codex("event_msg", type="user_message", message="List", kind="plain"),
    codex("turn_context", cwd="/work", approval_policy="on-request", model="gpt-5-codex"),
    item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], content=None, encrypted_content="c2VjcmV0"),
    item("function_call", name="shell", arguments="{\"command\":[\"ls\"]}", call_id="call_1"),
    item("function_call_output", call_id="call_1", output="a\nb"),
    item("ghost_snapshot", ghost_commit={"id": "1"}),
    codex("event_msg", type="token_count", info=None),
    turn("assistant", "Two files."),
]
ITEMS = [CODEX[n]["payload"] for n in (1, 2, 5, 6, 7, 10)]


def test_codex():
    data = json_lines(*CODEX)
    report = bring("codex", data)
    assert report["dialect"] == "codex" and not report["issues"] and report["appended"] == len(CODEX), report
    assert take("codex") == data
    read = context("codex", "format=responses")
    assert read["messages"] == ITEMS and read["report"]["repairs"] == [], read
    check_all_formats("codex")
    assert not bring("codex", data)["changed"]
    lines = [*CODEX, codex("compacted", message="", replacement_history=[ITEMS[1], {"type": "compaction", "encrypted_content": "eA=="}]),
             turn("user", "Go on")]
    assert bring("codex", json_lines(*lines))["appended"] == 2
    read = context("codex", "format=responses")
    assert read["messages"] == [ITEMS[1], {"type": "compaction", "encrypted_content": "eA=="}, lines[-1]["payload"]], read["messages"]
    lines += [codex("compacted", message="Files were listed"), turn("user", "And now")]
    bring("codex", json_lines(*lines))
    assert take("codex") == json_lines(*lines)
    first, last = context("codex", "format=responses")["messages"]
    assert "Files were listed" in json.dumps(first) and last == lines[-1]["payload"]
    forked = server().post(url("codex", "fork"), {"session_id": "codex-fork"})
    assert forked.status == 200, forked
    assert context("codex-fork", "format=responses")["messages"] == [first, last]


def test_dialects_keep_apart():
    bring("apart", json_lines(*CODEX))
    assert server().post(url("apart", "entries"), {"entry": {"type": "user", "content": "x"}}).status == 409
    assert server().post(url("apart", "messages"), {"format": "openai", "messages": [{"role": "user", "content": "x"}]}).status == 409
    bring("apart", json_lines(*CLAUDE), status=409)


# --- messages of APIs ---

OPENAI = [{"role": "system", "content": "Be good"}, {"role": "user", "content": "hi"},
          {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
          {"role": "tool", "tool_call_id": "c1", "content": "1"}, {"role": "assistant", "content": "one"}]
ANTHROPIC = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [THINKING, use("t1")]}, {"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": "t1", "content": "1"}]}]


def test_arrays_of_messages():
    for form, messages in (("openai", OPENAI), ("anthropic", ANTHROPIC), ("responses", ITEMS)):
        for number, data in enumerate((json.dumps(messages), json.dumps(messages, indent=2), json.dumps({"messages": messages}),
                                       "\ufeff\n" + json.dumps({"model": "m", "messages": messages}, indent=1) + "\n")):
            name = f"{form}-{number}"
            report = bring(name, data.encode())
            assert report["dialect"] == "plain" and report["appended"] == len(messages) and not report["issues"], report
            assert form in report["file"], report
            assert context(name, f"format={form}")["messages"] == messages, name
            assert not bring(name, data.encode())["changed"]
            assert bring(name, json.dumps([*messages, messages[0]]).encode())["appended"] == 1
    assert bring("kept", json.dumps(OPENAI).encode(), "?force=true")["bad"] == 1 and take("kept") == json.dumps(OPENAI).encode()


def test_arrays_that_are_refused():
    for data, why in ((json.dumps([*OPENAI, *ANTHROPIC]), "the messages are of several formats"),
                      (json.dumps([*OPENAI, 1]), "element 5 of the array is no message"),
                      (json.dumps({"messages": OPENAI}) + "\n" + json.dumps({"messages": OPENAI}), "it looks like messages of a model's API")):
        said_why = bring("refused", data.encode(), status=400)["detail"]["error_message"]
        assert why in said_why, said_why


# --- ChatGPT ---

def node(identifier, parent, role=None, content=None, **more):
    message = role and {"id": identifier, "author": {"role": role, "name": None, "metadata": {}}, "create_time": 1764300000.25,
                        "content": content if isinstance(content, dict) else {"content_type": "text", "parts": [content]},
                        "status": "finished_successfully", "recipient": "all", **more}
    return {"id": identifier, "message": message, "parent": parent, "children": []}


def conversation(identifier="c0de", **more):
    nodes = [node("root", None), node("sys", "root", "system", ""), node("ask", "sys", "user", "Hi"),
             node("new", "ask", "assistant", "Better"), node("old", "ask", "assistant", "Bad"), node("more", "old", "user", "Why?"),
             node("code", "new", "assistant", {"content_type": "code", "language": "python", "text": "1"}),
             node("out", "code", "tool", {"content_type": "execution_output", "text": "1"}), node("end", "out", "assistant", "\u201cDone\u201d")]
    return {"title": "A \u201cchat\u201d", "create_time": 1764300000.1, "mapping": {one["id"]: one for one in nodes},
            "current_node": "end", "conversation_id": identifier, "id": identifier, **more}


TEXTS = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Better"}, {"role": "assistant", "content": "\u201cDone\u201d"}]


def test_chatgpt():
    data = json.dumps(conversation()).encode()
    report = bring("chat", data)
    assert report["file"] == "a conversation of ChatGPT" and report["appended"] == 10 and report["dangling_parents"] == 0, report
    assert {one["kind"] for one in report["issues"]} == {"not_in_context"} and report["not_in_context"] == 2, report
    got = server().get(url("chat")).json()
    assert (got["head_entry_id"], got["name"]) == ("end", "A \u201cchat\u201d"), got
    assert context("chat", "format=openai&repair=off")["messages"] == TEXTS
    assert context("chat", "format=openai&leaf=more")["messages"] == [
        TEXTS[0], {"role": "assistant", "content": "Bad"}, {"role": "user", "content": "Why?"}]
    assert not bring("chat", data)["changed"]
    assert "several conversations" in bring("chats", json.dumps([conversation(), conversation("2")]).encode(), status=400)["detail"]["error_message"]
    cycle = conversation(mapping={"a": node("a", "b", "user", "x"), "b": node("b", "a", "user", "y"), "c": node("c", "c", "user", "z"), "d": 1})
    assert bring("cycle", json.dumps(cycle).encode())["entries"] == 4


if __name__ == "__main__":
    cardbox_test.main()

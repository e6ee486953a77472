#!/usr/bin/env python3
"""Files of other programs, of the tests' own making in the shapes that the programs write (tests/files has one of each
kind): byte for byte out again, and their contexts."""

import json
import os
import sys
import urllib.parse

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


# --- a file of each kind ---

FILES = os.path.join(cardbox_test.ROOT, "tests", "files")


def file_of(name):
    with open(os.path.join(FILES, name), "rb") as file:
        return file.read()


def call_of(call, **more):
    return {"id": call, "type": "tool_use", "name": "Bash", "input": {"command": f"wc -l {more['list']}", "description": "Count lines"}}


# name: what it is, its dialect, lines and lines in context, and the roles or types of its context in its own format
KINDS = {
    "claude.jsonl": ("a transcript of Claude Code", "claude", 17, 10, "anthropic", ["user", "assistant", "user", "assistant"]),
    "codex.jsonl": ("a rollout of codex", "codex", 14, 9, "responses", ["message", "compaction", "message", "message"]),
    "codex-early.jsonl": ("a rollout of codex", "codex", 8, 5, "responses",
                          ["message", "reasoning", "function_call", "function_call_output", "message"]),
    "messages-openai.json": ("messages of the format openai", "plain", 5, 5, "openai", ["system", "user", "assistant", "tool", "assistant"]),
    "request-anthropic.json": ("messages of the format anthropic", "plain", 5, 4, "anthropic", ["user", "assistant", "user", "assistant"]),
    "items-responses.json": ("items of the format responses", "plain", 5, 5, "responses",
                             ["user", "reasoning", "function_call", "function_call_output", "message"]),
}


def test_a_file_of_each_kind():
    for name, (what, dialect, lines, in_context, form, roles) in KINDS.items():
        data, session = file_of(name), f"file-{name}"
        report = bring(session, data)
        assert (report["file"], report["dialect"], report["lines"], report["in_context"]) == (what, dialect, lines, in_context), report
        assert report["bad"] == report["conflicts"] == report["dangling_parents"] == 0, report
        if dialect != "plain":
            assert take(session) == data, name
        read = context(session, f"format={form}")
        assert [one.get("type", one.get("role")) for one in read["messages"]] == roles, (name, read["messages"])
        assert read["open_calls"] == [] and not [one for one in read["report"]["repairs"] if one["repair"] != "merged"], (name, read)
        check_other_formats(session, form)
        assert not bring(session, data)["changed"], name


def test_the_transcript_of_claude_code():
    """Two calls of an answer whose results came in the other order: the line of the second call is on no path to the end."""
    bring("birds", file_of("claude.jsonl"))
    read = context("birds")
    assert read["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Two lists, so two commands.", "signature": "Q291bnQgdGhlbQ=="},
        {"type": "text", "text": "I count both lists."}, call_of("toolu_01", list="garden.txt"), call_of("toolu_02", list="forest.txt")]
    assert {block["tool_use_id"]: block["content"] for block in read["messages"][2]["content"]} == {
        "toolu_01": "4 garden.txt", "toolu_02": "17 forest.txt"}
    assert server().get(url("birds")).json()["name"] == "Birds"


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


def check_other_formats(session, own):
    for form in API_FORMATS:
        if form != own:
            llm_rules.check(context(session, f"format={form}"))


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
    check_other_formats("claude", "anthropic")
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


def test_lines_of_an_answer_beside_the_path():
    """Results that came in another order than their calls, and lines of hooks between the lines of an answer."""
    ask, one = said("u1", None, "Look around"), answer_line("a1", "u1", "msg_1", use("toolu_1"))
    r1 = result("r1", "a1", "toolu_1", "one")
    for number, between in enumerate(([], [claude("progress", "p1", "a1", data={"type": "hook_progress"})])):
        parent = "p1" if between else "a1"
        two, three = answer_line("a2", parent, "msg_1", use("toolu_2")), answer_line("a3", "a2", "msg_1", use("toolu_3"))
        r2, r3 = result("r2", "a2", "toolu_2", "two"), result("r3", "a3", "toolu_3", "three")
        for order, results in enumerate(([r2, r3, r1], [r3, r1, r2], [r1, r2, r3])):
            name = f"aside-{number}-{order}"
            last = answer_line("b1", results[-1]["uuid"], "msg_2", {"type": "text", "text": "Done."})
            bring(name, json_lines(ask, one, *between, two, three, *results, last))
            read = context(name)
            assert read["messages"][1]["content"] == [use("toolu_1"), use("toolu_2"), use("toolu_3")], (name, read["messages"])
            assert sorted(block["content"] for block in read["messages"][2]["content"]) == ["one", "three", "two"], (name, read)
            assert len(read["messages"]) == 4 and not [one for one in read["report"]["repairs"] if one["repair"] != "merged"], read
            check_other_formats(name, "anthropic")


def test_a_cut_keeps_answers_whole():
    """An answer is several lines of a transcript, or several items of a rollout."""
    bring("cut", json_lines(*CLAUDE))
    bring("cut-codex", json_lines(*CODEX))
    for limit in range(2, 8):
        read = context("cut", f"format=anthropic&limit={limit}")
        assert all(one in MESSAGES for one in read["messages"] if one["role"] == "assistant"), (limit, read["messages"])
        types = [one["type"] for one in context("cut-codex", f"format=responses&limit={limit}")["messages"]]
        assert types.count("reasoning") == types.count("function_call") == types.count("function_call_output"), (limit, types)


def test_another_answer_beside_the_path():
    """The first answer was given up: the user went on from its first line."""
    lines = [said("u1", None, "hi"), answer_line("a1", "u1", "msg_1", TEXT), answer_line("x1", "a1", "msg_x", {"type": "text", "text": "Other"}),
             said("x2", "x1", "Other"), said("u2", "a1", "on")]
    bring("given-up", json_lines(*lines))
    assert [one["content"] for one in context("given-up")["messages"]] == ["hi", [TEXT], "on"]


def test_attachments_are_reported():
    """What Claude Code told the model in its own words is in no context, and the report says so."""
    lines = [said("u1", None, "hi"), claude("attachment", "t1", "u1", attachment={"type": "file", "filename": "a", "content": "x"}),
             answer_line("a1", "t1", "msg_1", TEXT)]
    report = bring("attached", json_lines(*lines))
    assert (report["not_in_context"], report["issues"][0]["line"], report["in_context"]) == (1, 2, 2), report
    assert report["issues"][0]["reason"] == "additions of Claude Code to a request are never part of a context", report
    assert len(context("attached")["messages"]) == 2
    kept = {"trigger": "auto", "preTokens": 9, "preservedSegment": {"headUuid": "a1", "anchorUuid": "c2", "tailUuid": "a1"}}
    lines += [claude("system", "c1", None, subtype="compact_boundary", logicalParentUuid="a1", compactMetadata=kept),
              said("c2", "c1", "This session is being continued", isCompactSummary=True)]
    report = bring("attached", json_lines(*lines))
    assert [issue["line"] for issue in report["issues"]] == [2, 4], report
    assert [one["content"] for one in context("attached")["messages"]] == ["This session is being continued"]


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
    check_other_formats("codex", "responses")
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


def test_early_codex_needs_its_first_line():
    items = file_of("codex-early.jsonl").splitlines(keepends=True)[2:]
    error = bring("no-head", b"".join(items), status=400)["detail"]["error_message"]
    assert "it looks like messages of a model's API; `cardbox session add` and POST .../messages append them" in error, error


def test_lines_of_other_programs_are_not_appended():
    for session, lines, what in (("grown", CODEX, "a rollout of codex"), ("grown-2", CLAUDE, "a transcript of Claude Code")):
        bring(session, json_lines(*lines))
        more = {**lines[2 if lines is CODEX else -3], "id": "more", **({"uuid": "more"} if lines is CLAUDE else {})}
        for where in (session, "new-" + session):
            answer = server().post(url(where, "entries"), {"entry": more, "create": {"dialect": "plain"}})
            assert answer.status in (400, 422) and f"a line of {what} is imported, not appended" in str(answer.json()), answer
        label = {"type": "label", "targetId": "b1", "label": "good"}
        assert lines is CODEX or server().post(url(session, "entries"), {"entry": label}).status == 200
        answer = server().post(url(session, "messages"), {"format": "openai", "messages": [{"role": "user", "content": "x"}]})
        assert answer.status == 409 and "export the context with a format, and import it" in answer.json()["detail"]["error_message"], answer
        moved = server().get(url(session, "export") + "?format=anthropic")
        assert moved.status == 200, moved
        bring("moved-" + session, moved.body)
        assert context("moved-" + session)["messages"] == context(session)["messages"]


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
            assert report["dialect"] == "plain" and report["appended"] == len(messages) + (number == 3) and not report["issues"], report
            assert form in report["file"], report
            assert context(name, f"format={form}")["messages"] == messages, name
            assert not bring(name, data.encode())["changed"]
            longer = [*messages, messages[0]]
            assert bring(name, json.dumps({"model": "m", "messages": longer} if number == 3 else longer).encode())["appended"] == 1
    assert bring("kept", json.dumps(OPENAI).encode(), "?force=true")["bad"] == 1 and take("kept") == json.dumps(OPENAI).encode()


def test_arrays_that_are_refused():
    for data, why in ((json.dumps([*OPENAI, *ANTHROPIC]), "the messages are of several formats: give the format of the file"),
                      (json.dumps([{"type": "turn", "text": "x"}]), "types of no API that is known: give the format"),
                      (json.dumps([*OPENAI, 1]), "element 5 of the array is no message"),
                      (json.dumps({"messages": OPENAI}) + "\n" + json.dumps({"messages": OPENAI}), "it looks like messages of a model's API")):
        said_why = bring("refused", data.encode(), status=400)["detail"]["error_message"]
        assert why in said_why, said_why


def test_format_of_an_array():
    """Texts alone fit all formats; and the client may know better than the shape."""
    texts = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    assert bring("texts", json.dumps(texts).encode())["file"] == "messages of the format openai"
    for form in API_FORMATS:
        report = bring(f"texts-{form}", json.dumps(texts).encode(), f"?format={form}")
        assert report["file"].endswith(f" of the format {form}"), report
        assert context(f"texts-{form}", f"format={form}")["messages"] == texts
    assert bring("mixed", json.dumps([*OPENAI, *ANTHROPIC]).encode(), "?format=openai")["appended"] == 8
    assert bring("unknown", json.dumps([{"type": "later_call"}]).encode(), "?format=responses")["appended"] == 1
    bring("mixed", json.dumps(OPENAI).encode(), "?format=xml", status=422)
    for data in (json_lines(*CLAUDE), json_lines({"type": "user", "content": "x"}), json.dumps(conversation()).encode(), b"[1]"):
        error = bring("no-array", data, "?format=openai", status=400)["detail"]["error_message"]
        assert "format is for a JSON array of messages" in error, error


def test_members_beside_messages():
    """The system text, the tools and the parameters of a request are those of the session."""
    bring("request", file_of("request-anthropic.json"))
    read, whole = context("request"), json.loads(file_of("request-anthropic.json"))
    assert (read["system"], read["tools"]) == ("Be brief.", whole["tools"]), read
    assert read["messages"][-1] == {"role": "assistant", "content": [{"type": "text", "text": "Four."}]}
    first, *_, last = map(json.loads, take("request").splitlines())
    assert first["metadata"] == {"model": "claude-sonnet-4-5", "max_tokens": 1000} and "usage" in last["answer"], (first, last)
    bring("instructed", json.dumps({"instructions": "Be brief.", "messages": ITEMS}).encode())
    assert context("instructed", "format=responses")["instructions"] == "Be brief."
    bring("noted", json.dumps({"id": "c", "messages": OPENAI}).encode())
    first = json.loads(take("noted").splitlines()[0])
    assert (first["type"], first["metadata"]) == ("metadata", {"id": "c"}) and context("noted", "format=openai")["messages"] == OPENAI


def test_export_of_a_context():
    bring("out", json.dumps(OPENAI).encode())
    for form in API_FORMATS:
        answer = server().get(url("out", "export") + f"?format={form}")
        assert answer.status == 200 and answer.header("Content-Type").startswith("application/json"), answer
        whole, read = answer.json(), context("out", f"format={form}")
        system = "system" if form == "anthropic" else None
        assert whole == ({system: read[system], "messages": read["messages"]} if system else read["messages"]), whole
        bring(f"in-{form}", answer.body, f"?format={form}")
        again = context(f"in-{form}", f"format={form}")
        assert again["messages"] == read["messages"] and (not system or again[system]), again
    bring("told", file_of("request-anthropic.json"))
    assert server().get(url("told", "export") + "?format=responses").json()["instructions"] == "Be brief."
    leaf = server().get(url("out", "path")).json()["path"][1]["entry_id"]
    assert json.loads(take("out", f"?format=openai&leaf={urllib.parse.quote(leaf)}")) == OPENAI[:2]
    assert server().get(url("out", "export") + "?format=entries").status == 422
    assert server().get(url("no-such", "export") + "?format=openai").status == 404
    assert server().get(url("out", "export") + "?format=openai&leaf=nix").status == 404


# --- files that are refused, and lines that no model sees ---

def test_files_that_are_refused():
    for number, (data, why) in enumerate((
            (b"[1, 2]", "its first 1 lines have no entry and no header (line 1: "), (b"# A page\n\nof prose\n", "(line 1: "),
            (json_lines({"kind": "card", "created_at": "2026-01-01T00:00:00Z"}), "an export of a project; a project is read by `cardbox import`"),
            (json_lines({"role": "user", "content": "x"}), "it looks like messages of a model's API; `cardbox session add`"),
            (json_lines({"type": "turn", "text": "x"}), "from line 1 on, it looks like a file of another program"),
            (json_lines(*[{"messages": OPENAI}] * 2), "import the array of each line as a file of its own"))):
        error = bring(f"no-session-{number}", data, status=400)["detail"]["error_message"]
        assert why in error and "with force, its lines are stored as they are. Accepted are JSON Lines of plain" in error, error
        assert server().get(url(f"no-session-{number}")).status == 404
        bring(f"no-session-{number}", data, "?force=true")
        assert take(f"no-session-{number}") == data


def test_lines_that_no_model_sees():
    """After a good first line too."""
    good, foreign = {"type": "user", "content": "hi"}, {"type": "turn", "text": "x"}
    report = bring("half", json_lines(good, *[foreign] * 120))
    assert (report["in_context"], report["not_in_context"], len(report["issues"])) == (1, 120, 100), report
    report = bring("none", json_lines({"type": "session", "id": "s"}, foreign))
    assert (report["in_context"], report["not_in_context"]) == (0, 1), report
    report = bring("hooks", json_lines(*[claude("progress", f"p{n}", None, data={}) for n in range(3)]))
    assert (report["dialect"], report["in_context"]) == ("claude", 0), report


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
    lines = [json.loads(line) for line in take("chat").splitlines()]
    assert lines[0]["metadata"]["create_time"] == 1764300000.1 and lines[0]["name"] == "A \u201cchat\u201d", lines[0]
    (better,) = [line for line in lines if line.get("message") == TEXTS[1]]
    assert better["timestamp"] == 1764300000250 and better["metadata"]["status"] == "finished_successfully", better
    assert bring("chat-in-array", json.dumps([conversation()]).encode())["appended"] == 10
    assert "several conversations" in bring("chats", json.dumps([conversation(), conversation("2")]).encode(), status=400)["detail"]["error_message"]
    cycle = conversation(mapping={"a": node("a", "b", "user", "x"), "b": node("b", "a", "user", "y"), "c": node("c", "c", "user", "z"), "d": 1})
    assert bring("cycle", json.dumps(cycle).encode())["entries"] == 4


def test_what_chatgpt_has_beside_texts():
    """The texts become messages, and all else becomes entries that the report names."""
    chats = json.loads(file_of("conversations.json"))
    report = bring("bird", json.dumps(chats[0]).encode())
    assert (report["in_context"], report["not_in_context"]) == (3, 3), report
    texts = [{"role": "user", "content": "Which bird is this?"}, {"role": "assistant", "content": "A wren."}]
    assert context("bird", "format=openai")["messages"] == texts
    assert context("bird", "format=openai&leaf=old")["messages"][1]["content"] == "A sparrow."
    lines = {line["id"]: line for line in map(json.loads, take("bird").splitlines())}
    beside = lines[lines["ask"]["parentId"]]
    assert beside["type"] == "chatgpt" and beside["parentId"] == "sys", beside
    assert beside["beside"]["parts"][0]["asset_pointer"] == "sediment://file_1" and beside["beside"]["attachments"][0]["name"] == "bird.png"
    assert lines["say"]["answer"] == {"model": "gpt-5"} and lines["look"]["type"] == "chatgpt", lines
    spoken = conversation(mapping={"a": node("a", None, "user", {"content_type": "multimodal_text", "parts": [
        {"content_type": "audio_transcription", "text": "Hello \u201cyou\u201d"}, {"content_type": "audio_asset_pointer"}, "there"]})}, current_node="a")
    bring("spoken", json.dumps(spoken).encode())
    assert context("spoken", "format=openai")["messages"] == [{"role": "user", "content": "Hello \u201cyou\u201d\nthere"}]


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Messages as models' APIs return them: POST .../messages, and the contexts that have them again."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from cardbox_test import ask, server
from cardbox_test import session_url as url

FORMATS = ("openai", "responses", "anthropic")
PNG = "iVBORw0KGgo="

# Messages with members, blocks and types that CardBox does not know, and with bytes that a JSON library would change.
RAW = {
    "openai": [
        '{"role": "developer", "content":"Be brief.\\u00e9\\/"}',
        '{"content":[{"text":"see","type":"text","cache_control":{"type":"ephemeral"}}], "name":"ann" ,"role":"user"}',
        '{"role":"assistant","content":null,"reasoning_content":"hm","x_new":{"n":12345678901234567890123.10},"refusal":null,'
        '"tool_calls":[{"index":0,"id":"functions.clock:0","type":"function","function":{"name":"clock",'
        '"arguments":"{\\"id\\": 2512292042121000001}"},"extra_content":{"google":{"thought_signature":"S+/="}}}]}',
        '{"role":"tool","tool_call_id":"functions.clock:0","content":"[1, 2]"}',
        '{"role":"assistant","content":"","annotations":[],"audio":{"id":"a"}}',
    ],
    "responses": [
        '{"role":"user","content":[{"type":"input_text","text":"q"},{"type":"input_image","image_url":"https://x.example/a.png"}]}',
        '{"id":"rs_1", "type":"reasoning","summary":[],"encrypted_content":"E=="}',
        '{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}","status":"completed"}',
        '{"type":"function_call_output","call_id":"call_1","output":"r"}',
        '{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}}',
        '{"type":"item_of_next_year","payload":[1.0,2e3]}',
        '{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]}]}',
    ],
    "anthropic": [
        '{"role":"user","content":"q"}',
        '{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"SIG"},{"type":"redacted_thinking","data":"D"},'
        '{"type":"text","text":"t","citations":[{"a":1}]},{"type":"tool_use","id":"toolu_1","name":"f","input":{"n":2512292042121000001}}]}',
        '{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"r"}],'
        '"cache_control":{"type":"ephemeral"}}],"role":"user"}',
        '{"role":"assistant","content":[{"type":"block_of_next_year","x":{}},{"type":"text","text":"done"}]}',
    ],
}


def add(session, form, messages, status=200, headers=None, **more):
    return ask("POST", url(session, "messages"), {"format": form, "messages": messages, **more}, status, **(headers or {})).json()


def add_raw(session, form, messages):
    """`messages`: the text of a JSON array or object."""
    answer = server().request("POST", url(session, "messages"), f'{{"format":"{form}","messages":{messages}}}'.encode(),
                              {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    return answer.json()


def raw_context(session, query=""):
    """The bytes of the messages, and the whole answer."""
    body = ask("GET", url(session, "context") + "?" + query).body
    return re.search(rb'"messages":(\[.*\]),"digests":', body, re.DOTALL).group(1).decode(), json.loads(body)


def context(session, query="", status=200):
    return ask("GET", url(session, "context") + "?" + query, None, status).json()


def append(session, *entries, status=200, dialect="plain"):
    return ask("POST", url(session, "entries"), {"entries": list(entries), "create": {"dialect": dialect}}, status).json()


def stored(session):
    return [json.loads(line) for line in ask("GET", url(session, "export")).body.splitlines()]


def user(text="q"):
    return {"role": "user", "content": text}


def call(name, arguments="{}"):
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": arguments}}


def refusal(detail):
    """The places and the messages of a 422."""
    return [(fault["loc"], fault["msg"]) for fault in detail["detail"]["faults"]]


# --- what goes in comes out ---


def test_byte_for_byte():
    for form, messages in RAW.items():
        whole = "[" + ",".join(messages) + "]"
        add_raw(f"whole-{form}", form, whole)
        for message in messages:
            add_raw(f"single-{form}", form, message)
        for name in (f"whole-{form}", f"single-{form}"):
            out, answer = raw_context(name, f"format={form}")
            assert out == whole, (out, whole)
            assert answer["report"]["repairs"] == answer["report"]["left_out"] == [], answer
            assert answer["report"]["messages_after"] == len(messages) == answer["path_length"]


def test_line_breaks():
    """A session is JSON Lines: a message with line breaks between its tokens is stored compact."""
    add_raw("lines", "openai", '[{\n"role": "user",\r\n "content": "a\\nb"\n}]')
    assert raw_context("lines")[0] == '[{"role":"user","content":"a\\nb"}]'


def test_cut_and_grown():
    """Adding a message changes no earlier byte of the context: prompt caches live from that."""
    for form, messages in RAW.items():
        before = []
        for message in messages:
            add_raw(f"grown-{form}", form, message)
            digests = raw_context(f"grown-{form}", f"format={form}&repair=off")[1]["digests"]
            assert digests[:len(before)] == before and len(digests) == len(before) + 1
            before = digests
        out = raw_context(f"grown-{form}", f"format={form}&limit=2")[0]  # system messages count, and are kept
        assert out.endswith("," + messages[-1] + "]") and len(json.loads(out)) == 2, out
        assert form != "openai" or out.startswith("[" + messages[0])


def test_converted():
    """Other formats follow the rules of their APIs, and the report lists what they leave out."""
    for form, messages in RAW.items():
        add_raw(f"from-{form}", form, "[" + ",".join(messages) + "]")
        for other in FORMATS:
            answer = context(f"from-{form}", f"format={other}")
            if other == "anthropic" != form:
                llm_rules.anthropic(answer["messages"], answer.get("system") or None)
            elif other != form:
                (llm_rules.openai if other == "openai" else llm_rules.responses)(answer["messages"])
            what = {one["what"] for one in answer["report"]["left_out"]}
            assert (other == form) == (what == set()), (form, other, what)
    lost = {form: {one["what"] for one in context(f"from-{form}", f"format={other}")["report"]["left_out"]}
            for form, other in (("openai", "anthropic"), ("responses", "openai"), ("anthropic", "openai"))}
    assert {"reasoning_content", "x_new", "extra_content", "audio"} <= lost["openai"], lost
    assert {"reasoning", "web_search_call", "item_of_next_year"} <= lost["responses"], lost
    assert {"thinking", "citations", "block_of_next_year"} <= lost["anthropic"], lost


# --- the request ---


def test_the_answer():
    """Ids, version and leaf, and where the loop stands."""
    first = add("told", "openai", [user(), {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b", '{"x":1}')]}])
    ids = [one["id"] for one in stored("told")]
    assert first == {"ids": ids, "version": 2, "leaf": ids[-1], "next": "tools", "open_calls": [
        {"id": "a", "name": "f", "arguments": "{}", "entry": ids[1]},
        {"id": "b", "name": "f", "arguments": '{"x":1}', "entry": ids[1]}]}, first
    for name, left in (("b", ["a"]), ("a", [])):
        answer = add("told", "openai", {"role": "tool", "tool_call_id": name, "content": "r"})
        assert [one["id"] for one in answer["open_calls"]] == left and answer["next"] == ("tools" if left else "model"), answer
        read = context("told")
        assert (read["next"], read["open_calls"], read["leaf"]) == (answer["next"], answer["open_calls"], answer["leaf"])
    assert [one["tool_use_id"] for one in context("told", "format=anthropic")["messages"][-1]["content"]] == ["b", "a"]
    for form, answer in (("openai", {"role": "assistant", "content": "done"}), ("openai", {"role": "assistant", "content": ""}),
                         ("openai", {"role": "assistant", "content": None, "refusal": "no"}),
                         ("openai", {"role": "assistant", "content": "\n"}), ("anthropic", {"role": "assistant", "content": []}),
                         ("responses", {"type": "message", "role": "assistant", "content": []})):
        assert add("told", "openai", user("more"))["next"] == "model"
        assert add("told", form, answer)["next"] == context("told", "format=" + form)["next"] == "user", answer
    assert context("told", "format=anthropic")["open_calls"] == []


def test_open_calls_of_each_format():
    """Arguments as the format of the request has them. Calls before the last answer are never open."""
    broken = {"role": "assistant", "content": None, "tool_calls": [call("bad", '{"a": ')]}
    assert add("open", "openai", [user(), broken])["open_calls"][0]["arguments"] == '{"a": '
    assert context("open")["open_calls"][0]["arguments"] == '{"a": '
    assert context("open", "format=anthropic")["open_calls"][0]["arguments"] == {"arguments": '{"a": '}
    assert add("open", "openai", user("never mind"))["open_calls"] == []
    items = [{"type": "function_call", "call_id": "r1", "name": "f", "arguments": "{}"},
             {"type": "custom_tool_call", "call_id": "r2", "name": "g", "input": "free"},
             {"type": "web_search_call", "id": "w", "status": "completed"}]
    answer = add("open", "responses", items)
    assert [(one["id"], one["entry"]) for one in answer["open_calls"]] == [("r1", answer["ids"][0]), ("r2", answer["ids"][1])]
    block = {"type": "tool_use", "id": "u1", "name": "f", "input": {"a": [1]}}
    answer = add("open", "anthropic", [user("go"), {"role": "assistant", "content": [block]}])
    assert [one["arguments"] for one in answer["open_calls"]] == [{"a": [1]}], answer


def test_keys():
    """A repeated request stores nothing twice, also after others. The same key with other messages is a conflict."""
    messages, key = [user("a"), user("b")], {"Idempotency_Key": "turn 1"}

    def send(status=200, messages=messages, key=key):
        return ask("POST", url("keyed", "messages"), {"format": "openai", "messages": messages}, status, **key)

    first = send()
    assert first.header("Idempotent-Replayed") is None
    again = send()
    assert again.json() == first.json() and again.header("Idempotent-Replayed") == "true", again
    add("keyed", "openai", user("c"))
    late = send().json()
    assert (late["ids"], late["version"]) == (first.json()["ids"], 2) and len(stored("keyed")) == 3, late
    detail = send(409, [user("a"), user("other")]).json()["detail"]
    assert detail["error_code"] == "conflict" and detail["current_version"] == 3, detail
    other = send(key={"Idempotency_Key": "turn 2"})
    assert not set(other.json()["ids"]) & set(first.json()["ids"]) and len(stored("keyed")) == 5
    for key in ("", "x" * 513, "\u00e9"):
        assert server().request("POST", url("keyed", "messages"), json.dumps({"format": "openai", "messages": user()}).encode(),
                                {"Content-Type": "application/json", "Idempotency-Key": key.encode("latin-1").decode("latin-1")}
                                ).status == 422, key


def test_versions():
    assert add("versioned", "openai", user())["version"] == 2
    assert add("versioned", "openai", user(), expected_version=2)["version"] == 3
    detail = add("versioned", "openai", user(), 409, expected_version=2)["detail"]
    assert detail["error_code"] == "conflict" and detail["current_version"] == 3, detail
    tag = ask("GET", url("versioned")).header("ETag")
    assert add("versioned", "openai", user(), headers={"If_Match": tag})["version"] == 4
    assert add("versioned", "openai", user(), 412, headers={"If_Match": tag})["detail"]["error_code"] == "precondition_failed"
    # With a version, no session is created.
    assert add("unmade", "openai", user(), 404, expected_version=1)["detail"]["error_code"] == "not_found"
    add("unmade", "openai", user(), 412, headers={"If_Match": tag})
    ask("GET", url("unmade"), None, 404)
    # A repeated request with a key and the version before it is the first one again.
    key = {"Idempotency_Key": "k"}
    first = add("versioned", "openai", user("z"), headers=key, expected_version=4)
    assert add("versioned", "openai", user("z"), headers=key, expected_version=4) == first


def test_create_and_restore():
    assert add("uncreated", "openai", user(), 404, create=False)["detail"]["error_code"] == "not_found"
    ask("GET", url("uncreated"), None, 404)
    add("uncreated", "openai", user(), create=True)
    assert ask("GET", url("uncreated")).json()["dialect"] == "plain"
    add("uncreated", "openai", user(), create=False)
    ask("DELETE", url("uncreated"))
    for more in ({}, {"create": True}, {"restore": False}):
        assert add("uncreated", "openai", user(), 410, **more)["detail"]["error_code"] == "gone"
    assert add("uncreated", "openai", user(), 404, create=False)["detail"]["error_code"] == "not_found"
    assert add("uncreated", "openai", user("new"), restore=True)["version"] == 2
    assert [one["message"]["content"] for one in stored("uncreated")] == ["new"]


def test_pi():
    """A session of pi has its own messages: the answer names the endpoint to use."""
    append("of-pi", {"type": "message", "id": "m", "message": {"role": "user", "content": "hi"}}, dialect="pi")
    for more in ({}, {"create": False}, {"expected_version": 2}):
        detail = add("of-pi", "openai", user(), 409, **more)["detail"]
        assert "POST .../entries" in detail["error_message"] and "dialect pi" in detail["error_message"], detail
        assert detail["current_version"] == 2, detail
    assert len(stored("of-pi")) == 2


def test_parents():
    """A branch begins at parent_id; the head moves to it."""
    ids = add("branched", "openai", [user("a"), {"role": "assistant", "content": "b"}])["ids"]
    answer = add("branched", "openai", [user("c"), user("d")], parent_id=ids[0])
    parents = {one["id"]: one.get("parentId") for one in stored("branched")}
    assert parents[answer["ids"][0]] == ids[0] and parents[answer["ids"][1]] == answer["ids"][0], parents
    assert [one["content"] for one in context("branched")["messages"]] == ["a", "c", "d"]
    assert answer["leaf"] == answer["ids"][1]
    assert add("branched", "openai", user(), 404, parent_id="none")["detail"]["error_code"] == "not_found"
    assert add("branched", "openai", user(), 422, parent_id="")["detail"]["faults"][0]["loc"] == ["body", "parent_id"]


def test_counts():
    answer = add("many", "openai", [user(str(i)) for i in range(1000)])
    assert len(answer["ids"]) == len(set(answer["ids"])) == 1000 and answer["version"] == 2
    assert [one["content"] for one in context("many")["messages"]] == [str(i) for i in range(1000)]
    detail = add("many", "openai", [user()] * 1001, 400)["detail"]
    assert "1000" in detail["error_message"], detail
    assert len(stored("many")) == 1000


def test_whole_answers():
    """A request to Anthropic's API may have only role and content of an answer: its other members are kept beside it."""
    content = '[{"type": "text", "text":"d\\u00e9"}]'
    add_raw("split", "anthropic", '{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":' + content +
            ',"stop_reason":"end_turn","usage":{"input_tokens": 3}}')
    line = ask("GET", url("split", "export")).body.decode()
    assert '"message":{"role":"assistant","content":' + content + "}" in line, line
    assert json.loads(line)["answer"] == {"id": "msg_1", "type": "message", "model": "claude", "stop_reason": "end_turn",
                                          "usage": {"input_tokens": 3}}, line
    add("split", "anthropic", user("bare"))
    assert "answer" not in stored("split")[1]
    out = raw_context("split", "format=anthropic&repair=off")[0]
    assert out.startswith('[{"role":"assistant","content":' + content + "},"), out


def test_model_and_usage():
    """They belong to the last message of the assistant."""
    usage = {"prompt_tokens": 5}
    add("used", "openai", [user(), {"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}, user()],
        model="gpt", usage=usage)
    assert [one.get("answer") for one in stored("used")] == [None, None, {"model": "gpt", "usage": usage}, None]
    add("used", "responses", [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                              {"type": "function_call_output", "call_id": "c", "output": ""}], usage=usage)
    assert [one.get("answer") for one in stored("used")[4:]] == [{"usage": usage}, None]
    # What an answer says itself counts.
    add("used", "anthropic", {"role": "assistant", "content": "x", "model": "claude"}, model="other", usage=usage)
    assert stored("used")[6]["answer"] == {"model": "claude", "usage": usage}
    for more in ({"model": "gpt"}, {"usage": usage}):
        faults = refusal(add("used", "openai", [user()], 422, **more))
        assert "there is none" in faults[0][1], faults


def test_bad_input():
    """Nothing is stored, and the answer says where the fault is."""
    good = user()
    cases = [
        ({"messages": good}, ["body", "format"]),
        ({"format": "xml", "messages": good}, ["body", "format"]),
        ({"format": "messages", "messages": good}, ["body", "format"]),
        ({"format": 1, "messages": good}, ["body", "format"]),
        ({"format": "openai"}, ["body", "messages"]),
        ({"format": "openai", "messages": []}, ["body", "messages"]),
        ({"format": "openai", "messages": "hi"}, ["body", "messages"]),
        ({"format": "openai", "messages": None}, ["body", "messages"]),
        ({"format": "openai", "messages": [good, "hi"]}, ["body", "messages", 1]),
        ({"format": "openai", "messages": [good, None]}, ["body", "messages", 1]),
        ({"format": "openai", "messages": [good, [good]]}, ["body", "messages", 1]),
        ({"format": "openai", "messages": [good, good, {}]}, ["body", "messages", 2]),
        ({"format": "openai", "messages": {"content": "x"}}, ["body", "messages"]),
        ({"format": "openai", "messages": {"role": 1, "content": "x"}}, ["body", "messages"]),
        ({"format": "openai", "messages": {"type": "function_call"}}, ["body", "messages"]),
        ({"format": "responses", "messages": [{"content": "x"}]}, ["body", "messages", 0]),
        ({"format": "anthropic", "messages": [{"content": "x"}]}, ["body", "messages", 0]),
        ({"format": "openai", "messages": {"id": "r", "choices": [{"message": good}]}}, ["body", "messages"]),
        ({"format": "openai", "messages": [good], "model": "m"}, ["body", "messages"]),
        ({"format": "openai", "messages": good, "usage": {}}, ["body", "messages"]),
        ({"format": "openai", "messages": good, "model": 1}, ["body", "model"]),
        ({"format": "openai", "messages": good, "model": "m" * 513}, ["body", "model"]),
        ({"format": "openai", "messages": good, "usage": []}, ["body", "usage"]),
        ({"format": "openai", "messages": good, "create": "no"}, ["body", "create"]),
        ({"format": "openai", "messages": good, "create": {}}, ["body", "create"]),
        ({"format": "openai", "messages": good, "restore": 1}, ["body", "restore"]),
        ({"format": "openai", "messages": good, "parent_id": 1}, ["body", "parent_id"]),
        ({"format": "openai", "messages": good, "expected_version": 0}, ["body", "expected_version"]),
        ({"format": "openai", "messages": good, "expected_version": "1"}, ["body", "expected_version"]),
        ({"format": "openai", "messages": good, "formatt": 1}, ["body", "formatt"]),
        ([], ["body"]),
    ]
    for body, place in cases:
        answer = ask("POST", url("bad", "messages"), body, 422).json()
        assert [one[0] for one in refusal(answer)] == [place], (body, answer)
        assert answer["detail"]["error_code"] == "validation_failed"
    assert "append the message" in refusal(add("bad", "openai", {"choices": []}, 422))[0][1]
    assert "items of its output" in refusal(add("bad", "responses", {"output": []}, 422))[0][1]
    deep = '{"role":"user","content":' + "[" * 300 + "]" * 300 + "}"
    for raw in (f'{{"format":"openai","messages":{deep}}}', '{"format":"openai","messages":{"role":"user","content":"\udcff"}}',
                '{"format":"openai","messages":', ""):
        answer = server().request("POST", url("bad", "messages"), raw.encode("utf-8", "surrogateescape"),
                                  {"Content-Type": "application/json"})
        assert answer.status in (400, 422), (raw[:60], answer)
    ask("GET", url("bad"), None, 404)


def test_nothing_is_refused_for_what_it_means():
    """Roles, blocks and types that nobody has heard of belong to the vendor."""
    for form, message in (("openai", {"role": "robot", "content": 1}), ("openai", {"role": "assistant"}),
                          ("openai", {"role": "tool", "content": "without an id"}), ("anthropic", {"role": "user"}),
                          ("responses", {"type": "x"}), ("responses", {"role": "critic", "content": None})):
        add("any", form, message)
    assert [one["message"] for one in stored("any")][:2] == [{"role": "robot", "content": 1}, {"role": "assistant"}]
    for form in FORMATS:
        context("any", "format=" + form)
    assert json.loads(raw_context("any", "format=openai&repair=off")[0])[0] == {"role": "robot", "content": 1}


def test_entries_with_a_format():
    """POST .../entries takes such entries too, and says so if their format is not one that is known."""
    entry = {"id": "m", "type": "message", "format": "openai", "message": user(), "answer": {"id": "r"}, "metadata": {"a": 1}}
    append("as-entry", entry)
    assert context("as-entry")["messages"] == [user()]
    for bad, said in (({**entry, "id": "n", "format": "openapi"}, 'the unknown format "openapi"'),
                      ({**entry, "id": "n", "format": 3}, "the unknown format 3"),
                      ({**entry, "id": "n", "message": "x"}, "needs an object as its message"),
                      ({"id": "n", "type": "message", "message": user()}, "needs a format: openai, responses or anthropic"),
                      ({**entry, "id": "n", "usage": 1}, 'unknown member "usage"'),
                      ({"id": "n", "type": "settings", "format": "xml"}, 'the unknown format "xml"')):
        for answer in (append("as-entry", bad, status=422), ask("POST", url("unmade-entry", "entries"), {
                "entries": [bad], "create": {"dialect": "plain"}}, 422).json()):
            assert said in refusal(answer)[0][1] and "dialect pi" not in str(answer), answer
    # Without a dialect, an unknown format is no entry of pi either.
    answer = ask("POST", url("unmade-entry", "entries"), {"entries": [{**entry, "format": "xml"}], "create": {}}, 422).json()
    assert 'the unknown format "xml"' in refusal(answer)[0][1], answer
    append("as-entry", {"id": "s", "type": "settings", "format": "openai", "tools": [], "system": "x", "parameters": {}})
    assert context("as-entry")["leaf"] == "s"
    assert context("as-entry")["messages"] == [{"role": "system", "content": "x"}, user()]


# --- real users' trouble ---


def pi(role, **members):
    return {"type": "message", "message": {"role": role, **members}}


def thinking_of_pi(name, content, **members):
    append(name, pi("user", content="q"), pi("assistant", content=[*content, {
        "type": "toolCall", "id": "t1", "name": "f", "arguments": {}}], **members),
        pi("toolResult", toolCallId="t1", content=[{"type": "text", "text": "r"}]), dialect="pi")
    return {form: context(name, "format=" + form) for form in FORMATS}


def test_signed_thinking():
    """F02, F03: whole, also with an empty text; sent if Anthropic is named, or nothing."""
    named = [{"api": "anthropic-messages"}, {"provider": "anthropic"}, {"model": "claude-x"}, {"api": "bedrock-converse-stream"},
             {"api": "anthropic-vertex"}, {}]
    for i, members in enumerate(named):
        for text in ("", "hm"):
            block = {"type": "thinking", "thinking": text, "thinkingSignature": "SIG"}
            made = thinking_of_pi(f"signed-{i}-{text}", [block], **members)["anthropic"]
            assert made["messages"][1]["content"] == [
                {"type": "thinking", "thinking": text, "signature": "SIG"},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {}}], (members, made)
    other = thinking_of_pi("signed-other", [{"type": "thinking", "thinking": "hm", "thinkingSignature": "SIG"}], api="google")
    for form in FORMATS:
        assert [one["what"] for one in other[form]["report"]["left_out"]] == ["thinking"], other[form]
        assert "SIG" not in json.dumps(other[form]["messages"])


def test_reasoning_content():
    """F05: thinking that was a member of a message of chat completions is this member again."""
    for member in ("reasoning_content", "reasoning", "reasoning_text"):
        blocks = [{"type": "thinking", "thinking": text, "thinkingSignature": member} for text in ("R1\n\u00e9", "R2")]
        made = thinking_of_pi("reason-" + member, blocks, api="openai-completions")
        message = made["openai"]["messages"][1]
        assert message[member] == "R1\n\u00e9\nR2" and list(message) == ["role", "content", member, "tool_calls"], message
        assert made["openai"]["report"]["left_out"] == []
        for form in ("anthropic", "responses"):
            assert "R1" not in json.dumps(made[form]["messages"])
            assert [one["what"] for one in made[form]["report"]["left_out"]] == ["thinking"] * 2, made[form]
    empty = [{"type": "thinking", "thinking": "", "thinkingSignature": "reasoning_content"}]
    assert thinking_of_pi("reason-empty", empty, api="openai-completions")["openai"]["messages"][1]["reasoning_content"] == ""
    for name, api, signature in (("api", "openai-responses", "reasoning_content"), ("name", "openai-completions", "content")):
        blocks = [{"type": "thinking", "thinking": "R1", "thinkingSignature": signature}]
        made = thinking_of_pi("reason-not-" + name, blocks, api=api)["openai"]
        assert set(made["messages"][1]) == {"role", "content", "tool_calls"}, made
        assert [one["what"] for one in made["report"]["left_out"]] == ["thinking"]
    # A message that has nothing else is left out, and the report says so.
    append("reason-alone", pi("user", content="q"), pi("assistant", api="openai-completions", content=[
        {"type": "thinking", "thinking": "R", "thinkingSignature": "reasoning"}]), dialect="pi")
    report = context("reason-alone")["report"]
    assert [one["what"] for one in report["left_out"]] == ["thinking"] and report["repairs"][0]["repair"] == "empty_message"


def test_broken_arguments():
    """F06b: valid JSON goes out, and a repair says so; also in the same format."""
    for i, (arguments, sent) in enumerate((('{"a": ', {"arguments": '{"a": '}), ("[1]", {"arguments": "[1]"}), ("", {}), (" ", {}),
                                           ("null", {"arguments": "null"}), ('{"a":1}x', {"arguments": '{"a":1}x'}))):
        append(f"broken-{i}", {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [
            {"id": "c", "name": "f", "params": arguments}]}, {"type": "tool_result", "toolCallId": "c", "output": "r"})
        add(f"broken-own-{i}", "openai", [user(), {"role": "assistant", "content": None, "tool_calls": [call("c", arguments)]},
                                          {"role": "tool", "tool_call_id": "c", "content": "r"}])
        for name in (f"broken-{i}", f"broken-own-{i}"):
            made = context(name)
            assert json.loads(made["messages"][1]["tool_calls"][0]["function"]["arguments"]) == sent, (arguments, made)
            items = context(name, "format=responses")
            assert json.loads(items["messages"][1]["arguments"]) == sent
            assert context(name, "format=anthropic")["messages"][1]["content"][0]["input"] == sent
            wanted = [] if (arguments == "" and name == f"broken-{i}") else ["arguments"]
            assert [one["repair"] for one in made["report"]["repairs"]] in (wanted, ["arguments"]), (arguments, made["report"])


def test_ids_of_calls():
    """F07: ids of other servers are kept; where an API refuses them, others derive from them, and results match both."""
    for i, one in enumerate(("functions.clock:0", "x" * 46, "a b")):
        append(f"ids-{i}", {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [{"id": one, "name": "f", "params": {}}]})
        made = context(f"ids-{i}")
        assert made["messages"][1]["tool_calls"][0]["id"] == made["messages"][2]["tool_call_id"] == made["open_calls"][0]["id"] == one
        other = context(f"ids-{i}", "format=anthropic")
        shown = other["open_calls"][0]["id"]
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", shown) and other["messages"][1]["content"][0]["id"] == shown
        assert (shown == one) == (one == "x" * 46)
        add(f"ids-{i}", "anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": shown, "content": "r"}]})
        made = context(f"ids-{i}")
        assert made["open_calls"] == [] and made["messages"][2] == {"role": "tool", "tool_call_id": one, "content": "r"}, made
        assert made["report"]["repairs"] == []


def blocks_of(output, **members):
    """What each format makes of the output of a tool."""
    name = f"output-{blocks_of.count}"
    blocks_of.count += 1
    append(name, {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [{"id": "c", "name": "f", "params": {}}]},
           {"id": "r", "type": "tool_result", "toolCallId": "c", "output": output, **members})
    made = {form: context(name, "format=" + form) for form in FORMATS}
    return made["anthropic"]["messages"][2]["content"][0], made


blocks_of.count = 0


def test_outputs_of_mcp():
    """F09: blocks are blocks, not a text of JSON. Other arrays and objects stay text."""
    text, image = {"type": "text", "text": "shot"}, {"type": "image", "data": PNG, "mimeType": "image/png"}
    sent = [text, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]
    for output in ([text, image], {"content": [text, image]}, {"content": [text, image], "isError": False}):
        block, made = blocks_of(output)
        assert block["content"] == sent and "is_error" not in block, block
        openai = made["openai"]["messages"]
        assert openai[2]["content"] == "shot" and openai[3]["content"][1]["image_url"]["url"] == "data:image/png;base64," + PNG, openai
        assert made["responses"]["messages"][2]["output"] == [
            {"type": "input_text", "text": "shot"}, {"type": "input_image", "image_url": "data:image/png;base64," + PNG}]
        assert all(one["report"]["left_out"] == [] for one in made.values()), made
    block, made = blocks_of({"content": [text], "isError": True, "structuredContent": {"a": 1}})
    assert block["is_error"] is True and block["content"] == [text], block
    assert all(one["report"]["left_out"] == [{"entry": "r", "what": "structuredContent"}] for one in made.values()), made
    block, made = blocks_of({"content": [text, image], "isError": True})
    llm_rules.anthropic(made["anthropic"]["messages"])
    assert PNG in json.dumps(made["openai"]["messages"]) and PNG in json.dumps(made["responses"]["messages"])
    assert [one["repair"] for one in made["anthropic"]["report"]["repairs"]] == ["dropped_block"]
    block, made = blocks_of([{"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
                             {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "image/png", "blob": PNG}},
                             {"type": "resource_link", "uri": "file:///c", "name": "c"}])
    assert block["content"][0] == {"type": "text", "text": "inside"} and block["content"][1] == sent[1], block
    assert json.loads(block["content"][2]["text"])["uri"] == "file:///c"
    block, made = blocks_of([text, {"type": "audio", "data": PNG, "mimeType": "audio/wav"}])
    assert block["content"] == [text] and made["openai"]["report"]["repairs"] == [{"repair": "dropped_block", "entry": "r", "message": 2}]
    for output in ([], [1], ["a"], [text, 1], [{"type": "text"}], [{"text": "a"}], {"content": []}, {"content": "a"}, {"content": [1]},
                   [{"type": "row", "text": "a"}]):
        block, made = blocks_of(output)
        assert block["content"] == [{"type": "text", "text": json.dumps(output)}], (output, block)


def test_results_of_cards():
    """F09: the same of ToolResultContent, and of cards of the type tool.result."""
    text, image = {"type": "text", "text": "shot"}, {"type": "image", "data": PNG, "mimeType": "image/png"}
    own = {"__type__": "ToolResultContent", "status": "success", "result": [text, image], "after_execution": "terminate"}
    for i, content in enumerate((own, {**own, "result": {"content": [text, image]}}, {"status": "success", "result": [text, image]})):
        call_id = f"call-of-{i}"
        cards = [{"card_id": f"ask-{i}", "content": "q", "metadata": {"type": "user"}},
                 {"card_id": f"call-{i}", "content": {"tool_name": "f", "arguments": {}}, "metadata": {"type": "tool.call"},
                  "tool_call_id": call_id},
                 {"card_id": f"result-{i}", "content": content, "metadata": {"type": "tool.result"}, "tool_call_id": call_id}]
        ask("POST", "/projects/p/cards", {"cards": cards})
        box = ask("POST", "/projects/p/boxes", {"card_ids": [one["card_id"] for one in cards]}).json()["box_id"]
        made = ask("GET", f"/projects/p/boxes/{box}/context?format=anthropic").json()
        assert made["messages"][-1]["content"][0]["content"] == [
            text, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}], made
        assert (made["next"], made["open_calls"]) == ("model", [])


def test_notes_on_old_leaves():
    """F10: what no model sees does not move the head to another branch."""
    for name, note in (("metadata", {"type": "metadata"}), ("label", {"type": "label", "targetId": "a1", "label": "x"}),
                       ("settings", {"type": "settings", "tools": []}), ("session_info", {"type": "session_info", "name": "n"})):
        append("note-" + name, {"id": "u1", "type": "user", "content": "q"}, {"id": "a1", "type": "assistant", "content": "a"},
               {"id": "u2", "type": "user", "content": "r"}, {"id": "a2", "type": "assistant", "content": "b"})
        append("note-" + name, {"id": "exit", "parentId": "a1", **note})
        made = context("note-" + name)
        assert made["leaf"] == "a2" and len(made["messages"]) == 4, (name, made)


def test_images_in_budgets():
    """F11, F04: an image counts as 1,600 tokens, and only what fits is read."""
    image = {"type": "image", "data": "A" * (1 << 20), "mimeType": "image/png"}
    append("shots", {"type": "user", "content": [{"type": "text", "text": "q"}, image]})
    made = context("shots", "token_budget=200000")
    assert 1600 < made["report"]["token_estimate"]["tokens"] < 1700 and len(made["messages"]) == 1
    assert context("shots", "token_budget=1500", 422)
    for i in range(11):
        entries = [{"id": f"u{i}", "type": "user", "content": [{**image, "data": "A" * (3200 << 10)}]},
                   {"id": f"a{i}", "type": "assistant", "content": "seen"}]
        append("album", *entries)
    append("album", {"id": "now", "type": "user", "content": "and now?"})
    assert context("album", "", 413)["detail"]["error_code"] == "too_large"
    made = context("album", "limit=2")
    assert [one["content"] for one in made["messages"]] == ["seen", "and now?"]
    assert made["path_length"] == 23 and made["report"]["omitted_messages"] == 21, made["report"]
    made = context("album", "token_budget=5000")
    assert 3200 < made["report"]["token_estimate"]["tokens"] <= 5000 and made["messages"][-1]["content"] == "and now?"


def test_what_appends_refuse():
    """F14, F21, F25, F28."""
    said = refusal(append("refused", {"role": "developer", "content": "Be brief."}, status=422))[0][1]
    assert "POST .../messages" in said, said
    for kind in ("developer", "function", "model"):
        assert "POST .../messages" in refusal(append("refused", {"type": kind, "content": "x"}, status=422))[0][1]
    said = refusal(append("refused", {"type": "user", "name": "alice", "content": "hi"}, status=422))[0][1]
    assert 'unknown member "name"' in said, said
    said = refusal(append("refused", {"id": "g", "type": "user", "content": "a"}, {"id": "g", "type": "assistant", "content": "b"},
                          status=422))[0][1]
    assert "entries[0] and entries[1] have the id \"g\"" in said, said
    block, made = blocks_of(None)
    assert block["content"] == [{"type": "text", "text": "(no output)"}], made


def test_speakers():
    """F25: the name of who speaks reaches the model in each format."""
    add("names", "openai", {**user("hi"), "name": "alice"})
    assert context("names")["messages"][0]["name"] == "alice"
    assert context("names", "format=responses")["messages"][0]["content"] == "alice:\nhi"
    assert "alice" in json.dumps(context("names", "format=anthropic")["messages"])


def test_large_integers():
    """F15: arguments are text, and numbers of other formats keep their digits."""
    add_raw("digits", "openai", '[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":'
            '"function","function":{"name":"f","arguments":"{\\"id\\":2512292042121000001}"}}]}]')
    append("digits-plain", {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [
        {"id": "c", "name": "f", "params": '{"id":2512292042121000001}'}]})
    for name in ("digits", "digits-plain"):
        for form in FORMATS:
            body = ask("GET", url(name, "context") + "?format=" + form).body
            assert body.count(b"2512292042121000001") == 2, (name, form, body)


def test_one_result():
    """A call has one result: the last successful one, else the last. Results of several appends join their answer."""
    answer = {"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ("a", "b")]}

    def result(call_id, text, **members):
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text, **members}]}

    add("results", "anthropic", [user(), answer, result("b", "1", is_error=True), result("a", "2"), result("b", "3"),
                                 result("b", "4", is_error=True)])
    made = context("results", "format=anthropic")
    assert [one["role"] for one in made["messages"]] == ["user", "assistant", "user"]
    assert [(one["tool_use_id"], one["content"]) for one in made["messages"][2]["content"]] == [("a", "2"), ("b", "3")], made
    assert {"merged", "second_result"} <= {one["repair"] for one in made["report"]["repairs"]}
    assert [one["content"] for one in context("results")["messages"][2:]] == ["2", "3"]


def test_the_ability():
    """session:add does the same."""
    path = "/projects/p/abilities/session:add"
    body = {"session_id": "by-ability", "format": "openai", "messages": [user(), {"role": "assistant", "content": "a"}],
            "idempotency_key": "k", "model": "m"}
    first = ask("POST", path, body).json()
    assert ask("POST", path, body).json() == first and first["next"] == "user" and first["version"] == 2
    assert stored("by-ability")[1]["answer"] == {"model": "m"}
    answer = ask("POST", path, {**body, "model": None, "messages": [user(), {"content": "x"}], "idempotency_key": "l"}, 422).json()
    assert "/messages/1" in json.dumps(answer), answer
    ask("POST", path, {**body, "session_id": "nothing", "create": False}, 404)


if __name__ == "__main__":
    cardbox_test.main(globals())

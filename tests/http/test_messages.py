#!/usr/bin/env python3
"""Messages as models' APIs return them: POST .../messages, and the contexts that have them again."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from api_session import FORMATS, add, add_raw, append, call, context, raw_context, refusal, stored, user
from cardbox_test import ask, server
from cardbox_test import session_url as url

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
    """A repeated request stores nothing twice, also after others: its answer has the first ids, and where the loop stands now.
    The same key with other messages is a conflict."""
    messages, key = [user("a"), user("b")], {"Idempotency_Key": "turn 1"}

    def send(status=200, messages=messages, key=key):
        return ask("POST", url("keyed", "messages"), {"format": "openai", "messages": messages}, status, **key)

    first = send()
    assert first.header("Idempotent-Replayed") is None
    again = send()
    assert again.json() == first.json() and again.header("Idempotent-Replayed") == "true", again
    add("keyed", "openai", user("c"))
    late = send().json()
    assert late == {**first.json(), "version": 3, "leaf": stored("keyed")[-1]["id"]} and len(stored("keyed")) == 3, late
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
        assert "POST .../entries" in detail["error_message"] and "dialect plain" in detail["error_message"], detail
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


def test_empty_outputs():
    """A tool may return nothing: an empty list, an empty text, or null."""
    for i, output in enumerate(([], "", None, [{"type": "input_text", "text": ""}])):
        messages = [user(), {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "c", "output": output}]
        made = add(f"empty-{i}", "responses", messages)
        assert (made["next"], made["open_calls"]) == ("model", []), made
        assert context(f"empty-{i}", "format=responses")["messages"] == messages
        assert context(f"empty-{i}")["messages"][2] == {"role": "tool", "tool_call_id": "c", "content": "(no output)"}
        llm_rules.anthropic(context(f"empty-{i}", "format=anthropic")["messages"])


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

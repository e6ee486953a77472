#!/usr/bin/env python3
"""Messages of models' APIs: results of parallel calls, settings that are cleared, and the options of contexts for thinking
and for members that an API does not document."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from api_session import FORMATS, add, add_raw, append, call, context, pi, raw_context, stored, user
from cardbox_test import ask, server
from cardbox_test import session_url as url


def result(form, name, text="r"):
    return {"openai": {"role": "tool", "tool_call_id": name, "content": text},
            "responses": {"type": "function_call_output", "call_id": name, "output": text},
            "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": text}]}}[form]


def answer(form, *names):
    """The messages of an answer with calls."""
    if form == "openai":
        return [{"role": "assistant", "content": None, "tool_calls": [call(name) for name in names]}]
    if form == "anthropic":
        return [{"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in names]}]
    return [{"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"} for name in names]


def begun(session, form, *names):
    """A session with an answer. Returns the id of its first entry."""
    return add(session, form, [user(), *answer(form, *names)])["ids"][1]


def parents(session):
    return {one["id"]: one.get("parentId") for one in stored(session)}


# --- results of parallel calls ---


def test_results_start_no_branch():
    """Each result names the entry of its call as its parent, as a client that runs tools at once does."""
    for form in FORMATS:
        session = "parallel-" + form
        called = begun(session, form, "a", "b", "c")
        ids, many = [], form == "responses"  # the entry of a call is not the end of an answer with several items
        for at, name in enumerate(("b", "c", "a")):
            made = add(session, form, result(form, name), parent_id=called)
            assert made.get("parent_moved") == (True if at > 0 or many else None), made
            assert made["leaf"] == made["ids"][0] and len(made["open_calls"]) == 2 - at, made
            ids += made["ids"]
        tree = parents(session)
        assert [tree[one] for one in ids[1:]] == ids[:2] and made["next"] == "model"
        assert (tree[ids[0]] == called) != many, tree
        assert len(ask("GET", url(session, "leaves")).json()["entries"]) == 1
        made = context(session, "format=" + form)
        assert made["open_calls"] == [] and not {"synthetic_result"} & {one["repair"] for one in made["report"]["repairs"]}
    # A parent that is a result of the answer is no other case.
    made = add("parallel-openai", "openai", result("openai", "a", "again"), parent_id=ids_of("parallel-openai")[2])
    assert made["parent_moved"] is True and parents("parallel-openai")[made["ids"][0]] == ids_of("parallel-openai")[4]


def ids_of(session):
    return [one["id"] for one in stored(session)]


def test_late_results_stay_with_their_answer():
    """A conversation that has gone on gets a branch, which begins after the results that are stored."""
    called = begun("late", "openai", "a", "b")
    first = add("late", "openai", [result("openai", "a"), user("go on"), {"role": "assistant", "content": "ok"}])["ids"][0]
    made = add("late", "openai", [result("openai", "b")], parent_id=called)
    assert made["parent_moved"] is True and parents("late")[made["ids"][0]] == first
    assert [one.get("tool_call_id") for one in context("late")["messages"]] == [None, None, "a", "b"]


def test_what_is_no_result_starts_a_branch():
    called = begun("branches", "openai", "a", "b")
    stored_result = add("branches", "openai", result("openai", "a"))["ids"][0]
    for at, messages in enumerate(([user("never mind")], [result("openai", "b"), user("and?")], [{"role": "assistant", "content": "x"}])):
        made = add("branches", "openai", messages, parent_id=called)
        assert "parent_moved" not in made and parents("branches")[made["ids"][0]] == called, (at, made)
    # Another parent than the answer or a result of it: a message of a user, or an answer of a later step.
    asked = add("branches", "openai", user("more"), parent_id=stored_result)["ids"][0]
    for name in "ab":
        made = add("branches", "openai", result("openai", name), parent_id=asked)
        assert "parent_moved" not in made and parents("branches")[made["ids"][0]] == asked, made
    add("branches", "openai", result("openai", "b"), 404, parent_id="none")


def test_settings_between_results():
    """Entries that no model sees are between an answer and its results."""
    called = begun("between", "openai", "a", "b", "c")
    first = add("between", "openai", result("openai", "a"), parent_id=called, tools=[])
    append("between", {"id": "note", "type": "label", "targetId": called, "label": "x"})
    second = add("between", "openai", result("openai", "b"), parent_id=called, tools=[])
    third = add("between", "openai", result("openai", "c"), parent_id=called, tools=[{"type": "x"}])
    assert [one.get("parent_moved") for one in (first, second, third)] == [None, True, True]
    tree = parents("between")
    assert tree[second["ids"][0]] == first["ids"][0] and tree[tree[third["ids"][0]]] == second["ids"][0], tree
    made = context("between")
    assert len(made["messages"]) == 5 and made["tools"] == [{"type": "x"}] and made["report"]["repairs"] == []


def test_keys_and_versions_of_moved_results():
    called = begun("moved", "openai", "a", "b")
    key = {"Idempotency_Key": "b"}
    add("moved", "openai", result("openai", "a"), expected_version=2)
    first = add("moved", "openai", result("openai", "b"), headers=key, parent_id=called, expected_version=3)
    assert first["parent_moved"] is True and first["version"] == 4
    assert add("moved", "openai", result("openai", "b"), headers=key, parent_id=called, expected_version=3) == first
    add("moved", "openai", user("go on"))
    again = add("moved", "openai", result("openai", "b"), headers=key, parent_id=called, expected_version=3)
    assert (again["ids"], again["parent_moved"], again["version"], again["next"]) == (first["ids"], True, 5, "model")
    for more in ({}, {"parent_id": first["ids"][0]}):
        assert add("moved", "openai", result("openai", "b"), 409, headers=key, **more)["detail"]["error_code"] == "conflict"
    body = {"session_id": "moved-2", "format": "openai", "messages": [user(), *answer("openai", "a", "b")]}
    ids = ask("POST", "/projects/p/abilities/session:add", body).json()["ids"]
    for at, name in enumerate("ab"):
        made = ask("POST", "/projects/p/abilities/session:add",
                   {**body, "messages": result("openai", name), "parent_id": ids[1]}).json()
        assert made.get("parent_moved") == (True if at else None), made


# --- settings ---


def settings(session):
    made = context(session)
    return made["messages"][0]["content"] if made["messages"][0]["role"] == "system" else None, made.get("tools"), made.get("parameters")


def test_null_clears_a_setting():
    tools = [{"type": "function", "function": {"name": "f"}}]
    add("cleared", "openai", user(), system="s", tools=tools, parameters={"a": 1})
    assert settings("cleared") == ("s", tools, {"a": 1})
    for at, (given, left) in enumerate((({"tools": None}, ("s", None, {"a": 1})), ({"system": None, "tools": None}, (None, None, {"a": 1})),
                                        ({"tools": tools}, (None, tools, {"a": 1})), ({"parameters": None}, (None, tools, None)))):
        add("cleared", "openai", user(), **given)
        assert settings("cleared") == left, (given, settings("cleared"))
        entry = [one for one in stored("cleared") if one["type"] == "settings"][-1]
        assert all(entry[name] == value for name, value in given.items() if name in entry), entry
    count = len(stored("cleared"))
    add("cleared", "openai", user(), system=None, parameters=None)  # they are clear already
    assert len(stored("cleared")) == count + 1
    body = {"session_id": "cleared", "format": "openai", "messages": user(), "tools": None, "system": [{"type": "text", "text": "t"}]}
    ask("POST", "/projects/p/abilities/session:add", body)
    assert settings("cleared") == ("t", None, None)
    add("never", "openai", user(), system=None, tools=None, parameters=None)
    assert [one["type"] for one in stored("never")] == ["message"]


# --- thinking ---

SIGNED = [{"type": "thinking", "thinking": "t", "signature": "S"}, {"type": "redacted_thinking", "data": "D"}]


def turns(form):
    """Two turns of an agent with thinking, each with a call, and with text beside a result in the second."""
    if form == "responses":
        return [one for name in "ab" for one in (user("q" + name), {"type": "reasoning", "id": "rs_" + name, "summary": []},
                                                 *answer(form, name), result(form, name))]
    if form == "openai":
        return [one for name in "ab" for one in (user("q" + name), {"reasoning_content": "R", **answer(form, name)[0], "reasoning_details": [1]},
                                                 result(form, name))]
    made = []
    for name in "ab":
        calls = answer(form, name)[0]["content"]
        made += [user("q" + name), {"role": "assistant", "content": [*SIGNED, *calls]}, result(form, name)]
    made[-1]["content"].append({"type": "text", "text": "a reminder"})
    return made


def without(form, messages):
    """The messages without thinking."""
    if form == "responses":
        return [one for one in messages if one.get("type") != "reasoning"]
    if form == "openai":
        return [{name: value for name, value in one.items() if not name.startswith("reasoning")} for one in messages]
    return [{**one, "content": [block for block in one["content"] if block not in SIGNED]} if one["role"] == "assistant" else one
            for one in messages]


def test_thinking():
    for form in FORMATS:
        messages = turns(form)
        half = len(messages) // 2
        add("think-" + form, form, messages)
        for query, sent, count in (("all", messages, 0), ("turn", without(form, messages[:half]) + messages[half:], 1),
                                   ("none", without(form, messages), 2)):
            for repair in ("on", "off"):
                made = context("think-" + form, f"format={form}&thinking={query}&repair={repair}")
                assert made["messages"] == sent, (form, query, made["messages"])
                left = [one["what"] for one in made["report"]["left_out"]]
                each = {"openai": ["reasoning_content", "reasoning_details"], "responses": ["reasoning"],
                        "anthropic": ["thinking"] * 2}[form]
                assert left == each * count and made["report"]["repairs"] == [], (form, query, made["report"])
        if form != "anthropic":  # a limit counts what is left
            assert context("think-" + form, f"format={form}&thinking=none&limit=3")["messages"] == without(form, messages)[-3:]
        assert context("think-" + form, f"format={form}")["digests"] == context("think-" + form, f"format={form}&thinking=all")["digests"]
        assert context("think-" + form, "thinking=some", 422)["detail"]["faults"][0]["loc"] == ["query", "thinking"]


def test_thinking_in_bytes():
    """All other bytes stay, wherever the thinking is."""
    cases = (('{"role":"assistant", "reasoning":"R" , "content" : "x"}', '{"role":"assistant", "content" : "x"}'),
             ('{"reasoning":"R","reasoning_content":null,"role":"assistant","content":"x"}', '{"role":"assistant","content":"x"}'),
             ('{"role":"assistant","content":"x" , "reasoning":"R","reasoning_details":[{"a":1.0}] }', '{"role":"assistant","content":"x" }'),
             ('{"role":"assistant","tool_calls":[],"reasoning":"R","content":"1"}', '{"role":"assistant","content":"1"}'),
             ('{"role":"assistant","content":"1","reasoning":"R","tool_calls":[]}', '{"role":"assistant","content":"1"}'),
             ('{"role":"assistant","content":"1","tool_calls":[],"reasoning":"R"}', '{"role":"assistant","content":"1"}'))
    for at, (given, sent) in enumerate(cases):
        add_raw(f"bytes-{at}", "openai", given)
        assert raw_context(f"bytes-{at}", "thinking=none")[0] == f"[{sent}]", (given, raw_context(f"bytes-{at}", "thinking=none")[0])
    thought = '{"type":"thinking","thinking":"","signature":""}'
    for at, (given, sent) in enumerate(((f'[{thought} , {{"type":"text","text":"a"}}]', '[{"type":"text","text":"a"}]'),
                                        (f'[{{"type":"text","text":"a"}}, {thought},{thought}]', '[{"type":"text","text":"a"}]'),
                                        (f'[ {thought} ]', None))):
        add_raw(f"blocks-{at}", "anthropic", '[{"role":"user","content":"q"},{"content": ' + given + ',"role":"assistant"}]')
        out, made = raw_context(f"blocks-{at}", "format=anthropic&thinking=none")
        wanted = '[{"role":"user","content":"q"}' + (f',{{"content": {sent},"role":"assistant"}}]' if sent else "]")
        assert out == wanted, (given, out)
        wanted = [[], ["dropped_block"] * 2, ["empty_message"]][at]  # a repair removes thinking at the end of an answer
        assert [one["repair"] for one in made["report"]["repairs"]] == wanted, (given, made["report"])


def test_thinking_beside_repairs():
    """What a repair removes or adds stays so, also right beside thinking and unknown blocks."""
    blank, thought, dream = {"type": "text", "text": " "}, {"type": "thinking", "thinking": "t", "signature": "S"}, {"type": "dream"}
    text = {"type": "text", "text": "a"}
    for i, content in enumerate(([text, blank, dream], [dream, blank, thought, text], [thought, blank, text, thought], [blank, text, dream, blank])):
        add(f"repaired-{i}", "anthropic", [user(), {"role": "assistant", "content": content}, user()])
        made = context(f"repaired-{i}", "format=anthropic&thinking=none&members=known")
        assert made["messages"][1]["content"] == [text], (content, made["messages"][1])
    add("repaired-answer", "openai", [user(), {"role": "assistant", "reasoning": "R", "tool_calls": [], "content": None}])
    for query in ("", "thinking=none", "members=known"):
        made = context("repaired-answer", query)
        assert made["messages"][1]["content"] == "" and "tool_calls" not in made["messages"][1], (query, made)
        assert {one["repair"] for one in made["report"]["repairs"]} == {"no_calls", "no_content"}, made["report"]


def test_thinking_of_pi():
    for api, form, block, what in (("anthropic-messages", "anthropic", "SIG", "SIG"),
                                   ("openai-completions", "openai", "reasoning_content", '"reasoning_content":"hm"')):
        thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": block}
        for name in "ab":
            append("pi-" + form, pi("user", content="q" + name), pi("assistant", api=api, content=[thought, {"type": "text", "text": "x"}]),
                   dialect="pi")
        for query, count in (("all", 2), ("turn", 1), ("none", 0)):
            out, made = raw_context("pi-" + form, f"format={form}&thinking={query}")
            assert out.count(what) == count and len(made["report"]["left_out"]) == 2 - count, (query, out)
            assert len(made["messages"]) == 4


# --- documented members ---

# For each format: messages, and what is left of them.
UNKNOWN = {
    "openai": [
        ({"role": "user", "content": [{"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}}], "name": "ann"},
         {"role": "user", "content": [{"type": "text", "text": "q"}], "name": "ann"}),
        ({"role": "assistant", "content": None, "reasoning_content": "hm", "annotations": [], "refusal": None, "tool_calls": [
            {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}', "parsed": {}},
             "extra_content": {"google": 1}}], "audio": {"id": "a", "transcript": "t"}},
         {"role": "assistant", "content": None, "refusal": None, "tool_calls": [
             {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}], "audio": {"id": "a"}}),
        ({"role": "tool", "tool_call_id": "c", "content": "r", "name": "f"}, {"role": "tool", "tool_call_id": "c", "content": "r"}),
        ({"role": "critic", "content": "x"}, None),
        ({"role": "user", "content": [{"type": "video_url", "video_url": {"url": "x"}}, {"type": "image_url", "image_url": {
            "url": "https://x.example/a.png", "detail": "low", "size": 1}}]},
         {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.example/a.png", "detail": "low"}}]}),
        ({"role": "assistant", "content": "done", "provider_specific_fields": {}}, {"role": "assistant", "content": "done"}),
    ],
    "responses": [
        ({"role": "user", "content": [{"type": "input_text", "text": "q", "x": 1}], "created_at": 1},
         {"role": "user", "content": [{"type": "input_text", "text": "q"}]}),
        ({"type": "reasoning", "id": "rs_0", "summary": [], "format": "x"}, {"type": "reasoning", "id": "rs_0", "summary": []}),
        ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "created_by": "x"},
         {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}),
        ({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "r"}, {"type": "hologram", "x": 1}]},
         {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "r"}]}),
        ({"type": "reasoning", "id": "rs_1", "summary": []}, None),  # the item after it is left out
        ({"type": "item_of_next_year", "x": 1}, None),
        ({"role": "user", "content": "more"}, {"role": "user", "content": "more"}),
        ({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a", "annotations": [], "parsed": 1}], "score": 2},
         {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a", "annotations": []}]}),
        ({"type": "shell_call_output", "call_id": "s", "output": [{"stdout": "", "stderr": "", "outcome": {}}]},) * 2,
    ],
    "anthropic": [
        ({"role": "user", "content": [{"type": "text", "text": "q", "source": "web", "cache_control": {"type": "ephemeral"}}]},
         {"role": "user", "content": [{"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}}]}),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "S", "format": "x"}, {"type": "dream", "x": 1},
                                           {"type": "tool_use", "id": "c", "name": "f", "input": {"content": [{"type": "dream"}], "x": 1}, "raw": "x"}]},
         {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "S"},
                                           {"type": "tool_use", "id": "c", "name": "f", "input": {"content": [{"type": "dream"}], "x": 1}}]}),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "r", "y": 1}, {"type": "dream"}],
                                       "duration": 3}, {"type": "dream"}]},
         {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "r"}]}]}),
        ({"role": "assistant", "content": "a"},) * 2,
    ],
}


def test_members():
    for form, messages in UNKNOWN.items():
        add("known-" + form, form, [given for given, _ in messages])
        made = context("known-" + form, f"format={form}&members=known")
        assert made["messages"] == [sent for _, sent in messages if sent is not None], (form, made["messages"])
        assert context("known-" + form, f"format={form}&members=all")["messages"] == [given for given, _ in messages]
        what = [one["what"] for one in made["report"]["left_out"]]
        wanted = {"openai": {"cache_control", "reasoning_content", "index", "extra_content", "transcript", "name", "role", "video_url", "size"},
                  "responses": {"x", "created_at", "format", "created_by", "hologram", "item_of_next_year", "parsed", "score"},
                  "anthropic": {"source", "format", "dream", "raw", "y", "duration"}}[form]
        assert set(what) == wanted and what.count("dream") == (3 if form == "anthropic" else 0), (form, what)
        assert [one["repair"] for one in made["report"]["repairs"]] == (["reasoning"] if form == "responses" else []), made["report"]
        assert context("known-" + form, f"format={form}&members=known&thinking=none")["report"]["left_out"]
    assert context("known-openai", "members=some", 422)["detail"]["faults"][0]["loc"] == ["query", "members"]


def test_members_of_converted_messages():
    """What is made for another format has only what its API documents."""
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "reasoning_content"}
    append("known-pi", pi("user", content="q"), pi("assistant", api="openai-completions", content=[thought, {"type": "text", "text": "a"}]),
           dialect="pi")
    assert context("known-pi")["messages"][1]["reasoning_content"] == "hm"
    made = context("known-pi", "members=known")
    assert made["messages"][1] == {"role": "assistant", "content": "a"}
    assert [one["what"] for one in made["report"]["left_out"]] == ["thinking"]


def test_options_of_abilities():
    add("by-ability-2", "openai", [user(), {"role": "assistant", "content": "a", "reasoning": "R", "x": 1}])
    body = {"session_id": "by-ability-2"}
    for more, sent in (({"thinking": "none"}, {"role": "assistant", "content": "a", "x": 1}), ({"thinking": "all"}, None),
                       ({"members": "known"}, {"role": "assistant", "content": "a"})):
        made = ask("POST", "/projects/p/abilities/session:context", {**body, **more}).json()
        assert made["messages"][1] == (sent or {"role": "assistant", "content": "a", "reasoning": "R", "x": 1}), made
    ask("POST", "/projects/p/abilities/session:context", {**body, "thinking": "some"}, 422)


def test_options_of_boxes():
    message = {"role": "assistant", "content": "a", "reasoning": "R", "x": 1}
    cards = [{"card_id": "asked", "content": "q", "metadata": {"type": "user"}},
             {"card_id": "answered", "content": {"__type__": "MessageContent", "format": "openai", "message": message}, "metadata": {}}]
    ask("POST", "/projects/p/cards", {"cards": cards})
    box = ask("POST", "/projects/p/boxes", {"card_ids": ["asked", "answered"]}).json()["box_id"]
    for query, left in (("", {"reasoning", "x"}), ("thinking=none", {"x"}), ("thinking=turn", {"reasoning", "x"}), ("members=known", set())):
        made = ask("GET", f"/projects/p/boxes/{box}/context?{query}").json()
        assert made["messages"][1] == {name: message[name] for name in message if name in left | {"role", "content"}}, (query, made)
    made = ask("POST", "/projects/p/abilities/box:context", {"box_id": box, "members": "known", "thinking": "none"}).json()
    assert made["messages"][1] == {"role": "assistant", "content": "a"}, made


# --- paths that begin in the middle ---


def bring(session, *lines):
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    made = server().request("POST", url(session, "import"), body, {"Content-Type": "application/x-ndjson"})
    assert made.status == 200, made


def test_path_begins_at_break():
    begin = {"id": "a", "parentId": "gone", "type": "user", "content": "q"}
    bring("torn", begin, {"id": "b", "parentId": "a", "type": "assistant", "content": "a"},
          {"id": "whole", "type": "user", "content": "w"}, {"id": "c", "parentId": "b", "type": "user", "content": "r"})
    for query in ("", "limit=1", "token_budget=100", "leaf=b", "format=entries", "repair=off"):
        assert context("torn", query)["report"]["path_begins_at_break"] == "gone", query
    assert "path_begins_at_break" not in context("torn", "leaf=whole")["report"]
    fork = ask("POST", url("torn", "fork"), {"entry_id": "b"}).json()["session_id"]
    assert context(fork)["report"]["path_begins_at_break"] == "gone"
    made = ask("POST", "/projects/p/abilities/session:context", {"session_id": "torn"}).json()
    assert made["report"]["path_begins_at_break"] == "gone"
    bring("torn", begin, {"id": "b", "parentId": "a", "type": "assistant", "content": "a"},
          {"id": "whole", "type": "user", "content": "w"}, {"id": "c", "parentId": "b", "type": "user", "content": "r"},
          {"id": "gone", "type": "user", "content": "first"})
    made = context("torn", "leaf=c")
    assert "path_begins_at_break" not in made["report"] and made["messages"][0]["content"] == "first"
    bring("torn-pi", {"type": "message", "id": "m", "parentId": "before", "timestamp": "2026-01-02T03:04:05.000Z",
                      "message": {"role": "user", "content": "q"}})
    assert context("torn-pi")["report"]["path_begins_at_break"] == "before"
    append("unbroken", {"id": "u", "parentId": None, "type": "user", "content": "q"})
    assert "path_begins_at_break" not in context("unbroken")["report"]


if __name__ == "__main__":
    cardbox_test.main(globals())

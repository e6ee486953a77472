#!/usr/bin/env python3
"""The settings of requests to models: system text, tools and parameters. An append of messages stores them if they
differ from those on the path, and contexts return them in the format of each API."""

import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import ask, server, url

PROJECT = "settings"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
OPENAI = {"type": "function", "function": {"name": "find", "description": "finds", "parameters": SCHEMA}}
RESPONSES = {"type": "function", "name": "find", "description": "finds", "parameters": SCHEMA, "strict": False}
ANTHROPIC = {"name": "find", "description": "finds", "input_schema": SCHEMA}


def user(text):
    return {"role": "user", "content": text}


def add(session, *messages, status=200, key=None, **more):
    body = {"format": "openai", "messages": list(messages), **more}
    headers = {"Idempotency-Key": key} if key else {}
    return ask("POST", url(PROJECT, "sessions", session, "messages"), body, status, **headers).json()


def tree(session):
    return [(node["type"], node["entry_id"], node["parent_id"], node["entry"])
            for node in ask("GET", url(PROJECT, "sessions", session, "tree") + "?lines=100000").json()["entries"]]


def types(session):
    return [node[0] for node in tree(session)]


def context(session, form, query=""):
    return ask("GET", url(PROJECT, "sessions", session, "context") + f"?format={form}{query}").json()


def test_stored_if_they_differ():
    """Compared as jsonb. A setting that is not given keeps its value."""
    add("differ", user("1"), system="be kind", tools=[OPENAI])
    add("differ", user("2"), system="be kind", tools=[dict(reversed(OPENAI.items()))])
    add("differ", user("3"))
    assert types("differ") == ["settings", "message", "message", "message"], tree("differ")
    add("differ", user("4"), user("5"), parameters={"temperature": 0.5})
    assert types("differ")[4:] == ["settings", "message", "message"]
    nodes = tree("differ")
    assert [node[2] for node in nodes] == [None, *(node[1] for node in nodes[:-1])]
    assert all(node[3].get("parentId") == node[2] for node in nodes)
    last = nodes[4][3]
    assert (last["system"], last["tools"], last["parameters"], last["format"]) == \
        ("be kind", [OPENAI], {"temperature": 0.5}, "openai"), last
    add("differ", user("6"), system="be brief")
    assert tree("differ")[7][3]["system"] == "be brief" and tree("differ")[7][3]["tools"] == [OPENAI]
    assert [node["role"] for node in context("differ", "openai")["messages"]] == ["system"] + 6 * ["user"]


def test_a_branch_has_its_own():
    """The path to the parent counts, and the settings do not move the head to another branch."""
    first = add("branch", user("1"), system="a")["ids"][0]
    add("branch", user("2"), system="b")
    there = add("branch", user("3"), parent_id=first, system="a")
    assert types("branch").count("settings") == 2 and there["leaf"] == there["ids"][0]
    moved = add("branch", user("4"), parent_id=first, system="c")
    nodes = {node[1]: node for node in tree("branch")}
    settings = nodes[nodes[moved["ids"][0]][2]]
    assert settings[0] == "settings" and settings[2] == first == settings[3]["parentId"], settings
    assert [m["content"] for m in context("branch", "openai")["messages"]] == ["c", "1", "4"]
    append = url(PROJECT, "sessions", "branch", "entries")
    ask("POST", append, {"entries": [{"type": "settings", "parentId": first, "system": "d"}]})
    assert ask("GET", url(PROJECT, "sessions", "branch")).json()["head_entry_id"] == moved["ids"][0]
    missing = add("branch", user("5"), parent_id="none", system="e", status=404)
    assert "none" in json.dumps(missing)


def test_a_key():
    """A repeat stores nothing, also if others changed the settings since."""
    one = add("keyed", user("1"), user("2"), key="k", system="a", tools=[])
    add("keyed", user("3"), system="b")
    count = len(tree("keyed"))
    again = add("keyed", user("1"), user("2"), key="k", system="a", tools=[])
    assert again["ids"] == one["ids"] and again["version"] == 3 and len(tree("keyed")) == count
    add("keyed", user("1"), user("2"), key="k", system="c", tools=[], status=409)
    add("keyed", user("1"), user("2"), key="k", status=409)
    assert len(tree("keyed")) == count
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: add("at-once", user("x"), key="same", system="s"), range(8)))
    assert len({answer["ids"][0] for answer in answers}) == 1 and types("at-once") == ["settings", "message"]


def test_expected_version():
    version = add("version", user("1"), system="a")["version"]
    add("version", user("2"), system="b", expected_version=version + 7, status=409)
    add("version", user("2"), system="b", expected_version=version)
    assert types("version") == ["settings", "message"] * 2
    add("no-session", user("1"), system="a", create=False, status=404)
    add("no-session", user("1"), system="a", expected_version=1, status=404)


def test_writers_at_once():
    """The decision is made under the session's lock."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: add("many", user(str(n)), system="s", tools=[OPENAI]), range(16)))
    assert sorted(types("many")) == ["message"] * 16 + ["settings"], types("many")


def test_formats():
    add("formats", user("1"), system="be kind", tools=[OPENAI], parameters={"top_p": 1.0})
    openai, responses, anthropic = (context("formats", form) for form in ("openai", "responses", "anthropic"))
    assert openai["messages"][0] == {"role": "system", "content": "be kind"} and "system" not in openai
    assert responses["instructions"] == "be kind" and len(responses["messages"]) == 1
    assert anthropic["system"] == "be kind" and len(anthropic["messages"]) == 1
    assert (openai["tools"], responses["tools"], anthropic["tools"]) == ([OPENAI], [RESPONSES], [ANTHROPIC])
    for answer in (openai, responses, anthropic):
        assert answer["parameters"] == {"top_p": 1.0} and answer["report"]["left_out"] == [], answer
    settings = tree("formats")[0][1]
    assert openai["sources"][0] == [settings] == responses["system_sources"] == anthropic["system_sources"]
    cut = context("formats", "openai", "&limit=2")
    assert cut["messages"][0]["content"] == "be kind" and cut["tools"] == [OPENAI]


def test_blocks_of_anthropic():
    system = [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "two"}]
    built_in = {"type": "web_search_20250305", "name": "web_search"}
    tools = [{**ANTHROPIC, "cache_control": {"type": "ephemeral"}}, built_in]
    add("blocks", {"role": "user", "content": "1"}, format="anthropic", system=system, tools=tools)
    raw = ask("GET", url(PROJECT, "sessions", "blocks", "context") + "?format=anthropic").body
    assert json.dumps(system, separators=(",", ":")).encode() in raw.replace(b", ", b",").replace(b": ", b":")
    assert context("blocks", "anthropic")["tools"] == tools
    openai, responses = context("blocks", "openai"), context("blocks", "responses")
    assert openai["messages"][0]["content"] == "one\n\ntwo" == responses["instructions"]
    assert openai["tools"] == [OPENAI] and responses["tools"] == [RESPONSES]
    for answer in (openai, responses):
        assert sorted(one["what"] for one in answer["report"]["left_out"]) == \
            ["cache_control", "cache_control", "web_search_20250305"], answer["report"]
    add("blocks", {"role": "system", "content": "three"})
    both = context("blocks", "anthropic")
    assert both["system"] == system + [{"type": "text", "text": "three"}], both["system"]


def test_exact_bytes():
    r"""A context has the bytes that were given, also \u0000 and numbers that jsonb changes."""
    system, tools = '"a \\u0000 \\\\u0041 \\\\ \\" é"', '[ {"name":"t", "input_schema": {"x":1.00, "x":2e0}} ]'
    for at, more in enumerate(("", ',"parameters":{"seed":12345678901234567890}')):
        body = f'{{"format":"anthropic","messages":{{"role":"user","content":"{at}"}},"system":{system},"tools":{tools}{more}}}'
        answer = server().request("POST", url(PROJECT, "sessions", "exact", "messages"), body,
                                  {"Content-Type": "application/json"})
        assert answer.status == 200, answer
    assert types("exact") == ["settings", "message", "settings", "message"]
    raw = ask("GET", url(PROJECT, "sessions", "exact", "context") + "?format=anthropic").body.decode()
    assert f'"system":{system},' in raw and f'"tools":{tools},' in raw and '{"seed":12345678901234567890}' in raw, raw


def test_refused():
    for more in ({"system": 5}, {"system": ["x"]}, {"system": {}}, {"tools": "x"}, {"tools": ["x"]}, {"tools": {}},
                 {"parameters": []}):
        add("refused", user("1"), status=422, **more)
    ask("GET", url(PROJECT, "sessions", "refused"), None, 404)
    add("refused", user("1"), system=None, tools=None, parameters=None)
    assert types("refused") == ["message"]


def test_many_settings_before_a_cut():
    for n in range(30):
        add("long", user(str(n)), system=f"system {n % 3}")
    cut = context("long", "anthropic", "&limit=2")
    assert cut["system"] == "system 2" and len(cut["messages"]) <= 2, cut
    assert add("long", user("x"))["next"] == "model"


def test_ability():
    body = {"session_id": "bus", "format": "responses", "messages": [{"role": "user", "content": "x"}], "system": "s",
            "tools": [RESPONSES]}
    answer = ask("POST", url(PROJECT, "abilities", "session:add"), body).json()
    assert "ids" in json.dumps(answer) and types("bus") == ["settings", "message"]
    assert context("bus", "responses")["instructions"] == "s"


if __name__ == "__main__":
    cardbox_test.main()

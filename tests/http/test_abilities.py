#!/usr/bin/env python3
"""The bus over HTTP: every ability on good, missing, wrong and extra input, held to the schemas that
it promises; errors, scopes, tenants, and that nothing a client sends is a 500."""

import concurrent.futures
import json
import os
import random
import sys
import urllib.parse
import uuid

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, Server, cardbox, dsn, once, server

JSON = {"Content-Type": "application/json"}
NOWHERE = "01970000-0000-7000-8000-0000000000ff"
HOSTILE = ["", " ", "\u0000", "\ud800", "a\u0001b", "x" * 513, "ü" * 300, "'; DROP TABLE cards", "%00",
           "💥", NOWHERE.upper(), "null", "1e999"]


@once
def described():
    """Every ability as GET .../abilities/{id} shows it."""
    listed = server().get("/projects/acme/abilities").json()["abilities"]
    return {a["id"]: server().get(f"/projects/acme/abilities/{a['id']}").json() for a in listed}


def call(ability, value, tenant="acme", expect=None, headers=None, at=None):
    """Invokes; a value is sent as JSON, bytes as they are. What comes back has the promised form."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    path = f"/projects/{urllib.parse.quote(tenant, safe='')}/abilities/{ability}"
    answer = (at or server()).request("POST", path, body, {**JSON, **(headers or {})})
    assert answer.status == expect or expect is None, \
        f"{ability} {body[:200]!r}: {answer.status} {answer.body[:500]!r}"
    if answer.status == 200 and ability in described():
        jsonschema.Draft202012Validator(described()[ability]["outputSchema"]).validate(answer.json())
    return answer


def ask(ability, value, **options):
    return call(ability, value, expect=200, **options).json()


def refused(ability, value, status, code, words, **options):
    detail = call(ability, value, expect=status, **options).json()["detail"]
    assert detail["error_code"] == code and words in detail["error_message"], detail
    return detail


def new_box(*ids, tenant="acme"):
    return ask("box:create", {"card_ids": list(ids)}, tenant=tenant)["box_id"]


def new_card(tenant="acme", **members):
    return ask("card:add", {"content": "hello", **members}, tenant=tenant)["card_id"]


def a_task(**members):
    task = {"id": str(uuid.uuid4()), "systemPrompt": "you are \u0000 \ud800 exact", "createdAt": 1000,
            "updatedAt": 1000.0, **members}
    ask("ldg:task:save", {"task": task})
    return task


def a_message(task, **members):
    message = {"id": str(uuid.uuid4()), "taskId": task["id"], "role": "user", "content": "hi ",
               "timestamp": 1000, **members}
    assert ask("ldg:msg:save", {"message": message})["messageId"] == message["id"]
    return message


def a_call(task=None, **members):
    task = task or a_task()
    call_ = {"id": str(uuid.uuid4()), "taskId": task["id"], "abilityName": "card:get",
             "parameters": "{\"card_id\": \"x\"}", "status": "pending", "details": "{}",
             "createdAt": 1000, "updatedAt": 1000, "startMessageId": a_message(task)["id"], **members}
    ask("ldg:call:save", {"call": call_})
    return call_


def an_entry(identifier, parent, **members):
    return {"id": identifier, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", "type": "user",
            "content": "hello", **members}


def a_session(*entries):
    name = str(uuid.uuid4())
    ask("session:create", {"session_id": name, "dialect": "plain"})
    ask("session:append", {"session_id": name, "entries": list(entries) or [an_entry("e1", None)]})
    return name


def a_tree():
    """a - b - c, and d behind b; c has a label."""
    return a_session(an_entry("a", None), an_entry("b", "a", type="assistant"), an_entry("c", "b"),
                     an_entry("d", "b"), {"type": "label", "id": "l", "parentId": "c", "targetId": "c",
                                          "timestamp": "2025-01-02T03:04:05Z", "label": "here"})


# A good input for each, made when it is needed.
GOOD = {
    "bus:list": lambda: {},
    "bus:abilities": lambda: {"moduleName": "card"},
    "bus:schema": lambda: {"abilityId": "card:add"},
    "bus:inspect": lambda: {"abilityId": "card:add"},
    "card:get": lambda: {"card_id": new_card()},
    "card:batch": lambda: {"card_ids": [new_card(), "not there", new_card()]},
    "card:list": lambda: {"type": new_card(type="t") and "t", "meta": {"type": "t"}, "limit": 2,
                          "created_after": "2020-01-01T00:00:00Z", "tool_call_ids": []},
    "card:revisions": lambda: {"card_id": new_card(), "limit": 1},
    "card:boxes": lambda: {"card_id": (lambda card: new_box(card) and card)(new_card())},
    "card:add": lambda: {"card_id": str(uuid.uuid4()), "content": {"a": [1.50, None]},
                         "metadata": {"k": 1}, "tool_calls": [{"id": "c"}], "role": "assistant",
                         "created_at": "2025-01-02T03:04:05Z", "ttl_seconds": 2.0,
                         "sealed": False, "strict": True, "restore": True},
    "card:add_many": lambda: {"cards": [{"content": 1}, {"content": 2, "type": "x"}], "sealed": True},
    "card:from_entry": lambda: {"session_id": a_session(), "entry_id": "e1", "card_id": str(uuid.uuid4())},
    "card:delete": lambda: {"card_id": new_card()},
    "box:get": lambda: {"box_id": new_box("a", "b"), "at_length": 1},
    "box:cards": lambda: {"box_id": new_box(new_card(), "not there"), "limit": 5},
    "box:context": lambda: {"box_id": new_box(new_card(role="user")), "format": "openai",
                            "repair": "on", "limit": 10},
    "box:list": lambda: {"limit": new_box() and 1},
    "box:log": lambda: {"box_id": new_box("a"), "limit": 1},
    "box:create": lambda: {"box_id": str(uuid.uuid4()), "card_ids": ["a"], "parent_ids": [NOWHERE]},
    "box:append": lambda: {"box_id": new_box(), "card_ids": ["a"], "expected_version": 1,
                           "idempotency_key": "k"},
    "box:replace": lambda: {"box_id": new_box("a"), "card_ids": [], "expected_version": 1},
    "box:fork": lambda: {"box_id": new_box("a", "b"), "new_box_id": str(uuid.uuid4()), "at_length": 1},
    "box:seal": lambda: {"box_id": new_box("a")},
    "box:delete": lambda: {"box_id": new_box()},
    "session:list": lambda: {"limit": a_session() and 1},
    "session:get": lambda: {"session_id": a_session()},
    "session:context": lambda: {"session_id": a_session(), "entry_id": "e1", "compare": "e1", "format": "anthropic",
                                "repair": "on"},
    "session:delete": lambda: {"session_id": a_session()},
    "session:entry": lambda: {"session_id": a_session(), "entry_id": "e1"},
    "session:tree": lambda: {"session_id": a_tree(), "limit": 2, "lines": 1000},
    "session:children": lambda: {"session_id": a_tree(), "entry_id": "b", "limit": 1, "lines": 0},
    "session:leaves": lambda: {"session_id": a_tree(), "limit": 1, "lines": 9},
    "session:branch_points": lambda: {"session_id": a_tree(), "limit": 1, "lines": 1048576},
    "session:labels": lambda: {"session_id": a_tree(), "limit": 1, "lines": 5},
    "session:path": lambda: {"session_id": a_tree(), "entry_id": "d", "limit": 1, "lines": 5},
    "session:diff": lambda: {"session_id": a_tree(), "a": "c", "b": "d", "limit": 1, "lines": 500},
    "session:create": lambda: {"session_id": str(uuid.uuid4()), "dialect": "pi", "cwd": "/", "strict": True},
    "session:append": lambda: {"session_id": a_session(), "entries": [an_entry("e2", "e1")],
                               "expected_version": 2, "idempotency_key": "k"},
    "session:add": lambda: {"session_id": str(uuid.uuid4()), "format": "openai", "model": "m", "usage": {"total_tokens": 3},
                            "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}],
                            "create": True, "idempotency_key": "k"},
    "session:head": lambda: {"session_id": a_tree(), "entry_id": "b", "expected_head": "d",
                             "expected_version": 2},
    "session:fork": lambda: {"session_id": a_tree(), "entry_id": "b", "new_session_id": str(uuid.uuid4())},
    "ldg:task:save": lambda: {"task": a_task(parentTaskId=a_task()["id"], completionStatus="failed: x")},
    "ldg:task:get": lambda: {"taskId": a_task()["id"]},
    "ldg:task:query": lambda: {"parentTaskId": a_task(parentTaskId=a_task()["id"])["parentTaskId"],
                               "completionStatus": "null", "fromTime": 0, "toTime": 5000, "limit": 1,
                               "offset": 0},
    "ldg:call:save": lambda: {"call": a_call()},
    "ldg:call:list": lambda: {"taskId": a_call()["taskId"]},
    "ldg:msg:save": lambda: {"message": a_message(a_task())},
    "ldg:msg:list": lambda: {"taskId": a_message(a_task())["taskId"], "limit": 1, "offset": 0},
    "task:spawn": lambda: {"goal": "do it", "parentTaskId": a_task()["id"], "systemPrompt": "you"},
    "task:send": lambda: {"receiverId": a_task()["id"], "message": "go on"},
    "task:cancel": lambda: {"taskId": a_task()["id"], "reason": "no more"},
    "task:finish": lambda: {"taskId": a_task()["id"], "completionStatus": "done"},
    "task:active": lambda: {"limit": 3},
    "usage:query": lambda: {"from": "2020-01-01", "by": "model"},
    "search:find": lambda: {"q": new_card() and "hello", "kind": "card", "role": "user", "limit": 5,
                            "created_after": "2020-01-01T00:00:00Z"},
}


def test_every_ability_has_an_example():
    assert set(described()) == set(GOOD)


def test_the_list_and_the_bus_agree():
    modules = ask("bus:list", {})["modules"]
    assert [m["name"] for m in modules][:3] == ["bus", "card", "box"], modules
    seen = []
    for module in modules:
        abilities = ask("bus:abilities", {"moduleName": module["name"]})["abilities"]
        assert len(abilities) == module["abilityCount"]
        seen += [a["id"] for a in abilities]
    assert seen == list(described())
    for name, shown in described().items():
        assert ask("bus:inspect", {"abilityId": name})["meta"] == shown
        schemas = ask("bus:schema", {"abilityId": name})
        assert schemas["inputSchema"] == shown["inputSchema"]
        assert schemas["outputSchema"] == shown["outputSchema"]
        assert f"{shown['moduleName']}:{shown['abilityName']}" == name


def test_schemas_are_schemas():
    for shown in described().values():
        for name in ("inputSchema", "outputSchema"):
            jsonschema.Draft7Validator.check_schema(shown[name])
            jsonschema.Draft202012Validator.check_schema(shown[name])


def test_good_input():
    for name, good in GOOD.items():
        value = good()
        jsonschema.Draft202012Validator(described()[name]["inputSchema"]).validate(value)
        ask(name, value)


def test_missing_members():
    for name, good in GOOD.items():
        for member in described()[name]["inputSchema"].get("required", []):
            value = good()
            del value[member]
            refused(name, value, 422, "validation_failed", f"/{member}: is missing")


def test_extra_members():
    for name, good in GOOD.items():
        refused(name, {**good(), "surplus": 1}, 422, "validation_failed", "/surplus: is not known here")
    refused("box:create", {"box_id": NOWHERE, "parent_ids": [NOWHERE]}, 422, "validation_failed", "can't be its own parent")


def test_wrong_members():
    """Every member as another type; whatever jsonschema refuses is refused."""
    for name, good in GOOD.items():
        schema = described()[name]["inputSchema"]
        for member in schema["properties"]:
            value = good()
            for wrong in (None, True, 1.5, -1, "", [1], {"a": 1}, "x" * 5000, [{}] * 3):
                value[member] = wrong
                if wrong is None and member not in schema.get("required", []):
                    assert name == "ldg:task:query" or call(name, value).status != 422, (name, member)
                    continue
                if jsonschema.Draft202012Validator(schema).is_valid(value):
                    continue
                detail = refused(name, value, 422, "validation_failed", f"/{member}")
                assert detail["reason"] == "invalid", detail


def test_all_faults_at_once():
    """Missing members are listed first. A fault of an unknown member lists the known members."""
    detail = refused("bus:inspect", {"id": "task:spawn"}, 422, "validation_failed",
                     "/abilityId: is missing; /id: is not known here (known: abilityId)")
    assert detail["faults"] == [
        {"type": "value_error", "loc": ["body", "abilityId"], "msg": "is missing"},
        {"type": "value_error", "loc": ["body", "id"], "msg": "is not known here (known: abilityId)"}], detail
    detail = refused("card:add_many", {"cards": [{"content": 1, "ttl_seconds": "x"}, {}] * 9}, 422,
                     "validation_failed", "; 8 more")
    assert len(detail["faults"]) == 10, detail
    assert detail["faults"][0]["loc"] == ["body", "cards", 0, "ttl_seconds"], detail
    detail = refused("card:add_many", {"cards": "x", "sealed": 1}, 422, "validation_failed", "/cards: expected")
    assert [fault["loc"] for fault in detail["faults"]] == [["body", "cards"], ["body", "sealed"]], detail
    assert "faults" not in refused("card:get", {"card_id": "nothing"}, 404, "error", "card not found")


def test_inputs_that_are_none():
    for name in GOOD:
        refused(name, b"[]", 422, "validation_failed", "expected \"object\", got array")
        refused(name, b"{", 400, "bad_request", "not valid JSON at byte 1")
        refused(name, b"{\"a\":" + b"[" * 300 + b"]" * 300 + b"}", 400, "bad_request", "nested")
    assert call("bus:list", b"", expect=200).json()["modules"]
    refused("card:get", b"", 422, "validation_failed", "/card_id: is missing")
    refused("card:get", b'{"card_id":"a","card_id":"b"}', 422, "validation_failed", "more than once")


def test_unknown_abilities():
    for name in ("card:fly", "card", "%20", "x" * 300, "%F0%9F%92%A5" * 60):
        detail = refused(name, {}, 404, "invalid_ability", "there is no ability")
        assert "hint" in detail
        assert server().get(f"/projects/acme/abilities/{name}").status == 404
    refused("bus:inspect", {"abilityId": "card:fly"}, 404, "error", "there is no ability")


def test_card_from_entry():
    """A box of such cards gives the messages that the session gives."""
    plain = a_session(an_entry("u", None), an_entry("a", "u", type="assistant", toolCalls=[
        {"id": "c1", "name": "t", "params": {"n": 1}}]),
        {"id": "r", "parentId": "a", "type": "tool_result", "toolCallId": "c1", "output": "done", "success": True},
        an_entry("m", "r", type="metadata"))
    pi = str(uuid.uuid4())
    ask("session:create", {"session_id": pi, "dialect": "pi"})
    ask("session:append", {"session_id": pi, "entries": [
        {"type": "message", "id": "u", "message": {"role": "user", "content": "hello"}},
        {"type": "message", "id": "a", "message": {"role": "assistant", "content": [
            {"type": "text", "text": "hi"}, {"type": "toolCall", "id": "c1", "name": "t", "arguments": {"n": 1}}]}},
        {"type": "message", "id": "r", "message": {"role": "toolResult", "toolCallId": "c1", "toolName": "t", "content": [
            {"type": "text", "text": "done"}]}}]})
    for session in plain, pi:
        made = [ask("card:from_entry", {"session_id": session, "entry_id": entry}) for entry in "uar"]
        again = [ask("card:from_entry", {"session_id": session, "entry_id": entry}) for entry in "uar"]
        assert [card["outcome"] for card in made + again] == ["inserted"] * 3 + ["unchanged"] * 3, (made, again)
        assert ask("card:get", {"card_id": made[0]["card_id"]})["sealed"] is True
        box = new_box(*(card["card_id"] for card in made))
        of_box, of_session = (ask(what, {**where, "format": "openai"})["messages"] for what, where in (
            ("box:context", {"box_id": box}), ("session:context", {"session_id": session})))
        assert of_box == of_session, (of_box, of_session)
    refused("card:from_entry", {"session_id": plain, "entry_id": "no"}, 404, "error", "no")
    refused("card:from_entry", {"session_id": plain, "entry_id": "m"}, 422, "validation_failed", "contains no message")


def test_errors_of_abilities():
    assert refused("card:get", {"card_id": "nothing"}, 404, "error", "card not found")["reason"] == "not_found"
    refused("card:delete", {"card_id": "nothing"}, 404, "error", "card not found")
    for name in ("box:get", "box:cards", "box:context", "box:log", "box:fork", "box:seal", "box:delete"):
        refused(name, {"box_id": NOWHERE}, 404, "error", "box not found")
    refused("box:get", {"box_id": new_box(), "at_version": 9}, 404, "error", "no such version of the box")
    box = new_box("a")
    detail = refused("box:append", {"box_id": box, "card_ids": ["b"], "expected_version": 7}, 409,
                     "error", "version")
    assert detail["current_version"] == 1 and detail["reason"] == "conflict", detail
    refused("box:create", {"box_id": box}, 409, "error", "")
    sealed = new_card(sealed=True)
    refused("card:delete", {"card_id": sealed}, 409, "error", "sealed")
    refused("card:add", {"card_id": sealed, "content": "other"}, 409, "error", "")
    gone = new_card()
    ask("card:delete", {"card_id": gone})
    refused("card:add", {"card_id": gone, "content": "hello"}, 410, "error", "")
    assert ask("card:add", {"card_id": gone, "content": "hello", "restore": True})["outcome"] == "restored"


def test_what_a_schema_cannot_say():
    for value, words in (({"box_id": "x" * 36}, "expected a UUID"),
                         ({"box_id": NOWHERE, "at_version": 1, "at_length": 1}, "give one of"),
                         ({"box_id": NOWHERE, "at_time": "yesterday"}, "must be a time")):
        refused("box:get", value, 422, "validation_failed", words)
    refused("box:list", {"cursor": "nonsense"}, 422, "validation_failed", "cursor")
    refused("box:log", {"box_id": NOWHERE, "cursor": "x"}, 422, "validation_failed", "cursor")
    refused("box:append", {"box_id": NOWHERE, "card_ids": ["a", "b\n"]}, 422, "validation_failed", "/card_ids/1")
    deep = b'{"cards":[{"content":1},{"content":' + b"[" * 130 + b"]" * 130 + b"}]}"
    refused("card:add_many", deep, 413, "too_large", "/cards/1: content")
    refused("card:add_many", b'{"cards":[{"content":1},{"content":1,"metadata":{"a":1e300}}]}', 422,
            "validation_failed", "/cards/1: metadata")
    refused("card:add", {"content": 1, "card_id": "ü" * 300}, 422, "validation_failed", "card_id")


def test_same_as_the_endpoints():
    card = new_card(metadata={"a": 1})
    box = new_box(card, "not there")
    def get(path):
        return server().get(f"/projects/acme/{path}").json()
    assert ask("card:get", {"card_id": card}) == get(f"cards/{card}")
    assert ask("box:get", {"box_id": box}) == get(f"boxes/{box}")
    assert ask("box:cards", {"box_id": box}) == {"cards": get(f"boxes/{box}/cards"), "missing": 1}
    assert ask("box:log", {"box_id": box}) == get(f"boxes/{box}/log")
    assert ask("card:boxes", {"card_id": card}) == get(f"cards/{card}/boxes")
    assert ask("card:revisions", {"card_id": card}) == get(f"cards/{card}/revisions")
    assert ask("box:list", {"limit": 2})["boxes"] == get("boxes?limit=2")["boxes"]
    assert ask("card:list", {"limit": 2})["cards"] == get("cards?limit=2")["cards"]
    session = a_session()
    assert ask("session:get", {"session_id": session}) == get(f"sessions/{session}")
    assert ask("session:list", {"limit": 2}) == get("sessions?limit=2")
    context = ask("session:context", {"session_id": session})
    assert context["entry_id"] == "e1" and len(context["messages"]) == 1
    assert context["messages"] == get(f"sessions/{session}/context?format=openai")["messages"]
    for name in ("session:get", "session:context"):
        refused(name, {"session_id": session}, 404, "error", "not found", tenant="other")
    refused("session:context", {"session_id": session, "entry_id": "no"}, 404, "error", "has no entry no")
    context = ask("box:context", {"box_id": box, "format": "anthropic"})
    assert context["messages"] == get(f"boxes/{box}/context?format=anthropic")["messages"]
    batch = ask("card:batch", {"card_ids": [card, "x", card]})
    assert batch == server().post("/projects/acme/cards/batch", {"card_ids": [card, "x", card]}).json()


def test_sessions_same_as_the_endpoints():
    session = a_tree()
    def get(path):
        return server().get(f"/projects/acme/sessions/{session}/{path}").json()
    def on_bus(name, **members):
        return ask(f"session:{name}", {"session_id": session, **members})
    for lines in ({}, {"lines": 1000}, {"lines": 90}):
        query = "?lines=" + str(lines["lines"]) if lines else ""
        for name in ("tree", "leaves", "branch_points", "labels"):
            shown = on_bus(name, **lines)
            assert shown["entries"] and shown == get(name.replace("_", "-") + query), name
        assert on_bus("children", entry_id="b", **lines) == get("entries/b/children" + query)
        assert on_bus("path", entry_id="d", **lines) == get("entries/d/path" + query)
        assert on_bus("diff", a="l", b="d", **lines) == get("diff?a=l&b=d&" + query[1:])
    assert on_bus("entry", entry_id="c") == get("entries/c")
    assert on_bus("path")["entry_id"] == "d", "the head, which a label on another branch does not move"
    assert sorted(ids(on_bus("leaves"), "entries")) == ["d", "l"]
    assert ids(on_bus("labels"), "entries") == ["c"]
    diff = on_bus("diff", a="l", b="d")
    assert diff["common"]["entry_id"] == "b" and ids(diff, "a") == ["c", "l"] and ids(diff, "b") == ["d"]
    assert on_bus("children", entry_id="d") == {"entries": [], "next_cursor": None}


def ids(answer, member):
    return [entry["entry_id"] for entry in answer[member]]


def test_pages_of_sessions():
    session = a_tree()
    for name, member in (("tree", "entries"), ("leaves", "entries"), ("path", "path")):
        whole = ask(f"session:{name}", {"session_id": session})
        seen, cursor = [], {}
        while cursor != {"cursor": None}:
            page = ask(f"session:{name}", {"session_id": session, "limit": 1, **cursor})
            assert len(page[member]) == 1
            seen += page[member]
            cursor = {"cursor": page["next_cursor"]}
        assert seen == whole[member] and whole["next_cursor"] is None, name
        refused(f"session:{name}", {"session_id": session, "cursor": "x"}, 422, "validation_failed", "cursor")
    refused("session:labels", {"session_id": session, "cursor": "x"}, 422, "validation_failed", "cursor")


def test_sessions_that_are_not_there():
    session = a_session()
    for name, more in (("get", {}), ("entry", {"entry_id": "e1"}), ("tree", {}), ("leaves", {}),
                       ("children", {"entry_id": "e1"}), ("branch_points", {}), ("labels", {}),
                       ("path", {}), ("diff", {"a": "e1", "b": "e1"}), ("fork", {}),
                       ("head", {"entry_id": "e1"}), ("append", {"entries": [{"type": "user", "content": "x"}]}),
                       ("append", {"entries": [an_entry("x", None)]}), ("context", {})):
        value = {"session_id": session, **more}
        refused(f"session:{name}", value, 404, "error", f"session not found: {session}", tenant="other")
    for name, more in (("entry", {}), ("children", {}), ("path", {}), ("head", {}), ("fork", {})):
        refused(f"session:{name}", {"session_id": session, "entry_id": "no", **more}, 404, "error", "entry")
    refused("session:diff", {"session_id": session, "a": "e1", "b": "no"}, 404, "error", "no")


def test_sessions_change():
    name = str(uuid.uuid4())
    made = ask("session:create", {"session_id": name, "cwd": "/tmp"})
    assert made == {"session_id": name, "outcome": "created", "version": 1}
    assert ask("session:create", {"session_id": name})["outcome"] == "exists"
    refused("session:create", {"session_id": name, "strict": True}, 409, "error", "exists")
    header = ask("session:get", {"session_id": name})["header"]
    assert header["cwd"] == "/tmp" and header["type"] == "session"
    for wrong in ({"header": {}, "cwd": ""}, {"dialect": "plain", "cwd": ""}, {"header": {"type": "x"}}):
        refused("session:create", {"session_id": "n", **wrong}, 422, "validation_failed", "header")
    assert ask("session:path", {"session_id": name}) == \
        {"entry_id": None, "length": 0, "path": [], "next_cursor": None}
    def said(text, **members):
        return {"type": "message", "message": {"role": "user", "content": text}, **members}
    written = ask("session:append", {"session_id": name, "entries": [said("one"), said("two", id="x")]})
    assert ids(written, "entries")[1] == "x" and written["version"] == 2
    refused("session:append", {"session_id": name, "entries": [{"type": "user", "content": "plain"}]},
            409, "error", "dialect")
    ask("session:append", {"session_id": name, "entries": [said("three")]})
    path = ask("session:path", {"session_id": name, "lines": 1000})["path"]
    assert [e["entry"]["message"]["content"] for e in path] == ["one", "two", "three"], path
    moved = ask("session:head", {"session_id": name, "entry_id": "x", "expected_version": 3})
    assert moved == {"session_id": name, "head_entry_id": "x", "version": 4}
    refused("session:head", {"session_id": name, "entry_id": "x", "expected_head": "y"}, 409, "error", "head")
    fork = ask("session:fork", {"session_id": name})
    assert fork["forked_from"] == name and fork["entries"] == 2
    assert ids(ask("session:tree", {"session_id": fork["session_id"]}), "entries") == \
        [e["entry_id"] for e in path[:2]]


def test_appends_that_are_refused():
    session = a_session()
    def no(entries, status, words, **more):
        code = "validation_failed" if status == 422 else "error"
        return refused("session:append", {"session_id": session, "entries": entries, **more}, status, code,
                       words)
    for entry in ({}, {"type": ""}, {"type": "session"}, {"type": 1}):
        no([an_entry("x", None), entry], 422, "/entries/1: an entry needs a type")
    no([{"type": "user", "id": 7}], 422, "/entries/0: ")
    no([{"type": "user"}], 422, "/entries/0: an entry of type user needs the member content")
    no([an_entry("y", "y")], 422, "own parent")
    no([an_entry("y", "nothing")], 404, "must be in the session")
    assert no([an_entry("e1", None, content="x")], 409, "other content")["current_version"] == 2
    no([{"type": "user", "content": "x"}], 409, "version", expected_version=1)
    no([{"type": "user"}], 422, "an id of its own", idempotency_key="k")
    value = {"session_id": session, "entries": [an_entry("e2", "e1")], "idempotency_key": "k",
             "expected_version": 2}
    first = ask("session:append", value)
    assert first["entries"] == [{"entry_id": "e2", "outcome": "appended", "line": 1}]
    assert ask("session:append", value)["version"] == first["version"]
    assert ids(ask("session:tree", {"session_id": session}), "entries") == ["e1", "e2"]


def test_many_append_behind_the_head():
    """Each finds the head where the one before left it: a single branch, and no entry is lost."""
    session = a_session()
    def append(i):
        return ask("session:append", {"session_id": session, "entries": [{"type": "user", "content": "x", "id": f"n{i}"}]})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(20)))
    assert ask("session:path", {"session_id": session})["length"] == 21
    assert ask("session:branch_points", {"session_id": session})["entries"] == []


def test_pages():
    for i in range(5):
        new_card(tenant="pages", type="page", card_id=f"p{i}", content=i)
    seen, cursor = [], {}
    while True:
        page = ask("card:list", {"type": "page", "limit": 2, **cursor}, tenant="pages")
        seen += [card["card_id"] for card in page["cards"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert sorted(seen) == [f"p{i}" for i in range(5)], seen


def test_the_life_of_a_task_in_the_ledger():
    task = a_task(createdAt=7000, updatedAt=7000)
    assert ask("ldg:task:get", {"taskId": task["id"]})["task"] == {**task, "state": "waiting"}
    assert ask("ldg:task:get", {"taskId": "no"})["task"] is None
    first, last = a_message(task, timestamp=7002), a_message(task, role="system", timestamp=7001)
    listed = ask("ldg:msg:list", {"taskId": task["id"]})
    assert listed == {"messages": [last, first], "total": 2}
    assert ask("ldg:msg:list", {"taskId": task["id"], "offset": 1}) == {"messages": [first], "total": 2}
    assert ask("ldg:task:get", {"taskId": task["id"]})["task"]["lastMessageAt"] == 7002
    made = a_call(task, startMessageId=first["id"])
    for status in ("in_progress", "completed"):
        made = {**made, "status": status, "updatedAt": made["updatedAt"] + 1, "details": '{"n":1}'}
        ask("ldg:call:save", {"call": made})
    assert ask("ldg:call:list", {"taskId": task["id"]})["calls"] == [made]
    done = {**task, "completionStatus": "success", "updatedAt": 8000}
    ask("ldg:task:save", {"task": done})
    refused("ldg:task:save", {"task": task}, 409, "error", "")
    assert ask("ldg:task:get", {"taskId": task["id"]})["task"] == {**done, "state": "completed", "lastMessageAt": 7002}


def test_the_end_of_a_task_is_the_end_of_its_calls():
    task = a_task()
    message = a_message(task)
    made = [a_call(task, startMessageId=message["id"], status=status) for status in ("pending", "in_progress")]
    answer = call("ldg:task:save", {"task": {**task, "completionStatus": "null", "updatedAt": 8000}})
    assert answer.status in (400, 422) and b"leave it out" in answer.body, answer
    ask("ldg:task:save", {"task": {**task, "completionStatus": "success", "updatedAt": 8000}})
    calls = ask("ldg:call:list", {"taskId": task["id"]})["calls"]
    assert len(calls) == len(made) and all(call["status"] == "failed" for call in calls), calls
    assert {call["details"] for call in calls} == {'{"error":"Task ended"}'}, calls


def test_calls_are_of_their_task_and_time():
    task, other = a_task(), a_task()
    made = a_call(task)
    refused("ldg:call:save", {"call": {**made, "id": "new", "startMessageId": a_message(other)["id"]}},
            404, "error", "a start or end message that its task does not have")
    for member in ("parameters", "details"):
        for text in ("", "{", "card_id=x", "{} {}", "NaN", "\u0000"):
            refused("ldg:call:save", {"call": {**made, member: text}}, 422, "validation_failed", f"/{member}: ")
    ask("ldg:task:save", {"task": {**task, "completionStatus": "success", "updatedAt": 8000}})
    refused("ldg:call:save", {"call": {**made, "id": "new"}}, 409, "error", "already completed")
    assert {c["status"] for c in ask("ldg:call:list", {"taskId": task["id"]})["calls"]} == {"failed"}


def test_nothing_is_asked_of_nobody():
    """A text without a word would leave the model nothing to answer."""
    task = ask("task:spawn", {"goal": "go"})["taskId"]
    for blank in (" ", "\t\n", "\u3000\u00a0\u2003", "\u001f\u0085", "\u200b", "\ufeff \u00ad\u2060",
                  "\u0000", "\U000e0041\ufe0f"):
        refused("task:spawn", {"goal": blank}, 422, "validation_failed", "goal is blank")
        refused("task:send", {"receiverId": task, "message": blank}, 422, "validation_failed", "message is blank")
    for said in ("\u3000.", "\u200b\U0001f600", "\u00e4", "\ud800"):
        assert ask("task:send", {"receiverId": task, "message": said})["success"]


def test_messages_never_change():
    message = a_message(a_task())
    assert ask("ldg:msg:save", {"message": message})["success"] is True
    refused("ldg:msg:save", {"message": {**message, "content": "other"}}, 409, "error", "")
    assert ask("ldg:msg:list", {"taskId": message["taskId"]})["messages"] == [message]
    refused("ldg:msg:save", {"message": {**message, "id": "new", "taskId": "no"}}, 404, "error", "")


def test_queries_of_tasks():
    parent = a_task()["id"]
    tasks = [a_task(parentTaskId=parent, createdAt=1000 + i, updatedAt=1000 + i) for i in range(3)]
    done = a_task(parentTaskId=parent, createdAt=999, updatedAt=999, completionStatus="null and void")
    def query(**members):
        found = ask("ldg:task:query", {"parentTaskId": parent, **members})
        return [task["id"] for task in found["tasks"]], found["total"]
    ids = [task["id"] for task in reversed(tasks)]
    assert query() == (ids + [done["id"]], 4)
    assert query(completionStatus="null") == (ids, 3)
    assert query(completionStatus="null and void") == ([done["id"]], 1)
    assert query(fromTime=1000, toTime=1001) == (ids[1:], 2)
    assert query(limit=1, offset=1) == (ids[1:2], 4)
    assert query(offset=9) == ([], 4)
    failed = [a_task(parentTaskId=parent, createdAt=2000 + i, updatedAt=2000, completionStatus=status)["id"]
              for i, status in enumerate(("failed: too often", "failed", "failure", "failed badly"))]
    assert query(state="failed") == query(completionStatus="failed") == ([failed[1], failed[0]], 2)
    assert query(completionStatus="failed: too often") == ([failed[0]], 1)
    assert query(state="waiting") == (ids, 3)
    assert query(state="running") == ([], 0)
    refused("ldg:task:query", {"state": "asleep"}, 422, "validation_failed", "/state")


def test_what_a_task_waits_for():
    """wakeAt tells a task that a worker may claim from one that is asleep; leaseOwner names its worker."""
    asleep, due = a_task()["id"], ask("task:spawn", {"goal": "wait for a worker"})["taskId"]
    def read(task):
        found = ask("ldg:task:get", {"taskId": task})["task"]
        return found["state"], found.get("leaseOwner"), "wakeAt" in found
    assert (read(asleep), read(due)) == (("waiting", None, False), ("waiting", None, True))
    assert [one["wakeAt"] for one in ask("task:active", {})["tasks"] if one["id"] == due] == \
        [ask("ldg:task:get", {"taskId": due})["task"]["wakeAt"]]
    Postgres.shared().psql(dsn(), "UPDATE cardbox.tasks SET lease_owner = 'w-1', wake_at = now() + interval '1 hour'"
         f" WHERE task_id = '{due}'")
    assert read(due) == ("running", "w-1", True)
    listed = ask("ldg:task:query", {"state": "running"})["tasks"]
    assert [one["leaseOwner"] for one in listed if one["id"] == due] == ["w-1"], listed
    ask("task:cancel", {"taskId": due, "reason": "enough"})
    assert read(due) == ("completed", None, False)


def test_queries_of_tasks_with_their_goals():
    goal = ask("task:spawn", {"goal": "count \ud800", "systemPrompt": "you count"})["taskId"]
    ask("task:send", {"receiverId": goal, "message": "faster"})
    late = {**a_message({"id": goal}), "id": f"{goal}-old", "role": "user", "content": "older", "timestamp": 1}
    ask("ldg:msg:save", {"message": late})  # by its time it is the first, but not as it came
    def query(**members):
        return {task["id"]: task for task in ask("ldg:task:query", {"limit": 1000, **members})["tasks"]}
    assert query(goals=True)[goal]["goal"] == "count \ud800"
    plain = query()[goal]
    assert "goal" not in plain and "goal" not in query(goals=False)[goal]
    assert {**plain, "goal": "count \ud800"} == query(goals=True)[goal]
    assert ask("ldg:task:save", {"task": query(goals=True)[goal]}) == {"success": True}
    told = a_task()["id"]
    assert "goal" not in query(goals=True)[told]


def test_the_task_manager():
    spawned = ask("task:spawn", {"goal": "count to \u0000", "systemPrompt": "you count"})["taskId"]
    messages = ask("ldg:msg:list", {"taskId": spawned})["messages"]
    assert [(m["role"], m["content"]) for m in messages] == \
        [("system", "you count"), ("user", "count to \u0000")]
    active, = [t for t in ask("task:active", {})["tasks"] if t["id"] == spawned]
    assert active["goal"] == "count to \u0000" and active["messageCount"] == 2
    assert ask("task:send", {"receiverId": spawned, "message": "faster"}) == {"success": True}
    assert ask("task:send", {"receiverId": "no", "message": "x"}) == \
        {"success": False, "error": "Task not found: no"}
    assert ask("task:cancel", {"taskId": spawned, "reason": "enough"}) == {"success": True}
    ended = {"success": False, "error": f"Task {spawned} is already completed"}
    assert ask("task:cancel", {"taskId": spawned, "reason": "again"}) == ended
    assert ask("task:send", {"receiverId": spawned, "message": "x"}) == ended
    assert ask("ldg:task:get", {"taskId": spawned})["task"]["completionStatus"] == "cancelled"
    assert spawned not in [t["id"] for t in ask("task:active", {})["tasks"]]
    refused("task:spawn", {"goal": "x", "parentTaskId": "no"}, 404, "error", "Task not found: no")


def test_the_first_message_of_a_task():
    for given in ({}, {"systemPrompt": None}, {"systemPrompt": " \n"}):
        spawned = ask("task:spawn", {"goal": "go", **given})["taskId"]
        first = ask("ldg:msg:list", {"taskId": spawned})["messages"][0]
        assert (first["role"], first["content"]) == ("system", f"You are task {spawned}."), first
        assert ask("ldg:task:get", {"taskId": spawned})["task"]["systemPrompt"] == first["content"]


def test_the_box_of_a_task():
    context, mine = ask("box:create", {"card_ids": []})["box_id"], str(uuid.uuid4())
    made = ask("task:spawn", {"goal": "go"})["taskId"]
    assert ask("box:get", {"box_id": ask("ldg:task:get", {"taskId": made})["task"]["boxId"]})["version"] == 1
    given = {"boxId": mine.upper(), "contextBoxId": context, "router": True}
    spawned = ask("task:spawn", {"goal": "go", **given})["taskId"]
    task = ask("ldg:task:get", {"taskId": spawned})["task"]
    read = {"boxId": mine, "contextBoxId": context, "router": True, "state": "waiting"}
    assert {name: task[name] for name in read} == read, task
    active, = [t for t in ask("task:active", {})["tasks"] if t["id"] == spawned]
    assert {name: active[name] for name in read} == read, active
    ask("ldg:task:save", {"task": task})  # as read
    ask("ldg:task:save", {"task": {name: None if name in read else task[name] for name in task}})
    for other in ({"boxId": str(uuid.uuid4())}, {"contextBoxId": str(uuid.uuid4())}):
        refused("ldg:task:save", {"task": {**task, **other}}, 409, "error", "only its completionStatus")
    again = ask("task:spawn", {"goal": "go", "boxId": mine})["taskId"]
    assert ask("ldg:task:get", {"taskId": again})["task"]["boxId"] == mine, "a box may be that of two tasks"
    for name in ("boxId", "contextBoxId"):
        refused("task:spawn", {"goal": "x", name: "x" * 36}, 422, "validation_failed", f"{name} must be a UUID")
    same = {"boxId": mine.upper(), "contextBoxId": mine}
    refused("task:spawn", {"goal": "x", **same}, 422, "validation_failed", "contextBoxId names the same box as boxId")
    refused("ldg:task:save", {"task": {**task, "id": "same-boxes", **same}}, 422, "validation_failed", "contextBoxId names the same box as boxId")
    refused("task:spawn", {"goal": "x", "contextBoxId": str(uuid.uuid4())}, 404, "error", "context box not found")
    refused("task:spawn", {"goal": "x", "contextBoxId": context}, 404, "error", "context box not found", tenant="other")
    sealed = ask("box:create", {"card_ids": []})["box_id"]
    ask("box:seal", {"box_id": sealed})
    refused("task:spawn", {"goal": "x", "boxId": sealed}, 409, "error", f"box {sealed} is sealed")
    ask("task:spawn", {"goal": "x", "contextBoxId": sealed})
    ask("box:delete", {"box_id": mine})
    refused("task:spawn", {"goal": "x", "boxId": mine}, 410, "error", f"box {mine} was deleted")
    saved = a_task(boxId=str(uuid.uuid4()), router=True)
    assert ask("box:get", {"box_id": saved["boxId"]})["length"] == 0
    assert ask("ldg:task:get", {"taskId": saved["id"]})["task"]["router"] is True


def test_a_task_is_finished():
    for given, status in (({}, "success"), ({"completionStatus": None}, "success"), ({"completionStatus": "failed: late"}, "failed: late")):
        task = ask("task:spawn", {"goal": "go"})["taskId"]
        assert ask("task:finish", {"taskId": task, **given}) == {"success": True}
        found = ask("ldg:task:get", {"taskId": task})["task"]
        assert found["completionStatus"] == status and found["state"] == ("failed" if ":" in status else "completed"), found
        ended = {"success": False, "error": f"Task {task} is already completed"}
        assert ask("task:finish", {"taskId": task}) == ended
        assert ask("task:cancel", {"taskId": task, "reason": ""}) == ended
    assert ask("task:finish", {"taskId": "no"}) == {"success": False, "error": "Task not found: no"}
    refused("task:finish", {"taskId": task, "completionStatus": "null"}, 422, "validation_failed", "null")
    refused("task:finish", {"taskId": task, "completionStatus": ""}, 422, "validation_failed", "")


def test_contents_to_the_byte():
    body = b'{"card_id":"exact","content":{"b": 1.10, "a":12345678901234567890123, "\\u0000":"\\ud800"}}'
    assert call("card:add", body, expect=200)
    answer = call("card:get", {"card_id": "exact"})
    assert b'{"b": 1.10, "a":12345678901234567890123, "\\u0000":"\\ud800"}' in answer.body


def test_append_is_repeated_safely():
    box = new_box()
    value = {"box_id": box, "card_ids": ["a"], "idempotency_key": "once"}
    assert ask("box:append", value) == ask("box:append", value)
    assert ask("box:get", {"box_id": box})["card_ids"] == ["a"]


def test_tenants():
    card, box = new_card(), new_box("a")
    for name, value in (("card:get", {"card_id": card}), ("card:delete", {"card_id": card}),
                        ("card:revisions", {"card_id": card}), ("box:get", {"box_id": box}),
                        ("box:cards", {"box_id": box}), ("box:log", {"box_id": box}),
                        ("box:context", {"box_id": box}), ("box:fork", {"box_id": box}),
                        ("box:seal", {"box_id": box}), ("box:delete", {"box_id": box})):
        refused(name, value, 404, "error", "not found", tenant="other")
    task = a_message(a_task())["taskId"]
    assert ask("ldg:task:get", {"taskId": task}, tenant="other")["task"] is None
    assert ask("ldg:msg:list", {"taskId": task}, tenant="other") == {"messages": [], "total": 0}
    assert ask("ldg:call:list", {"taskId": a_call()["taskId"]}, tenant="other")["calls"] == []
    assert ask("ldg:task:query", {}, tenant="other") == {"tasks": [], "total": 0}
    assert ask("task:active", {}, tenant="other")["tasks"] == []
    for name, value in (("task:send", {"receiverId": task, "message": "x"}),
                        ("task:cancel", {"taskId": task, "reason": "x"}), ("task:finish", {"taskId": task})):
        assert ask(name, value, tenant="other") == {"success": False, "error": f"Task not found: {task}"}
    refused("task:spawn", {"goal": "x", "parentTaskId": task}, 404, "error", "", tenant="other")
    assert ask("card:list", {}, tenant="other")["cards"] == []
    assert ask("box:list", {}, tenant="other")["boxes"] == []
    assert ask("card:boxes", {"card_id": "a"}, tenant="other")["boxes"] == []
    assert ask("card:batch", {"card_ids": [card]}, tenant="other")["missing_ids"] == [card]


def test_names_of_calls():
    ask("bus:list", {}, headers={"X-Caller-Id": "agent 7", "X-Call-Id": "call-1"})
    refused("bus:list", {}, 400, "bad_request", "X-Call-Id", headers={"X-Call-Id": "x" * 513})
    refused("bus:list", {}, 400, "bad_request", "X-Call-Id", headers={"X-Caller-Id": ""})


def test_headers_that_are_not_taken():
    value = {"box_id": new_box(), "card_ids": ["a"]}
    for name in ("Idempotency-Key", "If-Match", "If-None-Match"):
        detail = refused("box:append", value, 400, "bad_request", name, headers={name: '"1-a"'})
        assert "input" in detail["hint"]
    ask("box:get", {"box_id": value["box_id"]}, headers={"Idempotency-Key": "of no use, and harmless"})


def test_pages_of_other_sites_change_nothing():
    foreign = {"Origin": "https://evil.example"}
    refused("card:add", {"content": 1}, 403, "forbidden", "another site", headers=foreign)
    ask("bus:list", {}, headers=foreign)


def test_scopes():
    """What a token may do through its endpoints it may do here, and nothing else."""
    own = Postgres.shared().database()
    def token(project, scopes):
        made = cardbox("token", "create", "--dsn", own, "--name", f"{project} {scopes}",
                       "--tenant", project, "--scope", scopes, "--json")
        return {"Authorization": "Bearer " + json.loads(made.stdout)["token"]}
    headers = {scope: token("acme", scope) for scope in ("read", "write", "tasks", "admin")}
    elsewhere = token("other", "read,write,tasks")
    guarded = Server(own, auth=True)
    try:
        for name, shown in described().items():
            needed, = shown["tags"]
            for scope, header in headers.items():
                answer = call(name, {"surplus": 1}, headers=header, at=guarded)
                assert answer.status == (422 if scope == needed else 403), (name, scope, answer)
                if answer.status == 403:
                    assert f"scope {needed}" in answer.json()["detail"]["hint"], answer.body
            assert call(name, {}, headers=elsewhere, at=guarded).status == 403
            assert call(name, {}, at=guarded).status == 401
    finally:
        guarded.stop()


def test_a_server_that_only_reads():
    reader = Server(dsn(), "--read-only")
    try:
        for name, shown in described().items():
            answer = call(name, {"surplus": 1}, at=reader)
            assert answer.status == (422 if shown["tags"] == ["read"] else 403), (name, answer)
    finally:
        reader.stop()


def some_value(schema, rng, depth=0):
    """A value that a schema may allow, or nearly."""
    kind = schema.get("type") or rng.choice(["string", "integer", "object", "array", "boolean", "null"])
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    if "enum" in schema and rng.random() < 0.8:
        return rng.choice(schema["enum"])
    if kind == "string":
        return rng.choice(HOSTILE + [NOWHERE, "2025-01-01T00:00:00Z", "a"])
    if kind in ("integer", "number"):
        return rng.choice([0, 1, -1, 2.0, 1.5, 500, 501, 2 ** 31, 2 ** 63, 2 ** 70, -2 ** 63 - 1, 1e300])
    if kind == "array":
        return [some_value(schema.get("items", {}), rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == "object" and depth < 4:
        named = {name: some_value(inner, rng, depth + 1)
                 for name, inner in schema.get("properties", {}).items() if rng.random() < 0.6}
        return named or {rng.choice(HOSTILE): "x"}
    return rng.choice([True, False, None])


def without_nulls(value, schema):
    """The value without members that are null and not required: they count as absent."""
    if isinstance(value, list):
        return [without_nulls(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    inner = schema.get("properties", {})
    return {name: without_nulls(member, inner.get(name, {})) for name, member in value.items()
            if member is not None or name not in inner or name in schema.get("required", [])}


A_TASK = {"id": NOWHERE, "systemPrompt": "", "createdAt": 1000, "updatedAt": 1000}


def test_long_texts_of_errors():
    parent, text = a_task()["id"], "failed: " + "x" * (65536 - 8)
    long = a_task(parentTaskId=parent, completionStatus=text)["id"]
    a_task(parentTaskId=parent, completionStatus=text[:-1])
    assert ask("ldg:task:query", {"parentTaskId": parent, "completionStatus": text})["tasks"][0]["id"] == long
    assert ask("ldg:task:query", {"parentTaskId": parent, "completionStatus": text})["total"] == 1
    assert ask("ldg:task:query", {"parentTaskId": parent, "completionStatus": "failed"})["total"] == 2
    refused("ldg:task:save", {"task": {**A_TASK, "completionStatus": text + "x"}}, 422, "validation_failed", "/task/completionStatus")


def test_errors_with_stack_traces():
    parent = a_task()["id"]
    text = "Error: no such file\r\n\tat read (file.js:1)\n\tat main (file.js:9)\n"
    one = a_task(parentTaskId=parent, completionStatus=text)["id"]
    assert ask("ldg:task:get", {"taskId": one})["task"]["completionStatus"] == text
    assert [task["id"] for task in ask("ldg:task:query", {"parentTaskId": parent, "completionStatus": text})["tasks"]] == [one]
    assert ask("ldg:task:query", {"parentTaskId": parent, "completionStatus": text[:-1]})["total"] == 0
    for bad in ("a\u0000b", "a\u0001", "a\u001b[1m", "\u007f", "\ud800"):
        refused("ldg:task:save", {"task": {**A_TASK, "completionStatus": bad}}, 422, "validation_failed", "ompletionStatus")
    refused("ldg:task:save", {"task": {**A_TASK, "id": "a\nb"}}, 422, "validation_failed", "control characters")


def test_null_is_not_given():
    parent = a_task()["id"]
    one = a_task(parentTaskId=None, completionStatus=None, cancelReason=None)
    stored = ask("ldg:task:get", {"taskId": one["id"]})["task"]
    assert "parentTaskId" not in stored and "completionStatus" not in stored, stored
    a_call(endMessageId=None)
    assert ask("task:spawn", {"goal": "x", "parentTaskId": None, "systemPrompt": None})["taskId"]
    child = a_task(parentTaskId=parent)["id"]
    found = ask("ldg:task:query", {"parentTaskId": parent, "fromTime": None, "toTime": None, "limit": None})
    assert [task["id"] for task in found["tasks"]] == [child]
    nulls = {"state": None, "goals": None, "limit": None, "offset": None}
    assert ask("ldg:task:query", {"parentTaskId": parent, **nulls})["total"] == 1
    assert ask("ldg:msg:list", {"taskId": parent, "limit": None, "offset": None})["total"] == 0
    assert ask("task:active", {"limit": None})["tasks"]
    refused("ldg:task:query", {"completionStatus": None}, 422, "validation_failed", 'send the text "null"')
    refused("ldg:task:get", {"taskId": None}, 422, "validation_failed", "/taskId")


def test_numbers_are_clamped_and_cut():
    parent = a_task()["id"]
    tasks = [a_task(parentTaskId=parent, createdAt=1000.9 + i, updatedAt=5000.5)["id"] for i in range(3)]
    def query(**members):
        return [task["id"] for task in ask("ldg:task:query", {"parentTaskId": parent, **members})["tasks"]]
    assert ask("ldg:task:get", {"taskId": tasks[0]})["task"]["createdAt"] == 1000
    assert query(limit=0) == query(limit=-5) == query(limit=1.0) == query(limit=1.9) == query(limit=-1e300) == tasks[2:]
    assert query(limit=10 ** 9) == query(offset=-3) == query(offset=0.9) == query(limit=1e300) == tasks[::-1]
    assert query(offset=1.0) == query(offset=1.5) == tasks[1::-1] and query(offset=1e300) == []
    assert query(fromTime=1001.7) == query(fromTime=1001) == [tasks[2], tasks[1]]
    assert query(fromTime=-7.5, toTime=1e300) == tasks[::-1] and query(fromTime=1e18) == []
    assert ask("task:active", {"limit": 0})["tasks"] and ask("task:active", {"limit": 2 ** 70})["tasks"]
    sent = [a_message({"id": parent}, id=str(uuid.uuid4()), timestamp=1000.0 + i / 2)["id"] for i in range(4)]
    def messages(**members):
        return [message["id"] for message in ask("ldg:msg:list", {"taskId": parent, **members})["messages"]]
    assert messages(limit=0) == messages(limit=-1) == messages(limit=1.5) == sent[:1]
    assert messages(limit=2 ** 70) == messages(offset=-1) == sent and messages(offset=2.0) == sent[2:]


def test_random_inputs():
    rng = random.Random(7)
    for name, shown in described().items():
        schema = shown["inputSchema"]
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(20 if LIGHT else 120):
            value = some_value(schema, rng)
            for member in schema.get("required", []):
                if isinstance(value, dict) and member not in value:
                    value[member] = some_value(schema["properties"][member], rng, 1)
            answer = call(name, value)
            # How long a header becomes, no schema can say.
            known = (200, 404, 409, 410, 422, *([413] if name in ("session:create", "session:append") else []))
            assert answer.status in known, (name, value, answer.status, answer.body)
            if not validator.is_valid(without_nulls(value, schema)):
                assert answer.status == 422, (name, value, answer.body)


if __name__ == "__main__":
    cardbox_test.main(globals())

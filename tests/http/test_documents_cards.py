#!/usr/bin/env python3
"""What the CardBox document requires, line by line, over HTTP and in SQL. Rows marked "argued" are differences with a
written reason: they are tested as they are."""

import json
import os
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import await_, connected, dsn, literal, psql
from document_rows import Rows

row = Rows("cards")


def add(p, identifier, content="hi", status=200, **members):
    return p.post("/cards", {"card_id": identifier, "content": content, **members}, status)


def card_of(p, identifier, status=200):
    return p.get(f"/cards/{identifier}", status)


def new_box(p, *ids):
    return p.post("/boxes", {"card_ids": list(ids)})["box_id"]


def box_of(p, box, query=""):
    return p.get(f"/boxes/{box}{query}")


def append(p, box, *ids, status=200, **headers):
    return p.post(f"/boxes/{box}/append", {"card_ids": list(ids)}, status, **headers)


def context_of(p, box, query=""):
    return p.get(f"/boxes/{box}/context?format=openai{query}")


def messages_of(p, *ids):
    return context_of(p, new_box(p, *ids))["messages"]


def as_owner(*statements):
    """What the tables' owner gets of each statement, in one session."""
    with connected(dsn(), "cardbox") as owner:
        return [owner.run(statement) for statement in statements]


# --- cards ---


@row("9,17", "messages of a task are cards; a worker appends their ids to the task's box")
def _(p):
    task = p.invoke("task:spawn", {"goal": "count the birds"})["taskId"]
    message = p.invoke("ldg:msg:list", {"taskId": task})["messages"][-1]
    assert card_of(p, message["id"])["metadata"]["role"] == "user"
    box = p.invoke("ldg:task:get", {"taskId": task})["task"]["boxId"]
    assert box_of(p, box)["card_ids"] == [], "no worker has begun the task"


@row("11", "changed content can be forbidden: strict, sealed")
def _(p):
    add(p, "a")
    add(p, "a", "other", 409, strict=True)
    add(p, "b", sealed=True)
    add(p, "b", "other", 409)
    assert (card_of(p, "a")["content"], card_of(p, "b")["content"]) == ("hi", "hi")


@row("12", "add_card of the same id: inserted, unchanged, repaired; the old content stays as a revision")
def _(p):
    assert [add(p, "a", content)["outcome"] for content in ("hi", "hi", "ho")] == ["inserted", "unchanged", "repaired"]
    assert card_of(p, "a")["content"] == "ho"
    assert [one["card"]["content"] for one in p.get("/cards/a/revisions")["revisions"]] == ["hi"]


@row("12", "card:add describes itself: other content replaces the old one, unless strict or sealed")
def _(p):
    text = p.invoke("bus:inspect", {"abilityId": "card:add"})["meta"]["description"]
    assert all(word in text for word in ("revision", "strict", "sealed")), text
    p.invoke("card:add", {"card_id": "a", "content": "hi"})
    assert p.invoke("card:add", {"card_id": "a", "content": "ho"})["outcome"] == "repaired"


@row("13,36 (argued)", "a card id is any text of 1 to 512 bytes, unique in its project; without one the server makes a UUID")
def _(p):
    for identifier in ("x", "ü" * 256, "a/b c"):
        add(p, identifier)
    add(p, "x" * 513, status=422)
    uuid.UUID(p.post("/cards", {"content": "hi"})["card_id"])


@row("16", "CardStore is the table cards")
def _(p):
    add(p, "a")
    assert psql(dsn(), f"SET search_path = cardbox; SELECT count(*) FROM cards WHERE tenant_id = '{p.name}'") == "1\n"


@row("18", "metadata and created_at trace a card, deleted_at deletes it softly")
def _(p):
    add(p, "a", metadata={"type": "agent.thought", "trace_id": "t-1", "step_id": "s-1"})
    card = card_of(p, "a")
    assert card["metadata"]["trace_id"] == "t-1" and card["created_at"].endswith("Z"), card
    assert [one["card_id"] for one in p.get("/cards?trace_id=t-1")["cards"]] == ["a"]
    p.request("DELETE", "/cards/a")
    card_of(p, "a", 404)
    assert psql(dsn(), f"SELECT content, deleted_at IS NOT NULL FROM cardbox.cards WHERE tenant_id = '{p.name}'") == '"hi"|t\n'
    assert add(p, "a", restore=True)["outcome"] == "restored"


COLUMNS = ("tenant_id text", "card_id text", "content json", "tool_calls jsonb", "tool_call_id text", "ttl_seconds integer",
           "expires_at timestamp with time zone", "deleted_at timestamp with time zone", "metadata jsonb",
           "created_at timestamp with time zone")


@row("36-46", "the columns of cards (content is json, which keeps the exact text: argued)")
def _(_p):
    said = psql(dsn(), "SELECT column_name || ' ' || data_type FROM information_schema.columns"
                       " WHERE table_schema = 'cardbox' AND table_name = 'cards'").splitlines()
    assert set(COLUMNS) <= set(said), said


@row("46", "created_at has a default")
def _(p):
    as_owner("INSERT INTO cardbox.cards(tenant_id, card_id, content, metadata)"
             f" VALUES ('{p.name}', 'a', '\"hi\"', '{{}}')")
    card = card_of(p, "a")
    assert card["content"] == "hi" and card["created_at"].startswith("20"), card


@row("39,111", "an UPDATE of content is what readers see")
def _(p):
    add(p, "a", {"__type__": "TextContent", "text": "old"})
    box = new_box(p, "a")
    first = p.request("GET", "/cards/a")
    as_owner(f"UPDATE cardbox.cards SET content = '{{\"__type__\":\"TextContent\",\"text\":\"new\"}}'"
             f" WHERE tenant_id = '{p.name}' AND card_id = 'a'")
    second = p.request("GET", "/cards/a", If_None_Match=first.header("ETag"))
    assert second.json()["content"] == {"text": "new"}, second
    assert p.get(f"/boxes/{box}/cards")[0]["content"] == {"text": "new"}
    assert context_of(p, box)["messages"][0]["content"] == "new"


@row("111", "other languages write by SQL functions: add_card, append_to_box")
def _(p):
    box = new_box(p)
    psql(dsn(), f"SELECT cardbox.add_card({literal(p.name)}, 'a', '\"hi\"', '{{\"type\":\"task.instruction\"}}')")
    psql(dsn(), f"SELECT * FROM cardbox.append_to_box({literal(p.name)}, {literal(box)}, ARRAY['a'])")
    assert p.get(f"/boxes/{box}/cards")[0]["type"] == "task.instruction"
    assert context_of(p, box)["messages"] == [{"role": "user", "content": "hi"}]


@row("42-43", "ttl_seconds sets expires_at; an expired card is gone")
def _(p):
    add(p, "a", ttl_seconds=1)
    add(p, "b", ttl_seconds=3600)
    assert card_of(p, "b")["ttl_seconds"] == 3600 and card_of(p, "b")["expires_at"]
    await_(lambda: p.at.get(f"/projects/{p.name}/cards/a").status == 404)


@row("49", "the type is metadata.type")
def _(p):
    add(p, "a", metadata={"type": "agent.thought"})
    add(p, "b", type="agent.thought")
    for name in "ab":
        card = card_of(p, name)
        assert card["type"] == card["metadata"]["type"] == "agent.thought", card


@row("65 (argued)", "other types and roles are accepted: the role of a context goes by the type then")
def _(p):
    add(p, "a", metadata={"type": "my.type", "role": "banana"})
    assert card_of(p, "a")["type"] == "my.type"


@row("65", "projects are isolated")
def _(p):
    other = type(p)()
    add(p, "a")
    box = new_box(p, "a")
    card_of(other, "a", 404)
    other.get(f"/boxes/{box}", 404)
    assert add(other, "a", "theirs")["outcome"] == "inserted"
    assert card_of(p, "a")["content"] == "hi"


# --- types ---


TYPES = (("task.instruction", "user", "user"), ("agent.thought", "assistant", "assistant"), ("task.deliverable", "assistant", "assistant"),
         ("sys.profile", "system", "system"), ("sys.rendered_prompt", "system", "system"), ("sys.tools", "system", None),
         ("meta.parent_pointer", "system", None), ("task.result_fields", "system", None))


@row("73-82", "each type has its role by default; tools, pointers and fields are said to no model (argued)")
def _(p):
    for name, role, said in TYPES:
        add(p, name, "text", type=name)
        assert card_of(p, name)["metadata"]["role"] == role, name
        roles = [message["role"] for message in messages_of(p, name)]
        assert roles in ([said] if said else [], [role]), (name, roles)
    for name, role in (("tool.call", "assistant"), ("tool.result", "tool")):
        add(p, name, type=name, tool_call_id="c")
        assert card_of(p, name)["metadata"]["role"] == role, name


@row("73-74", "content is a bare string")
def _(p):
    add(p, "a", "请总结这份报告", type="task.instruction")
    assert card_of(p, "a")["content"] == "请总结这份报告"
    assert messages_of(p, "a") == [{"role": "user", "content": "请总结这份报告"}]


CALL = {"tool_name": "search", "arguments": {"q": "birds"}}
RESULT = {"status": "success", "result": "seven"}


def add_call(p):
    add(p, "ask", "How many?", type="task.instruction")
    add(p, "call", CALL, type="tool.call", tool_call_id="c1")
    add(p, "result", RESULT, type="tool.result", tool_call_id="c1")


@row("75-76", "cards of the types tool.call and tool.result, without a class, are a call and its result")
def _(p):
    add_call(p)
    assert card_of(p, "call")["content"] == CALL and card_of(p, "result")["content"] == RESULT
    answer = context_of(p, new_box(p, "ask", "call", "result"))
    _, call, result = answer["messages"]
    assert call["role"] == "assistant" and call["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": call["tool_calls"][0]["function"]["arguments"]}}], call
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"q": "birds"}, call
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1") and "seven" in result["content"], result
    assert answer["report"]["repairs"] == [], answer


@row("76", "a result whose result is a list is kept as JSON")
def _(p):
    add(p, "call", CALL, type="tool.call", tool_call_id="c1")
    add(p, "result", {"status": "success", "result": [1, {"n": 2}]}, type="tool.result", tool_call_id="c1")
    _, result = messages_of(p, "call", "result")
    assert '{"n":2}' in result["content"].replace(" ", ""), result


@row("76", "such a result of an assistant's tool_calls is its result")
def _(p):
    add(p, "said", "I look", type="agent.thought", tool_calls=[
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}])
    add(p, "result", RESULT, type="tool.result", tool_call_id="c1")
    answer = context_of(p, new_box(p, "said", "result"))
    assert [message["role"] for message in answer["messages"]] == ["assistant", "tool"], answer
    assert answer["report"]["repairs"] == [], answer


@row("77-81", "the other contents of the table are kept as they are")
def _(p):
    contents = ({"summary": "s", "output": "o"}, {"name": "n", "llm_config": {"model": "m"}}, {"tools": [{"name": "t"}]},
                {"parent_agent_id": "x"})
    for number, content in enumerate(contents):
        add(p, f"c{number}", content)
        assert card_of(p, f"c{number}")["content"] == content


@row("84", "the role of a context is metadata.role; author_id is not")
def _(p):
    add(p, "a", type="agent.thought", metadata={"role": "user", "author_id": "assistant-7"})
    assert messages_of(p, "a")[0]["role"] == "user"
    assert card_of(p, "a")["author_id"] == "assistant-7"


@row("85", "a member meta is refused")
def _(p):
    add(p, "a", status=422, meta={"type": "x"})


CARDS = {
    "text": {"content": {"__type__": "TextContent", "text": "hi"}, "type": "agent.thought"},
    "call": {"content": {"__type__": "ToolCallContent", "tool_name": "t", "arguments": {}, "status": "called"}, "type": "tool.call",
             "tool_call_id": "c1"},
    "result": {"content": {"__type__": "ToolResultContent", "status": "success", "result": [1], "error": None,
                           "after_execution": "suspend"}, "type": "tool.result", "tool_call_id": "c1"},
    "tools": {"content": {"__type__": "ToolContent", "tools": [{"name": "t"}]}, "type": "sys.tools"},
    "plain": {"content": {"any": [1.50, None]}, "metadata": {"type": "my.type", "author_id": "me"}, "ttl_seconds": 1000},
    "string": {"content": "bare"},
}


@row("(none)", "what GET gives can be written back: unchanged, for every class of content")
def _(p):
    for name, members in CARDS.items():
        add(p, name, **members)
        before = p.request("GET", f"/cards/{name}").body
        assert p.post("/cards", json.loads(before))["outcome"] == "unchanged", name
        assert p.request("POST", "/cards", before).json()["outcome"] == "unchanged", name
        assert p.request("GET", f"/cards/{name}").body == before, name
    assert [one["outcome"] for one in p.post("/cards", {"cards": [card_of(p, name) for name in CARDS]})["cards"]] == ["unchanged"] * len(CARDS)


@row("(none)", "a changed content of a card as read keeps its class; another type is refused with a hint")
def _(p):
    add(p, "a", **CARDS["text"])
    card = card_of(p, "a")
    assert p.post("/cards", {**card, "content": {"text": "ho"}})["outcome"] == "repaired"
    assert card_of(p, "a")["content_class"] == "TextContent"
    said = json.dumps(p.post("/cards", {**card, "type": "task.instruction"}, 422))
    assert "metadata.type" in said, said


# --- boxes ---


@row("21,23", "a box is an ordered list of ids; many boxes refer to a card")
def _(p):
    add(p, "a")
    boxes = {new_box(p, "a", "b", "a"), new_box(p, "a")}
    assert sorted(box_of(p, box)["card_ids"] for box in boxes) == [["a"], ["a", "b", "a"]]
    assert {box["box_id"] for box in p.get("/cards/a/boxes")["boxes"]} == boxes


@row("24,109", "the context box is read-only once it is sealed, the output box is appended to")
def _(p):
    context, output = new_box(p, "a"), new_box(p)
    append(p, context, "b", Idempotency_Key="k")
    version = box_of(p, context)["version"]
    for _ in range(2):
        answer = p.post(f"/boxes/{context}/seal", {})
        assert (answer["box_id"], answer["sealed"]) == (context, True), answer
    assert box_of(p, context)["version"] == version + 1
    assert p.get(f"/boxes/{context}/log")["log"][0]["op"] == "seal"
    for method, path, body in (("POST", "/append", {"card_ids": ["c"]}), ("PUT", "", {"card_ids": []}), ("DELETE", "", None)):
        answer = p.request(method, f"/boxes/{context}{path}", body, 409).json()
        assert answer["detail"]["error_code"] == "conflict", answer
    append(p, context, "b", Idempotency_Key="k")
    assert box_of(p, context)["card_ids"] == ["a", "b"]
    fork = p.post(f"/boxes/{context}/fork", {})["box_id"]
    append(p, fork, "c")
    append(p, output, "d")


@row("24", "a box is sealed by the bus too; an unknown box is 404")
def _(p):
    assert p.invoke("box:seal", {"box_id": new_box(p)})["sealed"] is True
    p.post(f"/boxes/{uuid.uuid4()}/seal", {}, 404)


@row("25", "a context of two boxes: a call in the context box finds its result in the output box")
def _(p):
    add_call(p)
    add(p, "thought", "Seven, then.", type="agent.thought")
    context, output = new_box(p, "ask", "call"), new_box(p, "result", "thought")
    answer = context_of(p, context, f"&then={output}")
    assert answer["messages"] == messages_of(p, "ask", "call", "result", "thought"), answer
    assert answer["report"]["repairs"] == [], answer
    third = new_box(p, "ask")
    assert len(context_of(p, context, f"&then={output}&then={third}")["messages"]) == 5
    assert len(p.invoke("box:context", {"box_id": context, "then": [output], "format": "openai"})["messages"]) == 4


@row("27", "a box is appended to and replaced; an earlier state is read by version")
def _(p):
    box = new_box(p, "a")
    append(p, box, "b")
    p.put(f"/boxes/{box}", {"card_ids": ["c"]})
    assert box_of(p, box)["card_ids"] == ["c"]
    assert [box_of(p, box, f"?at_version={version}")["card_ids"] for version in (1, 2)] == [["a"], ["a", "b"]]


@row("28", "compaction: a new box replaces another and names it")
def _(p):
    old = new_box(p, "a", "b")
    new = p.post("/boxes", {"card_ids": ["summary"], "parent_ids": [old]})["box_id"]
    assert box_of(p, new)["parent_ids"] == [old] and box_of(p, old)["card_ids"] == ["a", "b"]


@row("53 (argued)", "the table card_boxes has key (tenant_id, box_id); the view boxes shows the list of ids")
def _(p):
    box = new_box(p, "a", "b")
    where = f"WHERE tenant_id = '{p.name}' AND box_id = '{box}'"
    assert psql(dsn(), f"SELECT card_ids FROM cardbox.boxes {where}") == '["a", "b"]\n'
    assert psql(dsn(), f"SELECT count(*) FROM cardbox.card_boxes {where}") == "1\n"


# --- API ---


@row("100-102", "the five reads")
def _(p):
    add(p, "a")
    add(p, "b")
    box = new_box(p, "a", "gone", "b")
    assert card_of(p, "a")["card_id"] == "a" and card_of(p, "nobody", 404)["detail"]["error_message"] == "card not found"
    assert box_of(p, box)["card_ids"] == ["a", "gone", "b"]
    assert [card["card_id"] for card in p.get(f"/boxes/{box}/cards")] == ["a", "b"]
    assert [card["card_id"] for card in p.get(f"/boxes/{box}/cards?limit=1")] == ["b"]
    p.get(f"/boxes/{uuid.uuid4()}", 404)


@row("103", "batch reads: order of the request, duplicates removed, what is missing is listed")
def _(p):
    add(p, "a")
    add(p, "b")
    answer = p.post("/cards/batch", {"card_ids": ["b", "x", "a", "b", "x"]})
    assert ([card["card_id"] for card in answer["cards"]], answer["missing_ids"]) == (["b", "a"], ["x"]), answer
    one, two, none = new_box(p, "a", "x"), new_box(p, "b"), str(uuid.uuid4())
    answer = p.post("/boxes/batch", {"box_ids": [two, none, one, two], "hydrate": True})
    assert [box["box_id"] for box in answer["boxes"]] == [two, one], answer
    assert (answer["missing_box_ids"], answer["missing_card_ids"]) == ([none], ["x"]), answer
    assert [card["card_id"] for card in answer["boxes"][0]["hydrated_cards"]] == ["b"], answer


@row("99,104 (argued)", "more requests than the five reads; with --read-only no writes")
def _(p):
    reader = cardbox_test.Server(dsn(), "--read-only")
    add(p, "a")
    assert reader.get(f"/projects/{p.name}/cards/a").status == 200
    assert reader.post(f"/projects/{p.name}/cards", {"content": "x"}).status == 403
    reader.stop()


@row("110", "replay of a turn by version, and a fork of it")
def _(p):
    box = new_box(p, "a")
    append(p, box, "b")
    fork = p.post(f"/boxes/{box}/fork", {"at_version": 1})["box_id"]
    append(p, fork, "c")
    assert box_of(p, fork)["card_ids"] == ["a", "c"] and box_of(p, box)["card_ids"] == ["a", "b"]


# --- the order ---


@row("order", "libpq, libmicrohttpd and libuuid are linked, jansson is not (argued)")
def _(_p):
    linked = subprocess.run(["ldd", cardbox_test.CARDBOXD], capture_output=True, text=True, check=True).stdout
    assert all(name in linked for name in ("libpq", "libmicrohttpd", "libuuid")) and "jansson" not in linked, linked


@row("order", "the folders and files of the project")
def _(_p):
    names = os.listdir(cardbox_test.ROOT)
    assert {"Makefile", "src", "include", "sql", "docker", "tests", "openapi", "README.md"} <= set(names), names


def test_rows():
    yield from row.cases()


if __name__ == "__main__":
    cardbox_test.main(globals())

#!/usr/bin/env python3
"""A card as GET shows it is written back: POST /cards with one card or a list, card:add and card:add_many. An
unmodified card is unchanged, an edit keeps the class, and what is only shown changes nothing."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, dsn, load, server, url

JSON = {"Content-Type": "application/json"}
FILE = {"uri": "s3://b/k", "checksum": "c", "etag": None, "size": 7, "content_type": None,
        "expires_at": "2030-01-02T03:04:05+01:00", "preview": {"uri": "https://h/p", "width": 2}}
CONTENTS = [
    {"__type__": "TextContent", "text": "a\u2028b"},
    {"__type__": "TextContent", "text": "nul \u0000, half \ud800"},
    {"__type__": "JsonContent", "data": {"n": [1, {"__type__": "TextContent"}]}},
    {"__type__": "FieldsSchemaContent", "fields": [{"name": "n", "description": "d"}]},
    {"__type__": "ToolContent", "tools": [{"data": {}}, {"name": "t"}]},
    {"__type__": "ToolContent", "tools": [], "data": {"own": 1}},
    {"__type__": "ToolCallContent", "tool_name": "t", "arguments": {"q": 1}, "status": "called"},
    {"__type__": "ToolResultContent", "status": "success", "after_execution": "suspend", "result": [1]},
    {"__type__": "ToolResultContent", "status": "failed", "after_execution": "terminate",
     "error": {"code": "c", "message": "m"}},
    *({"__type__": kind + "FileContent", **FILE} for kind in ("", "Image", "Pdf", "Text", "Video", "Audio")),
    {"__type__": "MultiFileContent", "files": [{"__type__": "PdfFileContent", **FILE}]},
    # no class, or written in another order
    "text", None, 7, [1, "x"], {}, {"text": "x"}, {"data": {"tools": []}}, {"__type__": "NoSuchContent", "text": "x"},
    {"__type__": 7}, {"text": "x", "own": 1, "__type__": "TextContent"}, {"tools": [], "__type__": "ToolContent"},
]


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


def send(method, path, body=None, expect=200):
    data = body if isinstance(body, (bytes, type(None))) else compact(body)
    answer = server().request(method, path, data, JSON)
    assert answer.status == expect, f"{answer.status} instead of {expect}: {answer.body[:600]!r}"
    return answer.json()


def post(project, card, expect=200):
    return send("POST", url(project, "cards"), card, expect)


def shown(project, card_id="c"):
    return server().get(url(project, "cards", card_id)).body


def written(project, card, **members):
    """Writes a card and returns it as it is shown, perhaps with other members."""
    post(project, {"card_id": "c", **card})
    return {**json.loads(shown(project)), **members}


def rejected(project, card, member, words, expect=422):
    """All four writers reject the card with these words; nothing is written."""
    before = server().get(url(project, "cards")).body
    for body, loc in ((card, ["body", member]), ({"cards": [card]}, ["body", "cards", 0, member])):
        faults = post(project, body, expect)["detail"]["faults"]
        assert [fault["loc"] for fault in faults] == [loc] and words in faults[0]["msg"], faults
    for ability, body in (("card:add", card), ("card:add_many", {"cards": [card]})):
        answer = server().post(url(project, "abilities", ability), body)
        assert answer.status == expect and (words in answer.body.decode() or "/" + member in answer.body.decode()), answer
    assert server().get(url(project, "cards")).body == before


def outcomes(project, *cards):
    """The outcomes of cards, which must be the same for all four writers if nothing changes."""
    return [card["outcome"] for card in post(project, {"cards": list(cards)})["cards"]]


def test_every_class_goes_back():
    """One by one, as the bytes that GET answers; then all in a list, and through the abilities."""
    cards = []
    for n, content in enumerate(CONTENTS):
        post("classes", {"card_id": f"c{n}", "content": content, "type": "task.deliverable"})
        body = shown("classes", f"c{n}")
        assert post("classes", body) == {"card_id": f"c{n}", "outcome": "unchanged"}, body
        answer = server().request("POST", url("classes", "abilities", "card:add"), body, JSON)
        assert answer.json() == {"card_id": f"c{n}", "outcome": "unchanged"}, (body, answer)
        assert shown("classes", f"c{n}") == body
        cards.append(json.loads(body))
    assert set(outcomes("classes", *cards)) == {"unchanged"}
    many = send("POST", url("classes", "abilities", "card:add_many"), {"cards": cards})["cards"]
    assert {card["outcome"] for card in many} == {"unchanged"} and len(many) == len(CONTENTS)
    assert {card["content_class"] for card in cards} >= {None, "ToolContent", "MultiFileContent"}


def test_escapes_that_jsonb_rejects():
    """The order of members and white space do not matter there either. Escapes and backslashes stay what they are."""
    cases = [(rb'{"text": "a\u0000\\u0000", "__type__": "TextContent"}', rb'{"text":"a\u0000\\u0000"}'),
             (rb'{ "__type__" :"TextContent", "text" : "\ud800" , "n":[ 1.0 ]}', rb'{"n":[1],"text":"\ud800"}')]
    for n, (content, other) in enumerate(cases):
        post("escapes", b'{"card_id":"c%d","content":%s}' % (n, content))
        assert post("escapes", shown("escapes", f"c{n}"))["outcome"] == "unchanged", content
        edit = b'{"card_id":"c%d","content_class":"TextContent","metadata":{},"content":%s}'
        assert post("escapes", edit % (n, other))["outcome"] == "unchanged", other
    different = [rb'"\u0000\\u0000"', rb'"\\u0000\\u0000"', rb'"\u0000\u0000"', rb'"\\u0000\u0000"', rb'"\\\u0000\\u0000"',
                 rb'"\u0000\\\u0000"', rb'"\ufffd\\u0000"', rb'"\u0000\\\\u0000"']
    for content in different:
        outcome = post("escapes", b'{"card_id":"d","content":%s}' % content)["outcome"]
        assert outcome == ("inserted" if content == different[0] else "repaired"), content
        assert post("escapes", b'{"card_id":"d","content": %s }' % content)["outcome"] == "unchanged", content


def test_a_page_goes_back():
    for n in range(3):
        post("page", {"content": {"__type__": "TextContent", "text": str(n)}})
    page = send("GET", url("page", "cards"))["cards"]
    assert outcomes("page", *page) == ["unchanged"] * 3


def test_it_makes_the_same_card_elsewhere():
    """Another project gets the card with its class, made now."""
    for n, content in enumerate(CONTENTS):
        card = written(f"from{n}", {"content": content, "type": "x", "created_at": "2020-01-01T00:00:00Z"})
        assert post(f"to{n}", card)["outcome"] == "inserted"
        copy = json.loads(shown(f"to{n}"))
        assert {name for name in card if card[name] != copy[name]} == {"project_id", "created_at"}, (card, copy)


def test_an_edit_keeps_the_class():
    card = written("edit", {"content": {"__type__": "TextContent", "text": "a"}, "author_id": "me"})
    card["content"]["text"] = "b"
    assert post("edit", card)["outcome"] == "repaired"
    again = json.loads(shown("edit"))
    assert again["content"] == {"text": "b"} and again["content_class"] == "TextContent", again
    assert again["author_id"] == "me"
    tools = written("edit2", {"content": {"__type__": "ToolContent", "tools": []}})
    tools["content"]["data"]["tools"].append({"name": "t"})
    assert outcomes("edit2", tools) == ["repaired"]
    assert json.loads(shown("edit2"))["content"] == {"data": {"tools": [{"name": "t"}]}}
    # another class, another type, and members of a new card
    assert post("edit", {**again, "content_class": "JsonContent", "content": {"data": [1]}})["outcome"] == "repaired"
    got = json.loads(shown("edit"))
    got.pop("type")
    got["metadata"]["type"] = "note"
    assert post("edit", {**got, "role": "user", "step_id": "s"})["outcome"] == "repaired"
    last = json.loads(shown("edit"))
    assert (last["type"], last["content_class"]) == ("note", "JsonContent")
    assert last["metadata"] == {"type": "note", "role": "user", "step_id": "s", "author_id": "me"}, last
    assert post("edit", {**last, "strict": True, "content": {"data": [2]}}, 409)["detail"]["error_code"] == "conflict"


def test_members_of_every_kind():
    """TTL, calls, long and odd metadata: what GET derives from it and what it shows as null."""
    cases = [
        {"ttl_seconds": 10**6},
        {"tool_calls": [{"id": "x"}], "tool_call_id": "x", "type": "agent.thought"},
        {"type": "tool.result", "tool_call_id": "y"},
        {"metadata": {"created_at": "2020-01-02T03:04:05", "author_id": ""}},
        {"metadata": {"created_at": "yesterday", "timestamp": "2020-01-02T03:04:05.1+05:00"}},
        {"metadata": {"created_at": 7, "author_id": 7, "type": 7, "role": 7}},
        {"metadata": {"semantic_type": "s" * 3000, "producer": {"id": "\u00e4" * 3000}}},
        {"metadata": {"type": "t" * 1000, "author_id": "a" * 1000}},
        {"metadata": {"type": None, "a": {"b": [1.50, 1e30]}, "": "\U0001f600"}},
        {"metadata": {"type": "", "author_id": "unknown"}},
        {"created_at": "2020-01-02T03:04:05.123456+05:30", "author_id": "me", "step_id": "s"},
    ]
    for n, members in enumerate(cases):
        post("members", {"card_id": f"c{n}", "content": n, **members})
        body = shown("members", f"c{n}")
        assert post("members", body)["outcome"] == "unchanged", body
        assert outcomes("members", json.loads(body)) == ["unchanged"], body
        answer = server().request("POST", url("members", "abilities", "card:add"), body, JSON)
        assert answer.status == 200 and answer.json()["outcome"] == "unchanged", answer
        assert shown("members", f"c{n}") == body


def test_rows_without_a_role():
    """Imported metadata is not completed: neither with the role of the type, nor with an empty object."""
    rows = [{"kind": "card", "card_id": "c0", "content": 1, "metadata": {"type": "agent.thought"}},
            {"kind": "card", "card_id": "c1", "content": 1, "metadata": None},
            {"kind": "card", "card_id": "c2", "content": 1, "ttl_seconds": None, "expires_at": "2100-01-01T00:00:00Z"},
            {"kind": "card", "card_id": "c3", "content": 1, "metadata": {"type": "tool.result"}, "tool_call_id": ""}]
    load(dsn(), *rows, project="rows")
    for n in range(len(rows)):
        body = shown("rows", f"c{n}")
        assert post("rows", body)["outcome"] == "unchanged", body
        answer = server().request("POST", url("rows", "abilities", "card:add"), body, JSON)
        assert answer.status == 200 and answer.json()["outcome"] == "unchanged", answer
        assert shown("rows", f"c{n}") == body


def test_what_is_only_shown_changes_nothing():
    card = written("only", {"content": "x", "author_id": "me", "type": "note"})
    body = shown("only")
    for name, value in (("project_id", "other"), ("author_id", "you"), ("created_at", "whenever"),
                        ("expires_at", "2020-01-01T00:00:00Z"), ("type", None), ("sealed", False), ("sealed", None),
                        ("author_id", None), ("author_id", "x" * 600), ("created_at", "2020-01-01T00:00:00Z")):
        assert post("only", {**card, name: value})["outcome"] == "unchanged", name
        assert outcomes("only", {**card, name: value}) == ["unchanged"]
        answer = server().post(url("only", "abilities", "card:add"), {**card, name: value})
        assert answer.json()["outcome"] == "unchanged", (name, answer)
        assert shown("only") == body
    fewer = {name: card[name] for name in ("card_id", "content", "metadata", "content_class")}
    assert post("only", fewer)["outcome"] == "unchanged"
    made = post("only", {"content": "y", "author_id": "me", "content_class": None})
    assert json.loads(shown("only", made["card_id"]))["author_id"] == "unknown"


def test_the_type_comes_from_the_metadata():
    card = written("types", {"content": "x", "type": "note"})
    hint = "to change the type, change metadata.type and leave out type"
    rejected("types", {**card, "type": "memo"}, "type", "but the metadata has the type")
    changed = {**card, "metadata": {**card["metadata"], "type": "memo"}}
    rejected("types", changed, "type", hint)
    rejected("types", {**card, "metadata": None}, "type", "unknown")
    rejected("types", {**card, "type": "x" * 600}, "type", hint)
    assert post("types", {**changed, "type": "memo"})["outcome"] == "repaired"
    assert json.loads(shown("types"))["type"] == "memo"
    bare = written("types2", {"content": "x"})
    assert bare["type"] == "unknown"
    rejected("types2", {**bare, "type": "note"}, "type", hint)
    del bare["type"]
    assert post("types2", {**bare, "metadata": {"type": "note"}})["outcome"] == "repaired"
    assert json.loads(shown("types2"))["type"] == "note"


def test_bad_classes():
    card = written("bad", {"content": {"__type__": "TextContent", "text": "x"}})
    for value in ("NoSuchContent", "", "textcontent", "field", "TextContent\u0131"):
        rejected("bad", {**card, "content_class": value}, "content_class", "not the name of a content class")
    rejected("bad", {**card, "content_class": "JsonContent"}, "content", "data")
    for content in ("x", None, [{"text": "x"}], 7):
        rejected("bad", {**card, "content": content}, "content_class", "content must be an object")
    rejected("bad", {**card, "content": {"text": 7}}, "content", "text")
    rejected("bad", {**card, "content_class": "ToolContent", "content": {"data": []}}, "content", "tools")
    rejected("bad", {**card, "content_class": "ToolContent", "content": {"data": {}, "x": 1}}, "content", "tools")
    marked = {"__type__": "TextContent", "text": "x"}
    rejected("bad", {**card, "content": marked, "content_class": None}, "content_class", "content_class is null")
    rejected("bad", {**card, "content": {**marked, "__type__": "JsonContent"}}, "content_class", "is not the class")
    rejected("bad", {**card, "content": {**marked, "__type__": 7}}, "content_class", "is not the class")
    for value in (7, True, ["TextContent"], {}):
        rejected("bad", {**card, "content_class": value}, "content_class", "Input should be a valid string")
    for name in ("project_id", "expires_at", "author_id", "created_at", "type"):
        rejected("bad", {**card, name: 7}, name, "Input should be a valid string")
    rejected("bad", {**card, "content_clas": 1}, "content_clas", "Nothing of this name is known here")
    # the class in the content is as good, and ToolContent may be given without its member data
    assert post("bad", {**card, "content": marked})["outcome"] == "unchanged"
    written("bad2", {"content": {"__type__": "ToolContent", "tools": []}})
    assert post("bad2", {"card_id": "c", "content": {"tools": []}, "content_class": "ToolContent"})["outcome"] == "unchanged"


def test_without_content_class():
    """All other bodies are new cards: they know no member that is only shown, and their author counts."""
    for name in ("project_id", "expires_at"):
        for value in ("x", None):
            answer = post("new", {"card_id": "c", "content": 1, name: value}, 422)
            assert [(fault["type"], fault["loc"]) for fault in answer["detail"]["faults"]] == [("extra_forbidden", ["body", name])]
        answer = server().post(url("new", "abilities", "card:add"), {"content": 1, name: "x"})
        assert answer.status == 422 and "content_class" in answer.body.decode(), answer
        answer = server().post(url("new2", "abilities", "card:add"), {"content": 1, name: None})
        assert answer.status == 200, "null is absent in abilities"
    assert send("GET", url("new", "cards"))["cards"] == []
    card = written("new", {"content": {"__type__": "TextContent", "text": "x"}})
    for name in ("project_id", "expires_at", "content_class", "author_id", "created_at", "type"):
        card.pop(name)
    assert post("new", card)["outcome"] == "repaired", "the class is lost, as ever"


def test_sealed_cards():
    card = written("sealed", {"content": {"__type__": "TextContent", "text": "x"}, "sealed": True})
    assert card["sealed"] is True
    assert post("sealed", card)["outcome"] == "unchanged"
    assert post("sealed", {**card, "sealed": False})["outcome"] == "unchanged"
    assert json.loads(shown("sealed"))["sealed"] is True
    assert "conflict" == post("sealed", {**card, "content": {"text": "y"}}, 409)["detail"]["error_code"]
    # sealed: true seals, also as the value of a list; sealed: false does not change that value
    for project, body in (("seal1", lambda c: {**c, "sealed": True}), ("seal2", lambda c: {"cards": [c], "sealed": True})):
        open_card = written(project, {"content": "x"})
        post(project, body(open_card))
        assert json.loads(shown(project))["sealed"] is True, project
    many = {"cards": [written("seal3", {"content": "x"})], "sealed": True}
    send("POST", url("seal3", "abilities", "card:add_many"), many)
    assert json.loads(shown("seal3"))["sealed"] is True


def test_messages_of_tasks():
    answer = server().post(url("tasks", "abilities", "task:spawn"), {"goal": "count"})
    assert answer.status == 200, answer
    cards = send("GET", url("tasks", "cards"))["cards"]
    assert cards and all(card["sealed"] for card in cards), cards
    assert outcomes("tasks", *cards) == ["unchanged"] * len(cards)
    assert send("GET", url("tasks", "cards"))["cards"] == cards
    assert post("tasks", {**cards[0], "content": {"text": "other"}}, 409)["detail"]["outcome"] == "conflict"


def test_deep_content():
    """Reads show a ToolContent with one level more than content may have."""
    deep = {"a": 1}
    for _ in range(123):
        deep = [deep]
    card = written("deep", {"content": {"__type__": "ToolContent", "tools": [{"x": deep}]}})
    assert post("deep", card)["outcome"] == "unchanged"
    answer = server().post(url("deep", "abilities", "card:add_many"), {"cards": [card]})
    assert answer.status == 200 and answer.json()["cards"][0]["outcome"] == "unchanged", answer
    card["content"]["data"]["tools"].append({"x": [[deep]]})
    detail = post("deep", card, 413)["detail"]
    assert "content" in detail["error_message"] and "nested too deeply" in detail["error_message"], detail


def test_the_largest_content():
    """The restored __type__ counts: the largest card goes back, and one byte more is too large."""
    most = str(80 << 20)
    large = Server(dsn(), "--body-max", most, "--response-max", most)
    head, end = b'{"__type__":"TextContent","text":"', b'"}'
    content = head + b"x" * ((64 << 20) - len(head) - len(end)) + end
    made = large.request("POST", url("large", "cards"), b'{"card_id":"c","content":' + content + b"}", JSON)
    assert made.status == 200, made
    answer = large.get(url("large", "cards", "c"))
    again = large.request("POST", url("large", "cards"), answer.body, JSON)
    assert again.json()["outcome"] == "unchanged", again
    grown = answer.body.replace(b'{"text":"', b'{"text":"y', 1)
    for body in grown, b'{"cards":[' + grown + b"]}":
        answer = large.request("POST", url("large", "cards"), body, JSON)
        assert answer.status == 413 and "content" in answer.json()["detail"]["error_message"], answer
    large.stop()


if __name__ == "__main__":
    cardbox_test.main()

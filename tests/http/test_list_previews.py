#!/usr/bin/env python3
"""`preview=true` in the lists of boxes and sessions: what each is about, by what its messages say."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import once, server

ME = "/projects/previews"


def send(method, path, body):
    answer = server().request(method, ME + path, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    return answer.json()


def card(card_id, content, role=None, project=ME):
    body = {"card_id": card_id, "content": content, **({"role": role} if role else {})}
    answer = server().request("POST", f"{project}/cards", json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer


def text(said):
    return {"__type__": "TextContent", "text": said}


@once
def boxes():
    """Lists of card ids by what their preview must be."""
    card("system", text("You are kind."), "system")
    card("user", text("Mend it. " + "x" * 1000), "user")
    card("blank", text(" \n"), "user")
    card("bare", "a bare text")
    card("data", {"data": {"a": 1}}, "user")
    card("odd", text("half \ud800 and \u0000 nothing"), "user")
    card("large", text("L" + "ä" * 200_000), "user")
    card("gone", text("deleted"), "user")
    assert server().request("DELETE", f"{ME}/cards/gone").status == 200
    card("elsewhere", text("of another project"), "user", "/projects/previews-2")
    expected = {
        ("system", "user"): {"role": "user", "text": ("Mend it. " + "x" * 1000)[:400]},
        ("blank", "system"): {"role": "system", "text": "You are kind."},
        ("data", "bare"): {"role": None, "text": "a bare text"},
        ("bare", "system"): {"role": None, "text": "a bare text"},
        ("data", "odd"): {"role": "user", "text": "half \ufffd and \ufffd nothing"},
        ("gone", "nothing", "elsewhere", "data"): None,
        (): None,
        ("system",) * 8 + ("user",): {"role": "system", "text": "You are kind."},
        ("system",) * 7 + ("user",) + ("data",) * 200: {"role": "user", "text": ("Mend it. " + "x" * 1000)[:400]},
    }
    return {send("POST", "/boxes", {"card_ids": list(ids)})["box_id"]: preview for ids, preview in expected.items()}


def listed(query, key="boxes"):
    answer = server().get(f"{ME}/{key}?{query}")
    assert answer.status == 200, answer
    return answer.json()


def test_boxes():
    expected = boxes()
    found = {box["box_id"]: box["preview"] for box in listed("preview=true")["boxes"]}
    assert found == expected, found
    assert not any("preview" in box for query in ("", "preview=false") for box in listed(query)["boxes"])
    assert server().get(f"{ME}/boxes?preview=maybe").status == 422
    assert server().get(f"{ME}/cards/user/boxes?preview=maybe").status == 422
    first = listed("preview=true&limit=3")
    rest = listed(f"preview=true&limit=100&cursor={first['next_cursor']}")
    assert [box["preview"] for box in (*first["boxes"], *rest["boxes"])] == list(expected.values())[::-1]


def test_boxes_with_a_card():
    expected = boxes()
    found = {box["box_id"]: box["preview"] for box in listed("preview=true", "cards/user/boxes")["boxes"]}
    assert len(found) >= 2 and found.items() <= {box["box_id"]: box["preview"] for box in listed("preview=true")["boxes"]}.items(), found
    assert found.keys() & expected.keys()
    assert not any("preview" in box for box in listed("", "cards/user/boxes")["boxes"])


def test_forks_of_boxes():
    """A fork begins with what its parent has."""
    parent = send("POST", "/boxes", {"card_ids": ["user"] * 70})["box_id"]
    made = server().request("POST", f"{ME}/boxes/{parent}/fork", json.dumps({"at_length": 65}),
                            {"Content-Type": "application/json"}).json()["box_id"]
    found = {box["box_id"]: box["preview"] for box in listed("preview=true")["boxes"]}
    assert found[made] == found[parent] and found[made]["text"].startswith("Mend it."), found
    for one in (parent, made):
        assert server().request("DELETE", f"{ME}/boxes/{one}").status == 200


def message(identifier, role, content):
    return {"id": identifier, "type": "message", "message": {"role": role, "content": content}}


def session(name, *entries):
    send("PUT", f"/sessions/{name}", {"dialect": "pi"})
    if entries:
        send("POST", f"/sessions/{name}/entries", {"entries": list(entries)})


def said(preview):
    return preview and (preview["role"], preview["text"])


def test_sessions():
    setting = {"id": "n", "type": "session_info", "name": "A name"}
    call = [{"type": "text", "text": "I look"}, {"type": "toolCall", "id": "c", "name": "read_log", "arguments": {}}]
    session("none")
    session("named", setting, message("a", "user", "Why?"), message("b", "assistant", call), {**setting, "id": "m"})
    session("long", message("a", "user", "x" * 70_000), message("b", "user", "the second"), message("c", "assistant", [
        {"type": "text", "text": "y" * 70_000}]))
    session("late", *({"id": f"s{n}", "type": "model_change", "modelId": "m"} for n in range(60)), message("u", "user", "late"))
    found = {one["session_id"]: (said(one["first"]), said(one["last"])) for one in listed("preview=true", "sessions")["sessions"]}
    assert found == {"none": (None, None), "named": (("user", "Why?"), ("assistant", "I look")),
                     "long": (("user", "the second"), ("user", "the second")), "late": (None, ("user", "late"))}, found
    last = next(one for one in listed("preview=true", "sessions")["sessions"] if one["session_id"] == "named")["last"]
    assert last["tools"] == "read_log" and "failed" not in last, last
    assert not any("first" in one for one in listed("", "sessions")["sessions"])


def test_failures():
    """Only entries that report an error are marked, whatever the other texts say."""
    post = lambda entries, dialect: send("POST", f"/sessions/failed-{dialect}/entries", {"create": {"dialect": dialect}, "entries": entries})
    post([message("a", "user", "It prints (error) twice"), message("b", "assistant", "(error) is printed"),
          {**message("c", "assistant", []), "message": {"role": "assistant", "content": [], "errorMessage": "overloaded"}},
          {**message("d", "toolResult", "gone"), "message": {"role": "toolResult", "content": "gone", "isError": True}}], "pi")
    post([{"type": "user", "content": "(error) "}, {"type": "tool_result", "toolCallId": "x", "output": "no", "success": False}], "plain")
    entries = [one for dialect in ("pi", "plain") for one in server().get(
        f"{ME}/sessions/failed-{dialect}/tree?preview=true").json()["entries"]]
    assert [one["preview"].get("failed") for one in entries] == [None, None, True, True, None, True], entries


if __name__ == "__main__":
    cardbox_test.main()

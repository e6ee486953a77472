#!/usr/bin/env python3
"""Nothing that is appended to a session is lost silently: misspelt members are refused, and the report of a
context lists what the context leaves out."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import server
from cardbox_test import session_url as url

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "data", "pi")
JSON = {"Content-Type": "application/json"}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def create(session, dialect="plain"):
    answer = server().request("PUT", url(session), json.dumps({"dialect": dialect}), JSON)
    assert answer.status in (200, 201), answer


def send(session, *entries, **more):
    return server().request("POST", url(session, "entries"), json.dumps({"entries": entries, **more}), JSON)


def append(session, *entries, **more):
    answer = send(session, *entries, **more)
    assert answer.status == 200, answer
    assert set(answer.json()) == {"session_id", "version", "entries"}, answer


def context(session, form="openai"):
    answer = server().get(url(session, "context") + f"?format={form}")
    assert answer.status == 200, answer
    return answer.json()


def messages(session, form):
    return context(session, form)["messages"]


def dropped_blocks(session):
    """The ids of the entries that have a content block that the context leaves out."""
    repairs = context(session)["report"]["repairs"]
    return [repair["entry"] for repair in repairs if repair["repair"] == "dropped_block"]


def user(identifier="u", **more):
    return {"type": "user", "id": identifier, "content": "x", **more}


def pi(identifier, role, content, **more):
    return {"type": "message", "id": identifier, "message": {"role": role, "content": content, **more}}


# --- misspelt members ---


def refused(session, entry, given, meant):
    answer = send(session, entry)
    text = answer.body.decode()
    assert answer.status == 422, answer
    assert f'unknown member \\"{given}\\"' in text and f'did you mean \\"{meant}\\"?' in text, answer


def test_misspelt_members():
    create("names")
    refused("names", {"type": "tool_result", "tool_call_id": "c", "output": "x"}, "tool_call_id", "toolCallId")
    refused("names", {"type": "tool_result", "tooCallId": "c", "output": "x"}, "tooCallId", "toolCallId")
    refused("names", {"type": "tool_result", "toolcallid": "c", "output": "x"}, "toolcallid", "toolCallId")
    refused("names", {"type": "user", "contnet": "x"}, "contnet", "content")
    refused("names", user(parent_id="a"), "parent_id", "parentId")
    refused("names", {"type": "user", "ID": "a", "content": "x"}, "ID", "id")
    refused("names", {"Type": "user", "content": "x"}, "Type", "type")
    refused("names", {"type": "assistant", "content": "x", "tool_calls": []}, "tool_calls", "toolCalls")
    refused("names", {"type": "assistant", "content": "x", "toolCalls": [{"id": "c", "Name": "x"}]}, "Name", "name")
    refused("names", user(content=[{"type": "image", "data": PIXEL, "mime_type": "image/png"}]), "mime_type", "mimeType")
    refused("names", user(content=[{"type": "image_url", "imageUrl": {"url": "x"}}]), "imageUrl", "image_url")
    create("names-pi", "pi")
    refused("names-pi", pi("a", "toolResult", [], tool_call_id="c"), "tool_call_id", "toolCallId")
    refused("names-pi", {"type": "label", "target_id": "a", "label": "x"}, "target_id", "targetId")
    assert server().get(url("names")).json()["entries"] == 0


def test_other_members_are_stored():
    create("others")
    block = {"type": "document", "mime_type": "text/plain", "titel": "x"}
    append("others", user("a", ts=1, date=2, idd=3, texts=4, anything={"tool_call_id": 1}),
           {"type": "tool", "id": "b", "name": "x", "params": {"tool_call_id": 1}},
           {"type": "metadata", "id": "m", "toolcallid": 1, "conten": 2},
           user("c", content=[block, {"type": "text", "text": "x"}]))
    assert dropped_blocks("others") == ["c"]
    stored = server().get(url("others", "entries", "c")).body.decode()
    assert '"mime_type": "text/plain", "titel": "x"' in stored, stored


def test_abilities_refuse_too():
    create("ability")
    body = {"session_id": "ability", "entries": [{"type": "user", "content": "x", "parent_id": None}]}
    answer = server().request("POST", "/projects/p/abilities/session:append", json.dumps(body), JSON)
    assert answer.status == 422 and answer.json()["detail"]["error_code"] == "validation_failed", answer
    assert "did you mean" in answer.body.decode(), answer


def test_imports_refuse_no_names():
    answer = server().request("POST", url("imported", "import"),
                              json.dumps({**user("a"), "parent_id": "x"}) + "\n", {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200 and answer.json()["appended"] == 1, answer


def test_role_without_type():
    create("role")
    for role, kind in (("user", "user"), ("assistant", "assistant"), ("tool", "tool_result")):
        answer = send("role", {"role": role, "content": "x"})
        text = answer.body.decode()
        assert answer.status == 422 and f'use \\"type\\": \\"{kind}\\" instead of \\"role\\"' in text, answer
        assert '{\\"type\\": \\"message\\", \\"message\\": {\\"role\\": ...}}' in text, answer
    assert "needs a type other than session" in send("role", {"content": "x"}).body.decode()
    for role, kind in (("developer", "system"), ("model", "assistant"), ("function", "tool_result"), ("human", "user"),
                       ("toolResult", "tool_result")):
        text = send("role", {"role": role, "content": "x"}).body.decode()
        assert f'use \\"type\\": \\"{kind}\\" instead of \\"role\\"' in text, text
        answer = send("role", {"type": role, "content": "x"})
        assert answer.status == 422 and f'did you mean \\"{kind}\\"?' in answer.body.decode(), answer
    said = send("role", {"role": "narrator", "content": "x"}).body.decode()
    assert "such as user, assistant, tool_result or system, not the role narrator" in said, said
    append("role", {"type": "narrator", "content": "x"})


def test_a_tool_that_returns_nothing():
    create("nothing")
    call = {"id": "a", "type": "assistant", "toolCalls": [{"id": "c", "name": "f", "params": {}}]}
    for entry in (user("u"), call, {"id": "r", "type": "tool_result", "toolCallId": "c", "output": None}):
        append("nothing", entry)
    assert "needs the member output" in send("nothing", {"type": "tool_result", "toolCallId": "c"}).body.decode()
    create("nothing-pi", "pi")
    append("nothing-pi", pi("u", "user", "x"), pi("a", "assistant", [{"type": "toolCall", "id": "c", "name": "f", "arguments": {}}]),
           pi("r", "toolResult", [], toolCallId="c", toolName="f", isError=False))
    for session in ("nothing", "nothing-pi"):
        assert messages(session, "openai")[-1] == {"role": "tool", "tool_call_id": "c", "content": "(no output)"}, session
        got = messages(session, "anthropic")[-1]["content"][0]
        assert (got["tool_use_id"], got["content"]) == ("c", [{"type": "text", "text": "(no output)"}]), got
        assert messages(session, "messages")[-1]["content"] == "", session


def test_real_files_can_be_appended():
    if not os.path.isdir(DATA):
        print("SKIPPED: no", DATA)
        return
    for name in sorted(os.listdir(DATA)):
        with open(os.path.join(DATA, name), encoding="utf-8") as file:
            entries = [json.loads(line) for line in file][1:]
        create(name, "pi")
        for entry in entries[:20]:
            append(name, entry)
        for at in range(20, len(entries), 400):
            append(name, *entries[at:at + 400])
        assert server().get(url(name)).json()["entries"] == len(entries)


# --- content blocks ---


def test_unknown_blocks_are_reported():
    create("kinds")
    wrong = [{"type": "video", "data": "x"}, {"type": "image", "data": "x", "mimeType": "image/tiff"},
             {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, {"type": "toolCall", "id": "c"}, "x",
             {"type": "image", "source": {"type": "file", "file_id": "x"}}]
    append("kinds", {"type": "fly"}, *(user(f"w{at}", content=[block]) for at, block in enumerate(wrong)),
           {"type": "assistant", "id": "i", "content": [{"type": "image", "data": "x", "mimeType": "image/png"}]})
    assert dropped_blocks("kinds") == [f"w{at}" for at in range(len(wrong))] + ["i"]


# --- images ---

BY_PI = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
BY_ANTHROPIC = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
BY_DATA_URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PIXEL}}
BY_URL = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
BY_SOURCE = {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}}


def test_images_reach_the_formats():
    for dialect in ("plain", "pi"):
        session = "images-" + dialect
        create(session, dialect)
        content = [{"type": "text", "text": "look"}, BY_PI, BY_ANTHROPIC, BY_DATA_URL, BY_URL, BY_SOURCE]
        entry = user("a", content=content) if dialect == "plain" else pi("a", "user", content)
        append(session, entry)
        assert dropped_blocks(session) == []
        assert messages(session, "openai")[0]["content"] == \
            [content[0], BY_DATA_URL, BY_DATA_URL, BY_DATA_URL, BY_URL, BY_URL]
        assert messages(session, "anthropic")[0]["content"] == \
            [content[0], BY_ANTHROPIC, BY_ANTHROPIC, BY_ANTHROPIC, BY_SOURCE, BY_SOURCE]


def test_broken_images_are_reported():
    """An API would reject the whole request for such an image."""
    create("broken")
    broken = [{**BY_PI, "data": data} for data in ("not base64!!", "====", "AAAA\n", "AAA", "AAAAA===", "A=AA", "é234", "")]
    broken += [{"type": "image_url", "image_url": {"url": address}} for address in (
        "data:image/png;base64,AA A", "https://x.test/a b.png", "https://x.test/\n", "http://x.test/\x00", "https://x.test/\u2028",
        "https://x.test/\x85")]
    broken += [{"type": "image", "source": {"type": "url", "url": "https://x.test/ "}},
               {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA "}}]
    append("broken", *(user(f"b{at}", content=[block, {"type": "text", "text": "x"}]) for at, block in enumerate(broken)))
    assert dropped_blocks("broken") == [f"b{at}" for at in range(len(broken))]
    assert [message["content"] for message in messages("broken", "openai")] == ["x"] * len(broken)
    assert all(block["type"] == "text" for message in messages("broken", "anthropic") for block in message["content"])
    good = [{**BY_PI, "data": data} for data in ("QQ==", "QUI=", "QUJD", "+/+/", "09az")]
    good.append({"type": "image_url", "image_url": {"url": "https://x.test/é%20?a=1#b"}})
    create("good")
    append("good", user("good", content=good))
    escaped = json.dumps({"entry": user("escaped", content=[{**BY_PI, "data": "QQ@@"}])}).replace("@", "\\u003d")
    answer = server().request("POST", url("good", "entries"), escaped, JSON)
    assert answer.status == 200 and dropped_blocks("good") == [], answer


def test_images_with_escaped_slashes():
    create("slashes")
    body = json.dumps({"entry": user("a", content=[BY_DATA_URL, BY_URL])}).replace("/", "\\/")
    answer = server().request("POST", url("slashes", "entries"), body, JSON)
    assert answer.status == 200, answer
    assert messages("slashes", "openai")[0]["content"] == [BY_DATA_URL, BY_URL]
    assert messages("slashes", "anthropic")[0]["content"] == [BY_ANTHROPIC, BY_SOURCE]


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Nothing that is appended to a session is lost silently: unknown members and messages of models' APIs are
refused, and the report of a context lists what the context leaves out."""

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


# --- unknown members ---

MEMBERS = {
    "user": "content, name", "system": "content, name", "assistant": "content, name, thinking, toolCalls", "tool": "toolCallId, name, params",
    "tool_result": "toolCallId, output, success, details", "label": "targetId, label", "session_info": "name"}


def refused(answer, text):
    assert answer.status == 422 and text in answer.json()["detail"]["error_message"], answer
    return answer.json()["detail"]


def test_unknown_members():
    """A label's session must be known to be of the dialect plain, and the append shows that."""
    create("names")
    for kind, members in MEMBERS.items():
        free = {"tool": "metadata or params", "tool_result": "metadata or details"}.get(kind, "metadata")
        detail = refused(send("names", user(), {"type": kind, "own": 1}, create={"dialect": "plain"}),
                         f'unknown member "own" in an entry of type {kind}, which has the members id, parentId, timestamp, type, '
                         f"{members}, metadata: put free data into {free}")
        assert [fault["loc"] for fault in detail["faults"]] == [["body", "entries", 1]], detail
    for wrong in ({"type": "tool_result", "output": "x", "toolcallid": "c"}, {"type": "user", "content": "x", "ID": "a"},
                  {"type": "user", "contnet": "x"}, {"type": "assistant", "content": "x", "usage": {}},
                  {"type": "user", "content": "x", "é" * 300: 1}):
        refused(send("names", wrong), "unknown member")
    for body in (json.dumps({"entry": user(own=1)}), '{"entry": {"type": "us\\u0065r", "content": "x", "own": 1}}'):
        detail = refused(server().request("POST", url("names", "entries"), body, JSON), 'unknown member "own"')
        assert [fault["loc"] for fault in detail["faults"]] == [["body", "entry"]], detail
    assert server().get(url("names")).json()["entries"] == 0


def test_documented_members_are_stored():
    """Those of the source document, and metadata in all types."""
    create("known")
    entries = [{"id": "1", "parentId": None, "timestamp": 1708300000, "type": "user", "content": "x",
                "metadata": {"source": "cli", "userId": "user-123"}},
               {"id": "2", "type": "assistant", "content": "", "thinking": "x", "metadata": {"usage": {"total": 3}},
                "toolCalls": [{"id": "c", "name": "write", "params": {"path": "x"}, "own": 1}]},
               {"id": "3", "type": "tool", "name": "write", "params": {"own": 1}, "toolCallId": "c", "metadata": 1},
               {"id": "4", "type": "tool_result", "toolCallId": "c", "output": "x", "details": {"bytes": 23}, "success": True,
                "metadata": None},
               {"id": "5", "type": "system", "content": [{"type": "text", "text": "x", "own": 1}], "metadata": []},
               {"id": "6", "type": "metadata", "own": 1, "role": "x", "tool_calls": []},
               {"id": "7", "type": "label", "targetId": "1", "label": "x", "metadata": {}},
               {"id": "8", "type": "session_info", "name": "x", "metadata": {}}]
    append("known", *entries)
    assert [json.loads(line) for line in server().get(url("known", "export")).body.splitlines()] == \
        [{**({} if at == 0 else {"parentId": str(at)}), **entry} for at, entry in enumerate(entries)]


def test_entries_that_are_not_checked():
    """Those of unknown types and of the dialect pi; content blocks; and labels, unless the append shows the dialect."""
    create("free")
    block = {"type": "document", "mime_type": "text/plain", "titel": "x"}
    append("free", {"type": "fly", "own": 1, "tool_calls": []}, user("c", content=[block, {"type": "text", "text": "x", "own": 1}]))
    append("free", {"type": "label", "targetId": "c", "label": "x", "own": 1})
    assert dropped_blocks("free") == ["c"]
    create("free-pi", "pi")
    append("free-pi", {**pi("a", "user", "x", own=1, tool_call_id="c"), "own": 1}, {"type": "custom", "own": 1},
           {"type": "label", "targetId": "a", "label": "x", "own": 1}, {"type": "fly", "own": 1}, create={"dialect": "pi"})


def test_abilities_refuse_too():
    create("ability")
    for entry, text in ((user(own=1), 'unknown member "own"'), ({"role": "user", "content": "x"}, "POST .../messages")):
        body = {"session_id": "ability", "entries": [entry]}
        answer = server().request("POST", "/projects/p/abilities/session:append", json.dumps(body), JSON)
        assert refused(answer, text)["error_code"] == "validation_failed", answer


def test_imports_refuse_no_names():
    answer = server().request("POST", url("imported", "import"),
                              json.dumps({**user("a"), "parent_id": "x"}) + "\n", {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200 and answer.json()["appended"] == 1, answer


def test_messages_of_apis():
    """OpenAI's chat completions and responses, and Anthropic's, in both dialects."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    for dialect in ("plain", "pi"):
        create("apis-" + dialect, dialect)
        for entry, sign in (
                ({"role": "user", "content": "x"}, 'member "role"'),
                ({"role": "assistant", "content": None, "tool_calls": [call]}, 'member "role"'),
                ({"role": "tool", "tool_call_id": "c", "content": "x"}, 'member "role"'),
                ({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}, 'member "role"'),
                ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}, 'member "role"'),
                ({"type": "assistant", "content": "x", "tool_calls": [call]}, 'member "tool_calls"'),
                ({"type": "tool_result", "tool_call_id": "c", "output": "x"}, 'member "tool_call_id"'),
                ({"type": "tool_result", "tool_use_id": "c", "content": "x"}, 'member "tool_use_id"'),
                *(({"type": kind, "id": "x"}, f'type "{kind}"') for kind in (
                    "function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output",
                    "web_search_call", "developer", "function", "model"))):
            refused(send("apis-" + dialect, entry), f"an entry has no {sign}, which belongs to messages of models' APIs: "
                    "append these with POST .../messages, session:add, cardbox_session_add or `cardbox session add`")
        for entry in ({"content": "x"}, {"type": "session"}, {"Type": "user", "content": "x"}, {"type": 5, "content": "x"}):
            refused(send("apis-" + dialect, entry), "an entry needs a type other than session, such as user or assistant")
        assert server().get(url("apis-" + dialect)).json()["entries"] == 0


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

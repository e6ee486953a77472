#!/usr/bin/env python3
"""Cards with messages of models' APIs: what is refused, what reads show, and contexts of boxes, also as one of several
agents sees them."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from cardbox_test import ask, await_, dsn, once, psql, server
from test_messages import FORMATS, RAW

P = "/projects/box"
NAMES = iter(range(1_000_000))


def of_message(form, message):
    """The content of a card with a message, both as JSON text."""
    return f'{{"__type__": "MessageContent", "format": "{form}", "message": {message}}}'


def add(content, **more):
    """Writes a card with a content, JSON text, and returns its id."""
    card_id = f"card-{next(NAMES)}"
    members = json.dumps({"card_id": card_id, **more})
    answer = server().request("POST", f"{P}/cards", f'{members[:-1]}, "content": {content}}}'.encode(), {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    return card_id


def box_of(ids):
    return ask("POST", f"{P}/boxes", {"card_ids": ids}).json()["box_id"]


def context(box, query="", status=200):
    return ask("GET", f"{P}/boxes/{box}/context?{query}", None, status).json()


def raw_messages(box, query):
    body = ask("GET", f"{P}/boxes/{box}/context?{query}").body
    return re.search(rb'"messages":(\[.*\]),"digests":', body, re.DOTALL).group(1).decode()


def said(form, value, **more):
    """Writes a card with a message."""
    return add(of_message(form, json.dumps(value)), **more)


# --- messages ---


def test_byte_for_byte():
    """In its own format a message is as it was; converted, the API's rules find nothing and the report lists what is lost."""
    for form, messages in RAW.items():
        box = box_of([add(of_message(form, message)) for message in messages])
        assert raw_messages(box, f"format={form}") == "[" + ",".join(messages) + "]"
        for other in FORMATS:
            made = context(box, f"format={other}")
            if other != form:
                llm_rules.check(made)
            assert (made["report"]["left_out"] == []) == (other == form), (form, other, made["report"])
            assert ask("POST", f"{P}/abilities/box:context", {"box_id": box, "format": other}).json() == made


def test_of_a_session():
    """card:from_entry keeps a message of an API as it is."""
    for form, messages in RAW.items():
        url = f"{P}/sessions/of-{form}"
        answer = server().request("POST", f"{url}/messages", f'{{"format":"{form}","messages":[{",".join(messages)}]}}'.encode(),
                                  {"Content-Type": "application/json"})
        entries = answer.json()["ids"]
        made = [ask("POST", f"{P}/abilities/card:from_entry", {"session_id": f"of-{form}", "entry_id": one}).json() for one in entries]
        cards = [ask("GET", f"{P}/cards/{one['card_id']}").json() for one in made]
        assert {card["content_class"] for card in cards} == {"MessageContent"}, cards
        assert {card["metadata"]["type"] for card in cards} == {"session.message"}, cards
        assert raw_messages(box_of([card["card_id"] for card in cards]), f"format={form}") == "[" + ",".join(messages) + "]"


def test_whole_answers():
    """Of an answer of Anthropic's API only the role and the content are sent, and line breaks stay."""
    content = '[ {"type":"text",\n"text":"a","citations":null} ]'
    whole = f'{{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":{content},"usage":{{"input_tokens":1}}}}'
    box = box_of([said("anthropic", {"role": "user", "content": "q"}), add(of_message("anthropic", whole))])
    assert raw_messages(box, "format=anthropic") == f'[{{"role": "user", "content": "q"}},{{"role":"assistant","content":{content}}}]'
    assert context(box)["report"]["left_out"] == []


def test_refused():
    user = {"role": "user", "content": "q"}
    for content, words in (({"message": user}, ["format", "required"]), ({"format": "openai"}, ["message", "required"]),
                           ({"format": "gemini", "message": user}, ["format", "openai, responses or anthropic"]),
                           ({"format": "openai", "message": [user]}, ["message", "object"]),
                           ({"format": "openai", "message": {"choices": [{"message": user}]}}, ["message", "must have a role"]),
                           ({"format": "responses", "message": {"output": [user]}}, ["message", "a role or a type"])):
        answer = ask("POST", f"{P}/cards", {"content": {"__type__": "MessageContent", **content}}, 422)
        assert all(word in answer.body.decode() for word in words), (content, answer)
        ask("POST", f"{P}/abilities/card:add", {"content": {"__type__": "MessageContent", **content}}, 422)


def test_reads():
    """The class, the role of the message, its text in previews of lists and in the search."""
    first = said("anthropic", {"role": "user", "content": [{"type": "text", "text": "Find the needle-in-a-card."}]})
    card = ask("GET", f"{P}/cards/{first}").json()
    assert (card["content_class"], card["metadata"]) == ("MessageContent", {"role": "user"}), card
    assert card["content"]["format"] == "anthropic" and card["content"]["message"]["role"] == "user"
    assert ask("POST", f"{P}/cards", card).json()["outcome"] == "unchanged"
    roles = [ask("GET", f"{P}/cards/{said(form, value)}").json()["metadata"].get("role") for form, value in (
        ("openai", {"role": "developer", "content": "s"}), ("openai", {"role": "tool", "tool_call_id": "c", "content": "r"}),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}),
        ("responses", {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}), ("openai", {"role": "new"}))]
    assert roles == ["system", "tool", "tool", "assistant", None], roles
    typed = said("openai", {"role": "assistant", "content": "a"}, type="task.instruction")
    assert ask("GET", f"{P}/cards/{typed}").json()["metadata"]["role"] == "user"
    box = box_of([said("openai", {"role": "system", "content": "Be brief."}), first])
    listed = {one["box_id"]: one["preview"] for one in ask("GET", f"{P}/boxes?preview=true").json()["boxes"]}
    assert listed[box] == {"role": "user", "text": "Find the needle-in-a-card."}, listed[box]
    await_(lambda: psql(dsn(), "SELECT count(*) FROM cardbox.search_queue").strip() == "0")
    assert [hit["id"] for hit in ask("GET", f"{P}/search?q=needle-in-a-card").json()["hits"]] == [first]


def call(name, call_id, arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_where_a_loop_stands():
    """`next` and `open_calls`, with results as messages and as cards of results."""
    box = box_of([said("openai", {"role": "user", "content": "q"})])

    def stands(*ids):
        if ids:
            ask("POST", f"{P}/boxes/{box}/append", {"card_ids": list(ids)})
        made = context(box)
        return made["next"], made["open_calls"]
    assert stands() == ("model", [])
    answer = said("openai", {"role": "assistant", "content": None, "tool_calls": [call("f", "functions.f:0", '{"a": '), call("g", "g1")]})
    opened = [{"id": "functions.f:0", "name": "f", "arguments": '{"a": ', "entry": answer},
              {"id": "g1", "name": "g", "arguments": "{}", "entry": answer}]
    assert stands(answer) == ("tools", opened)
    assert context(box)["report"]["repairs"][0]["repair"] == "arguments"
    assert stands(said("openai", {"role": "tool", "tool_call_id": "g1", "content": "r"})) == ("tools", opened[:1])
    result = add('{"status": "success", "result": "s"}', type="tool.result", tool_call_id="functions.f:0")
    assert stands(result) == ("model", [])
    llm_rules.openai(context(box)["messages"])
    assert stands(said("openai", {"role": "assistant", "content": ""})) == ("user", [])


def test_ids_of_the_store():
    """The tool_calls of a card are further ids for the calls of its message: a result may name either id."""
    answer = {"role": "assistant", "content": None, "tool_calls": [call("f", "functions.f:7"), call("g", "functions.g:8")]}
    ids = [said("openai", {"role": "user", "content": "q"}),
           said("openai", answer, tool_calls=[{"id": "own-1", "name": "f"}, {"id": "own-2", "name": "g"}]),
           add('{"status": "success", "result": "two"}', type="tool.result", tool_call_id="own-2")]
    made = context(box_of(ids))
    assert made["messages"][1] == answer and [one["id"] for one in made["open_calls"]] == ["functions.f:7"], made
    ids.append(add('{"status": "success", "result": "one"}', type="tool.result", tool_call_id="functions.f:7"))
    made = context(box_of(ids))
    assert made["messages"][2:] == [{"role": "tool", "tool_call_id": "functions.g:8", "content": "two"},
                                    {"role": "tool", "tool_call_id": "functions.f:7", "content": "one"}], made
    cut = context(box_of(ids), "limit=3")
    assert [one["role"] for one in cut["messages"]] == ["assistant", "tool", "tool"] and cut["report"]["repairs"] == [], cut


# --- several agents ---


@once
def shared():
    """A box of two agents. The results of bob's calls are cards of the tool."""
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "secret", "signature": "SIG"},
                                                {"type": "text", "text": "I look."},
                                                {"type": "tool_use", "id": "t1", "name": "find", "input": {"q": 1}}]}
    return box_of([
        said("anthropic", {"role": "user", "content": "Who did it?"}, author_id="maria"),
        said("anthropic", thought, author_id="alice"),
        said("anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "here"}]}, author_id="alice"),
        add('"I think so too."', type="agent.thought", author_id="bob", tool_calls=[{"id": "t2", "name": "look", "arguments": {}}]),
        add('{"status": "success", "result": "seen"}', type="tool.result", author_id="look", tool_call_id="t2"),
        said("anthropic", {"role": "assistant", "content": [{"type": "text", "text": "It was he."}]}, author_id="alice")])


def texts(message):
    content = message["content"]
    return [content] if isinstance(content, str) else [block["text"] for block in content if block["type"] == "text"]


def test_as_each_agent():
    box = shared()
    for form in FORMATS:
        for reader in ("alice", "bob", "carol"):
            made = context(box, f"format={form}&as={reader}")
            if form != "anthropic":  # the messages of users are as they were stored
                llm_rules.check(made)
            assert ask("POST", f"{P}/abilities/box:context", {"box_id": box, "format": form, "as": reader}).json() == made
    alice = context(box, "format=anthropic&as=alice")
    assert alice["messages"][1]["content"][0]["signature"] == "SIG" and alice["messages"][-1]["content"][0]["text"] == "It was he."
    assert alice["messages"][3]["content"] == [
        {"type": "text", "text": "bob:\nI think so too."}, {"type": "text", "text": "Called the tool look with {}"},
        {"type": "text", "text": "bob:\nResult of the tool look:"}, {"type": "text", "text": "seen"}], alice["messages"]
    assert (alice["next"], alice["report"]["left_out"]) == ("user", [])
    assert [one["repair"] for one in alice["report"]["repairs"]] == ["other_speaker"] * 2
    bob = context(box, "as=bob")
    assert [(one["role"], one.get("name")) for one in bob["messages"]] == [
        ("user", None), ("user", "alice"), ("user", "alice"), ("assistant", None), ("tool", None), ("user", "alice")], bob["messages"]
    assert texts(bob["messages"][1]) == ["I look.", 'Called the tool find with {"q": 1}'] and "secret" not in json.dumps(bob["messages"])
    assert texts(bob["messages"][2]) == ["Result of the tool find:", "here"]
    assert [one["what"] for one in bob["report"]["left_out"]] == ["thinking"] and bob["next"] == "model"
    carol = context(box, "as=carol&repair=off")
    assert {one["role"] for one in carol["messages"]} == {"user"} and carol["open_calls"] == []


def test_as_without_effect():
    """Without `as`, and in the format entries, the context is that of the cards. Cards without an author are the reader's."""
    box = shared()
    plain = context(box)
    assert [one["role"] for one in plain["messages"]] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert context(box, "format=entries&as=bob")["messages"] == context(box, "format=entries")["messages"]
    nobody = box_of([said("openai", {"role": "user", "content": "q"}), said("openai", {"role": "assistant", "content": "a"})])
    assert raw_messages(nobody, "as=bob") == raw_messages(nobody, "")


def test_as_of_several_boxes():
    """A call in one box, its result in another one: both are bob's."""
    context_box = box_of([said("openai", {"role": "user", "content": "q"}),
                          said("openai", {"role": "assistant", "content": None, "tool_calls": [call("f", "c1")]}, author_id="bob")])
    output = box_of([add('{"status": "failed", "result": null, "error": "no"}', type="tool.result", tool_call_id="c1")])
    made = context(context_box, f"then={output}&as=alice")
    assert [texts(one) for one in made["messages"]] == [["q"], ["Called the tool f with {}"], ["Result of the tool f, status failed:", "no"]], made
    own = context(context_box, f"then={output}&as=bob")
    assert [one["role"] for one in own["messages"]] == ["user", "assistant", "tool"], own


def test_as_is_checked():
    for value in ("", "a" * 513, "a%0a"):
        answer = ask("GET", f"{P}/boxes/{shared()}/context?as={value}", None, 422)
        assert "as" in answer.json()["detail"]["faults"][0]["loc"], answer
    ask("POST", f"{P}/abilities/box:context", {"box_id": shared(), "as": ""}, 422)
    ask("GET", f"{P}/boxes/{shared()}/context?as=a&as=b", None, 422)


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""GET .../boxes/{b}/context: the messages for an LLM of a box's cards, in every format, as the APIs
take them, with broken pairs too; pages of a box by offset; what is refused."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from cardbox_test import LIGHT, dsn, server

FORMATS = ("openai", "anthropic", "entries")
ROUNDS = 20 if LIGHT else 60
NO_BOX = "01970000-0000-7000-8000-000000000009"


def add(project, cards):
    answer = server().post(f"/projects/{project}/cards", {"cards": cards})
    assert answer.status == 200, answer


def make_box(project, ids):
    answer = server().post(f"/projects/{project}/boxes", {"card_ids": ids})
    assert answer.status == 200, answer
    return answer.json()["box_id"]


def context_of(project, box, query="", status=200):
    answer = server().get(f"/projects/{project}/boxes/{box}/context{query}")
    assert answer.status == status, (query, answer)
    if status == 200:
        llm_rules.check(answer.json())
    return answer.json()


def text(card_id, role, says, **more):
    return {"card_id": card_id, "content": {"__type__": "TextContent", "text": says},
            "metadata": {"role": role}, **more}


def call(card_id, call_id, name="find", **arguments):
    return {"card_id": card_id, "type": "tool.call", "tool_call_id": call_id,
            "content": {"__type__": "ToolCallContent", "tool_name": name, "arguments": arguments,
                        "status": "called"}}


def result(card_id, call_id, says):
    return {"card_id": card_id, "type": "tool.result", "tool_call_id": call_id,
            "content": {"__type__": "ToolResultContent", "status": "success", "result": says,
                        "error": None, "after_execution": "suspend"}}


TURN = [text("profile", "system", "be brief"), text("ask", "user", "find it"),
        {"card_id": "tools", "type": "sys.tools", "metadata": {"role": "system"},
         "content": {"__type__": "ToolContent", "tools": [{"name": "find"}]}},
        {"card_id": "pointer", "type": "meta.parent_pointer", "content": {"parent": "x"}},
        text("think", "assistant", "I look"), call("call-1", "c1", q=1), result("result-1", "c1", "here"),
        call("call-2", "c2", q=2)]


@cardbox_test.once
def turn():
    add("turn", TURN)
    return make_box("turn", [card["card_id"] for card in TURN] + ["gone", "gone"])


def by_type(card_id, kind, call_id, content):
    return {"card_id": card_id, "type": kind, "tool_call_id": call_id, "content": content}


def test_calls_and_results_by_type():
    """Cards as the documents write them, without __type__: the call and its result are paired, also by tool_calls."""
    add("types", [
        by_type("c", "tool.call", "k1", {"tool_name": "look", "arguments": {"at": 1}, "n": None}),
        by_type("r", "tool.result", "k1", {"status": "success", "result": {"seen": [2]}}),
        {"card_id": "a", "type": "agent.thought", "content": "I ask again",
         "tool_calls": [{"id": "k2", "name": "look", "arguments": {}}]},
        by_type("f", "tool.result", "k2", {"status": "failed", "result": "nothing here"})])
    made = make_box("types", ["c", "r", "a", "f"])
    openai, anthropic = context_of("types", made), context_of("types", made, "?format=anthropic")
    assert openai["report"]["repairs"] == [], openai
    assert [(m["role"], m["content"]) for m in openai["messages"]] == [
        ("assistant", None), ("tool", '{"seen": [2]}'), ("assistant", "I ask again"),
        ("tool", "status: failed\nnothing here")]
    results = [block for m in anthropic["messages"] for block in m["content"] if block["type"] == "tool_result"]
    assert results == [
        {"type": "tool_result", "tool_use_id": "k1", "content": [{"type": "text", "text": '{"seen": [2]}'}]},
        {"type": "tool_result", "tool_use_id": "k2", "is_error": True,
         "content": [{"type": "text", "text": "nothing here"}]}], results


def test_formats():
    openai = context_of("turn", turn())
    assert openai["messages"] == [
        {"role": "system", "content": "be brief"}, {"role": "user", "content": "find it"},
        {"role": "assistant", "content": "I look", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "here"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c2", "type": "function", "function": {"name": "find", "arguments": '{"q": 2}'}}]},
        {"role": "tool", "tool_call_id": "c2", "content": "No result provided"}], openai["messages"]
    assert (openai["format"], openai["repair"], "system" in openai) == ("openai", "on", False)
    assert openai["cards"] == openai["length"] == len(TURN) + 2 and openai["version"] == 1
    assert openai["missing_card_ids"] == ["gone"]
    assert openai["report"]["repairs"] == [{"repair": "synthetic_result", "entry": "call-2",
                                            "call": "c2", "message": 5}], openai["report"]
    anthropic = context_of("turn", turn(), "?format=anthropic")
    assert anthropic["system"] == [{"type": "text", "text": "be brief"}]
    assert [message["role"] for message in anthropic["messages"]] == \
        ["user", "assistant", "user", "assistant", "user"]


def test_sources():
    """Each message names its cards, also where a format merges messages. What a repair added has none."""
    openai = context_of("turn", turn())
    assert openai["sources"] == [["profile"], ["ask"], ["think", "call-1"], ["result-1"], ["call-2"], []], openai
    assert openai["tool_card_ids"] == ["tools"] and "system_sources" not in openai
    anthropic = context_of("turn", turn(), "?format=anthropic")
    assert anthropic["sources"] == [["ask"], ["think", "call-1"], ["result-1"], ["call-2"], []], anthropic
    assert anthropic["system_sources"] == ["profile"]
    assert context_of("turn", turn(), "?format=messages")["sources"] == openai["sources"][1:]
    stored = context_of("turn", turn(), "?format=entries")
    assert stored["sources"] == [[card["card_id"]] for card in stored["messages"][:-1]] + [[]], stored


def test_images_have_sources():
    """Images of results are one message in the format openai, made from the results with images."""
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    path = "/projects/turn/sessions/images"
    server().request("PUT", path, '{"dialect": "pi"}', {"Content-Type": "application/json"})
    calls = [{"type": "toolCall", "id": one, "name": "see", "arguments": {}} for one in ("a", "b")]
    messages = [("two", {"role": "assistant", "content": calls}),
                ("blind", {"role": "toolResult", "toolCallId": "a", "content": [{"type": "text", "text": "dark"}]}),
                ("seen", {"role": "toolResult", "toolCallId": "b", "content": [image, image]})]
    made = server().post(path + "/entries", {"entries": [
        {"type": "message", "id": name, "message": message} for name, message in messages]})
    assert made.status == 200, made
    made = server().get(path + "/context").json()
    assert made["sources"] == [["two"], ["blind"], ["seen"], ["seen"]], made


def test_where_a_repair_is():
    """A repair names the message that it changed, or that follows what it left out."""
    add("where", [text("ask", "user", "find"), text("go", "user", "wait"), text("more", "user", "and?"),
                  call("call-1", "c1"), call("call-2", "bad id"), *(
                      text(name, "tool", name, tool_call_id=call_id)
                      for name, call_id in (("late", "c1"), ("lost", "c9"), ("twice", "c1"))),
                  text("nothing", "user", " ")])
    made = context_of("where", make_box("where", ["lost", "ask", "call-1", "call-2", "go", "late", "twice", "nothing", "more",
                                                  "lost"]))
    places = {(one["repair"], one["entry"]): one["message"] for one in made["report"]["repairs"] if one["entry"] != "lost"}
    # Of two results that both are successful, the last counts. OpenAI's API accepts the id with a blank.
    assert made["sources"] == [["ask"], ["call-1", "call-2"], ["twice"], [], ["go"], ["more"]], made
    assert places == {("moved_result", "twice"): 2, ("synthetic_result", "call-1"): 3,
                      ("second_result", "late"): 5, ("empty_message", "nothing"): 5}, places
    anthropic = context_of("where", made["box_id"], "?format=anthropic")["report"]["repairs"]
    assert {"repair": "call_id", "entry": "call-1", "call": "bad id", "message": 1} in anthropic, anthropic
    assert [one["message"] for one in made["report"]["repairs"] if one["entry"] == "lost"] == [0, 6]
    begun = context_of("where", make_box("where", ["call-1", "late", "more"]), "?format=anthropic")
    assert (begun["sources"], begun["report"]["repairs"]) == (
        [[], ["call-1"], ["late", "more"]], [{"repair": "first_message", "entry": "call-1", "message": 0}]), begun
    # The cut omits the repaired messages: their repairs are listed, and name no message.
    cut = context_of("where", make_box("where", ["lost", "call-2", "go", "more"]), "?limit=1")
    assert cut["sources"] == [["more"]] and all("message" not in one or one["message"] == 0 for one in cut["report"]["repairs"]), cut


def test_sample_needs_no_repair():
    """Its calls stand in tool_calls and in cards of their own, and in one card both ways."""
    path = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")
    cardbox_test.cardbox("import", "--dsn", dsn(), "--project", "sample", path)
    for box, calls in ((1, 3), (3, 4)):
        context = context_of("sample", f"01970000-0000-7000-8000-{box:012}")
        assert context["report"]["repairs"] == [], context["report"]
        ids = [one["id"] for message in context["messages"]
               for one in message.get("tool_calls", [])]
        assert len(ids) == len(set(ids)) == calls, ids


def test_calls_of_one_card():
    """Its own that is listed counts once, one that is not listed counts beside those that are."""
    listed = [{"id": name, "type": "function", "function": {"name": "find", "arguments": "{}"}}
              for name in ("own", "other")]
    add("both", [{**call("listed", "own"), "tool_calls": listed},
                 {**call("beside", "third"), "tool_calls": listed[1:]}])
    for card, wanted in (("listed", ["own", "other"]), ("beside", ["other", "third"])):
        messages = context_of("both", make_box("both", [card]))["messages"]
        assert [one["id"] for one in messages[0]["tool_calls"]] == wanted, messages


def test_text_without_a_class():
    """{"text": "..."} alone is a text; with anything else, or if it is no string, it is JSON."""
    contents = {"go": {"text": "go"}, '{"text": 3}': {"text": 3},
                '{"text": "go", "by": "x"}': {"text": "go", "by": "x"}, '["text"]': ["text"],
                '{"texts": "go"}': {"texts": "go"}}
    add("bare", [{"card_id": f"bare-{at}", "content": content}
                 for at, content in enumerate(contents.values())])
    box = make_box("bare", [f"bare-{at}" for at in range(len(contents))])
    said = [message["content"] for message in context_of("bare", box)["messages"]]
    assert said[0] == "go", said
    assert [json.loads(one) for one in said[1:]] == list(contents.values())[1:], said


def test_entries_are_cards():
    """In the format of entries: the cards that give messages, as they are shown elsewhere."""
    entries = context_of("turn", turn(), "?format=entries")["messages"]
    shown = [server().get(f"/projects/turn/cards/{card}").json()
             for card in ("profile", "ask", "think", "call-1", "result-1", "call-2")]
    assert entries[:-1] == shown
    assert entries[-1]["tool_call_id"] == "c2" and entries[-1]["type"] == "tool.result"


def test_without_repair():
    raw = context_of("turn", turn(), "?format=entries&repair=off")
    assert raw["repair"] == "off" and raw["report"]["repairs"] == []
    assert [card["card_id"] for card in raw["messages"]] == \
        ["profile", "ask", "think", "call-1", "result-1", "call-2"]


def test_tail_and_moments():
    """The last cards, and the box as it was."""
    box = make_box("turn", ["profile", "ask"])
    server().post(f"/projects/turn/boxes/{box}/append", {"card_ids": ["think"]})
    assert context_of("turn", box, "?tail=1")["messages"] == [
        {"role": "assistant", "content": "I look"}]
    was = context_of("turn", box, "?at_version=1")
    assert len(was["messages"]) == 2 and was["version"] == 1 and was["cards"] == 2
    assert len(context_of("turn", box, "?at_length=1")["messages"]) == 1
    never = context_of("turn", box, "?at_version=7", status=404)
    assert "no such version" in never["detail"]["error_message"], never
    # An orphan at the cut is left out, and the report says so.
    box = make_box("turn", ["call-1", "result-1"])
    cut = context_of("turn", box, "?tail=1")
    assert cut["messages"] == [] and cut["report"]["repairs"][0]["repair"] == "orphan_result", cut


def test_prefixes():
    """What two contexts have in common has the same digests."""
    box = make_box("turn", ["profile", "ask"])
    before = context_of("turn", box)["digests"]
    server().post(f"/projects/turn/boxes/{box}/append", {"card_ids": ["think"]})
    after = context_of("turn", box)["digests"]
    assert after[:2] == before and len(after) == 3


def test_etag():
    path = f"/projects/turn/boxes/{turn()}/context"
    first = server().get(path)
    assert server().get(path).body == first.body
    assert server().get(path, {"If-None-Match": first.header("ETag")}).status == 304


def test_refusals():
    box = turn()
    for query in ("?format=xml", "?format=", "?repair=yes", "?limit=0", "?limit=x", "?tail=10001",
                  "?formt=openai", "?format=openai&format=openai", "?at_version=1&at_length=1",
                  "?leaf=x"):
        context_of("turn", box, query, status=422)
    fault, = context_of("turn", box, "?format=xml", status=422)["detail"]["faults"]
    assert fault["loc"] == ["query", "format"] and "openai, anthropic, entries" in fault["msg"]
    for missing, named in (("nothing", ""), (NO_BOX, f": {NO_BOX}")):
        assert context_of("turn", missing, status=404)["detail"]["error_message"] == "box not found" + named
    assert server().get(f"/projects/other/boxes/{box}/context").status == 404
    assert server().request("POST", f"/projects/turn/boxes/{box}/context").status == 405


# --- several boxes ---


def dual():
    """A context box that ends with a call, and an output box with the call's result and an answer."""
    add("turn", TURN)
    return make_box("turn", ["ask", "call-1"]), make_box("turn", ["result-1", "lost", "think"])


def test_then_pairs_across_boxes():
    first, second = dual()
    for form in FORMATS:
        answer = context_of("turn", first, f"?then={second}&format={form}")
        assert not answer["report"]["repairs"], answer["report"]
        ids = ["ask", "call-1", "result-1", "think"]
        whole = context_of("turn", make_box("turn", ids), f"?format={form}")
        assert answer["messages"] == whole["messages"] and answer["digests"] == whole["digests"]
    assert {name: answer[name] for name in ("box_id", "version", "length", "cards", "then", "missing_card_ids")} == {
        "box_id": first, "version": 1, "length": 2, "cards": 2, "missing_card_ids": ["lost"],
        "then": [{"box_id": second, "version": 1, "length": 3, "cards": 3}]}
    assert "then" not in context_of("turn", first)


def test_then_without_repair():
    first, second = dual()
    answer = context_of("turn", first, f"?then={second}&repair=off")
    assert [message["role"] for message in answer["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_then_in_order():
    first, second = dual()
    answer = context_of("turn", second, f"?then={first}&then={second}&then={first}")
    assert [(box["box_id"], box["cards"]) for box in answer["then"]] == [(first, 2), (second, 3), (first, 2)]
    assert answer["missing_card_ids"] == ["lost"]


def test_then_at_a_version():
    first, second = dual()
    path = f"/projects/turn/boxes/{first}/context?at_version=1&then={second}@1"
    before = server().get(path)
    for box in (first, second):
        assert server().post(f"/projects/turn/boxes/{box}/append", {"card_ids": ["ask"]}).status == 200
    assert server().get(path).body == before.body
    assert server().get(path, {"If-None-Match": before.header("ETag")}).status == 304
    now = server().get(f"/projects/turn/boxes/{first}/context?then={second}")
    assert now.header("ETag") != before.header("ETag") and now.json()["then"][0]["version"] == 2


def test_then_tail_counts_all_boxes():
    first, second = dual()
    for limit, cards in ((1, (0, 1)), (3, (0, 3)), (4, (1, 3)), (5, (2, 3)), (10000, (2, 3))):
        answer = context_of("turn", first, f"?then={second}&tail={limit}")
        assert (answer["cards"], answer["then"][0]["cards"]) == cards, limit


def test_then_refusals():
    first, second = dual()
    for query in ("?then=", "?then=x", f"?then={second}@", f"?then={second}@0", f"?then={second}@x",
                  f"?then={second}@-1", f"?then={second}@1@1", f"?then={second}x1", f"?then={second}@9223372036854775808"):
        context_of("turn", first, query, status=422)
    context_of("turn", first, "?then=" + "&then=".join([second] * 17), status=400)
    for named, query in ((NO_BOX, f"?then={NO_BOX}"), (NO_BOX, f"?then={second}&then={NO_BOX}@1"),
                         (second, f"?then={second}@9223372036854775807")):
        assert named in context_of("turn", first, query, status=404)["detail"]["error_message"]
    foreign = server().post("/projects/other/boxes", {"card_ids": ["ask"]}).json()["box_id"]
    context_of("turn", first, f"?then={foreign}", status=404)
    context_of("turn", first, "?then=" + "&then=".join([second] * 16))


def test_then_is_too_large():
    first, _ = dual()
    longest = make_box("turn", ["ask"] * 9999)
    context_of("turn", first, f"?then={longest}", status=413)
    answer = server().get(f"/projects/turn/boxes/{first}/context?then={longest}&tail=10000").json()
    assert (answer["cards"], answer["then"][0]["cards"]) == (1, 9999)


def test_odd_cards():
    """Whatever a card holds, the others are readable and the APIs take what comes out."""
    odd = [None, 1, "", "bare", [], {}, {"__type__": "TextContent", "text": ""}, "\u0000", "\ud800x",
           {"__type__": "ImageFileContent", "uri": "https://h/x.png", "checksum": "c"}, 1e999]
    cards = [{"card_id": f"odd-{at}", "content": content,
              "metadata": {"role": ("user", "assistant", "tool", "system", "no")[at % 5]}}
             for at, content in enumerate(odd[1:-1])]
    cards += [{"card_id": f"calls-{at}", "content": "x", "metadata": {"role": "assistant"},
               "tool_calls": calls}
              for at, calls in enumerate(([], [None], [{}], [{"id": "a", "name": "b" * 99}],
                                          [{"id": "a"}, {"id": "a"}], [{"id": 7, "name": []}]))]
    add("odd", cards)
    ids = [card["card_id"] for card in cards]
    for form in FORMATS:
        context_of("odd", make_box("odd", ids + ids[::-1]), f"?format={form}")
        context_of("odd", make_box("odd", []), f"?format={form}")


def test_too_large_to_be_loaded():
    """How large the cards are is asked first: half a GB of them never reaches the server."""
    add("large", [text("big", "user", "x" * 1_000_000), {**text("raw", "user", ""), "content": "\ud800" * 200_000}])
    box = make_box("large", ["big"] * 500)
    before = server().peak_rss_kb()
    refused = context_of("large", box, status=413)["detail"]
    assert "the cards have more than 33554432 bytes" in refused["error_message"] and "?tail=" in refused["hint"], refused
    assert server().peak_rss_kb() - before < 100_000, (before, server().peak_rss_kb())
    assert len(context_of("large", box, "?tail=2")["messages"]) == 2
    context_of("large", make_box("large", ["raw"] * 28), status=413)
    assert len(context_of("large", make_box("large", ["raw"] * 27))["messages"]) == 27
    empty = context_of("large", make_box("large", []))
    assert empty["messages"] == [] and empty["cards"] == 0


def some_cards(rng, count):
    """A conversation with broken pairs: calls twice, results of nothing, late and doubled ones."""
    for at in range(count):
        which = rng.randrange(6)
        card_id, call_id = f"r{rng.randrange(10 ** 9)}-{at}", f"c{rng.randrange(8)}"
        if which == 0:
            yield text(card_id, "user", rng.choice(["go", " ", "on"]))
        elif which == 1:
            yield call(card_id, call_id, q=at)
        elif which == 2:  # one tool.result card a call: others say it in their role alone
            yield {"card_id": card_id, "content": "out", "metadata": {"role": "tool"},
                   "tool_call_id": call_id}
        elif which == 3:
            yield text(card_id, "assistant", "hm ", tool_calls=[
                {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}])
        else:
            yield text(card_id, rng.choice(["system", "assistant"]), "x")


def some_messages(rng, count):
    """The same as messages of the chat completions API."""
    for at in range(count):
        which = rng.randrange(5)
        call_id = f"c{rng.randrange(8)}"
        message = {"role": rng.choice(["user", "assistant", "assistant", "system"]), "content": rng.choice(["go", " ", "", None])}
        if which == 1:
            message = {"role": "assistant", "content": rng.choice([None, "hm"]), "tool_calls": [
                {"id": rng.choice([call_id, f"c{number}"]), "type": "function", "function": {"name": "f", "arguments": rng.choice(["{}", "{"])}}
                for number in range(rng.randrange(3))]}
        elif which < 4:
            message = {"role": "tool", "tool_call_id": call_id, "content": "out"}
        yield {"card_id": f"m{rng.randrange(10 ** 9)}-{at}", "content": {"__type__": "MessageContent", "format": "openai", "message": message}}


def check_broken_pairs(rng, make, formats, has_open_calls):
    """Contexts of boxes with random cards, as anybody and as one of the authors sees them."""
    for turn_number in range(ROUNDS):
        cards = [{**card, **rng.choice([{}, {"author_id": "alice"}, {"author_id": "bob"}])} for card in make(rng, rng.randrange(1, 25))]
        add("pairs", cards)
        box = make_box("pairs", [card["card_id"] for card in cards])
        for query in [f"format={form}{reader}" for form in formats for reader in ("", "&as=alice")]:
            path = f"/projects/pairs/boxes/{box}/context?{query}"
            first, again = server().get(path), server().get(path)
            assert first.status == 200 and first.body == again.body, (turn_number, first)
            try:
                if not has_open_calls or first.json()["next"] != "tools":
                    llm_rules.check(first.json())
            except AssertionError as fault:
                raise AssertionError(f"{query}: {fault}\n{json.dumps(cards)}") from None


def test_broken_pairs():
    rng = random.Random(int(os.environ.get("CARDBOX_TEST_SEED", "7")))
    check_broken_pairs(rng, some_cards, FORMATS, False)


def test_broken_pairs_of_messages():
    """Calls of the last answer stay open, so there are no results to be checked."""
    rng = random.Random(int(os.environ.get("CARDBOX_TEST_SEED", "8")))
    check_broken_pairs(rng, some_messages, ("responses", "anthropic"), True)


def test_long_box():
    """Ten thousand cards are a context; more are asked for in part."""
    add("long", [text("c", "user", "again")])
    box = make_box("long", ["c"] * 10000)
    whole = context_of("long", box)
    assert whole["cards"] == 10000 and len(whole["messages"]) == 10000
    server().post(f"/projects/long/boxes/{box}/append", {"card_ids": ["c"]})
    refused = context_of("long", box, status=413)["detail"]
    assert "10000 cards" in refused["error_message"] and "tail=" in refused["hint"], refused
    assert context_of("long", box, "?tail=10000")["cards"] == 10000


def test_too_long_is_not_read():
    """How many cards a box has is known without them: that they are too large, too, nobody finds out."""
    add("long", [text("large", "user", "x" * 5000)])
    box = make_box("long", ["large"] * 10000)
    server().post(f"/projects/long/boxes/{box}/append", {"card_ids": ["large"]})
    refused = context_of("long", box, status=413)["detail"]
    assert "10000 cards" in refused["error_message"], refused


def test_budget():
    add("big", [text(f"big-{at}", "user", "x" * 3000000) for at in range(1)])
    refused = context_of("big", make_box("big", ["big-0"] * 12), status=413)["detail"]
    assert refused["error_code"] == "too_large" and "tail=" in refused["hint"], refused
    assert context_of("big", make_box("big", ["big-0"] * 9))["cards"] == 9


# --- a box page by page ---


def test_offset():
    ids = [f"p{at}" for at in range(150)]
    box = make_box("pages", ids)
    add("pages", [text(card, "user", card) for card in ids])
    path = f"/projects/pages/boxes/{box}"
    for offset, limit in ((0, 1), (0, 500), (60, 10), (63, 2), (149, 5), (150, 5), (9 ** 12, 5)):
        query = f"?offset={offset}&limit={limit}"
        part = server().get(path + query).json()
        assert part["card_ids"] == ids[offset:offset + limit], (query, part)
        assert part["length"] == 150 and part["version"] == 1
        cards = server().get(f"{path}/cards{query}").json()
        assert [card["card_id"] for card in cards] == ids[offset:offset + limit], query
    assert server().get(path + "?offset=3").json()["card_ids"] == ids[3:]
    server().post(path + "/append", {"card_ids": ["q"]})
    assert server().get(path + "?offset=149&at_version=1").json()["card_ids"] == ids[149:]
    assert server().get(path + "?limit=x").status == 200, "a limit without an offset is ignored"
    for query in ("?offset=-1", "?offset=x", "?offset=1&limit=x"):
        assert server().get(path + query).status == 422, query


# --- small things that clients see ---


def test_root():
    answer = server().get("/")
    assert answer.status == 308 and answer.header("Location") == "ui/", answer


def test_hint_for_a_body_of_another_type():
    answer = server().request("POST", "/projects/p/cards", b"{}", {"Content-Type": "text/plain"})
    assert answer.status == 415 and "Content-Type: application/json" in answer.json()["detail"]["hint"]


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

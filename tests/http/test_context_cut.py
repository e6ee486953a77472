#!/usr/bin/env python3
"""Contexts with limit and token_budget: no call loses its result, the system text and the summary
stay, and the report counts what was omitted."""

import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from cardbox_test import ask, server, url

PROJECT = "cut"
FORMATS = ("openai", "anthropic", "messages", "entries")


def session(name, entries, dialect="plain"):
    path = url(PROJECT, "sessions", name)
    ask("POST", path + "/entries", {"entries": entries, "create": {"dialect": dialect}})
    return path


def context(path, query="", status=200):
    body = ask("GET", path + "/context?" + query, None, status).body
    answer = json.loads(body)
    if status == 200:
        messages = re.search(rb'"messages":(\[.*\]),"digests":', body, re.DOTALL).group(1)
        system = re.search(rb'"system":(\[.*\]),"messages":', body, re.DOTALL)
        answer["bytes"] = len(messages) + (len(system.group(1)) if system else 0)
    return answer


def user(name):
    return {"id": name, "type": "user", "content": name}


def calls(name, count, answered=None):
    """An assistant's message with parallel calls, and their results."""
    ids = [f"{name}-{i}" for i in range(count)]
    return [{"id": name, "type": "assistant", "content": name,
             "toolCalls": [{"id": one, "name": "tool", "params": {}} for one in ids]},
            *({"id": f"r-{one}", "type": "tool_result", "toolCallId": one, "output": f"out {one}", "success": True}
              for one in ids[:count if answered is None else answered])]


def shown(answer):
    return [message.get("tool_call_id") or message["content"] for message in answer["messages"]]


def check(whole, cut, unread_calls=0):
    """Checks the rules for every cut of a context. `unread_calls`: how many calls before the cut have no entry with their
    result. An entry that is not read counts as one message."""
    report = cut["report"]
    assert report["token_estimate"] == {"method": "bytes/4", "tokens": (cut["bytes"] + 3) // 4}, report
    inserted = sum(repair["repair"] == "first_message" for repair in report["repairs"])
    assert report["omitted_messages"] == whole["report"]["messages_after"] - report["messages_after"] + inserted \
        - unread_calls
    assert len(cut["digests"]) == len(cut["messages"])
    llm_rules.check(cut)


def test_no_call_loses_its_result():
    path = session("calls", [user("u1"), *calls("a1", 3), user("u2"), {"id": "a2", "type": "assistant", "content": "a2"}])
    whole = context(path)
    assert whole["report"]["omitted_messages"] == 0 and len(whole["messages"]) == 7
    check(whole, whole)
    for limit, first, count in ((7, "u1", 7), (6, "a1", 6), (5, "u2", 2), (3, "u2", 2), (2, "u2", 2), (1, "a2", 1)):
        cut = context(path, f"limit={limit}")
        assert shown(cut)[0] == first and len(cut["messages"]) == count, (limit, cut)
        assert cut["report"]["omitted_messages"] == 7 - count and cut["messages"] == whole["messages"][7 - count:]
        check(whole, cut)
    assert context(path, "limit=7").items() == whole.items()


def test_the_newest_messages_must_fit():
    path = session("large-end", [user("u1"), *calls("a1", 4)])
    assert len(context(path, "limit=5")["messages"]) == 5
    for query in ("limit=4", "limit=1", "token_budget=1", "limit=4&token_budget=100000"):
        detail = context(path, query, 422)["detail"]
        assert "do not fit" in json.dumps(detail), detail


def test_synthetic_results():
    path = session("synthetic", [user("u1"), *calls("a1", 3, answered=1), user("u2")])
    for limit, first in ((6, "u1"), (5, "a1"), (4, "u2"), (1, "u2")):
        cut = context(path, f"limit={limit}")
        assert shown(cut)[0] == first, (limit, cut)
        check(context(path), cut, unread_calls=2 if limit == 1 else 0)


def test_late_results_without_repair():
    """The result of a call may stand behind other messages: with repair=off it stays there."""
    entries = [user("u1"), *calls("a1", 1, answered=0), user("u2"), calls("a1", 1)[1], user("u3")]
    path = session("late", entries)
    assert [len(context(path, f"repair=off&limit={limit}")["messages"]) for limit in (5, 4, 3, 2, 1)] == [5, 4, 1, 1, 1]


def test_system_messages_stay():
    system = {"id": "s", "type": "system", "content": "be kind"}
    path = session("system", [system, user("u1"), *calls("a1", 1), {**system, "id": "s2", "content": "be brief"}, user("u2")])
    cut = context(path, "limit=3")
    assert shown(cut) == ["be kind", "be brief", "u2"] and cut["report"]["omitted_messages"] == 3
    context(path, "limit=2", 422)
    cut = context(path, "limit=3&format=anthropic")
    assert [block["text"] for block in cut["system"]] == ["be kind", "be brief"] and len(cut["messages"]) == 1
    only = session("only-system", [system])
    assert shown(context(only, "limit=1")) == ["be kind"]
    context(only, "token_budget=1", 422)


def test_messages_that_are_left_out_are_not_the_newest():
    """An API rejects an empty list of messages, so the newest message is one that the format writes."""
    thought = {"id": "a", "type": "message", "message": {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "x", "thinkingSignature": "s"}]}}
    blank = {"id": "b", "type": "user", "content": " "}
    paths = [session("blank-end", [user("u1"), user("hi"), blank, {**blank, "id": "b2"}]),
             session("thinking-end", [of_pi("u1"), of_pi("hi"), thought], "pi")]
    for path in paths:
        for form in ("openai", "anthropic"):
            cut = context(path, f"format={form}&limit=1")
            text = cut["messages"][0]["content"]
            assert text in ("hi", [{"type": "text", "text": "hi"}]) and len(cut["messages"]) == 1, cut
            assert cut["report"]["messages_after"] == 1 and cut["report"]["omitted_messages"] == 1, cut
            check(context(path, f"format={form}"), cut)
            fits = cut["report"]["token_estimate"]["tokens"]
            assert context(path, f"format={form}&token_budget={fits}")["messages"] == cut["messages"]
            context(path, f"format={form}&token_budget={fits - 1}", 422)
    # Without repair, the report counts what the format leaves out.
    path = session("unsigned", [of_pi("hi"), of_pi("a", "assistant")], "pi")
    ask("POST", path + "/entries", {"entry": {"type": "message", "id": "t", "message": {
        "role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}}})
    assert context(path, "repair=off&format=anthropic&limit=2")["messages"][0]["content"][0]["text"] == "a"
    context(path, "repair=off&format=anthropic&limit=1", 422)


def of_pi(name, role="user"):
    return {"id": name, "type": "message", "message": {"role": role, "content": [{"type": "text", "text": name}]}}


def test_the_summary_stays():
    path = session("summary", [of_pi("m0"), of_pi("m1"), {"id": "c", "type": "compaction", "summary": "all before",
                               "firstKeptEntryId": "m1"}, of_pi("m2", "assistant"), of_pi("m3")], "pi")
    cut = context(path, "limit=2")
    assert "all before" in cut["messages"][0]["content"] and cut["messages"][1]["content"] == "m3"
    assert cut["report"]["omitted_messages"] == 2
    assert context(path, "limit=2&format=entries")["messages"][0]["id"] == "c"
    merged = context(path, "limit=2&format=anthropic")
    assert len(merged["messages"]) == 1 and len(merged["messages"][0]["content"]) == 2


def tokens_by_omitted(path, form, count):
    """The estimated tokens of the ends of a context, by the number of omitted messages. Cuts by limit and by budget may
    begin at the same messages."""
    found = {}
    for limit in range(1, count + 1):
        answer = server().get(f"{path}/context?format={form}&limit={limit}")
        assert answer.status in (200, 422), answer
        if answer.status == 200:
            report = answer.json()["report"]
            found[report["omitted_messages"]] = report["token_estimate"]["tokens"]
    return found


def test_budgets():
    """For each budget, the longest end of the context that fits."""
    rng = random.Random(19)
    entries = [{"id": "s", "type": "system", "content": "system text"}]
    for i in range(30):
        entries += [user(f"user {i} " + "x" * rng.randrange(60)), *calls(f"a{i}", rng.randrange(4))]
    path = session("budget", entries)
    for form in FORMATS:
        whole = context(path, f"format={form}")
        most = whole["report"]["token_estimate"]["tokens"]
        ends = tokens_by_omitted(path, form, whole["report"]["messages_after"])
        before = None
        for budget in sorted(rng.randrange(most // 8, most + 50) for _ in range(25)):
            cut = context(path, f"format={form}&token_budget={budget}")
            check(whole, cut)
            tokens = cut["report"]["token_estimate"]["tokens"]
            assert tokens <= budget and (before is None or before <= tokens), (form, budget, tokens)
            omitted = cut["report"]["omitted_messages"]
            assert omitted == min(end for end in ends if ends[end] <= budget), (form, budget, omitted)
            assert cut == context(path, f"format={form}&token_budget={budget}"), "not the same answer"
            before = tokens
        assert context(path, f"format={form}&token_budget={most}") == whole
        less = context(path, f"format={form}&token_budget={most - 1}")
        assert less["report"]["omitted_messages"] >= 1
        both = context(path, f"format={form}&token_budget={most - 1}&limit=8")
        assert both["report"]["messages_after"] <= 8


def test_comparison_of_cut_contexts():
    path = session("compared", [user("u1"), user("u2"), user("u3"), user("u4")])
    answer = context(path, "compare=u3&limit=2")["comparison"]
    assert answer == {"leaf": "u3", "messages": 2, "first_difference": 0}
    assert context(path, "compare=u4&limit=2")["comparison"]["first_difference"] is None


def test_boxes():
    cards = [{"card_id": "sys", "content": "be kind", "metadata": {"role": "system"}},
             *({"card_id": f"c{i}", "content": f"c{i}", "metadata": {"role": "user"}} for i in range(6)),
             {"card_id": "call", "tool_call_id": "t1",
              "content": {"__type__": "ToolCallContent", "tool_name": "x", "arguments": {}, "status": "called"}},
             {"card_id": "result", "tool_call_id": "t1", "content": {
                 "__type__": "ToolResultContent", "status": "success", "after_execution": "suspend", "result": "y"}}]
    ask("POST", url(PROJECT, "cards"), {"cards": cards})
    ids = [card["card_id"] for card in cards]
    boxes = [ask("POST", url(PROJECT, "boxes"), {"card_ids": part}).json()["box_id"] for part in (ids, ids[:8], ids[8:])]
    path = url(PROJECT, "boxes", boxes[0])
    whole = context(path)
    for form in FORMATS:
        for limit in (3, 4, 5, 20):
            check(context(path, f"format={form}"), context(path, f"format={form}&limit={limit}"))
    assert shown(context(path, "limit=5")) == ["be kind", "c4", "c5", None, "t1"]
    assert shown(context(path, "limit=3")) == ["be kind", None, "t1"]
    context(path, "limit=2", 422)
    both = context(url(PROJECT, "boxes", boxes[1]), f"then={boxes[2]}&limit=3")
    assert shown(both) == ["be kind", None, "t1"] and both["report"]["omitted_messages"] == 6
    tail = context(path, "tail=4&limit=3")
    assert shown(tail) == ["c5", None, "t1"] and tail["cards"] == 4
    budget = whole["report"]["token_estimate"]["tokens"] - 1
    assert context(path, f"token_budget={budget}")["report"]["omitted_messages"] == 1


def test_bad_values():
    box = ask("POST", url(PROJECT, "boxes"), {"card_ids": ["c1"]}).json()["box_id"]
    for path in (session("bad", [user("u")]), url(PROJECT, "boxes", box)):
        for query in ("limit=0", "limit=-1", "limit=x", "limit=1.5", "limit=1000001", "token_budget=0", "token_budget=-5",
                      "token_budget=1000000001", "token_budget=", "limit=1&limit=2", "Limit=1"):
            context(path, query, 422)
        assert len(context(path, "limit=1000000&token_budget=1000000000")["messages"]) == 1


def test_empty():
    path = url(PROJECT, "sessions", "empty")
    ask("PUT", path, {})
    answer = context(path, "limit=1&token_budget=1")
    assert answer["messages"] == [] and answer["report"]["token_estimate"]["tokens"] == 1
    box = ask("POST", url(PROJECT, "boxes"), {}).json()["box_id"]
    assert context(url(PROJECT, "boxes", box), "limit=1")["messages"] == []


def test_a_path_larger_than_what_may_be_read():
    """35 MB of images: the limit and the budget bound what is read, and an image counts as its tokens."""
    image = {"type": "image", "data": "AAAA" * 800_000, "mimeType": "image/png"}
    path = session("images", [{"id": "u0", "type": "system", "content": "be kind"}])
    for number in range(11):
        ask("POST", path + "/entries", {"entries": [{"id": f"i{number}", "type": "user", "content": [image]},
                                                    {"id": f"s{number}", "type": "assistant", "content": "seen"}]})
    ask("POST", path + "/entries", {"entries": [user("now")]})
    context(path, "", 413)
    assert shown(context(path, "limit=2"))[:1] == ["be kind"]
    cut = context(path, "limit=4")
    assert shown(cut)[0] == "be kind" and shown(cut)[2:] == ["seen", "now"] and cut["report"]["omitted_messages"] == 20
    for budget, images in ((1700, 1), (5000, 3)):
        cut = context(path, f"token_budget={budget}")
        assert sum(isinstance(message["content"], list) for message in cut["messages"]) == images, (budget, shown(cut)[-3:])


def test_abilities():
    path = session("of-ability", [user("u1"), user("u2")])
    invoke = url(PROJECT, "abilities", "session:context")
    answer = ask("POST", invoke, {"session_id": "of-ability", "limit": 1}).json()
    assert answer["messages"] == context(path, "limit=1")["messages"] and answer["report"]["omitted_messages"] == 1
    ask("POST", invoke, {"session_id": "of-ability", "limit": 0}, 422)
    ask("POST", invoke, {"session_id": "of-ability", "token_budget": 1}, 422)


if __name__ == "__main__":
    cardbox_test.main()

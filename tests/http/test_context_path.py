#!/usr/bin/env python3
"""A context of a session reads only what it is made of: from what the last compaction keeps, and the
settings before that. What it is made of is worked out here again, of the whole way, for random trees."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, json_lines, server

HEADER = {"type": "session", "version": 3, "id": "h", "timestamp": "2025-01-02T03:04:05Z", "cwd": "/"}
LONG = "x" * (12 << 20)


def bring(session, data):
    answer = server().request("POST", f"/projects/p/sessions/{session}/import", data,
                              {"Content-Type": "application/x-ndjson"}, timeout=120)
    assert answer.status == 200 and answer.json()["bad"] == 0, answer


def context(session, leaf=None, status=200):
    query = "?format=entries&repair=off" + (f"&leaf={leaf}" if leaf else "")
    answer = server().get(f"/projects/p/sessions/{session}/context{query}", timeout=120)
    assert answer.status == status, answer
    return answer.json()


def entry(identifier, parent, kind, **more):
    return {"type": kind, "id": identifier, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", **more}


def said(identifier, parent, role="user", text="x", **more):
    return entry(identifier, parent, "message", message={"role": role, "content": text, **more})


def fold(identifier, parent, kept):
    name = "firstKeptEntryIndex" if isinstance(kept, int) else "firstKeptEntryId"
    return entry(identifier, parent, "compaction", summary="so far", tokensBefore=1, **{name: kept})


def expected(way, places):
    """By rule 2: the entries that give messages, and the settings, of the whole way to an entry."""
    folds = [at for at, one in enumerate(way) if one["type"] == "compaction"]
    kept = list(enumerate(way))
    if folds:
        last = folds[-1]
        goal = way[last].get("firstKeptEntryId", way[last].get("firstKeptEntryIndex"))
        first = next((at for at in range(last)
                      if goal in (way[at]["id"], places[way[at]["id"]])), last)
        kept = [(last, way[last])] + [(at, one) for at, one in kept
                                      if at >= first and one["type"] != "compaction"]
    ids = [one["id"] for _, one in kept if one["type"] in ("message", "compaction")]
    model = level = None
    for one in way:
        if one["type"] == "thinking_level_change":
            level = one["thinkingLevel"] or level
        elif one["type"] == "model_change":
            model = one["modelId"] or model
        elif one["type"] == "message" and one["message"]["role"] == "assistant":
            model = one["message"].get("model", model)
    return ids, model, level


def random_tree(rng, count):
    entries = []
    for number in range(count):
        behind = rng.randrange(max(0, number - 4), number) if number and rng.random() < 0.3 else number - 1
        parent = entries[behind]["id"] if number else None
        name, kind = f"e{number}", rng.random()
        if kind < 0.12 and number:
            goal = rng.choice([f"e{rng.randrange(number)}", rng.randrange(number + 1), f"e{number + 3}"])
            entries.append(fold(name, parent, goal))
        elif kind < 0.2:
            entries.append(entry(name, parent, "thinking_level_change", thinkingLevel=rng.choice([None, f"level {number}"])))
        elif kind < 0.28:
            entries.append(entry(name, parent, "model_change", provider="p",
                                 modelId=rng.choice([None, f"model {number}"])))
        elif kind < 0.4:
            entries.append(entry(name, parent, rng.choice(["custom", "session_info", "odd"])))
        elif kind < 0.6:
            model = rng.choice([{}, {"provider": "p", "model": f"model of {number}"}])
            entries.append(said(name, parent, "assistant", rng.choice(["x", "\0 \\u0000"]), **model))
        else:
            entries.append(said(name, parent))
    return entries


def test_random_trees():
    rng = random.Random(20)
    for number in range(3 if LIGHT else 10):
        entries = random_tree(rng, 60)
        session = f"tree-{number}"
        bring(session, json_lines(HEADER, *entries))
        by_id = {one["id"]: one for one in entries}
        places = {one["id"]: at + 1 for at, one in enumerate(entries)}
        for leaf in rng.sample(entries, 25) + entries[-1:]:
            way = [leaf]
            while way[0]["parentId"] is not None:
                way.insert(0, by_id[way[0]["parentId"]])
            ids, model, level = expected(way, places)
            got = context(session, leaf["id"])
            assert [one["id"] for one in got["messages"]] == ids, (session, leaf["id"], ids, got)
            assert (got["model"], got["thinking_level"]) == (model, level), (session, leaf["id"], got)
            assert got["path_length"] == len(way)


def test_lines_before_do_not_count():
    """36 MB of what a compaction leaves out, and of what is in no context, are not too large."""
    bring("long", json_lines(HEADER, *(said(f"a{at}", f"a{at - 1}" if at else None, text=LONG) for at in range(3)),
                        said("kept", "a2"), fold("f", "kept", "kept"), said("after", "f"),
                        *(entry(f"c{at}", f"c{at - 1}" if at else "after", "custom", data=LONG)
                          for at in range(3))))
    got = context("long")
    assert [one["id"] for one in got["messages"]] == ["f", "kept", "after"]
    assert got["path_length"] == 9
    refused = context("long", "kept", status=413)["detail"]
    assert "33554432 bytes" in refused["error_message"] and "with limit or token_budget" in refused["hint"], refused


def test_a_compaction_that_the_database_cannot_read():
    r"""\u0000 in its line: which entry it names is found all the same."""
    line = json.dumps(fold("f", "b", "b")).replace("so far", "so \\u0000far").encode() + b"\n"
    bring("odd", json_lines(HEADER, said("a", None), said("b", "a")) + line + json_lines(said("c", "f")))
    assert [one["id"] for one in context("odd")["messages"]] == ["f", "b", "c"]
    far = json.dumps(fold("g", "c", 10 ** 30)).encode() + b"\n"
    bring("odd", json_lines(HEADER, said("a", None), said("b", "a")) + line + json_lines(said("c", "f")) + far)
    assert [one["id"] for one in context("odd")["messages"]] == ["g"]


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""What lists and looks back over HTTP: cards by every filter, revisions, boxes, the log of a box, and
boxes as they were; pages of any size give each row once, and tenants with the same ids do not meet."""

import datetime
import json
import os
import re
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, cardbox, dsn, once, psql, server, url

NOWHERE = "01970000-0000-7000-8000-0000000000ff"
DAY = "2025-03-%02dT00:00:00Z"


def ask(path, expect=200, **query):
    """GET; a list as a value repeats the parameter, and '__' stands for '.' in a name."""
    query = {name.replace("__", "."): value for name, value in query.items()}
    text = urllib.parse.urlencode(query, doseq=True)
    answer = server().get(path + ("?" + text if text else ""))
    assert answer.status == expect, f"{answer.status} instead of {expect}: {answer.body[:600]!r}"
    return answer.json()


def send(method, path, body=None):
    answer = server().request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    return answer.json()


def faults(path, *expected, **query):
    detail = ask(path, expect=422, **query)["detail"]
    detail = detail if isinstance(detail, list) else detail["faults"]  # a list: of the five reads
    assert [(item["type"], item["loc"]) for item in detail] == list(expected), detail
    return detail


def pages(path, key, limit, **query):
    """All rows of a list, page by page; no page but the last is short."""
    cursor, rows = {}, []
    while True:
        page = ask(path, limit=limit, **query, **cursor)
        assert list(page) == [key, "next_cursor"] and len(page[key]) <= limit
        assert page[key] or not cursor, "a cursor that leads to nothing"
        rows += page[key]
        if page["next_cursor"] is None:
            return rows
        assert len(page[key]) == limit
        cursor = {"cursor": page["next_cursor"]}


# --- cards ---


@once
def listed():
    """A tenant of 24 cards, and another with the same ids; newest first is c23 to c0."""
    for tenant in ("list", "other"):
        cards = [{"card_id": f"c{n}", "content": {"owner": tenant, "n": n},
                  "type": ("tool.call", "tool.result", "agent.thought")[n % 3],
                  "step_id": f"step-{n // 6}", "trace_id": f"trace-{n // 12}",
                  "agent_turn_id": f"turn-{n % 2}", "created_at": DAY % (n + 1),
                  "metadata": {"color": ("red", "a b&c=d")[n % 2], "number": n},
                  **({"tool_call_id": f"call-{n // 3}"} if n % 3 < 2 else {})} for n in range(24)]
        send("POST", url(tenant, "cards"), {"cards": cards})
    send("DELETE", url("list", "cards", "c5"))
    return url("list", "cards")


def ids(**query):
    found = ask(listed(), **query)["cards"]
    assert all(card["content"]["owner"] == "list" for card in found)
    return [int(card["card_id"][1:]) for card in found]


def expected(wanted):
    return [n for n in range(23, -1, -1) if n != 5 and wanted(n)]


def test_filters():
    assert ids() == expected(lambda n: True)
    assert ids(type="tool.call") == expected(lambda n: n % 3 == 0)
    assert ids(role="tool") == expected(lambda n: n % 3 == 1)
    assert ids(step_id="step-1") == expected(lambda n: n // 6 == 1)
    assert ids(trace_id="trace-1") == expected(lambda n: n >= 12)
    assert ids(agent_turn_id="turn-0") == expected(lambda n: n % 2 == 0)
    assert ids(tool_call_id="call-2") == [7, 6]
    assert ids(tool_call_id=["call-2", "call-0", "no"]) == [7, 6, 1, 0]
    assert ids(meta__color="a b&c=d") == expected(lambda n: n % 2 == 1)
    assert ids(meta__color="red", meta__type="tool.call", role="assistant") == [18, 12, 6, 0]
    assert ids(meta__number="1") == []  # a string is looked for, and this is a number
    assert ids(created_after=DAY % 10, created_before=DAY % 14) == [12, 11, 10]
    assert ids(created_after="2025-03-24T05:29:59.9+05:30") == [23]
    assert ids(type="nothing") == []


def test_pages_of_cards():
    for limit in (1, 2, 5, 22, 23, 24, 500):
        rows = pages(listed(), "cards", limit)
        assert [card["card_id"] for card in rows] == [f"c{n}" for n in expected(lambda n: True)]
        rows = pages(listed(), "cards", limit, trace_id="trace-0", role="assistant")
        assert [card["card_id"] for card in rows] == [
            f"c{n}" for n in expected(lambda n: n < 12 and n % 3 != 1)]


def test_a_listed_card_is_the_card():
    for card in ask(listed(), limit=3)["cards"]:
        assert card == ask(url("list", "cards", card["card_id"]))
    assert len(ask(listed(), limit=0)["cards"]) == 1
    assert ask(url("nobody", "cards")) == {"cards": [], "next_cursor": None}


def test_a_filter_that_hardly_a_card_meets():
    """A request looks at so many cards: a page is then short, or empty, and leads on. The command line
    goes on by itself."""
    psql(dsn(), """INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at)
        SELECT 'rare', 'c' || n, '1', jsonb_build_object('type', 'x', 'role', CASE WHEN n % 20000 = 7 THEN 'tool' ELSE 'user' END),
               now() - n * interval '1 second' FROM generate_series(1, 45000) AS n""")
    path = url("rare", "cards")
    wanted = ["c7", "c20007", "c40007"]
    for query in ({"role": "tool"}, {"meta.role": "tool"}, {"type": "x", "role": "tool"}, {"role": "nobody"}):
        seen, cursor = [], {}
        for n in range(3):
            page = ask(path, limit=1, **query, **cursor)
            seen.append([card["card_id"] for card in page["cards"]])
            cursor = {"cursor": page["next_cursor"]}
        assert seen == [[card] if "nobody" not in query.values() else [] for card in wanted], (query, seen)
        assert cursor == {"cursor": None}
    for limit, ends in ((2, False), (3, True), (4, True)):
        done = cardbox("card", "list", "--project", "rare", "--role", "tool", "--limit", str(limit), "--json", "--dsn", dsn())
        assert done.returncode == 0, done.stderr
        assert [json.loads(line)["card_id"] for line in done.stdout.splitlines()] == wanted[:limit], done.stdout
        assert ("--cursor" not in done.stderr) == ends, done.stderr


def test_cards_of_one_moment():
    """Ids decide where times are equal."""
    send("POST", url("moment", "cards"), {"cards": [
        {"card_id": name, "content": 1, "created_at": DAY % 1} for name in ("b", "a/%", "\u00e9", "z")]})
    for limit in (1, 2, 3):
        rows = pages(url("moment", "cards"), "cards", limit)
        assert [card["card_id"] for card in rows] == ["\u00e9", "z", "b", "a/%"]


def test_pages_of_one_moment():
    """Of each list: cards of one time come by their ids, each once, wherever a page ends."""
    members = {"step_id": "s", "agent_turn_id": "u", "trace_id": "t", "type": "x"}
    ids = [f"{n:02}" for n in range(40)]
    send("POST", url("ties", "cards"), {"cards": [
        {"card_id": card_id, "content": 1, "created_at": DAY % (1 + (n > 35)), "tool_call_id": "call", **members}
        for n, card_id in enumerate(ids)]})
    for filters in ({}, *({name: value} for name, value in members.items()), {"tool_call_id": "call"}, members):
        for limit in (1, 7, 39):
            found = pages(url("ties", "cards"), "cards", limit, **filters)
            assert [card["card_id"] for card in found] == ids[::-1], (filters, limit)


def test_cards_of_the_ends_of_time():
    """Cursors lead on behind them, whatever time a worker's own SQL has given its cards."""
    moments = ["infinity", "294276-12-31 23:59:59.999999+00", "40000-01-01", "2020-01-01", "4000-01-01 BC",
               "-infinity"]
    for number, moment in enumerate(moments):
        Postgres.shared().psql(dsn(), "INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
                                      f" VALUES ('ends', 'c{number}', '1', '{moment}')")
    found = [card["card_id"] for card in pages(url("ends", "cards"), "cards", 1)]
    assert found == [f"c{number}" for number in range(len(moments))], found


def test_faults_of_a_list():
    path = listed()
    detail = faults(path, ("extra_forbidden", ["query", "typ"]), typ="x")
    assert "is known here (known: type, " in detail[0]["msg"] and ", meta.KEY, " in detail[0]["msg"], detail
    faults(path, ("int_parsing", ["query", "limit"]), ("extra_forbidden", ["query", "x.y"]),
           ("datetime_parsing", ["query", "created_after"]), limit="x", x__y="1",
           created_after="soon")
    faults(path, ("value_error", ["query", "role"]), role=["a", "b"])
    faults(path, ("value_error", ["query", "tool_call_id"]), tool_call_id=["a", ""])
    faults(path, ("value_error", ["query", "meta."]), meta__a=["1", "2"])
    faults(path, ("extra_forbidden", ["query", "meta."]), **{"meta.": "1"})
    faults(path, ("string_too_long", ["query", "type"]), type="x" * 513)
    detail = ask(path + "?created_after=2025-03-01T00:00:00+05:30", expect=422)["detail"]
    assert "%2B" in detail["error_message"], detail
    for cursor in ("", "x", "1.", "12", "1.zz", "9" * 400 + ".61", "1." + "61" * 600):
        faults(path, ("value_error", ["query", "cursor"]), cursor=cursor)
    many = {f"meta.k{n}": "1" for n in range(17)}
    assert "meta. exceeds limit 16" in ask(path, expect=400, **many)["detail"]["error_message"]
    calls = [str(n) for n in range(101)]
    assert "exceeds limit 100" in ask(path, expect=400,
                                      tool_call_id=calls)["detail"]["error_message"]
    for query, word in (("role=%zz", "parameter role is"), ("%zz=1", "a name"),
                        ("role=%00", "parameter role is"), ("meta.a=%ff", "parameter meta. is")):
        answer = server().get(path + "?" + query)
        assert answer.status == 400 and word in answer.json()["detail"]["error_message"], answer


# --- revisions ---


def test_revisions():
    path = url("revs", "cards", "c", "revisions")
    texts = [b'{"b": 1, "a": "\\u0000"}', b'"two"', b"3.0", b"[4]"]
    for text in texts:
        for tenant in ("revs", "revs-2"):
            body = b'{"card_id":"c","type":"t%d","content":%s}' % (len(text), text)
            answer = server().request("POST", url(tenant, "cards"), body)
            assert answer.status == 200, answer
    found = ask(path)
    assert found["next_cursor"] is None
    assert [row["revision"] for row in found["revisions"]] == [3, 2, 1]
    assert list(found["revisions"][0]) == ["revision", "replaced_at", "card"]
    assert list(found["revisions"][0]["card"]) == list(ask(url("revs", "cards", "c")))
    assert found["revisions"][2]["card"]["type"] == "t%d" % len(texts[0])
    body = server().get(path).body
    for text in texts[:3]:
        assert b'"content":' + text + b',"created_at"' in body, body
    assert texts[3] not in body
    for limit in (1, 2, 3, 4):
        assert pages(path, "revisions", limit) == found["revisions"]
    send("POST", url("revs", "cards"), {"card_id": "fresh", "content": 1})
    assert ask(url("revs", "cards", "fresh", "revisions")) == {"revisions": [], "next_cursor": None}
    ask(url("revs", "cards", "none", "revisions"), expect=404)
    send("DELETE", url("revs-2", "cards", "c"))
    ask(url("revs-2", "cards", "c", "revisions"), expect=404)
    for cursor in ("x", "0", "-1", "1.5", "9" * 30):
        faults(path, ("value_error", ["query", "cursor"]), cursor=cursor)


# --- boxes ---


def new_box(tenant, *card_ids, **members):
    return send("POST", url(tenant, "boxes"), {"card_ids": list(card_ids), **members})["box_id"]


def append(tenant, box_id, *card_ids, key=None):
    headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
    answer = server().request("POST", url(tenant, "boxes", box_id, "append"),
                              json.dumps({"card_ids": card_ids}), headers)
    assert answer.status == 200, answer


def test_boxes():
    made = [new_box("many", "a"), new_box("many"), new_box("many", "a", "b")]
    same = new_box("others", "a", box_id=made[0])
    assert same == made[0]
    gone = new_box("many")
    send("DELETE", url("many", "boxes", gone))
    fork = send("POST", url("many", "boxes", made[0], "fork"), {})["box_id"]
    found = ask(url("many", "boxes"))["boxes"]
    assert [row["box_id"] for row in found] == [fork, made[2], made[1], made[0]]
    assert list(found[0]) == ["box_id", "version", "length", "parent_ids", "created_at", "updated_at", "sealed"]
    assert found[0]["parent_ids"] == [made[0]] and found[1]["length"] == 2
    for row in found:
        whole = ask(url("many", "boxes", row["box_id"]))
        assert all(whole[name] == value for name, value in row.items())
    for limit in (1, 2, 3, 4, 5):
        assert pages(url("many", "boxes"), "boxes", limit) == found
    assert ask(url("nobody", "boxes")) == {"boxes": [], "next_cursor": None}
    for cursor in ("x", "1.61", "1." + b"no-uuid".hex()):
        faults(url("many", "boxes"), ("value_error", ["query", "cursor"]), cursor=cursor)
    faults(url("many", "boxes"), ("extra_forbidden", ["query", "type"]), type="x")


def test_boxes_of_a_card():
    """In a tail, in a sealed segment, through a fork; with cursors, the newest first."""
    tail = new_box("holders", "x", "c")
    sealed = new_box("holders", "c", *[f"f{n}" for n in range(100)])
    fork = send("POST", url("holders", "boxes", sealed, "fork"), {})["box_id"]
    new_box("holders", "x")
    new_box("strangers", "c")
    append("holders", tail, "y")
    path = url("holders", "cards", "c", "boxes")
    found = ask(path)
    assert [row["box_id"] for row in found["boxes"]] == [fork, sealed, tail]
    for limit in (1, 2, 3):
        assert pages(path, "boxes", limit) == found["boxes"]
    assert ask(url("holders", "cards", "nowhere", "boxes")) == {"boxes": [], "next_cursor": None}
    ask(url("holders", "cards", "x" * 600, "boxes"), expect=404)


def test_boxes_of_a_card_among_many():
    """A page looks at so many boxes and no more, and says where to go on, also where it has found none."""
    held = new_box("crowd", "c")
    psql(dsn(), "SELECT count(cardbox.create_box('crowd', gen_random_uuid(), '[\"x\"]', '[]', NULL, false))"
                " FROM generate_series(1, 5000)")
    path = url("crowd", "cards", "c", "boxes")
    first = ask(path)
    assert first["boxes"] == [] and first["next_cursor"], first
    second = ask(path, cursor=first["next_cursor"])
    assert [row["box_id"] for row in second["boxes"]] == [held] and second["next_cursor"] is None, second
    assert held in cardbox("card", "boxes", "--project", "crowd", "--dsn", dsn(), "c").stdout


def test_log():
    made = new_box("log", "a", "b")
    append("log", made, "c", key="key 1")
    append("log", made, *[f"m{n}" for n in range(130)])
    send("PUT", url("log", "boxes", made), {"card_ids": ["z"]})
    append("log", made, *[f"n{n}" for n in range(1001)])
    append("log", made, "end")
    path = url("log", "boxes", made, "log")
    found = ask(path)["log"]
    assert list(found[0]) == ["version", "op", "added", "length", "append_key", "at", "card_ids"]
    assert [(row["version"], row["op"], row["added"], row["length"]) for row in found] == [
        (6, "append", 1, 1003), (5, "append", 1001, 1002), (4, "replace", 1, 1),
        (3, "append", 130, 133), (2, "append", 1, 3), (1, "create", 2, 2)]
    assert [row["card_ids"] for row in found] == [
        ["end"], None, ["z"], [f"m{n}" for n in range(130)], ["c"], ["a", "b"]]
    assert [row["append_key"] for row in found] == [None] * 4 + ["key 1", None]
    for limit in (1, 2, 5, 6):
        assert pages(path, "log", limit) == found
    fork = send("POST", url("log", "boxes", made, "fork"), {"at_version": 3})["box_id"]
    row, = ask(url("log", "boxes", fork, "log"))["log"]
    assert row["op"] == "fork" and row["card_ids"] == ask(url("log", "boxes", fork))["card_ids"]
    append("log", fork, "own")
    assert ask(url("log", "boxes", fork, "log"), limit=1)["log"][0]["card_ids"] == ["own"]
    for missing in (NOWHERE, "no-uuid"):
        ask(url("log", "boxes", missing, "log"), expect=404)
    ask(url("others", "boxes", made, "log"), expect=404)
    faults(path, ("value_error", ["query", "cursor"]), cursor="x")
    faults(path, ("extra_forbidden", ["query", "before"]), before="1")


# --- boxes as they were ---


def test_as_of():
    send("POST", url("past", "cards"), {"cards": [
        {"card_id": name, "content": name} for name in ("a", "b", "c", "z")]})
    made = new_box("past", "a")
    append("past", made, "b", "c")
    send("PUT", url("past", "boxes", made), {"card_ids": ["z", "gone", "a"]})
    path = url("past", "boxes", made)
    lists = {1: ["a"], 2: ["a", "b", "c"], 3: ["z", "gone", "a"]}
    log = {row["version"]: row["at"] for row in ask(path + "/log")["log"]}
    for version, wanted in lists.items():
        for query in ({"at_version": version}, {"at_time": log[version]}):
            got = ask(path, **query)
            assert (got["version"], got["card_ids"], got["length"]) == (version, wanted, len(wanted))
            cards = ask(path + "/cards", **query)
            assert [card["card_id"] for card in cards] == [name for name in wanted if name != "gone"]
    assert ask(path, at_length=2)["card_ids"] == ["z", "gone"]
    assert ask(path, at_length=0)["card_ids"] == []
    assert [c["card_id"] for c in ask(path + "/cards", at_version=2, limit=2)] == ["b", "c"]
    later = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=2))).isoformat()
    assert ask(path, at_time=later)["version"] == 3


def test_no_such_moment():
    made = new_box("past", "a")
    for rest in ((), ("cards",)):
        path = url("past", "boxes", made, *rest)
        for query in ({"at_version": 2}, {"at_length": 2}, {"at_time": DAY % 1}):
            detail = ask(path, expect=404, **query)["detail"]
            assert re.fullmatch("no such version of the box: it has versions 1 to 1 since "
                                r"\d{4}-\S+Z, and 1 ids now", detail["error_message"]), detail
            nowhere = ask(url("past", "boxes", NOWHERE, *rest), expect=404, **query)["detail"]
            assert nowhere["error_message"] == "box not found"
        faults(path, ("value_error", ["query"]), at_version=1, at_length=1)
        faults(path, ("greater_than_equal", ["query", "at_version"]),
               ("int_parsing", ["query", "at_length"]),
               ("datetime_parsing", ["query", "at_time"]), at_version="0", at_length="x",
               at_time="2025-01-01T00:00:00")
        detail = ask(path + "?at_time=2025-01-01T00:00:00+01:00", expect=422)["detail"]
        assert "%2B" in detail[0]["msg"]
        # These are of the five reads: what they do not know they ignore, and the last one counts.
        assert ask(path + "?at_version=7&at_version=1&verbose=1&%zz=1") == ask(path)


def test_the_budget():
    small = Server(dsn(), "--response-max", "4000")
    send("POST", url("large", "cards"), {"cards": [{"content": "x" * 900} for _ in range(10)]})
    answer = small.get(url("large", "cards"))
    assert answer.status == 413 and answer.json()["detail"]["error_code"] == "too_large", answer
    assert small.get(url("large", "cards") + "?limit=2").status == 200
    small.stop()


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

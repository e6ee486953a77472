#!/usr/bin/env python3
"""Everything that changes cards and boxes over HTTP: what each request does, what each refuses and
in which words, replays, races for one key, tenants that share every id, and hostile bodies."""

import concurrent.futures
import json
import os
import random
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, Server, dsn, server, url

JSON = {"Content-Type": "application/json"}
NOWHERE = "01970000-0000-7000-8000-0000000000ff"


def send(method, path, body=None, headers=None, expect=200):
    """Sends a value as JSON, or bytes as they are; returns the answer's JSON."""
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    answer = server().request(method, path, data, {**JSON, **(headers or {})})
    assert answer.status == expect, f"{answer.status} instead of {expect}: {answer.body[:600]!r}"
    return answer.json()


def refused(method, path, body, status, code, words, headers=None):
    detail = send(method, path, body, headers, expect=status)["detail"]
    assert detail["error_code"] == code and words in detail["error_message"], detail
    return detail


def faults(method, path, body, *expected, headers=None):
    """422 with exactly these (type, loc)."""
    detail = send(method, path, body, headers, expect=422)["detail"]
    assert detail["error_code"] == "validation_failed", detail
    assert [(item["type"], item["loc"]) for item in detail["faults"]] == list(expected), detail
    return detail["faults"]


def add(tenant, *cards, **options):
    return send("POST", url(tenant, "cards"), {"cards": list(cards), **options})["cards"]


def new_box(tenant, *ids, **members):
    return send("POST", url(tenant, "boxes"), {"card_ids": list(ids), **members})["box_id"]


def box(tenant, box_id, query=""):
    return send("GET", url(tenant, "boxes", box_id) + query)


# --- one card ---


def test_add_a_card():
    path = url("one", "cards")
    card = {"card_id": "c", "content": {"a": 1}, "type": "tool.call", "author_id": "me",
            "step_id": "s", "trace_id": "t", "agent_turn_id": "u", "metadata": {"own": [1]},
            "tool_calls": [{"id": "x"}], "tool_call_id": "x", "ttl_seconds": 10**9, "sealed": True,
            "created_at": "2025-01-02T03:04:05.5+05:30"}
    assert send("POST", path, card) == {"card_id": "c", "outcome": "inserted"}
    assert send("POST", path, card) == {"card_id": "c", "outcome": "unchanged"}
    got = send("GET", url("one", "cards", "c"))
    assert got["content"] == {"a": 1} and got["sealed"] is True and got["author_id"] == "me"
    assert got["metadata"] == {"type": "tool.call", "role": "assistant", "step_id": "s",
                               "trace_id": "t", "agent_turn_id": "u", "author_id": "me",
                               "own": [1]}
    assert got["tool_calls"] == [{"id": "x"}] and got["tool_call_id"] == "x"
    assert got["ttl_seconds"] == 10**9 and got["created_at"] == "2025-01-01T21:34:05.500000Z"


def test_outcomes_of_a_card():
    path = url("outcomes", "cards")
    card = {"card_id": "c", "content": 1}
    assert send("POST", path, card)["outcome"] == "inserted"
    assert send("POST", path, {**card, "content": 2})["outcome"] == "repaired"
    detail = refused("POST", path, {**card, "strict": True}, 409, "conflict", "other content")
    assert detail["outcome"] == "conflict"
    assert send("GET", url("outcomes", "cards", "c"))["content"] == 2
    assert send("DELETE", url("outcomes", "cards", "c")) == {"card_id": "c", "deleted": True}
    detail = refused("POST", path, card, 410, "gone", "restore")
    assert detail["outcome"] == "gone"
    assert send("POST", path, {**card, "restore": True})["outcome"] == "restored"
    assert send("GET", url("outcomes", "cards", "c"))["content"] == 1


def test_a_card_without_an_id_gets_one():
    made = send("POST", url("one", "cards"), {"content": "x"})
    assert uuid.UUID(made["card_id"]).version == 7 and made["outcome"] == "inserted"
    assert send("GET", url("one", "cards", made["card_id"]))["content"] == "x"
    again = send("POST", url("one", "cards"), {"card_id": None, "content": "x", "metadata": None,
                                               "tool_calls": None, "tool_call_id": None,
                                               "ttl_seconds": None, "sealed": None})
    assert again["card_id"] != made["card_id"]


def test_a_key_wants_ids():
    """A retry would make other cards of those whose ids are made here: the key can't be ignored."""
    path, key = url("keyed", "cards"), {"Idempotency-Key": "k"}
    faults("POST", path, {"content": 1}, ("missing", ["body", "card_id"]), headers=key)
    faults("POST", path, {"cards": [{"card_id": "a", "content": 1}, {"content": 2}]},
           ("missing", ["body", "cards", 1, "card_id"]), headers=key)
    assert send("GET", path)["cards"] == []
    for outcome in "inserted", "unchanged":
        assert send("POST", path, {"card_id": "a", "content": 1}, key)["outcome"] == outcome


def test_what_a_read_shows_can_be_written_again():
    """The nulls of a card object are members that are not given."""
    send("POST", url("again", "cards"), {"card_id": "c", "content": [1], "type": "x"})
    got = send("GET", url("again", "cards", "c"))
    for extra in ("project_id", "expires_at", "content_class"):
        got.pop(extra)
    for said in ("created_at", "author_id"):  # shown where none was written
        got.pop(said)
    assert send("POST", url("again", "cards"), got)["outcome"] == "unchanged"


def test_write_positions():
    """Cardbox-Lsn is on the answer of each write, and on no read."""
    answer = server().post(url("one", "cards"), {"content": 1})
    high, _, low = answer.header("Cardbox-Lsn").partition("/")
    assert int(high, 16) >= 0 and int(low, 16) > 0, answer.headers
    assert server().get(url("one", "cards")).header("Cardbox-Lsn") is None


EXACT = [
    rb'"nul \u0000 here"', rb'"\ud800"', rb'["\udc00\ud800", "\ud83d\ude00"]', b'{"b":1,"a":2,"b":3}',
    b'{"n":1e131071}', b'1e400', b'-0', b'-0.0', b'1.0', b'1E+2', b'0.1e-7', b'null', b'true',
    b'[ 1 ,  2\t]', b'{ }', b'"\\/\\u002f/"', '"\U0001f600 \u00e9 \ufffe"'.encode(),
    b'123456789012345678901234567890123456789012345678901234567890',
    b'{"x":' + b"9" * 5000 + b'}', b'"' + b"x" * 100000 + b'"',
    b"[" * 128 + b"]" * 128, b'{"\\u0000":1,"":2,"__type__":7}',
]


def test_content_comes_back_to_the_byte():
    """As one card and in a batch, with white space around it."""
    for number, text in enumerate(EXACT):
        body = b'{"card_id":"single-%d", "content" :  %s\n}' % (number, text)
        send("POST", url("exact", "cards"), body)
        answer = server().get(url("exact", "cards", f"single-{number}"))
        assert b'"content":' + text + b',"created_at"' in answer.body, (text[:80], answer)
    cards = b",".join(b'{"card_id":"many-%d","content":%s}' % pair for pair in enumerate(EXACT))
    send("POST", url("exact", "cards"), b'{"cards":[' + cards + b"]}")
    for number, text in enumerate(EXACT):
        answer = server().get(url("exact", "cards", f"many-{number}"))
        assert b'"content":' + text + b',"created_at"' in answer.body, (text[:80], answer)


def test_content_too_deep():
    body = b'{"card_id":"deep","content":' + b"[" * 129 + b"]" * 129 + b"}"
    refused("POST", url("exact", "cards"), body, 413, "too_large", "content is not valid JSON")
    body = b'{"cards":[{"content":1},{"content":' + b"[" * 129 + b"]" * 129 + b"}]}"
    refused("POST", url("exact", "cards"), body, 413, "too_large", "cards[1]: content is not valid")
    refused("POST", url("exact", "cards"), b"[" * 300 + b"]" * 300, 400, "bad_request", "not valid")


def test_faults_of_a_card():
    path = url("faults", "cards")
    faults("POST", path, {}, ("missing", ["body", "content"]))
    faults("POST", path, b"", ("missing", ["body"]))
    faults("POST", path, [1], ("model_attributes_type", ["body"]))
    detail = faults("POST", path, {"content": 1, "contents": 2}, ("extra_forbidden", ["body", "contents"]))
    assert "(known: " in detail[0]["msg"] and "content, " in detail[0]["msg"], detail
    detail = faults("POST", path + "?strict=1", {"content": 1}, ("extra_forbidden", ["query", "strict"]))
    assert detail[0]["msg"] == "Nothing of this name is known here", detail
    faults("POST", path, {"content": 1, "card_id": "", "tool_call_id": "a\nb", "type": 7,
                          "ttl_seconds": -1, "sealed": "yes", "metadata": [], "tool_calls": {},
                          "created_at": "yesterday", "strict": 1, "restore": 0},
           ("value_error", ["body", "card_id"]), ("value_error", ["body", "tool_call_id"]),
           ("string_type", ["body", "type"]), ("greater_than_equal", ["body", "ttl_seconds"]),
           ("bool_type", ["body", "sealed"]), ("dict_type", ["body", "metadata"]),
           ("list_type", ["body", "tool_calls"]), ("datetime_parsing", ["body", "created_at"]),
           ("bool_type", ["body", "strict"]), ("bool_type", ["body", "restore"]))
    faults("POST", path, {"content": 1, "card_id": "x" * 513}, ("value_error", ["body", "card_id"]))
    faults("POST", path, {"content": 1, "step_id": "x" * 513},
           ("string_too_long", ["body", "step_id"]))
    faults("POST", path, {"content": 1, "ttl_seconds": 2.5}, ("int_type", ["body", "ttl_seconds"]))
    faults("POST", path, {"content": 1, "ttl_seconds": 2**31},
           ("less_than_equal", ["body", "ttl_seconds"]))
    faults("POST", path, rb'{"content":1,"type":"\u0000"}', ("string_unicode", ["body", "type"]))
    faults("POST", path, rb'{"content":1,"card_id":"\ud800"}', ("value_error", ["body", "card_id"]))
    detail = faults("POST", path, {"content": 1, "type": "a", "metadata": {"type": "b"}},
                    ("value_error", ["body", "type"]))
    assert "in the metadata it is" in detail[0]["msg"]
    faults("POST", path, rb'{"content":1,"metadata":{"a":"\u0000"}}',
           ("value_error", ["body", "metadata"]))
    faults("POST", path, {"content": 1, "created_at": "2025-01-02T03:04:05"},
           ("datetime_parsing", ["body", "created_at"]))


def test_malformed_bodies():
    path = url("faults", "cards")
    for body in (b"{", b'{"content":1,}', b'{"content":1}x', b"\xff", b'{"content":"\xff"}',
                 b'{"content":01}', b'{"content":1,"content":2}',
                 b'{"content":1,"c\\u006fntent":2}', b'{"cards":[],"cards":[]}',
                 b'{"cards":[{"content":1,"type":"a","type":"a"}]}'):
        refused("POST", path, body, 400, "bad_request", "not valid JSON at byte")
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = server().request("POST", path, b'{"content":1}', {"Content-Type": kind})
        assert answer.status == 415, answer


# --- many cards ---


def test_add_many():
    made = add("many", {"card_id": "a", "content": 1}, {"content": 2},
               {"card_id": "c", "content": 3, "sealed": False}, sealed=True)
    assert [card["outcome"] for card in made] == ["inserted"] * 3
    assert made[0]["card_id"] == "a" and uuid.UUID(made[1]["card_id"]).version == 7
    sealed = [send("GET", url("many", "cards", card["card_id"]))["sealed"] for card in made]
    assert sealed == [True, True, False]
    assert add("many") == []
    again = add("many", {"card_id": "c", "content": 4}, {"card_id": "c", "content": 5},
                {"card_id": "a", "content": 1})
    assert [card["outcome"] for card in again] == ["repaired", "repaired", "unchanged"]


def test_what_was_done_is_told():
    """The limit of an answer is for reads: a write that was done is none that was too large."""
    small = Server(dsn(), "--response-max", "1024")
    cards = {"cards": [{"card_id": f"told-{n}", "content": n, "sealed": True} for n in range(100)]}
    for words in "inserted", "unchanged":
        answer = small.post(url("told", "cards"), cards)
        assert answer.status == 200, answer
        assert [card["outcome"] for card in answer.json()["cards"]] == [words] * 100
    cards["cards"][50]["content"] = "other"
    answer = small.post(url("told", "cards"), cards)
    assert answer.status == 409 and len(answer.json()["detail"]["outcomes"]) == 100, answer
    small.stop()


def test_many_are_all_or_none():
    add("atomic", {"card_id": "there", "content": 1})
    send("DELETE", url("atomic", "cards", "there"))
    add("atomic", {"card_id": "fixed", "content": 1, "sealed": True})
    gone = {"cards": [{"card_id": "new", "content": 1}, {"card_id": "there", "content": 1}]}
    detail = refused("POST", url("atomic", "cards"), gone, 410, "gone", "there")
    assert [(o["index"], o["card_id"], o["outcome"]) for o in detail["outcomes"]] == [
        (0, "new", "inserted"), (1, "there", "gone")]
    assert "message" not in detail["outcomes"][0] and "restore" in detail["outcomes"][1]["message"]
    both = {"cards": [*gone["cards"], {"card_id": "fixed", "content": 2}]}
    detail = refused("POST", url("atomic", "cards"), both, 409, "conflict", "fixed")
    assert [o["outcome"] for o in detail["outcomes"]] == ["inserted", "gone", "conflict"]
    assert server().get(url("atomic", "cards", "new")).status == 404
    assert [o["outcome"] for o in add("atomic", *gone["cards"], restore=True)] == [
        "inserted", "restored"]
    strict = {"cards": [{"card_id": "new", "content": 7}], "strict": True}
    refused("POST", url("atomic", "cards"), strict, 409, "conflict", "new")


def test_one_result_a_call():
    result = {"type": "tool.result", "tool_call_id": "call", "content": 1}
    add("calls", {"card_id": "first", **result})
    detail = refused("POST", url("calls", "cards"), {"card_id": "second", **result}, 409, "conflict",
                     "first")
    assert detail["outcome"] == "conflict"


def test_faults_of_many():
    path = url("faults", "cards")
    faults("POST", path, {"cards": [{"content": 1}, {}, 7, {"content": 1, "x": 2},
                                    {"content": 1, "strict": True}], "y": 1},
           ("extra_forbidden", ["body", "y"]), ("missing", ["body", "cards", 1, "content"]),
           ("model_attributes_type", ["body", "cards", 2]),
           ("extra_forbidden", ["body", "cards", 3, "x"]),
           ("extra_forbidden", ["body", "cards", 4, "strict"]))
    faults("POST", path, {"cards": {}}, ("list_type", ["body", "cards"]))
    faults("POST", path, {"cards": None}, ("list_type", ["body", "cards"]))
    faults("POST", path, {"cards": [], "content": 1}, ("extra_forbidden", ["body", "content"]))
    faults("POST", path, {"cards": [{"content": 1, "type": "a", "metadata": {"type": "b"}}] * 2},
           ("value_error", ["body", "cards", 0, "type"]),
           ("value_error", ["body", "cards", 1, "type"]))
    detail = send("POST", path, {"cards": [7] * 1000}, expect=422)["detail"]
    assert len(detail["faults"]) == 100 and detail["error_message"].startswith("body.cards.0: ")
    assert detail["error_message"].endswith("; 999 more"), detail
    refused("POST", path, {"cards": [7] * 1001}, 400, "bad_request",
            "cards exceeds limit 1000")


def test_a_thousand_cards_of_2_kb():
    cards = [{"card_id": f"card-{n}", "content": {"text": "x" * 2000}} for n in range(1000)]
    assert [card["outcome"] for card in add("thousand", *cards)] == ["inserted"] * 1000
    detail = refused("POST", url("thousand", "cards"),
                     {"cards": [{**card, "content": n} for n, card in enumerate(cards)],
                      "strict": True}, 409, "conflict", "card-0")
    assert len(detail["outcomes"]) == 1000


def test_body_over_the_limit():
    body = b'{"content":"' + b"x" * (17 << 20) + b'"}'
    refused("POST", url("one", "cards"), body, 413, "too_large", "limit")


# --- deletion of cards ---


def test_delete_a_card():
    add("deletes", {"card_id": "a", "content": 1}, {"card_id": "s", "content": 1, "sealed": True})
    for _ in range(2):
        assert send("DELETE", url("deletes", "cards", "a")) == {"card_id": "a", "deleted": True}
    refused("GET", url("deletes", "cards", "a"), None, 404, "not_found", "card not found")
    refused("DELETE", url("deletes", "cards", "none"), None, 404, "not_found", "card not found")
    refused("DELETE", url("deletes", "cards", "x" * 600), None, 404, "not_found", "card not found")
    refused("DELETE", url("deletes", "cards", "s"), None, 409, "conflict", "sealed")
    faults("DELETE", url("deletes", "cards", "a") + "?force=1", None,
           ("extra_forbidden", ["query", "force"]))


# --- boxes ---


def test_create_a_box():
    for body in (None, {}, {"box_id": None, "card_ids": None, "parent_ids": None}):
        made = send("POST", url("boxes", "boxes"), body)
        assert uuid.UUID(made["box_id"]).version == 7
        assert (made["version"], made["length"]) == (1, 0)
    parent, wanted = made["box_id"], str(uuid.uuid4())
    made = send("POST", url("boxes", "boxes"), {"box_id": wanted.upper(), "card_ids": ["a", "b", "a"],
                                                "parent_ids": [parent]})
    assert made == {"box_id": wanted, "version": 1, "length": 3}
    got = box("boxes", wanted)
    assert got["card_ids"] == ["a", "b", "a"] and got["parent_ids"] == [parent]
    for own in (NOWHERE, NOWHERE.upper(), NOWHERE.replace("0", "\\u0030", 1)):
        body = f'{{"box_id":"{NOWHERE}","parent_ids":["{parent}","{own}"]}}'.encode()
        faults("POST", url("boxes", "boxes"), body, ("value_error", ["body", "parent_ids"]))
    send("GET", url("boxes", "boxes", NOWHERE), expect=404)
    detail = refused("POST", url("boxes", "boxes"), {"box_id": wanted}, 409, "conflict", "exists")
    assert detail["current_version"] == 1
    send("DELETE", url("boxes", "boxes", wanted))
    refused("POST", url("boxes", "boxes"), {"box_id": wanted}, 410, "gone", "deleted")


def test_append():
    made = new_box("append", "a")
    path = url("append", "boxes", made, "append")
    assert send("POST", path, {"card_ids": ["b", "a"]}) == {"box_id": made, "version": 2, "length": 3}
    assert send("POST", path, {"card_ids": ["c"], "expected_version": 2})["version"] == 3
    detail = refused("POST", path, {"card_ids": ["d"], "expected_version": 2}, 409, "conflict",
                     "at version 3")
    assert detail["current_version"] == 3
    assert box("append", made)["card_ids"] == ["a", "b", "a", "c"]
    many = [f"m-{n}" for n in range(10000)]
    assert send("POST", path, {"card_ids": many})["length"] == 10004
    refused("POST", path, {"card_ids": [*many, "x"]}, 400, "bad_request",
            "card_ids exceeds limit 10000")
    refused("POST", url("append", "boxes", NOWHERE, "append"), {"card_ids": ["a"]}, 404, "not_found",
            "box not found")
    refused("POST", url("append", "boxes", "no-uuid", "append"), {"card_ids": ["a"]}, 404,
            "not_found", "box not found")


def test_ids_of_odd_letters():
    made = new_box("append")
    body = rb'{"card_ids":[ "\u0061\/\"", "\ud83d\ude00" , "%00" ]}'
    send("POST", url("append", "boxes", made, "append"), body)
    assert box("append", made)["card_ids"] == ['a/"', "\U0001f600", "%00"]


def test_append_with_a_key():
    made = new_box("keys")
    path, key = url("keys", "boxes", made, "append"), {"Idempotency-Key": "turn 1 ~!"}
    first = server().request("POST", path, b'{"card_ids":["a"]}', {**JSON, **key})
    assert first.status == 200 and first.header("Idempotent-Replayed") is None
    send("POST", path, {"card_ids": ["b"]})
    second = server().request("POST", path, b'{ "card_ids" : ["\\u0061"] }', {**JSON, **key})
    assert (second.status, second.body) == (200, first.body)
    assert second.header("Idempotent-Replayed") == "true"
    refused("POST", path, {"card_ids": ["other"]}, 409, "conflict", "other ids", headers=key)
    assert box("keys", made)["card_ids"] == ["a", "b"]
    assert send("POST", path, {"card_ids": ["a"]}, {"Idempotency-Key": "x" * 512})["version"] == 4
    for bad in ("x" * 513, "", "caf\u00e9".encode().decode("latin-1"), "tab\tbed"):
        faults("POST", path, {"card_ids": ["a"]}, ("value_error", ["header", "Idempotency-Key"]),
               headers={"Idempotency-Key": bad})
    twice = server().raw(b"POST %s HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\r\n"
                         b"Idempotency-Key: b\r\nContent-Length: 18\r\nConnection: close\r\n\r\n"
                         b'{"card_ids":["a"]}' % path.encode())
    assert b" 422 " in twice.partition(b"\r\n")[0], twice


def test_one_key_at_once():
    """32 clients, one key: one append, and 32 answers that are equal to the byte."""
    for turn in range(3 if LIGHT else 20):
        made = new_box("race", "seed")
        path = url("race", "boxes", made, "append")
        body = json.dumps({"card_ids": [f"card-{turn}"]}).encode()
        headers = {**JSON, "Idempotency-Key": f"turn-{turn}"}
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(
                lambda _: server().request("POST", path, body, headers), range(32)))
        assert {(a.status, a.body) for a in answers} == {(200, answers[0].body)}, answers
        assert sum(a.header("Idempotent-Replayed") is None for a in answers) == 1
        assert answers[0].json() == {"box_id": made, "version": 2, "length": 2}
        assert box("race", made)["card_ids"] == ["seed", f"card-{turn}"]


def test_expected_version_at_once():
    """Of many that expect the same version one wins; the others learn the version."""
    made = new_box("race")
    path = url("race", "boxes", made, "append")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: server().post(
            path, {"card_ids": [f"card-{n}"], "expected_version": 1}), range(16)))
    assert sorted(a.status for a in answers) == [200] + [409] * 15
    assert all(a.json()["detail"]["current_version"] == 2 for a in answers if a.status == 409)
    assert box("race", made)["length"] == 1


def test_replace():
    made = new_box("replace", "a", "b")
    path = url("replace", "boxes", made)
    assert send("PUT", path, {"card_ids": ["c"]}) == {"box_id": made, "version": 2, "length": 1}
    assert send("PUT", path, {"card_ids": ["c"]})["version"] == 2  # the same list: no change
    assert send("PUT", path, {"card_ids": [], "expected_version": 2})["version"] == 3
    detail = refused("PUT", path, {"card_ids": ["x"], "expected_version": 2}, 409, "conflict",
                     "at version 3")
    assert detail["current_version"] == 3
    fresh = str(uuid.uuid4())
    refused("PUT", url("replace", "boxes", fresh), {"card_ids": ["a"], "expected_version": 1}, 404,
            "not_found", "box not found")
    assert send("PUT", url("replace", "boxes", fresh.upper()), {"card_ids": ["a"]}) == {
        "box_id": fresh, "version": 1, "length": 1}
    faults("PUT", url("replace", "boxes", "no-uuid"), {"card_ids": []},
           ("uuid_parsing", ["path", "box_id"]))
    send("DELETE", path)
    refused("PUT", path, {"card_ids": []}, 410, "gone", "deleted")


def test_replace_if_match():
    made = new_box("match", "a")
    path = url("match", "boxes", made)

    def put(tag, status=200, ids=("b",), **members):
        return send("PUT", path, {"card_ids": list(ids), **members}, {"If-Match": tag},
                    expect=status)

    assert put('"1-0123abcd"')["version"] == 2
    detail = put('"1-0123abcd"', 412, ids=["c"])["detail"]
    assert detail["error_code"] == "precondition_failed" and detail["current_version"] == 2
    assert put("*", ids=["c"])["version"] == 3
    for tag in ('"3-a", "4-b"', 'W/"3-a"', "3-a", '"3"', '"x-y"', '""', '"0-a"', '"' + "9" * 30 + '-a"'):
        assert put(tag, 400)["detail"]["error_code"] == "bad_request"
    detail = put('"3-a"', 422, expected_version=3)["detail"]["faults"]
    assert detail[0]["loc"] == ["header", "If-Match"]
    for tag in ("*", '"1-a"'):
        detail = refused("PUT", url("match", "boxes", NOWHERE), {"card_ids": []}, 412,
                         "precondition_failed", "box not found", headers={"If-Match": tag})
        assert "current_version" not in detail
    assert server().get(url("match", "boxes", NOWHERE)).status == 404


def test_fork():
    made = new_box("fork", *[f"c{n}" for n in range(70)])
    send("POST", url("fork", "boxes", made, "append"), {"card_ids": ["late"]})
    path = url("fork", "boxes", made, "fork")
    whole = send("POST", path)
    assert (whole["version"], whole["length"]) == (1, 71)
    got = box("fork", whole["box_id"])
    assert got["parent_ids"] == [made] and got["card_ids"] == box("fork", made)["card_ids"]
    wanted = str(uuid.uuid4())
    assert send("POST", path, {"box_id": wanted, "at_version": 1}) == {
        "box_id": wanted, "version": 1, "length": 70}
    assert send("POST", path, {"at_length": 0})["length"] == 0
    assert send("POST", path, {"at_length": 3})["length"] == 3
    faults("POST", path, {"at_length": 3, "at_version": 1}, ("value_error", ["body"]))
    detail = refused("POST", path, {"box_id": wanted}, 409, "conflict",
                     "the box exists: it is at version 1")
    assert detail["current_version"] == 1
    for query in ({"at_version": 9}, {"at_length": 72}):
        refused("POST", path, query, 404, "not_found",
                "no such version of the box: it has versions 1 to 2, and 71 ids now")
    refused("POST", url("fork", "boxes", NOWHERE, "fork"), {}, 404, "not_found", "box not found")


def test_delete_a_box():
    made = new_box("fork", "a")
    for _ in range(2):
        assert send("DELETE", url("fork", "boxes", made)) == {"box_id": made, "deleted": True}
    refused("GET", url("fork", "boxes", made), None, 404, "not_found", "box not found")
    for missing in (NOWHERE, "no-uuid"):
        refused("DELETE", url("fork", "boxes", missing), None, 404, "not_found", "box not found")


def test_results_of_the_same_calls():
    """However many add results of the same calls at once: each call has one, and nobody's statement
    stood crosswise to another's, which PostgreSQL would count."""
    calls, rounds = [f"call-{number:02d}" for number in range(40)], 6 if LIGHT else 25

    def deadlocks():
        return int(Postgres.shared().psql(dsn(), "SELECT deadlocks FROM pg_stat_database"
                                                 " WHERE datname = current_database()"))

    def results(round_number):
        order = [f"{round_number}-{call}" for call in calls]
        random.shuffle(order)
        return [{"card_id": str(uuid.uuid4()), "type": "tool.result", "tool_call_id": call, "content": 1}
                for call in order]

    before = deadlocks()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for number in range(rounds):
            alone = results(number)[:4]
            answers = list(pool.map(lambda cards: server().post(url("results", "cards"), cards),
                                    [{"cards": results(number)} for _ in range(4)] + alone))
            assert {answer.status for answer in answers} <= {200, 409}, answers
    held = Postgres.shared().psql(dsn(), "SELECT count(*), count(DISTINCT tool_call_id) FROM cardbox.cards"
                                         " WHERE tenant_id = 'results'").strip().split("|")
    assert held[0] == held[1] and int(held[0]) >= rounds * 4, held
    time.sleep(1.2)  # sessions tell their counts once a second
    server().get(url("results", "cards"))
    assert deadlocks() == before


def test_a_deleted_box():
    """What would make it anew hears that its id is taken; to all else there is no such box."""
    source, made = new_box("dead", "a"), new_box("dead", "a")
    path = url("dead", "boxes", made)
    send("DELETE", path)
    for method, where, body in (("POST", url("dead", "boxes"), {"box_id": made}),
                                ("PUT", path, {"card_ids": ["b"]}),
                                ("POST", url("dead", "boxes", source, "fork"), {"box_id": made})):
        detail = refused(method, where, body, 410, "gone",
                         "the box was deleted: choose another id. It was at version 1")
        assert "current_version" not in detail
    for method, where, body in (("GET", path, None), ("GET", path + "/cards", None),
                                ("GET", path + "/log", None),
                                ("POST", path + "/append", {"card_ids": ["b"]}), ("POST", path + "/fork", {}),
                                ("PUT", path, {"card_ids": ["b"], "expected_version": 9})):
        refused(method, where, body, 404, "not_found", "box not found")


def test_content_classes():
    """What names a known class keeps its rules, or the fault names the field; and stays as it came."""
    path = url("classes", "cards")
    wrong = [({"__type__": "TextContent"}, "text"), ({"__type__": "TextContent", "text": 1}, "text"),
             ({"__type__": "JsonContent", "data": 1}, "data"),
             ({"__type__": "FileContent", "uri": "ftp://b/k", "checksum": "x"}, "uri"),
             ({"__type__": "ToolResultContent", "status": "ok", "after_execution": "wait"}, "after_execution")]
    for content, field in wrong:
        assert field in faults("POST", path, {"content": content}, ("value_error", ["body", "content"]))[0]["msg"]
    detail = faults("POST", path, {"cards": [{"content": 1}, {"content": wrong[0][0]}]},
                    ("value_error", ["body", "cards", 1, "content"]))
    assert "text" in detail[0]["msg"]
    answer = server().post(url("classes", "abilities", "card:add"), {"content": wrong[0][0]})
    assert answer.status == 422 and "text" in json.dumps(answer.json()), answer
    for number, text in enumerate(('{"text":"a\\u0000b" , "__type__":"TextContent"}', '{"__type__":"NoSuchContent"}',
                                   '["__type__"]', '{"a":{"__type__":"TextContent"}}')):
        send("POST", path, f'{{"card_id":"c{number}","content":{text}}}'.encode())
    assert send("GET", path + "/c1")["content"] == {"__type__": "NoSuchContent"}
    answer = server().get(url("classes", "export")).body.decode()
    assert '"content":{"text":"a\\u0000b" , "__type__":"TextContent"}' in answer, answer


def test_long_index_keys():
    """What is too long for an index is a fault of its card, not of the statement."""
    for name in ("type", "step_id", "trace_id", "agent_turn_id"):
        for value in ("\u00e4" * 700, {"x": os.urandom(3000).hex()}):
            faults("POST", url("keys", "cards"), {"content": 1, "metadata": {name: value}},
                   ("value_error", ["body", name]))
        add("keys", {"content": 1, "metadata": {name: "x" * 1000}})


def test_faults_of_boxes():
    made = new_box("faults")
    append, replace = url("faults", "boxes", made, "append"), url("faults", "boxes", made)
    for method, path in (("POST", append), ("PUT", replace)):
        faults(method, path, {}, ("missing", ["body", "card_ids"]))
        faults(method, path, b"", ("missing", ["body"]))
        faults(method, path, {"card_ids": "a", "expected_version": 0, "x": 1},
               ("list_type", ["body", "card_ids"]),
               ("greater_than_equal", ["body", "expected_version"]),
               ("extra_forbidden", ["body", "x"]))
        faults(method, path, {"card_ids": ["a", 1, "", "x" * 513]},
               ("string_type", ["body", "card_ids", 1]), ("value_error", ["body", "card_ids", 2]),
               ("value_error", ["body", "card_ids", 3]))
        faults(method, path, rb'{"card_ids":["\u0000"]}', ("value_error", ["body", "card_ids", 0]))
        refused(method, path, b'{"card_ids":["a"],"card_ids":["b"]}', 400, "bad_request", "same name")
    faults("POST", append, {"card_ids": []}, ("too_short", ["body", "card_ids"]))
    faults("POST", url("faults", "boxes"), {"box_id": "x", "parent_ids": ["y", 1], "name": "z"},
           ("uuid_parsing", ["body", "box_id"]), ("uuid_parsing", ["body", "parent_ids", 0]),
           ("string_type", ["body", "parent_ids", 1]), ("extra_forbidden", ["body", "name"]))
    faults("POST", url("faults", "boxes", made, "fork"), {"at_version": 0, "at_length": -1},
           ("greater_than_equal", ["body", "at_version"]),
           ("greater_than_equal", ["body", "at_length"]))
    assert box("faults", made)["version"] == 1


# --- tenants, modes, hostility ---


def test_tenants_do_not_meet():
    wanted = str(uuid.uuid4())
    for tenant in ("red", "blue"):
        add(tenant, {"card_id": "same", "content": {"owner": tenant}})
        assert new_box(tenant, "same", box_id=wanted) == wanted
    send("POST", url("red", "boxes", wanted, "append"), {"card_ids": ["x"]}, {"Idempotency-Key": "k"})
    blue = send("POST", url("blue", "boxes", wanted, "append"), {"card_ids": ["y", "z"]},
                {"Idempotency-Key": "k"})
    assert blue == {"box_id": wanted, "version": 2, "length": 3}
    send("PUT", url("red", "boxes", wanted), {"card_ids": []})
    assert box("blue", wanted)["card_ids"] == ["same", "y", "z"]
    send("DELETE", url("red", "cards", "same"))
    send("DELETE", url("red", "boxes", wanted))
    assert send("GET", url("blue", "cards", "same"))["content"] == {"owner": "blue"}
    assert box("blue", wanted)["length"] == 3
    assert server().get(url("red", "boxes", wanted)).status == 404


WRITES = [("POST", ("cards",)), ("DELETE", ("cards", "x")), ("POST", ("boxes",)),
          ("POST", ("boxes", NOWHERE, "append")), ("PUT", ("boxes", NOWHERE)),
          ("POST", ("boxes", NOWHERE, "fork")), ("DELETE", ("boxes", NOWHERE))]


def test_read_only():
    reader = Server(dsn(), "--read-only")
    for method, rest in WRITES:
        answer = reader.request(method, url("ro", *rest), b'{"content":1}', JSON)
        detail = answer.json()["detail"]
        assert answer.status == 403 and detail["error_code"] == "forbidden" and detail["hint"], answer
    assert reader.get(url("ro", "cards")).json() == {"cards": [], "next_cursor": None}
    assert reader.post(url("ro", "cards", "batch"), {"card_ids": []}).status == 200
    reader.stop()
    assert send("GET", url("ro", "cards"))["cards"] == []


def test_the_forms_of_422():
    """The five reads answer with the plain list of the source documents, all others with one object."""
    box = new_box("forms")
    reads = [("GET", url("forms", "boxes", box) + "?at_version=x", None),
             ("GET", url("forms", "boxes", box, "cards") + "?limit=x", None),
             ("GET", url("forms", "boxes", box, "cards") + "?at_version=1&at_length=1", None),
             ("POST", url("forms", "cards", "batch"), {"card_ids": [1]}),
             ("POST", url("forms", "boxes", "batch"), b"")]
    for method, path, body in reads:
        fault, = send(method, path, body, expect=422)["detail"]
        assert {"type", "loc", "msg"} <= set(fault), fault
    others = [("GET", url("forms", "boxes", box, "context") + "?at_version=1&at_length=1", None),
              ("GET", url("forms", "boxes") + "?limit=x", None),
              ("POST", url("forms", "boxes", box, "append"), {"card_ids": "x"}),
              ("POST", url("forms", "abilities", "card:get"), {"card_id": 1}),
              ("POST", url("forms", "abilities", "card:get") + "?x=1", {})]
    for method, path, body in others:
        detail = send(method, path, body, expect=422)["detail"]
        assert detail["error_code"] == "validation_failed" and detail["error_message"], detail
        fault, = detail["faults"]
        assert {"type", "loc", "msg"} <= set(fault) and fault["msg"] in detail["error_message"], detail
    detail = send("POST", url("forms", "cards"), {"content": 1, "a\"\n/b": 2, "x": 3}, expect=422)["detail"]
    assert [fault["loc"] for fault in detail["faults"]] == [["body", "a\"\n/b"], ["body", "x"]], detail
    assert detail["error_message"].endswith("; 1 more"), detail


def test_conditions_that_are_not_taken():
    """A header that should keep a change from happening is not ignored."""
    box = send("POST", url("conditions", "boxes"), {})["box_id"]
    refused = [("PUT", ("boxes", box), "If-None-Match"), ("DELETE", ("boxes", box), "If-Match"),
               ("POST", ("boxes", box, "seal"), "If-Match"), ("POST", ("cards",), "If-None-Match"),
               ("POST", ("boxes",), "Idempotency-Key"), ("POST", ("boxes", box, "fork"), "Idempotency-Key")]
    for method, rest, header in refused:
        body = b'{"card_ids":["a"]}' if rest[-1] != "cards" else b'{"content":1}'
        answer = server().request(method, url("conditions", *rest), body, {**JSON, header: '"1-a"'})
        detail = answer.json()["detail"]
        assert answer.status == 400 and header in detail["error_message"] and detail["hint"], answer
    assert send("GET", url("conditions", "boxes", box))["version"] == 1


def test_pages_of_other_sites():
    """A page in a browser on this machine can send such requests without being asked."""
    body = b'{"content":1}'
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server().port + 1}"):
        for headers in ({}, JSON):
            for method, rest in WRITES:
                answer = server().request(method, url("other-site", *rest), body, {**headers, "Origin": origin})
                assert answer.status == 403 and answer.json()["detail"]["hint"], answer
    own = {**JSON, "Origin": f"http://127.0.0.1:{server().port}"}
    assert server().request("POST", url("same-site", "cards"), body, own).status == 200
    assert send("GET", url("other-site", "cards"))["cards"] == []


HOSTILE = [b"\x00", b"\xef\xbb\xbf{}", b"[" * 100000, b'{"a":' * 50000, b'{"cards":' + b"[" * 500,
           b'"' * 99999, b"-", b'{"content":1e}', b'{"content":"\\u12"}', b"{}" * 1000,
           b'{"cards":[' + b"{}," * 99999 + b"{}]}", b'{"card_ids":[' + b'"",' * 99999 + b'""]}',
           b'{"content":' + b"9" * 900000 + b"}", b'{"content":"' + b"\\u0000" * 99999 + b'"}',
           b'{"x":1,' * 5000, b'{"' + b"k" * 99999 + b'":1}', b'{"metadata":{"a":1e999999},"content":1}',
           b'{"card_ids":["a"],"expected_version":1e999}', b'{"ttl_seconds":1e18,"content":1}']


def test_hostile_bodies():
    """Whatever comes, the answer is the client's fault or success, and the server goes on."""
    made = new_box("hostile")
    for method, rest in [*WRITES, ("PUT", ("boxes", made)), ("POST", ("boxes", made, "append"))]:
        for body in HOSTILE:
            answer = server().request(method, url("hostile", *rest), body, JSON)
            assert answer.status in (200, 400, 404, 409, 413, 422), (method, rest, body[:50], answer)
            answer.json()
    assert server().alive() and send("GET", url("hostile", "boxes", made))["box_id"] == made


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

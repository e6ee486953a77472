#!/usr/bin/env python3
"""An append with "create" makes the session: together with its first entries, once, or not at all."""

import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import ask
from cardbox_test import session_url as url

PLAIN = {"dialect": "plain"}
USER = {"id": "u", "type": "user", "content": "hello"}


def append(session, *entries, status=200, create=PLAIN, **more):
    headers = more.pop("headers", {})
    body = {"entries": list(entries), "create": create, **more}
    return ask("POST", url(session, "entries"), body, status, **headers).json()


def test_created_with_its_first_entries():
    assert append("new", USER)["version"] == 2
    made = ask("GET", url("new")).json()
    assert (made["dialect"], made["entries"], made["head_entry_id"]) == ("plain", 1, "u")
    answer = append("new", {"id": "v", "type": "user", "content": "again"})
    assert answer["version"] == 3 and answer["entries"][0]["outcome"] == "appended"
    ask("PUT", url("twin"), PLAIN)
    ask("POST", url("twin", "entries"), {"entry": USER})
    same = ("dialect", "entries", "version", "header", "head_entry_id")
    append("as-twin", USER)
    assert [ask("GET", url("twin")).json()[key] for key in same] == [ask("GET", url("as-twin")).json()[key] for key in same]


def test_pi():
    message = {"id": "m", "type": "message", "message": {"role": "user", "content": "hi"}}
    append("pi", message, create={"dialect": "pi"})
    header = ask("GET", url("pi")).json()["header"]
    assert header["type"] == "session" and header["id"] == "pi"
    own = {"type": "session", "version": 3, "id": "x", "cwd": "/own"}
    append("pi-own", message, create={"header": own})
    assert ask("GET", url("pi-own")).json()["header"] == own
    append("pi-cwd", message, create={"cwd": "/here"})
    assert ask("GET", url("pi-cwd")).json()["header"]["cwd"] == "/here"
    append("either", message, create={})
    assert ask("GET", url("either")).json()["dialect"] == "pi"


def test_nothing_is_left_behind():
    """Refused by the database, or before."""
    label = {"id": "l", "type": "label", "targetId": "unknown", "label": "x"}
    refused = [
        (404, PLAIN, [{**USER, "parentId": "unknown"}]),
        (404, PLAIN, [label]),
        (404, {"dialect": "pi"}, [label]),
        (422, PLAIN, [USER, {**USER, "parentId": None, "content": "other"}]),
        (422, PLAIN, [{"id": "m", "type": "message", "message": {"role": "user", "content": "hi"}}]),
        (422, PLAIN, [{"id": "u", "type": "user"}]),
    ]
    for status, create, entries in refused:
        detail = append("left", *entries, create=create, status=status)["detail"]
        assert "current_version" not in detail, detail
        ask("GET", url("left"), status=404)
    append("left", USER, expected_version=1, status=404)
    ask("POST", url("left", "entries"), {"entry": USER, "create": PLAIN}, 412, If_Match="*")
    ask("GET", url("left"), status=404)
    append("left", USER)


def test_an_existing_session():
    ask("PUT", url("empty"), PLAIN)
    as_put = ask("PUT", url("empty"), {"dialect": "pi"}, 409).json()["detail"]
    label = {"type": "session_info", "name": "x"}
    assert append("empty", label, create={"dialect": "pi"}, status=409)["detail"] == as_put
    assert ask("GET", url("empty")).json()["version"] == 1
    assert append("empty", USER)["version"] == 2
    assert append("empty", {**USER, "id": "w"}, expected_version=2)["version"] == 3
    detail = append("empty", {**USER, "id": "x"}, expected_version=2, status=409)["detail"]
    assert detail["current_version"] == 3
    ask("PUT", url("unknown"), {})
    append("unknown", USER)


def test_bad_values():
    for create in ({"dialect": "xml"}, {"strict": True}, {"name": "x"}, [], "plain", {"dialect": "plain", "cwd": "/"},
                   {"header": {"type": "session"}, "cwd": "/"}, {"header": 1}, {"header": {"type": "user"}}):
        append("bad", USER, create=create, status=422)
        ask("GET", url("bad"), status=404)


def test_replay():
    """The key is that of the append: a repeated request creates and appends nothing."""
    key = {"headers": {"Idempotency_Key": "k"}}
    first = ask("POST", url("key", "entries"), {"entry": USER, "create": PLAIN}, Idempotency_Key="k")
    append("key", {**USER, "id": "later"})
    again = ask("POST", url("key", "entries"), {"entry": USER, "create": PLAIN}, Idempotency_Key="k")
    assert again.header("Idempotent-Replayed") == "true" and first.header("Idempotent-Replayed") is None
    assert again.json()["version"] == first.json()["version"] == 2
    assert append("key", {**USER, "id": "other"}, status=409, **key)["detail"]["error_code"] == "conflict"
    assert ask("GET", url("key")).json()["entries"] == 2
    append("key-refused", {**USER, "parentId": "unknown"}, status=404, **key)
    assert append("key-refused", USER, **key)["version"] == 2


def test_deleted_session():
    append("gone", USER)
    ask("DELETE", url("gone"))
    assert append("gone", USER, status=410)["detail"]["error_code"] == "gone"
    append("gone", USER, create={**PLAIN, "restore": False}, expected_version=1, status=404)
    append("gone", {**USER, "parentId": "unknown"}, create={**PLAIN, "restore": True}, status=404)
    append("gone", USER, create={**PLAIN, "restore": True}, expected_version=1, status=404)
    assert append("gone", USER, status=410)["detail"]["error_code"] == "gone"
    assert append("gone", USER, create={**PLAIN, "restore": True})["version"] == 2
    assert append("gone", USER, create={**PLAIN, "restore": True})["entries"][0]["outcome"] == "unchanged"
    append("gone", USER, create={"restore": "yes"}, status=422)


def test_concurrent_creators():
    """Every creator appends to one session; an append that fails does not remove the session of another."""
    def create(number):
        entry = {"id": f"e{number}", "type": "user", "content": "x"}
        if number % 4 == 3:
            append(session, {**entry, "parentId": "unknown"}, status=404)
        else:
            append(session, entry)
    for turn in range(10):
        session = f"race-{turn}"
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(create, range(8)))
        made = ask("GET", url(session)).json()
        assert (made["entries"], made["version"]) == (6, 7), made
        path = ask("GET", url(session, "path")).json()["path"]
        assert len(path) == 6, "the entries form one chain"


def test_ability():
    path = url("x").split("/sessions")[0] + "/abilities/session:append"
    body = {"session_id": "by-ability", "entries": [USER], "create": PLAIN}
    assert ask("POST", path, body).json()["version"] == 2
    ask("POST", path, {**body, "session_id": "no", "create": {"dialect": "plain", "cwd": "/"}}, 422)
    ask("POST", path, {**body, "create": {"dialect": "pi"}, "entries": [{"type": "session_info", "name": "x"}]}, 409)
    assert ask("GET", url("by-ability")).json()["version"] == 2


if __name__ == "__main__":
    cardbox_test.main()

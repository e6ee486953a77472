#!/usr/bin/env python3
"""A stale version of a box or a session: 412 with If-Match, 409 with expected_version, for each change
that accepts either."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import ask, url

PROJECT = "versions"
NO_BOX = "01970000-0000-7000-8000-0000000000fe"


def new_box():
    made = ask("POST", url(PROJECT, "boxes"), {}).json()["box_id"]
    ask("POST", url(PROJECT, "boxes", made, "append"), {"card_ids": ["a"]})
    return url(PROJECT, "boxes", made)


def new_session():
    path = url(PROJECT, "sessions", f"s{new_session.count}")
    new_session.count += 1
    ask("PUT", path, {"dialect": "plain"})
    entries = [{"id": name, "type": "user", "content": name} for name in ("first", "second")]
    ask("POST", path + "/entries", {"entries": entries})
    return path


new_session.count = 0

# The object, its missing twin, the method, the rest of the path, and the body of the change.
CHANGES = [
    (new_box, url(PROJECT, "boxes", NO_BOX), "POST", "/append", {"card_ids": ["b"]}),
    (new_box, url(PROJECT, "boxes", NO_BOX), "PUT", "", {"card_ids": ["b"]}),
    (new_session, url(PROJECT, "sessions", "none"), "POST", "/entries", {"entry": {"type": "user", "content": "x"}}),
    (new_session, url(PROJECT, "sessions", "none"), "PUT", "/head", {"entry_id": "first"}),
]


def test_stale_versions():
    for make, missing, method, rest, body in CHANGES:
        path = make()
        before = ask("GET", path)
        assert before.json()["version"] == 2 and before.header("ETag").startswith('"2-'), before

        detail = ask(method, path + rest, body, 412, If_Match='"1-any"').json()["detail"]
        assert detail["error_code"] == "precondition_failed" and detail["current_version"] == 2, detail
        detail = ask(method, path + rest, {**body, "expected_version": 1}, 409).json()["detail"]
        assert detail["error_code"] == "conflict" and detail["current_version"] == 2, detail
        assert ask("GET", path).body == before.body

        detail = ask(method, missing + rest, body, 412, If_Match="*").json()["detail"]
        assert detail["error_code"] == "precondition_failed" and "current_version" not in detail
        ask("GET", missing, status=404)

        assert ask(method, path + rest, body, If_Match=before.header("ETag")).json()["version"] == 3
        ask(method, path + rest, body, 412, If_Match=before.header("ETag"))


def test_versions_that_are_current():
    for make, _, method, rest, body in CHANGES:
        assert ask(method, make() + rest, {**body, "expected_version": 2}).json()["version"] == 3
        assert ask(method, make() + rest, body, If_Match="*").json()["version"] == 3


def test_bad_conditions():
    for make, _, method, rest, body in CHANGES:
        path = make()
        for tag in ('"2-a", "3-b"', 'W/"2-a"', "2-a", '"2"', '"x-y"', '""'):
            assert ask(method, path + rest, body, 400, If_Match=tag).json()["detail"]["error_code"] == "bad_request"
        ask(method, path + rest, {**body, "expected_version": 2}, 422, If_Match='"2-a"')
        ask(method, path + rest, {**body, "expected_version": 0}, 422)
        assert ask("GET", path).json()["version"] == 2


def test_other_conflicts_with_if_match():
    """Only a wrong version and a missing object are unmet preconditions."""
    path = new_session()
    body = {"entry_id": "first", "expected_head": "first"}
    assert ask("PUT", path + "/head", body, 409, If_Match='"2-a"').json()["detail"]["error_code"] == "conflict"
    ask("PUT", path + "/head", {"entry_id": "unknown"}, 404, If_Match='"2-a"')
    entry = {"id": "first", "type": "user", "content": "other"}
    ask("POST", path + "/entries", {"entry": entry}, 409, If_Match='"2-a"')
    ask("POST", path + "/entries", {"entry": {**entry, "id": "third", "parentId": "unknown"}}, 404, If_Match='"2-a"')


def test_other_changes_refuse_if_match():
    box, session = new_box(), new_session()
    for method, path, body in (("DELETE", box, None), ("POST", box + "/seal", {}), ("POST", box + "/fork", {}),
                               ("DELETE", session, None), ("POST", session + "/fork", {}), ("PUT", session, {})):
        detail = ask(method, path, body, 400, If_Match='"2-a"').json()["detail"]
        assert "If-Match" in detail["error_message"] and detail["hint"], detail
    assert ask("GET", box).json()["version"] == ask("GET", session).json()["version"] == 2


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Sealed boxes over HTTP: what sealing answers, what a sealed box refuses and what it allows, appends
that meet a seal, and imports."""

import concurrent.futures
import json
import os
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, dsn, server, url

JSON = {"Content-Type": "application/json"}
ROUNDS = 5 if LIGHT else 15


def send(method, path, body=None, headers=None, expect=200):
    data = None if body is None else json.dumps(body).encode()
    answer = server().request(method, path, data, {**JSON, **(headers or {})})
    assert answer.status == expect, f"{answer.status} instead of {expect}: {answer.body[:600]!r}"
    return answer.json()


def refused(method, path, body=None, headers=None):
    detail = send(method, path, body, headers, expect=409)["detail"]
    assert detail["error_code"] == "conflict" and "sealed" in detail["error_message"], detail
    return detail


def new_box(tenant, *ids, **members):
    return send("POST", url(tenant, "boxes"), {"card_ids": list(ids), **members})["box_id"]


def seal(tenant, box, expect=200):
    return send("POST", url(tenant, "boxes", box, "seal"), {}, expect=expect)


def log_of(tenant, box):
    return [(row["version"], row["op"], row["added"], row["card_ids"])
            for row in send("GET", url(tenant, "boxes", box, "log"))["log"]]


def test_answer_is_the_box():
    box = new_box("s", "a", "b", parent_ids=[str(uuid.uuid4())])
    before = send("GET", url("s", "boxes", box))
    assert before["sealed"] is False
    sealed = seal("s", box)
    assert sealed == {**before, "version": 2, "updated_at": sealed["updated_at"], "sealed": True}
    assert sealed["updated_at"] > before["updated_at"]
    got = server().get(url("s", "boxes", box))
    assert got.json() == sealed
    assert log_of("s", box) == [(2, "seal", 0, []), (1, "create", 2, ["a", "b"])]


def test_sealed_before():
    box = new_box("s", "a")
    first = seal("s", box)
    assert seal("s", box) == first == send("POST", url("s", "abilities", "box:seal"), {"box_id": box})
    assert len(log_of("s", box)) == 2


def test_body_of_a_seal():
    box = new_box("s")
    path = url("s", "boxes", box, "seal")
    assert server().request("POST", path, b"", JSON).status == 200
    for body in ({"expected_version": 1}, [], {"sealed": True}):
        send("POST", path, body, expect=422)
    send("POST", path + "?x=1", {}, expect=422)
    for nothing in ("nothing", str(uuid.uuid4())):
        assert seal("s", nothing, expect=404)["detail"]["error_message"] == "box not found"


def test_changes_are_conflicts():
    box = new_box("s", "a", "b")
    seal("s", box)
    path = url("s", "boxes", box)
    changes = [("POST", path + "/append", {"card_ids": ["c"]}),
               ("POST", path + "/append", {"card_ids": ["c"], "expected_version": 2}),
               ("POST", path + "/append", {"card_ids": ["c"], "expected_version": 1}),
               ("POST", path + "/append", {"card_ids": ["c"] * 100}),
               ("PUT", path, {"card_ids": ["c"]}), ("PUT", path, {"card_ids": ["a", "b"]}),
               ("PUT", path, {"card_ids": ["c"], "expected_version": 2}), ("DELETE", path, None)]
    for change in changes:
        refused(*change)
    assert refused(*changes[0])["current_version"] == 2
    refused("POST", path + "/append", {"card_ids": ["c"]}, {"Idempotency-Key": "k"})
    refused("PUT", path, {"card_ids": ["c"]}, {"If-Match": '"2-any"'})
    for name, more in (("append", {"card_ids": ["c"]}), ("replace", {"card_ids": []}), ("delete", {})):
        detail = send("POST", url("s", "abilities", f"box:{name}"), {"box_id": box, **more}, expect=409)["detail"]
        assert "sealed" in detail["error_message"], detail
    now = send("GET", path)
    assert (now["card_ids"], now["version"]) == (["a", "b"], 2)


def test_a_replayed_key_gets_its_first_answer():
    box = new_box("s")
    path, key = url("s", "boxes", box, "append"), {"Idempotency-Key": "turn-1"}
    first = send("POST", path, {"card_ids": ["a"]}, key)
    send("POST", path, {"card_ids": ["b"]})
    seal("s", box)
    again = server().request("POST", path, b'{"card_ids":["a"]}', {**JSON, **key})
    assert (again.status, again.json()) == (200, first) and again.header("Idempotent-Replayed") == "true"
    detail = send("POST", path, {"card_ids": ["x"]}, key, expect=409)["detail"]
    assert "other ids" in detail["error_message"], detail


def test_forks_are_not_sealed():
    box = new_box("s", *[f"c-{n}" for n in range(130)])
    seal("s", box)
    for how, length in (({}, 130), ({"at_version": 1}, 130), ({"at_version": 2}, 130), ({"at_length": 3}, 3)):
        fork = send("POST", url("s", "boxes", box, "fork"), how)["box_id"]
        got = send("GET", url("s", "boxes", fork))
        assert got["sealed"] is False and got["length"] == length, how
        assert send("POST", url("s", "boxes", fork, "append"), {"card_ids": ["x"]})["length"] == length + 1


def test_where_sealed_is_shown():
    box, other = new_box("shown", "a"), new_box("shown", "a")
    seal("shown", box)
    for path in (url("shown", "boxes"), url("shown", "cards", "a", "boxes")):
        assert {row["box_id"]: row["sealed"] for row in send("GET", path)["boxes"]} == {box: True, other: False}
    path = url("shown", "boxes", box)
    assert [send("GET", f"{path}?at_version={n}")["sealed"] for n in (1, 2)] == [False, True]
    assert send("GET", path + "?at_length=1")["sealed"] is True
    assert send("GET", path + "?offset=0&limit=1")["sealed"] is True


def test_the_etag_changes():
    box = new_box("s", "a")
    path = url("s", "boxes", box)
    before = server().get(path).header("ETag")
    assert before.startswith('"1-')
    seal("s", box)
    after = server().get(path, {"If-None-Match": before})
    assert after.status == 200 and after.header("ETag").startswith('"2-')


def test_a_long_box():
    ids = [f"card-{n}" for n in range(10000)]
    box = new_box("long", *ids)
    for _ in range(11):
        send("POST", url("long", "boxes", box, "append"), {"card_ids": ids})
    sealed = seal("long", box)
    assert sealed["sealed"] is True and sealed["card_ids"] == ids * 12
    detail = send("POST", url("long", "abilities", "box:seal"), {"box_id": box}, expect=413)["detail"]
    assert "the box is sealed" in detail["error_message"], detail


def test_ensure_and_create():
    box = str(uuid.uuid4())
    new_box("s", "a", box_id=box)
    seal("s", box)
    detail = send("POST", url("s", "boxes"), {"box_id": box}, expect=409)["detail"]
    assert "the box exists" in detail["error_message"], detail


def test_tenants_do_not_meet():
    box = new_box("mine", "a")
    seal("other", box, expect=404)
    new_box("other", "b", box_id=box)
    seal("other", box)
    assert send("GET", url("mine", "boxes", box))["sealed"] is False
    send("POST", url("mine", "boxes", box, "append"), {"card_ids": ["c"]})
    refused("POST", url("other", "boxes", box, "append"), {"card_ids": ["c"]})


def test_appends_meet_a_seal():
    """An append lands before the seal, or is refused."""
    for _ in range(ROUNDS):
        box = new_box("race")
        path = url("race", "boxes", box)

        def append(n):
            answer = server().post(path + "/append", {"card_ids": [f"c-{n}"]})
            assert answer.status in (200, 409), answer
            return answer

        with concurrent.futures.ThreadPoolExecutor(17) as clients:
            appends = [clients.submit(append, n) for n in range(60)]
            sealed = clients.submit(seal, "race", box).result()
            answers = [done.result() for done in appends]
        landed = [f"c-{n}" for n, answer in enumerate(answers) if answer.status == 200]
        assert sorted(sealed["card_ids"]) == sorted(landed), (sealed, landed)
        assert all(answer.json()["version"] < sealed["version"] for answer in answers if answer.status == 200)
        assert all(b"sealed" in answer.body for answer in answers if answer.status == 409)
        assert send("GET", path) == sealed and log_of("race", box)[0][1] == "seal"


def transfer(tenant, rows=None):
    if rows is None:
        return server().get(f"/projects/{tenant}/export").body.decode()
    answer = server().request("POST", f"/projects/{tenant}/import", rows.encode(), {"Content-Type": "application/x-ndjson"})
    assert answer.status == 200, answer
    return answer.json()


def test_round_trip():
    box, plain = new_box("from", "a", "b"), new_box("from", "a")
    seal("from", box)
    rows = transfer("from")
    counts = transfer("into", rows)
    assert counts["boxes"]["inserted"] == 2 and not counts["errors"], counts
    assert [send("GET", url("into", "boxes", one))["sealed"] for one in (box, plain)] == [True, False]
    assert [row[1] for row in log_of("into", box)] == ["seal", "create"]
    assert transfer("into") == rows
    assert transfer("into", rows)["boxes"]["unchanged"] == 2
    assert len(log_of("into", box)) == 2


def row_of(box, ids, **members):
    return json.dumps({"kind": "box", "box_id": box, "card_ids": ids, **members}) + "\n"


def test_import_would_change_a_sealed_box():
    box = new_box("target", "a")
    seal("target", box)
    counts = transfer("target", row_of(box, ["b"]) + row_of(box, ["b"], sealed=True) + row_of(box, ["a"]))
    assert counts["boxes"]["refused"] == 2 and counts["boxes"]["unchanged"] == 1, counts
    assert [error["line"] for error in counts["errors"]] == [1, 2]
    assert all("sealed" in error["reason"] for error in counts["errors"]), counts
    assert send("GET", url("target", "boxes", box))["card_ids"] == ["a"]


def test_import_seals():
    """A box with the same ids is sealed, and one with other ids is replaced and sealed."""
    same, other = new_box("target", "a"), new_box("target", "a")
    counts = transfer("target", row_of(same, ["a"], sealed=True) + row_of(other, ["b"], sealed=True))
    assert counts["boxes"]["repaired"] == 2, counts
    assert [row[1] for row in log_of("target", same)] == ["seal", "create"]
    assert [row[1] for row in log_of("target", other)] == ["seal", "replace", "create"]
    refused("POST", url("target", "boxes", other, "append"), {"card_ids": ["c"]})


def test_erased_by_gc():
    """gc removes a sealed box that an operator has marked as deleted."""
    box = new_box("erased", "a")
    seal("erased", box)
    Postgres.shared().psql(dsn(), f"UPDATE cardbox.card_boxes SET deleted_at = '2020-01-01' WHERE box_id = '{box}'")
    Postgres.shared().psql(dsn(), "SELECT * FROM cardbox.gc_batch(0, 1000)")
    left = Postgres.shared().psql(dsn(), f"SELECT count(*) FROM cardbox.card_boxes WHERE box_id = '{box}'")
    assert left.strip() == "0"


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

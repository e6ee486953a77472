#!/usr/bin/env python3
"""The five reads against what the original service answered: ../shared/contract.

Its rows are imported with the CLI, its cases sent to cardboxd and compared by their rule. Where
http-api.md says that we answer otherwise than the original, the answer is in the tables below.
"""

import base64
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, shared_file

DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")
REJECTED = (400, 413, 415, 422)

# Cases marked `same` that contradict http-api.md, "Not as in the original": expired cards are not
# readable, bare strings and other JSON contents are. The functions turn the original's answer into
# the one that is due.


def _hydrate_missing_across(answer):
    box = answer["boxes"][2]
    cards = {card["card_id"]: card for card in box["hydrated_cards"]}
    plain = {key: cards["c-text-1"][key]
             for key in ("project_id", "type", "created_at", "author_id", "metadata")}
    box["hydrated_cards"] = [
        cards["c-text-1"],
        {**plain, "card_id": "c-barestr", "content": "just a string"},
        {**plain, "card_id": "c-number-content", "content": 42},
        cards["c-fields"],
    ]
    answer["missing_card_ids"] = ["nope-1", "nope-2", "l-deleted", "l-expired", "c-null-content",
                                  "b-1"]
    return answer


DEVIATIONS = {"bb/hydrate-missing-across": _hydrate_missing_across}

# Cases marked `sane` for which http-api.md leaves one status only.
SANE_STATUS = {
    # "no stored row, however odd, makes its neighbours unreadable; file contents are readable"
    "card/c-json-hugefloat": 200,
    "card/c-file": 200,
    "card/c-video": 200,
    "card/c-number-content": 200,
    "card/c-unktype": 200,
    "card/c-text-missing": 200,
    "card/c-toolres-errok": 200,
    "card/c-toolcalls-object": 200,
    "card/m-str-junk": 200,
    "card/m-type-float": 200,
    "card/m-producer-int": 200,
    "card/m-author-bool": 200,
    "card/m-date-sep": 200,
    "card/m-date-basicz": 200,
    "card/m-date-offbasic": 200,
    "box/6": 200,
    "boxcards/14": 200,
    # "A NULL content is not visible"; "expired cards are not"
    "card/c-jsonnull-content": 404,
    "card/l-expired": 404,
    # "%2F is data, not a separator. %00 ...: 400"
    "card/oddid-4-a/b": 200,
    "card/tenant-slash": 404,
    "card/nul-escape": 400,
    "cb/tenant-nul": 400,
    "card/get-with-body": 200,
    # "an id that is not a uuid is a box that does not exist"
    "box/uuid-braces": 404,
    "box/uuid-spaces": 404,
    "box/uuid-nonhex": 404,
    "bb/empty-string": 200,
    # "JSON integral floats (2.0) count as integers"
    "bb/limit-float": 200,
    "cb/missing-order": 200,
    "bb/same-box-two-spellings": 200,
}

# And of these, the whole answer, or what of it is certain.
SANE_ANSWER = {
    "card/c-number-content": {"card_id": "c-number-content", "content": 42},
    "card/oddid-4-a/b": {"card_id": "a/b", "content": {"text": "odd id"}},
    "card/m-str-junk": {"card_id": "m-str-junk", "type": "unknown", "author_id": "unknown"},
    "card/m-type-float": {"type": "unknown"},
    "card/get-with-body": {"card_id": "c-text-1"},
    "bb/empty-string": {"boxes": [], "missing_box_ids": [""], "missing_card_ids": []},
}


# --- comparing ---


def difference(expected, actual, path="$", unordered=()):
    """Where and how `actual` differs from what the original answered; None if it doesn't."""
    if expected == "<NOW>":
        matches = isinstance(actual, str) and DATE_TIME.fullmatch(actual)
        return None if matches else f"{path}: {actual!r} is no date-time"
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _object_difference(expected, actual, path, unordered)
    if isinstance(expected, list) and isinstance(actual, list):
        return _list_difference(expected, actual, path)
    # 1 == True in Python, not in JSON.
    if isinstance(expected, bool) != isinstance(actual, bool) or expected != actual:
        return f"{path}: {actual!r} instead of {expected!r}"
    return None


def may_have_more_fields(value):
    """Cards and boxes grow fields, and errors a hint; contents and lists of answers don't."""
    return "card_id" in value or "box_id" in value or "error_code" in value


def _object_difference(expected, actual, path, unordered):
    for key in sorted({*expected, *actual}):
        if key not in expected and may_have_more_fields(expected):
            continue
        want, have = expected.get(key), actual.get(key)
        if key in unordered and isinstance(want, list) and isinstance(have, list):
            want, have = (sorted(cards, key=lambda card: card["card_id"]) for cards in (want, have))
        found = difference(want, have, f"{path}.{key}")
        if found:
            return found
    return None


def _list_difference(expected, actual, path):
    if len(expected) != len(actual):
        return f"{path}: {len(actual)} items instead of {len(expected)}: {actual!r:.600}"
    for index, (want, have) in enumerate(zip(expected, actual)):
        found = difference(want, have, f"{path}[{index}]")
        if found:
            return found
    return None


def test_comparison():
    """The comparison above is the heart of this test; a lax one would pass anything."""
    card = {"card_id": "a", "content": {"n": 1}, "created_at": "<NOW>", "tool_calls": None}
    good = {"card_id": "a", "content": {"n": 1}, "created_at": "2025-01-02T03:04:05.6Z", "sealed": True}
    assert difference(card, good) is None
    assert difference({"cards": [card, {"card_id": "b"}]}, {"cards": [{"card_id": "b"}, good]},
                      unordered=["cards"]) is None
    for bad in ({**good, "content": {"n": True}}, {**good, "content": {"n": 1, "m": 2}},
                {**good, "created_at": "now"}, {**good, "tool_calls": []}, {}, [good]):
        assert difference(card, bad), bad
    assert difference({"cards": []}, {"cards": [], "extra": 1})
    assert difference([1, 2], [2, 1])


# --- rules ---


def check_error_format(response):
    detail = response.json()["detail"]
    if isinstance(detail, list):
        assert response.status == 422 and detail, response
        for item in detail:
            assert isinstance(item["type"], str) and isinstance(item["msg"], str), item
            assert isinstance(item["loc"], list) and item["loc"], item
    else:
        assert isinstance(detail["error_code"], str), detail
        assert isinstance(detail["error_message"], str), detail


def check_same(case, response):
    answer = case["response_json"]
    if case["name"] in DEVIATIONS:
        answer = DEVIATIONS[case["name"]](answer)
    assert response.status == case["status"], response
    found = difference(answer, response.json(), unordered=case.get("unordered", ()))
    assert not found, f"{found}\n{response.body[:2000]!r}"


def check_sane(case, response):
    assert response.status < 500, response
    name = case["name"]
    if response.status >= 400 and response.json() != {"detail": "Not Found"}:
        check_error_format(response)
    assert response.status == SANE_STATUS.get(name, response.status), response
    answer = response.json()
    for key, value in SANE_ANSWER.get(name, {}).items():
        assert answer[key] == value, f"{key}: {answer[key]!r} instead of {value!r}"
    if name == "cb/missing-order":
        assert [card["card_id"] for card in answer["cards"]] == ["c-text-1"], answer
        assert answer["missing_ids"] == ["zzz", "aaa", "l-deleted", "b-1", "c-null-content"]


def check(case, response):
    assert response.header("Content-Type", "").startswith("application/json"), response.headers
    assert response.header("X-Request-Id"), response.headers
    rule = case["rule"]
    if rule == "same":
        check_same(case, response)
    elif rule == "reject":
        assert response.status in REJECTED, response
        check_error_format(response)
    elif rule == "405":
        assert response.status == 405 and response.header("Allow"), response
        assert "detail" in response.json()
    elif rule == "sane":
        check_sane(case, response)
    else:
        raise AssertionError(f"unknown rule {rule}")


# --- the run ---


def run_import(dsn):
    path = shared_file("contract", "rows.ndjson")
    return cardbox_test.cardbox("import", "--dsn", dsn, "--tenant-from-rows", path, check=False)


@cardbox_test.once
def prepare():
    """(DSN, the finished import, a server), with the rows in the database."""
    shared_file("contract", "cases.jsonl")
    dsn = Postgres.shared().database()
    # Some rows have expired or were deleted long ago: the server is not to remove them meanwhile.
    return dsn, run_import(dsn), Server(dsn, "--gc-interval-s", "0")


def stored_rows(dsn):
    sql = "SELECT (SELECT count(*) FROM cardbox.cards) + (SELECT count(*) FROM cardbox.card_boxes)"
    return int(Postgres.shared().psql(dsn, sql))


def reported_lines(stderr):
    return {int(number) for number in re.findall(r"\bline (\d+)\b", stderr)}


def test_import():
    """Every row is there or was refused with its line's number and a reason."""
    dsn, imported, _ = prepare()
    with open(shared_file("contract", "rows.ndjson"), encoding="utf-8") as rows:
        count = sum(1 for _ in rows)
    reported = reported_lines(imported.stderr)
    assert imported.returncode == (1 if reported else 0), imported
    assert stored_rows(dsn) == count - len(reported), imported
    # Only boxes whose ids are no list of strings may be refused.
    assert len(reported) <= 8, imported.stderr


def test_import_again():
    """A second import of the same rows changes nothing."""
    dsn, imported, _ = prepare()
    before = stored_rows(dsn)
    again = run_import(dsn)
    assert reported_lines(again.stderr) == reported_lines(imported.stderr), again.stderr
    assert stored_rows(dsn) == before


def send(client, case):
    body = case.get("body")
    if body is not None:
        body = body.encode("utf-8", "surrogatepass")
    elif "body_b64" in case:
        body = base64.b64decode(case["body_b64"])
    return client.request(case["method"], case["path"], body, case.get("headers"))


def test_cases():
    _, _, server = prepare()
    client = server.client()
    with open(shared_file("contract", "cases.jsonl"), encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    unknown = {*DEVIATIONS, *SANE_STATUS, *SANE_ANSWER} - {case["name"] for case in cases}
    assert not unknown, f"the tables name cases that don't exist: {unknown}"
    for case in cases:
        # All on one connection: no answer may upset the next request.
        yield case["name"], lambda case=case: check(case, send(client, case))


def test_stop():
    prepare()[2].stop()


if __name__ == "__main__":
    cardbox_test.main()

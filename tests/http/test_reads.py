#!/usr/bin/env python3
"""The five reads beyond the contract's cases: methods, headers, limits, forks, and tenants that
share every id, also in statements that serve both at once."""

import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, Server, cardboxd, parse_responses, url

BOX = "01970000-0000-7000-8000-00000000000%d"
TENANTS = ("red", "blue")
CARDS = 40
THREADS = 16
ROUNDS = 10 if LIGHT else 60


def rows_of(tenant):
    """The same ids in every tenant; only the contents tell whose they are."""
    for number in range(CARDS):
        yield {"kind": "card", "card_id": f"card-{number}",
               "content": {"owner": tenant, "number": number}}
    yield {"kind": "box", "box_id": BOX % 1, "card_ids": [f"card-{n}" for n in range(CARDS)]}
    yield {"kind": "box", "box_id": BOX % 2,
           "card_ids": ["card-1", "gone-1", "card-1", "gone-2", "gone-1", "card-2"]}
    yield {"kind": "box", "box_id": BOX % 3, "card_ids": []}
    yield {"kind": "box", "box_id": BOX % 4, "card_ids": [f"far-{n}" for n in range(200)]}


def prepare():
    if not hasattr(prepare, "server"):
        prepare.postgres = Postgres.shared()
        prepare.dsn = prepare.postgres.database()
        for tenant in TENANTS:
            rows = "\n".join(json.dumps(row) for row in rows_of(tenant))
            path = os.path.join(cardbox_test.temp_dir(), tenant)
            with open(path, "w", encoding="utf-8") as out:
                out.write(rows)
            cardbox_test.cardbox("import", "--dsn", prepare.dsn, "--project", tenant, path)
        prepare.server = Server(prepare.dsn)
    return prepare.server


# --- one at a time ---


def test_head():
    """The same status and headers as GET, and no body."""
    server = prepare()
    for path in (url("red", "cards", "card-1"), url("red", "cards", "nope"), "/readyz", "/nope",
                 url("red", "boxes", BOX % 2, "cards")):
        with server.client() as client:
            whole, head = client.request("GET", path), client.request("HEAD", path)
        assert head.status == whole.status and head.body == b"", head
        for name in ("Content-Type", "Content-Length", "Cardbox-Missing"):
            assert head.header(name) == whole.header(name), (path, name)


def test_methods():
    server = prepare()
    for method, path, allow in (
            ("POST", url("red", "cards", "card-1"), "GET, HEAD, DELETE"),
            ("PUT", url("red", "cards", "batch"), "GET, HEAD, POST, DELETE"),
            ("PATCH", url("red", "boxes", "batch"), "GET, HEAD, POST, PUT, DELETE"),
            ("DELETE", url("red", "boxes"), "GET, HEAD, POST"),
            ("PATCH", url("red", "boxes", BOX % 1, "cards"), "GET, HEAD"),
            ("OPTIONS", "/healthz", "GET, HEAD"),
            ("BREW", "/readyz", "GET, HEAD")):
        response = server.request(method, path)
        assert response.status == 405 and response.header("Allow") == allow, (method, response)
        assert response.json()["detail"]["error_code"] == "method_not_allowed"
    assert server.request("BREW", "/nope").status == 404


def test_edit_distance_paths():
    """Where there is no such path, or no such method, what was most likely wanted is told, and is there."""
    server = prepare()
    routes = {re.sub("{[^}]*}", "{}", line.rsplit(" ", 1)[0]) for line in cardboxd("--routes").stdout.splitlines()}
    for method, path, status, count in (
            ("POST", "/projects", 405, 1), ("PUT", "/projects/p", 405, 1),
            ("POST", "/projects/p/cards/a", 405, 1), ("PUT", "/projects/p/cards/a", 405, 1),
            ("POST", "/projects/p/boxes/b", 405, 1), ("POST", "/projects/p/boxes/b/cards", 405, 1),
            ("POST", "/projects/p/sessions", 405, 1), ("POST", "/projects/p/sessions/s", 405, 2),
            ("GET", "/projects/p/sessions/s/entries", 405, 3), ("POST", "/projects/p/sessions/s/append", 404, 1),
            ("GET", "/projects/p/sessions/s/messages", 405, 1), ("GET", "/projects/p/sessions/s/head", 405, 1),
            ("GET", "/projects/p/tasks", 404, 2), ("POST", "/projects/p/tasks", 404, 1),
            ("DELETE", "/projects/p/tasks/t", 404, 2), ("GET", "/projects/p/tasks/t/messages", 404, 1),
            ("POST", "/projects/p/tasks/t/messages", 404, 1),
            ("GET", "/projects/p/sessions/s/branches", 404, 2), ("GET", "/projects/p/task", 404, 2),
            ("GET", "/projects/p/tasks/t/events", 404, 1), ("GET", "/projects/p/tasks/t/calls/", 404, 1),
            ("GET", "/projects/p/cards/a/history", 404, 1), ("GET", "/projects/p/boxes/b/versions", 404, 1),
            ("GET", "/projects/p/entries/e", 404, 1), ("GET", "/cards/a", 404, 1),
            ("GET", "/boxes/b", 404, 1), ("GET", "/sessions/s", 404, 1), ("GET", "/projects/p/ability", 404, 1),
            ("DELETE", "/projects/p", 405, 0), ("GET", "/projects/p/tasks/t/x/y", 404, 0), ("DELETE", "/projects/p/sessions", 405, 0)):
        answer = server.request(method, path)
        said = answer.json() if status == 404 else answer.json()["detail"]
        assert answer.status == status and (status == 405 or said["detail"] == "Not Found"), answer
        places = re.findall(r"(GET|POST|PUT) (?:\.\.\.|/projects/{project})(/[^ ,]+)", said.get("hint", ""))
        assert len(places) == count and ("hint" in said) == (count > 0), answer
        for verb, place in places:
            if place.startswith("/abilities/"):
                assert verb == "POST" and server.request("GET", "/projects/p" + place).status == 200, place
            else:
                assert f"{verb} /projects/{{}}{re.sub('{[^}]*}', '{}', place)}" in routes, (verb, place)


def test_paths_with_a_slash_too_many():
    server = prepare()
    for method, path, meant in (
            ("GET", "/docs/", "GET /docs"), ("GET", "/projects/p/sessions/", "GET /projects/{project_id}/sessions"),
            ("POST", "/projects/p/cards/", "POST /projects/{project_id}/cards"),
            ("POST", "/projects/p/boxes/batch/", "POST /projects/{project_id}/boxes/batch"),
            ("GET", "/projects/p/cards/x/", "GET /projects/{project_id}/cards/{card_id}")):
        answer = server.request(method, path)
        assert answer.status == 404, answer
        assert answer.json() == {"detail": "Not Found", "hint": f"did you mean {meant}?"}, answer
    for method, path, body in (("GET", "/projects/p/sessions/5e550001/tree", None), ("GET", "/projects/p/sessions/5e550001", None),
                               ("POST", "/projects/p/sessions/5e550001/entries", '{"entry": {"type": "user", "content": "x"}}')):
        answer = server.request(method, path, body, {"Content-Type": "application/json"})
        assert answer.status == 404 and "makes one; an entry is at" in answer.json()["detail"]["hint"], answer
    for path in ("/projects//cards", "/projects/p/cards/a/b/c/d/e/f/g/h"):
        assert "%2F" in server.get(path).json()["hint"]
    for path in ("/nope", "/projects/p/nope", "/projects/p/cards/", "/projects/p/boxes/", "/projects/p/cards/a/nope/x"):
        assert server.get(path).json() == {"detail": "Not Found"}


def test_request_ids():
    server = prepare()
    for path in ("/healthz", "/nope", url("red", "cards", "card-1")):
        echoed = server.get(path, {"X-Request-Id": "abc-1!~"})
        assert echoed.header("X-Request-Id") == "abc-1!~", echoed.headers
    seen = {server.get("/healthz", {"X-Request-Id": bad}).header("X-Request-Id")
            for bad in ("", "a b", "x" * 129, "\u00fc")}
    assert len(seen) == 4, seen
    for made in seen:
        assert made[14] == "7" and len(made) == 36, made


def test_request_ids_differ():
    """Many requests in one millisecond have ids of their own."""
    server = prepare()
    with server.client() as client:
        ids = [client.request("GET", "/healthz").header("X-Request-Id") for _ in range(500)]
    assert len(set(ids)) == len(ids)


def test_missing_cards():
    server = prepare()
    path = url("red", "boxes", BOX % 2, "cards")
    for query, ids, missing in (("", ["card-1", "card-1", "card-2"], "3"),
                                ("?limit=1", ["card-2"], "0"),
                                ("?limit=3", ["card-2"], "2"),
                                ("?limit=2&limit=6", ["card-1", "card-1", "card-2"], "3")):
        response = server.get(path + query)
        assert [card["card_id"] for card in response.json()] == ids, (query, response)
        assert response.header("Cardbox-Missing") == missing, (query, response.headers)
        assert response.header("Cardbox-Length") == "6", (query, response.headers)
    empty = server.get(url("red", "boxes", BOX % 3, "cards"))
    assert empty.json() == [] and empty.header("Cardbox-Missing") == "0" and empty.header("Cardbox-Length") == "0"
    assert server.get(path + "?at_length=2").header("Cardbox-Length") == "2"


def test_box():
    server = prepare()
    box = server.get(url("red", "boxes", BOX % 4)).json()
    assert box["card_ids"] == [f"far-{n}" for n in range(200)]
    assert (box["length"], box["version"], box["parent_ids"]) == (200, 1, [])
    assert box["created_at"].endswith("Z") and box["updated_at"].endswith("Z")
    assert server.get(url("red", "boxes", (BOX % 4).upper())).json() == box


def test_fork():
    """A fork's ids come from its parent's segments and its own."""
    server = prepare()
    cardbox_test.cardbox("box", "fork", "--dsn", prepare.dsn, "--project", "red", BOX % 4,
                         "--new-id", BOX % 5, "--at-length", "150")
    cardbox_test.cardbox("box", "append", "--dsn", prepare.dsn, "--project", "red", BOX % 5, "own")
    box = server.get(url("red", "boxes", BOX % 5)).json()
    assert box["card_ids"] == [f"far-{n}" for n in range(150)] + ["own"]
    assert box["parent_ids"] == [BOX % 4] and box["length"] == 151
    answer = server.post(url("red", "boxes", "batch"), {"box_ids": [BOX % 5], "hydrate": True,
                                                        "limit": 2}).json()
    assert answer["boxes"][0]["card_ids"] == box["card_ids"]
    assert answer["boxes"][0]["hydrated_cards"] == []
    assert answer["missing_card_ids"] == ["far-149", "own"]


def test_cards_batch():
    """In the order of the request, each once; what can't be an id comes back as it was sent."""
    server = prepare()
    body = (b'{"card_ids":["card-2","x\\u0000y","card-1","\\u0063ard-2","","\\ud800",'
            b'"' + b"l" * 600 + b'","nope","nope"]}')
    response = server.request("POST", url("red", "cards", "batch"), body)
    answer = response.json()
    assert [card["card_id"] for card in answer["cards"]] == ["card-2", "card-1"]
    assert (b'"missing_ids":["x\\u0000y","","\\ud800","' + b"l" * 600 + b'","nope"]}') \
        in response.body, response.body


def test_boxes_batch():
    server = prepare()
    answer = server.post(url("red", "boxes", "batch"), {
        "box_ids": [BOX % 2, "nope", BOX % 9, (BOX % 2).upper(), BOX % 3, "nope"],
        "hydrate": True}).json()
    assert [box["box_id"] for box in answer["boxes"]] == [BOX % 2, BOX % 3]
    assert answer["missing_box_ids"] == ["nope", BOX % 9]
    assert answer["missing_card_ids"] == ["gone-1", "gone-2"]
    plain = server.post(url("red", "boxes", "batch"), {"box_ids": [BOX % 2]}).json()
    assert "hydrated_cards" not in plain["boxes"][0] and plain["missing_card_ids"] == []


def test_targets():
    """Absolute targets, escapes, dots: an id is an id."""
    server = prepare()
    host = f"127.0.0.1:{server.port}"
    for target, status in ((f"http://{host}/healthz", 200), (f"http://{host}", 308),
                           ("/%68ealthz", 200), ("/healthz/", 404), ("//healthz", 404),
                           ("/projects/red/cards/..", 404), ("/projects/../red/cards/card-1", 404),
                           ("/projects/red/cards/%zz", 400), ("/projects/red/cards/a%00", 400),
                           ("/projects/%01/cards/a", 400), ("/projects/red/cards/%01", 404),
                           (f"/projects/{'p' * 256}/cards/a", 400),
                           (f"/projects/red/cards/{'c' * 513}", 404)):
        raw = server.raw(f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        response, = parse_responses(raw)
        assert response.status == status, (target, response)


def test_content_types():
    server = prepare()
    path = url("red", "cards", "batch")
    for content_type, status in (("application/json", 200), ("application/json; charset=x", 200),
                                 ("application/vnd.x+json", 200), ("text/plain", 415),
                                 ("application/jsonx", 415)):
        response = server.request("POST", path, b"{}", {"Content-Type": content_type})
        assert response.status == status, (content_type, response)
    with server.client() as client:
        refused = client.request("POST", path, b"{}", {"Content-Encoding": "gzip"})
        assert refused.status == 415, refused
        assert client.request("POST", path, b"{}", {"Content-Encoding": "identity"}).status == 200


def test_pipelined():
    """Requests sent without waiting are answered in their order."""
    server = prepare()
    ids = [f"card-{number}" for number in range(CARDS)] * 3
    data = b"".join(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % url("red", "cards", i).encode()
                    for i in ids)
    data += b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    responses = parse_responses(server.raw(data))
    assert [r.status for r in responses] == [200] * (len(ids) + 1)
    assert [r.json()["card_id"] for r in responses[:-1]] == ids


def test_chunked():
    server = prepare()
    body = json.dumps({"card_ids": ["card-1"]}).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    raw = server.raw(b"POST /projects/red/cards/batch HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
    response, = parse_responses(raw)
    assert response.json()["cards"][0]["card_id"] == "card-1", response


# --- many at once ---


def owners(value):
    """Whose contents are in an answer."""
    if isinstance(value, dict):
        found = {value["owner"]} if "owner" in value else set()
        return found.union(*(owners(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(owners(part) for part in value))
    return set()


def requests_of(tenant, number):
    """(method, path, body, numbers of the cards that are due)."""
    one = number % CARDS
    yield "GET", url(tenant, "cards", f"card-{one}"), None, [one]
    some = [(one * 7 + step) % CARDS for step in range(9)]
    yield "POST", url(tenant, "cards", "batch"), {"card_ids": [f"card-{n}" for n in some]}, some
    yield "GET", url(tenant, "boxes", BOX % 1, "cards") + f"?limit={one + 1}", None, \
        list(range(CARDS - one - 1, CARDS))
    yield "POST", url(tenant, "boxes", "batch"), \
        {"box_ids": [BOX % 3, BOX % 1], "hydrate": True, "limit": 3}, list(range(CARDS - 3, CARDS))


def numbers(answer):
    cards = answer
    if isinstance(answer, dict):
        cards = answer.get("cards") or answer.get("boxes") or [answer]
        if "boxes" in answer:
            cards = answer["boxes"][1]["hydrated_cards"]
    return [card["content"]["number"] for card in cards]


def hammer(server, thread):
    tenant = TENANTS[thread % len(TENANTS)]
    with server.client() as client:
        for turn in range(ROUNDS):
            for method, path, body, due in requests_of(tenant, turn * THREADS + thread):
                body = None if body is None else json.dumps(body)
                response = client.request(method, path, body)
                assert response.status == 200, response
                answer = response.json()
                assert owners(answer) == {tenant}, (path, response)
                assert numbers(answer) == due, (path, due, response)


def test_tenants_never_mix():
    """Both tenants ask for the same ids at the same time; joined statements serve them together."""
    server = prepare()
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(hammer, server, thread) for thread in range(THREADS)]:
            done.result()


def test_stop():
    prepare().stop()


if __name__ == "__main__":
    cardbox_test.main()

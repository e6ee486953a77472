#!/usr/bin/env python3
"""ETags, If-None-Match and gzip on the reads that have them: what changes with the text and what
does not, both codings, HEAD, bodies that are compressed in one go and piece by piece."""

import gzip
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, parse_responses

BOX = "01970000-0000-7000-8000-0000000000aa"
TAG = re.compile(r'"[0-9a-f]{32}"')
CARD_TAG = re.compile(r'"[cv]1-[0-9a-f]{16}"')  # v: it varies with Accept-Encoding
# Bytes of contents: compressed never, in one go, piece by piece.
SIZES = {"small": 100, "middle": 20_000, "large": 900_000}


def text_of(size):
    words = random.Random(size)
    return " ".join(str(words.randrange(10**6)) for _ in range(size // 6))[:size]


def prepare():
    if not hasattr(prepare, "server"):
        prepare.dsn = Postgres.shared().database()
        rows = [{"kind": "card", "card_id": name, "content": {"text": text_of(size)}}
                for name, size in SIZES.items()]
        rows.append({"kind": "box", "box_id": BOX, "card_ids": [*SIZES, "gone"]})
        cardbox_test.cardbox("import", "--dsn", prepare.dsn, "--project", "p",
                             stdin="\n".join(json.dumps(row) for row in rows))
        prepare.server = Server(prepare.dsn)
    return prepare.server


def card(name):
    return f"/projects/p/cards/{name}"


PATHS = (*map(card, SIZES), f"/projects/p/boxes/{BOX}", f"/projects/p/boxes/{BOX}/cards")


def test_tag_is_stable_and_strong():
    server = prepare()
    for path in PATHS:
        first, again = server.get(path), server.get(path)
        tag = first.header("ETag")
        assert tag and tag == again.header("ETag") and not tag.startswith("W/"), (path, first)
    tags = [server.get(path).header("ETag") for path in PATHS]
    assert len(set(tags)) == len(PATHS)
    assert [bool(CARD_TAG.fullmatch(tag)) for tag in tags] == [True, True, True, False, False], tags
    assert [tag[1] for tag in tags[:3]] == ["c", "v", "v"]
    assert TAG.fullmatch(tags[4]), tags


def test_box_tag_has_the_version():
    """The version alone is before the hyphen; an append changes both."""
    server = prepare()
    path = f"/projects/p/boxes/{BOX}"
    before = server.get(path)
    assert re.fullmatch(rf'"{before.json()["version"]}-[0-9a-f]{{32}}"', before.header("ETag"))
    cardbox_test.cardbox("box", "append", "--dsn", prepare.dsn, "--project", "p", BOX, "more")
    after = server.get(path, {"If-None-Match": before.header("ETag")})
    assert after.status == 200 and after.json()["version"] == before.json()["version"] + 1
    assert after.header("ETag").startswith(f'"{after.json()["version"]}-')
    assert after.header("ETag")[-34:] != before.header("ETag")[-34:]


def test_card_tag_changes_with_the_card():
    server = prepare()
    add = ("card", "add", "--dsn", prepare.dsn, "--project", "p", "--id", "changing", "--content")
    cardbox_test.cardbox(*add, '{"n":1}')
    tag = server.get(card("changing")).header("ETag")
    assert server.get(card("changing"), {"If-None-Match": tag}).status == 304
    cardbox_test.cardbox(*add, '{"n":2}')
    changed = server.get(card("changing"), {"If-None-Match": tag})
    assert changed.status == 200 and changed.header("ETag") != tag


def test_not_modified():
    server = prepare()
    for path in PATHS:
        plain = server.get(path).header("ETag")
        packed = server.get(path, {"Accept-Encoding": "gzip"}).header("ETag")
        with server.client() as client:
            for known in (plain, packed, f"W/{plain}", "*", f'"x", {plain}', f'{packed},"y"',
                          plain[:-1] + '-gz"'):
                for coding, tag in (("identity", plain), ("gzip", packed)):
                    answer = client.request("GET", path, None, {"If-None-Match": known,
                                                                "Accept-Encoding": coding})
                    assert (answer.status, answer.body) == (304, b""), (path, known, answer)
                    assert answer.header("ETag") == tag, (path, known, answer.headers)
                    assert answer.header("Content-Encoding") is None
            for other in ('"x"', plain.strip('"'), plain[:-2] + '"', f"x{plain}", ""):
                answer = client.request("GET", path, None, {"If-None-Match": other})
                assert answer.status == 200 and answer.body, (path, other, answer)


def test_not_modified_in_several_fields():
    server = prepare()
    tag = server.get(card("small")).header("ETag").encode()
    raw = server.raw(b"GET /projects/p/cards/small HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"x\"\r\n"
                     b"If-None-Match: " + tag + b"\r\nConnection: close\r\n\r\n")
    answer, = parse_responses(raw)
    assert answer.status == 304 and answer.header("Content-Length") in (None, "0"), raw


def test_what_has_no_tag():
    """Neither what is missing nor what is no plain read is ever "not modified"."""
    server = prepare()
    for path in (card("nope"), "/projects/p/boxes/nope", f"{PATHS[-1]}?limit=x", "/healthz"):
        answer = server.get(path, {"If-None-Match": "*"})
        assert answer.status != 304 and answer.header("ETag") is None, (path, answer)
    batch = server.post("/projects/p/cards/batch", {"card_ids": ["small"]}, {"If-None-Match": "*"})
    assert batch.status == 200 and batch.header("ETag") is None


def test_gzip():
    """The same text; a tag of its own; Vary where another client would get another coding."""
    server = prepare()
    for path in PATHS:
        plain = server.get(path, {"Accept-Encoding": "identity"})
        packed = server.get(path, {"Accept-Encoding": "br;q=1.0, gzip;q=0.8"})
        assert plain.header("Content-Encoding") is None
        if len(plain.body) < 4096:
            assert packed.header("Content-Encoding") is None and packed.header("Vary") is None
            assert packed.header("ETag") == plain.header("ETag")
            continue
        assert packed.header("Content-Encoding") == "gzip", (path, packed.headers)
        assert gzip.decompress(packed.body) == plain.body and len(packed.body) < len(plain.body)
        assert packed.header("ETag") == plain.header("ETag")[:-1] + '-gz"'
        assert plain.header("Vary") == packed.header("Vary") == "Accept-Encoding"


def test_gzip_refused():
    server = prepare()
    for header in ({}, {"Accept-Encoding": "gzip;q=0"}, {"Accept-Encoding": "*;q=0"},
                   {"Accept-Encoding": "identity;q=1, gzip;q=0.9"}, {"Accept-Encoding": "br"}):
        with server.client() as client:
            client.connection.putrequest("GET", card("middle"), skip_accept_encoding=True)
            for name, value in header.items():
                client.connection.putheader(name, value)
            client.connection.endheaders()
            reply = client.connection.getresponse()
            assert reply.getheader("Content-Encoding") is None, header
            assert json.loads(reply.read())["card_id"] == "middle"


def test_files_are_packed_when_they_are_built():
    """As small as gzip makes them, and the same text."""
    server = prepare()
    for path in ("/openapi.json", "/ui/app.js"):
        plain, packed = server.get(path), server.get(path, {"Accept-Encoding": "gzip"})
        assert gzip.decompress(packed.body) == plain.body and plain.header("Content-Encoding") is None, path
        assert len(packed.body) <= 1.01 * len(gzip.compress(plain.body, 9)), path
        assert server.get(path, {"If-None-Match": packed.header("ETag")}).status == 304
        assert server.get(path, {"If-None-Match": plain.header("ETag")}).status == 304


def test_gzip_of_other_answers():
    """Batches and errors too, not only what has a tag."""
    server = prepare()
    path, names = "/projects/p/cards/batch", list(SIZES)
    plain = server.post(path, {"card_ids": names})
    packed = server.post(path, {"card_ids": names}, {"Accept-Encoding": "gzip"})
    assert packed.header("Content-Encoding") == "gzip" and packed.header("ETag") is None
    assert gzip.decompress(packed.body) == plain.body
    wrong = server.post(path, {"card_ids": [1] * 100}, {"Accept-Encoding": "gzip"})
    assert wrong.status == 422 and wrong.header("Content-Encoding") == "gzip"
    assert len(json.loads(gzip.decompress(wrong.body))["detail"]) == 100


def test_head():
    """HEAD has the headers of GET, in both codings, for all sizes, and as 304; but a body that
    would come in chunks is not announced, and ends the connection."""
    server = prepare()
    for path in PATHS:
        for coding in ("identity", "gzip"):
            wanted = {"Accept-Encoding": coding}
            with server.client() as client:
                whole = client.request("GET", path, None, wanted)
                head = client.request("HEAD", path, None, wanted)
                if whole.header("Transfer-Encoding"):
                    assert head.header("Connection") == "close", head.headers
                known = {**wanted, "If-None-Match": whole.header("ETag")}
                assert client.request("HEAD", path, None, known).status == 304
                assert client.request("GET", path, None, wanted).body == whole.body
            assert head.status == 200 and head.body == b""
            for name in ("ETag", "Vary", "Content-Encoding", "Content-Length", "Content-Type",
                         "Cardbox-Missing"):
                assert head.header(name) == whole.header(name), (path, coding, name, head.headers)


def test_nothing_comes_after_a_head():
    server = prepare()
    request = (b"HEAD " + card("large").encode() +
               b" HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
    raw = server.raw(request)
    assert raw.startswith(b"HTTP/1.1 200") and raw.endswith(b"\r\n\r\n"), raw
    answer, = parse_responses(raw, head=True)
    assert answer.header("Transfer-Encoding") is None and answer.header("Content-Length") is None


def test_gzip_for_http_1_0():
    """There are no chunks: the end of the connection is the end of the body."""
    server = prepare()
    raw = server.raw(b"GET " + card("large").encode() + b" HTTP/1.0\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
    answer, = parse_responses(raw)
    assert answer.header("Transfer-Encoding") is None
    assert gzip.decompress(answer.body) == server.get(card("large")).body


def test_client_leaves_amid_gzip():
    """What was made for it is freed, and others are served."""
    server = prepare()
    request = (b"GET " + card("large").encode() +
               b" HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
    for _ in range(20):
        with cardbox_test.socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(request)
            connection.recv(100)
    assert server.get(card("small")).status == 200


def test_stops_clean():
    prepare().stop()


if __name__ == "__main__":
    cardbox_test.main()

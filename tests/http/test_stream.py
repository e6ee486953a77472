#!/usr/bin/env python3
"""Exports and imports over HTTP: byte for byte there and back, while others write, with clients
that stall and leave, more at once than there may be, a server that stops, a database that goes
away, and memory that does not grow with what is transferred."""

import contextlib
import gzip
import json
import os
import random
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, Server, await_, holding, once, parse_responses, read_all

BOX = "01970000-0000-7000-8000-%012d"
NDJSON = {"Content-Type": "application/x-ndjson"}
ODD = ["", "\u0000", "\ud800", "\U0001f600", "\u2028", "tab\tnl\ncr\r", "\"\\/", "\x7f", "\xe4" * 300]
BIG_MB = int(os.environ.get("CARDBOX_STREAM_MB", 20 if LIGHT else 100))


def card(number, **members):
    return {"kind": "card", "card_id": f"card-{number:07d}", **members}


def lines_of(rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def odd_lines():
    """Contents as their writers spelled them, which is how they must come back."""
    yield from (b'{"kind":"card","card_id":"exact-%d","content":%s}\n' % (number, text)
                for number, text in enumerate((b'{"b":1.10,"a":[1e5,-0,  10000000000000000000000]}',
                                               b'"\\u0000\\ud800\\/\\u00e4"', b'null,"exact":true',
                                               b'{"a":1,"a":2}', b"[[],{},\"\"]", b"true")))
    for number, text in enumerate(ODD):
        yield lines_of([card(number, content={"text": text, text or "k": [text]},
                             metadata={"type": "odd", "n": number})])
    yield lines_of([{"kind": "box", "box_id": BOX % 1, "card_ids": ["exact-1", "\u00e4", "gone"],
                     "parent_ids": [BOX % 9]},
                    {"kind": "box", "box_id": BOX % 2, "card_ids": []}])


def pages_of_ids(count):
    return {"kind": "box", "box_id": BOX % count, "card_ids": [f"id-{n}" for n in range(count)]}


@once
def postgres():
    return Postgres.shared()


@once
def dsn():
    return postgres().database()


@once
def server():
    return Server(dsn(), "--log-level", "debug")


def export(project, headers=None, on=None):
    return (on or server()).get(f"/projects/{project}/export", headers)


def load(project, body, headers=None, on=None):
    return (on or server()).request("POST", f"/projects/{project}/import", body, headers or NDJSON)


def transfers_in_database(on=None):
    return int(postgres().psql(on or dsn(), "SELECT count(*) FROM pg_stat_activity WHERE "
                               "datname = current_database() AND state <> 'idle' "
                               "AND application_name = 'cardboxd transfer'"))


def connect(on=None):
    return socket.create_connection(("127.0.0.1", (on or server()).port), timeout=60)


def head(method, path, *fields):
    return "\r\n".join((f"{method} {path} HTTP/1.1", "Host: x", *fields, "", "")).encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def answer_of(connection):
    """The one answer on a connection that stays open."""
    received = b""
    while True:
        piece = connection.recv(65536)
        assert piece, f"cut after {received[-500:]!r}"
        received += piece
        try:
            return parse_responses(received)[0]
        except (ValueError, IndexError):
            continue


# --- there and back ---


def test_round_trip():
    """What was exported imports into another project and comes out the same, to the byte."""
    body = b"".join(odd_lines()) + lines_of(pages_of_ids(n) for n in (64, 511, 512, 513, 8705, 20000))
    first = load("one", body)
    count = body.count(b"\n")
    assert first.status == 200 and first.json()["lines"] == count, first
    assert first.json()["errors"] == [] and first.json()["errors_omitted"] == 0
    text = export("one")
    assert text.header("Content-Type") == "application/x-ndjson"
    assert int(text.header("Cardbox-Lines")) == count == text.body.count(b"\n")
    assert b'"content":{"b":1.10,"a":[1e5,-0,  10000000000000000000000]}' in text.body
    again = load("two", text.body)
    assert again.json()["cards"]["inserted"] == first.json()["cards"]["inserted"]
    assert again.json()["boxes"]["inserted"] == 8, again
    assert export("two").body == text.body
    same = load("two", text.body).json()
    assert same["boxes"] == {"inserted": 0, "unchanged": 8, "repaired": 0, "refused": 0}, same
    assert same["cards"]["unchanged"] == again.json()["cards"]["inserted"]


def test_same_as_the_command_line():
    load("cli", b"".join(odd_lines()) + lines_of([pages_of_ids(20000)]))
    done = cardbox_test.cardbox("export", "--dsn", dsn(), "--project", "cli")
    assert done.stdout.encode() == export("cli").body


def test_long_box():
    """Its ids come in pages, in order; those of a fork and of a box that grew, too."""
    load("long", lines_of([pages_of_ids(30000)]))
    common = ("--dsn", dsn(), "--project", "long")
    cardbox_test.cardbox("box", "fork", *common, BOX % 30000, "--new-id", BOX % 7,
                         "--at-length", "10001")
    cardbox_test.cardbox("box", "append", *common, BOX % 7, "own-1", "own-2")
    rows = {row["box_id"]: row for row in map(json.loads, export("long").body.splitlines())}
    ids = pages_of_ids(30000)["card_ids"]
    assert rows[BOX % 30000]["card_ids"] == ids
    assert rows[BOX % 7]["card_ids"] == ids[:10001] + ["own-1", "own-2"]


def test_gzip():
    load("zipped", b"".join(odd_lines()))
    packed = export("zipped", {"Accept-Encoding": "gzip"})
    assert packed.header("Content-Encoding") == "gzip" and packed.header("Vary")
    assert gzip.decompress(packed.body) == export("zipped").body


def test_empty_project():
    answer = export("nobody")
    assert (answer.status, answer.body) == (200, b"") and answer.header("Cardbox-Lines") == "0"
    nothing = load("nobody", b"")
    assert nothing.status == 200 and nothing.json()["lines"] == 0, nothing


def test_head_of_an_export():
    load("headed", lines_of([card(1, content=1)]))
    raw = server().raw(head("HEAD", "/projects/headed/export"))
    answer, = parse_responses(raw, head=True)
    assert answer.status == 200 and answer.header("Cardbox-Lines") == "1", raw
    assert raw.endswith(b"\r\n\r\n")
    await_(lambda: transfers_in_database() == 0)


def test_snapshot():
    """While others write: each line is as of the beginning."""
    load("moving", lines_of(card(n, content={"n": 0, "fill": "x" * 2000}) for n in range(5000)))
    with connect() as reader:
        reader.sendall(head("GET", "/projects/moving/export", "Connection: close"))
        received = reader.recv(1000)
        load("moving", lines_of(card(n, content={"n": 1}) for n in range(4000, 6000)))
        while piece := reader.recv(65536):
            received += piece
    rows = [json.loads(line) for line in parse_responses(received)[0].body.splitlines()]
    assert len(rows) == 5000 and all(row["content"]["n"] == 0 for row in rows)
    assert sum(json.loads(line)["content"]["n"] for line in export("moving").body.splitlines()) == 2000


# --- bad lines ---


def test_bad_lines():
    """Each is reported by its number; the others are in."""
    body = b"\n".join([b'{"kind":"card","card_id":"ok-1","content":1}', b"{", b"", b"[]",
                       b'{"kind":"card","content":1}', b'{"kind":"dragon"}', b"\xff",
                       b'{"kind":"box","box_id":"nope","card_ids":[]}',
                       b'{"kind":"card","card_id":"other","content":1,"tenant_id":"else"}',
                       b'{"kind":"card","card_id":"own","content":1,"tenant_id":"b\\u0061d"}',
                       b'{"kind":"card","card_id":"ok-2","content":2}',
                       '{"kind":"box","box_id":"%s","card_ids":[]}'.encode() % ("é" * 40).encode()])
    answer = load("bad", body)
    told = answer.json()
    assert answer.status == 200 and told["lines"] == 12, answer
    assert [error["line"] for error in told["errors"]] == [2, 4, 5, 6, 7, 8, 9, 12], told
    assert all(error["reason"] for error in told["errors"])
    assert "another project" in told["errors"][-2]["reason"]
    assert told["errors"][-1]["reason"].endswith("é")
    assert told["cards"] == {"inserted": 3, "unchanged": 0, "repaired": 0, "refused": 2}, told
    assert told["boxes"]["refused"] == 2 and told["other"]["refused"] == 4, told
    ids = {json.loads(line)["card_id"] for line in export("bad").body.splitlines()}
    assert ids == {"ok-1", "ok-2", "own"}


def test_many_bad_lines():
    told = load("worse", b"x\n" * 1500 + lines_of([card(1, content=1)])).json()
    assert [error["line"] for error in told["errors"]] == list(range(1, 1001))
    assert told["errors_omitted"] == 500 and told["cards"]["inserted"] == 1


def test_sealed_cards_are_named():
    load("sealed", lines_of([card(n, content=1, sealed=True) for n in range(600)]))
    told = load("sealed", lines_of([card(n, content=n % 2, sealed=True) for n in range(600)])).json()
    assert [error["line"] for error in told["errors"]] == list(range(1, 601, 2)), told["errors"][:3]
    assert told["cards"]["unchanged"] == 300


# --- bodies in all forms ---


def test_media_types():
    body = lines_of([card(1, content=1)])
    for kind in ("application/x-ndjson", "application/json", "application/x-ndjson; charset=utf-8"):
        assert load("typed", body, {"Content-Type": kind}).status == 200, kind
    raw = server().raw(head("POST", "/projects/typed/import", f"Content-Length: {len(body)}",
                            "Connection: close") + body)
    assert parse_responses(raw)[0].status == 200
    for headers in ({"Content-Type": "text/csv"}, {**NDJSON, "Content-Encoding": "br"}):
        answer = load("typed", body, headers)
        assert answer.status == 415 and "x-ndjson" in answer.json()["detail"]["hint"], answer


def test_chunks_of_all_sizes():
    """A body in chunks that cut lines anywhere is what it is in one piece."""
    body = lines_of(card(n, content={"text": "y" * (n % 700)}) for n in range(3000))
    expected = None
    for seed in range(2 if LIGHT else 6):
        rng, at, sent = random.Random(seed), 0, [head("POST", f"/projects/cut-{seed}/import",
                                                      "Transfer-Encoding: chunked")]
        while at < len(body):
            size = rng.choice((1, 7, 100, 4096, 16384, 16385, 70000, 300000))
            sent.append(chunk(body[at:at + size]))
            at += size
        with connect() as connection:
            connection.sendall(b"".join(sent) + b"0\r\n\r\n")
            answer = answer_of(connection)
            assert answer.status == 200 and answer.json()["cards"]["inserted"] == 3000, answer
            # Nothing may follow a body in chunks, and nothing of this one was taken for a request.
            assert answer.header("Connection") == "close" and connection.recv(1) == b""
        text = export(f"cut-{seed}").body
        times = re.sub(rb'"created_at":"[^"]*"', b"", text)
        expected = expected or times
        assert times == expected


def test_two_requests_in_one_write():
    """What comes behind a body is the next request."""
    body = lines_of(card(n, content="z" * 3000) for n in range(400))
    with connect() as connection:
        one = head("POST", "/projects/piped/import", f"Content-Length: {len(body)}") + body
        connection.sendall(one + head("GET", "/projects/piped/cards/card-0000399",
                                      "Connection: close"))
        received = b""
        while piece := connection.recv(65536):
            received += piece
    first, second = parse_responses(received)
    assert first.json()["cards"]["inserted"] == 400 and second.json()["card_id"] == "card-0000399"


def test_body_over_the_limit_of_others():
    """--body-max is not for imports."""
    with_limit = Server(dsn(), "--body-max", "1024")
    answer = load("limited", lines_of(card(n, content="w" * 500) for n in range(100)), on=with_limit)
    assert answer.status == 200 and answer.json()["cards"]["inserted"] == 100
    assert with_limit.post("/projects/limited/cards/batch", {"card_ids": ["x" * 2000]}).status == 413
    with_limit.stop()


def test_expect_continue():
    with connect() as connection:
        body = lines_of([card(1, content=1)])
        connection.sendall(head("POST", "/projects/polite/import", "Expect: 100-continue",
                                f"Content-Length: {len(body)}"))
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(body)
        assert answer_of(connection).json()["cards"]["inserted"] == 1


# --- clients that are slow, stall or leave ---


def test_slow_upload_that_goes_on():
    """It takes longer than a request may, but never stops for so long."""
    patient = Server(dsn(), "--request-read-timeout-ms", "3000")
    body = lines_of(card(n, content="s" * 2000) for n in range(12))
    with connect(patient) as connection:
        connection.sendall(head("POST", "/projects/slow/import", f"Content-Length: {len(body)}"))
        for at in range(0, len(body), 2200):
            connection.sendall(body[at:at + 2200])
            time.sleep(0.3)
        assert answer_of(connection).json()["cards"]["inserted"] == 12
    patient.stop()


def test_upload_that_stalls():
    """It is cut, and its thread and its place are free again."""
    strict = Server(dsn(), "--request-read-timeout-ms", "500", "--transfers-max", "1")
    with connect(strict) as connection:
        connection.sendall(head("POST", "/projects/stalled/import", "Transfer-Encoding: chunked") +
                           chunk(lines_of([card(1, content=1)])))
        assert connection.recv(1000) == b""
    await_(lambda: load("stalled", lines_of([card(2, content=1)]), on=strict).status == 200)
    strict.stop()


def test_upload_that_dribbles():
    """A byte now and then is no progress."""
    strict = Server(dsn(), "--request-read-timeout-ms", "800")
    with connect(strict) as connection:
        connection.sendall(head("POST", "/projects/drip/import", "Content-Length: 100000"))
        cut = False
        for _ in range(600):
            try:
                connection.sendall(b" ")
            except OSError:
                cut = True
                break
            time.sleep(0.05)
        assert cut
    strict.stop()


def test_client_leaves_an_upload():
    """Half a line is never taken for one; the place is free again."""
    single = Server(dsn(), "--transfers-max", "1")
    for _ in range(5):
        with connect(single) as connection:
            connection.sendall(head("POST", "/projects/left/import", "Content-Length: 1000000") +
                               b'{"kind":"card","card_id":"cut","content":1}')
        await_(lambda: load("left", b"", on=single).status == 200)
    assert export("left", on=single).body == b""
    single.stop()


def test_client_leaves_an_export():
    """Its transaction ends promptly, wherever it stood."""
    load("big", lines_of(card(n, content="b" * 4000) for n in range(4000)))
    for wanted in (0, 1, 300_000):
        with connect() as connection:
            connection.sendall(head("GET", "/projects/big/export"))
            while wanted > 0:
                wanted -= len(connection.recv(65536))
        await_(lambda: transfers_in_database() == 0)


def test_reader_that_is_slow():
    """It reads 33 KiB a second: often enough never to be idle, and too little on average."""
    load("big", lines_of(card(n, content="b" * 4000) for n in range(4000)))
    quick = Server(dsn(), "--idle-timeout-s", "3")
    with socket.socket() as connection:
        # Segments of the usual size, not those of the loopback device, keep the server's buffer small.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", quick.port))
        connection.sendall(head("GET", "/projects/big/export"))
        received, piece = 0, b"-"
        with contextlib.suppress(ConnectionResetError):
            while piece and received < 1_000_000:
                piece = connection.recv(4096)
                received += len(piece)
                time.sleep(0.12)
    assert received < 1_000_000, "the client was not disconnected"
    await_(lambda: transfers_in_database() == 0)
    quick.stop()


def test_reader_that_stalls():
    """Backpressure first: the server waits. Then its patience ends."""
    load("big", lines_of(card(n, content="b" * 4000) for n in range(4000)))
    quick = Server(dsn(), "--idle-timeout-s", "2")
    with connect(quick) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(head("GET", "/projects/big/export"))
        await_(lambda: transfers_in_database() == 1)
        await_(lambda: transfers_in_database() == 0)
        received = read_all(connection)
    assert not received.endswith(b"0\r\n\r\n")  # the client can tell
    quick.stop()


# --- how many at once ---


def test_more_than_there_may_be():
    for project in ("big", "large"):
        load(project, lines_of(card(n, content="b" * 4000) for n in range(4000)))
    small = Server(dsn(), "--transfers-max", "2")
    with connect(small) as one, connect(small) as two:
        for connection, project in ((one, "big"), (two, "large")):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            connection.sendall(head("GET", f"/projects/{project}/export"))
            connection.recv(10)
        for answer in (export("other", on=small), load("big", lines_of([card(1, content=1)]), on=small)):
            assert answer.status == 503 and answer.header("Retry-After"), answer
            assert answer.json()["detail"]["error_code"] == "unavailable"
        asked = []

        def is_read():
            asked.append(small.get("/projects/big/cards/card-0000001"))
            return asked[-1].status not in (503, 504)  # a slow machine's: it lasts if transfers are why
        await_(is_read, lambda: asked[-1])
        assert asked[-1].status == 200, asked[-1]
    await_(lambda: export("big", on=small).status == 200)
    small.stop()


def test_one_after_the_other():
    """Who has the last byte of one may begin the next at once."""
    single = Server(dsn(), "--transfers-max", "1")
    answers = parse_responses(single.raw(head("GET", "/projects/after/export") * 300 +
                                         head("GET", "/healthz", "Connection: close")))
    assert [answer.status for answer in answers] == [200] * 301, answers
    single.stop()


def test_one_project_leaves_room_for_others():
    load("big", lines_of(card(n, content="b" * 4000) for n in range(4000)))
    load("small", lines_of([card(1, content=1)]))
    fair = Server(dsn(), "--transfers-max", "3", "--project-transfers-max", "2")
    with connect(fair) as one, connect(fair) as two:
        for connection in (one, two):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            connection.sendall(head("GET", "/projects/big/export"))
            connection.recv(10)
        answer = export("big", on=fair)
        assert answer.status == 503 and answer.header("Retry-After"), answer
        assert "of this project" in answer.json()["detail"]["error_message"], answer
        assert export("small", on=fair).body.count(b"\n") == 1
    await_(lambda: export("big", on=fair).status == 200)
    fair.stop()


def test_last_place_is_for_a_project_without_one():
    """Two projects with as many slow exports as they may have: a third one is served."""
    for project in ("big", "large"):
        load(project, lines_of(card(n, content="b" * 4000) for n in range(4000)))
    load("small", lines_of([card(1, content=1)]))
    fair = Server(dsn(), "--transfers-max", "4", "--project-transfers-max", "2")
    with connect(fair) as one, connect(fair) as two, connect(fair) as three:
        for connection, project in ((one, "big"), (two, "big"), (three, "large")):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            connection.sendall(head("GET", f"/projects/{project}/export"))
            connection.recv(10)
        answer = export("large", on=fair)
        assert answer.status == 503 and answer.header("Retry-After"), answer
        assert "reserved for other projects" in answer.json()["detail"]["error_message"], answer
        assert export("small", on=fair).body.count(b"\n") == 1
        assert load("small", lines_of([card(2, content=1)]), on=fair).status == 200
    fair.stop()


def test_two_at_once():
    """An export and an import of one project, and two exports: none disturbs another."""
    load("both", lines_of(card(n, content="b" * 1000) for n in range(3000)))
    results, roomy = {}, Server(dsn(), "--project-transfers-max", "3")

    def do(name, function):
        results[name] = function()

    threads = [threading.Thread(target=do, args=pair) for pair in (
        ("in", lambda: load("both", lines_of(card(n, content="c") for n in range(3000, 9000)), on=roomy)),
        ("out", lambda: export("both", on=roomy)),
        ("out too", lambda: export("both", {"Accept-Encoding": "gzip"}, on=roomy)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results["in"].json()["cards"]["inserted"] == 6000
    for text in (results["out"].body, gzip.decompress(results["out too"].body)):
        assert text.count(b"\n") >= 3000 and all(map(json.loads, text.splitlines()))
    roomy.stop()


# --- the server and the database stop ---


def test_stop_lets_a_transfer_end():
    load("big", lines_of(card(n, content="b" * 4000) for n in range(4000)))
    ending = Server(dsn())
    with connect(ending) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(head("GET", "/projects/big/export"))
        received = connection.recv(10)
        stopper = threading.Thread(target=ending.stop)
        stopper.start()
        while piece := connection.recv(65536):
            received += piece
        stopper.join()
    assert parse_responses(received)[0].body.count(b"\n") == 4000
    assert not ending.alive()


def test_stop_cuts_at_the_deadline():
    load("big", lines_of(card(n, content="b" * 4000) for n in range(4000)))
    ending = Server(dsn(), "--drain-timeout-ms", "300")
    with connect(ending) as reader, connect(ending) as writer:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        reader.sendall(head("GET", "/projects/big/export"))
        received = reader.recv(10)
        writer.sendall(head("POST", "/projects/halt/import", "Transfer-Encoding: chunked") +
                       chunk(lines_of([card(1, content=1)])))
        ending.stop()
        try:
            while piece := reader.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
    assert not received.endswith(b"0\r\n\r\n")
    assert transfers_in_database() == 0


def test_stop_answers_an_import_at_its_end():
    """Who ends its body just then is told that it was not all."""
    ending = Server(dsn(), "--drain-timeout-ms", "1")
    with connect(ending) as writer:
        writer.sendall(head("POST", "/projects/halt/import", "Transfer-Encoding: chunked") +
                       chunk(lines_of([card(1, content=1)])))
        ending.process.send_signal(cardbox_test.signal.SIGTERM)
        await_(lambda: "event=stopping" in ending.log())
        time.sleep(0.3)
        writer.sendall(b"0\r\n\r\n")
        answer = answer_of(writer)
        assert answer.status == 503 and "stopping" in answer.json()["detail"]["error_message"]
    assert ending.process.wait(cardbox_test.WAIT_S) == 0
    ending.check_log()


def test_stop_does_not_wait_for_a_stuck_statement():
    ending = Server(dsn(), "--drain-timeout-ms", "1")
    with holding(dsn(), "LOCK TABLE cardbox.cards IN ACCESS EXCLUSIVE MODE"), connect(ending) as writer:
        body = lines_of([card(1, content=1)])
        writer.sendall(head("POST", "/projects/stuck/import", f"Content-Length: {len(body)}") + body)
        await_(lambda: transfers_in_database() == 1)
        ending.process.send_signal(cardbox_test.signal.SIGTERM)
        answer = answer_of(writer)
        assert answer.status == 503 and "stopping" in answer.json()["detail"]["error_message"]
        assert ending.process.wait(cardbox_test.WAIT_S) == 0
    ending.check_log()
    await_(lambda: transfers_in_database() == 0)


def test_database_goes_away():
    """An export is cut so that it shows; an import says how far it came; both work again later."""
    own = Postgres()
    mine = own.database()
    there = Server(mine)
    body = lines_of(card(n, content="d" * 4000) for n in range(4000))
    assert load("p", body, on=there).status == 200
    with connect(there) as reader, connect(there) as writer:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        reader.sendall(head("GET", "/projects/p/export"))
        reader.recv(10)
        writer.sendall(head("POST", "/projects/q/import", "Transfer-Encoding: chunked"))
        writer.sendall(chunk(lines_of(card(n, content="d" * 4000) for n in range(2000))))
        await_(lambda: int(own.psql(mine, "SELECT count(*) FROM cardbox.cards WHERE "
                                        "tenant_id = 'q'")) >= 1500)
        own.stop("immediate")
        assert not read_all(reader).endswith(b"0\r\n\r\n")
        writer.sendall(chunk(lines_of(card(n, content="d" * 4000) for n in range(2000, 4000))) +
                       b"0\r\n\r\n")
        answer = answer_of(writer)
    assert answer.status == 503, answer
    settled = int(re.search(r"up to line (\d+)", answer.json()["detail"]["error_message"]).group(1))
    assert 1000 <= settled < 4000, answer
    assert load("q", body, on=there).status == 503
    own.start()
    await_(lambda: there.get("/readyz").status == 200)
    count = int(own.psql(mine, "SELECT count(*) FROM cardbox.cards WHERE tenant_id = 'q' AND "
                         f"card_id < 'card-{settled:07d}'"))
    assert count == settled, (count, settled)
    await_(lambda: load("q", body, on=there).status == 200)
    assert export("q", on=there).body.count(b"\n") == 4000
    there.stop()
    own.remove()


# --- memory ---


def test_memory_is_bounded():
    """What goes through is many times what the server may grow by."""
    fresh = Server(dsn())
    fresh.get("/readyz")
    before = fresh.peak_rss_kb()
    rng = random.Random(1)
    words = " ".join(str(rng.random()) for _ in range(1000))
    rows = BIG_MB * 1024 * 1024 // 8192
    with connect(fresh) as connection:
        connection.sendall(head("POST", "/projects/huge/import", "Transfer-Encoding: chunked"))
        for start in range(0, rows, 100):
            connection.sendall(chunk(lines_of(
                card(n, content={"n": n, "text": words[n % 1000:n % 1000 + 8000]})
                for n in range(start, min(start + 100, rows)))))
        connection.sendall(chunk(lines_of([pages_of_ids(100_000)])) + b"0\r\n\r\n")
        assert answer_of(connection).json()["cards"]["inserted"] == rows
    with connect(fresh) as connection:
        connection.sendall(head("GET", "/projects/huge/export", "Connection: close"))
        total, lines = 0, 0
        while piece := connection.recv(1 << 20):
            total, lines = total + len(piece), lines + piece.count(b"\n")
    assert total > rows * 8000 and lines > rows
    grown = (fresh.peak_rss_kb() - before) / 1024
    # Sanitizers keep what was freed.
    assert LIGHT or grown < 40, f"{grown:.0f} MB more than before"
    print(f"        {grown:.1f} MB more than before")
    fresh.stop()


def test_stops_clean():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

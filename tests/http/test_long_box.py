#!/usr/bin/env python3
"""Boxes of so many ids that GET gives them page by page: whole and in order, wherever pages, runs
and forks meet; as of one version while others append; cut, so that it shows, when they can't be
completed; and in bounded memory."""

import gzip
import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, Server, once, parse_responses

PAGE = 10000
SIZES = (PAGE - 1, PAGE, PAGE + 1, PAGE + 63, 2 * PAGE, 2 * PAGE + 64, 3 * PAGE + 1)
HUGE = 100_000 if LIGHT else 400_000


def box_id(number):
    return f"01970000-0000-7000-8000-{number:012d}"


def path(number):
    return f"/projects/p/boxes/{box_id(number)}"


def ids_of(count):
    return [f"id-{number}" for number in range(count)]


@once
def dsn():
    made = Postgres.shared().database()
    rows = "\n".join(json.dumps({"kind": "box", "box_id": box_id(count), "card_ids": ids_of(count)})
                     for count in (*SIZES, HUGE))
    cardbox_test.cardbox("import", "--dsn", made, "--project", "p", stdin=rows)
    return made


@once
def server():
    return Server(dsn())


def box(*arguments):
    command, *rest = arguments
    return cardbox_test.cardbox("box", command, "--dsn", dsn(), "--project", "p", *rest)


def test_all_sizes():
    for count in SIZES:
        answer = server().get(path(count))
        assert answer.status == 200 and answer.json()["card_ids"] == ids_of(count), count
        assert list(answer.json()) == ["box_id", "card_ids", "version", "length", "parent_ids",
                                       "created_at", "updated_at", "sealed"]
        assert answer.json()["length"] == count and answer.json()["version"] == 1
        streamed = answer.header("Transfer-Encoding") == "chunked"
        assert streamed == (count > PAGE), answer.headers


def test_same_on_one_connection():
    """Requests behind such an answer are answered in their turn."""
    with server().client() as client:
        for count in (*SIZES, *SIZES):
            assert client.request("GET", path(count)).json()["length"] == count
            assert client.request("GET", "/healthz").status == 200


def test_gzip():
    for count in SIZES:
        packed = server().get(path(count), {"Accept-Encoding": "gzip"})
        assert packed.header("Content-Encoding") == "gzip"
        assert gzip.decompress(packed.body) == server().get(path(count)).body


def test_tag():
    """Without the ids having been read: it changes with the version, and 304 has no body."""
    for count in (PAGE + 63, 3 * PAGE + 1):
        first = server().get(path(count))
        tag = first.header("ETag")
        assert tag.startswith(f'"{first.json()["version"]}-') and tag == server().get(path(count)).header("ETag")
        packed = server().get(path(count), {"Accept-Encoding": "gzip"}).header("ETag")
        assert packed == tag[:-1] + '-gz"'
        for known in (tag, packed, "*"):
            answer = server().get(path(count), {"If-None-Match": known})
            assert (answer.status, answer.body) == (304, b""), answer
    assert len({server().get(path(count)).header("ETag") for count in SIZES}) == len(SIZES)


def test_head():
    raw = server().raw(f"HEAD {path(2 * PAGE)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    answer, = parse_responses(raw, head=True)
    assert answer.status == 200 and answer.header("ETag") and raw.endswith(b"\r\n\r\n"), raw


def test_forks_and_moments():
    """Of a fork the first pages are the parent's; earlier versions and lengths stream too."""
    box("fork", box_id(3 * PAGE + 1), "--new-id", box_id(1), "--at-length", str(PAGE + 7))
    box("append", box_id(1), *(f"own-{n}" for n in range(100)))
    wanted = ids_of(PAGE + 7) + [f"own-{n}" for n in range(100)]
    assert server().get(path(1)).json()["card_ids"] == wanted
    version = server().get(path(1)).json()["version"]
    before = server().get(path(1) + f"?at_version={version - 1}").json()
    assert before["card_ids"] == ids_of(PAGE + 7) and before["version"] == version - 1
    for length in (PAGE, PAGE + 1, PAGE + 8, 0):
        part = server().get(path(1) + f"?at_length={length}")
        assert part.json()["card_ids"] == wanted[:length], length
        assert part.header("ETag") != server().get(path(1)).header("ETag")


def test_as_of_one_version():
    """Others append and replace between two pages: the answer is what it began as."""
    box("fork", box_id(HUGE), "--new-id", box_id(2))
    with socket.create_connection(("127.0.0.1", server().port), timeout=60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(f"GET {path(2)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        received = connection.recv(100)
        box("append", box_id(2), "late")
        cardbox_test.cardbox("import", "--dsn", dsn(), "--project", "p", stdin=json.dumps(
            {"kind": "box", "box_id": box_id(2), "card_ids": ["other"]}))
        while piece := connection.recv(1 << 16):
            received += piece
    assert parse_responses(received)[0].json()["card_ids"] == ids_of(HUGE)
    assert server().get(path(2)).json()["card_ids"] == ["other"]


def test_deleted_in_the_middle():
    """What can't be completed has no last chunk."""
    cardbox_test.cardbox("import", "--dsn", dsn(), "--project", "p", stdin=json.dumps(
        {"kind": "box", "box_id": box_id(3), "card_ids": [f"{n:0500d}" for n in range(5 * PAGE)]}))
    with socket.create_connection(("127.0.0.1", server().port), timeout=60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(f"GET {path(3)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        received = connection.recv(100)
        Postgres.shared().psql(dsn(), "UPDATE cardbox.card_boxes SET deleted_at = now() WHERE "
                                      f"box_id = '{box_id(3)}'")
        try:
            while piece := connection.recv(1 << 16):
                received += piece
        except ConnectionResetError:
            pass
    assert received.startswith(b"HTTP/1.1 200") and not received.endswith(b"0\r\n\r\n")
    assert server().get(path(3)).status == 404


def test_a_log_that_lies():
    """A worker may write into its own log what it likes: that there are not so many ids is found before the
    answer begins."""
    box("fork", box_id(2 * PAGE), "--new-id", box_id(4))
    Postgres.shared().psql(dsn(), "INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op,"
                           " chain_id, length, added, at) SELECT tenant_id, box_id, 9, 'append', chain_id,"
                           " 9223372036854775807, 1, at FROM cardbox.card_box_log WHERE box_id ="
                           f" '{box_id(4)}'")
    answer = server().get(path(4) + "?at_version=9")
    assert answer.status == 500 and b"the box is damaged" in answer.body, answer


def test_a_gap_in_the_middle():
    """Which nobody could know when the answer began: it ends, and not as if it were whole."""
    box("fork", box_id(3 * PAGE + 1), "--new-id", box_id(5))
    ids = json.dumps({"card_ids": ids_of(PAGE)}).encode()
    for _ in range(3):
        answer = server().request("POST", path(5) + "/append", ids, {"Content-Type": "application/json"})
        assert answer.status == 200, answer
    Postgres.shared().psql(dsn(), "DELETE FROM cardbox.card_box_segments s USING cardbox.card_boxes b WHERE b.box_id ="
                           f" '{box_id(5)}' AND s.chain_id = b.chain_id AND s.start = {3 * PAGE // 64 * 64 + 640}")
    with socket.create_connection(("127.0.0.1", server().port), timeout=60) as connection:
        connection.sendall(f"GET {path(5)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        received = b""
        try:
            while piece := connection.recv(1 << 16):
                received += piece
        except ConnectionResetError:
            pass
    assert received.startswith(b"HTTP/1.1 200") and not received.endswith(b"0\r\n\r\n")


def test_budget_is_for_others():
    """One that is streamed may be larger than --response-max; batches and short ones may not."""
    small = Server(dsn(), "--response-max", "100000")
    assert small.get(path(2 * PAGE)).json()["card_ids"] == ids_of(2 * PAGE)
    assert small.get(path(PAGE)).status == 413
    assert small.post("/projects/p/boxes/batch", {"box_ids": [box_id(2 * PAGE)]}).status == 413
    small.stop()


def test_memory_is_bounded():
    fresh = Server(dsn())
    fresh.get(path(PAGE + 1))
    before = fresh.rss_kb()
    assert fresh.get(path(HUGE)).json()["length"] == HUGE
    grown = (fresh.rss_kb() - before) / 1024
    # Sanitizers keep what was freed.
    assert LIGHT or grown < 8, f"{grown:.0f} MB more than before"
    fresh.stop()


def test_stop_while_one_reads():
    """A reader that goes on gets all of it; the server then ends."""
    ending = Server(dsn())
    with socket.create_connection(("127.0.0.1", ending.port), timeout=60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(f"GET {path(HUGE)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        received = connection.recv(100)
        ending.process.send_signal(cardbox_test.signal.SIGTERM)
        while piece := connection.recv(1 << 16):
            received += piece
    assert parse_responses(received)[0].json()["length"] == HUGE
    assert ending.process.wait(cardbox_test.WAIT_S) == 0
    ending.check_log()


def test_stops_clean():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

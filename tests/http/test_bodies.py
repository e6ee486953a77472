#!/usr/bin/env python3
"""Bodies of requests take a bounded part of --memory-max: past it large ones are answered with 503,
small ones pass, and whatever becomes of a request, its part is given back."""

import concurrent.futures
import http.client
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Postgres, Server, await_, holding, once

BATCH = "/projects/p/cards/batch"
MB = 1 << 20
OPTIONS = ("--memory-max", "64M", "--body-max", "4M", "--loops", "2")
PLACES = 8  # for bodies of 4 MB: half of it is for all of them


@once
def dsn():
    return Postgres.shared().database()


@once
def server():
    return Server(dsn(), *OPTIONS)


def body(size):
    """Of so many bytes, and good for BATCH."""
    empty = json.dumps({"card_ids": ["a"], "x": ""}).encode()
    return empty[:-2] + b"y" * (size - len(empty)) + empty[-2:]


LARGE = body(4 * MB - 1000)


def await_held(least, most, on=None):
    def held():
        return (on or server()).metric("cardbox_request_bodies_held_bytes")
    await_(lambda: least <= held() <= most, lambda: f"{held()} of {least} to {most}")


def refused():
    return server().metric('cardbox_errors_total{error_code="unavailable",reason="bodies_full"')


class Upload:
    """A request whose body is sent when it is told to be."""

    def __init__(self, *headers, path=BATCH, on=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", (on or server()).port, timeout=120)
        self.connection.putrequest("POST", path)
        for name, value in (("Content-Type", "application/json"), *headers):
            self.connection.putheader(name, str(value))
        self.connection.endheaders()

    def send(self, data):
        self.connection.send(data)
        return self

    def send_chunk(self, data):
        return self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def answer(self):
        response = self.connection.getresponse()
        return response.status, response.getheader("Retry-After"), response.read()

    def leave(self):
        self.connection.close()


def begun(size=len(LARGE), **where):
    return Upload(("Content-Length", size), **where)


def check_full(answer):
    status, retry_after, text = answer
    detail = json.loads(text)["detail"]
    assert status == 503 and int(retry_after) >= 1 and detail["error_code"] == "unavailable", answer
    assert "--memory-max" in detail["error_message"] and detail["hint"], detail


def check_fine(answer):
    assert answer[0] == 200, answer


def test_full():
    """Who is promised memory has it; who comes later is refused, and let in once there is room."""
    holders, before = [begun() for _ in range(PLACES)], refused()
    await_held(PLACES * len(LARGE), 32 * MB)
    late = begun().send(LARGE)
    check_full(late.answer())
    check_full(begun(100_000).send(body(100_000)).answer())
    check_full(Upload(("Content-Length", len(LARGE)), ("Expect", "100-continue")).answer())
    in_chunks = Upload(("Transfer-Encoding", "chunked")).send_chunk(LARGE).send(b"0\r\n\r\n")
    check_full(in_chunks.answer())
    assert refused() == before + 4
    await_held(PLACES * len(LARGE), 32 * MB)
    for size in (1000, 64 * 1024):
        check_fine(begun(size).send(body(size)).answer())
    check_fine(Upload(("Transfer-Encoding", "chunked")).send_chunk(body(60_000)).send(b"0\r\n\r\n")
               .answer())
    check_fine(holders.pop().send(LARGE).answer())
    await_held(0, 28 * MB)
    check_fine(begun().send(LARGE).answer())
    await_held(0, 28 * MB)  # the server frees a body after its answer is sent
    late.connection.request("POST", BATCH, LARGE, {"Content-Type": "application/json"})
    check_fine(late.answer())
    for start in range(0, len(LARGE), MB):  # a slow one
        holders[0].send(LARGE[start:start + MB])
        time.sleep(0.05)
    check_fine(holders.pop(0).answer())
    for holder in holders:
        holder.send(LARGE[:MB]).leave()
    await_held(0, 0)


def test_given_back():
    """However it ends."""
    in_chunks = ("Transfer-Encoding", "chunked")
    broken = Upload(in_chunks).send_chunk(body(MB))
    await_held(MB, 2 * MB)
    broken.send(b"5\nhello\r\n0\r\n\r\n")
    assert broken.answer()[0] == 400
    endless = Upload(in_chunks).send_chunk(LARGE).send_chunk(LARGE).send(b"0\r\n\r\n")
    assert endless.answer()[0] == 413
    assert begun().send(b"{" * len(LARGE)).answer()[0] == 400
    await_held(0, 0)
    own = Server(dsn(), *OPTIONS, "--request-read-timeout-ms", "1000")
    own.await_ready()
    slow = begun(on=own).send(LARGE[:1000])
    cut_off = cardbox_test.read_all(slow.connection.sock)
    assert cut_off == b"", cut_off
    await_held(0, 0, own)
    own.stop()
    own = Server(dsn(), *OPTIONS, "--database-timeout-ms", "5000")
    own.await_ready()
    with holding(dsn(), "LOCK TABLE cardbox.cards IN ACCESS EXCLUSIVE MODE"):
        late, left = begun(on=own).send(LARGE), begun(on=own).send(LARGE)
        await_held(2 * len(LARGE), 8 * MB, own)
        left.leave()
        assert late.answer()[0] == 504
        await_held(0, 0, own)
    own.stop()


def test_alone():
    """One that is larger than all may be passes when it is alone."""
    own = Server(dsn(), *OPTIONS, "--body-max", "64M")
    own.await_ready()
    check_fine(begun(40 * MB, on=own).send(body(40 * MB)).answer())
    await_held(0, 0, own)
    holder = begun(on=own)
    await_held(1, 4 * MB, own)
    check_full(begun(40 * MB, on=own).send(body(40 * MB)).answer())
    holder.leave()
    own.stop()


def test_streams_take_none():
    upload = Upload(("Transfer-Encoding", "chunked"), path="/projects/imported/import")
    upload.send_chunk(b"".join(b'{"kind":"card","card_id":"%d","content":"%s"}\n' % (n, b"z" * 100_000)
                               for n in range(200)))  # more than sockets hold: most was read
    await_held(0, 0)
    check_fine(upload.send(b"0\r\n\r\n").answer())


def test_many_writes():
    """All come in at last, and what they take of the process is bounded meanwhile."""
    own = Server(dsn(), *OPTIONS)
    own.await_ready()
    clients, before, statuses = 12 if LIGHT else 64, own.rss_kb(), []

    def write(number):
        card = json.dumps({"card_id": f"w{number}", "content": "w" * (4 * MB - 1000)})
        while True:
            status, retry_after, _ = (begun(len(card), path="/projects/p/cards", on=own)
                                      .send(card.encode()).answer())
            statuses.append(status)
            if status != 503:
                return
            time.sleep(int(retry_after) / 4)

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        list(pool.map(write, range(clients)))
    assert statuses.count(200) == clients and set(statuses) <= {200, 503}, set(statuses)
    await_held(0, 0, own)
    # Half of it for bodies, and as much again for what is made of them.
    assert LIGHT or own.peak_rss_kb() < before + (160 << 10), own.peak_rss_kb()
    own.stop()


if __name__ == "__main__":
    cardbox_test.main()

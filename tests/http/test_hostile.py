#!/usr/bin/env python3
"""More than ten thousand malformed requests (hostile.py) against one cardboxd.

Never 5xx, a well-formed error body where one of ours is due, an end within seconds; and after all
of it the server answers rightly, has not grown, and stops cleanly. CARDBOX_TEST_SEED repeats a run.
"""

import concurrent.futures
import json
import os
import random
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import hostile
from cardbox_test import Postgres, Server, await_, parse_responses

SEED = int(os.environ.get("CARDBOX_TEST_SEED", "20250102"))
SHARE = 0.2 if cardbox_test.LIGHT else 1.0
PATIENCE_S = 60
QUIET_S = 0.25
SLOW_MS = 3000  # when the server gives up on a request that doesn't come to its end
THREADS = 24
FAULTS_MAX = 10
GROWTH_KB_MAX = 600 << 10 if cardbox_test.LIGHT else 64 << 10  # sanitizers keep freed memory
HTML_STATUSES = (400, 413, 414, 431, 505)  # what libmicrohttpd answers by itself

# Generator, and how many of its requests are sent.
PLAN = [
    (hostile.junk_json, 4000), (hostile.wrong_types, 2000), (hostile.bad_paths, 1500),
    (hostile.bad_headers, 800), (hostile.truncated, 600), (hostile.early_disconnects, 2000),
    (hostile.wild_methods, 400), (hostile.smuggling, 300), (hostile.bad_chunks, 300),
    (hostile.bad_start_lines, 300), (hostile.pipelined, 100), (hostile.dribbled, 80),
    (hostile.oversized, 30), (hostile.half_closed, 300),
]

ROWS = [
    {"kind": "card", "card_id": "a", "content": {"__type__": "TextContent", "text": "alpha"}},
    {"kind": "card", "card_id": "b", "content": {"any": ["json", 1]}},
    {"kind": "card", "card_id": hostile.MARKER.decode(), "content": "MARKER OF THE SMUGGLED"},
    {"kind": "box", "box_id": hostile.BOX.decode(), "card_ids": ["a", "b", "nope"]},
]


class Seen:
    sent = 0
    rss_kb = 0  # after the first plan
    files = 0   # open ones, at the start


@cardbox_test.once
def prepare():
    dsn = Postgres.shared().database()
    path = os.path.join(cardbox_test.temp_dir(), "rows.ndjson")
    with open(path, "w", encoding="utf-8") as rows:
        rows.writelines(json.dumps(row) + "\n" for row in ROWS)
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "p", path)
    server = Server(dsn, "--request-read-timeout-ms", str(SLOW_MS))
    assert server.request("PUT", hostile.SESSION.decode()).status == 200
    Seen.files = open_files(server)
    return server


def open_files(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


# --- sending one ---


def send(port, attempt):
    """Returns the bytes received. Raises on a server that hangs."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        try:
            send_data(connection, attempt)
        except OSError:
            pass  # it may answer and close before it has read everything
        if attempt.send == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, hostile.linger_zero())
        if attempt.send in ("reset", "leave"):
            time.sleep(random.random() * 0.003)  # its request may have got as far as the database
            return b""
        if attempt.send == "shut":
            connection.shutdown(socket.SHUT_WR)
        received, closed = receive(connection, b"", attempt)
        if closed or attempt.send == "open":
            return received
        # libmicrohttpd 0.9.75 overlooks the end of a stream that comes along with data (its epoll
        # set is edge-triggered); a moment later it must see it, and has nothing more to say.
        time.sleep(0.005)
        try:
            if attempt.send == "half":
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            return received
        received, closed = receive(connection, received, None)
        assert closed, f"not closed within {PATIENCE_S} s after {received[:300]!r}"
        return received


def send_data(connection, attempt):
    step = attempt.pieces or len(attempt.data) or 1
    for start in range(0, len(attempt.data), step):
        connection.sendall(attempt.data[start:start + step])
        if attempt.pieces:
            time.sleep(0.01)


def receive(connection, received, attempt):
    """Reads on until all answers to the attempt are there, or the server closes.

    (all that was received, whether the server closed). None for the attempt: until it closes. A
    request that may be incomplete gets no answer: QUIET_S of silence are enough to see that.
    """
    patience = QUIET_S if attempt and attempt.send == "half" else PATIENCE_S
    deadline = time.monotonic() + patience
    while not (attempt and is_complete(received, attempt)):
        try:
            connection.settimeout(max(0.01, deadline - time.monotonic()))
            piece = connection.recv(1 << 16)
        except socket.timeout:
            assert not attempt or attempt.send == "half", f"no answer within {patience} s"
            return received, False
        except OSError:
            return received, True
        if not piece:
            return received, True
        received += piece
    return received, False


def is_complete(received, attempt):
    if b"\r\n\r\n" not in received:
        return False
    try:
        found = parse_responses(received, is_head(attempt))
    except ValueError:
        return False
    return len([response for response in found if response.status != 100]) >= attempt.responses


def is_head(attempt):
    return attempt.data.startswith(b"HEAD ")


# --- judging the answer ---


def check(attempt, received):
    assert b"MARKER OF THE SMUGGLED" not in received, "the smuggled request was answered"
    if attempt.send in ("reset", "leave") or not received:
        assert attempt.send not in ("open", "shut"), "closed without an answer"
        return
    received = without_html(attempt, received)
    responses = parse_responses(received, is_head(attempt))
    responses = [response for response in responses if response.status != 100]
    assert len(responses) <= attempt.responses, f"{len(responses)} answers: {received[:600]!r}"
    for response in responses:
        check_response(attempt, response)
    if attempt.ours and responses[-1].header("Connection", "").lower() != "close":
        assert len(responses) == attempt.responses, f"{len(responses)} of {attempt.responses} answers"


def without_html(attempt, received):
    """What came before libmicrohttpd's own refusal, after which it closes.

    It may follow an answer of ours: a line that begins with NUL or a colon ends the header block
    for it, and the rest is then no request. Its answer isn't parsed: some have the head twice.
    """
    start = received.find(b"HTTP/1.1 ")
    while start >= 0:
        head = received[start:].partition(b"\r\n\r\n")[0]
        if b"X-Request-Id:" not in head and (b"<html>" in received or is_head(attempt)):
            assert not attempt.ours, f"libmicrohttpd's own answer: {received[:600]!r}"
            assert int(head[9:12]) in (*HTML_STATUSES, *attempt.allowed), head
            return received[:start]
        start = received.find(b"HTTP/1.1 ", start + 1)
    return received


def seemed_to_leave(attempt, response):
    """Who closes his side, and has no answer for a while, may be taken for one that has left."""
    return (attempt.send in ("half", "shut") and response.status == 503
            and (is_head(attempt) or b"seems to have left" in response.body))


def check_response(attempt, response):
    assert (response.status < 500 or response.status in attempt.allowed
            or seemed_to_leave(attempt, response)), response
    assert response.header("X-Request-Id"), f"not ours: {response} {response.headers}"
    if response.status >= 400 and not is_head(attempt):
        assert response.header("Content-Type", "").startswith("application/json"), response.headers
        check_error(response)
    if response.status == 405:
        assert response.header("Allow"), response.headers


def check_error(response):
    detail = response.json()["detail"]
    if isinstance(detail, dict):
        assert detail["error_code"] and detail["error_message"], detail
        assert set(detail) <= {"error_code", "error_message", "hint", "current_version", "outcome",
                                "outcomes", "faults"}, detail
    elif isinstance(detail, list):
        assert response.status == 422 and detail, response
        assert all(item["type"] and item["msg"] and item["loc"] for item in detail), detail
    else:
        assert response.status in (404, 405) and isinstance(detail, str), response


def check_good(server):
    """Good requests get their right answers, on one connection."""
    with server.client() as client:
        card = client.request("GET", "/projects/p/cards/a")
        assert card.status == 200 and card.json()["content"] == {"text": "alpha"}, card
        batch = client.request("POST", "/projects/p/cards/batch", '{"card_ids":["b","nope"]}',
                               {"Content-Type": "application/json"})
        assert batch.status == 200 and batch.json()["missing_ids"] == ["nope"], batch
        assert client.request("GET", "/readyz").status == 200


# --- cases ---


def run_one(port, attempt):
    """None, or what went wrong, with the bytes that repeat it."""
    try:
        check(attempt, send(port, attempt))
        return None
    except Exception as error:  # the others must still run
        return f"{type(error).__name__}: {error}\n      after {attempt.data[:600]!r}"


def run_batch(port, batch):
    """The faults. Gives up after some: each hang costs seconds."""
    faults = []

    def run(attempt):
        if len(faults) < FAULTS_MAX:
            fault = run_one(port, attempt)
            if fault:
                faults.append(fault)

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, batch))
    return faults


def run_plan(generator, count):
    server = prepare()
    attempts = generator(random.Random(f"{SEED} {generator.__name__}"))
    batch = [next(attempts) for _ in range(max(10, int(count * SHARE)))]
    faults = run_batch(server.port, batch)
    Seen.sent += len(batch)
    Seen.rss_kb = Seen.rss_kb or server.rss_kb()
    assert server.alive(), server.log()
    assert not faults, f"{len(faults)} of {len(batch)}:\n" + "\n".join(faults[:5])
    check_good(server)


def test_requests():
    for generator, count in PLAN:
        yield generator.__name__, lambda g=generator, c=count: run_plan(g, c)


BAD_LENGTHS = (b"+41", b"-1", b"41, 41", b"41,", b"41;", b"4 1", b"0x29", b"4e1", b"", b" ", b"\t", b"\xc2\xb2",
               b"18446744073709551615", b"18446744073709551616", b"9" * 40, b"41\r\nContent-Length: 41",
               b"41\r\nContent-Length: 2", b"41\r\nTransfer-Encoding: chunked", b"+41\r\nTransfer-Encoding: chunked",
               b"+41\r\nTransfer-Encoding: gzip", b"41\r\nTransfer-Encoding: identity")


def one_refusal(lines, chunk=None):
    """A connection on which a second request follows gets at most one answer, which ends it. Where it is not ours,
    libmicrohttpd 0.9.75 may send its head twice, or nothing."""
    body = b'{"card_ids":["a","b","c","d","e","f","g"]}'[:41]
    start = b"POST " + hostile.CARDS_BATCH + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    data = start + lines + b"\r\n\r\n" + body + hostile.SMUGGLED
    raw = prepare().raw(data, chunk=chunk, pause=0.002 if chunk else 0)
    if not raw:
        return
    if b"<html>" in raw:
        assert raw.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 ", b"HTTP/1.1 431 ")), raw
        assert b"Connection: close" in raw and b"HTTP/1.1 200" not in raw and b"X-Request-Id" not in raw, raw
        return
    answer, = parse_responses(raw)
    assert answer.status == 400 and answer.header("Connection") == "close" and answer.header("X-Request-Id"), answer
    assert answer.json()["detail"]["error_code"] == "bad_request", answer


def test_lengths_that_are_none():
    for value in BAD_LENGTHS:
        for chunk in (None, 50):
            yield f"{value[:50]!r} {chunk}", lambda v=value, c=chunk: one_refusal(b"Content-Length: " + v, c)


def test_cookies_without_end():
    one_refusal(b"Cookie: " + b"a=b; " * 2000)


def test_refusals_are_counted_and_hurt_no_neighbour():
    """A head that is half there stays, while others are refused."""
    server = prepare()
    refused = server.metric('cardbox_errors_total{error_code="bad_request"')
    half = b"GET /projects/p/cards/a HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as waiting:
        waiting.sendall(half)
        for _ in range(20):
            one_refusal(b'A"B: 1')
        waiting.sendall(b"Connection: close\r\n\r\n")
        answers = parse_responses(cardbox_test.read_all(waiting))
    assert [answer.status for answer in answers] == [200], answers
    assert server.metric('cardbox_errors_total{error_code="bad_request"') == refused + 20


def test_count():
    assert Seen.sent >= 10000 * SHARE, Seen.sent


def test_memory_and_connections():
    """What malformed requests took was given back."""
    server = prepare()
    growth = server.rss_kb() - Seen.rss_kb
    assert growth < GROWTH_KB_MAX, f"grew by {growth} kB"
    await_(lambda: open_files(server) <= Seen.files + 16, lambda: f"{open_files(server)}, {Seen.files} at first")


def test_stop():
    """At once, since no request is under way: none of the thousands may still count as one."""
    server = prepare()
    check_good(server)
    server.stop(wait=5)


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Connections: more of them than the server may have, idle ones, and those on which a request comes slowly or never."""

import contextlib
import os
import select
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import WAIT_S, Server, await_, cardboxd, dsn, holding, load, once

CARD = "/projects/p/cards/a"
BATCH = "/projects/p/cards/batch"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
GET_CARD = b"GET " + CARD.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n"
MOST = 20  # connections, in most cases
RESERVED = 8  # for health checks, beyond MOST
GAVE_WAY = "another client needs the connection"


@once
def database():
    load(dsn(), {"kind": "card", "card_id": "a", "content": {"text": "alpha"}})
    return dsn()


@contextlib.contextmanager
def serving(*options, prefix=()):
    server = Server(database(), *options, prefix=prefix)
    try:
        server.await_ready()
        # From here on, nobody else is connected.
        await_(lambda: server.metric("cardbox_client_connections") == 1)
        yield server
        server.stop()
    finally:
        server.kill()


def small(loops=1, *options):
    return serving("--loops", str(loops), "--connections-max", str(MOST), "--log-level", "debug", *options)


def connect(server, data=b""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S)
    connection.sendall(data)
    return connection


def connect_all(server, count, data=b""):
    return [connect(server, data) for _ in range(count)]


def locked():
    """The card can't be read while this holds."""
    return holding(database(), "LOCK TABLE cardbox.cards IN ACCESS EXCLUSIVE MODE")


def check_answered(connections):
    for connection in connections:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.close()


def check_closed(connection):
    with contextlib.suppress(ConnectionResetError):
        assert connection.recv(4096) == b""


def idle_clients(server, count):
    """They have had an answer; the first has been idle longest."""
    clients = [server.client() for _ in range(count)]
    for client in clients:
        assert client.request("GET", CARD).status == 200
    return clients


# --- more than may be connected ---


def check_crowd(server, count):
    """More clients than may be connected: each gets its answer, and nothing is left of them."""
    for _ in range(5):
        for connection in connect_all(server, count):
            connection.close()
        idle = connect_all(server, count)
        time.sleep(0.05)
        for connection in idle:
            connection.close()
        assert all(server.get("/healthz").status == 200 for _ in range(8))
        waiting = connect_all(server, count, HEALTH)
        while waiting:
            readable = select.select(waiting, [], [], WAIT_S)[0]
            assert readable, f"{len(waiting)} were not served"
            for connection in readable:
                assert connection.recv(4096).startswith(b"HTTP/1.1 200")
                connection.close()
                waiting.remove(connection)


def test_crowd():
    for loops in (1, 2):
        with small(loops) as server:
            check_crowd(server, 70)


def test_few_descriptors():
    """The connections are fewer then, and all of them closed again it is as before."""
    with serving("--loops", "1", prefix=("prlimit", "--nofile=72")) as server:
        assert "connections_max_lowered" in server.log()
        check_crowd(server, 100)
    done = cardboxd("--dsn", database(), "--loops", "1", "--listen", "127.0.0.1:0", prefix=("prlimit", "--nofile=48"))
    assert done.returncode == 1 and "file descriptors" in done.stderr, done


def test_longest_idle_gives_way():
    with small() as server:
        clients = idle_clients(server, MOST)
        assert clients[0].request("GET", CARD).status == 200  # now the second has been idle longest
        others = idle_clients(server, 3)
        for client in clients[1:4]:
            check_closed(client.connection.sock)
        assert {client.request("GET", CARD).status for client in clients[:1] + clients[4:] + others} == {200}
        assert server.log().count(GAVE_WAY) == 3


def test_idle_ones_of_all_loops_give_way():
    """Also if some requests are under way."""
    with small(2) as server:
        with locked():
            busy = connect_all(server, MOST // 2, GET_CARD)
            clients = [server.client() for _ in range(MOST // 2 + 5)]
            assert {client.request("GET", "/nowhere").status for client in clients} == {404}
        check_answered(busy)


def test_an_idle_one_of_any_loop_gives_way_first():
    """Before those on which the headers of a request have arrived in part."""
    for place in range(4):  # so the idle one is not in the accepting loop in each case
        with small(2) as server:
            partial = connect_all(server, place, HEALTH[:-2])
            idle, = idle_clients(server, 1)
            partial += connect_all(server, MOST - 1 - place, HEALTH[:-2])
            assert server.get(CARD).status == 200
            check_closed(idle.connection.sock)
            assert not select.select(partial, [], [], 0)[0]
            assert server.log().count(GAVE_WAY) == 1
            for connection in partial:
                connection.close()


def test_silent_ones_give_way():
    with small() as server:
        for data in (b"", b"G", b"GET /nowhere HTTP/1.1\r\nHost: x\r\n"):
            connections = connect_all(server, MOST, data)
            for _ in range(3):
                assert server.get(CARD).status == 200
            check_closed(connections[0])
            for connection in connections:
                connection.close()
            await_(lambda: server.metric("cardbox_client_connections") == 1)


def with_missing_body(path, *headers):
    """A request of whose body only the first byte is sent."""
    lines = [path, "Host: x", "Content-Type: application/json", "Content-Length: 5000", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n{").encode()


def test_bodies_that_nobody_needs_give_way():
    """Of requests that are rejected, or that have no body."""
    for data in (with_missing_body("POST /nowhere HTTP/1.1"), with_missing_body("GET /openapi.json HTTP/1.1"),
                 with_missing_body("POST /projects/p/cards HTTP/1.1", "Origin: http://other.test")):
        with small() as server:
            connections = connect_all(server, MOST, data)
            await_(lambda: server.metric("cardbox_client_connections") >= 1)
            for _ in range(3):
                assert server.get(CARD).status == 200
            check_closed(connections[0])
            for connection in connections:
                connection.close()


def check_probes(server):
    for path in ("/healthz", "/health", "/readyz"):
        answer = server.get(path)
        assert answer.status == 200 and answer.header("Connection") == "close", (path, answer)


def test_probes_find_a_connection():
    """Also while requests are under way on all connections, and others take the reserved ones."""
    for loops in (1, 2):
        with small(loops) as server:
            with locked():
                busy = connect_all(server, MOST, GET_CARD)
                check_probes(server)
                for method, path, body in (("GET", "/metrics", None), ("POST", BATCH, b'{"card_ids":["a"]}')):
                    answer = server.request(method, path, body)
                    detail = answer.json()["detail"]
                    assert answer.status == 503 and detail["error_code"] == "unavailable", answer
                    assert "--connections-max" in detail["error_message"] and detail["hint"], answer
                    assert answer.header("Retry-After") and answer.header("Connection") == "close", answer
                silent = connect_all(server, 2 * RESERVED)
                check_probes(server)
                unsent = connect_all(server, 2 * RESERVED, with_missing_body("GET /healthz HTTP/1.1"))
                check_probes(server)
                silent += unsent
                for connection in silent:
                    connection.close()
                assert not select.select(busy, [], [], 0)[0]
            check_answered(busy)
            assert server.metric('cardbox_errors_total{error_code="unavailable",reason="connections_full"') >= 2


# --- too slow ---


def dribble(connection, data):
    """Sends it byte by byte, and its last one again and again, until the server closes."""
    deadline = time.monotonic() + WAIT_S
    with contextlib.suppress(ConnectionError):
        while not select.select([connection], [], [], 0.05)[0]:
            assert time.monotonic() < deadline, data
            connection.sendall(data[:1])
            data = data[1:] or data
        cardbox_test.read_all(connection)


def test_slow_requests():
    """A request that dribbles in is cut off, however alive it looks; an idle connection is not."""
    with serving("--request-read-timeout-ms", "1500") as server:
        idle, = idle_clients(server, 1)
        head = b"GET " + CARD.encode() + b" HTTP/1.1\r\nHost: x\r\nX: x"
        body = (b"POST " + BATCH.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n ")
        for data in (head, body, b"GET /a"):
            with connect(server) as connection:
                dribble(connection, data)
        assert idle.request("GET", CARD).status == 200


def test_second_request_dribbles():
    with serving("--request-read-timeout-ms", "1000") as server, connect(server, HEALTH) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        time.sleep(1.5)
        dribble(connection, b"GET /a")


def test_nothing_comes():
    """A connection on which nothing ever came is closed; one that waits for its second request is not."""
    with serving("--request-read-timeout-ms", "500") as server:
        idle, = idle_clients(server, 1)
        with connect(server) as silent:
            check_closed(silent)
        assert idle.request("GET", CARD).status == 200


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""What clients get when something is too large, too slow, too many, locked, lost or about to stop."""

import concurrent.futures
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import hostile
from cardbox_test import (CARDBOXD, WAIT_S, Postgres, Server, as_role, await_, cardboxd, holding,
                          parse_responses, psql)

CARD = "/projects/p/cards/a"
BATCH = "/projects/p/cards/batch"
BOX = "01970000-0000-7000-8000-000000000001"
BIG = 20000  # bytes of the large card


def database():
    """A database with two cards and a box; made once."""
    if not hasattr(database, "dsn"):
        rows = [{"kind": "card", "card_id": "a", "content": {"text": "alpha"}},
                {"kind": "card", "card_id": "big", "content": {"text": "b" * BIG}},
                {"kind": "box", "box_id": BOX, "card_ids": ["big", "a", "big"]}]
        path = os.path.join(cardbox_test.temp_dir(), "rows")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(map(json.dumps, rows)))
        dsn = Postgres.shared().database()
        cardbox_test.cardbox("import", "--dsn", dsn, "--project", "p", path)
        database.dsn = dsn
    return database.dsn


@contextlib.contextmanager
def serving(*options, dsn=None, prefix=()):
    server = Server(dsn or database(), *options, prefix=prefix)
    try:
        if dsn is None:
            server.await_ready()
        yield server
        if server.alive():
            server.stop()
        server.check_log()
    finally:
        server.kill()


def locked(dsn):
    """The cards can't be read while this holds."""
    return holding(dsn, "LOCK TABLE cardbox.cards IN ACCESS EXCLUSIVE MODE")


def await_under_way(server, count):
    """Until so many requests are under way, beside the one that asks."""
    await_(lambda: server.metric("cardbox_requests_in_flight") - 1 == count)


def check_error(response, status, code):
    assert response.status == status, response
    detail = response.json()["detail"]
    assert detail["error_code"] == code and detail["error_message"], response
    if status in (503, 504):
        assert int(response.header("Retry-After")) >= 1, response.headers
    return detail


# --- too large ---


def check_limit(response, what, option, limit):
    """Each limit of bytes is named in the same words, with the option that sets it."""
    detail = check_error(response, 413, "too_large")
    assert detail["error_message"] == f"{what} is over the limit of {limit} bytes ({option})", detail
    assert detail["hint"], detail


def test_response_budget():
    with serving("--response-max", str(BIG + 2000)) as server:
        assert server.get("/projects/p/cards/big").status == 200
        for response in (server.get(f"/projects/p/boxes/{BOX}/cards"),
                         server.post("/projects/p/boxes/batch", {"box_ids": [BOX], "hydrate": True})):
            check_limit(response, "the answer", "--response-max", BIG + 2000)
        assert server.get(f"/projects/p/boxes/{BOX}/cards?limit=2").status == 200
    with serving("--response-max", "2K") as server:
        check_error(server.get("/projects/p/cards/big"), 413, "too_large")
        assert server.get(CARD).status == 200


def test_large_reads_at_once():
    """However many large answers are asked for at once, also through joined statements, the memory
    that they take is bounded; neighbours read meanwhile, and afterwards all is as before."""
    if cardbox_test.LIGHT:
        raise cardbox_test.Skip("a sanitizer's allocator does not say what is in use")
    dsn, mb, heavy = Postgres.shared().database(), 1 << 20, 60
    Postgres.shared().psql(dsn, "INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
                                " SELECT 'heavy', 'c' || n, to_jsonb(repeat('x', 4000000)), now()"
                                f" FROM generate_series(1, {heavy}) AS n")
    with serving("--memory-max", "128M", dsn=dsn) as server, \
            concurrent.futures.ThreadPoolExecutor(12) as pool:
        assert server.post("/projects/light/cards", {"card_id": "a", "content": 1}).status == 200
        before = server.rss_kb() << 10
        ids = {"card_ids": [f"c{n}" for n in range(1, heavy + 1)]}
        large = [pool.submit(server.post, "/projects/heavy/cards/batch", ids) for _ in range(12)]
        while not all(done.done() for done in large):
            assert server.get("/projects/light/cards/a").status == 200
        taken = "other requests take the memory for large answers (--memory-max)"
        for done in large:
            if done.result().status == 413:
                check_limit(done.result(), "the memory for large answers", "--memory-max", 128 * mb)
            else:
                detail = check_error(done.result(), 503, "unavailable")
                assert detail["error_message"] == taken and detail["hint"], detail
        assert server.peak_rss_kb() << 10 < before + (128 + 128) * mb, server.peak_rss_kb()
        check_limit(server.post("/projects/heavy/cards/batch", ids), "the memory for large answers",
                    "--memory-max", 128 * mb)  # what does not fit alone either
        some = server.post("/projects/heavy/cards/batch", {"card_ids": ["c1", "c2", "c3"]})
        assert some.status == 200 and len(some.body) > 12_000_000


def test_lines_end_with_cr_lf():
    """Where another program on the way could see other lines there is no request. libmicrohttpd 0.9.75 hides bare line
    feeds."""
    lines = [b"\r\nHost: x\r\nX: a\rY: b\r\n\r\n", b"\r\nHost: x\r\nX: a\r\r\n\r\n"]
    if hostile.library_is_strict():
        lines += [b"\nHost: x\n\n", b"\r\nHost: x\nX: y\r\n\r\n", b"\r\nHost: x\r\nX: y\n\n",
                  b"\r\nHost: x\r\nX: a\r\n b\r\n\r\n"]
    with serving() as server:
        for rest in lines:
            raw = server.raw(b"GET /healthz HTTP/1.1" + rest)
            assert raw.startswith(b"HTTP/1.1 400 ") and raw.count(b"HTTP/1.1 ") == 1, raw
            assert b"Connection: close" in raw, raw


def test_long_targets():
    """A target of 8 KiB is accepted with 100 parameters and a token; with more, the connection may be closed, but
    others are served on."""
    def padded(path, count):
        query = "&".join(["a=1"] * count)
        return f"{path}?{query}&b=" + "x" * (8192 - len(path) - len(query) - 4)

    headers = {"Authorization": "Bearer " + "t" * 60, "Idempotency-Key": "k" * 500, "Cookie": "a=b; c=d",
               "User-Agent": "u" * 200, "Accept": "a" * 200}
    with serving() as server:
        with server.client() as client:
            answer = client.request("GET", padded("/projects/p/cards", 99), headers=headers)
            assert answer.status == 422 and answer.json()["detail"]["faults"][0]["loc"] == ["query", "a"], answer
            assert client.request("GET", padded(CARD, 99), headers=headers).status == 200
            assert client.connection.sock is not None
        many = server.raw(f"GET {padded(CARD, 2000)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert not many or many.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 414 ", b"HTTP/1.1 431 ")), many
        assert server.get(CARD).status == 200


def test_body_limit():
    with serving("--body-max", "10K") as server:
        fits = json.dumps({"card_ids": ["a"], "x": "y" * 9000})
        assert server.request("POST", BATCH, fits).status == 200
        for size in (11000, 39000, 200000):
            with server.client() as client:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    check_limit(client.request("POST", BATCH, b" " * size), "the body", "--body-max", 10240)
        expecting = (b"POST " + BATCH.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n"
                     b"Expect: 100-continue\r\n\r\n")
        check_limit(parse_responses(server.raw(expecting))[0], "the body", "--body-max", 10240)
        chunks = b"400\r\n" + b" " * 1024 + b"\r\n"
        for count, statuses in ((20, [413]), (200, [413, None])):
            raw = server.raw(b"POST " + BATCH.encode() + b" HTTP/1.1\r\nHost: x\r\n"
                             b"Transfer-Encoding: chunked\r\n\r\n" + chunks * count + b"0\r\n\r\n",
                             idle=2)
            found = parse_responses(raw)
            assert (found[0].status if found else None) in statuses, found


def test_chunks_are_framed_by_crlf():
    """Others on the way may see a bare LF or CR between chunks as a line's end, or not. So no request follows a body in
    chunks, also where libmicrohttpd 0.9.75 accepts such a line."""
    body = b'{"card_ids":["a"]}'
    good = b"5\r\n" + body[:5] + b"\r\nD\r\n" + body[5:] + b"\r\n0\r\n\r\n"
    start = (b"POST " + BATCH.encode() + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    smuggled = b"GET " + CARD.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n"

    def sent(text, **how):
        found = parse_responses(server.raw(start + text + smuggled, **how))
        assert len(found) == 1 and found[0].header("Connection") == "close", found
        return found[0]

    with serving() as server:
        assert sent(good).status == 200
        for step in (1, 2, 3, 7, len(start) + 1, len(start) + 3, len(start) + 11):
            assert sent(good, chunk=step, pause=0.002).status == 200, step
        # libmicrohttpd 1.0.1 knows no extensions.
        assert sent(good.replace(b"D\r\n", b"D;ext=1\r\n")).status in (200, 400)
        accepted = 400 if hostile.library_is_strict() else 200
        for right, wrong in ((b"5\r\n", b"5\n"), (b"\r\nD", b"\nD"), (b"0\r\n\r\n", b"0\n\n")):
            assert sent(good.replace(right, wrong)).status == accepted, wrong
        for right, wrong in ((b"5\r\n", b"5\r"), (b"\r\nD", b"\n\rD"), (b"5\r\n", b"5\n\r"),
                             (b"D\r\n", b"D\n=1\r\n")):
            assert sent(good.replace(right, wrong)).status == 400, wrong


def test_ignored_body():
    """A GET's body is read and ignored, whatever it is, and the connection goes on."""
    with serving() as server, server.client() as client:
        for _ in range(3):
            assert client.request("GET", CARD, b"{junk").status == 200
            assert client.request("GET", "/nope", b"x" * 5000).status == 404
        assert client.connection.sock is not None


# --- too slow, too many ---


def test_deadline():
    with serving("--database-timeout-ms", "500") as server, locked(database()):
        with server.client() as client:
            started = time.monotonic()
            check_error(client.request("GET", CARD), 504, "timeout")
            assert time.monotonic() - started > 0.4
            assert client.request("GET", "/healthz").status == 200
        assert server.alive()


def test_deadline_over():
    """Once the lock is gone everything is as before, on the connection that waited too."""
    with serving("--database-timeout-ms", "3000") as server:
        with server.client() as client:
            with locked(database()):
                check_error(client.request("GET", CARD), 504, "timeout")
            await_(lambda: client.request("GET", CARD).status == 200)
            for _ in range(20):
                assert client.request("GET", CARD).status == 200


def test_queue_full():
    count = 40
    with serving("--queue-max", "3", "--loops", "1", "--read-connections", "1") as server:
        with locked(database()), concurrent.futures.ThreadPoolExecutor(count) as pool:
            waiting = pool.submit(server.get, CARD)
            await_under_way(server, 1)
            refused = [pool.submit(server.get, CARD) for _ in range(count)]
            await_(lambda: sum(response.done() for response in refused) >= count - 3)
            await_under_way(server, 4)
            done = {response for response in refused if response.done()}
            assert len(done) == count - 3, len(done)
            for response in done:
                check_error(response.result(), 503, "unavailable")
            assert not waiting.done()
            subprocess.run(["psql", as_role(database(), "postgres"), "-XqAt", "-c",
                            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode ="
                            " 'AccessExclusiveLock' AND relation = 'cardbox.cards'::regclass"],
                           check=True, stdout=subprocess.DEVNULL)
            assert waiting.result().status == 200
            assert all(response.result().status == 200 for response in set(refused) - done)


def test_threads_that_cannot_start():
    if cardbox_test.LIGHT:
        raise cardbox_test.Skip("sanitizers choose the size of stacks by themselves")
    done = cardboxd("--dsn", database(), "--listen", "127.0.0.1:0", prefix=("prlimit", f"--stack={10**14}"))
    assert done.returncode == 1 and "cannot start: out of memory, descriptors or threads" in done.stderr, done


def test_each_thread_starts():
    """The server needs nine threads: six, two that compute, and one that calls registered abilities."""
    if cardbox_test.LIGHT:
        raise cardbox_test.Skip("sanitizers choose the size of stacks by themselves")
    def room(stacks):
        return ("prlimit", f"--stack={16 * 2**30}", f"--as={(16 * stacks + 8) * 2**30}")
    one = ("--loops", "1", "--ability-calls-max", "1", "--project-ability-calls-max", "1")
    for stacks in range(9):
        done = cardboxd("--dsn", database(), *one, "--listen", "127.0.0.1:0", prefix=room(stacks))
        assert done.returncode == 1 and done.stdout == "", (stacks, done)
        assert "cannot start: out of memory, descriptors or threads" in done.stderr, (stacks, done)
    with serving(*one, prefix=room(9)) as server:
        assert server.get(CARD).status == 200


# --- the database ---


def test_killed_backends():
    """A connection that is lost while it is idle, or at work, costs no request."""
    postgres, dsn = Postgres.shared(), database()
    with serving() as server:
        stopping = threading.Event()
        statuses = []

        def load():
            with server.client() as client:
                while not stopping.is_set():
                    statuses.append(client.request("GET", CARD).status)

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            for pid in postgres.psql(dsn, "SELECT pid FROM pg_stat_activity WHERE application_name"
                                          " = 'cardboxd' AND datname = current_database()"
                                          " ORDER BY random() LIMIT 1").split():
                postgres.psql(dsn, f"SELECT pg_terminate_backend({pid})")
            time.sleep(0.3)
        stopping.set()
        for thread in threads:
            thread.join()
        assert set(statuses) == {200}, {status: statuses.count(status) for status in set(statuses)}


def test_cancelled_statement():
    """A statement that PostgreSQL ends costs who was alone in it; those who shared one go on."""
    cancel = ("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name ="
              " 'cardboxd' AND datname = current_database() AND wait_event_type = 'Lock'")
    with serving("--loops", "1", "--read-connections", "1") as server, \
            concurrent.futures.ThreadPoolExecutor(6) as pool:
        with locked(database()):
            alone = pool.submit(server.get, CARD)
            await_under_way(server, 1)
            joined = [pool.submit(server.get, CARD) for _ in range(5)]
            await_under_way(server, 6)
            await_(lambda: psql(database(), cancel))
            check_error(alone.result(), 504, "timeout")
            await_(lambda: psql(database(), cancel))
            time.sleep(0.3)
            assert not any(response.done() for response in joined), [r.result() for r in joined if r.done()]
        assert {response.result().status for response in joined} == {200}


RETYPED = 'ALTER TABLE cardbox.cards ALTER COLUMN tool_call_id TYPE text COLLATE "{}"'


def test_prepared_statements_heal():
    """Statements that a session has lost, or that a migration has made unusable."""
    postgres, dsn = Postgres.shared(), database()
    with serving("--loops", "1") as server:
        assert server.get(CARD).status == 200
        postgres.psql(dsn, "DROP POLICY limits ON cardbox.cards")  # the type of a column of a policy can't be changed
        postgres.psql(dsn, RETYPED.format("POSIX"))
        assert server.get(CARD).status == 200
        postgres.psql(dsn, RETYPED.format("C"))
        assert server.get(CARD).status == 200
        assert server.get(f"/projects/p/boxes/{BOX}/cards").status == 200


def test_without_named_statements():
    with serving("--no-prepared-statements") as server:
        for _ in range(10):
            assert server.get(CARD).status == 200
            assert server.get(f"/projects/p/boxes/{BOX}/cards").header("Cardbox-Missing") == "0"


def test_not_migrated():
    """It starts, says what is missing, and serves as soon as that is done."""
    postgres = Postgres.shared()
    dsn = postgres.database(migrate=False)
    with serving(dsn=dsn) as server:
        await_(lambda: "database_not_migrated" in server.log())
        detail = check_error(server.get(CARD), 503, "unavailable")
        assert "migrate" in detail["hint"], detail
        assert server.get("/readyz").status == 503 and server.get("/healthz").status == 200
        cardbox_test.cardbox("migrate", "--dsn", dsn)
        postgres.psql(dsn, "GRANT cardbox_service TO cardbox_app")
        server.await_ready()
        check_error(server.get(CARD), 404, "not_found")


def test_functions_of_another_build():
    """Not served while the database has another text of a function, but served with that of a newer release."""
    dsn = Postgres.shared().database()
    psql(dsn, "UPDATE cardbox.functions SET checksum = 'x' WHERE name = 'now_ms'")
    with serving(dsn=dsn) as server:
        await_(lambda: "SQL functions of this build are missing" in server.log())
        assert "migrate" in check_error(server.get(CARD), 503, "unavailable")["hint"]
        psql(dsn, "UPDATE cardbox.functions SET release = '99.0.0' WHERE name = 'now_ms'")
        server.await_ready()
        check_error(server.get(CARD), 404, "not_found")


def test_starts_without_database():
    with serving(dsn="host=/nowhere user=cardbox dbname=none") as server:
        for path in (CARD, "/readyz"):
            response = server.get(path)
            assert response.status == 503 and response.header("Retry-After"), response
        assert server.get("/healthz").status == 200
        assert "database_away" in server.log()


# --- starting ---


def refused(*options):
    done = cardboxd(*options)
    assert done.returncode != 0 and done.stdout == "" and done.stderr.count("\n") == 1, done
    return done.stderr


def test_refusals():
    assert "connection string" in refused("--dsn", "host=x nonsense", "--listen", "127.0.0.1:0")
    assert "--listen" in refused("--listen", "8099")
    assert "log-level" in refused("--log-level", "loud")
    assert "unexpected" in refused("serve")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "in use" in refused("--listen", f"127.0.0.1:{taken.getsockname()[1]}")


def test_unix_socket():
    path = os.path.join(cardbox_test.temp_dir(), "http")
    for _ in range(2):  # the second finds what a server that was killed has left
        process = subprocess.Popen([CARDBOXD, "--dsn", as_role(database(), "cardbox_app"), "--listen", "unix:" + path],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cardbox_test.at_end(process.kill)
        assert process.stdout.readline() == f"ready: unix:{path}\n"
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        process.kill()
        process.wait()
    assert os.path.exists(path)


def inherited(listening):
    """The first line of a server that is handed a socket as systemd does it: as descriptor 3."""
    script = (f'exec 3<&{listening.fileno()}; export LISTEN_PID=$$ LISTEN_FDS=1; '
              f'exec "{CARDBOXD}" --dsn "{as_role(database(), "cardbox_app")}"')
    process = subprocess.Popen(["bash", "-c", script], pass_fds=[listening.fileno()],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    cardbox_test.at_end(process.kill)
    return process, process.stdout.readline()


def test_inherited_socket():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        process, line = inherited(listening)
        assert line == f"ready: http://127.0.0.1:{port}\n"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        process.terminate()
        assert process.wait(WAIT_S) == 0


def test_inherited_path():
    """A socket in the file system is called what it is, and no address."""
    path = os.path.join(cardbox_test.temp_dir(), "http")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        process, line = inherited(listening)
        assert line == f"ready: unix:{path}\n", line
        process.terminate()
        assert process.wait(WAIT_S) == 0


def test_inherited_file():
    """What is no socket is not served on: nobody could say who reaches it."""
    with open(os.devnull, "rb") as nothing:
        process, line = inherited(nothing)
        assert line == "" and process.wait(WAIT_S) == 1, line


# --- stopping ---


def test_stop_answers_what_waits():
    """Requests that wait for a lock are answered with what they asked for, then it exits."""
    with serving() as server, concurrent.futures.ThreadPoolExecutor(20) as pool:
        with locked(database()):
            waiting = [pool.submit(server.get, CARD) for _ in range(20)]
            await_under_way(server, 20)
            server.process.send_signal(signal.SIGTERM)
            await_(lambda: "event=stopping" in server.log())
            time.sleep(0.4)
            assert server.alive()
        for response in waiting:
            assert response.result().status == 200
            assert response.result().header("Connection") == "close"
        assert server.process.wait(WAIT_S) == 0


def test_hangup_is_ignored():
    with serving() as server:
        for count in 1, 2:
            server.process.send_signal(signal.SIGHUP)
            await_(lambda count=count: server.log().count("signal_ignored") == count, server.log)
            assert server.get(CARD).status == 200


def test_stop_in_time():
    """What has no answer when the time is over gets 503, and nothing is cut or aborted."""
    with serving("--drain-timeout-ms", "500") as server:
        with locked(database()), concurrent.futures.ThreadPoolExecutor(20) as pool:
            waiting = [pool.submit(server.get, CARD) for _ in range(20)]
            await_under_way(server, 20)
            server.process.send_signal(signal.SIGTERM)
            for response in waiting:
                check_error(response.result(), 503, "unavailable")
            assert server.process.wait(WAIT_S) == 0


def test_hangup_does_not_hurry():
    """Sent, for example, by `systemctl reload` while the server is stopping."""
    with serving() as server, concurrent.futures.ThreadPoolExecutor(1) as pool:
        with locked(database()):
            waiting = pool.submit(server.get, CARD)
            await_under_way(server, 1)
            server.process.send_signal(signal.SIGTERM)
            await_(lambda: "event=stopping" in server.log())
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.4)
            assert "at_once" not in server.log() and server.alive()
        assert waiting.result().status == 200
        assert server.process.wait(WAIT_S) == 0


def test_second_signal_hurries():
    with serving() as server:
        with locked(database()), concurrent.futures.ThreadPoolExecutor(5) as pool:
            waiting = [pool.submit(server.get, CARD) for _ in range(5)]
            await_under_way(server, 5)
            server.process.send_signal(signal.SIGTERM)
            await_(lambda: "event=stopping" in server.log())
            assert server.alive() and not any(response.done() for response in waiting)
            server.process.send_signal(signal.SIGINT)
            for response in waiting:
                check_error(response.result(), 503, "unavailable")
            assert server.process.wait(WAIT_S) == 0


def test_stop_under_load():
    """Whoever was answered at all was answered well; others were refused before they began."""
    with serving() as server:
        bad = []

        def load():
            while True:
                try:
                    with server.client() as client:
                        response = client.request("GET", CARD)
                        while response.header("Connection") != "close":
                            response = client.request("GET", CARD)
                except ConnectionRefusedError:
                    return
                except (ConnectionResetError, http.client.RemoteDisconnected):
                    continue  # it was in the listening socket's queue: nobody had read it
                if response.status != 200:
                    bad.append(response)

        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        server.stop()
        for thread in threads:
            thread.join()
        assert not bad, bad[:3]


def test_no_character_is_cut():
    """A message that shows a part of what was sent is UTF-8 all the same, wherever that part ends."""
    def raw(*values):
        return "\n".join(json.dumps(value, ensure_ascii=False) for value in values).encode()

    with serving() as server:
        for blanks in range(4):
            text = "x" * blanks + "\u20ac" * 169
            for place in ("cards/{}", "tasks/{}/stream", "sessions/{}", "sessions/{}/context", "abilities/{}"):
                answer = server.get("/projects/p/" + place.format(urllib.parse.quote(text)))
                assert answer.status == 404 and answer.json()["detail"], (place, blanks, answer)
            for ability, value in (("box:list", {"cursor": text}), ("card:get", {"card_id": text}),
                                   ("card:list", {"created_after": text}), ("session:get", {"session_id": text}),
                                   ("box:log", {"box_id": BOX, "cursor": text}), ("card:list", {text: 1}),
                                   ("card:add", {"content": {"__type__": "FileContent", "uri": text, "checksum": "x"}}),
                                   ("card:add", {"content": 1, "type": text, "metadata": {"type": "other"}})):
                answer = server.request("POST", f"/projects/p/abilities/{ability}", raw(value))
                assert answer.status in (404, 422) and answer.json()["detail"], (ability, blanks, answer)
            rows = [{"kind": text}, {"kind": "card", "card_id": "c", "content": 1, "created_at": text},
                    {"kind": "box", "box_id": text}, {"kind": "card", "card_id": "c", "content": 1, text: 1, "ttl_seconds": "x"}]
            answer = server.request("POST", "/projects/p/import", raw(*rows),
                                    {"Content-Type": "application/x-ndjson"})
            assert answer.status == 200 and len(answer.json()["errors"]) == len(rows), (blanks, answer)


def test_port_in_use():
    """A second server on the port is refused, also where each shares its port among its loops."""
    dsn = Postgres.shared().database()
    for loops in ("1", "2"):
        first = Server(dsn, "--loops", loops)
        second = cardboxd("--dsn", dsn, "--loops", loops, "--listen", f"127.0.0.1:{first.port}")
        assert second.returncode == 1 and "in use" in second.stderr, second
        first.stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Tokens: what every route answers to every kind of token, on every server, at any moment; and which
database roles a server does not serve as."""

import contextlib
import datetime
import hashlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import (CARDBOXD, WAIT_S, Client, Postgres, Server, as_role, await_, cardbox, cardboxd, holding,
                          parse_responses)

BOXES = {"a": "01970000-0000-7000-8000-00000000000a", "b": "01970000-0000-7000-8000-00000000000b"}
SCOPES = ("read", "write", "tasks", "admin")
GARBAGE = "cbx_" + "0" * 64


def make(dsn, name, *options):
    """A new token's secret."""
    return json.loads(cardbox("token", "create", "--dsn", dsn, "--name", name, *options,
                              "--json").stdout)["token"]


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def filled():
    """A database with a card and a box in each of two projects."""
    dsn = Postgres.shared().database()
    for project, box in BOXES.items():
        rows = [{"kind": "card", "card_id": f"card-{project}", "content": f"secret of {project}"},
                {"kind": "box", "box_id": box, "card_ids": [f"card-{project}"]}]
        cardbox("import", "--dsn", dsn, "--project", project, stdin="\n".join(map(json.dumps, rows)))
    return dsn


@contextlib.contextmanager
def serving(dsn, *options):
    server = Server(dsn, *options, auth=True)
    try:
        await_(lambda: server.get("/readyz").status == 200)
        yield server
        server.stop()
    finally:
        server.kill()


@cardbox_test.once
def scene():
    """A server of a database with tokens of every kind: secrets by name."""
    dsn = filled()
    secrets = {f"{scope} of a": make(dsn, f"{scope}-a", "--tenant", "a", "--scope", scope)
               for scope in SCOPES}
    secrets |= {f"{scope} of all": make(dsn, f"{scope}-all", "--all-tenants", "--scope", scope)
                for scope in SCOPES}
    every = ("--scope", ",".join(SCOPES))
    secrets["all of b"] = make(dsn, "b", "--tenant", "b", "--tenant", "c", *every)
    secrets["expired"] = make(dsn, "expired", "--all-tenants", *every, "--expires", "1h")
    Postgres.shared().psql(dsn, "UPDATE cardbox.tokens SET expires_at = clock_timestamp()"
                                " WHERE name = 'expired'")
    secrets["revoked"] = make(dsn, "revoked", "--all-tenants", *every)
    assert cardbox("token", "revoke", "--dsn", dsn, "revoked").stderr == ""
    server = Server(dsn, "--access-log", "--project-transfers-max", "4", auth=True)
    await_(lambda: server.get("/readyz").status == 200)
    return dsn, server, secrets


def routes():
    """method, path of project a, scope: of every route."""
    for line in cardboxd("--routes").stdout.splitlines():
        method, pattern, scope = line.split()
        box = BOXES["a"] if scope == "read" else "x"  # a write that is let through must change nothing
        path = pattern.replace("{project_id}", "a").replace("{box_id}", box)
        # An ability that does not exist may be asked for by who may read.
        scope = "read" if scope == "ability" else scope
        yield method, re.sub(r"\{\w+\}", "x", path), scope


def ask(server, method, path, headers):
    """The status and headers; the body of what streams for ever is not waited for."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)
    try:
        connection.request(method, path, b"" if method in ("POST", "PUT") else None,
                           {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, response.headers
    finally:
        connection.close()


def check_route(method, path, scope):
    _, server, secrets = scene()
    in_project = path.startswith("/projects/")

    def expect(status, headers):
        found, answered = ask(server, method, path, headers)
        if status is None:
            assert found not in (401, 403) and found < 500, (method, path, headers, found)
            return
        assert found == status, (method, path, headers, found)
        assert (answered.get("WWW-Authenticate") == "Bearer") == (status == 401), answered.items()

    is_open = scope == "open"
    lists_own = path == "/projects"  # of some projects with `read`, of all with `admin`
    for secret in (None, "garbage", GARBAGE, secrets["expired"], secrets["revoked"]):
        expect(None if is_open else 401, bearer(secret) if secret else {})
    expect(None if is_open or lists_own else 403, bearer(secrets["all of b"]))
    for owned in SCOPES:
        expect(None if is_open or ((in_project or lists_own) and owned == scope) else 403,
               bearer(secrets[f"{owned} of a"]))
        expect(None if is_open or owned == ("admin" if lists_own else scope) else 403,
               bearer(secrets[f"{owned} of all"]))


def test_every_route():
    for method, path, scope in routes():
        yield f"{method} {path}", lambda m=method, p=path, s=scope: check_route(m, p, s)


def test_routes_and_methods_come_first():
    _, server, secrets = scene()
    assert server.get("/nowhere").status == 404
    assert server.request("PATCH", "/projects/a/cards/card-a").status == 405
    assert server.get("/projects/a/cards/%zz").status == 400
    # and what the request looks like last
    assert server.get("/projects/%01/cards/x").status == 401
    assert server.get("/projects/%01/cards/x", bearer(secrets["read of a"])).status == 403
    assert server.get("/projects/%01/cards/x", bearer(secrets["read of all"])).status == 400
    batch = "/projects/a/cards/batch"
    assert server.request("POST", batch, "{", {"Content-Type": "text/plain"}).status == 401
    assert server.post(batch, {"card_ids": [1]}, bearer(secrets["read of a"])).status == 422
    assert server.request("HEAD", "/projects/a/cards/card-a").status == 401


def test_forms_of_the_header():
    _, server, secrets = scene()
    good = secrets["read of a"]
    path = "/projects/a/cards/card-a"
    for value in (f"Bearer {good}", f"bearer {good}", f"BEARER   {good}", f"Bearer {good}\t"):
        assert server.get(path, {"Authorization": value}).status == 200, value
    wrong = [f"Basic {good}", good, f"Bearer{good}", f"Bearer {good}x", f"Bearer {good[:-1]}",
             f"Bearer {good.upper()}", f"Bearer {good}, Bearer {good}", "Bearer", "Bearer ", "",
             f"Bearer {good} x", f"Bearer CBX_{good[4:]}", "Bearer " + "x" * 4000, f"Token {good}",
             f"Bearer \xff{good[1:]}"]
    messages = {server.get(path).body}
    for value in wrong:
        response = server.get(path, {"Authorization": value})
        assert response.status == 401, (value, response)
        messages.add(response.body)
    for secret in (GARBAGE, secrets["expired"], secrets["revoked"]):
        messages.add(server.get(path, bearer(secret)).body)
    assert len(messages) == 1, messages
    head = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    line = f"Authorization: Bearer {good}\r\n"
    for lines, status in ((line, 200), (line * 2, 401), (line + "Authorization: Bearer x\r\n", 401)):
        answer = parse_responses(server.raw((head + lines + "\r\n").encode()))[0]
        assert answer.status == status, (lines, answer)


def test_what_is_needed_is_said():
    """The scope and the reach, which are no secret; not what of it the token lacks."""
    _, server, secrets = scene()
    either = "the scope read, for some projects, or the scope admin, for all projects"
    for method, path, needed, token in (
            ("DELETE", "/projects/a/cards/x", "the scope write, for this project", "read of a"),
            ("GET", "/projects/b/cards/x", "the scope read, for this project", "read of a"),
            ("GET", "/projects", either, "write of a"), ("GET", "/projects", either, "read of all"),
            ("GET", "/metrics", "the scope admin, for all projects", "read of a")):
        refused = server.request(method, path, None, bearer(secrets[token]))
        assert refused.status == 403 and refused.json()["detail"]["hint"] == f"it needs {needed}", refused


def test_other_projects_can_not_be_told_from_none():
    """403 with the same text, whether there is such a project, card or box or not."""
    _, server, secrets = scene()
    headers = bearer(secrets["read of a"])
    paths = ["/projects/b/cards/card-b", "/projects/none/cards/card-b", "/projects/b/cards/none",
             f"/projects/b/boxes/{BOXES['b']}", f"/projects/none/boxes/{BOXES['b']}/cards",
             "/projects/A/cards/card-a", "/projects/a%20/cards/card-a", "/projects/a%2Fb/cards/x"]
    answers = {(r.status, r.body) for r in (server.get(path, headers) for path in paths)}
    assert len(answers) == 1 and answers.pop()[0] == 403


def test_ids_of_another_project():
    """In every field of every read: as if they did not exist."""
    _, server, secrets = scene()
    headers = bearer(secrets["read of a"])
    assert server.get("/projects/a/cards/card-a", headers).status == 200
    for path in ("cards/card-b", f"boxes/{BOXES['b']}", f"boxes/{BOXES['b']}/cards"):
        assert server.get("/projects/a/" + path, headers).status == 404, path
    cards = server.post("/projects/a/cards/batch", {"card_ids": ["card-b", "card-a"]}, headers).json()
    assert cards["missing_ids"] == ["card-b"] and len(cards["cards"]) == 1
    boxes = server.post("/projects/a/boxes/batch",
                        {"box_ids": list(BOXES.values()), "hydrate": True}, headers).json()
    assert boxes["missing_box_ids"] == [BOXES["b"]] and len(boxes["boxes"]) == 1


def test_secrets_are_nowhere():
    dsn, server, secrets = scene()
    stored = Postgres.shared().psql(dsn, "SELECT t::text FROM cardbox.tokens t")
    listed = cardbox("token", "list", "--dsn", dsn).stdout
    listed += cardbox("token", "list", "--dsn", dsn, "--json").stdout
    for secret in secrets.values():
        digest = hashlib.sha256(secret.encode()).hexdigest()
        assert digest in stored and digest not in listed
        for text in (stored, listed, server.log()):
            assert secret not in text and secret[4:] not in text
    states = [json.loads(line) for line in
              cardbox("token", "list", "--dsn", dsn, "--json").stdout.splitlines()]
    assert {t["name"]: t["state"] for t in states if t["state"] != "good"} == \
        {"expired": "expired", "revoked": "revoked"}
    by_name = {t["name"]: t for t in states}
    assert by_name["b"]["tenants"] == ["b", "c"] and by_name["read-all"]["tenants"] is None
    server.get("/projects/a/cards/card-a?seen", bearer(secrets["read of a"]))
    used = by_name["read-a"]["token_id"]
    await_(lambda: re.search(rf"path=\"/projects/a/cards/card-a\?seen\".* token={used} ",
                                 server.log()))


def test_workers_see_no_tokens():
    dsn, _, _ = scene()
    name = f"token_worker_{os.getpid()}"
    Postgres.shared().psql(dsn, f"CREATE ROLE {name} LOGIN IN ROLE cardbox_worker")
    for role, say in ((name, "permission denied"), ("cardbox_app", None)):
        done = subprocess.run(["psql", as_role(dsn, role), "-XAt", "-c",
                               "SELECT count(*) > 5 FROM cardbox.tokens"],
                              capture_output=True, text=True)
        assert (say in done.stderr) if say else done.stdout == "t\n", done
    for words in (["create", "--name", "x", "--all-tenants"], ["revoke", "read-a"]):
        done = cardbox("token", *words, "--dsn", as_role(dsn, "cardbox_app"), check=False)
        assert done.returncode == 1 and "that migrates the database" in done.stderr, done


# --- changes ---


def test_first_token_and_last():
    dsn = filled()
    path = "/projects/a/cards/card-a"
    with serving(dsn) as server:
        assert server.get(path).status == 401
        assert server.log().count("event=no_tokens ") == 1 and "cardbox token create" in server.log(), server.log()
        secret = make(dsn, "first", "--tenant", "a")
        await_(lambda: server.get(path, bearer(secret)).status == 200)
        assert server.get(path).status == 401
        done = cardbox("token", "revoke", "--dsn", dsn, "1")
        assert "no token is valid now" in done.stderr, done
        await_(lambda: server.get(path, bearer(secret)).status == 401)
        time.sleep(1)  # and stays so
        assert server.get(path).status == 401
    with serving(dsn) as server:
        assert server.get(path).status == 401 and "event=no_tokens " not in server.log()
    with serving(dsn, "--insecure-no-auth") as server:
        assert server.get(path).status == 200
        assert server.get(path, bearer("garbage")).status == 200
        assert "event=no_auth " not in server.log()


def test_no_token_was_ever_made():
    """What needs none is served; all else is 401, whatever the method."""
    with serving(Postgres.shared().database()) as server:
        for method in ("GET", "HEAD"):
            for path in ("/healthz", "/readyz", "/version", "/openapi.json", "/docs", "/ui/"):
                assert server.request(method, path).status == 200, (method, path)
            for path in ("/metrics", "/projects", "/projects/a/cards/x", "/projects/a/export"):
                refused = server.request(method, path)
                assert refused.status == 401 and refused.header("WWW-Authenticate") == "Bearer", (method, path)
        assert server.post("/projects/a/cards", {"card_id": "x", "content": 1}).status == 401
        assert server.get("/projects/a/cards/x", bearer(GARBAGE)).status == 401


def test_unix_socket_asks_for_a_token():
    dsn = filled()
    path = os.path.join(cardbox_test.temp_dir(), "http")
    for options, status in (((), b"401"), (("--insecure-no-auth",), b"200")):
        with serving_as(as_role(dsn, "cardbox_app"), f"unix:{path}", *options), \
                socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(b"GET /projects/a/cards/card-a HTTP/1.1\r\nHost: any.example\r\n\r\n")
            assert connection.recv(12) == b"HTTP/1.1 " + status


def test_expiry_at_the_instant():
    dsn = filled()
    path = "/projects/a/cards/card-a"
    with serving(dsn) as server:
        ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=10)
        headers = bearer(make(dsn, "short", "--tenant", "a", "--expires", ends.isoformat()))
        await_(lambda: server.get(path, headers).status == 200 and server.get(path).status == 401)
        time.sleep(max(0, ends.timestamp() - time.time()))
        assert server.get(path, headers).status == 401
        assert server.log().count("event=tokens ") == 2  # the server saw the end by itself


def test_what_is_under_way_ends_too():
    """An import and an export that go on for long end soon after their token does."""
    dsn = filled()
    secret = make(dsn, "long", "--tenant", "a", "--scope", "read,write")
    head = f"HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n".encode()
    line = b'{"kind":"card","card_id":"long-%d","content":"' + b"x" * 8000 + b'"}\n'
    with serving(dsn, "--access-log") as server:
        body = b"".join(line % n for n in range(2000))
        loaded = server.request("POST", "/projects/a/import", body,
                                {**bearer(secret), "Content-Type": "application/x-ndjson"})
        assert loaded.status == 200, loaded
        with socket.create_connection(("127.0.0.1", server.port), 30) as reader, \
                socket.create_connection(("127.0.0.1", server.port), 30) as writer:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            reader.sendall(b"GET /projects/a/export " + head + b"\r\n")
            assert reader.recv(12) == b"HTTP/1.1 200"
            writer.sendall(b"POST /projects/a/import " + head + b"Content-Length: 100000000\r\n\r\n")
            writer.sendall(line % 3000)
            cardbox("token", "revoke", "--dsn", dsn, "long")
            writer.settimeout(0.3)
            ends = time.monotonic() + WAIT_S
            try:
                while time.monotonic() < ends:
                    writer.sendall(b" " * 2000 + b"\n")
                    with contextlib.suppress(socket.timeout):
                        assert writer.recv(65536) == b""
                        break
            except OSError:
                pass
            assert time.monotonic() < ends
            received = b""
            try:
                while piece := reader.recv(1 << 20):
                    received += piece
            except OSError:
                pass
            assert len(received) < len(body) and not received.endswith(b"0\r\n\r\n")
            await_(lambda: server.log().count("its token is not valid any more") == 2)


def test_streams_end_with_what_let_them_in():
    """A stream ends when its token is revoked, and when it expires."""
    dsn = filled()
    first = bearer(make(dsn, "first", "--tenant", "a", "--scope", "read,tasks"))
    with serving(dsn) as server:
        task = server.post("/projects/a/abilities/task:spawn", {"goal": "to be followed"}, first).json()["taskId"]

        def follow(header):
            one = socket.create_connection(("127.0.0.1", server.port), WAIT_S)
            one.sendall(f"GET /projects/a/tasks/{task}/stream HTTP/1.1\r\nHost: x\r\n{header}\r\n".encode())
            assert one.recv(12) == b"HTTP/1.1 200"
            return one

        def await_end(one):
            ends = time.monotonic() + WAIT_S
            while (piece := one.recv(65536)) and not piece.endswith(b"0\r\n\r\n"):
                assert time.monotonic() < ends
            one.close()
        revoked = follow(f"Authorization: {first['Authorization']}\r\n")
        cardbox("token", "revoke", "--dsn", dsn, "first")
        await_end(revoked)
        ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=10)
        secret = make(dsn, "short", "--tenant", "a", "--expires", ends.isoformat())
        await_(lambda: server.get("/projects/a/cards/card-a", bearer(secret)).status == 200)
        await_end(follow(f"Authorization: Bearer {secret}\r\n"))
        assert time.time() >= ends.timestamp() - 1  # by the database's clock


def test_change_under_load():
    """Two servers: a token that stays always works; one that is revoked soon works nowhere."""
    dsn = filled()
    path = "/projects/a/cards/card-a"
    stays = bearer(make(dsn, "stays", "--tenant", "a"))
    unexpected, stopping = [], threading.Event()

    def load(server):
        with server.client() as client:
            while not stopping.is_set():
                response = client.request("GET", path, None, stays)
                if response.status != 200:
                    unexpected.append(response)

    with serving(dsn) as one, serving(dsn) as two:
        threads = [threading.Thread(target=load, args=(server,)) for server in (one, two) * 2]
        for thread in threads:
            thread.start()
        try:
            for turn in range(3 if cardbox_test.LIGHT else 8):
                headers = bearer(make(dsn, f"turn {turn}", "--tenant", "a", "--tenant", f"t{turn}"))
                for server in (one, two):
                    await_(lambda s=server: s.get(path, headers).status == 200)
                cardbox("token", "revoke", "--dsn", dsn, f"turn {turn}")
                for server in (one, two):
                    await_(lambda s=server: s.get(path, headers).status == 401)
        finally:
            stopping.set()
            for thread in threads:
                thread.join()
    assert not unexpected, unexpected[:3]


def test_many_tokens():
    """As many as the smallest table has places: one that is none of them is still told to be none."""
    dsn = filled()
    made = [bearer(make(dsn, f"token {number}", "--tenant", "a")) for number in range(16)]
    with serving(dsn) as server:
        for headers in made:
            assert server.get("/projects/a/cards/card-a", headers).status == 200
        assert server.get("/projects/a/cards/card-a", bearer(GARBAGE)).status == 401


def test_list_that_can_not_be_read():
    """After a while without word from the database nobody is let in: it may have changed."""
    dsn = filled()
    path = "/projects/a/cards/card-a"
    headers = bearer(make(dsn, "a", "--tenant", "a"))
    with serving(dsn) as server:
        with holding(dsn, "LOCK TABLE cardbox.tokens IN ACCESS EXCLUSIVE MODE"):
            assert server.get(path, headers).status == 200
            await_(lambda: server.get(path, headers).status == 503, 40)
            assert server.get("/readyz").status == 503 and server.get("/healthz").status == 200
        await_(lambda: server.get(path, headers).status == 200, 20)
        assert server.get("/readyz").status == 200


def test_database_that_comes_later():
    """Before the list is known nobody is let in, and after that not without a token."""
    postgres = Postgres()
    dsn = postgres.database()
    cardbox("card", "add", "--dsn", dsn, "--project", "a", "--id", "card-a", "--text", "x")
    headers = bearer(make(dsn, "a", "--tenant", "a"))
    path = "/projects/a/cards/card-a"
    postgres.stop()
    server = Server(dsn, auth=True)
    try:
        for given in ({}, headers, bearer(GARBAGE)):
            assert server.get(path, given).status == 503
        postgres.start()
        await_(lambda: server.get("/readyz").status == 200, 20)
        assert server.get(path).status == 401 and server.get(path, headers).status == 200
        server.stop()
    finally:
        server.kill()


# --- starting ---


def refused(dsn, *options):
    done = cardboxd("--dsn", dsn, "--listen", "127.0.0.1:0", "--log-level", "error", *options)
    assert done.returncode == 2 and done.stdout == "", done
    return done.stderr


def test_open_address():
    dsn = filled()
    app = as_role(dsn, "cardbox_app")
    port = cardbox_test.free_port()
    for options, status in ((("--insecure-no-auth",), 200), ((), 401)):
        with serving_as(app, f"0.0.0.0:{port}", *options) as log:
            assert status_at(port, "/projects/a/cards/card-a")[0] == status
            assert status_at(port, "/readyz")[0] == 200
            with open(log) as lines:
                said = lines.read()
            assert ("event=no_tokens " in said and "cardbox token create" in said) == (status == 401), said
            assert ("event=no_auth " in said) == (status == 200), said


@contextlib.contextmanager
def serving_as(dsn, listen, *options):
    """A server with the role that the DSN names: gives where its log is."""
    log = os.path.join(cardbox_test.temp_dir(), "cardboxd.log")
    with open(log, "wb") as errors:
        process = subprocess.Popen([CARDBOXD, "--dsn", dsn, "--listen", listen, *options],
                                   stdout=subprocess.PIPE, stderr=errors, text=True)
    cardbox_test.at_end(process.kill)
    assert process.stdout.readline().startswith("ready: ")
    yield log
    process.terminate()
    assert process.wait(WAIT_S) == 0


def status_at(port, path):
    """Status and body, asked over loopback."""
    with Client(port) as client:
        response = client.request("GET", path)
    return response.status, response.body.decode()


def test_role_of_a_worker():
    """It can't read the tokens: the server says so, rather than that the database is away."""
    dsn = filled()
    name = f"token_server_{os.getpid()}"
    psql = Postgres.shared().psql
    psql(dsn, f"CREATE ROLE {name} LOGIN IN ROLE cardbox_worker")
    said = refused(as_role(dsn, name))
    assert f'"{name}" may not read the tokens' in said and f'GRANT cardbox_service TO "{name}"' in said
    psql(dsn, f"GRANT cardbox_service TO {name}")
    port, path = cardbox_test.free_port(), "/projects/a/cards/card-a"
    with serving_as(as_role(dsn, name), f"127.0.0.1:{port}"):
        assert status_at(port, path)[0] == 401
        psql(dsn, f"REVOKE cardbox_service FROM {name}")
        await_(lambda: "may not read the tokens" in status_at(port, path)[1], 40)
        psql(dsn, f"GRANT cardbox_service TO {name}")
        await_(lambda: status_at(port, path)[0] == 401, 40)


def test_addresses_that_are_none():
    for listen in ("foo", "127.0.0.1", "127.0.0.1:99999", "no such host:80", "unix:relative", ""):
        done = cardboxd("--listen", listen)
        assert done.returncode == 2 and done.stderr.startswith("cardboxd: "), (listen, done)
        assert done.stderr.count("--help") <= 1
    for listen in ("127.0.0.1", "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:abc"):
        done = cardboxd("--listen", listen)
        assert done.returncode == 2 and f'takes ADDR:PORT, such as 127.0.0.1:8099, or unix:/path, not "{listen}"' in done.stderr, done
    # An address is one however long it is written; port 1 of 8.8.8.8 is none of ours in any case.
    done = cardboxd("--listen", "[0000:0000:0000:0000:0000:ffff:0808:0808]:1")
    assert done.returncode == 1 and "cannot listen on [0000:" in done.stderr, done
    folder = cardbox_test.temp_dir()
    done = cardboxd("--listen", f"unix:{folder}")
    assert done.returncode == 1 and f"cannot listen on unix:{folder}: the path exists and is not a socket" in done.stderr, done
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = cardboxd("--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        assert done.returncode == 1 and "choose another address with --listen" in done.stderr, done


def test_roles_with_too_many_rights():
    """Where other machines can reach the server it does not serve them, and stops to if it did."""
    dsn = filled()
    listen = ("--listen", "0.0.0.0:0", "--insecure-no-auth")
    assert "is a superuser" in refused(as_role(dsn, "postgres"), *listen)
    said = refused(dsn, *listen)
    assert '"cardbox" owns tables' in said and "only a member of cardbox_service" in said
    assert "0.0.0.0:0" in said and "127.0.0.1" in said, said
    name = f"token_role_{os.getpid()}"
    psql = Postgres.shared().psql
    psql(dsn, f"CREATE ROLE {name} LOGIN IN ROLE cardbox_service, cardbox")
    assert "owns tables" in refused(as_role(dsn, name), *listen)
    psql(dsn, f"REVOKE cardbox FROM {name}; ALTER ROLE {name} BYPASSRLS")
    assert "BYPASSRLS" in refused(as_role(dsn, name), *listen)
    psql(dsn, f"ALTER ROLE {name} NOBYPASSRLS")
    port, path = cardbox_test.free_port(), "/projects/a/cards/card-a"
    with serving_as(as_role(dsn, name), f"0.0.0.0:{port}", "--insecure-no-auth"):
        assert status_at(port, path)[0] == 200
        psql(dsn, f"ALTER ROLE {name} BYPASSRLS")  # a server that runs is not ended by it
        await_(lambda: status_at(port, "/readyz")[0] == 503)
        status, body = status_at(port, path)
        assert status == 503 and "cardbox_service" in json.loads(body)["detail"]["hint"]
        psql(dsn, f"ALTER ROLE {name} NOBYPASSRLS")
        await_(lambda: status_at(port, path)[0] == 200)
        assert status_at(port, "/readyz")[0] == 200


def test_roles_with_too_many_rights_on_the_own_machine():
    """A developer's PostgreSQL knows one role, and nobody else reaches it: one warning."""
    dsn = filled()
    socket = os.path.join(cardbox_test.temp_dir(), "socket")
    for role, reason in (("postgres", "it is a superuser"), ("cardbox", "it owns tables")):
        with serving_as(as_role(dsn, role), f"unix:{socket}"):
            assert os.path.exists(socket)
        port = cardbox_test.free_port()
        with serving_as(as_role(dsn, role), f"127.0.0.1:{port}", "--insecure-no-auth") as log:
            assert status_at(port, "/projects/a/cards/card-a")[0] == 200
            assert status_at(port, "/readyz")[0] == 200
            # The role is looked at every two seconds: so long that a second warning would be there.
            time.sleep(2.5)
            with open(log) as lines:
                said = [line for line in lines if "role_has_too_many_rights" in line]
        assert len(said) == 1 and "level=warn" in said[0] and reason in said[0], said
        assert "only a member of cardbox_service" in said[0], said


def test_server_ends_well():
    scene()[1].stop()


# --- the command line ---


def test_cli_refusals():
    dsn = filled()

    def wrong(*options, say, status=2):
        done = cardbox("token", "create", "--dsn", dsn, *options, check=False)
        assert done.returncode == status and say in done.stderr and not done.stdout, done

    wrong("--all-tenants", say="--name NAME")
    wrong("--name", "x", say="--tenant PROJECT")
    wrong("--name", "x", "--all-tenants", "--tenant", "a", say="--tenant PROJECT")
    for scope in ("", "reed", "read,", ",read", "read write", "READ"):
        wrong("--name", "x", "--all-tenants", "--scope", scope, say="--scope takes")
    for moment in ("30", "d", "0d", "-1d", "1w", "tomorrow", "36501d", "99999999999999999999d"):
        wrong("--name", "x", "--all-tenants", "--expires", moment, say="--expires takes")
    wrong("--name", "x", "--all-tenants", "--expires", "2020-01-01T00:00:00Z", say="is in the past")
    wrong("--name", "17", "--all-tenants", say="--name must not be a number")
    wrong("--name", "", "--all-tenants", say="--name")
    wrong("--name", "x", "--tenant", "a", "--tenant", "b\n", say="--tenant")
    make(dsn, "x", "--tenant", "a")
    wrong("--name", "x", "--tenant", "a", say='a token named "x"', status=1)
    for unknown in ("y", "2", "99999999999999999999"):
        done = cardbox("token", "revoke", "--dsn", dsn, unknown, check=False)
        assert done.returncode == 1 and "no token has the id or name" in done.stderr, done
    cardbox("token", "revoke", "--dsn", dsn, "x")
    cardbox("token", "revoke", "--dsn", dsn, "1")  # again, by id, is no error
    make(dsn, "x", "--tenant", "a")  # the name is free again
    assert len(cardbox("token", "list", "--dsn", dsn).stdout.splitlines()) == 3


def test_cli_secret_alone_on_stdout():
    dsn = Postgres.shared().database()
    said = cardbox("token", "list", "--dsn", dsn).stderr
    assert "no tokens: servers refuse all requests" in said and "cardbox token create" in said, said
    done = cardbox("token", "create", "--dsn", dsn, "--name", "x", "--tenant", 'a "b", c',
                   "--expires", "30d")
    assert re.fullmatch("cbx_[0-9a-f]{64}\n", done.stdout) and "shown only once" in done.stderr
    cardbox("token", "create", "--dsn", dsn, "--name", "y", "--all-tenants")
    cardbox("token", "revoke", "--dsn", dsn, "y")
    row = json.loads(cardbox("token", "list", "--dsn", dsn, "--json").stdout.splitlines()[0])
    assert row["tenants"] == ['a "b", c'] and row["scopes"] == ["read"]
    days = [datetime.datetime.fromisoformat(row[name].replace("Z", "+00:00"))
            for name in ("created_at", "expires_at")]
    assert (days[1] - days[0]).days in (29, 30)


if __name__ == "__main__":
    cardbox_test.main()

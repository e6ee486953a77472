#!/usr/bin/env python3
"""Host headers: a server that asks for no token answers for its own names and addresses only, so that no web
page reaches it by a name that was made to lead here (DNS rebinding). Others do not look at Host."""

import os
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import CARDBOXD, Postgres, Server, as_role, cardboxd, parse_responses

CARD = "/projects/p/cards/a"
PROBES = ("/healthz", "/health", "/readyz")


@cardbox_test.once
def dsn():
    made = Postgres.shared().database()
    cardbox_test.cardbox("card", "add", "--dsn", made, "--project", "p", "--id", "a", "--text", "x")
    return made


class Listening:
    """A cardboxd on any address."""

    def __init__(self, listen, *options, env=()):
        self.process = subprocess.Popen(
            [CARDBOXD, "--dsn", as_role(dsn(), "cardbox_app"), "--listen", listen, "--loops", "1", "--insecure-no-auth",
             *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **dict(env)})
        cardbox_test.at_end(self.process.kill)
        self.port = int(re.fullmatch(r"ready: http://.*:(\d+)\n", self.process.stdout.readline()).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(cardbox_test.WAIT_S) == 0

    def ask(self, host, at="127.0.0.1", **request):
        return ask(self.port, host, at, **request)


def ask(port, host, at="127.0.0.1", method="GET", target=CARD, version="1.1", lines="", body=""):
    """The status of a request; `host` None: without Host."""
    head = f"{method} {target} HTTP/{version}\r\n" + ("" if host is None else f"Host: {host}\r\n")
    if body:
        lines += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection((at, port), timeout=cardbox_test.WAIT_S) as connection:
        connection.sendall((head + lines + "Connection: close\r\n\r\n" + body).encode("latin-1"))
        return parse_responses(cardbox_test.read_all(connection), method == "HEAD")[0]


@cardbox_test.once
def server():
    return Listening("127.0.0.1:0", "--allow-host", "cards.Example.org", "--allow-host", "10.1.2.3,2001:db8::1")


ACCEPTED = ("localhost", "LocalHost", "localhost:80", "localhost:", "localhost.", "LOCALHOST.:9", "127.0.0.1",
            "127.0.0.1:8099", "127.9.8.7:1", "127.0.0.1.", "[::1]", "[::1]:8099", "[0:0:0:0:0:0:0:1]",
            "cards.example.org", "CARDS.EXAMPLE.ORG:443", "cards.example.org.", "10.1.2.3:8099", "[2001:db8::1]:80",
            "[2001:DB8:0::1]")
REFUSED = ("evil.example", "evil.example:8099", "localhost.evil.example", "evil.localhost", "localhost..", "localhost:x",
           "localhost:80:80", "localhost,evil.example", "localhost evil.example", "user@localhost", "localhost/",
           "localhost#", "127.0.0.1.evil.example", "126.0.0.1", "128.0.0.1", "0.0.0.0", "127.1", "2130706433",
           "0x7f.0.0.1", "::1", "[::1", "[::1]x", "[::]", "[::2]", "[::ffff:127.0.0.1]", "[127.0.0.1]", "[]", ".",
           "", ":8099", "example.org", "x.cards.example.org", "10.1.2.4", "cards.example.org,localhost",
           "l\xf6calhost", "a" * 3000)


def test_accepted():
    for host in ACCEPTED:
        yield host, lambda h=host: check_status(h, 200)


def test_refused():
    for host in REFUSED:
        yield host[:40], lambda h=host: check_status(h, 421)


def test_malformed():
    check_status("localhost\x0b", 400)


def check_status(host, status):
    answer = server().ask(host)
    assert answer.status == status, answer
    if status == 421:
        detail = answer.json()["detail"]
        assert detail["error_code"] == "misdirected_request" and "--allow-host" in detail["hint"], detail


def test_every_path_but_the_probes():
    routes = [line.split()[:2] for line in cardboxd("--routes").stdout.splitlines()]
    assert len(routes) > 50
    paths = {re.sub(r"\{\w+\}", "x", pattern) for _, pattern in routes}
    for path in sorted({*paths, "/nowhere", "/projects/p/cards/%zz", "/healthz/", "/healthz/x", "//healthz"}):
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            status = server().ask("evil.example", method=method, target=path).status
            if path in PROBES:
                assert status == (200 if method in ("GET", "HEAD") else 405), (method, path, status)
            else:
                assert status == 421, (method, path, status)
    for path in PROBES:
        assert server().ask("evil.example", target=path + "?x=1").status in (200, 422), path


def test_nothing_is_changed():
    for host in ("evil.example", "localhost.evil.example"):
        made = server().ask(host, method="POST", target="/projects/p/cards", body='{"card_id":"b","content":1}')
        assert made.status == 421, made
    assert server().ask("localhost", target="/projects/p/cards/b").status == 404


def test_same_origin_of_a_page_is_not_enough():
    """Such a page sends its own name as Origin and as Host."""
    answer = server().ask("evil.example", method="POST", target="/projects/p/cards", body='{"card_id":"c","content":1}',
                          lines="Origin: http://evil.example\r\n")
    assert answer.status == 421, answer


def test_absolute_targets():
    """Both the target's authority and Host must be good."""
    for authority, host, status in (
            ("localhost", "localhost", 200), ("LOCALHOST:1", "127.0.0.1", 200), ("evil.example", "localhost", 421),
            ("localhost", "evil.example", 421), ("user@localhost", "localhost", 421), ("", "localhost", 421),
            ("localhost@evil.example", "localhost", 421), ("[::1]:8099", "localhost", 200)):
        answer = server().ask(host, target=f"http://{authority}{CARD}")
        assert answer.status == status, (authority, host, answer)
    assert server().ask("localhost", target="HTTPS://evil.example/projects").status == 421
    assert server().ask("localhost", target="http://evil.example?x").status == 421
    assert server().ask("evil.example", target="http://evil.example/healthz").status == 200


def test_no_host_and_several():
    assert server().ask(None, version="1.0").status == 421
    assert server().ask(None, version="1.0", target=f"http://localhost{CARD}").status == 421
    assert server().ask(None, version="1.0", target="/healthz").status == 200
    assert server().ask("localhost", version="1.0").status == 200
    assert server().ask("evil.example", version="1.0").status == 421
    assert server().ask(None).status == 400  # HTTP/1.1 requires it
    for version in ("1.0", "1.1"):
        for first, second in (("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost", "localhost")):
            assert server().ask(first, version=version, lines=f"Host: {second}\r\n").status == 400


def test_the_connection_goes_on():
    """A body that is refused is read, and the next request has its answer."""
    refused = "POST /projects/p/cards HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 5\r\n\r\n[1,2]"
    good = f"GET {CARD} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server().port), timeout=cardbox_test.WAIT_S) as connection:
        connection.sendall((refused + good).encode())
        answers = parse_responses(cardbox_test.read_all(connection))
    assert [answer.status for answer in answers] == [421, 200], answers


def test_addresses_of_listen():
    for listen, at, accepted, others in (
            ("0.0.0.0:0", "127.0.0.1", ("0.0.0.0", "localhost", "127.0.0.2:80"), ("10.0.0.1", "[::]")),
            ("localhost:0", "localhost", ("localhost", "127.0.0.1"), ("evil.example",)),
            ("[::1]:0", "::1", ("[::1]", "127.0.0.1"), ("[::2]",)),
            ("127.3.2.1:0", "127.3.2.1", ("127.3.2.1", "localhost"), ("evil.example",))):
        with Listening(listen) as one:
            for host in accepted:
                assert one.ask(host, at).status == 200, (listen, host)
            for host in others:
                assert one.ask(host, at).status == 421, (listen, host)


def test_names_in_a_variable():
    with Listening("127.0.0.1:0", env={"CARDBOX_ALLOW_HOST": "a.example,b.example"}) as one:
        assert [one.ask(host).status for host in ("a.example", "b.example:1", "c.example")] == [200, 200, 421]
    with Listening("127.0.0.1:0", "--allow-host", "c.example", env={"CARDBOX_ALLOW_HOST": "a.example"}) as one:
        assert [one.ask(host).status for host in ("a.example", "c.example")] == [421, 200]


def test_names_that_are_none():
    for name in ("", "a.example:80", "http://a.example", "a b", "a,,b", "*", "[::1]:80", "::x", "a/b", "[::1", "."):
        done = cardboxd("--dsn", dsn(), "--listen", "127.0.0.1:0", "--insecure-no-auth", "--allow-host", name)
        assert done.returncode == 2 and "--allow-host takes the name or the address of a host" in done.stderr, (name, done)
    many = [word for number in range(65) for word in ("--allow-host", f"h{number}")]
    done = cardboxd("--dsn", dsn(), "--listen", "127.0.0.1:0", *many)
    assert done.returncode == 2 and "64" in done.stderr, done


def test_with_tokens_any_host():
    with_tokens = Server(dsn(), "--allow-host", "box.example", auth=True)
    assert with_tokens.log().count("event=allow_host_unused") == 1
    assert ask(with_tokens.port, "evil.example").status == 401
    assert ask(with_tokens.port, "evil.example", target="/version").status == 200
    assert ask(with_tokens.port, None, version="1.0", target="/version").status == 200
    with_tokens.stop()


def test_unix_sockets_any_host():
    path = os.path.join(cardbox_test.temp_dir(), "http")
    process = subprocess.Popen([CARDBOXD, "--dsn", as_role(dsn(), "cardbox_app"), "--listen", f"unix:{path}",
                                "--insecure-no-auth"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    cardbox_test.at_end(process.kill)
    assert process.stdout.readline().startswith(b"ready: unix:")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(f"GET {CARD} HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
    process.terminate()
    assert process.wait(cardbox_test.WAIT_S) == 0


if __name__ == "__main__":
    cardbox_test.main()

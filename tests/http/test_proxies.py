#!/usr/bin/env python3
"""HAProxy and nginx before the server: whatever a client sends, the server sees the requests that the proxy meant, and
no other, and the connections between the two stay in step."""

import collections
import concurrent.futures
import contextlib
import json
import os
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import WAIT_S, Server, await_, dsn, parse_responses, read_all

BATCH = "/projects/p/cards/batch"

HAPROXY = """
global
    log stdout len 16384 format raw local0
    nbthread 1
defaults
    mode http
    log global
    log-format "%HM %HU %s %ST"
    timeout connect {wait}s
    timeout server {wait}s
    default_backend cardbox
frontend patient
    bind unix@{folder}/patient
    timeout client {wait}s
frontend impatient
    bind unix@{folder}/impatient
    timeout client 300ms
    timeout http-request 300ms
    timeout http-keep-alive 300ms
backend cardbox
    http-reuse always
    server server 127.0.0.1:{port}
"""

NGINX = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log info;
events {{ worker_connections 256; }}
http {{
    log_format all '$request_method $request_uri $upstream_addr $status';
    access_log {folder}/log all;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    upstream cardbox {{
        server 127.0.0.1:{port};
        keepalive 4;
    }}
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host x;
    proxy_request_buffering off;
    proxy_next_upstream off;
    server {{
        listen unix:{folder}/patient;
        location / {{ proxy_pass http://cardbox; }}
    }}
    server {{
        listen unix:{folder}/impatient;
        client_header_timeout 300ms;
        client_body_timeout 300ms;
        keepalive_timeout 300ms;
        lingering_timeout 300ms;
        location / {{ proxy_pass http://cardbox; }}
    }}
}}
"""


class Proxy:
    """A proxy, with a server of its own behind it. On one of its two Unix sockets, it waits for a client for less than
    a second only."""

    def __init__(self, name):
        self.name = name
        self.server = Server(dsn(), "--access-log")
        self.server.await_ready()
        self.folder = cardbox_test.temp_dir()
        with open(self.path("conf"), "w", encoding="ascii") as conf:
            text = HAPROXY if name == "haproxy" else NGINX
            conf.write(text.format(folder=self.folder, port=self.server.port, wait=WAIT_S))
        command = {"haproxy": ["haproxy", "-db", "-f", self.path("conf")],
                   "nginx": ["nginx", "-e", self.path("error.log"), "-c", self.path("conf")]}[name]
        with open(self.path("log"), "wb") as log, open(self.path("errors"), "wb") as errors:
            path = os.environ["PATH"] + ":/usr/sbin"
            self.process = subprocess.Popen(command, stdout=log, stderr=errors, env={**os.environ, "PATH": path})
        cardbox_test.at_end(self.process.kill)
        await_(self.listens, self.errors)

    def path(self, name):
        return os.path.join(self.folder, name)

    def errors(self):
        with open(self.path("errors"), encoding="utf-8", errors="replace") as errors:
            return errors.read()

    def listens(self):
        assert self.process.poll() is None, self.errors()
        try:
            self.connect("patient").close()
            self.connect("impatient").close()
            return True
        except OSError:
            return False

    def connect(self, where):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(WAIT_S)
        try:
            connection.connect(self.path(where))
        except OSError:
            connection.close()
            raise
        return connection

    def exchange(self, data, where="patient"):
        """All that comes for these bytes, until the proxy closes the connection."""
        with self.connect(where) as connection:
            with contextlib.suppress(OSError):  # it may answer and close before it has read everything
                connection.sendall(data)
            return read_all(connection)

    def sent(self):
        """Of the proxy's log: the targets of the requests that it sent on, and of those that were answered with 200. Each
        is a Counter."""
        sent, good = collections.Counter(), collections.Counter()
        with open(self.path("log"), encoding="latin-1") as log:
            for target, where, status in re.findall(r"(?m)^\S+ (.*) (\S+) (\d+)$", log.read()):
                if where not in ("-", "<NOSRV>"):
                    sent[target] += 1
                    good[target] += status == "200"
        return sent, +good

    def seen(self):
        """Of the server's log: the targets of the requests that it saw."""
        return collections.Counter(re.findall(r' event=request method=.* path="(/projects[^"]*)"', self.server.log()))

    def smuggled(self):
        """The requests that the server saw, but the proxy did not send."""
        return self.seen() - self.sent()[0]

    def stop(self):
        """Ends both. The proxy may log a request only after its client has the whole answer."""
        self.server.stop()
        await_(lambda: not self.smuggled(), lambda: f"the server saw more than the proxy sent: {self.smuggled()}")
        self.process.terminate()
        self.process.wait(WAIT_S)


def in_chunks(data, size):
    pieces = [data[at:at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def post(number, lines, body, method=b"POST", version=b"HTTP/1.1"):
    return (b"%s %s?n=%d %s\r\nHost: x\r\nContent-Type: application/json\r\n" % (method, BATCH.encode(), number, version)
            + lines + body)


def attacks():
    """What may mean one request to the one program and two to the other. {n}: the number of the attack."""
    hidden = b"GET /projects/p/cards/hidden-{n} HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"0\r\n\r\n" + hidden
    length = b"Content-Length: %d\r\n" % len(last.replace(b"{n}", b"100"))
    both = [b"Transfer-Encoding: chunked", b"transfer-encoding: CHUNKED", b"Transfer-Encoding : chunked",
            b"Transfer-Encoding:\tchunked", b"Transfer-Encoding:chunked ", b"Transfer-Encoding:\x0bchunked",
            b"Transfer-Encoding: \0chunked", b"Transfer-Encoding: chunked\0", b"Transfer-Encoding:\r\n chunked",
            b"Transfer-Encoding: x\r\n chunked", b"X: y\nTransfer-Encoding: chunked", b"X: y\rTransfer-Encoding: chunked",
            b"X: y\r\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunked, identity",
            b"Transfer-Encoding: identity, chunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", b'Transfer-Encoding: "chunked"',
            b"Transfer-Encoding: chunked;q=1", b"Transfer_Encoding: chunked", b"Transfer Encoding: chunked",
            b" Transfer-Encoding: chunked", b"X: y\r\n\tTransfer-Encoding: chunked", b"\0Transfer-Encoding: chunked",
            b"Transfer-Encoding\0: chunked", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: ,chunked",
            b"Transfer-Encoding:", b"Connection: Content-Length", b"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
            b"Expect: 100-continue", b"Expect: 100-continue\r\nTransfer-Encoding: chunked", b"Upgrade: h2c\r\nConnection: Upgrade"]
    for line in both:
        yield post(0, length + line + b"\r\n\r\n", last)
        yield post(0, line + b"\r\n" + length + b"\r\n", last)
    short = b"{}" + hidden
    more = b"Content-Length: %d" % len(short.replace(b"{n}", b"100"))
    lengths = [b"Content-Length: 2\r\n" + more, more + b"\r\nContent-Length: 2", b"Content-Length: 2\r\nContent-Length: 2",
               b"Content-Length: 2, 60", b"Content-Length: 2, 2", b"Content-Length: +2", b"Content-Length: -1",
               b"Content-Length: 0x2", b"Content-Length: 2;", b"Content-Length: 2 2", b"Content-Length: ",
               b"Content-Length: 18446744073709551618", b"Content-Length: 02", b"Content-Length:\r\n 2",
               b"Content-Length: 2\r\n 0", b"Content-Length : 2", b"Content Length: 2", b"Content-Length\0: 2",
               b"Content-Length: 2\0", b"Content-Length: \x0b2", b"Content_Length: 2", b" Content-Length: 2",
               b"X: y\n" + more, b"X: y\r" + more, b"Content-Length: 2\rX: y", b"A\0B: 1\r\n" + more]
    for line in lengths:
        yield post(0, line + b"\r\n\r\n", short)
    for end in (b"\0\r\n", b": x\r\n", b"\0: x\r\n", b"X: y\0\r\n\0\n", b"\n", b"X: y\n\n", b"X: y\n\r\n", b"\r\r\n", b"X\r\n\r\n",
                b"X: \n\n", b"\x0b\r\n\r\n", b"X: y\r\n\0\r\n\r\n"):
        for before in (b"", b"Content-Length: 0\r\n"):
            yield post(0, before + end, hidden)
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    for body in (b"2\r\n{}\r\n" + last, b"2;x=y\r\n{}\r\n" + last, b'2;x="\r\n"\r\n{}\r\n' + last, b"2;\n{}\r\n" + last,
                 b"2\n{}\n0\n\n" + hidden, b"2\r\n{}\n" + last, b"2\r{}\r\n" + last, b"0x2\r\n{}\r\n" + last,
                 b" 2\r\n{}\r\n" + last, b"2 \r\n{}\r\n" + last, b"+2\r\n{}\r\n" + last, b"2\0\r\n{}\r\n" + last,
                 b"ffffffffffffffff2\r\n{}\r\n" + last, b"00000000000000000000000002\r\n{}\r\n" + last,
                 b"2\r\n{}" + last, b"1\r\n{}\r\n" + last, b"3\r\n{}\r\n" + last, b"2\r\n{}\r\n0;x\r\n\r\n" + hidden,
                 b"2\r\n{}\r\n0\r\nContent-Length: 60\r\n\r\n" + hidden, b"2\r\n{}\r\n0\r\nX: y\n\n" + hidden,
                 b"2\r\n{}\r\n0\r\n : x\r\n\r\n" + hidden, b"2\r\n{}\r\n0\r\n\0\r\n" + hidden, b"2\r\n{}\r\n\r\n" + hidden,
                 b"2;" + b"x" * 20000 + b"\r\n{}\r\n" + last):
        yield post(0, chunked, body)
        yield post(0, chunked, body, version=b"HTTP/1.0")
    for method in (b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"GET\0", b"G\rET"):
        yield post(0, more + b"\r\n\r\n", short, method=method)
    for target in (b"/a\0b", b"/a\tb", b"/a b", b"http://y/a", b"//y/a", b"/a#b", b"/a\x80", b"*"):
        yield b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n" + hidden


def check_whole(proxy, number):
    """A good request through the proxy gets its own answer. Returns its target."""
    cards = [f"whole-{number}-{n}" for n in range(number % 50 + 1)]
    body = json.dumps({"card_ids": cards}).encode()
    framed = (b"Content-Length: %d\r\n\r\n%s" % (len(body), body) if number % 2
              else b"Transfer-Encoding: chunked\r\n\r\n" + in_chunks(body, 100))
    answer, = parse_responses(proxy.exchange(post(number, b"Connection: close\r\n" + framed, b"")))
    assert answer.status == 200 and answer.json()["missing_ids"] == cards, (number, answer)
    return f"{BATCH}?n={number}"


def check_attacks(name):
    proxy = Proxy(name)

    def attack(number, data):
        proxy.exchange(data.replace(b"?n=0 ", b"?attack=%d " % number).replace(b"{n}", b"%d" % number), "impatient")
        return check_whole(proxy, number)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        expected = collections.Counter(pool.map(attack, *zip(*enumerate(attacks(), 100))))
    proxy.stop()
    good, seen = proxy.sent()[1], proxy.seen()
    assert not good - seen, f"the server saw less: {good - seen}"
    assert not expected - good, expected - good
    assert sum((seen - expected).values()) > 50, f"few attacks came through: {seen - expected}"


def check_large_bodies(name):
    """They arrive whole, in chunks of any size, and the answers too."""
    proxy = Proxy(name)
    for size in (1, 1000, 30000, 300000):
        content = {"text": "x" * size + "end"}
        body = json.dumps({"card_id": f"large-{size}", "content": content}).encode()
        for framed in (b"Content-Length: %d\r\n\r\n%s" % (len(body), body),
                       b"Transfer-Encoding: chunked\r\n\r\n" + in_chunks(body, max(1, size // 7))):
            head = (b"POST /projects/p/cards HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                    b"Content-Type: application/json\r\n")
            answer, = parse_responses(proxy.exchange(head + framed))
            assert answer.status == 200, answer
        read = b"GET /projects/p/cards/large-%d HTTP/1.1\r\nHost: x\r\n" % size
        answers = parse_responses(proxy.exchange((read + b"\r\n") * 2 + read + b"Connection: close\r\n\r\n"))
        assert [answer.json()["content"] for answer in answers] == [content] * 3, size
    proxy.stop()


def test_proxies():
    for name in ("haproxy", "nginx"):
        yield f"attacks through {name}", lambda n=name: check_attacks(n)
        yield f"large bodies through {name}", lambda n=name: check_large_bodies(n)


if __name__ == "__main__":
    cardbox_test.main()

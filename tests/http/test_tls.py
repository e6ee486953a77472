#!/usr/bin/env python3
"""HTTPS by options: what the files must be, and that all that holds without TLS holds with it."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import (CARDBOXD, OPEN, PATIENT, WAIT_S, Postgres, as_role, await_, cardbox, cardboxd, once,
                          parse_responses, read_all)

CARD = "/projects/p/cards/a"


@once
def files():
    """Paths of a certificate, its key, and a key of another."""
    folder = cardbox_test.temp_dir()
    cert, key, other = (os.path.join(folder, name) for name in ("cert", "key", "other"))
    for out, made in ((key, cert), (other, os.path.join(folder, "unused"))):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", out,
                        "-out", made], check=True, capture_output=True)
    return cert, key, other


class Secure:
    """A cardboxd that serves HTTPS."""

    def __init__(self, dsn, *options):
        cert, key, _ = files()
        self.context = ssl.create_default_context(cafile=cert)
        self.log_path = os.path.join(cardbox_test.temp_dir(), "log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [CARDBOXD, "--dsn", as_role(dsn, "cardbox_app"), "--listen", "127.0.0.1:0",
                 "--tls-cert", cert, "--tls-key", key, *OPEN, *PATIENT, *options], stdout=subprocess.PIPE, stderr=log,
                text=True)
        cardbox_test.at_end(self.process.kill)
        line = self.process.stdout.readline()
        assert line.startswith("ready: https://127.0.0.1:"), line
        self.port = int(line.rpartition(":")[2])
        await_(lambda: self.ask("/readyz").status == 200)

    def client(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=WAIT_S, context=self.context)

    def ask(self, path, method="GET", body=None, headers=None):
        client = self.client()
        try:
            client.request(method, path, body, headers or {})
            response = client.getresponse()
            response.body = response.read()
            return response
        finally:
            client.close()

    def plain(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)

    def raw(self, data):
        with self.plain() as connection, \
                self.context.wrap_socket(connection, server_hostname="127.0.0.1") as secure:
            secure.sendall(data)
            return read_all(secure)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(WAIT_S) == 0
        with open(self.log_path, "rb") as log:
            text = log.read()
        assert not cardbox_test.SANITIZER_REPORT.search(text), text.decode()


@once
def filled():
    dsn = Postgres.shared().database()
    rows = [{"kind": "card", "card_id": "a", "content": "alpha"},
            {"kind": "card", "card_id": "big", "content": "b" * 3_000_000}]
    cardbox("import", "--dsn", dsn, "--project", "p", stdin="\n".join(map(json.dumps, rows)))
    return dsn


@once
def server():
    return Secure(filled())


@once
def hasty():
    return Secure(filled(), "--request-read-timeout-ms", "2000")


def test_reads_and_keep_alive():
    client = server().client()
    for turn in range(20):
        client.request("GET", CARD)
        response = client.getresponse()
        etag, body = response.getheader("ETag"), response.read()
        assert response.status == 200 and json.loads(body)["content"] == "alpha"
        client.request("GET", CARD, headers={"If-None-Match": etag})
        response = client.getresponse()
        assert response.status == 304 and response.read() == b""
        client.request("HEAD", CARD)
        response = client.getresponse()
        assert response.status == 200 and response.read() == b""
    client.close()


def test_large_in_and_out():
    assert json.loads(server().ask("/projects/p/cards/big").body)["content"] == "b" * 3_000_000
    ids = ["x" * 400 + str(number) for number in range(100)]
    body = json.dumps({"card_ids": ids, "more": "y" * 3_000_000}).encode()
    answer = server().ask("/projects/p/cards/batch", "POST", body, {"Content-Type": "application/json"})
    assert answer.status == 200 and json.loads(answer.body)["missing_ids"] == ids
    answer = server().ask("/projects/p/cards/batch", "POST", b" " * 5_000_000,
                          {"Content-Type": "application/json"})
    assert answer.status == 413


def test_versions():
    _, *_ = files()
    for version, fine in ((ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True),
                          (ssl.TLSVersion.TLSv1_1, False)):
        context = ssl.create_default_context(cafile=files()[0])
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
        with server().plain() as connection:
            try:
                context.wrap_socket(connection, server_hostname="127.0.0.1").close()
                assert fine, version
            except (ssl.SSLError, ConnectionError):
                assert not fine, version


def test_malformed_heads():
    for lines in ("Content-Length: 1\r\nContent-Length: 2\r\n",
                  "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "Host: y\r\n", ":x: y\r\n",
                  "A: b\0c\r\n"):
        answer = server().raw(f"GET {CARD} HTTP/1.1\r\nHost: x\r\n{lines}\r\n"
                              f"GET {CARD} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b"HTTP/1.1 200" not in answer, (lines, answer)
        assert not answer or parse_responses(answer)[0].status == 400, (lines, answer)


def test_malformed_length_is_answered_once():
    answer = server().raw(b"POST /projects/p/cards/batch HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\n{}")
    assert [one.status for one in parse_responses(answer)] == [400], answer


def test_stalled_handshakes():
    """Clients that connect and say nothing, a part of the greeting, or something else."""
    started = [hasty().plain() for _ in range(6)]
    for connection, greeting in zip(started, (b"\x16\x03\x01\x02\x00\x01\x00", b"\x16", b"\x16\x03")):
        connection.sendall(greeting)
    assert hasty().ask(CARD).status == 200
    for connection in started[:3]:
        assert read_all(connection) == b""
    for connection in started:
        connection.close()
    assert hasty().ask(CARD).status == 200


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_stalled_handshake_is_not_asked_for():
    """The library would look for the rest of it all the time."""
    with server().plain() as connection:
        connection.sendall(b"\x16")
        assert server().ask(CARD).status == 200
        before = cpu_seconds(server().process)
        time.sleep(2)
        assert cpu_seconds(server().process) - before < 0.5
        assert server().ask(CARD).status == 200


def test_slow_request():
    with hasty().plain() as connection, \
            hasty().context.wrap_socket(connection, server_hostname="127.0.0.1") as secure:
        secure.sendall(f"GET {CARD} HTTP/1.1\r\nHost: x\r\nA: ".encode())
        assert read_all(secure) == b""


def test_plain_http_to_the_port():
    for data in (f"GET {CARD} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), b"\0" * 100, b"x" * 70000):
        with server().plain() as connection:
            try:
                connection.sendall(data)
            except ConnectionError:
                pass
            assert b"HTTP/1.1 2" not in read_all(connection)
    assert server().ask(CARD).status == 200


def test_server_ends_well():
    server().stop()
    hasty().stop()


def test_files():
    cert, key, other = files()

    def refused(*options):
        done = cardboxd("--listen", "127.0.0.1:0", *options)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done
        return done.stderr

    assert "both or neither" in refused("--tls-cert", cert)
    assert "both or neither" in refused("--tls-key", key)
    assert "/nowhere: No such file" in refused("--tls-cert", "/nowhere", "--tls-key", key)
    assert "cannot read /" in refused("--tls-cert", cert, "--tls-key", "/")
    assert "are not a certificate and its private key" in refused("--tls-cert", cert, "--tls-key", other)
    assert "are not a certificate and its private key" in refused("--tls-cert", key, "--tls-key", key)
    assert "are not a certificate and its private key" in refused("--tls-cert", "/dev/null", "--tls-key", "/dev/null")


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""HTTPS by options: what the files must be, and that all that holds without TLS holds with it."""

import concurrent.futures
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import hostile
from cardbox_test import (CARDBOXD, OPEN, PATIENT, WAIT_S, Postgres, as_role, await_, cardbox, cardboxd, once,
                          read_all)

CARD = "/projects/p/cards/a"


def make_pair(name="a", kind=("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
    """Paths of a new certificate and its key."""
    folder = cardbox_test.temp_dir()
    cert, key = os.path.join(folder, "cert"), os.path.join(folder, "key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", "30", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return cert, key


@once
def files():
    """Paths of a certificate, its key, and a key of another."""
    return *make_pair(), make_pair()[1]


class Secure:
    """A cardboxd that serves HTTPS."""

    def __init__(self, dsn, *options, pair=None):
        cert, key = pair or files()[:2]
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

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()

    def reload(self, event):
        """Sends SIGHUP, and waits until the server has logged an event that many times."""
        count = self.log().count(f"event={event} ")
        self.process.send_signal(signal.SIGHUP)
        await_(lambda: self.log().count(f"event={event} ") > count, self.log)

    def certificate(self):
        """The certificate of a new connection, in DER."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with self.plain() as connection, context.wrap_socket(connection) as secure:
            return secure.getpeercert(True)

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
    answer = server().ask("/projects/p/cards/batch", "POST", b" " * 17_000_000,
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
    hidden = () if not hostile.library_is_strict() else (":x: y\r\n", "A: b\0c\r\n")
    for lines in ("Content-Length: 1\r\nContent-Length: 2\r\n",
                  "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "Host: y\r\n", "A: b\rc\r\n", *hidden):
        answer = server().raw(f"GET {CARD} HTTP/1.1\r\nHost: x\r\n{lines}\r\n"
                              f"GET {CARD} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b"HTTP/1.1 200" not in answer, (lines, answer)
        assert not answer or answer.startswith(b"HTTP/1.1 400 "), (lines, answer)


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


def install(pair, at):
    for source, target in zip(pair, at):
        shutil.copy(source, target)


def der(cert):
    with open(cert, encoding="ascii") as text:
        return ssl.PEM_cert_to_DER_cert(text.read())


def test_hangup_reloads_the_certificate():
    first, second = make_pair("first"), make_pair("second", kind=("rsa:2048",))
    used = tuple(path + ".used" for path in first)
    install(first, used)
    server = Secure(filled(), "--loops", "2", pair=used)
    before = server.client()

    def works_as_before():
        before.request("GET", CARD)
        assert before.getresponse().read().endswith(b"}")

    works_as_before()
    stalled = server.plain()  # its handshake begins now, and ends after the certificate is replaced
    assert server.certificate() == der(first[0])
    install(second, used)
    assert server.certificate() == der(first[0])
    server.reload("certificate_reloaded")
    assert all(server.certificate() == der(second[0]) for _ in range(4))
    works_as_before()
    assert server.context.wrap_socket(stalled, server_hostname="127.0.0.1").getpeercert(True) == der(first[0])

    for cert, key in ((first[0], second[1]), ("/dev/null", second[1]), (second[0], "/dev/null")):
        install((cert, key), used)
        server.reload("certificate_not_reloaded")
        assert "are not a certificate and its private key" in server.log()
        assert server.certificate() == der(second[0])
    os.unlink(used[1])
    server.reload("certificate_not_reloaded")
    assert f"cannot read {used[1]}: No such file" in server.log()
    assert server.certificate() == der(second[0])
    works_as_before()
    install(first, used)
    server.reload("certificate_reloaded")
    assert server.certificate() == der(first[0])
    works_as_before()
    stalled.close()
    before.close()
    server.stop()


def test_handshakes_while_certificates_are_replaced():
    pairs = make_pair("even"), make_pair("odd", kind=("rsa:2048",))
    used = tuple(path + ".used" for path in pairs[0])
    install(pairs[0], used)
    server = Secure(filled(), "--loops", "2", pair=used)
    known, done = {der(cert) for cert, _ in pairs}, []

    def connect():
        seen = set()
        while not done:
            seen.add(server.certificate())
        return seen

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(connect) for _ in range(4)]
        try:
            for number in range(20):
                install(pairs[(number + 1) % 2], used)
                server.reload("certificate_reloaded")
        finally:
            done.append(True)
        assert set().union(*(client.result() for client in clients)) == known
    server.stop()


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

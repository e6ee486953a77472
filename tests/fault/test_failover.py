#!/usr/bin/env python3
"""A primary and its standby in one connection string: the primary is lost under load, the standby takes over.
Nothing that was acknowledged is lost, nothing is done twice, and whoever was cut off goes on."""

import json
import os
import re
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_, cardbox

JSON = {"Content-Type": "application/json"}


def both(dsn, first, then):
    """The DSN of two hosts, of which the one that can be written to counts."""
    hosts = f"host={first},{then.directory}"
    return re.sub(r"host=\S+", hosts, dsn) + " target_session_attrs=read-write"


class Writers:
    """Appends with keys of their own, each tried until it is acknowledged."""

    def __init__(self, server, headers, count=4):
        self.server, self.headers = server, {**JSON, **headers}
        self.acknowledged, self.refused, self.stop = {}, [], threading.Event()
        self.boxes = [server.post("/projects/p/boxes", {"card_ids": []}, headers).json()["box_id"] for _ in range(count)]
        self.threads = [threading.Thread(target=self._write, args=(box,)) for box in self.boxes]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def _write(self, box):
        done = self.acknowledged[box] = []
        client = self.server.client()
        while not self.stop.is_set():
            key = str(len(done))
            answer = client.request("POST", f"/projects/p/boxes/{box}/append", json.dumps({"card_ids": [key]}),
                                    {**self.headers, "Idempotency-Key": key})
            if answer.status == 200:
                done.append(key)
            else:
                self.refused.append(answer)
                time.sleep(0.02)

    def count(self):
        return sum(map(len, self.acknowledged.values()))


def lose(postgres):
    """As its machine does: all of its processes at once."""
    pid_file = os.path.join(postgres.directory, "data", "postmaster.pid")
    with open(pid_file, encoding="utf-8") as file:
        leader = int(file.readline())
    with open(f"/proc/{leader}/task/{leader}/children", encoding="utf-8") as file:
        children = [int(pid) for pid in file.read().split()]
    for pid in (leader, *children):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os.unlink(pid_file)


def follow(server, task, headers, last):
    """What a task has done after the event `last`, as far as it comes within a moment."""
    with socket.create_connection(("127.0.0.1", server.port)) as stream:
        given = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "Last-Event-ID": last}.items())
        stream.sendall(f"GET /projects/p/tasks/{task}/stream HTTP/1.1\r\nHost: x\r\n{given}\r\n".encode())
        stream.settimeout(0.5)
        said = b""
        try:
            while piece := stream.recv(65536):
                said += piece
        except TimeoutError:
            pass
        return said


def test_the_standby_takes_over():
    primary = Postgres("fsync=on")
    dsn = primary.database()
    standby = primary.standby()
    primary.psql(dsn, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.psql(dsn, "SELECT pg_reload_conf()")
    await_(lambda: primary.psql(dsn, "SELECT sync_state FROM pg_stat_replication").strip() == "sync")
    token = cardbox("token", "create", "--dsn", dsn, "--name", "t", "--all-tenants", "--scope", "read,write,tasks").stdout.strip()
    headers = {"Authorization": f"Bearer {token}"}
    server = Server(both(dsn, primary.directory, standby), auth=True)
    await_(lambda: server.get("/projects/p/cards/none").status == 401)
    task = server.post("/projects/p/abilities/task:spawn", {"goal": "count"}, headers).json()["taskId"]
    with Writers(server, headers) as writers:
        await_(lambda: writers.count() > 500)
        lose(primary)
        await_(lambda: writers.refused)
        standby.promote()
        # Nobody stands behind the new primary: without this it would wait for ever.
        standby.psql(standby.there(dsn), "ALTER SYSTEM RESET synchronous_standby_names")
        standby.psql(standby.there(dsn), "SELECT pg_reload_conf()")
        before = writers.count()
        await_(lambda: writers.count() > before + 500, server.log)
    assert {answer.status for answer in writers.refused} <= {503, 504}, writers.refused
    assert all(answer.header("Retry-After") for answer in writers.refused)
    for box, done in writers.acknowledged.items():
        kept = server.get(f"/projects/p/boxes/{box}", headers).json()["card_ids"]
        assert kept[:len(done)] == done and len(kept) == len(set(kept)) and len(kept) - len(done) <= 1, (done, kept)
    sent = {"receiverId": task, "message": "only the large ones"}
    assert server.post("/projects/p/abilities/task:send", sent, headers).status == 200
    await_(lambda: b"only the large ones" in follow(server, task, headers, 1))
    assert server.get("/projects/p/cards/none").status == 401
    server.stop()


def test_a_host_that_says_nothing():
    """Its machine is lost, or it hangs: libpq goes on to the next host only when one refuses."""
    postgres = Postgres.shared()
    dsn = postgres.database()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(100)
        hosts = both(dsn, "127.0.0.1", postgres).replace("port=5432", f"port={silent.getsockname()[1]},5432")
        server = Server(hosts)
        server.await_ready()
        assert server.post("/projects/p/cards", {"card_id": "a", "content": 1}).status == 200
        assert server.get("/projects/p/cards/a").status == 200
        server.stop()
        assert "a" in cardbox("card", "list", "--dsn", hosts, "--project", "p").stdout
        done = cardbox("card", "list", "--dsn", hosts.replace(postgres.directory, "127.0.0.1"), "--project", "p", check=False)
        assert done.returncode == 1 and "cannot connect" in done.stderr, done


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""Tasks as server-sent events: what a client sees while a worker, here plain SQL, does its work; how
it goes on after a break; who may, and when it ends."""

import contextlib
import http.client
import json
import os
import socket
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_, cardbox, connected, dsn, once, psql, server

PATIENCE_S = 60


def ask(ability, value, tenant="acme", at=None, headers=None):
    answer = (at or server()).request("POST", f"/projects/{tenant}/abilities/{ability}",
                                      json.dumps(value).encode(),
                                      {"Content-Type": "application/json", **(headers or {})})
    assert answer.status == 200, answer
    return answer.json()


def spawn(tenant="acme"):
    return ask("task:spawn", {"goal": "do it", "systemPrompt": "you"}, tenant)["taskId"]


def say(task, content, tenant="acme"):
    message = {"id": str(uuid.uuid4()), "taskId": task, "role": "assistant", "content": content,
               "timestamp": int(time.time() * 1000)}
    ask("ldg:msg:save", {"message": message}, tenant)
    return message


def piece(task, message_id, n, text):
    """As a worker's chunk; the rules of leases are tested with the store."""
    cardbox_test.say_pieces(dsn(), "acme", task, message_id, n, text)


class Stream:
    """A client that reads events one by one. What does not come within PATIENCE_S never will: a
    comment now and then is no event."""

    def __init__(self, task, tenant="acme", last=None, at=None, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", (at or server()).port, timeout=PATIENCE_S)
        extra = {} if last is None else {"Last-Event-ID": str(last)}
        self.connection.request("GET", f"/projects/{tenant}/tasks/{task}/stream",
                                headers={"Accept-Encoding": "gzip", **extra, **(headers or {})})
        self.response = self.connection.getresponse()
        self.last = last

    def lines(self):
        deadline = time.monotonic() + PATIENCE_S
        while True:
            line = self.response.readline()
            if not line:
                return
            assert time.monotonic() < deadline, f"nothing but {line} for {PATIENCE_S} s"
            yield line.decode().rstrip("\n")

    def next(self):
        """(event, data) of the next event; None: the stream has ended. The metadata of a message are
        left in self.metadata."""
        event, data = None, None
        for line in self.lines():
            if line.startswith("id: "):
                self.last = int(line[4:])
            elif line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif line == "" and event is not None:
                self.metadata = data.pop("metadata", None)
                return event, data
        return None

    def close(self):
        self.connection.close()


@contextlib.contextmanager
def following(*arguments, **named):
    stream = Stream(*arguments, **named)
    try:
        yield stream
    finally:
        stream.close()


def finish(task):
    old = ask("ldg:task:get", {"taskId": task})["task"]
    ask("ldg:task:save", {"task": {**old, "completionStatus": "success", "updatedAt": old["updatedAt"] + 1}})


@once
def silence():
    """A stream of a task with which nothing happens."""
    stream = Stream(spawn())
    assert [stream.next()[0] for _ in range(2)] == ["message_complete"] * 2
    return stream


def test_metadata_of_an_answer():
    """An answer comes with what is known of the turn that made it."""
    task, known = spawn(), {"model": "m", "box_version": 2, "usage": {"total_tokens": 18, "cost": 0.0012}}
    card = {"card_id": str(uuid.uuid4()), "content": {"__type__": "TextContent", "text": "Done."}, "sealed": True,
            "type": "agent.thought", "role": "assistant", "metadata": {"task_id": task, **known}}
    assert server().post("/projects/acme/cards", {"cards": [card]}).status in (200, 201)
    ask("ldg:msg:save", {"message": {"id": card["card_id"], "taskId": task, "role": "assistant", "content": "Done.",
                                     "timestamp": 1748073600000}})
    with following(task) as stream:
        assert [stream.next()[1]["role"] for _ in range(3)] == ["system", "user", "assistant"]
        assert {**stream.metadata, **known} == stream.metadata, stream.metadata
        assert stream.metadata["role"] == "assistant"


def test_what_only_tells_of_a_call():
    """A message that only says that a call began names the call; another with such a member does not."""
    task = spawn()
    began, other = say(task, "Calling..."), say(task, "Well.")
    for message, value in ((began, '"k \\u2603"'), (other, "3")):
        psql(dsn(), "SET session_replication_role = replica; UPDATE cardbox.cards SET metadata = metadata || "
                    f"'{{\"call_id\": {value}}}' WHERE card_id = '{message['id']}'")  # as the worker writes it
    with following(task) as stream:
        got = [stream.next()[1] for _ in range(4)]
    assert got[2:] == [{**began, "callId": "k \u2603"}, other], got


def test_the_whole_story():
    silence()
    task = spawn()
    with following(task) as stream:
        assert stream.response.status == 200, stream.response.read()
        assert stream.response.getheader("Content-Type") == "text/event-stream"
        assert stream.response.getheader("Content-Encoding") is None
        assert stream.response.getheader("Cache-Control") == "no-store"
        roles = [stream.next() for _ in range(2)]
        assert [(e, d["role"], d["content"]) for e, d in roles] == \
            [("message_complete", "system", "you"), ("message_complete", "user", "do it")]
        message = str(uuid.uuid4())
        piece(task, message, 1, "Hel")
        assert stream.next() == ("start", {"messageId": message})
        assert stream.next() == ("content", {"messageId": message, "content": "Hel"})
        piece(task, message, 2, "lo \u2603")
        assert stream.next() == ("content", {"messageId": message, "content": "lo \u2603"})
        said = say(task, "Hello")
        got = stream.next()
        assert got == ("message_complete", said), (got, said)
        call = {"id": "c1", "taskId": task, "abilityName": "card:get", "parameters": "{}",
                "status": "pending", "details": "{}", "createdAt": 1, "updatedAt": 1,
                "startMessageId": said["id"]}
        ask("ldg:call:save", {"call": call})
        event, data = stream.next()
        assert event == "call" and data["callId"] == "c1" and data["status"] == "pending", data
        assert data["abilityName"] == "card:get" and data["parameters"] == "{}", data
        assert (data["createdAt"], data["updatedAt"]) == (call["createdAt"], call["updatedAt"]), data
        finish(task)
        event, data = stream.next()
        assert (event, data["callId"], data["status"]) == ("call", "c1", "failed"), data
        event, data = stream.next()
        assert (event, data["completionStatus"], data["taskId"]) == ("task_complete", "success", task)
        assert stream.next() is None
        last = stream.last
    with following(task, last=last) as again:
        assert again.response.status == 204 and again.response.read() == b""


def test_a_cancel_is_told_as_it_happened():
    task = spawn()
    said = say(task, "I look")
    call = {"id": str(uuid.uuid4()), "taskId": task, "abilityName": "card:get", "parameters": "{}",
            "status": "pending", "details": "{}", "createdAt": 1, "updatedAt": 1,
            "startMessageId": said["id"]}
    ask("ldg:call:save", {"call": call})
    ask("task:cancel", {"taskId": task, "reason": "wrong \u2603"})
    with following(task, last=4) as stream:
        told = [stream.next() for _ in range(3)]
        assert [(e, d.get("status"), d.get("details")) for e, d in told] == \
            [("call", "pending", "{}"), ("call", "failed", '{"error":"Task cancelled"}'),
             ("task_complete", None, None)], told
        assert told[2][1]["reason"] == "wrong \u2603" and stream.next() is None
    assert ask("ldg:task:get", {"taskId": task})["task"]["cancelReason"] == "wrong \u2603"


def test_goes_on_after_a_break():
    task = spawn()
    with following(task) as stream:
        for _ in range(2):
            stream.next()
        seen = stream.last
    said = [say(task, f"number {i}") for i in range(250)]
    with following(task, last=seen) as stream:
        for message in said:
            assert stream.next() == ("message_complete", message)
        finish(task)
        assert stream.next()[0] == "task_complete"
        assert stream.next() is None


def whole(stream):
    events = []
    while (event := stream.next()) is not None:
        events.append(event)
    return events


def test_a_message_that_broke_off_is_over():
    """A worker that asks its model again begins another message: what the first one said is gone."""
    task = spawn()
    with following(task) as stream:
        for _ in range(2):
            stream.next()
        for message in ("zz-first", "second"):
            for n in (1, 2):
                piece(task, message, n, f"{message} {n}")
            assert stream.next() == ("start", {"messageId": message})
            for n in (1, 2):
                assert stream.next()[1]["content"] == f"{message} {n}"
        time.sleep(1)
        finish(task)
        assert [name for name, _ in whole(stream)] == ["task_complete"]
    with following(task) as again:
        assert [data.get("content") for name, data in whole(again) if name == "content"] in ([], ["second 1", "second 2"])


def test_more_than_an_answer_may_hold():
    own = Server(dsn(), "--response-max", "1000000")
    task = spawn()
    said = [say(task, f"{i}" * 300000) for i in range(9)]
    finish(task)
    try:
        with following(task, at=own) as stream:
            events = whole(stream)
        assert [data for _, data in events[2:-1]] == said
        assert events[-1][0] == "task_complete"
    finally:
        own.stop()


def test_a_page_ends_by_its_bytes():
    """So many of each task, and of all; who gets nothing is told to ask again."""
    tasks = [spawn() for _ in range(3)]
    for task in tasks:
        for i in range(3):
            say(task, str(i) * 10000)
    def look(page, everything):
        rows = Postgres.shared().psql(
            dsn(), "SELECT ord, string_agg(what, ' ') FROM cardbox.follow_tasks("
            f"'{{acme,acme,acme}}', ARRAY['{tasks[0]}','{tasks[1]}','{tasks[2]}'], '{{3,3,6}}', '{{NULL,NULL,NULL}}',"
            f" '{{0,0,0}}', 100, {page}, {everything}) GROUP BY ord ORDER BY ord")
        return rows.strip().split("\n")
    assert look(1000000, 1000000) == ["1|message message message", "2|message message message"]
    assert look(15000, 1000000) == ["1|message message more", "2|message message more"]
    assert look(1, 1000000) == ["1|message more", "2|message more"]
    assert look(1000000, 15000) == ["1|message message more", "2|more"]


def test_ends_though_more_was_saved_later():
    task = spawn()
    finish(task)
    with following(task) as stream:
        assert whole(stream)[-1][0] == "task_complete"
        last = stream.last
    later = say(task, "by the way")
    with following(task) as stream:
        assert [name for name, _ in whole(stream)][-2:] == ["task_complete", "message_complete"]
    with following(task, last=last) as stream:
        assert whole(stream) == [("message_complete", later)]


def test_an_id_that_is_none_yet():
    """It is taken for that of the last event."""
    task = spawn()
    with following(task, last=999) as stream:
        message = say(task, "hello")
        assert stream.next() == ("message_complete", message)
        finish(task)
        assert whole(stream)[-1][0] == "task_complete"


def test_what_is_refused():
    task = spawn()
    for headers, status in (({}, 404), ({"Last-Event-ID": "x"}, 400)):
        answer = server().get(f"/projects/other/tasks/{task}/stream", headers)
        assert answer.status == status, answer
    assert server().get("/projects/acme/tasks/no/stream").status == 404
    answer = server().get("/projects/acme/tasks/" + "%C3%A4" * 256 + "/stream")
    assert answer.status == 404 and answer.body.decode().count("\u00e4") > 200, answer
    assert server().get(f"/projects/acme/tasks/{task}/stream?x=1").status == 422
    assert server().post(f"/projects/acme/tasks/{task}/stream", {}).status == 405


ASKED = 'cardbox_statements_total{statement="tasks_follow"'
CLIENTS = "cardbox_client_connections"


def test_many_follow_in_few_statements():
    """Fifty clients wait: statements are those of rounds, five a second and thread, not of clients."""
    own = Server(dsn(), "--loops", "2")
    tasks = [spawn() for _ in range(5)]
    streams = [Stream(tasks[i % 5], at=own) for i in range(50)]
    for stream in streams:
        assert [stream.next()[0] for _ in range(2)] == ["message_complete"] * 2
    began, before = time.monotonic(), own.metric(ASKED)
    time.sleep(2)
    asked, rounds = own.metric(ASKED) - before, (time.monotonic() - began) * 5 + 1
    assert 0 < asked <= 2 * rounds, f"{asked} statements in {rounds} rounds of two threads"
    said = [say(task, f"to {task}") for task in tasks]
    for i, stream in enumerate(streams):
        assert stream.next() == ("message_complete", said[i % 5])
    for task in tasks:
        finish(task)
    for stream in streams:
        assert stream.next()[0] == "task_complete" and stream.next() is None
        stream.close()
    own.stop()


def follows(task, at):
    """A stream of the task, or None where the server takes no more."""
    stream = Stream(task, at=at)
    if stream.response.status == 200:
        return stream
    stream.close()
    return None


def test_too_many_follow():
    """A thread has a limit, and says so; who follows already goes on, and the place of one who left is
    another's."""
    own = Server(dsn(), "--loops", "1")
    task = spawn()
    streams = [Stream(task, at=own) for _ in range(1000)]
    assert all(stream.response.status == 200 for stream in streams)
    refused = own.get(f"/projects/acme/tasks/{task}/stream")
    assert refused.status == 503 and "too many task streams" in refused.body.decode(), refused
    streams.pop().close()
    another = await_(lambda: follows(task, own), lambda: "nobody was forgotten")
    finish(task)
    for stream in (*streams, another):
        while (event := stream.next()) is not None:
            last = event
        assert last[0] == "task_complete"
        stream.close()
    own.stop()


def test_those_who_read_nothing_take_little():
    """What is read for clients that don't take it is bounded; others go on meanwhile, and who was cut
    off for it comes again and misses nothing."""
    own, size, most = Server(dsn(), "--loops", "1", "--memory-max", "64M"), 900_000, 8 << 20
    task = spawn()
    said = [say(task, f"{i % 10}" * size) for i in range(20)]
    before, lazy = own.rss_kb() << 10, []
    for _ in range(40):
        connection = socket.create_connection(("127.0.0.1", own.port), timeout=PATIENCE_S)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(f"GET /projects/acme/tasks/{task}/stream HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        lazy.append(connection)
    for connection in lazy:
        assert connection.recv(12) == b"HTTP/1.1 200"
    for _ in range(2):
        with following(task, at=own) as stream:
            assert [stream.next() for _ in range(22)][2:] == [("message_complete", one) for one in said]
    grown = (own.peak_rss_kb() << 10) - before
    # The share, one statement's rows that pass it, their text, and what a connection takes.
    assert cardbox_test.LIGHT or grown < most + (3 * 8 << 20), f"{grown >> 20} MB for {len(lazy)} clients"
    finish(task)
    for connection in lazy:
        connection.close()
    own.stop()


class Frozen:
    """Clients that follow and read nothing, and after a while come again: there are always some who have
    just come."""

    def __init__(self, task, at, count):
        self.task, self.port, self.rounds, self.ended = task, at.port, 0, False
        self.sockets = [self.come() for _ in range(count)]
        self.thread = threading.Thread(target=self.come_again)
        self.thread.start()

    def come(self):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(("127.0.0.1", self.port))
        one.sendall(f"GET /projects/acme/tasks/{self.task}/stream HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return one

    def come_again(self):
        while not self.ended:
            for i, one in enumerate(self.sockets):
                time.sleep(3 / len(self.sockets))
                one.close()
                self.sockets[i] = self.come()
            self.rounds += 1

    def end(self):
        self.ended = True
        self.thread.join()
        for one in self.sockets:
            one.close()


def test_one_that_reads_has_its_turn():
    """Beside many that fill the memory, leave, and come again to fill it: room that becomes free
    is not theirs each time, and who waits for it hears from the server."""
    # AddressSanitizer keeps freed memory, and the server's limit would count it.
    small = ("env", f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1")
    own = Server(dsn(), "--loops", "2", "--memory-max", "64M", prefix=small)
    task, quiet = spawn(), Stream(spawn(), at=own)
    said = [say(task, f"{i}" + "\u0001" * 690_000) for i in range(2)]  # as JSON one fills a thread's share
    frozen = Frozen(task, own, 40)
    try:
        await_(lambda: frozen.rounds > 0)
        with following(task, at=own) as stream:
            heard = [stream.next() for _ in range(4)]
            assert heard[2:] == [("message_complete", one) for one in said], [str(one)[:80] for one in heard]
        assert [quiet.next()[0] for _ in range(2)] == ["message_complete"] * 2
        assert next(line for line in quiet.lines() if line != "") == ":"
    finally:
        frozen.end()
        quiet.close()
        finish(task)
        own.stop()


def test_cancel_ends_it():
    task = spawn()
    with following(task) as stream:
        ask("task:cancel", {"taskId": task, "reason": "enough"})
        events = []
        while (event := stream.next()) is not None:
            events.append(event)
        assert events[-1][0] == "task_complete" and events[-1][1]["completionStatus"] == "cancelled"


def test_a_client_that_leaves_is_forgotten():
    own = Server(dsn())
    task = spawn()
    streams = [Stream(task, at=own) for _ in range(20)]
    for stream in streams:
        stream.next()
    assert own.metric(CLIENTS) >= 20
    for stream in streams:
        stream.close()
    await_(lambda: own.metric(CLIENTS) <= 1)  # who asks for the metrics

    def nothing_is_asked():
        asked = own.metric(ASKED)
        time.sleep(0.5)
        return own.metric(ASKED) == asked
    await_(nothing_is_asked)
    own.stop()


def test_ends_with_its_token():
    own = Postgres.shared().database()
    def token(name, scope):
        made = cardbox("token", "create", "--dsn", own, "--name", name, "--tenant", "acme", "--scope",
                       scope, "--json")
        return {"Authorization": "Bearer " + json.loads(made.stdout)["token"]}
    reader, tasks = token("reader", "read"), token("tasks", "tasks")
    guarded = Server(own, auth=True)
    try:
        guarded.await_ready()
        task = ask("task:spawn", {"goal": "x"}, at=guarded, headers=tasks)["taskId"]
        assert guarded.get(f"/projects/acme/tasks/{task}/stream").status == 401
        assert guarded.get(f"/projects/acme/tasks/{task}/stream", tasks).status == 403
        stream = Stream(task, at=guarded, headers=reader)
        assert [stream.next()[0] for _ in range(2)] == ["message_complete"] * 2  # the system message and the goal
        cardbox("token", "revoke", "--dsn", own, "reader")
        assert stream.next() is None
        stream.close()
    finally:
        guarded.stop()


def test_a_server_that_stops_lets_go():
    own = Server(dsn())
    task = spawn()
    stream = Stream(task, at=own)
    assert stream.next()[0] == "message_complete"
    ended = []
    reader = threading.Thread(target=lambda: ended.append(stream.next() and stream.next()))
    reader.start()
    own.stop()
    reader.join(20)
    assert ended == [None], ended
    stream.close()


def test_work_wakes_workers():
    """Whoever listens hears of a task that came over HTTP, of his own projects."""
    with connected(dsn()) as listener, connected(dsn()) as other:
        listener.run("SELECT cardbox.listen_for_tasks('{heard}')")
        other.run("SELECT cardbox.listen_for_tasks('{silent}')")
        spawn("heard")
        await_(lambda: "Asynchronous notification" in listener.run("SELECT 1"))
        assert "Asynchronous notification" not in other.run("SELECT 1")


def test_a_silent_stream_is_heard():
    """A comment now and then, that no proxy gives the connection up; a client sees no event in it."""
    stream = silence()
    assert next(line for line in stream.lines() if line != "") == ":"
    stream.close()


if __name__ == "__main__":
    cardbox_test.main(globals())

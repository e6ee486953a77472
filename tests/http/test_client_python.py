#!/usr/bin/env python3
"""The client in Python (openapi/clients/python/cardbox.py) with the real server, which is also killed in the middle of turns."""

import json
import os
import re
import subprocess
import sys
import threading
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import client_test
from cardbox_test import once, server

sys.path.insert(0, client_test.PYTHON_CLIENT)
sys.dont_write_bytecode = True
import cardbox  # noqa: E402
from cardbox import CardBox, CardBoxError, each_page  # noqa: E402


@once
def proxy():
    return client_test.Proxy(server().port)


@once
def project():
    return CardBox(f"http://127.0.0.1:{server().port}").project("p")


def lossy(**options):
    return CardBox(proxy().url, **options).project("p")


def error_of(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except CardBoxError as error:
        return error
    raise AssertionError("no error")


def test_cards():
    cards = project().cards
    assert cards.add({"card_id": "a/é", "content": {"text": "ü"}})["outcome"] == "inserted"
    assert len(cards.add([{"content": n} for n in range(3)], sealed=True)["cards"]) == 3
    assert cards.add({"card_id": "a/é", "type": "note", "content": 2})["outcome"] == "repaired"
    assert cards.get("a/é")["content"] == 2
    assert cards.get_many(["a/é", "gone"])["missing_ids"] == ["gone"]
    assert cards.revisions("a/é")["revisions"][0]["card"]["content"] == {"text": "ü"}
    pages = list(each_page(cards.list, limit=2))
    assert [len(page["cards"]) for page in pages] == [2, 2], pages
    assert [card["card_id"] for card in cards.list(type="note")["cards"]] == ["a/é"]
    assert cards.delete("a/é")["deleted"]


def test_search():
    searched = CardBox(f"http://127.0.0.1:{server().port}").project("searched")
    searched.cards.add([{"card_id": f"c{n}", "content": "a needle"} for n in range(3)])
    cardbox_test.await_(lambda: len(searched.search("needle")["hits"]) == 3)
    pages = list(each_page(searched.search, "needle", kind="card", limit=2))
    assert sorted(hit["id"] for page in pages for hit in page["hits"]) == ["c0", "c1", "c2"], pages
    assert pages[0]["hits"][0]["offsets"] == [[2, 8]] and len(pages) == 2
    assert error_of(searched.search, "...").faults[0]["loc"] == ["query", "q"]


def test_boxes():
    card = project().cards.add({"content": {"text": "hi"}, "type": "task.instruction"})["card_id"]
    box = project().box(project().boxes.create([card])["box_id"])
    assert box.append([card])["version"] == 2 and box.append([card], expected_version=2)["length"] == 3
    assert box.replace([card], expected_version=3)["version"] == 4
    assert box.get(at_version=2)["card_ids"] == [card, card] and len(box.cards(limit=1)) == 1
    fork = project().box(box.fork(at_version=2)["box_id"])
    assert fork.get()["parent_ids"] == [box.id] and fork.seal()["sealed"]
    assert [row["op"] for row in box.log()["log"]][:1] == ["replace"]
    assert box.context(format="openai")["messages"][0]["role"] == "user"
    assert project().boxes.get_many([box.id], hydrate=True)["boxes"][0]["hydrated_cards"]
    assert len(project().cards.boxes(card)["boxes"]) == 2 == len(project().boxes.list()["boxes"])
    assert box.delete()["deleted"]


def test_sessions():
    session = project().session("talk")
    session.create("plain")
    first = session.append({"type": "user", "content": "hi"})["entries"][0]["entry_id"]
    assert session.entry(first)["appended_at"].endswith("Z")
    session.append([{"id": "a", "type": "assistant", "content": "one"}])
    session.append([{"id": "b", "parentId": first, "type": "assistant", "content": "two"}], expected_version=3)
    assert session.append({"id": "a", "type": "assistant", "content": "one"})["entries"][0]["outcome"] == "unchanged"
    assert [message["content"] for message in session.context(format="openai")["messages"]] == ["hi", "two"]
    assert [row["entry_id"] for row in session.leaves()["entries"]] == ["a", "b"]
    assert len(session.tree()["entries"]) == 3 and len(session.branch_points()["entries"]) == 1
    assert len(session.children(first)["entries"]) == 2 and session.labels()["entries"] == []
    assert len(session.path_to("a")["path"]) == 2 == len(session.path_to()["path"])
    assert session.diff("a", "b")["common"]["entry_id"] == first
    assert session.move_head("a", expected_head="b")["head_entry_id"] == "a"
    assert session.fork(session_id="talk-2")["entries"] == 2
    lines = list(session.export_lines())
    assert project().session("talk-3").import_lines(lines)["appended"] == 3
    assert list(project().session("talk-3").export_lines()) == lines
    assert session.get()["entries"] == 3 and len(project().sessions.list()["sessions"]) == 3
    assert project().session("talk-3").delete()["deleted"]


def test_append_with_a_key_after_a_crash():
    entries = [{"type": "user", "content": "one"}, {"id": "own", "type": "assistant", "content": "two"}]

    def append(list_=entries):  # a new client, as after a crash
        with CardBox(f"http://127.0.0.1:{server().port}") as client:
            return client.project("p").session("keyed").append(list_, create="plain", key="turn 1")
    append()
    again = [(row["entry_id"], row["outcome"]) for row in append()["entries"]]
    assert again == [("turn 1:0", "unchanged"), ("own", "unchanged")], again
    assert project().session("keyed").get()["entries"] == 2
    assert error_of(append, entries[:1]).status == 409
    assert error_of(project().session("keyed").append, entries, key="").status == 422


USER, ANSWER = {"role": "user", "content": "q"}, {"role": "assistant", "content": "done", "unknown": [1, {"two": 2}]}
CALLS = {"role": "assistant", "content": None, "tool_calls": [
    {"id": name, "type": "function", "function": {"name": "clock", "arguments": "{}"}} for name in ("functions.clock:0", "b")]}


def result(call):
    return {"role": "tool", "tool_call_id": call, "content": f"result of {call}"}


class OfVendor:
    """A message as the packages of the vendors return it."""

    def to_dict(self, mode):
        assert mode == "json"
        return ANSWER


def test_messages():
    session = project().session("messages")
    added = session.add(USER, key="turn")
    assert (added["next"], added["open_calls"]) == ("model", []) and session.add(USER, key="turn")["ids"] == added["ids"]
    assert session.context()["next"] == "model"
    session.add([CALLS], model="m", usage={"prompt_tokens": 1})
    context = session.context()
    assert context["next"] == "tools" and context["messages"][:2] == [USER, CALLS], context
    threads = [threading.Thread(target=session.add, args=[result(call["id"])]) for call in context["open_calls"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.context()["next"] == "model"
    session.add(OfVendor())
    context = session.context()
    assert context["next"] == "user" and context["messages"][-1] == ANSWER and len(context["messages"]) == 5, context


def test_messages_as_text():
    session = project().session("texts", format="anthropic")
    said = '{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":{"x": 1.10, "id": 2512292042121000001}}]}'
    session.add(f"[{json.dumps(USER)}, {said}]")
    context = session.context(text=True)
    assert said in context["messages"] and context["open_calls"][0]["arguments"] == '{"x": 1.10, "id": 2512292042121000001}', context
    parsed = session.context()
    assert parsed["open_calls"][0]["arguments"] == {"x": 1.1, "id": 2512292042121000001}
    assert {**context, "messages": json.loads(context["messages"]), "open_calls": None} == {**parsed, "open_calls": None}
    assert session.context(format="openai", text=True)["open_calls"][0]["arguments"].startswith("{")


def test_another_process_is_quicker():
    a, b = project().session("race"), project().session("race")
    a.add(USER)
    assert a.context()["next"] == b.context()["next"] == "model"
    assert a.add(CALLS)["ids"]
    lost = b.add({"role": "assistant", "content": "another answer"})
    assert lost["ids"] == [] == b.add(ANSWER)["ids"] and lost["next"] == "tools", lost
    assert a.context()["next"] == b.context()["next"] == "tools"
    assert a.add(result("b"))["ids"] and b.add(result("b"))["ids"] == []
    assert b.add(result("functions.clock:0"))["next"] == "model" and a.add(ANSWER)["ids"] == []
    a.context()
    b.append({"type": "label", "targetId": lost["leaf"], "label": "not seen by the model"})
    assert a.add(ANSWER)["next"] == "user" and len(a.context()["messages"]) == 5
    assert error_of(a.add, ANSWER, expected_version=1).status == 409
    assert error_of(a.add, [{"content": "x"}]).status == 422


def test_one_of_two_answers_is_stored():
    """Also if the first answer says nothing, and the context is the same after it."""
    a, b = (project().session("silent", format="anthropic") for _ in range(2))
    a.add(USER)
    assert a.context()["next"] == b.context()["next"] == "model"
    assert a.add({"role": "assistant", "content": []})["next"] == "user"
    lost = b.add({"role": "assistant", "content": "hi"})
    context = b.context()
    assert (lost["ids"], lost["next"], lost["version"]) == ([], "user", context["version"]) and context["messages"] == [USER], (lost, context)


def test_lost_answers_of_messages():
    session = lossy().session("lost-messages")
    for message in (USER, CALLS, result("b"), result("functions.clock:0"), ANSWER):
        check_after_lost_answer(lambda message=message: session.add(message), lambda answer: len(answer["ids"]) == 1)
        session.context()
    assert len(session.context()["messages"]) == 5


def test_abilities_and_tasks():
    abilities = project().abilities
    assert any(row["id"] == "task:spawn" for row in abilities.list()["abilities"])
    assert abilities.get("task:spawn")["id"] == "task:spawn"
    task = abilities.call("task:spawn", {"goal": "wait"}, caller_id="me")["taskId"]
    events = project().task(task).events()
    assert next(events).data["role"] == "system"
    second = next(events)
    abilities.call("task:cancel", {"taskId": task, "reason": "enough"})
    assert [event.event for event in events] == ["task_complete"]
    assert [event.event for event in project().task(task).events(second.id)] == ["task_complete"]
    assert abilities.register("my:tool", {"description": "d", "inputSchema": {}, "outputSchema": {}, "url": "http://127.0.0.1:9/"})
    assert abilities.delete("my:tool")["deleted"]


def test_projects_move():
    lines = list(project().export_lines())
    other = CardBox(f"http://127.0.0.1:{server().port}").project("other")
    report = other.import_lines(lines)
    assert len(lines) > 5 and len(list(other.export_lines())) == len(lines), report


def test_reads_are_the_servers():
    """Both clients repeat the calls of all abilities with the tag `read`, and of task:active, which also changes nothing."""
    with open(os.path.join(client_test.TYPESCRIPT_CLIENT, "src", "index.ts"), encoding="utf-8") as text:
        typescript = re.compile(re.search(r"(?m)^const READING = /(.*)/;$", text.read()).group(1))
    for row in project().abilities.list()["abilities"]:
        reads = "read" in (project().abilities.get(row["id"]).get("tags") or []) or row["id"] == "task:active"
        assert bool(cardbox._READING.fullmatch(row["id"])) == reads, row["id"]
        assert bool(typescript.search(row["id"])) == reads, row["id"]


def test_errors():
    missing = error_of(project().cards.get, "gone")
    assert (missing.status, missing.error_code, missing.message) == (404, "not_found", "card not found"), missing
    assert missing.request_id and str(missing) == "404 not_found: card not found"
    project().session("talk").create("plain")
    project().session("talk").append([{"id": "e", "type": "user", "content": "x"}])
    invalid = error_of(project().session("talk").append, {"type": "user"})
    assert invalid.status == 422 and invalid.error_code, invalid
    assert error_of(project().cards.list, limti=1).faults[0]["loc"] == ["query", "limti"]
    stale = error_of(project().session("talk").append, {"type": "user", "content": "x"}, expected_version=1)
    assert stale.error_code == "conflict" and stale.current_version > 1, stale
    nobody = error_of(CardBox(f"http://127.0.0.1:{cardbox_test.free_port()}", tries=2).project("p").cards.get, "x")
    assert (nobody.status, nobody.error_code) == (0, "unreachable"), nobody
    with cardbox_test.socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert error_of(CardBox(url, tries=1, timeout=0.2).project("p").cards.get, "x").error_code == "timeout"


def test_a_body_over_the_limit():
    """The server answers before it has read the body, and closes the connection while the client still writes."""
    client = CardBox(f"http://127.0.0.1:{server().port}", tries=1).project("p")
    for size in (17_000_000, 40_000_000):
        error = error_of(client.session("large").append, {"type": "user", "content": "x" * size}, create="plain")
        assert (error.status, error.error_code) == (413, "too_large"), error
        assert client.sessions.list()["sessions"] is not None


def check_after_lost_answer(call, check):
    """The first answer to `call` is lost. `check` gets the second answer."""
    proxy().requests.clear()
    proxy().lose = 1
    answer = call()
    assert len(proxy().requests) >= 2 and proxy().requests[0] == proxy().requests[1], proxy().requests
    assert check(answer), answer


def test_lost_answers():
    p = lossy()
    box, session = p.box(p.boxes.create()["box_id"]), p.session("lost")
    check_after_lost_answer(lambda: p.cards.add({"content": 1}), lambda answer: answer["outcome"] == "unchanged")
    check_after_lost_answer(lambda: session.create("plain"), lambda answer: answer["outcome"] == "exists")
    check_after_lost_answer(lambda: session.append({"type": "user", "content": "x"}), lambda answer: answer["version"] == 2)
    check_after_lost_answer(lambda: box.append(["x"]), lambda answer: answer["length"] == 1)
    check_after_lost_answer(p.boxes.create, lambda answer: answer["version"] == 1)
    check_after_lost_answer(box.fork, lambda answer: answer["length"] == 1)
    check_after_lost_answer(session.fork, lambda answer: answer["entries"] == 1)
    check_after_lost_answer(lambda: p.abilities.call("task:active"), lambda answer: "tasks" in answer)
    check_after_lost_answer(box.delete, lambda answer: answer["deleted"])
    proxy().lose = 1
    assert error_of(p.abilities.call, "task:spawn", {"goal": "once"}).error_code == "unreachable"
    goals = [task["goal"] for task in p.abilities.call("task:active")["tasks"]]
    assert goals.count("once") == 1, goals


def test_answers_that_break_off():
    breaking = client_test.Proxy(server().port)
    p, once_only = CardBox(breaking.url).project("p"), CardBox(breaking.url, tries=1).project("p")
    for sent in (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCont", b"HTTP/1.1 503 Busy\r\n",
                 b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}\n"):
        breaking.sent, breaking.lose = sent, 1
        assert p.cards.add({"content": 1})["outcome"] == "unchanged", sent
        breaking.lose = 1
        assert error_of(lambda: list(once_only.export_lines())).error_code == "unreachable", sent
    assert list(once_only.export_lines())


def test_null_is_no_idempotency_key():
    append = {"session_id": "null", "create": {"dialect": "plain"}}
    for key, entry, tries in ((None, {}, 1), ("k", {"id": "k"}, 2)):
        proxy().requests.clear()
        proxy().lose = tries
        error = error_of(lossy(tries=2).abilities.call, "session:append",
                         {**append, "entries": [{"type": "user", "content": "x", **entry}], "idempotency_key": key})
        assert error.error_code == "unreachable" and len(proxy().requests) == tries, (error, proxy().requests)
    assert project().session("null").get()["entries"] == 2


def test_requests_after_a_rejected_header():
    p = CardBox(f"http://127.0.0.1:{server().port}", tries=1).project("p")
    for key in ("a\r\nX: y", "漢"):
        try:
            p.session("header").append({"type": "user", "content": "x"}, create="plain", key=key)
            raise AssertionError("no error")
        except ValueError:
            assert "sessions" in p.sessions.list()


def test_statuses():
    proxy().statuses = [(503, 1), (429, None), (502, None), (504, None)]
    assert lossy().cards.list(limit=1)["cards"] is not None
    proxy().statuses = [(503, 3600)]
    late = error_of(lossy().cards.list)
    assert (late.status, late.error_code, late.retry_after) == (503, "bad_answer", 3600), late
    proxy().statuses = [(503, None)] * 3
    proxy().requests.clear()
    assert error_of(lossy(tries=3).cards.list).status == 503 and len(proxy().requests) == 3
    proxy().statuses = [(503, None)]
    proxy().requests.clear()
    assert error_of(lossy().abilities.call, "task:spawn", {"goal": "x"}).status == 503 and len(proxy().requests) == 1


def test_killed_server_in_the_middle_of_turns():
    """Many threads share a client; each writes the turns of its own session, and all write to one session and one box."""
    clients, turns = 8, 40
    killed_server = client_test.KilledServer()
    p = CardBox(killed_server.url, tries=30).project("p")
    box = p.box(p.boxes.create()["box_id"])

    def write(name):
        for n in range(turns):
            card = p.cards.add({"content": f"{name} {n}"})["card_id"]
            p.session(name).append({"type": "user", "content": f"{name} {n}"})
            p.session("shared").append({"id": f"{name} {n}", "type": "user", "content": f"{name} {n}"})
            box.append([card])
    names = [f"killed-{number}" for number in range(clients)]
    for name in [*names, "shared"]:
        p.session(name).create("plain")
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    killed_server.stop()
    assert killed_server.kills >= 2, "the server was not killed in the middle"
    client_test.check_turns(killed_server.port, names, turns)
    shared = [entry["id"] for entry in client_test.entries_of(killed_server.port, "shared")]
    held = [card["content"] for card in p.cards.get_many(box.get()["card_ids"][:100])["cards"]]
    assert box.get()["length"] == len(shared) == clients * turns, (box.get()["length"], len(shared))
    for name in names:
        assert [one for one in shared if one.startswith(name + " ")] == [f"{name} {n}" for n in range(turns)]
        mine = [one for one in held if one.startswith(name + " ")]
        assert mine == [f"{name} {n}" for n in range(len(mine))], mine


def test_stream_survives_a_killed_server():
    killed_server = client_test.KilledServer()
    p = CardBox(killed_server.url, tries=30).project("p")
    steady = CardBox(f"http://127.0.0.1:{server().port}").project("p")
    task = steady.abilities.call("task:spawn", {"goal": "g"})["taskId"]
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(p.task(task).events()))
    reader.start()
    for n in range(20):
        steady.abilities.call("task:send", {"receiverId": task, "message": str(n)})
        cardbox_test.time.sleep(0.05)
    steady.abilities.call("task:cancel", {"taskId": task, "reason": "end"})
    reader.join(cardbox_test.WAIT_S)
    killed_server.stop()
    texts = [event.data["content"] for event in seen if event.event == "message_complete"]
    assert texts[2:] == [str(n) for n in range(20)] and seen[-1].event == "task_complete", texts


def test_connections_of_ended_threads_are_closed():
    client = CardBox(f"http://127.0.0.1:{server().port}")

    def read():
        client.project("p").cards.list(limit=1)
    read()
    before = len(os.listdir("/proc/self/fd"))
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        for _ in range(20):
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
    assert len(os.listdir("/proc/self/fd")) <= before and not shown, (before, shown)
    client.close()
    assert len(os.listdir("/proc/self/fd")) < before
    read()


def test_no_warnings():
    code = "import cardbox; cardbox.CardBox('http://127.0.0.1:1').close()"
    done = subprocess.run([sys.executable, "-W", "error", "-B", "-c", code], capture_output=True, text=True,
                          cwd=client_test.PYTHON_CLIENT)
    assert (done.returncode, done.stderr) == (0, ""), done


if __name__ == "__main__":
    cardbox_test.main(globals())

#!/usr/bin/env python3
"""The inspector's tasks: the list, and one task as its story, also while it is made and after the
server was away; and what is said in tasks is text and nothing else."""

import json
import os
import re
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints, page
from cardbox_test import Postgres, Server, once

HOSTILE = ["<script>document.pwned=1</script>", "<img src=x onerror='document.pwned=1'>",
           "</article><h1 id=main>mine</h1>", "\u202egnp.exe\u202c"]


@once
def dsn():
    return Postgres.shared().database()


@once
def server():
    made = Server(dsn())
    made.await_ready()
    return made


def ask(ability, **value):
    answer = server().post(f"/projects/demo/abilities/{ability}", value)
    assert answer.status == 200, answer
    return answer.json()


def spawn(goal, system="You look after the backups."):
    return ask("task:spawn", goal=goal, systemPrompt=system)["taskId"]


def say(task, content):
    message = {"id": str(uuid.uuid4()), "taskId": task, "role": "assistant", "content": content,
               "timestamp": int(time.time() * 1000)}
    ask("ldg:msg:save", message=message)
    return message["id"]


BEGAN = {}  # the time at which each call was made


def call(task, message, identifier, status, details="{}", name="read_log", took=0):
    now = int(time.time() * 1000)
    began = BEGAN.setdefault(identifier, now)
    ask("ldg:call:save", call={
        "id": identifier, "taskId": task, "abilityName": name, "parameters": json.dumps({"host": "db-7"}),
        "status": status, "details": details, "createdAt": began, "updatedAt": now + took, "startMessageId": message})


def answer(task, box, content, tools=(), **metadata):
    """An answer as a worker saves it: with what is known of its turn."""
    identifier = str(uuid.uuid4())
    calls = [{"id": one, "type": "function", "function": {"name": "read_log", "arguments": '{"host":"db-7"}'}} for one in tools]
    ask("card:add_many", cards=[{
        "card_id": identifier, "content": {"__type__": "TextContent", "text": content}, "type": "agent.thought",
        "role": "assistant", "metadata": {"task_id": task, **metadata}, "sealed": True, **({"tool_calls": calls} if calls else {})}])
    ask("ldg:msg:save", message={"id": identifier, "taskId": task, "role": "assistant", "content": content,
                                 "timestamp": int(time.time() * 1000)})
    ask("box:append", box_id=box, card_ids=[identifier])
    return identifier


def bars(browser):
    """{name: (left, right) in percent} of the waterfall."""
    return {name: (left, left + width) for name, left, width in browser.run(
        "return [...document.querySelectorAll('.bar-row')].map((one) => { const { style } = one.querySelector('.bar');"
        " return [one.querySelector('.bar-name').innerText, parseFloat(style.left), parseFloat(style.width)]; })")}


def set_lease(task, owner, seconds):
    Postgres.shared().psql(dsn(), f"UPDATE cardbox.tasks SET lease_owner = '{owner}', wake_at = now() + interval '{seconds} s'"
                           f" WHERE task_id = '{task}'")


def piece(task, message, n, text):
    cardbox_test.say_pieces(dsn(), "demo", task, message, n, text)


def visit(view, port=None):
    browser = page()
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{port or server().port}/ui/#/demo/{view}")
    return browser


def status(browser):
    return browser.texts("[role=status] .badge")


def roles(browser):
    return browser.texts("main .cards .role")


def test_a_task_while_it_runs():
    """All that it does comes to the page by itself, each call in its place."""
    task = spawn("Why did the backup fail?")
    browser = visit(f"task/{task}")
    browser.await_text("Why did the backup fail?")
    assert roles(browser) == ["system", "user"]
    assert status(browser) == ["waiting for a worker"]
    assert browser.texts("header.top [aria-current]") == ["Tasks"]
    piece(task, "m1", 1, "I loo")
    piece(task, "m1", 2, "k at its log")
    browser.await_text("I look at its log")
    assert len(browser.texts("[data-live]")) == 1
    first = say(task, "I look at the log of db-7.")
    browser.await_text("I look at the log of db-7.")
    assert browser.texts("[data-live]") == [] and "I look at its log" not in browser.text()
    call(task, first, "c1", "pending")
    browser.wait("return document.querySelector('[data-call=c1] [data-status=pending]')")
    call(task, first, "c2", "pending", name="disk_usage")
    call(task, first, "c1", "completed", json.dumps({"line": "No space left on device"}))
    browser.wait("return document.querySelector('[data-call=c1] [data-status=completed]')")
    browser.wait("return document.querySelectorAll('[data-call]').length === 2")
    assert roles(browser) == ["system", "user", "assistant", "call", "call"]
    shown = browser.texts("[data-call=c1]")[0]
    assert "read_log" in shown and "db-7" in shown and "No space left on device" in shown, shown
    ask("task:cancel", taskId=task, reason="seen enough")
    browser.await_text("seen enough")
    browser.wait("return document.querySelector('[data-end]')")
    assert status(browser) == ["cancelled"]
    assert re.search(r"cancelled seen enough, after [\d.]+ s\n", browser.text()), browser.text()
    assert browser.texts("[data-call=c2] .badge") == ["failed"]
    for one in ("c1", "c2"):
        assert re.search(r"\d\.\d s\n", browser.texts(f"[data-call={one}] header")[0] + "\n")
    no_complaints(browser)


def test_what_only_tells_of_a_call():
    """A message that a call began or ended is left to the call's own item."""
    task = spawn("read it")
    asked, began = say(task, "I read the log."), say(task, "Calling read_log...")
    Postgres.shared().psql(dsn(), "SET session_replication_role = replica; UPDATE cardbox.cards"
                           " SET metadata = metadata || '{\"call_id\": \"k\"}'"  # as the worker writes it
                           f" WHERE tenant_id = 'demo' AND card_id = '{began}'")
    call(task, asked, "k", "completed")
    browser = visit(f"task/{task}")
    browser.wait("return document.querySelector('[data-call=k]')")
    assert roles(browser) == ["system", "user", "assistant", "call"]
    assert "Calling" not in browser.text()
    no_complaints(browser)


def test_its_name_and_its_subtasks():
    """A task is called by its goal, and leads to the tasks that are parts of it, and back."""
    task = spawn("mend\nthe backups")
    turn = say(task, "")  # nothing but a call
    part = ask("task:spawn", goal="look at db-7", parentTaskId=task)["taskId"]
    call(task, turn, f"{task}-1", "completed", json.dumps({"taskId": part}), name="task:spawn")
    browser = visit(f"task/{task}")
    browser.wait("return document.querySelector('[data-call]')")
    assert browser.texts("h1") == ["Task mend the backups"]
    assert task in browser.texts("header")[1] and "Copy id" in browser.texts("header")[1]
    assert roles(browser) == ["system", "user", "call"], "an empty message is shown"
    browser.wait("return document.querySelector('[data-subtasks] a')?.innerText === 'look at db-7'")
    browser.click("[data-do=subtask]")
    browser.wait("return document.querySelector('h1')?.innerText === 'Task look at db-7'")
    browser.click(f"a[href*='{task}']")
    browser.wait("return document.querySelector('h1')?.innerText === 'Task mend the backups'")
    no_complaints(browser)


def test_what_it_waits_for():
    """Unclaimed, claimed, lost by its worker, waiting for a call, a subtask or a message: each is named."""
    task = spawn("wait")
    browser = visit(f"task/{task}")
    def becomes(words):
        browser.wait("return document.querySelector('[role=status]')?.innerText.startsWith(arguments[0])", words)
    becomes("waiting for a worker")
    set_lease(task, "w-1", 100)
    becomes("in progress")
    call(task, say(task, "I look."), f"{task}-c", "in_progress")
    becomes("waiting for a call read_log")
    set_lease(task, "w-1", -100)
    becomes("waiting for a worker w-1 has lost its lease")
    Postgres.shared().psql(dsn(), f"UPDATE cardbox.tasks SET lease_owner = NULL, wake_at = NULL WHERE task_id = '{task}'")
    becomes("waiting for a message")
    part = ask("task:spawn", goal="a part", parentTaskId=task)["taskId"]
    becomes("waiting for a subtask")
    ask("task:cancel", taskId=part, reason="x")
    browser.run("location.hash = '#/demo/tasks'")
    browser.wait("return document.querySelector('[data-task]')")
    assert "waiting for a subtask or a message" in browser.texts(f"[data-task='{task}']")[0]
    no_complaints(browser)


def test_send_and_cancel():
    task = spawn("answer me")
    browser = visit(f"task/{task}")
    browser.wait("return document.querySelector('[data-do=send]')")
    browser.click("[data-do=send]")
    browser.click("dialog [data-do=confirm]")
    assert browser.texts("dialog[open] h2") == ["Send a message"], "an empty message was sent"
    browser.type("dialog textarea", "shorter, please")
    browser.click("dialog [data-do=confirm]")
    browser.wait("return document.querySelector('[data-message] ~ [data-message] ~ [data-message]')")
    assert roles(browser) == ["system", "user", "user"]
    browser.await_texts("dialog[open]", [])
    browser.click("[data-do=cancel]")
    browser.type("dialog textarea", "wrong idea")
    ask("task:cancel", taskId=task, reason="was first")
    browser.await_text("The task is over")
    browser.click("dialog [data-do=confirm]")
    browser.wait("return document.querySelector('dialog[open] .failure').innerText.includes('is already completed')")
    browser.click("dialog[open] button[type=button]")
    assert "cancelled was first" in browser.texts("[role=status]")[0]
    assert browser.texts("[data-do=send]") == browser.texts("[data-do=cancel]") == []
    no_complaints(browser)


def test_turns():
    """A turn has what it took, what the model got, and a retry: a session with just that."""
    box, context = str(uuid.uuid4()), str(uuid.uuid4())
    ask("card:add", card_id=f"{context}-c", content="Known before.", type="task.instruction", role="user")
    ask("box:create", box_id=context, card_ids=[f"{context}-c"])
    task = ask("task:spawn", goal="Why did it fail?", systemPrompt="You look.", boxId=box, contextBoxId=context)["taskId"]
    said = [one["id"] for one in ask("ldg:msg:list", taskId=task)["messages"]]
    version = ask("box:append", box_id=box, card_ids=said)["version"]
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020, "cost": 0.25}
    known = {"model": "m-1", "usage": usage, "context_box_version": 1}
    asked = answer(task, box, "I read its log.", tools=[f"{task}-1"], box_version=version, **known)
    call(task, asked, f"{task}-1", "completed", '{"line":"disk full"}')
    ask("card:add_many", cards=[{"card_id": f"{task}-r", "content": {"status": "success", "result": {"line": "disk full"}},
                                 "type": "tool.result", "role": "tool", "tool_call_id": f"{task}-1"}])
    version = ask("box:append", box_id=box, card_ids=[f"{task}-r"])["version"]
    answer(task, box, "The disk was full.", box_version=version, **known)
    browser = visit(f"task/{task}")
    browser.await_text("2 turns of the model, 1 call · 2,000 tokens in, 40 out, cost 0.5 · m-1")
    assert "1,000 tokens in, 20 out, cost 0.25 · m-1" in browser.texts("[data-turn='2']")[0]
    assert browser.texts("[data-call] dt") == ["Arguments", "Result"]
    browser.run("[...document.querySelectorAll('.bar-row')].find((one) => one.innerText.startsWith('Turn 2')).click()")
    browser.wait("return document.activeElement.dataset.turn === '2'")
    assert browser.run("return location.hash").endswith("?turn=2")
    browser.click("[data-turn='2'] [data-do=context]")
    browser.wait("return document.querySelector('header [data-do=retry]') && document.body.innerText.includes('disk full')")
    shown = browser.text()
    assert "Known before." in shown and "I read its log." in shown and "The disk was full." not in shown
    browser.click("header [data-do=retry]")
    browser.type("dialog textarea", "Look at db-8.")
    browser.click("dialog [data-do=confirm]")
    browser.wait("return document.querySelector('.entry[aria-current]')?.innerText.includes('Look at db-8.')")
    assert len(browser.texts(".entry")) == 7, "a name, the five messages, and that of the reader"
    browser.run("history.go(-2)")
    browser.wait("return document.activeElement.dataset.turn === '2'")
    browser.click("[data-turn='2'] [data-do=retry]")
    assert "no worker continues the session: your agent reads" in browser.texts("dialog [data-fact=next]")[0]
    browser.click("dialog [data-do=confirm]")
    browser.await_text("Retry of turn 2: Why did it fail?")
    browser.await_text("your agent reads What a model gets and appends the answer to this session.")
    session = browser.run("return location.hash").split("/")[-1].split("?")[0]
    got = server().get(f"/projects/demo/sessions/{session}/context?format=openai").json()["messages"]
    assert [one["role"] for one in got] == ["user", "system", "user", "assistant", "tool"], got
    assert got[0]["content"] == "Known before." and json.loads(got[4]["content"]) == {"line": "disk full"}, got
    assert got[3]["tool_calls"][0]["function"]["name"] == "read_log"
    no_complaints(browser)


def test_retry_without_a_box():
    """Of a task that no worker ran, the steps before the turn are what the model got."""
    task = spawn("try again")
    first = say(task, "I look.")
    call(task, first, f"{task}-1", "failed", '{"error":"no such host"}')
    say(task, "It is gone.")
    browser = visit(f"task/{task}")
    browser.wait("return document.querySelector(\"[data-turn='2']\")")
    assert browser.texts("[data-do=context]") == [] and browser.texts("[data-call] dt") == ["Arguments", "Error"]
    browser.click("[data-turn='2'] [data-do=retry]")
    browser.click("dialog [data-do=confirm]")
    browser.await_text("Retry of turn 2: try again")
    session = browser.run("return location.hash").split("/")[-1].split("?")[0]
    got = server().get(f"/projects/demo/sessions/{session}/context?format=openai").json()["messages"]
    assert [one["role"] for one in got] == ["system", "user", "assistant", "tool"], got
    assert "no such host" in got[3]["content"] and got[2]["content"] == "I look."
    no_complaints(browser)


def test_the_waterfall():
    """Calls of the same time stand at the same place, and the arrows move between the rows."""
    task = spawn("do both")
    turn = say(task, "Both at once.")
    call(task, turn, f"{task}-1", "completed", name="long:one", took=9000)
    call(task, turn, f"{task}-2", "failed", name="short:one", took=3000)
    browser = visit(f"task/{task}")
    browser.wait("return document.querySelectorAll('.bar-row').length === 3")
    found = bars(browser)
    assert list(found) == ["Turn 1", "long:one", "short:one"]
    assert found["short:one"][0] < found["long:one"][1] and found["short:one"][1] < found["long:one"][1], found
    assert abs(found["long:one"][1] - 100) < 1 and browser.texts(".bar.bad") == [""]
    browser.run("document.querySelector('.bar-row').focus()")
    for key, name in (("\ue015", "long:one"), ("\ue015", "short:one"), ("\ue013", "long:one"), ("\ue011", "Turn 1")):
        browser.type(":focus", key)
        assert browser.run("return document.activeElement.querySelector('.bar-name').innerText") == name
    browser.type(":focus", "\ue010\ue007")  # End, Enter
    assert browser.run("return document.activeElement.dataset.call") == f"{task}-2"
    assert browser.run("return document.querySelectorAll('.bar-row[tabindex=\"0\"]').length") == 1
    no_complaints(browser)


def test_a_long_task():
    """A task of thousands of steps shows a part of them, leads to any turn, and stays in its order."""
    begin, count = int(time.time() * 1000) - 10**7, 1500
    lines = [{"kind": "task", "id": "long", "system_prompt": "You count.", "created_at": begin, "updated_at": begin}]
    for n in range(count):
        at = begin + n * 1000
        lines += [{"kind": "message", "id": f"long-{n}", "task_id": "long", "role": "assistant", "content": f"I count {n}.",
                   "timestamp": at},
                  {"kind": "call", "id": f"long-c{n}", "task_id": "long", "ability_name": "count:one", "parameters": str(n),
                   "status": "completed", "details": str(n), "created_at": at + 10, "updated_at": at + 90,
                   "start_message_id": f"long-{n}"}]
    server().request("POST", "/projects/demo/import", "\n".join(map(json.dumps, lines)).encode(),
                     headers={"Content-Type": "application/x-ndjson"})
    browser = visit("task/long")
    browser.await_text("1,500 turns of the model, 1,500 calls")
    assert len(browser.texts(".cards > .card")) <= 200 and browser.texts("[data-message='long-0']") == []
    browser.run("const turn = document.querySelector('.pager input'); turn.value = 700; turn.form.requestSubmit()")
    browser.wait("return document.activeElement.dataset.turn === '700'")
    assert browser.run("return [...document.querySelectorAll(\"[data-turn='700'] ~ .card\")].slice(0, 3)"
                       ".map((one) => one.dataset.message ?? one.dataset.call)") == ["long-699", "long-c699", "long-700"]
    browser.run("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))")
    browser.wait("return document.activeElement.dataset.turn === '701'")
    browser.open("about:blank")
    browser = visit("task/long?at=long-42")  # as a hit of a search leads here
    browser.wait("return document.activeElement.dataset.turn === '43'")
    link = browser.run("return document.querySelector(\"[data-message='long-42'] [data-do=elsewhere]\").hash")
    assert link == "#/demo/search?of=long-42", link
    no_complaints(browser)


def test_ages():
    """As the command line has them."""
    browser = page()
    browser.open(f"http://127.0.0.1:{server().port}/ui/")
    day = 86400
    for seconds, said in ((-5, "0 s"), (59, "59 s"), (60, "1 min"), (3600, "1 h"), (2 * day - 1, "47 h"),
                          (2 * day, "2 d"), (60 * day, "2 mo"), (550 * day, "18 mo"), (730 * day, "2 y")):
        found = browser.run("return import('/ui/time.js').then(({ age }) => age(0, arguments[0]))", seconds * 1000)
        assert found == f"{said} ago", (seconds, found)
    no_complaints(browser)


def test_goes_on_after_a_break():
    task, first = spawn("wait for me"), Server(dsn())
    first.await_ready()
    browser = visit(f"task/{task}", first.port)
    browser.await_text("wait for me")
    first.kill()
    browser.await_text("trying again")
    say(task, "said meanwhile")
    second = Server(dsn(), port=first.port)
    second.await_ready()
    browser.await_text("said meanwhile")
    browser.wait("return document.querySelector('[role=status] .badge').innerText === 'waiting for a worker'")
    assert roles(browser) == ["system", "user", "assistant"], "something came twice"
    ask("task:cancel", taskId=task, reason="no more")
    browser.await_text("no more")
    browser.open("about:blank")
    assert all("net::ERR" in one for one in browser.complaints())
    second.stop()


def test_the_list():
    for number in range(60):
        spawn(f"goal {number}", f"agent {number}")
    done = spawn("done already", "finished agent")
    ask("task:cancel", taskId=done, reason="x")
    browser = visit("tasks")
    browser.wait("return document.querySelectorAll('[data-task]').length === 50")
    assert "done already" in browser.texts("[data-task]")[0]
    browser.click("main .wide")
    browser.wait("return document.querySelectorAll('[data-task]').length > 60")
    browser.run("window.scrollTo(0, 0)")
    browser.click("[data-filter=Cancelled]")
    browser.wait("return document.querySelectorAll('[data-task]').length > 0 && "
                 "![...document.querySelectorAll('[data-task] .badge')].some((one) => !['cancelled', 'router'].includes(one.innerText))")
    assert "status=cancelled" in browser.run("return location.hash")
    browser.type("[name=status]", "no such status\n")
    browser.await_text("No tasks")
    broken = spawn("break")
    Postgres.shared().psql(dsn(), "UPDATE cardbox.tasks SET completion_status = 'failed: too often', wake_at = NULL"
                           f" WHERE task_id = '{broken}'")
    browser.click("[data-filter=Failed]")
    browser.wait("return document.querySelectorAll('[data-task]').length === 1")
    assert "failed too often" in browser.texts("[data-task]")[0]
    browser.click("[data-filter='In progress']")
    browser.await_text("None in this project is in such a state")
    browser.click("[data-filter=Waiting]")
    browser.wait("return document.querySelectorAll('[data-task]').length === 50")
    browser.click("[data-task] a")
    browser.await_text("goal 59")
    no_complaints(browser)


def test_texts_are_texts():
    task = spawn(HOSTILE[0], HOSTILE[1])
    for number, text in enumerate(HOSTILE):
        call(task, say(task, text), f"{task}-{number}", "failed", json.dumps({"error": text}), text)
    piece(task, "m", 1, HOSTILE[2])
    browser = visit(f"task/{task}")
    browser.wait(f"return document.querySelectorAll('[data-call]').length === {len(HOSTILE)}")
    browser.wait("return document.querySelector('[data-live]')")
    assert browser.run("return document.pwned") is None
    assert browser.run("return document.querySelectorAll('main').length") == 1
    assert "U+202E" in browser.text()
    ask("task:cancel", taskId=task, reason=HOSTILE[0])
    browser.wait("return document.querySelector('[data-end]')")
    assert browser.run("return document.pwned") is None
    browser = visit("task/no%20such")
    browser.await_text("No such task")
    no_complaints(browser)


def test_when_narrow():
    """Nothing of a task stands out of a narrow page, however long its words are."""
    task = spawn("w" * 400, "s" * 400)
    call(task, say(task, "x" * 900), f"{task}-1", "failed", json.dumps({"error": "y" * 900}), "n" * 120)
    browser = page()
    with browser.narrow():
        visit(f"task/{task}")
        browser.wait("return document.querySelector('[data-call]')")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        browser.run("location.hash = '#/demo/tasks'")
        browser.wait("return document.querySelector('[data-task]')")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

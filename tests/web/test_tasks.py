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


def call(task, message, identifier, status, details="{}", name="read_log"):
    ask("ldg:call:save", call={
        "id": identifier, "taskId": task, "abilityName": name, "parameters": json.dumps({"host": "db-7"}),
        "status": status, "details": details, "createdAt": 1, "updatedAt": int(time.time() * 1000),
        "startMessageId": message})


def piece(task, message, n, text):
    cardbox_test.say_pieces(dsn(), "demo", task, message, n, text)


def visit(view, port=None):
    browser = page()
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{port or server().port}/ui/#/demo/{view}")
    return browser


def roles(browser):
    return browser.texts("main .cards .role")


def test_a_task_while_it_runs():
    """All that it does comes to the page by itself, each call in its place."""
    task = spawn("Why did the backup fail?")
    browser = visit(f"task/{task}")
    browser.await_text("Why did the backup fail?")
    assert roles(browser) == ["system", "user"]
    assert browser.texts(".facts .badge") == ["in progress"]
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
    assert browser.texts(".facts .badge") == ["cancelled"]
    assert re.search(r"cancelled: seen enough, after [\d.]+ s, made ", browser.text()), browser.text()
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
    assert task in browser.texts(".facts")[0] and "Copy id" in browser.texts(".facts")[0]
    assert roles(browser) == ["system", "user", "call"], "an empty message is shown"
    assert browser.texts("[data-subtasks] a") == ["look at db-7"]
    browser.click("[data-do=subtask]")
    browser.wait("return document.querySelector('h1')?.innerText === 'Task look at db-7'")
    browser.click(f"a[href*='{task}']")
    browser.wait("return document.querySelector('h1')?.innerText === 'Task mend the backups'")
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
    assert browser.texts(".facts .badge") == ["in progress"]
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
                 "![...document.querySelectorAll('[data-task] .badge')].some((one) => one.innerText !== 'cancelled')")
    assert "status=cancelled" in browser.run("return location.hash")
    browser.type("[name=status]", "no such status\n")
    browser.await_text("No tasks")
    broken = spawn("break")
    Postgres.shared().psql(dsn(), "UPDATE cardbox.tasks SET completion_status = 'failed: too often', wake_at = NULL"
                           f" WHERE task_id = '{broken}'")
    browser.click("[data-filter=Failed]")
    browser.wait("return document.querySelectorAll('[data-task]').length === 1")
    assert "failed: too often" in browser.texts("[data-task]")[0]
    browser.click("[data-filter=Running]")
    browser.await_text("None in this project is in such a state")
    browser.click("[data-filter=Waiting]")
    browser.wait("return document.querySelectorAll('[data-task]').length === 50")
    browser.click("[data-task]")
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

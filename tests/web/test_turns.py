#!/usr/bin/env python3
"""From the first page of a project, at most three clicks show turn 7 of a box, a session or a task. From there, at most
three clicks retry with another message, show it, and say what comes next. Typing is no click."""

import json
import os
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints, page
from cardbox_test import Postgres, Server, once
from demo import put_demo

CLICKS_MAX = 3
TURNS = 10
DEMO_BOX, DEMO_TASK = "01970000-0000-7000-8000-000000000001", "demo-task-done"
LONG = " It is long." * 60  # so that few messages are in sight at once

# Whether a message that has the text is in sight: its words are within the window, and nothing covers them.
IN_SIGHT = """
    const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { currentNode: node } = texts;
      const from = node.data.indexOf(arguments[0]);
      if (from < 0 || !node.parentElement.closest('.card, .entry, .turn-head')) continue;
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, from + arguments[0].length);
      const at = range.getBoundingClientRect();
      if (at.width === 0 || at.top < 0 || at.bottom > innerHeight || at.left < 0 || at.right > innerWidth) continue;
      const found = document.elementFromPoint(at.left + 1, (at.top + at.bottom) / 2);
      if (found && (node.parentElement.contains(found) || found.contains(node))) return true;
    }
    return false;"""


@once
def server():
    made = Server(Postgres.shared().database())
    made.await_ready()
    return made


def send(method, path, body):
    answer = server().request(method, f"/projects/{path}", json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status in (200, 201), (path, answer)
    return answer.json()


def invoke(ability, **value):
    return send("POST", f"turns/abilities/{ability}", value)


def put_box():
    """Two cards a turn, each appended by itself."""
    box, said = str(uuid.uuid4()), [(n, role) for n in range(1, TURNS + 1) for role in ("user", "assistant")]
    invoke("card:add_many", cards=[
        {"card_id": f"b{n}-{role}", "content": {"__type__": "TextContent", "text": f"Box {role} {n}.{LONG}"},
         "role": role, "agent_turn_id": f"turn-{n}"} for n, role in said])
    invoke("box:create", box_id=box, card_ids=["b1-user"])
    for n, role in said[1:]:
        invoke("box:append", box_id=box, card_ids=[f"b{n}-{role}"])
    return box


def put_session():
    send("PUT", "turns/sessions/talk", {"dialect": "pi"})
    send("POST", "turns/sessions/talk/entries", {"entries": [
        {"id": f"s{n}-{role}", "type": "message", "message": {"role": role, "content": f"Session {role} {n}.{LONG}"}}
        for n in range(1, TURNS + 1) for role in ("user", "assistant")]})
    return "talk"


def put_task():
    """An answer and a call a turn."""
    task = invoke("task:spawn", goal="Task user 1.", systemPrompt="You count.")["taskId"]
    for n in range(1, TURNS + 1):
        now, answer = int(time.time() * 1000), str(uuid.uuid4())
        invoke("ldg:msg:save", message={"id": answer, "taskId": task, "role": "assistant", "timestamp": now,
                                        "content": f"Task assistant {n}.{LONG}"})
        invoke("ldg:call:save", call={
            "id": f"{task}-{n}", "taskId": task, "abilityName": "count:one", "parameters": json.dumps({"n": n}), "status": "completed",
            "details": json.dumps({"text": f"Task result {n}."}), "createdAt": now, "updatedAt": now + 5, "startMessageId": answer})
    return task


@once
def put_all():
    put_demo(lambda ability, value: send("POST", f"demo/abilities/{ability}", value))
    return put_box(), put_session(), put_task()


class Clicks:
    """A reader on the first page of a project, whose clicks are counted."""

    def __init__(self, project, width):
        self.browser, self.count = page(), 0
        self.browser.set_viewport(width, 900 if width > 400 else 800)
        self.browser.open("about:blank")
        self.browser.open(f"http://127.0.0.1:{server().port}/ui/#/{project}")
        self.browser.await_text("Newest work")

    def _add(self, clicks):
        self.count += clicks
        assert self.count <= CLICKS_MAX, f"{self.count} clicks are needed"

    def click(self, selector):
        self._add(1)
        self.browser.wait("return document.querySelector(arguments[0])?.checkVisibility()", selector)
        self.browser.click(selector)

    def choose(self, select, words):
        """Opens a list, and chooses the option that begins with the words."""
        self._add(2)
        at = self.browser.wait("return [...document.querySelectorAll(`${arguments[0]} option`)]"
                               ".findIndex((one) => one.innerText.startsWith(arguments[1])) + 1", select, words)
        self.browser.click(f"{select} option:nth-of-type({at})")

    def type(self, text):
        self.browser.wait("return document.querySelector('dialog[open] textarea')")
        self.browser.run("document.querySelector('dialog[open] textarea').value = ''")
        self.browser.type("dialog[open] textarea", text)

    def sees(self, *texts):
        """The texts come into sight, and stay there. Then the count begins from zero."""
        for text in texts:
            self.browser.wait(IN_SIGHT, text)
        time.sleep(0.3)
        gone = [text for text in texts if not self.browser.run(IN_SIGHT, text)]
        assert not gone, (gone, self.browser.run("return location.hash"))
        self.count = 0

    def retry(self, button, text):
        """Retries with a message; the new box or session shows it."""
        before = self.browser.run("return location.hash")
        self.click(button)
        self.type(text)
        self.click("dialog[open] [data-do=confirm]")
        self.browser.wait("return !document.querySelector('dialog[open]') && location.hash !== arguments[0]", before)
        self.sees(text)
        said = self.browser.texts("header [data-fact=next]")
        assert len(said) == 1 and said[0].startswith("CardBox calls no model: your agent reads What a model gets"), said


def in_box(width):
    box, _, _ = put_all()
    reader = Clicks("turns", width)
    reader.click(f"[data-box='{box}'] .whole")
    reader.choose(".timeline select", "turn-7")
    reader.sees("Box user 7.")
    reader.retry(".timeline [data-do=fork]", f"Another box {width}.")
    reader.browser.run("history.go(-1)")
    reader.sees("Box user 7.")
    reader.retry("[data-card=b7-user] [data-do=retry]", f"Instead in the box {width}.")
    no_complaints(reader.browser)


def in_session(width):
    _, session, _ = put_all()
    reader = Clicks("turns", width)
    reader.click(f"[data-session='{session}'] .whole")
    reader.click(".turn-links [data-turn='7']")
    reader.sees("Session user 7.", "Session assistant 7.")
    reader.retry("[data-entry=s7-user] [data-do=retry]", f"Another session {width}.")
    reader.browser.run("history.go(-1)")
    reader.sees("Session user 7.")
    reader.click("[data-entry=s7-user] [data-do=context]")
    reader.retry("header [data-do=retry]", f"Instead in the session {width}.")
    no_complaints(reader.browser)


def in_task(width, project="turns", task=None, text="Task assistant 7."):
    reader = Clicks(project, width)
    reader.click(f"[data-task='{task or put_all()[2]}'] .whole")
    at = reader.browser.wait("return [...document.querySelectorAll('.bar-row')].findIndex((one) => one.innerText.startsWith('Turn 7')) + 1")
    reader.click(f".bars li:nth-of-type({at}) .bar-row")
    reader.sees("Turn 7", text)
    reader.retry("[data-turn='7'] [data-do=retry]", f"Another task {width}.")
    no_complaints(reader.browser)


def in_demo(width):
    """Its box; its seventh answer in a task only calls a tool."""
    put_all()
    reader = Clicks("demo", width)
    reader.click(f"[data-box='{DEMO_BOX}'] .whole")
    reader.choose(".timeline select", "turn-7")
    reader.sees("Both files are gone")
    reader.retry(".timeline [data-do=fork]", f"Another demo {width}.")
    in_task(width, "demo", DEMO_TASK, "Arguments")


def test_wide():
    for one in (in_box, in_session, in_task, in_demo):
        one(1400)


def test_narrow():
    for one in (in_box, in_session, in_task):
        one(400)


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""`cardbox ability` and `cardbox task`: what they print for people and for programs, and a task
followed while a worker, here the ledger's own abilities, does it."""

import json
import os
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, cardbox, once

CARDBOX = os.path.join(cardbox_test.BUILD, "bin", "cardbox")


@once
def dsn():
    return Postgres.shared().database()


def run(*words, check=True, **options):
    own = () if words[:2] in (("ability", "list"), ("ability", "show")) else ("--dsn", dsn(), "--project", "acme")
    return cardbox(*words[:2], *own, *words[2:], check=check, **options)


def invoke(ability, value):
    return json.loads(run("ability", "invoke", ability, json.dumps(value)).stdout)


def say(task, content):
    message = {"id": str(uuid.uuid4()), "taskId": task, "role": "assistant", "content": content, "timestamp": 1}
    invoke("ldg:msg:save", {"message": message})
    return message["id"]


def finish(task, status="success"):
    old = invoke("ldg:task:get", {"taskId": task})["task"]
    invoke("ldg:task:save", {"task": {**old, "completionStatus": status, "updatedAt": old["updatedAt"] + 1500}})


def test_ability_list():
    text = run("ability", "list").stdout
    assert "card:get" in text and "task:spawn" in text and "One card." in text
    rows = [json.loads(line) for line in run("ability", "list", "task", "--json").stdout.splitlines()]
    assert [row["id"] for row in rows] == ["task:spawn", "task:send", "task:cancel", "task:active"]
    assert rows[0]["inputSchema"]["required"] == ["goal"]


def test_ability_show():
    text = run("ability", "show", "card:add").stdout
    assert '"card_id"' in text and "scope write" in text
    assert json.loads(run("ability", "show", "card:add", "--json").stdout)["id"] == "card:add"
    failed = run("ability", "show", "card:fly", check=False)
    assert failed.returncode == 1 and "cardbox ability list" in failed.stderr


def test_ability_invoke():
    made = invoke("card:add", {"content": "hello"})
    assert made["outcome"] == "inserted"
    got = run("ability", "invoke", "card:get", "-", stdin=json.dumps({"card_id": made["card_id"]}))
    assert json.loads(got.stdout)["content"] == "hello"
    assert json.loads(run("ability", "invoke", "bus:list").stdout)["modules"]
    failed = run("ability", "invoke", "card:get", "{}", check=False)
    assert failed.returncode == 1 and "/card_id: is missing" in failed.stderr


def test_life_of_a_task():
    task = run("task", "run", "count\tthe \x1b[31mbirds", "--system", "you count").stdout.strip()
    assert task in run("task", "list").stdout
    listed, = [json.loads(line) for line in run("task", "list", "--json").stdout.splitlines()
               if json.loads(line)["id"] == task]
    assert listed["goal"] == "count\tthe \x1b[31mbirds"
    run("task", "send", task, "faster")
    shown = run("task", "show", task).stdout
    assert "\x1b" not in shown, shown
    assert [line.split()[0] for line in shown.splitlines()] == ["system", "user", "user"], shown
    run("task", "cancel", task, "--reason", "enough")
    followed = run("task", "follow", task, check=False)
    assert followed.returncode == 1 and "cancelled after" in followed.stdout
    for words in (("send", task, "x"), ("cancel", task)):
        failed = run("task", *words, check=False)
        assert failed.returncode == 1 and "is already completed" in failed.stderr, failed
    assert task not in run("task", "list").stdout
    failed = run("task", "show", "no", check=False)
    assert failed.returncode == 1 and "task not found" in failed.stderr.lower(), failed


def test_follow():
    task = json.loads(run("task", "run", "count", "--json").stdout)["taskId"]
    follower = subprocess.Popen([CARDBOX, "task", "follow", "--dsn", dsn(), "--project", "acme", task],
                                stdout=subprocess.PIPE, text=True)
    assert follower.stdout.readline().split() == ["user", "count"]
    first = say(task, "one\ntwo")
    assert follower.stdout.readline().split() == ["assistant", "one"]
    assert follower.stdout.readline() == "two\n"
    call = {"id": "c", "taskId": task, "abilityName": "bird:count", "parameters": "{}", "details": "{}",
            "createdAt": 1, "updatedAt": 1, "startMessageId": first}
    for at, status in enumerate(("pending", "in_progress", "failed")):
        invoke("ldg:call:save", {"call": {**call, "status": status, "updatedAt": at + 1}})
    assert follower.stdout.readline().split() == ["\u2717", "bird:count"]
    finish(task)
    assert follower.stdout.readline().startswith("success after ")
    assert follower.stdout.read() == "" and follower.wait(20) == 0
    events = [json.loads(line) for line in run("task", "follow", task, "--json").stdout.splitlines()]
    assert [e["event"] for e in events] == ["created", "message", "message", "call", "call", "call", "completed"]
    assert events[2]["text"] == "one\ntwo" and events[5]["how"] == "failed"
    assert [e["n"] for e in events] == list(range(1, 8))


def test_a_failed_task_is_a_failure():
    task = run("task", "run", "count").stdout.strip()
    finish(task, "failed: no birds")
    followed = run("task", "follow", task, check=False)
    assert followed.returncode == 1 and "failed: no birds after" in followed.stdout
    assert run("task", "show", task).returncode == 0


if __name__ == "__main__":
    cardbox_test.main(globals())

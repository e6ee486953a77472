#!/usr/bin/env python3
"""`cardbox ability` and `cardbox task`: what they print for people and for programs, and a task
followed while a worker, here the ledger's own abilities, does it."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import WAIT_S, Postgres, cardbox, dsn, on_terminal

CARDBOX = os.path.join(cardbox_test.BUILD, "bin", "cardbox")


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
    assert "card:get" in text and "task:spawn" in text and "Returns one card." in text
    rows = [json.loads(line) for line in run("ability", "list", "task", "--json").stdout.splitlines()]
    assert [row["id"] for row in rows] == ["task:spawn", "task:send", "task:cancel", "task:finish", "task:active"]
    assert rows[0]["inputSchema"]["required"] == ["goal"]


def test_ability_show():
    text = run("ability", "show", "card:add").stdout
    assert '"card_id"' in text and "scope write" in text
    assert '\n    "type": {\n      "type": "string",\n' in text, text
    assert '\n    "role": {"type": "string", "maxLength": 512},\n' in text, text
    for title, member in (("input", "inputSchema"), ("output", "outputSchema")):
        whole = json.loads(run("ability", "show", "card:add", "--json").stdout)[member]
        assert json.JSONDecoder().raw_decode(text.split(f"\n{title}\n")[1])[0] == whole
    assert json.loads(run("ability", "show", "card:add", "--json").stdout)["id"] == "card:add"
    failed = run("ability", "show", "card:fly", check=False)
    assert failed.returncode == 1 and "cardbox ability list" in failed.stderr
    failed = run("ability", "list", "nosuch", check=False)
    assert failed.returncode == 1 and failed.stdout == "" and 'no module "nosuch"' in failed.stderr, failed


def test_ability_invoke():
    made = invoke("card:add", {"content": "hello"})
    assert made["outcome"] == "inserted"
    got = run("ability", "invoke", "card:get", "-", stdin=json.dumps({"card_id": made["card_id"]}))
    assert json.loads(got.stdout)["content"] == "hello"
    assert json.loads(run("ability", "invoke", "bus:list").stdout)["modules"]
    failed = run("ability", "invoke", "card:fly", check=False)
    assert failed.returncode == 1 and failed.stderr.endswith('no ability "card:fly"; see `cardbox ability list`\n'), failed
    failed = run("ability", "invoke", "card:get", "{}", check=False)
    assert failed.returncode == 1 and "/card_id: is missing" in failed.stderr


def test_life_of_a_task():
    task = run("task", "run", "count\tthe \x1b[31mbirds", "--system", "you count").stdout.strip()
    assert task in run("task", "list").stdout
    listed, = [json.loads(line) for line in run("task", "list", "--json").stdout.splitlines()
               if json.loads(line)["id"] == task]
    assert listed["goal"] == "count\tthe \x1b[31mbirds"
    assert run("task", "send", task, "faster").stdout == f"task {task} has the message\n"
    shown = run("task", "show", task).stdout
    assert "\x1b" not in shown, shown
    assert [line.split()[0] for line in shown.splitlines()] == ["system", "user", "user", "waiting"], shown
    assert run("task", "cancel", task, "--reason", "enough").stdout == f"task {task} is cancelled\n"
    followed = run("task", "follow", task, check=False)
    assert followed.returncode == 1 and re.search("cancelled after .* s: enough$", followed.stdout, re.M)
    assert invoke("ldg:task:get", {"taskId": task})["task"]["cancelReason"] == "enough"
    assert json.loads(run("task", "show", task, "--json").stdout.splitlines()[-1])["text"] == "enough"
    for words, advice in ((("send", task, "x"), "; for more, run a new task"), (("cancel", task), "")):
        failed = run("task", *words, check=False)
        assert failed.returncode == 1, failed
        assert failed.stderr.endswith(f"task {task} is cancelled already{advice}\n"), failed
    assert task not in run("task", "list").stdout
    row, = [line for line in run("task", "list", "--all").stdout.splitlines() if line.startswith(task)]
    assert row.split()[1] == "cancelled" and row.endswith("  count the \ufffd[31mbirds"), row
    listed, = [json.loads(line) for line in run("task", "list", "--all", "--json").stdout.splitlines()
               if json.loads(line)["id"] == task]
    assert (listed["completionStatus"], listed["goal"]) == ("cancelled", "count\tthe \x1b[31mbirds")
    failed = run("task", "show", "no", check=False)
    assert failed.returncode == 1 and failed.stderr.endswith("ask not found: no; see `cardbox task list --all`\n"), failed


def test_states_in_the_list():
    task = run("task", "run", "sleep").stdout.strip()
    row = next(line for line in run("task", "list").stdout.splitlines() if line.startswith(task))
    assert row.split()[1] == "waiting" and row.endswith("  sleep"), row
    other = str(uuid.uuid4())
    invoke("ldg:task:save", {"task": {"id": other, "systemPrompt": "", "createdAt": 1, "updatedAt": 1}})
    row = next(line for line in run("task", "list", "--limit", "500").stdout.splitlines() if line.startswith(other))
    assert "asleep" in row, row
    newest, = run("task", "list", "--limit", "1", "--json").stdout.splitlines()
    assert json.loads(newest)["id"] == task
    empty = run("task", "list", "--project", "nothing")
    assert empty.stdout == "" and empty.stderr == "no unfinished tasks in project nothing; --all lists all\n"
    finish(task)
    finish(other)


def test_a_router_is_finished():
    context, box = str(uuid.uuid4()), str(uuid.uuid4())
    invoke("box:create", {"box_id": context, "card_ids": []})
    task = run("task", "run", "route", "--router", "--box", box, "--context-box", context).stdout.strip()
    listed, = [json.loads(line) for line in run("task", "list", "--json").stdout.splitlines() if task in line]
    assert (listed["boxId"], listed["contextBoxId"], listed["router"], listed["state"]) == (box, context, True, "waiting"), listed
    assert run("task", "finish", task).stdout == f"task {task} is finished\n"
    failed = run("task", "finish", task, check=False)
    assert failed.returncode == 1 and failed.stderr.endswith(f"task {task} is finished already\n"), failed
    assert run("task", "show", task).stdout.splitlines()[-1].split()[0] == "success"
    other = run("task", "run", "route").stdout.strip()
    run("task", "finish", other, "--status", "enough")
    row, = [line for line in run("task", "list", "--all").stdout.splitlines() if line.startswith(other)]
    assert row.split()[1] == "enough", row


def test_a_list_says_that_there_are_more():
    def listed(*words):
        done = run("task", "list", "--project", "many", "--json", *words)
        return [json.loads(line)["goal"] for line in done.stdout.splitlines()], done.stderr
    for goal in "abc":
        cardbox("task", "run", "--dsn", dsn(), "--project", "many", goal)
    assert listed("--limit", "2") == (["c", "b"], "2 of 3; further ones: --skip 2\n")
    assert listed("--limit", "1", "--skip", "1") == (["b"], "1 of 3; further ones: --skip 2\n")
    assert listed("--limit", "2", "--skip", "2") == (["a"], "")
    assert listed("--limit", "3") == (["c", "b", "a"], "")
    assert run("task", "list", "--project", "many", "--skip", "3").stderr == "no further tasks in project many\n"


def test_a_message_may_name_its_task():
    task = run("task", "run", "listen").stdout.strip()
    run("task", "send", f"@{task}  two words")
    said = [m["content"] for m in invoke("ldg:msg:list", {"taskId": task})["messages"]]
    assert said[-1] == "two words", said
    run("task", "send", f"@{task}\r\nlines")
    run("task", "send", f"@{task}: with a colon")
    said = [m["content"] for m in invoke("ldg:msg:list", {"taskId": task})["messages"]]
    assert said[-2:] == ["lines", "with a colon"], said
    for line in (f"@{task}", f"@{task} ", f"@{task}:", "@ x", "@: x", "hello there", ""):
        failed = run("task", "send", line, check=False)
        assert failed.returncode == 2 and "expected TASK MESSAGE or '@TASK MESSAGE'" in failed.stderr, failed
    finish(task)


def test_follow():
    task = json.loads(run("task", "run", "count", "--json").stdout)["taskId"]
    follower = subprocess.Popen([CARDBOX, "task", "follow", "--dsn", dsn(), "--project", "acme", task],
                                stdout=subprocess.PIPE, text=True)
    assert follower.stdout.readline().split() == ["system", *f"You are task {task}.".split()]
    assert follower.stdout.readline().split() == ["user", "count"]
    first = say(task, "one\ntwo")
    assert follower.stdout.readline().split() == ["assistant", "one"]
    assert follower.stdout.readline() == f"{'two':>13}\n"
    call = {"id": "c", "taskId": task, "abilityName": "bird:count", "parameters": '{"where":"pond"}',
            "details": "{}", "createdAt": 1, "updatedAt": 1, "startMessageId": first}
    for at, status in enumerate(("pending", "in_progress", "failed")):
        ended = {"details": '{"error":"no\\nbirds"}'} if status == "failed" else {}
        invoke("ldg:call:save", {"call": {**call, **ended, "status": status, "updatedAt": at + 1}})
    assert follower.stdout.readline().split() == ["\u2192", "bird:count", '{"where":"pond"}']
    said = follower.stdout.readline().split(maxsplit=4)
    assert said[:2] + said[3:] == ["\u2717", "bird:count", "s", "no birds\n"], said
    say(task, " \n")  # nothing is said: no line
    finish(task)
    assert follower.stdout.readline().startswith("success after ")
    assert follower.stdout.read() == "" and follower.wait(WAIT_S) == 0
    events = [json.loads(line) for line in run("task", "follow", task, "--json").stdout.splitlines()]
    assert [e["event"] for e in events] == ["created", "message", "message", "message", "call", "call", "call",
                                             "message", "completed"]
    assert events[3]["text"] == "one\ntwo" and events[6]["how"] == "failed"
    assert [e["n"] for e in events] == list(range(1, 10))
    assert [e["call"]["details"] for e in events[4:7]] == ["{}", "{}", '{"error":"no\\nbirds"}']


def test_what_only_tells_of_a_call_is_not_shown():
    task = run("task", "run", "count").stdout.strip()
    Postgres.shared().psql(dsn(), f"""
        SELECT cardbox.save_message('acme', 'm-{task}', '{task}', 'assistant',
            '{{"__type__":"TextContent","text":"Calling"}}', '{{"call_id":"c"}}', NULL, NULL)""")
    assert "Calling" not in run("task", "show", task).stdout
    told = [json.loads(line) for line in run("task", "show", task, "--json").stdout.splitlines()]
    assert told[-1]["text"] == "Calling" and told[-1]["metadata"]["call_id"] == "c"


def test_a_task_that_nobody_claims():
    task = run("task", "run", "count").stdout.strip()
    follower = subprocess.Popen([CARDBOX, "task", "follow", "--dsn", dsn(), "--project", "acme", task],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert follower.stderr.readline() == "waiting for a worker (none has claimed it)\n"
    finish(task)
    assert follower.wait(WAIT_S) == 0 and follower.stderr.read() == ""


class Terminal:
    """A command whose output is a terminal; what it has shown so far is `text`."""

    def __init__(self, *command, **environment):
        self.text, (self.master, slave) = "", pty.openpty()
        env = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment}
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env)
        os.close(slave)

    def read(self):
        """False: it has ended."""
        if not select.select([self.master], [], [], WAIT_S)[0]:
            raise AssertionError(f"nothing more after {self.text!r}")
        try:
            piece = os.read(self.master, 65536)
        except OSError:
            piece = b""
        self.text += piece.decode().replace("\r\n", "\n")
        return piece != b""

    def wait_for(self, words):
        deadline = time.monotonic() + WAIT_S
        while words not in self.text:
            assert time.monotonic() < deadline and self.read(), f"no {words!r} in {self.text!r}"

    def end(self):
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait(WAIT_S)


def piece(task, message, n, text):
    """As a worker shows it."""
    cardbox_test.say_pieces(dsn(), "acme", task, message, n, text)


def work(task, terminal):
    """Says a message in two pieces and as a whole, whose end was in neither, calls two tools, and ends."""
    message = {"id": str(uuid.uuid4()), "taskId": task, "role": "assistant",
               "content": "Hello \u2603 \u001b[31myou there",
               "timestamp": 1}
    terminal.wait_for("count")
    piece(task, message["id"], 1, "Hello \u2603")
    terminal.wait_for("Hello \u2603")
    piece(task, message["id"], 2, " \u001b[31myou")
    terminal.wait_for(" \ufffd[31myou")
    invoke("ldg:msg:save", {"message": message})
    for name, status in (("bird:count", "completed"), ("bird:feed", "failed")):
        call = {"id": str(uuid.uuid4()), "taskId": task, "abilityName": name, "parameters": "{}", "details": "{}",
                "createdAt": 1, "updatedAt": 1, "startMessageId": message["id"]}
        for at, now in enumerate(("pending", "in_progress", status)):
            invoke("ldg:call:save", {"call": {**call, "status": now, "updatedAt": at + 1}})
    finish(task)


def test_parameters_are_shown_to_be_read():
    """Also where whoever wrote them has escaped all that is not ASCII; and escapes of a terminal are not."""
    task = json.loads(run("task", "run", "read", "--json").stdout)["taskId"]
    call = {"id": str(uuid.uuid4()), "taskId": task, "abilityName": "read", "createdAt": 1, "updatedAt": 1,
            "parameters": json.dumps({"text": "日本 \u001b[31m \u202e"}), "startMessageId": say(task, "I read")}
    invoke("ldg:call:save", {"call": {**call, "status": "in_progress", "details": "{}"}})
    invoke("ldg:call:save", {"call": {**call, "status": "failed", "details": json.dumps({"error": "né"}), "updatedAt": 2}})
    shown = run("task", "show", task).stdout
    assert '{"text": "日本 \\u001b[31m \ufffd"}' in shown and "né" in shown, shown
    assert "\u202e" not in shown and "\x1b" not in shown, shown


def test_follow_in_a_terminal():
    """Text appears as it is said, once, with colours; marks of calls; how long it took. Escapes of a
    model are made harmless."""
    for colour in (True, False):
        task = json.loads(run("task", "run", "count", "--json").stdout)["taskId"]
        terminal = Terminal(CARDBOX, "task", "follow", "--dsn", dsn(), "--project", "acme", task,
                            **({} if colour else {"NO_COLOR": "1"}))
        work(task, terminal)
        assert terminal.end() == 0, terminal.text
        said = [line.split(None, 1) for line in re.sub(r"\x1b\[\d+m", "", terminal.text).splitlines()
                if not line.startswith("waiting for a worker")]
        assert said.pop(0) == ["system", f"You are task {task}."], said
        assert said[:2] == [["user", "count"], ["assistant", "Hello \u2603 \ufffd[31myou there"]], said
        assert [said[i] for i in (2, 4)] == [["\u2192", "bird:count"], ["\u2192", "bird:feed"]], said
        assert [(said[i][0], said[i][1].split()[0]) for i in (3, 5)] == \
            [("\u2713", "bird:count"), ("\u2717", "bird:feed")], said
        assert len(said) == 7 and re.fullmatch(r"success after \d+\.\d s", " ".join(said[6])), said
        for sequence in ("\x1b[32muser", "\x1b[36massistant", "\x1b[32m\u2713\x1b[0m",
                         "\x1b[31m\u2717\x1b[0m", "\x1b[32msuccess\x1b[0m after"):
            assert (sequence in terminal.text) == colour, terminal.text
        assert colour or "\x1b" not in terminal.text


def test_words_are_wrapped():
    """A word that is too long for its line begins the next, beside the margin."""
    for word in ("birdbirdbird", "\u65e5\u672c\u65e5\u672c\u65e5\u672c"):
        task = json.loads(run("task", "run", "x" * 40 + " " + word, "--json").stdout)["taskId"]
        text = on_terminal("task", "show", "--dsn", dsn(), "--project", "acme", task, columns=60, env={"NO_COLOR": "1"})
        assert f"\n{'':10}{word}" in text.replace("\r", ""), text


def test_a_message_that_broke_off():
    """Half a message of a worker that died is not taken for what was said: it is begun again, by another
    worker, or as another message at once."""
    task = json.loads(run("task", "run", "count", "--json").stdout)["taskId"]
    terminal = Terminal(CARDBOX, "task", "follow", "--dsn", dsn(), "--project", "acme", task)
    terminal.wait_for("count")
    piece(task, "m1", 1, "One bi")
    terminal.wait_for("One bi")
    Postgres.shared().psql(dsn(), f"SELECT cardbox.add_event('acme', '{task}', 'claimed', NULL, 'other')")
    terminal.wait_for("(broken off: begun again)")
    piece(task, "m2", 1, "Two bi")
    terminal.wait_for("Two bi")
    say(task, "Three birds")
    terminal.wait_for("Three birds")
    finish(task)
    assert terminal.end() == 0, terminal.text
    said = [line.strip() for line in re.sub(r"\x1b\[\d+m", "", terminal.text).splitlines()
            if not line.startswith("waiting for a worker")]
    assert [" ".join(line.split()) for line in said[2:7]] == [
        "assistant One bi", "(broken off: begun again)", "assistant Two bi", "(broken off: begun again)",
        "assistant Three birds"], said


def test_a_message_among_pieces():
    """What a user says meanwhile stands between; of what is said after it nothing is missing or twice."""
    task = json.loads(run("task", "run", "count", "--json").stdout)["taskId"]
    terminal = Terminal(CARDBOX, "task", "follow", "--dsn", dsn(), "--project", "acme", task)
    terminal.wait_for("count")
    message = {"id": str(uuid.uuid4()), "taskId": task, "role": "assistant", "content": "One bird, two birds",
               "timestamp": 1}
    piece(task, message["id"], 1, "One bird, ")
    terminal.wait_for("One bird, ")
    run("task", "send", task, "faster")
    terminal.wait_for("faster")
    invoke("ldg:msg:save", {"message": message})
    # A piece that was lost: the whole message stands once more.
    holed = {**message, "id": str(uuid.uuid4()), "content": "Four birds, five birds"}
    terminal.wait_for("two birds")
    piece(task, holed["id"], 2, "five")
    terminal.wait_for("five")
    invoke("ldg:msg:save", {"message": holed})
    finish(task)
    assert terminal.end() == 0, terminal.text
    said = [" ".join(line.split()) for line in re.sub(r"\x1b\[\d+m", "", terminal.text).splitlines()
            if not line.startswith("waiting for a worker")]
    assert said[1:8] == ["user count", "assistant One bird,", "user faster", "assistant (goes on) two birds",
                        "assistant five", "(broken off: begun again)",
                        "assistant Four birds, five birds"], said


def test_follow_and_show_end():
    """Whatever is said at the moment, and whatever was saved after the end."""
    task = run("task", "run", "count").stdout.strip()
    for message in ("first", "second"):
        cardbox_test.say_pieces(dsn(), "acme", task, message, 1, *["x"] * 300)
    shown = [json.loads(line) for line in run("task", "show", task, "--json").stdout.splitlines()]
    pieces = [e for e in shown if e["event"] == "chunk"]
    assert pieces and all(e == {"event": "chunk", "ref": "second", "text": "x"} for e in pieces), shown
    assert all(e["n"] and e["at"] for e in shown if e not in pieces), shown
    finish(task)
    say(task, "later")
    followed = run("task", "follow", task)
    assert "success after" in followed.stdout and "later" in followed.stdout


def test_a_failed_task_is_a_failure():
    task = run("task", "run", "count").stdout.strip()
    finish(task, "failed: no birds")
    followed = run("task", "follow", task, check=False)
    assert followed.returncode == 1 and re.search(r"^failed after \d+\.\d s: no birds$", followed.stdout, re.M)
    assert run("task", "show", task).returncode == 0


def test_an_error_of_several_lines():
    """Only its first line is shown, and in JSON all of it."""
    text = "Error\n\tat read (birds.js:7)\r\n\tat main"
    task = run("task", "run", "count").stdout.strip()
    finish(task, text)
    row = next(line for line in run("task", "list", "--all").stdout.splitlines() if line.startswith(task))
    assert re.search(r" Error +\S", row) and "birds.js" not in row, row
    followed = run("task", "follow", task, check=False)
    assert followed.returncode == 1 and re.search(r"^Error after \d+\.\d s$", followed.stdout, re.M) and "birds.js" not in followed.stdout
    listed = [json.loads(line) for line in run("task", "list", "--all", "--json").stdout.splitlines()]
    assert [one["completionStatus"] for one in listed if one["id"] == task] == [text]


if __name__ == "__main__":
    cardbox_test.main(globals())

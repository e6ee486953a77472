#!/usr/bin/env python3
"""cardbox-worker with a scripted model: the requests to the model, the tools that it runs, and the
ledger, which must contain all of it, in order."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from model_server import ModelServer, Reply, ToolServer, breaks, calls, hangs, refuses, says
from worker_test import Project, Worker, await_, tools_file

def script(text):
    """A tool that is a shell script. It reads its arguments from standard input."""
    return ["sh", "-c", text]


ADD = {"name": "add", "description": "Adds", "command": ["python3", "-c",
       "import json,sys; v=json.load(sys.stdin); print(json.dumps({'sum': v['a'] + v['b']}))"],
       "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                      "required": ["a", "b"], "additionalProperties": False}}
FAIL = {"name": "fail", "description": "Fails", "command": script("echo it is broken >&2; exit 3")}
ECHO = {"name": "ns:echo", "description": "Gives back", "command": script("cat")}


def test_three_calls_one_of_which_fails():
    def model(request):
        if request.answered == 0:
            return calls(("add", {"a": 1, "b": 2}), ("fail", {}), text="Let me see")
        if request.answered == 1:
            return calls(("ns__echo", {"x": "\u00e9 \"quoted\""}))
        return says("All done")

    server, project = ModelServer(model), Project()
    task = project.spawn("Add one and two", prompt="You are careful")
    worker = Worker(project, server, tools_file(ADD, FAIL, ECHO))
    project.await_status(task, "success")
    worker.stop()
    server.check()
    assert len(server.requests) == 3
    first, second, third = (request.messages for request in server.requests)
    assert first == [{"role": "system", "content": "You are careful"},
                     {"role": "user", "content": "Add one and two"}], first
    assert second[:2] == first and second[2]["content"] == "Let me see"
    assert [call["function"]["name"] for call in second[2]["tool_calls"]] == ["add", "fail"]
    assert [(m["role"], m["content"]) for m in second[3:]] == [
        ("tool", '{"sum": 3}'), ("tool", 'status: failed\n{"error":"exit status 3: it is broken"}')], second[3:]
    assert third[:len(second)] == second, "the beginning of a context never changes"
    assert json.loads(third[-1]["content"]) == {"x": "\u00e9 \"quoted\""}, third[-1]
    assert [t["function"]["name"] for t in server.requests[0].body["tools"]] == ["add", "fail", "ns__echo"]

    assert project.texts(task) == [
        ("system", "You are careful"), ("user", "Add one and two"), ("assistant", "Let me see"),
        ("assistant", "🔧 Calling add..."), ("assistant", "✓ add completed"),
        ("assistant", "🔧 Calling fail..."),
        ("assistant", "✗ fail failed: exit status 3: it is broken"),
        ("assistant", ""), ("assistant", "🔧 Calling ns:echo..."),
        ("assistant", "✓ ns:echo completed"), ("assistant", "All done")]
    assert [(c["ability"], c["status"], json.loads(c["parameters"]), json.loads(c["details"]))
            for c in project.calls(task)] == [
        ("add", "completed", {"a": 1, "b": 2}, {"sum": 3}),
        ("fail", "failed", {}, {"error": "exit status 3: it is broken"}),
        ("ns:echo", "completed", {"x": "\u00e9 \"quoted\""}, {"x": "\u00e9 \"quoted\""})]
    call = ["call pending", "call in_progress"]
    assert project.story(task) == [
        "created", "message system", "message user", "claimed", "message assistant",
        "message assistant", *call, "message assistant", "call completed",
        "message assistant", *call, "message assistant", "call failed",
        "message assistant", "message assistant", *call, "message assistant", "call completed",
        "message assistant", "completed success"], project.story(task)
    usage = [m["metadata"]["usage"] for m in project.messages(task) if "usage" in m["metadata"]]
    assert usage == [{"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "cost": 0.5}] * 3
    assert project.invoke("usage:query", {"by": "session"})["items"] == [
        {"task_id": task, "input_tokens": 33, "cached_input_tokens": 0, "output_tokens": 21, "cost": 1.5}]
    assert not project.psql("SELECT 1 FROM cardbox.task_chunks")


def run_one(model, *options, tools=(), goal="go", expect="success"):
    """Runs a task to its end. Returns (project, task, server)."""
    server, project = ModelServer(model), Project()
    task = project.spawn(goal)
    worker = Worker(project, server, tools_file(*tools) if tools else None, *options)
    status = project.await_end(task)
    worker.stop()
    server.check()
    assert status == expect if isinstance(expect, str) else expect(status), status
    return project, task, server


# --- what a model may do wrong ---


def test_broken_streams_are_asked_again():
    for how in ("cut", "junk", "error", "end"):
        def check(how=how):
            project, task, server = run_one(lambda request: [breaks(how), breaks(how), says("whole")])
            assert project.texts(task) == [("user", "go"), ("assistant", "whole")]
            assert len(server.requests) == 3
        yield how, check


def test_busy_servers_are_asked_again():
    for reply in (refuses(429, Retry_After="0"), refuses(500), refuses(503), refuses(529), refuses(408)):
        def check(reply=reply):
            project, task, server = run_one(lambda request: [reply, says("there")])
            assert project.texts(task) == [("user", "go"), ("assistant", "there")]
            assert len(server.requests) == 2
        yield str(reply.status), check


def test_retry_after_is_kept():
    _, _, server = run_one(lambda request: [refuses(429, Retry_After="1"), says("there")])
    first, second = server.requests
    assert second.at - first.at >= 1, second.at - first.at


def test_failures_for_good():
    """If a retry can not help, the task fails with the reason, and no message is saved."""
    cases = {
        "refused": (lambda request: refuses(401, "no such key"), 1,
                    "failed: the model's server answered 401: no such key"),
        "cut": (lambda request: breaks("cut"), 3, "(after 3 attempts)"),
        "junk": (lambda request: breaks("junk"), 3, "no JSON object (after 3 attempts)"),
        "error": (lambda request: breaks("error"), 3, "reports an error: overloaded"),
        "silence": (lambda request: breaks("silence"), 3, "nothing came for 1000 ms"),
        "never": (lambda request: hangs(), 3, "nothing came for 1000 ms"),
        "plain": (lambda request: Reply(plain=b'{"error": {"message": "no streams here"}}'), 3,
                  "answered without a stream: no streams here (after 3 attempts)"),
        "500": (lambda request: refuses(500, "oops"), 3, "answered 500: oops (after 3 attempts)"),
        "long": (lambda request: refuses(400, "why " * 2000), 1, "answered 400: " + "why " * 1999 + "why"),
    }
    for name, (model, requests, reason) in cases.items():
        def check(model=model, requests=requests, reason=reason):
            hasty = ("--model-idle-timeout-ms", "1000") if "nothing came" in reason else ()
            project, task, server = run_one(
                model, "--model-retries", "2", *hasty,
                expect=lambda status: status.startswith("failed: ") and reason in status)
            assert project.texts(task) == [("user", "go")]
            assert len(server.requests) == requests
        yield name, check


def test_answer_that_does_not_end_after_done():
    """It is complete: the idle timeout, which passes before the worker gives up waiting, does not count."""
    whole = says("whole")
    whole.linger = True
    project, task, server = run_one(lambda request: whole, "--model-idle-timeout-ms", "200")
    assert project.texts(task) == [("user", "go"), ("assistant", "whole")]
    assert len(server.requests) == 1


def test_half_a_text_is_no_success():
    for finish, reason in (("length", "failed: the model stopped at its length limit"),
                           ("content_filter", "failed: the model's answer was cut by its content filter")):
        def check(finish=finish, reason=reason):
            project, task, server = run_one(lambda request: says("half of", finish), expect=reason)
            assert project.texts(task) == [("user", "go"), ("assistant", "half of")]
            assert len(server.requests) == 1
            run_one(lambda request: says("", finish), expect=reason)
        yield finish, check


def test_an_empty_answer_is_no_success():
    project, task, server = run_one(lambda request: [says(""), says("there")])
    assert project.texts(task) == [("user", "go"), ("assistant", "there")]
    project, task, _ = run_one(lambda request: [says(" \n"), says("\u00a0\u2003")], "--model-retries", "1",
                               expect="failed: the model's answer is empty (after 2 attempts)")
    assert project.texts(task) == [("user", "go")]
    project, task, _ = run_one(lambda request: says(" ", "length"),
                               expect="failed: the model stopped at its length limit")
    assert project.texts(task) == [("user", "go")]


def test_a_context_that_the_model_refuses():
    reason = "This model's maximum context length is 8192 tokens"
    _, _, server = run_one(lambda request: refuses(400, reason),
                           expect="failed: the model's server answered 400: " + reason)
    assert len(server.requests) == 1


def test_a_refusal_by_the_ledger_is_no_lost_lease():
    """A message causes the conflict. No other worker has the task, so no other one would end it."""
    server, project = ModelServer(lambda request: says("done")), Project()
    project.psql("CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
                 "RAISE unique_violation USING MESSAGE = 'it is there'; END$$; "
                 "CREATE TRIGGER refuse BEFORE INSERT ON cardbox.messages FOR EACH ROW "
                 "WHEN (NEW.role = 'assistant') EXECUTE FUNCTION public.refuse()")
    task = project.spawn("go")
    worker = Worker(project, server)
    status = project.await_end(task)
    worker.stop()
    assert status.startswith("failed: the ledger refused: "), status
    assert worker.events("task_left")[0]["end"] == "finished", worker.log()


def test_too_many_calls_are_not_asked_for_again():
    _, _, server = run_one(lambda request: calls(*[("ns__echo", {})] * 65), tools=[ECHO],
                           expect="failed: the model asked for more tool calls than a message may have")
    assert len(server.requests) == 1


def test_no_server():
    server, project = ModelServer(lambda request: says("never")), Project()
    server.stop()
    task = project.spawn("go")
    worker = Worker(project, server, None, "--model-retries", "1")
    assert "no answer from the model's server" in project.await_end(task)
    worker.stop()


def test_the_key_is_sent_and_nowhere_else():
    project = Project()
    server = ModelServer(lambda request: says("x") if request.results else calls(("env", {})))
    task = project.spawn("go")
    tool = {"name": "env", "description": "", "command": script("env")}
    worker = Worker(project, server, tools_file(tool),
                    env={"CARDBOX_MODEL_KEY": "sk-secret", "CARDBOX_DSN": project.dsn})
    project.await_status(task, "success")
    worker.stop()
    assert server.requests[0].headers["Authorization"] == "Bearer sk-secret"
    given = project.calls(task)[0]
    assert "sk-secret" not in worker.log()
    assert "PATH=" in given["details"] and f"CARDBOX_TASK_ID={task}" in given["details"]
    assert "sk-secret" not in given["details"] and "CARDBOX_DSN" not in given["details"], given


def test_a_key_that_is_too_long_is_refused():
    """If it were cut or left out, the model's server would refuse every request."""
    done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", "cardbox-worker"), "--project", "p", "--model", "m",
                           "--model-url", "http://127.0.0.1:1/v1"], capture_output=True, text=True,
                          env={**os.environ, "CARDBOX_MODEL_KEY": "k" * 4096}, timeout=60)
    assert done.returncode == 2 and "the model's key must be one word of under 4096 bytes" in done.stderr, done


# --- calls ---


def test_calls_that_cannot_run():
    cases = [("no_such", {}, 'there is no tool "no_such"'), ("add", "{\"a\":", "no JSON object"),
             ("add", "[1]", "no JSON object"), ("add", {"a": 1}, "b"), ("add", {"a": 1, "b": 2, "c": 3}, "c"),
             ("add", "{\"a\":\"\ud800\"}", "")]

    def model(request):
        if not request.results:
            return calls(*[(name, arguments) for name, arguments, _ in cases])
        return says("never mind")

    project, task, _ = run_one(model, tools=[ADD])
    made = project.calls(task)
    assert [call["status"] for call in made] == ["failed"] * len(cases)
    for call, (name, _, reason) in zip(made, cases):
        assert call["ability"] == name and reason in json.loads(call["details"])["error"], call
        assert call["end_message_id"], call


def test_tools_are_bounded():
    tools = {"flood": "yes | head -c 100000000", "hang": "sleep 1000", "stubborn":
             "trap '' TERM; while :; do sleep 0.1; done", "binary": "printf 'a\\377\\000b'",
             "children": "(setsid sleep 1000 &) & echo fine"}

    def model(request):
        return says("so") if request.results else calls(*[(name, {}) for name in tools])

    project, task, _ = run_one(model, tools=[
        {"name": name, "description": "", "command": script(text), "timeout_ms": 1000,
         "output_max": 1000} for name, text in tools.items()])
    details = [json.loads(call["details"]) for call in project.calls(task)]
    assert details == [{"error": "over 1000 bytes of output"}, {"error": "not done within 1000 ms"},
                       {"error": "not done within 1000 ms"}, "a\ufffd\u0000b", "fine"], details


def test_a_tool_that_kills_its_supervisor():
    """The call fails, the command is killed, and the worker continues."""
    pid = os.path.join(cardbox_test.temp_dir(), "pid")
    tool = {"name": "kills", "description": "", "command": script(
        f"echo $$ >{pid}; kill -9 $PPID; sleep 1000")}

    def model(request):
        return says("so") if request.results else calls(("kills", {}), ("ns__echo", {"x": 1}))

    project, task, _ = run_one(model, tools=[tool, ECHO])
    details = [json.loads(call["details"]) for call in project.calls(task)]
    assert details == [{"error": "its supervisor process was killed"}, {"x": 1}], details
    with open(pid, encoding="ascii") as file:
        number = int(file.read())
    await_(lambda: not os.path.exists(f"/proc/{number}"))


def test_keywords_that_are_not_checked():
    """The model gets them as they are in the file, and the log lists them."""
    schema = ('{"type": "object", "properties": {"n": {"multipleOf": 0.10, "maximum": 18446744073709551615},'
              ' "s": {"type": "string", "pattern": "^a"}}, "uniqueItems": true}')
    file = os.path.join(cardbox_test.temp_dir(), "tools.json")
    with open(file, "w", encoding="ascii") as out:
        out.write('{"tools": [{"name": "odd", "description": "", "command": ["cat"], "parameters": %s}]}' % schema)

    def model(request):
        return says("so") if request.results else calls(("odd", {"s": "b"}), ("odd", {"s": 1}))

    server, project = ModelServer(model), Project()
    task = project.spawn("go")
    worker = Worker(project, server, file)
    project.await_status(task, "success")
    first, second = [json.loads(call["details"]) for call in project.calls(task)]
    assert first == {"s": "b"} and "expected \"string\"" in second["error"], (first, second)
    told, = worker.events("schema_keywords_not_checked")
    assert told["tool"] == '"odd"', told
    assert told["keywords"] == '"multipleOf, pattern, uniqueItems"', told
    worker.stop()
    server.check()
    offered = '"parameters":' + schema.replace(" ", "")
    assert all(offered in request.text for request in server.requests), server.requests[0].text


def test_a_result_that_the_ledger_refuses_is_a_failed_call():
    """In the ledger, each byte of the result becomes seven."""
    def model(request):
        return says("so") if request.results else calls(("controls", {}))

    project, task, _ = run_one(model, tools=[
        {"name": "controls", "description": "", "output_max": 16 * 1024 * 1024,
         "command": script("head -c 12000000 /dev/zero | tr '\\000' '\\001'")}])
    call, = project.calls(task)
    assert call["status"] == "failed" and call["end_message_id"], call
    assert json.loads(call["details"]) == {
        "error": "its result is over the limit of 67108864 bytes in the ledger"}, call


def test_iterations_are_bounded():
    project, task, server = run_one(
        lambda request: calls(("ns__echo", {"n": request.answered})), "--max-iterations", "3",
        tools=[ECHO], expect="failed: Maximum iterations reached")
    assert len(server.requests) == 3 and len(project.calls(task)) == 3


def test_tools_over_http():
    def tool(request):
        assert request.headers["X-Caller-Id"] and request.headers["X-Call-Id"]
        return refuses(400, "unknown place") if request.body == {"place": "x"} else says("")

    http_tool = ToolServer(tool)

    def model(request):
        if not request.results:
            return calls(("weather", {"place": "x"}), ("gone", {}))
        return says("so")

    project, task, _ = run_one(model, tools=[
        {"name": "weather", "description": "", "url": http_tool.url + "/chat/completions"},
        {"name": "gone", "description": "", "url": "http://127.0.0.1:1/"}])
    first, second = [json.loads(call["details"])["error"] for call in project.calls(task)]
    assert "HTTP status 400" in first and "unknown place" in first, first
    assert second, second


# --- messages and cancels ---


def test_a_message_during_a_turn_is_answered():
    sent = []

    def model(request):
        if request.user == "first" and not sent:
            sent.append(project.send(task, "second"))
        return says("answer to " + request.user)

    server, project = ModelServer(model), Project()
    task = project.spawn("first")
    worker = Worker(project, server)
    project.await_status(task, "success")
    worker.stop()
    server.check()
    assert sent == [1]
    assert project.texts(task) == [("user", "first"), ("user", "second"), ("assistant", "answer to first"),
                                   ("assistant", "answer to second")], project.texts(task)
    said = [message["content"] for message in server.requests[-1].messages]
    assert said == ["first", "answer to first", "second"], said
    assert project.send(task, "third") == 9, "it is finished"


def put_in(project, task, role, text):
    """A message that the loop did not write."""
    project.invoke("ldg:msg:save", {"message": {
        "id": str(uuid.uuid4()), "taskId": task, "role": role, "content": text,
        "timestamp": int(time.time() * 1000)}})


def test_a_task_is_answered_whatever_others_put_in():
    for role in ("system", "assistant"):
        def check(role=role):
            server, project = ModelServer(lambda request: says("four")), Project()
            task = project.spawn("two and two?")
            put_in(project, task, role, "be brief")
            worker = Worker(project, server)
            project.await_status(task, "success")
            worker.stop()
            server.check()
            assert len(server.requests) == 1
            assert {m["content"] for m in server.requests[0].messages} == {"two and two?", "be brief"}
            assert project.texts(task)[-1] == ("assistant", "four")
        yield role, check


def test_a_result_is_told_whatever_others_put_in():
    for role in ("system", "assistant"):
        def check(role=role):
            go = os.path.join(cardbox_test.temp_dir(), "go")
            tool = {"name": "wait", "description": "Waits", "command": script(
                f"until [ -e {go} ]; do sleep 0.01; done; echo it was seven")}
            server, project = ModelServer(
                lambda request: says("seven") if request.results else calls(("wait", {}))), Project()
            task = project.spawn("go")
            worker = Worker(project, server, tools_file(tool))
            await_(lambda: any(call["status"] == "in_progress" for call in project.calls(task)))
            put_in(project, task, role, "be brief")
            with open(go, "wb"):
                pass
            project.await_status(task, "success")
            worker.stop()
            server.check()
            assert [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"] == [
                "it was seven"], server.requests[-1].messages
            assert project.texts(task)[-1] == ("assistant", "seven")
        yield role, check


def stays_cancelled(project, task, worker):
    story, texts = project.story(task), project.texts(task)
    await_(lambda: worker.events("task_left"), worker.log)
    worker.stop()
    assert worker.events("task_left")[0]["end"] == "cancelled", worker.log()
    assert project.status(task) == "cancelled"
    assert project.story(task) == story and project.texts(task) == texts
    assert story[-1] == "completed cancelled"


def test_cancel_during_a_model_call():
    for name, reply in (("silent", hangs()), ("speaking", says("word " * 2000, pause=0.05))):
        def check(reply=reply):
            server, project = ModelServer(lambda request: reply), Project()
            task = project.spawn("go")
            worker = Worker(project, server)
            await_(lambda: server.requests)
            time.sleep(0.2)
            assert project.cancel(task) == 3
            stays_cancelled(project, task, worker)
            await_(lambda: server.broken_off == 1)
            assert project.texts(task) == [("user", "go")]
            assert not project.psql("SELECT 1 FROM cardbox.task_chunks")
        yield name, check


def test_cancel_during_a_tool_call():
    """Cancels a command that ignores SIGTERM, and a URL that does not answer."""
    pid = os.path.join(cardbox_test.temp_dir(), "pid")
    slow = ToolServer(lambda request: hangs())
    tools = {
        "command": ({"command": script(f"echo $$ >{pid}.new; mv {pid}.new {pid}; trap '' TERM; "
                                       "while :; do sleep 0.1; done")}, lambda: os.path.exists(pid)),
        "url": ({"url": slow.url + "/chat/completions"}, lambda: slow.requests),
    }
    for kind, (how, has_begun) in tools.items():
        def check(how=how, has_begun=has_begun):
            server, project = ModelServer(lambda request: calls(("slow", {}))), Project()
            task = project.spawn("go")
            tool = {"name": "slow", "description": "", "timeout_ms": 600000, **how}
            worker = Worker(project, server, tools_file(tool))
            await_(has_begun)
            assert project.cancel(task) == 3
            stays_cancelled(project, task, worker)
            assert [(c["status"], json.loads(c["details"])) for c in project.calls(task)] == [
                ("failed", {"error": "Task cancelled"})]
        yield kind, check
    with open(pid, encoding="ascii") as file:
        assert not os.path.exists(f"/proc/{int(file.read())}")
    await_(lambda: slow.broken_off == 1)


def test_chunks_can_be_followed():
    server, project = ModelServer(lambda request: says("word " * 60, pause=0.02)), Project()
    task = project.spawn("go")
    worker = Worker(project, server)
    seen = []
    while project.status(task) is None:
        seen = project.rows("SELECT piece, n FROM cardbox.task_chunks ORDER BY n") or seen
    worker.stop()
    assert len(seen) > 2, seen
    text = "".join(row["piece"] for row in seen)
    assert ("word " * 60).startswith(text) and [row["n"] for row in seen] == list(range(1, len(seen) + 1))
    assert not project.psql("SELECT 1 FROM cardbox.task_chunks")


# --- tasks that work with tasks ---


def test_a_subtask_reports_to_its_parent():
    """The parent spawns the subtask, sleeps, is resumed by its message, and finishes."""
    def model(request):
        if request.user == "count the files":
            parent = re.search(r"report to ([^ ]+)", request.messages[0]["content"]).group(1)
            return says("sent") if request.results else calls(
                ("task__send", {"receiverId": parent, "message": "there are 12 files"}), before=1)
        if request.user == "there are 12 files":
            return says("twelve, says my helper")
        if request.results:
            return says("I wait for it")
        own = re.fullmatch(r"You are task (.+)\.", request.messages[0]["content"]).group(1)
        return calls(("task__spawn", {"goal": "count the files", "systemPrompt": f"report to {own}"}))

    server, project = ModelServer(model), Project()
    task = project.invoke("task:spawn", {"goal": "how many files are there?"})["taskId"]
    worker = Worker(project, server, None, "--allow-abilities", "task:spawn,task:send")
    project.await_status(task, "success")
    child = next(row for row in project.tasks() if row["task_id"] != task)
    project.await_status(child["task_id"], "success")
    worker.stop()
    server.check()
    assert child["parent_task_id"] == task
    assert [text for _, text in project.texts(task)] == [
        f"You are task {task}.", "how many files are there?", "", "🔧 Calling task:spawn...", "✓ task:spawn completed",
        "I wait for it", "there are 12 files", "twelve, says my helper"], project.texts(task)
    assert project.texts(child["task_id"])[0] == ("system", f"report to {task}")


def test_a_subtask_that_says_nothing_ends_its_parent_too():
    def model(request):
        if request.user == "small":
            return says("ok")
        return says("enough") if request.results else calls(("task__spawn", {"goal": "small"}))

    project, task, server = run_one(model, "--allow-abilities", "task:spawn", goal="big")
    assert [row["completion_status"] for row in project.tasks()] == ["success", "success"]
    assert len(server.requests) == 3, "a parent that has nothing to answer asks nobody"


def test_routing():
    """A task with task:active, task:send and task:spawn passes a message on to the right task."""
    def model(request):
        if request.user.startswith("tell the cook"):
            if not request.results:
                return calls(("task__active", {}))
            if len(request.results) == 1:
                tasks = json.loads(request.results[0])["tasks"]
                cook = next(row["id"] for row in tasks if row["goal"] == "cook")
                return calls(("task__send", {"receiverId": cook, "message": "less salt"}))
            return says("passed on")
        if request.user == "less salt":
            return says("as you like")
        return says("soup", until=told.is_set)

    server, project, told = ModelServer(model), Project(), threading.Event()
    cook, waiter = project.spawn("cook"), project.spawn("wait on the tables")
    worker = Worker(project, server, None, "--allow-abilities", "task:active,task:send,task:spawn")
    await_(lambda: len(server.requests) == 2)
    router = project.spawn("tell the cook to use less salt")
    await_(lambda: ("user", "less salt") in project.texts(cook))
    told.set()
    for task in (router, cook, waiter):
        project.await_status(task, "success")
    worker.stop()
    server.check()
    assert [text for role, text in project.texts(cook) if role == "user"] == ["cook", "less salt"]
    assert project.texts(cook)[-1] == ("assistant", "as you like")
    assert [text for role, text in project.texts(waiter) if role == "user"] == ["wait on the tables"]


def test_a_clock_that_is_ahead():
    """The model reads messages in the order of their arrival, not by timestamp."""
    server = ModelServer(lambda request: says(f"answer to {request.user}"))
    project = Project()
    task, early = "ahead", 4102444800000
    project.invoke("ldg:task:save", {"task": {"id": task, "systemPrompt": "", "createdAt": 1, "updatedAt": 1}})
    for text, moment in (("first", early), ("second", 1)):
        project.invoke("ldg:msg:save", {"message": {"id": text, "taskId": task, "role": "user",
                                                    "content": text, "timestamp": moment}})
    project.send(task, "third")
    worker = Worker(project, server)
    project.await_status(task, "success")
    worker.stop()
    server.check()
    assert [[m["content"] for m in request.messages] for request in server.requests] == [
        ["first", "second", "third"]], server.requests
    assert [text for _, text in project.texts(task)] == ["second", "third", "answer to third", "first"]


def test_more_calls_than_a_page():
    """More calls than one page, some with the same time: each has its result once."""
    server, project, count = ModelServer(lambda request: says("done")), Project(), 2500
    task = "long"
    project.invoke("ldg:task:save", {"task": {"id": task, "systemPrompt": "", "createdAt": 1, "updatedAt": 1}})
    project.psql(f"""
        INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at, sealed)
        SELECT 'acme', 'said-' || n, '{{"text": "x"}}', '{{}}', now(), true
          FROM generate_series(1, {count}) AS n;
        INSERT INTO cardbox.messages (tenant_id, message_id, task_id, role, ts, seq)
        SELECT 'acme', 'said-' || n, '{task}', 'assistant', n, 10 + 2 * n FROM generate_series(1, {count}) AS n;
        INSERT INTO cardbox.calls (tenant_id, call_id, task_id, ability_name, parameters, status, details, created_at,
                                   updated_at, start_message_id, seq)
        SELECT 'acme', 'call-' || n, '{task}', 'card:get', '"{{}}"', 'completed', to_json(n::text),
               CASE WHEN n < 1200 THEN 7 ELSE n END, n, 'said-' || n, 11 + 2 * n FROM generate_series(1, {count}) AS n;
        INSERT INTO cardbox.task_events (tenant_id, task_id, n, what, ref, how, at)
        SELECT 'acme', '{task}', 10 + 2 * n, 'message', 'said-' || n, 'assistant', n FROM generate_series(1, {count}) AS n
         UNION ALL
        SELECT 'acme', '{task}', 11 + 2 * n, 'call', 'call-' || n, 'completed', n FROM generate_series(1, {count}) AS n;
        UPDATE cardbox.tasks SET events = 100000 WHERE task_id = '{task}'""")
    project.send(task, "go on")
    worker = Worker(project, server)
    project.await_status(task, "success")
    worker.stop()
    server.check()
    results = [m["content"] for m in server.requests[0].messages if m["role"] == "tool"]
    assert results == [str(n) for n in range(1, count + 1)], (len(results), results[:5])


# --- stopping ---


def test_sigterm_lets_tasks_end():
    """The running task ends, although the model answers only after SIGTERM. The second task is not claimed."""
    workers = []

    def model(_):
        await_(lambda: workers and workers[0].events("stopping"))
        return says("done")

    server, project = ModelServer(model), Project()
    task = project.spawn("go")
    worker = Worker(project, server, None, "--concurrency", "1")
    workers.append(worker)
    await_(lambda: worker.events("task_claimed"))
    later = project.spawn("later")
    worker.stop()
    server.check()
    assert project.status(task) == "success" and project.status(later) is None


def test_unfinished_tasks_are_handed_back():
    """A second signal arrives during a request to the model and during a call of a tool. Another worker continues."""
    def model(request):
        if request.user == "think":
            return [hangs(), says("thought")]
        return says("worked") if request.results else calls(("slow", {}))

    server, project = ModelServer(model), Project()
    tasks = [project.spawn("think"), project.spawn("work")]
    tools = tools_file({"name": "slow", "description": "", "command": script("sleep 1000"), "timeout_ms": 900000})
    worker = Worker(project, server, tools)
    await_(lambda: len(server.requests) == 2 and len(project.calls(tasks[1])) == 1)
    worker.signal()
    await_(lambda: worker.events("stopping"))
    worker.signal()
    worker.wait()
    assert [project.status(task) for task in tasks] == [None, None]
    assert {row["end"] for row in worker.events("task_left")} == {"handed_back"}, worker.log()
    other = Worker(project, server, tools)
    for task in tasks:
        project.await_status(task, "success")
    other.stop()
    assert [json.loads(c["details"]) for c in project.calls(tasks[1])] == [
        {"error": "Worker stopped during execution"}]
    assert all(row["attempts"] == 1 for row in project.tasks()), project.tasks()
    server.check()


def test_wrong_usage():
    project = Project()
    base = ["--dsn", project.dsn, "--project", "acme", "--model-url", "http://127.0.0.1:1", "--model", "x"]
    cases = {"needed": base[:4], "http or https": [*base[:5], "ftp://x", *base[6:]],
             "no ability": [*base, "--allow-abilities", "card:fly"], "cannot be read: No such file": [*base, "--tools", "/no/such"],
             "more than": [*base, "--project", ",".join(f"p{i}" for i in range(99))],
             "empty or too long": [*base, "--project", "a,,b"],
             "no plain text": [*base, "--project", "a\tb"],
             "/no/key: cannot be read: No such file": [*base, "--model-key-file", "/no/key"],
             "no program": [*base, "--tools", tools_file({"name": "x", "description": "", "command": ["/no"]})]}
    for reason, words in cases.items():
        done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", "cardbox-worker"), *words],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and reason in done.stderr, (reason, done)


if __name__ == "__main__":
    cardbox_test.main()

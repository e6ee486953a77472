#!/usr/bin/env python3
"""What the task manager's document requires, line by line, over HTTP, with cardbox-worker and a scripted model. Rows
marked "argued" are differences with a written reason: they are tested as they are."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import worker_test
from cardbox_test import Server, await_, dsn, once, psql, server, temp_dir, url
from document_rows import Project, Rows
from model_server import ModelServer, Reply, ToolServer, breaks, calls, refuses, says

row = Rows("tasks")

ADD = {"name": "add", "description": "Adds", "command": ["jq", "-c", ".a + .b"]}
FAIL = {"name": "fail", "description": "Fails", "command": ["sh", "-c", "echo it is broken >&2; exit 3"]}


def spawn(p, goal="count the birds", **members):
    return p.invoke("task:spawn", {"goal": goal, **members})["taskId"]


def task_of(p, task):
    return p.invoke("ldg:task:get", {"taskId": task})["task"]


def messages_of(p, task):
    return [(message["role"], message["content"]) for message in p.invoke("ldg:msg:list", {"taskId": task})["messages"]]


def calls_of(p, task):
    return p.invoke("ldg:call:list", {"taskId": task})["calls"]


def ended(p, task):
    """The completionStatus, when there is one."""
    return await_(lambda: task_of(p, task).get("completionStatus"), lambda: messages_of(p, task))


def work(p, script, *options, tools=()):
    """Starts a worker for the project, with a model that answers as the script does; returns both."""
    model = ModelServer(script)
    return worker_test.Worker(worker_test.Project(p.name, dsn()), model, worker_test.tools_file(*tools) if tools else None, *options), model


# --- abilities of the task manager ---


@row("163", "the abilities task:spawn, task:cancel, task:send and task:active are on the bus")
def _(p):
    names = [ability["id"] for ability in p.invoke("bus:abilities", {"moduleName": "task"})["abilities"]]
    assert {"task:spawn", "task:cancel", "task:send", "task:active"} <= set(names), names


@row("165-203", "task:spawn {goal, parentTaskId?, systemPrompt?} gives {taskId}")
def _(p):
    parent = spawn(p, systemPrompt="You are a data analyst assistant.")
    child = p.invoke("task:spawn", {"goal": "Analyze Q1 sales data", "parentTaskId": parent})
    assert set(child) == {"taskId"}, child
    task = task_of(p, child["taskId"])
    assert task["parentTaskId"] == parent and "completionStatus" not in task, task
    assert isinstance(task["createdAt"], int) and task["createdAt"] == task["updatedAt"], task
    p.invoke("task:spawn", {}, 422)
    p.invoke("task:spawn", {"goal": "x", "parentTaskId": "nobody"}, 404)


@row("165-189", "null members of task:spawn are not given; unknown members are refused (argued)")
def _(p):
    assert "parentTaskId" not in task_of(p, spawn(p, parentTaskId=None, systemPrompt=None))
    p.invoke("task:spawn", {"goal": "x", "color": "red"}, 422)


@row("205-218", "the caller and the call are named by headers")
def _(p):
    p.invoke("task:spawn", {"goal": "x"}, X_Caller_Id="shell", X_Call_Id="call-1")


@row("220", "task, system message and user message are saved before the task runs")
def _(p):
    task = spawn(p, systemPrompt="You count.")
    assert task_of(p, task)["systemPrompt"] == "You count."
    assert messages_of(p, task) == [("system", "You count."), ("user", "count the birds")]


@row("220", "without a systemPrompt the first message is a default prompt")
def _(p):
    task = spawn(p)
    assert messages_of(p, task) == [("system", f"You are task {task}."), ("user", "count the birds")]


@row("222-271", "task:cancel sets cancelled and fails the calls that are open")
def _(p):
    task = spawn(p)
    message = p.invoke("ldg:msg:list", {"taskId": task})["messages"][0]["id"]
    for status in ("pending", "in_progress"):
        p.invoke("ldg:call:save", {"call": {"id": status, "taskId": task, "abilityName": "x:y", "parameters": "{}", "status": status,
                                            "details": "{}", "createdAt": 1, "updatedAt": 1, "startMessageId": message}})
    assert p.invoke("task:cancel", {"taskId": task, "reason": "User requested cancellation"}) == {"success": True}
    cancelled = task_of(p, task)
    assert (cancelled["completionStatus"], cancelled["cancelReason"]) == ("cancelled", "User requested cancellation"), cancelled
    assert [call["status"] for call in calls_of(p, task)] == ["failed", "failed"]


@row("222-240", "task:cancel needs a reason; of an unknown or ended task it is no success")
def _(p):
    task = spawn(p)
    p.invoke("task:cancel", {"taskId": task}, 422)
    p.invoke("task:cancel", {"taskId": task, "reason": "x"})
    for name in (task, "nobody"):
        answer = p.invoke("task:cancel", {"taskId": name, "reason": "x"})
        assert answer["success"] is False and answer["error"], answer


@row("273-333", "task:send appends a message of the user")
def _(p):
    task = spawn(p)
    assert p.invoke("task:send", {"receiverId": task, "message": "Processing complete, found 42 records"}) == {"success": True}
    assert messages_of(p, task)[-1] == ("user", "Processing complete, found 42 records")


@row("335", "task:send to an unknown or ended task gives an error")
def _(p):
    task = spawn(p)
    p.invoke("task:cancel", {"taskId": task, "reason": "x"})
    assert p.invoke("task:send", {"receiverId": "nobody", "message": "x"}) == {"success": False, "error": "Task not found: nobody"}
    assert p.invoke("task:send", {"receiverId": task, "message": "x"}) == {"success": False, "error": f"Task {task} is already completed"}


@row("342-379", "task:active lists unfinished tasks {id, parentTaskId, createdAt, updatedAt}")
def _(p):
    parent = spawn(p)
    child, done = spawn(p, parentTaskId=parent), spawn(p)
    p.invoke("task:cancel", {"taskId": done, "reason": "x"})
    tasks = {task["id"]: task for task in p.invoke("task:active", {"limit": 10})["tasks"]}
    assert set(tasks) == {parent, child} and tasks[child]["parentTaskId"] == parent, tasks
    assert all(isinstance(task[name], int) for task in tasks.values() for name in ("createdAt", "updatedAt")), tasks


@row("350-355", "limits of task:active: below 1 counts as 1, above the maximum as the maximum; 100 if none is given (argued)")
def _(p):
    tasks = [{"kind": "task", "id": f"t{n}", "system_prompt": "", "created_at": n, "updated_at": n} for n in range(101)]
    p.request("POST", "/import", "\n".join(map(json.dumps, tasks)).encode(), Content_Type="application/x-ndjson")
    for limit, wanted in (({}, 100), ({"limit": None}, 100), ({"limit": 0}, 1), ({"limit": -1}, 1), ({"limit": 2.0}, 2), ({"limit": 1e6}, 101)):
        assert len(p.invoke("task:active", limit)["tasks"]) == wanted, limit


# --- the loop ---


@once
def a_run():
    """Runs a task with two calls. One call fails. Returns the project, the task and the requests to the model."""
    p = Project()

    def script(request):
        return says("There are 3.") if request.results else calls(("add", {"a": 1, "b": 2}), ("fail", {}), text="Let me count")

    task = spawn(p, systemPrompt="You count.")
    worker, model = work(p, script, "--allow-abilities", "task:spawn", tools=(ADD, FAIL))
    assert ended(p, task) == "success"
    worker.stop()
    return p, task, model.requests


@row("401-404", "loop 1: the model gets all messages")
def _(_p):
    _, _, requests = a_run()
    assert requests[0].messages == [{"role": "system", "content": "You count."}, {"role": "user", "content": "count the birds"}], requests[0].messages
    assert [message["role"] for message in requests[1].messages] == ["system", "user", "assistant", "tool", "tool"]


@row("408-411", "loop 2: the model gets the tools")
def _(_p):
    _, _, requests = a_run()
    names = {tool["function"]["name"] for tool in requests[0].body["tools"]}
    assert names == {"add", "fail", "task__spawn"}, names


@row("415-422", "loop 3: the whole answer is saved as an assistant's message")
def _(_p):
    p, task, _ = a_run()
    said = [content for role, content in messages_of(p, task) if role == "assistant"]
    assert "Let me count" in said and said[-1] == "There are 3.", said


@row("428-439", "loop 4: for each call a Call entity with its start and end message, and the loop again")
def _(_p):
    p, task, requests = a_run()
    texts = {message["id"]: message["content"] for message in p.invoke("ldg:msg:list", {"taskId": task})["messages"]}
    first, second = calls_of(p, task)
    assert (first["abilityName"], first["status"], json.loads(first["parameters"])) == ("add", "completed", {"a": 1, "b": 2}), first
    assert (second["abilityName"], second["status"]) == ("fail", "failed"), second
    assert "Calling add" in texts[first["startMessageId"]] and "add completed" in texts[first["endMessageId"]], texts
    assert "Calling fail" in texts[second["startMessageId"]] and "fail failed" in texts[second["endMessageId"]], texts
    assert len(requests) == 2


@row("77", "the details of a completed call are its result")
def _(_p):
    p, task, _ = a_run()
    assert json.loads(calls_of(p, task)[0]["details"]) == 3


@row("78 (argued)", "the details of a failed call are the error, without a stack trace")
def _(_p):
    p, task, _ = a_run()
    details = json.loads(calls_of(p, task)[1]["details"])
    assert set(details) == {"error"} and "it is broken" in details["error"], details


@row("121-143,444-447", "loop 5: without calls the task ends with success")
def _(_p):
    p, task, _ = a_run()
    assert task_of(p, task)["completionStatus"] == "success" and task_of(p, task)["updatedAt"] > task_of(p, task)["createdAt"]


@row("(none)", "misspelt and unknown tools are failed calls, and the model goes on")
def _(p):
    task = spawn(p)
    worker, _ = work(p, lambda request: says("so") if request.results else calls(("ad", {}), ("add", "no JSON")), tools=(ADD,))
    assert ended(p, task) == "success"
    worker.stop()
    assert [call["status"] for call in calls_of(p, task)] == ["failed", "failed"]


@row("47", "a task that fails has failed: REASON, and is found as failed")
def _(p):
    task = spawn(p)
    worker, _ = work(p, lambda request: refuses(400, "no such model"))
    assert re.match(r"failed: .*no such model", ended(p, task))
    worker.stop()
    for filters in ({"completionStatus": "failed"}, {"state": "failed"}):
        assert [one["id"] for one in p.invoke("ldg:task:query", filters)["tasks"]] == [task], filters


@row("43-48", "a text of its own, success and cancelled are found as such")
def _(p):
    for status in ("success", "cancelled", "failed", "out of birds"):
        p.invoke("ldg:task:save", {"task": {"id": status, "systemPrompt": "", "completionStatus": status, "createdAt": 1, "updatedAt": 1}})
    for status in ("success", "cancelled", "failed", "out of birds"):
        assert [one["id"] for one in p.invoke("ldg:task:query", {"completionStatus": status})["tasks"]] == [status]


@row("76 (argued),271", "while a call runs, its details are {}; task:cancel ends it and the loop")
def _(p):
    flag = os.path.join(temp_dir(), "started")
    slow = {"name": "slow", "description": "", "command": ["sh", "-c", f"touch {flag}; sleep 600"], "timeout_ms": 600000}
    task = spawn(p)
    worker, model = work(p, lambda request: calls(("slow", {})), tools=(slow,))
    await_(lambda: os.path.exists(flag))
    call = calls_of(p, task)[0]
    assert (call["status"], call["details"]) == ("in_progress", "{}"), call
    p.invoke("task:cancel", {"taskId": task, "reason": "enough"})
    worker.stop()
    assert (ended(p, task), calls_of(p, task)[0]["status"], len(model.requests)) == ("cancelled", "failed", 1)


@row("101,415-422", "chunks are shown at once; a message is saved when it is complete (ledger:77,488,503)")
def _(p):
    task = spawn(p)
    worker, _ = work(p, lambda request: breaks("silence"))
    await_(lambda: psql(dsn(), f"SELECT 1 FROM cardbox.task_chunks WHERE tenant_id = '{p.name}'"))
    assert "assistant" not in dict(messages_of(p, task))
    p.invoke("task:cancel", {"taskId": task, "reason": "x"})  # and the part is lost (ledger:540-544)
    worker.stop()
    assert "assistant" not in dict(messages_of(p, task))


@row("428 (argued)", "chunks go to the user as events of GET .../stream instead of shell:sendMessageChunk")
def _(p):
    task = spawn(p)
    worker, _ = work(p, lambda request: says("There are seven birds."))
    events = server().get(url(p.name, "tasks", task, "stream")).body.decode()
    worker.stop()
    names = re.findall(r"(?m)^event: (\w+)", events)
    assert "message_complete" in names and names[-1] == "task_complete" and "There are seven birds." in events, events


@row("154,334", "a message wakes a task; one that arrives during a turn is answered by the next")
def _(p):
    told = []
    task = spawn(p)
    worker, model = work(p, lambda request: says(f"re {request.user}", until=lambda: told))
    await_(lambda: model.requests)
    p.invoke("task:send", {"receiverId": task, "message": "and the trees"})
    told.append(True)
    assert ended(p, task) == "success"
    worker.stop()
    said = messages_of(p, task)
    assert [content for role, content in said if role == "assistant"] == ["re count the birds", "re and the trees"], said


# --- routing ---


@row("145-150", "a routing task stays: it waits for the next message after an answer, without a worker")
def _(p):
    task = spawn(p, "route", router=True)
    worker, model = work(p, lambda request: says(f"re {request.user}"))
    for count, text in enumerate(("first", "second"), 1):
        await_(lambda count=count: len(model.requests) == count)
        await_(lambda: [one["id"] for one in p.invoke("ldg:task:query", {"state": "waiting"})["tasks"]] == [task])
        assert psql(dsn(), f"SELECT lease_owner IS NULL FROM cardbox.tasks WHERE tenant_id = '{p.name}'") == "t\n"
        assert p.invoke("task:send", {"receiverId": task, "message": text}) == {"success": True}
    await_(lambda: ("assistant", "re second") in messages_of(p, task))
    assert "completionStatus" not in task_of(p, task)
    assert p.invoke("task:finish", {"taskId": task}) == {"success": True}
    assert ended(p, task) == "success"
    assert p.invoke("task:send", {"receiverId": task, "message": "x"})["success"] is False
    worker.stop()


@row("145-150", "task:finish sets another completionStatus if one is given; task:cancel ends a routing task too")
def _(p):
    task, other = spawn(p, router=True), spawn(p, router=True)
    assert p.invoke("task:finish", {"taskId": task, "completionStatus": "out of birds"})["success"] is True
    assert p.invoke("task:cancel", {"taskId": other, "reason": "x"})["success"] is True
    assert (ended(p, task), ended(p, other)) == ("out of birds", "cancelled")
    assert p.invoke("task:finish", {"taskId": task})["success"] is False


@row("151-153", "a router passes a message on with task:active and task:send, or makes a task with task:spawn")
def _(p):
    def script(request):
        if request.user == "tell the cook":
            if not request.results:
                return calls(("task__active", {}), ("task__spawn", {"goal": "dish"}))
            if len(request.results) == 2:
                cook = next(task["id"] for task in json.loads(request.results[0])["tasks"] if task["goal"] == "cook")
                return calls(("task__send", {"receiverId": cook, "message": "less salt"}))
            return says("passed on")
        return says(f"re {request.user}", until=None if request.user != "cook" else lambda: told)
    told = []
    cook = spawn(p, "cook")
    worker, model = work(p, script, "--allow-abilities", "task:active,task:send,task:spawn")
    await_(lambda: model.requests)
    router = spawn(p, "tell the cook")
    await_(lambda: ("user", "less salt") in messages_of(p, cook))
    told.append(True)
    assert (ended(p, router), ended(p, cook)) == ("success", "success")
    worker.stop()
    assert ("assistant", "re less salt") in messages_of(p, cook)


# --- abilities of others ---

ledger = Rows("ledger")


@once
def private_server():
    return Server(dsn(), "--abilities-allow-private")


OBJECT = {"type": "object"}
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def register(p, ability, script, status=200, **members):
    """An ability that a server of the test implements; returns that server."""
    tool = ToolServer(script)
    p.put(f"/abilities/{ability}", {"description": "Finds", "inputSchema": QUERY, "outputSchema": OBJECT,
                                    "url": tool.url + "/chat/completions", **members}, status)
    return tool


def answers(value):
    return Reply(plain=json.dumps(value).encode())


@ledger("7", "a module registers its abilities at the bus, for example mem:retrieve")
def _(_p):
    p = Project(private_server())
    tool = register(p, "mem:retrieve", lambda request: answers({"found": request.body["query"]}))
    assert p.invoke("mem:retrieve", {"query": "birds"}, X_Caller_Id="shell", X_Call_Id="call-1") == {"found": "birds"}
    headers = tool.requests[0].headers
    assert (headers["X-Caller-Id"], headers["X-Call-Id"], headers["X-Project-Id"]) == ("shell", "call-1", p.name), headers
    assert "mem" in [module["name"] for module in p.invoke("bus:list", {})["modules"]]
    assert p.invoke("bus:inspect", {"abilityId": "mem:retrieve"})["meta"]["inputSchema"] == QUERY
    assert p.invoke("bus:schema", {"abilityId": "mem:retrieve"})["inputSchema"] == QUERY
    p.invoke("mem:retrieve", {"question": "birds"}, 422)
    Project(private_server()).invoke("mem:retrieve", {"query": "birds"}, 404)
    p.request("DELETE", "/abilities/mem:retrieve")
    p.invoke("mem:retrieve", {"query": "birds"}, 404)


@ledger("7", "... whose answers are checked: 502 for another status or a bad output, 504 if it is too slow")
def _(_p):
    p = Project(private_server())
    register(p, "mem:broken", lambda request: refuses(400, "no"))
    register(p, "mem:wrong", lambda request: answers([]))
    register(p, "mem:slow", lambda request: Reply(hang=True, status=None), timeoutMs=100)
    for ability, status in (("mem:broken", 502), ("mem:wrong", 502), ("mem:slow", 504)):
        p.invoke(ability, {"query": "birds"}, status)
    register(p, "task:spawn", lambda request: answers({}), 409)


@row("7,428", "model:llm and shell:sendMessageChunk can be registered (the worker does not call them: argued)")
def _(_p):
    p = Project(private_server())
    for ability in ("model:llm", "shell:sendMessageChunk"):
        p.invoke(ability, {"query": "x"}, 404)
        register(p, ability, lambda request: answers({"success": True}))
        assert p.invoke(ability, {"query": "x"}) == {"success": True}


def test_rows():
    yield from row.cases()
    yield from ledger.cases()


if __name__ == "__main__":
    cardbox_test.main(globals())

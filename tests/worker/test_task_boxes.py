#!/usr/bin/env python3
"""The boxes of tasks: each request to the model has the messages of the context of the task's box, byte for byte, at
the version that the answer names. Routers, which wait for the next message after an answer."""

import json
import os
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from cardbox_test import Server, as_role, await_, once
from model_server import ModelServer, calls, says
from worker_test import Project, Worker, tools_file

ADD = {"name": "add", "description": "Adds", "command": ["python3", "-c",
       "import json,sys; v=json.load(sys.stdin); print(json.dumps({'sum': v['a'] + v['b']}))"]}
FAIL = {"name": "fail", "description": "Fails", "command": ["sh", "-c", "echo it is broken >&2; exit 3"]}
ECHO = {"name": "ns:echo", "description": "Gives back", "command": ["cat"]}


@once
def shared():
    """A project, and a server for its contexts."""
    project = Project()
    return project, Server(as_role(project.dsn, "cardbox_app"))


def project_and_server():
    """A project of its own in the shared database."""
    first, http = shared()
    return Project(f"p{uuid.uuid4()}", first.dsn), http


def messages_of(text):
    """The bytes of the member `messages` of a JSON object."""
    start = text.index('"messages":') + len('"messages":')
    return text[start:json.JSONDecoder().raw_decode(text, start)[1]]


def get(http, project, path):
    answer = http.get(f"/projects/{project.name}/{path}")
    assert answer.status == 200, answer
    return answer


def task_of(http, project, task):
    return http.post(f"/projects/{project.name}/abilities/ldg:task:get", {"taskId": task}).json()["task"]


def check_contexts(project, http, task, model, context=None):
    """Each answer names the version of the box whose context was the request. Returns the versions."""
    box = task_of(http, project, task)["boxId"]
    sent = [messages_of(request.text) for request in model.requests]
    versions = [m["metadata"]["box_version"] for m in project.messages(task) if "box_version" in m["metadata"]]
    for version in versions:
        path = f"boxes/{box}/context?format=openai&at_version={version}"
        if context:
            path = f"boxes/{context}/context?format=openai&then={box}@{version}"
        assert messages_of(get(http, project, path).body.decode()) in sent, (path, sent)
    return versions


def cards_in(http, project, box):
    """(type, content) of the cards of a box, where the content of a text is the text."""
    cards = get(http, project, f"boxes/{box}/cards").json()
    return [(card["metadata"]["type"], card["content"].get("text", card["content"])) for card in cards]


def three_calls(request):
    if request.answered == 0:
        return calls(("add", {"a": 1, "b": 2}), ("fail", {}), text="Let me see")
    if request.answered == 1:
        return calls(("ns__echo", {"x": "\u00e9 \"quoted\"", "n": 1.50}))
    return says("All done")


def run(model_script, spawn, *options, tools=(ADD, FAIL, ECHO), status="success"):
    """Spawns a task with spawn(project, http) and runs it to its end. Returns (project, http, task, model)."""
    project, http = project_and_server()
    model = ModelServer(model_script)
    task = spawn(project, http)
    worker = Worker(project, model, tools_file(*tools), *options)
    ended = project.await_end(task)
    worker.stop()
    model.check()
    assert ended == status, (ended, project.texts(task))
    return project, http, task, model


def test_requests_equal_contexts():
    project, http, task, model = run(
        three_calls, lambda project, http: project.invoke("task:spawn", {"goal": "Add one and two"})["taskId"])
    versions = check_contexts(project, http, task, model)
    assert len(versions) == 3 and versions == sorted(set(versions)), versions
    assert project.texts(task)[:2] == [("system", f"You are task {task}."), ("user", "Add one and two")]
    found = task_of(http, project, task)
    assert found["systemPrompt"] == f"You are task {task}." and found["state"] == "completed", found
    echoed = {"x": "\u00e9 \"quoted\"", "n": 1.5}
    assert cards_in(http, project, found["boxId"]) == [
        ("sys.rendered_prompt", f"You are task {task}."), ("task.instruction", "Add one and two"),
        ("agent.thought", "Let me see"),
        ("tool.result", {"status": "success", "result": {"sum": 3}}),
        ("tool.result", {"status": "failed", "result": {"error": "exit status 3: it is broken"}}),
        ("agent.thought", ""), ("tool.result", {"status": "success", "result": echoed}),
        ("agent.thought", "All done")]
    results = get(http, project, f"boxes/{found['boxId']}/cards").json()
    assert [card["tool_call_id"] for card in results if card["metadata"]["type"] == "tool.result"] == [
        call["call_id"] for call in project.calls(task)]
    assert len(project.texts(task)) == 11, "the messages of calls are only in the ledger"


def test_a_context_box_is_read_first():
    context = str(uuid.uuid4())

    def spawn(project, http):
        for name, kind, text in (("profile", "sys.profile", "You count"), ("earlier", "task.instruction", "before")):
            project.invoke("card:add", {"card_id": name, "content": {"text": text}, "metadata": {"type": kind}})
        project.invoke("box:create", {"box_id": context, "card_ids": ["profile", "earlier"]})
        return project.invoke("task:spawn", {"goal": "go", "systemPrompt": "Be brief", "contextBoxId": context})["taskId"]

    project, http, task, model = run(three_calls, spawn)
    assert len(check_contexts(project, http, task, model, context)) == 3
    assert [m["content"] for m in model.requests[0].messages] == ["You count", "before", "Be brief", "go"]
    assert get(http, project, f"boxes/{context}").json()["version"] == 1, "a task does not change its context box"
    assert task_of(http, project, task)["contextBoxId"] == context
    assert {m["metadata"]["context_box_version"] for m in project.messages(task) if "box_version" in m["metadata"]} == {1}


def test_a_given_box_is_continued():
    """The box has cards of others."""
    box = str(uuid.uuid4())

    def spawn(project, http):
        project.invoke("card:add", {"card_id": "said", "content": {"text": "said before"},
                                    "metadata": {"type": "task.instruction"}})
        project.invoke("box:create", {"box_id": box, "card_ids": ["said"]})
        return project.spawn("go", box=box)

    project, http, task, model = run(three_calls, spawn)
    assert [m["content"] for m in model.requests[0].messages][:1] == ["said before"], model.requests[0].messages
    assert len(check_contexts(project, http, task, model)) == 3
    assert cards_in(http, project, box)[0] == ("task.instruction", "said before")


def test_cards_of_others_are_read():
    """A client appends a card to the box during a request to the model."""
    project, http = project_and_server()
    box = str(uuid.uuid4())
    task = project.spawn("go", box=box)

    def script(request):
        if not request.results:
            project.invoke("card:add", {"card_id": "hint", "content": {"text": "use tens"},
                                        "metadata": {"type": "task.instruction"}})
            project.invoke("box:append", {"box_id": box, "card_ids": ["hint"]})
            return calls(("ns__echo", {}))
        return says("done")

    model = ModelServer(script)
    worker = Worker(project, model, tools_file(ECHO))
    project.await_status(task, "success")
    worker.stop()
    assert len(check_contexts(project, http, task, model)) == 2
    assert "use tens" in [m["content"] for m in model.requests[1].messages]


def test_a_message_during_a_turn():
    """It comes after the answer and its results, in the box and in the request."""
    project, http = project_and_server()
    task = project.spawn("first")

    def script(request):
        if request.user == "first" and not request.results:
            project.send(task, "second")
            return calls(("ns__echo", {"n": 1}))
        return says("answer to " + request.user)

    model = ModelServer(script)
    worker = Worker(project, model, tools_file(ECHO))
    project.await_status(task, "success")
    worker.stop()
    model.check()
    assert len(check_contexts(project, http, task, model)) == 2
    cards = cards_in(http, project, task_of(http, project, task)["boxId"])
    assert cards == [
        ("user.message", "first"), ("agent.thought", ""),
        ("tool.result", {"status": "success", "result": {"n": 1}}), ("user.message", "second"),
        ("agent.thought", "answer to second")], cards


def test_messages_of_other_programs():
    """An answer that another program saves during a turn comes before the calls of this turn. If it is saved before the
    model has answered at all, the user's message still gets an answer."""
    project, http = project_and_server()
    task = project.spawn("first")

    def note(text):
        project.invoke("ldg:msg:save", {"message": {
            "id": str(uuid.uuid4()), "taskId": task, "role": "assistant", "content": text, "timestamp": 1}})

    def script(request):
        if not request.results:
            note("during")
            return calls(("ns__echo", {}))
        return says("done")

    note("before")
    model = ModelServer(script)
    worker = Worker(project, model, tools_file(ECHO))
    project.await_status(task, "success")
    worker.stop()
    model.check()
    assert len(check_contexts(project, http, task, model)) == 2
    assert [text for _, text in cards_in(http, project, task_of(http, project, task)["boxId"])] == [
        "before", "first", "during", "", {"status": "success", "result": {}}, "done"]


def test_a_message_of_another_program_waits():
    """It is saved while the model answers, and then the worker is killed. The user's message still gets an answer."""
    project, http = project_and_server()
    task = project.spawn("first")
    model = ModelServer(lambda request: says("done", before=600 if len(model.requests) == 1 else 0))
    first = Worker(project, model, tools_file(ECHO), "--name", "same")
    await_(lambda: model.requests)
    project.invoke("ldg:msg:save", {"message": {
        "id": str(uuid.uuid4()), "taskId": task, "role": "system", "content": "note", "timestamp": 1}})
    first.kill()
    second = Worker(project, model, tools_file(ECHO), "--name", "same")
    project.await_status(task, "success")
    second.stop()
    assert [[m["content"] for m in request.messages] for request in model.requests] == [["first"], ["first"]]
    assert [text for _, text in cards_in(http, project, task_of(http, project, task)["boxId"])] == ["first", "note", "done"]


def test_two_tasks_with_one_box():
    """Each task reads the cards of both, and each user's message gets an answer."""
    project, http = project_and_server()
    box = str(uuid.uuid4())
    model = ModelServer(lambda request: says("done") if len(request.results) > 1 else calls(("ns__echo", {})))
    tasks = [project.spawn(goal, box=box) for goal in ("one", "two")]
    worker = Worker(project, model, tools_file(ECHO), "--concurrency", "2")
    for task in tasks:
        project.await_status(task, "success")
        assert project.texts(task)[-1] == ("assistant", "done")
    worker.stop()
    model.check()
    cards = cards_in(http, project, box)
    assert len(cards) == sum(len(check_contexts(project, http, task, model)) for task in tasks) + 2 + sum(
        len(project.calls(task)) for task in tasks), cards


def test_after_a_crash():
    """The second worker continues with the box of the first one, which was killed during a call."""
    project, http = project_and_server()
    task = project.spawn("go")
    tool = {"name": "slow", "description": "", "command": ["sh", "-c", "sleep 1000"], "timeout_ms": 900000}
    model = ModelServer(lambda request: says("done") if request.results else calls(("ns__echo", {}), ("slow", {})))
    first = Worker(project, model, tools_file(ECHO, tool), "--name", "same")
    await_(lambda: len(project.calls(task)) == 2)
    first.kill()
    second = Worker(project, model, tools_file(ECHO, tool), "--name", "same")
    project.await_status(task, "success")
    second.stop()
    model.check()
    assert len(check_contexts(project, http, task, model)) == 2
    crashed = {"error": "Process crashed during execution"}
    assert cards_in(http, project, task_of(http, project, task)["boxId"])[-2:] == [
        ("tool.result", {"status": "failed", "result": crashed}), ("agent.thought", "done")]


def test_a_task_of_an_earlier_release():
    """It has no box, and an answer during which a message arrived."""
    def spawn(project, http):
        task = project.spawn("first", box=False)
        call, at = str(uuid.uuid4()), {"taskId": task, "timestamp": 4102444800000}
        for name, role, text in (("late", "user", "second"), ("start", "assistant", "calling"), ("end", "assistant", "called")):
            project.invoke("ldg:msg:save", {"message": {"id": task + name, "role": role, "content": text, **at}})
        project.psql(f"""
            SELECT cardbox.save_message('{project.name}', '{task}asked', '{task}', 'assistant', '{{"text": ""}}',
                '{{"seen": 2, "role": "assistant"}}', '[{{"id": "{call}", "type": "function", "function":
                {{"name": "ns__echo", "arguments": "{{}}"}}}}]', NULL)""")
        project.invoke("ldg:call:save", {"call": {
            "id": call, "taskId": task, "abilityName": "ns:echo", "parameters": "{}", "status": "completed",
            "details": "{\"n\": 7}", "createdAt": 1, "updatedAt": 1, "startMessageId": task + "start",
            "endMessageId": task + "end"}})
        return task

    project, http, task, model = run(lambda request: says("done"), spawn)
    assert len(check_contexts(project, http, task, model)) == 1
    assert [(m["role"], m["content"]) for m in model.requests[0].messages] == [
        ("user", "first"), ("assistant", None), ("tool", "{\"n\": 7}"), ("user", "second")], model.requests[0].messages


def test_a_prompt_without_a_message():
    """As in a ledger that other programs have written: the model reads the system prompt of the task first."""
    def spawn(project, http):
        task = str(uuid.uuid4())
        project.invoke("ldg:task:save", {"task": {"id": task, "systemPrompt": "Be brief", "createdAt": 1, "updatedAt": 1}})
        project.send(task, "go")
        return task

    project, http, task, model = run(lambda request: says("done"), spawn)
    assert model.requests[0].messages == [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "go"}]
    assert len(check_contexts(project, http, task, model)) == 1
    assert project.texts(task) == [("user", "go"), ("assistant", "done")]


def test_results_of_any_text():
    """The JSON that the details of a call contain is the result; other text, and JSON that a card may not have, stays text."""
    project = shared()[0]
    deep = "[" * 100 + "]" * 100
    for details, result in (('{"n": 1.50}', '{"n": 1.50}'), ("7", "7"), ("plain", None), ("", None), ("{\"a\":", None),
                            ('{"a": "\\u0000\\ud800"}', '{"a": "\\u0000\\ud800"}'), ("\0", None), ("\ud800", None),
                            (deep, deep), (f"[{deep}]", None), ("[" * 50000 + "]" * 50000, None), ('["' + "[" * 200 + '"]', '["' + "[" * 200 + '"]')):
        token = json.dumps(details)
        found = project.psql(f"SELECT cardbox.inner_json({cardbox_test.literal(token)})").rstrip("\n")
        assert found == (token if result is None else result), (details[:40], found[:80])


def test_a_box_that_is_gone():
    for what in ("boxId", "contextBoxId"):
        def check(what=what):
            box = str(uuid.uuid4())

            def spawn(project, http):
                project.invoke("box:create", {"box_id": box, "card_ids": []})
                task = project.invoke("task:spawn", {"goal": "go", what: box})["taskId"]
                project.invoke("box:delete", {"box_id": box})
                return task

            reason = (f"failed: the task's box {box} was deleted" if what == "boxId"
                      else f"failed: the task's context box {box} does not exist")
            _, _, _, model = run(lambda request: says("never"), spawn, status=reason)
            assert not model.requests
        yield what, check


def test_a_box_that_is_sealed():
    """If it is sealed during a call, the next turn fails. If it is sealed during the last answer, the task ends well."""
    for name, script, status in (
            ("between", lambda seal, request: says("never") if request.results else (seal(), calls(("ns__echo", {})))[1],
             "failed: the task's box {box} is sealed"),
            ("at the end", lambda seal, request: (seal(), says("done"))[1], "success")):
        def check(script=script, status=status):
            box, where = str(uuid.uuid4()), []

            def spawn(project, http):
                where.append(project)
                return project.spawn("go", box=box)

            def seal():
                where[0].invoke("box:seal", {"box_id": box})

            _, _, _, model = run(lambda request: script(seal, request), spawn, status=status.format(box=box))
            assert len(model.requests) == 1
        yield name, check


def test_an_import_has_the_box():
    """A task that is exported, imported and continued has nothing twice in its box."""
    project, http, task, _ = run(three_calls, lambda project, http: project.spawn("Add one and two", prompt="Be brief"))
    box = task_of(http, project, task)["boxId"]
    before = get(http, project, f"boxes/{box}").json()["card_ids"]
    lines = http.get(f"/projects/{project.name}/export").body
    copy = Project(f"p{uuid.uuid4()}", project.dsn)
    done = http.request("POST", f"/projects/{copy.name}/import", lines, {"Content-Type": "application/x-ndjson"})
    assert done.status == 200, done
    found = task_of(http, copy, task)
    copy.invoke("ldg:task:save", {"task": {
        **{key: value for key, value in found.items() if key != "completionStatus"}, "updatedAt": found["updatedAt"] + 1}})
    copy.send(task, "once more")
    model = ModelServer(lambda request: says("again"))
    worker = Worker(copy, model, tools_file(ECHO))
    copy.await_status(task, "success")
    worker.stop()
    model.check()
    after = get(http, copy, f"boxes/{box}").json()["card_ids"]
    assert after[:len(before)] == before and len(after) == len(before) + 2, (before, after)
    assert messages_of(model.requests[0].text) == messages_of(get(
        http, copy, f"boxes/{box}/context?format=openai&at_length={len(before) + 1}").body.decode())


# --- routers ---


def test_a_router_waits():
    project, http = project_and_server()
    model = ModelServer(lambda request: says("answer to " + request.user))
    task = project.invoke("task:spawn", {"goal": "first", "router": True})["taskId"]
    worker = Worker(project, model, tools_file(ECHO))

    def waits(text):
        await_(lambda: project.texts(task)[-1] == ("assistant", f"answer to {text}")
               and task_of(http, project, task)["state"] == "waiting", lambda: project.story(task))
        row = next(row for row in project.tasks() if row["task_id"] == task)
        assert row["lease_owner"] is None and row["wake_at"] is None and row["completion_status"] is None, row

    waits("first")
    for text in ("second", "third"):
        project.send(task, text)
        waits(text)
    active, = project.invoke("task:active", {})["tasks"]
    assert active["state"] == "waiting" and active["router"] is True, active
    found = project.invoke("ldg:task:query", {"state": "waiting"})["tasks"]
    assert [row["id"] for row in found] == [task], found
    assert project.invoke("task:finish", {"taskId": task}) == {"success": True}
    assert project.status(task) == "success"
    assert project.invoke("task:finish", {"taskId": task}) == {
        "success": False, "error": f"Task {task} is already completed"}
    worker.stop()
    model.check()
    assert len(check_contexts(project, http, task, model)) == 3


def test_a_message_to_a_router_during_its_answer():
    project, http = project_and_server()
    task = project.spawn("first", router=True)

    def script(request):
        if request.user == "first":
            project.send(task, "second")
        return says("answer to " + request.user)

    model = ModelServer(script)
    worker = Worker(project, model, tools_file(ECHO))
    await_(lambda: len(project.texts(task)) == 4)
    await_(lambda: task_of(http, project, task)["state"] == "waiting")
    assert project.cancel(task) == 3
    worker.stop()
    assert len(check_contexts(project, http, task, model)) == 2


def test_a_router_counts_its_requests_for_each_message():
    project, _ = project_and_server()
    task = project.spawn("first", router=True)

    def script(request):
        if request.user == "first" and request.answered == 1:
            project.send(task, "second")
        return says("done") if len(request.results) == 2 and request.user == "second" else calls(("ns__echo", {}))

    model = ModelServer(script)
    worker = Worker(project, model, tools_file(ECHO), "--max-iterations", "3")
    await_(lambda: project.texts(task)[-1] == ("assistant", "done"), lambda: project.texts(task))
    assert len(model.requests) == 5 and project.status(task) is None
    project.cancel(task)
    worker.stop()


def test_a_running_task_is_finished():
    project, _ = project_and_server()
    model = ModelServer(lambda request: says("word " * 2000, pause=0.05))
    task = project.spawn("go")
    worker = Worker(project, model, tools_file(ECHO))
    await_(lambda: model.requests)
    assert project.invoke("task:finish", {"taskId": task, "completionStatus": "enough"}) == {"success": True}
    await_(lambda: worker.events("task_left"), worker.log)
    worker.stop()
    assert project.status(task) == "enough" and project.texts(task) == [("user", "go")]


if __name__ == "__main__":
    cardbox_test.main()

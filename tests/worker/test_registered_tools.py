#!/usr/bin/env python3
"""Registered abilities as tools: a worker's model calls those of the task's project."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import WAIT_S, await_, literal
from model_server import ModelServer, calls, says
from outside_server import OutsideServer, Reply
from worker_test import Project, Worker

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def register(project, ability, outside, name=None, **members):
    value = {"description": "Finds what was said before", "input": TEXT, "output": TEXT, "headers": {"X-Key": "k"},
             "timeout": 5000, **members}
    texts = [name or project.name, ability, value["description"], json.dumps(value["input"]), json.dumps(value["output"]),
             outside.url, json.dumps(value["headers"])]
    assert project.psql(f"SELECT cardbox.save_ability({', '.join(map(literal, texts))}, {value['timeout']}, '[]', 200)") == "t\n"


def script(*wanted):
    """A model that calls these tools, and then repeats their results."""
    return ModelServer(lambda request: says(" | ".join(request.results)) if request.answered else calls(*wanted))


def echo():
    return OutsideServer(lambda request: {"text": request.json["text"] + "!"})


def offered(model):
    return [tool["function"]["name"] for tool in model.requests[-1].body.get("tools", [])]


def run(project, model, *options):
    worker = Worker(project, model, None, "--abilities-allow-private", *options)
    task = project.spawn("go")
    project.await_status(task, "success")
    worker.stop()
    return task, worker


def test_model_calls_one():
    project, outside, model = Project(), echo(), script(("mem__retrieve", {"text": "hello"}))
    register(project, "mem:retrieve", outside)
    task, _ = run(project, model, "--allow-abilities", "mem:retrieve,task:send,mem:other")
    assert offered(model) == ["task__send", "mem__retrieve"], model.requests[-1].body["tools"]
    tool = model.requests[-1].body["tools"][1]["function"]
    assert tool["description"] == "Finds what was said before" and tool["parameters"] == TEXT, tool
    call, = project.calls(task)
    assert call["ability"] == "mem:retrieve" and call["status"] == "completed", call
    assert project.texts(task)[-1][1] == '{"text": "hello!"}', project.texts(task)
    request, = outside.requests
    assert (request.headers["X-Caller-Id"], request.headers["X-Project-Id"], request.headers["X-Key"]) == (task, "acme", "k")
    assert request.headers["X-Call-Id"] == call["call_id"], (request.headers.items(), call)


def test_failures_reach_the_model():
    replies = {"status": Reply(500, b"broken"), "json": Reply(200, b"no"), "output": {"text": 1}}
    outside = OutsideServer(lambda request: replies[request.json["text"]])
    project = Project()
    model = script(*(("mem__retrieve", {"text": text}) for text in replies), ("mem__retrieve", {"text": 5}))
    register(project, "mem:retrieve", outside)
    task, _ = run(project, model, "--allow-abilities", "mem:retrieve")
    assert [call["status"] for call in project.calls(task)] == ["failed"] * 4
    said = project.texts(task)[-1][1]
    for words in ("status 500: broken", "not valid JSON", "violates its schema", '/text: expected'):
        assert words in said, said


def test_private_addresses_are_refused():
    project, outside, model = Project(), echo(), script(("mem__retrieve", {"text": "x"}))
    register(project, "mem:retrieve", outside)
    worker = Worker(project, model, None, "--allow-abilities", "mem:retrieve")
    task = project.spawn("go")
    project.await_status(task, "success")
    worker.stop()
    assert "--abilities-allow-private" in project.texts(task)[-1][1] and not outside.requests, project.texts(task)


def test_other_projects_abilities():
    """A worker of two projects offers to each task those of its own project only."""
    both = Project("both")
    outside, model = echo(), ModelServer(lambda request: says("done"))
    register(both, "mem:retrieve", outside, name="one")
    register(both, "mem:forget", outside, name="two")
    worker = Worker(Project("one,two", both.dsn), model, None, "--allow-abilities", "mem:retrieve,mem:forget")
    for name, tool in ("one", "mem__retrieve"), ("two", "mem__forget"):
        project = Project(name, both.dsn)
        project.await_status(project.spawn(f"go {name}"), "success")
        assert offered(model) == [tool], (name, offered(model))
    worker.stop()


def test_abilities_that_are_no_tools():
    """Left out and logged: another schema than of an object, and a name that is equal in the model's API."""
    project, outside, model = Project(), echo(), ModelServer(lambda request: says("done"))
    register(project, "mem:any", outside, input={})
    register(project, "a:b__c", outside)
    register(project, "a:b:c", outside)
    _, worker = run(project, model, "--allow-abilities", "mem:any,a:b__c,a:b:c,not:there")
    assert offered(model) == ["a__b__c"], offered(model)
    assert len(worker.events("ability_not_offered")) == 2, worker.log()


def test_stop_during_a_call():
    """A worker that stops does not wait for the URL: the call fails, and the task is handed back."""
    project, model = Project(), script(("mem__retrieve", {"text": "x"}))
    outside = OutsideServer(lambda _: outside.stopped.wait(WAIT_S) and {})
    register(project, "mem:retrieve", outside, timeout=600000)
    worker = Worker(project, model, None, "--abilities-allow-private", "--allow-abilities", "mem:retrieve", "--drain-timeout-ms", "100")
    task = project.spawn("go")
    await_(lambda: outside.requests)
    worker.stop()
    call, = project.calls(task)
    assert call["status"] == "failed" and "stopped" in call["details"], call


if __name__ == "__main__":
    cardbox_test.main()

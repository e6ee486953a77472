#!/usr/bin/env python3
"""kill -9 of a worker at random moments, while another one runs. Each task ends once, no call runs
twice, running calls are marked as failed, and no message is lost or repeated. A worker that was
suspended and continues can't write. CARDBOX_KILLS is the number of kills (default 8)."""

import json
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from model_server import ModelServer, calls, says
from worker_test import Project, Worker, await_, tools_file

KILLS = int(os.environ.get("CARDBOX_KILLS", 4 if cardbox_test.LIGHT else 8))
TURNS = 4  # calls of each task


def model(request):
    if request.answered < TURNS:
        return calls(("note", {"task": request.user, "turn": request.answered}), text="hm", pause=0.004)
    return says("done with " + request.user, pause=0.002)


def tool(directory):
    """A tool that creates a file for each run of a call, because no call may run twice."""
    return tools_file({"name": "note", "description": "Notes", "command": [
        "sh", "-c", f"mktemp {directory}/$CARDBOX_CALL_ID.XXXXXX >/dev/null; sleep 0.05; echo ok"]})


def start(project, server, tools, name):
    return Worker(project, server, tools, "--name", name, "--lease-s", "1", "--max-attempts", "1000",
                  "--max-iterations", "1000", "--concurrency", "4", "--poll-ms", "200")


def check_task(project, task, goal):
    story, texts = project.story(task), project.texts(task)
    assert story.count("completed success") == 1 and story[-1] == "completed success", story
    assert texts[0] == ("user", goal) and texts[-1] == ("assistant", "done with " + goal), texts
    assert texts.count(texts[-1]) == 1
    made = project.calls(task)
    ends = [call["end_message_id"] for call in made]
    assert all(ends) and len(set(ends)) == len(ends), made
    for call in made:
        assert call["status"] in ("completed", "failed"), call
        if call["status"] == "failed":
            assert json.loads(call["details"]) == {"error": "Process crashed during execution"}, call
    starts = {call["start_message_id"] for call in made}
    assert len(starts) == len(made)
    about_calls = starts | set(ends)
    for message in project.messages(task):
        if message["message_id"] not in about_calls and message["role"] == "assistant":
            assert message["text"] in ("hm", "done with " + goal), message
        if message["message_id"] in ends and message["text"].startswith("note failed"):
            assert message["text"] == "note failed due to process crash", message
    return made


def test_kill():
    rng = random.Random(os.environ.get("CARDBOX_SEED", 7))
    project, server = Project(), ModelServer(model)
    directory = cardbox_test.temp_dir()
    tools = tool(directory)
    workers = {name: start(project, server, tools, name) for name in ("one", "two")}
    tasks = {}
    for number in range(KILLS):
        tasks.update(project.spawn_many(len(tasks), 6))
        time.sleep(rng.uniform(0.05, 0.6))
        name = ("one", "two")[number % 2]
        workers[name].process.kill()
        workers[name].process.wait()
        # under another name its tasks wait for the end of their leases, under its own they don't
        workers[name] = start(project, server, tools, name if rng.random() < 0.5 else f"{name}{number}")
    for task, goal in tasks.items():
        project.await_status(task, "success")
    for worker in workers.values():
        worker.stop()
    server.check()
    made = [call for task, goal in tasks.items() for call in check_task(project, task, goal)]
    ran = [name.split(".")[0] for name in os.listdir(directory)]
    assert len(set(ran)) == len(ran), "a call ran twice"
    assert set(ran) <= {call["call_id"] for call in made}
    assert {call["call_id"] for call in made if call["status"] == "completed"} <= set(ran)
    twice = project.psql("SELECT b.box_id, e.id FROM cardbox.boxes b, jsonb_array_elements(b.card_ids) AS e(id) "
                         "GROUP BY 1, 2 HAVING count(*) > 1")
    assert not twice, twice
    boxed = int(project.psql("SELECT sum(length) FROM cardbox.boxes"))
    about_calls = {call[member] for call in made for member in ("start_message_id", "end_message_id")}
    read = sum(m["message_id"] not in about_calls for task in tasks for m in project.messages(task))
    assert boxed == read + len(made), "each message for the model and each result is in a box once"
    failed = sum(call["status"] == "failed" for call in made)
    print(f"        {KILLS} kills, {len(tasks)} tasks, {len(made)} calls, {failed} of them failed")


def test_a_worker_that_slept_can_not_write():
    """A worker is suspended during a tool call, another one claims its task, and the first one continues."""
    project, server = Project(), ModelServer(
        lambda request: says("done") if request.results else calls(("slow", {})))
    task = project.spawn("go")
    go = os.path.join(cardbox_test.temp_dir(), "go")
    tools = tools_file({"name": "slow", "description": "",
                        "command": ["sh", "-c", f"until [ -e {go} ]; do sleep 0.1; done; echo late"]})
    first = start(project, server, tools, "first")
    await_(lambda: project.calls(task))
    first.signal(signal.SIGSTOP)
    second = start(project, server, tools, "second")
    project.await_status(task, "success")
    story = project.story(task)
    with open(go, "wb"):
        pass
    first.signal(signal.SIGCONT)
    await_(lambda: first.events("task_left"), first.log)
    assert first.events("task_left")[0]["end"] == "lost", first.log()
    assert project.story(task) == story
    assert [json.loads(call["details"]) for call in project.calls(task)] == [
        {"error": "Process crashed during execution"}]
    first.stop()
    second.stop()


def test_attempts_are_bounded():
    project, server = Project(), ModelServer(lambda request: says("never", before=600))
    task = project.spawn("go")
    for _ in range(2):
        worker = Worker(project, server, None, "--name", "same", "--max-attempts", "2")
        await_(lambda: worker.events("task_claimed"))
        worker.kill()
    worker = Worker(project, server, None, "--name", "same", "--max-attempts", "2")
    status = project.await_end(task)
    assert status == "failed: No worker finished a turn of it in 2 attempts", status
    assert len(worker.events("task_given_up")) == 1
    worker.stop()


def test_a_project_that_is_named_twice():
    """A worker claims the tasks of a worker with its name once: two attempts, not three."""
    project, server = Project(), ModelServer(lambda request: says("never", before=600))
    project.spawn("go")
    for attempts in (1, 2):
        worker = Worker(project, server, None, "--name", "same", "--project", "acme,acme")
        await_(lambda: worker.events("task_claimed"))
        assert project.tasks()[0]["attempts"] == attempts, worker.log()
        worker.kill()


if __name__ == "__main__":
    cardbox_test.main()

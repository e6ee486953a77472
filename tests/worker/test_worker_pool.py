#!/usr/bin/env python3
"""Several workers run many tasks. Every task ends, one worker runs it, and the workers send no more
statements than necessary. CARDBOX_TASKS is the number of tasks."""

import collections
import datetime
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from model_server import ModelServer, calls, says
from worker_test import Project, Worker, await_, tools_file

TASKS = int(os.environ.get("CARDBOX_TASKS", 60 if cardbox_test.LIGHT else 200))
WORKERS = 4


def counting_project():
    project = Project()
    project.psql("ALTER DATABASE \"" + project.psql("SELECT current_database()").strip() +
                 "\" SET track_functions = 'all'")
    return project


def statements(project):
    """The number of calls of each SQL function. PostgreSQL counts the calls of a session when it ends."""
    await_(lambda: not project.rows("SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                                    "AND pid <> pg_backend_pid()"))
    rows = project.rows("SELECT funcname AS name, calls FROM pg_stat_user_functions")
    return collections.Counter({row["name"]: row["calls"] for row in rows})


def test_many_tasks():
    project = counting_project()
    server = ModelServer(lambda request: says("done") if request.results else calls(("true", {})))
    tools = tools_file({"name": "true", "description": "", "command": ["true"]})
    workers = [Worker(project, server, tools, "--concurrency", "8") for _ in range(WORKERS)]
    began = time.monotonic()
    project.spawn_many(1, TASKS)
    done = "SELECT count(*) FROM cardbox.tasks WHERE completion_status = 'success'"
    await_(lambda: int(project.psql(done)) == TASKS, lambda: project.psql(
        "SELECT completion_status, count(*) FROM cardbox.tasks GROUP BY 1"))
    for worker in workers:
        worker.stop()
    seconds = time.monotonic() - began
    server.check()
    ran = [row["task"] for worker in workers for row in worker.events("task_left")]
    assert len(ran) == len(set(ran)) == TASKS, "a task was run twice"
    assert len(server.requests) == 2 * TASKS
    counted = statements(project)
    looks = WORKERS * (seconds / 2.5 + 4)  # one by each listener, and polls at half of their interval or more
    assert counted["claim_tasks"] <= TASKS + looks, counted
    assert counted["renew_tasks"] <= WORKERS * (seconds / 2 + 2), counted
    assert counted["write_task"] == 4 * TASKS, counted
    print(f"        {TASKS} tasks in {seconds:.1f} s: {counted['claim_tasks']} claims, "
          f"{counted['renew_tasks']} renewals, {counted['write_task']} writes")


def test_an_idle_worker_is_quiet():
    project = counting_project()
    began = time.monotonic()
    worker = Worker(project, "http://127.0.0.1:1", None, "--poll-ms", "1000")
    time.sleep(6)
    worker.stop()
    seconds = time.monotonic() - began
    counted = statements(project)
    assert 3 <= counted["claim_tasks"] <= seconds / 0.5 + 3, (seconds, counted)
    assert counted["renew_tasks"] == counted["notify_workers"] == 0, counted


def test_a_task_is_taken_at_once_when_it_is_announced():
    server, project = ModelServer(lambda request: says("done")), Project()
    worker = Worker(project, server, None, "--poll-ms", "3600000")
    time.sleep(0.5)
    task = project.spawn("go")
    project.await_status(task, "success")
    worker.stop()


def test_a_lost_listener_is_opened_again():
    """The worker does not poll repeatedly in the meantime."""
    server, project = ModelServer(lambda request: says("done")), counting_project()
    worker = Worker(project, server, None, "--poll-ms", "3600000")
    time.sleep(0.5)
    project.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                 "current_database() AND pid <> pg_backend_pid()")
    for _ in range(2):  # the first may be found because the listener was lost
        project.await_status(project.spawn("go"), "success")
    worker.stop()
    assert statements(project)["claim_tasks"] <= 20, statements(project)


def test_without_notifications():
    """Through a connection pooler, tasks are found by polling."""
    server, project = ModelServer(lambda request: says("done")), Project()
    worker = Worker(project, server, None, "--poll-ms", "100", "--no-prepared-statements")
    task = project.spawn("go")
    project.await_status(task, "success")
    worker.stop()


def test_claims_that_fail():
    """Failed claims are repeated after growing delays, even if a slot becomes free in between."""
    answer = threading.Event()
    server, project = ModelServer(lambda request: says("done", until=answer.is_set)), Project()
    worker = Worker(project, server, None, "--concurrency", "2", "--poll-ms", "10")
    task = project.spawn("go")
    await_(lambda: server.requests)
    project.psql("ALTER FUNCTION cardbox.claim_tasks RENAME TO not_there")
    await_(lambda: worker.events("claim_failed"))
    answer.set()
    project.await_status(task, "success")
    await_(lambda: worker.events("task_left"))
    before = len(worker.events("claim_failed"))
    await_(lambda: len(worker.events("claim_failed")) >= before + 3)
    moments = [datetime.datetime.fromisoformat(one["ts"].rstrip("Z")) for one in worker.events("claim_failed")]
    assert moments[before + 2] - moments[before + 1] >= datetime.timedelta(seconds=0.1), moments[-5:]
    project.psql("ALTER FUNCTION cardbox.not_there RENAME TO claim_tasks")
    project.await_status(project.spawn("go"), "success")
    worker.stop()


if __name__ == "__main__":
    cardbox_test.main()

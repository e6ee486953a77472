"""Shared code of the tests of cardbox-worker: a project in a database, and workers that run its tasks."""

import json
import os
import re
import signal
import subprocess
import uuid

import cardbox_test
from cardbox_test import WAIT_S, Postgres, as_role, at_end, await_, literal, temp_dir


def tools_file(*tools):
    path = os.path.join(temp_dir(), "tools.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"tools": tools}, file)
    return path


class Project:
    """A project in a database. Its ledger is read with SQL."""

    def __init__(self, name="acme", dsn=None):
        self.name = name
        self.dsn = dsn or Postgres.shared().database()

    def psql(self, sql):
        return Postgres.shared().psql(self.dsn, sql)

    def rows(self, sql):
        return [json.loads(line) for line in
                self.psql(f"SELECT row_to_json(q) FROM ({sql}) AS q").splitlines()]

    def invoke(self, ability, value):
        """Invokes an ability with the command line, as the owner of the database."""
        done = cardbox_test.cardbox("ability", "invoke", "--dsn", self.dsn, "--project", self.name,
                                    ability, json.dumps(value))
        return json.loads(done.stdout)

    def spawn(self, goal, prompt=None, parent=None, box=True, context=None, router=False):
        """Creates a task as task:spawn does, but without the default system message, and notifies workers. If `box` is
        False, the task has no box, like a task of an earlier release."""
        task = str(uuid.uuid4())
        given = json.dumps({"parent": parent, "box": str(uuid.uuid4()) if box is True else box or None,
                            "context": context, "router": router})
        contents = [("system", prompt), ("user", goal)] if prompt else [("user", goal)]
        messages = json.dumps([{"id": str(uuid.uuid4()), "role": role, "metadata": {
            "type": f"{role}.message", "role": role, "task_id": task}} for role, _ in contents])
        bodies = ",".join(literal(json.dumps({"__type__": "TextContent", "text": text})) + "::json"
                          for _, text in contents)
        self.psql(f"SELECT cardbox.create_task({literal(self.name)}, {literal(task)}, "
                  f"{literal(given)}::jsonb, {literal(json.dumps(prompt or ''))}::json, "
                  f"{literal(messages)}::jsonb, ARRAY[{bodies}]);"
                  f"SELECT cardbox.notify_workers(ARRAY[{literal(self.name)}])")
        return task

    def spawn_many(self, first, count):
        """Creates task-FIRST and the following ones, with goals "goal N", at one time."""
        content = "json_build_object('__type__', 'TextContent', 'text', 'goal ' || i)"
        self.psql(
            f"SELECT count(cardbox.create_task({literal(self.name)}, 'task-' || i, "
            "jsonb_build_object('box', gen_random_uuid()), '\"\"'::json, "
            "jsonb_build_array(jsonb_build_object('id', 'goal-' || i, 'role', 'user', 'metadata', "
            "jsonb_build_object('type', 'user.message', 'role', 'user', 'task_id', 'task-' || i))), "
            f"ARRAY[{content}])) FROM generate_series({first}, {first + count - 1})"
            f" AS i; SELECT cardbox.notify_workers(ARRAY[{literal(self.name)}])")
        return {f"task-{i}": f"goal {i}" for i in range(first, first + count)}

    def send(self, task, text):
        body = literal(json.dumps({"__type__": "TextContent", "text": text}))
        metadata = literal(json.dumps({"type": "user.message", "role": "user", "task_id": task}))
        return int(self.psql(
            f"SELECT cardbox.send_to_task({literal(self.name)}, {literal(task)}, "
            f"{literal(uuid.uuid4())}, {body}::json, {metadata}::jsonb);").split()[0])

    def cancel(self, task):
        return int(self.psql(f"SELECT cardbox.cancel_task({literal(self.name)}, {literal(task)}, "
                             f"'\"no more\"')"))

    # --- reads ---

    def status(self, task):
        row = self.rows("SELECT completion_status AS s FROM cardbox.tasks "
                        f"WHERE tenant_id = {literal(self.name)} AND task_id = {literal(task)}")
        return row[0]["s"]

    def tasks(self):
        return self.rows("SELECT * FROM cardbox.tasks WHERE tenant_id = "
                         f"{literal(self.name)} ORDER BY created_at, task_id")

    def messages(self, task):
        return self.rows(
            "SELECT m.message_id, m.role, m.seq, c.content -> 'text' AS text, c.metadata, c.tool_calls "
            "FROM cardbox.messages m JOIN cardbox.cards c ON c.tenant_id = m.tenant_id AND "
            f"c.card_id = m.message_id WHERE m.tenant_id = {literal(self.name)} AND m.task_id = "
            f"{literal(task)} ORDER BY m.ts, m.seq")

    def texts(self, task):
        return [(m["role"], m["text"]) for m in self.messages(task)]

    def calls(self, task):
        rows = self.rows("SELECT call_id, ability_name AS ability, status, parameters, details, "
                         "start_message_id, end_message_id FROM cardbox.calls WHERE tenant_id = "
                         f"{literal(self.name)} AND task_id = {literal(task)} ORDER BY created_at, seq")
        return rows

    def story(self, task):
        """The events of a task, in order: "call pending", "message user", ..."""
        rows = self.rows(f"SELECT what, how FROM cardbox.task_events WHERE tenant_id = "
                         f"{literal(self.name)} AND task_id = {literal(task)} ORDER BY n")
        return [row["what"] if row["what"] == "claimed" or not row["how"]
                else f"{row['what']} {row['how']}" for row in rows]

    def await_status(self, task, expected):
        status = self.await_end(task)
        assert status == expected, (status, self.texts(task))

    def await_end(self, task):
        await_(lambda: self.status(task) is not None, lambda: self.story(task))
        return self.status(task)


class Worker:
    """A running cardbox-worker, with the role of the service."""

    def __init__(self, project, model, tools=None, *options, env=None, program=None):
        self.log_path = os.path.join(temp_dir(), "worker.log")
        command = [program or os.path.join(cardbox_test.BUILD, "bin", "cardbox-worker"),
                   "--dsn", as_role(project.dsn, "cardbox_app"), "--project", project.name,
                   "--model-url", model if isinstance(model, str) else model.url, "--model", "scripted",
                   "--model-retry-ms", "10", *(["--tools", tools] if tools else []), *options]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log,
                                            start_new_session=True, env={**os.environ, **(env or {})})
        at_end(self._end)
        line = self.process.stdout.readline().decode()
        assert line.startswith("ready: "), f"{line!r}\n{self.log()}"

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def _end(self):
        self.kill()
        self._check_log()

    def _check_log(self):
        assert not cardbox_test.SANITIZER_REPORT.search(self.log().encode()), self.log()

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def stop(self, wait=WAIT_S):
        self.signal()
        self.wait(wait)

    def wait(self, wait=WAIT_S):
        status = self.process.wait(wait)
        self._check_log()
        assert status == 0, f"exit status {status}\n{self.log()}"

    def events(self, name):
        """The lines of the log of this event, as dicts."""
        lines = [line for line in self.log().splitlines() if f" event={name} " in line + " "]
        return [dict(re.findall(r'(\w+)=("(?:\\.|[^"])*"|\S*)', line)) for line in lines]

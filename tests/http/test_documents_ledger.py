#!/usr/bin/env python3
"""What the ledger's document requires, line by line, over HTTP. Rows marked "argued" are differences with a written
reason: they are tested as they are."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import connected, dsn, once, psql
from document_rows import Project, Rows

row = Rows("ledger")


def save_task(p, identifier="t", status=200, **members):
    task = {"id": identifier, "systemPrompt": "You count birds.", "createdAt": 1000, "updatedAt": 1000, **members}
    p.invoke("ldg:task:save", {"task": task}, status)
    return task


def save_message(p, identifier="m", status=200, **members):
    message = {"id": identifier, "taskId": "t", "role": "user", "content": "hi", "timestamp": 1000, **members}
    p.invoke("ldg:msg:save", {"message": message}, status)
    return message


def save_call(p, identifier="c", expect=200, **members):
    call = {"id": identifier, "taskId": "t", "abilityName": "mem:retrieve", "parameters": '{"q":1}', "status": "pending",
            "details": "{}", "createdAt": 1000, "updatedAt": 1000, "startMessageId": "m", **members}
    p.invoke("ldg:call:save", {"call": call}, expect)
    return call


FIELDS = ("id", "parentTaskId", "completionStatus", "systemPrompt", "createdAt", "updatedAt")


def task_of(p, identifier="t"):
    """The document's fields of a task: a task has further ones."""
    return {name: value for name, value in p.invoke("ldg:task:get", {"taskId": identifier})["task"].items() if name in FIELDS}


def calls_of(p):
    return p.invoke("ldg:call:list", {"taskId": "t"})["calls"]


def messages_of(p, **page):
    return p.invoke("ldg:msg:list", {"taskId": "t", **page})


def query(p, status=200, **filters):
    return p.invoke("ldg:task:query", filters, status)


def found(p, **filters):
    return [task["id"] for task in query(p, **filters)["tasks"]]


def task_with_call(p, **members):
    save_task(p)
    save_message(p)
    return save_call(p, **members)


# --- overview ---


@row("7,224", "seven abilities ldg:ENTITY:ACTION on the bus")
def _(p):
    names = [ability["id"] for ability in p.invoke("bus:abilities", {"moduleName": "ldg"})["abilities"]]
    assert sorted(names) == ["ldg:call:list", "ldg:call:save", "ldg:msg:list", "ldg:msg:save", "ldg:task:get", "ldg:task:query",
                             "ldg:task:save"], names


@row("13", "rows of an existing SQLite ledger are taken over")
def _(p):
    rows = [{"kind": "task", "id": "t", "parent_task_id": None, "completion_status": None, "system_prompt": "x", "created_at": 1,
             "updated_at": 2},
            {"kind": "message", "id": "m", "task_id": "t", "role": "user", "content": "hi", "timestamp": 3},
            {"kind": "call", "id": "c", "task_id": "t", "ability_name": "mem:retrieve", "parameters": "{}", "status": "failed",
             "details": "no JSON", "created_at": 4, "updated_at": 5, "start_message_id": "m", "end_message_id": None}]
    counts = p.request("POST", "/import", "\n".join(map(json.dumps, rows)).encode(), Content_Type="application/x-ndjson").json()
    assert [counts[kind]["inserted"] for kind in ("tasks", "messages", "calls")] == [1, 1, 1], counts
    assert task_of(p) == {"id": "t", "systemPrompt": "x", "createdAt": 1, "updatedAt": 2}
    assert calls_of(p)[0]["details"] == "no JSON", calls_of(p)


@row("13,109 (argued)", "PostgreSQL instead of SQLite")
def _(p):
    save_task(p)
    assert psql(dsn(), f"SELECT count(*) FROM cardbox.tasks WHERE tenant_id = '{p.name}'") == "1\n"


@row("18,88", "messages are never changed, not even with SQL")
def _(p):
    save_task(p)
    save_message(p)
    with connected(dsn(), "postgres") as superuser:
        for sql in ("UPDATE cardbox.messages SET role = 'system'", "DELETE FROM cardbox.messages"):
            superuser.send(f"{sql} WHERE tenant_id = '{p.name}'")
            assert "ERROR:" in superuser.receive()
    assert messages_of(p)["total"] == 1


# --- tasks ---


@row("31-39", "a task has the six fields, the times as numbers")
def _(p):
    save_task(p, "parent")
    task = save_task(p, parentTaskId="parent", completionStatus="success", updatedAt=2000)
    assert task_of(p) == task


@row("34", "a completionStatus of null is a task in progress")
def _(p):
    save_task(p, completionStatus=None, parentTaskId=None)
    assert task_of(p) == {"id": "t", "systemPrompt": "You count birds.", "createdAt": 1000, "updatedAt": 1000}
    assert found(p, completionStatus="null") == ["t"]


@row("34", "null is not given in each optional field: endMessageId, parentTaskId of task:spawn, filters")
def _(p):
    task_with_call(p, endMessageId=None)
    assert "endMessageId" not in calls_of(p)[0]
    p.invoke("task:spawn", {"goal": "x", "parentTaskId": None, "systemPrompt": None})
    assert query(p, parentTaskId=None, fromTime=None, toTime=None, limit=None, offset=None)["total"] == 2
    assert messages_of(p, limit=None, offset=None)["total"] == 1
    p.invoke("task:active", {"limit": None})


@row("34,300", "... but a completionStatus of null in a query is refused, with the hint to send the text null")
def _(p):
    detail = query(p, 422, completionStatus=None)["detail"]
    assert '"null"' in json.dumps(detail).replace('\\"', '"'), detail


@row("35", "completionStatus is success, cancelled, failed or the text of an error")
def _(p):
    for status in ("success", "cancelled", "failed", "failed: the model is away", "something odd"):
        save_task(p, status, completionStatus=status)
        assert task_of(p, status)["completionStatus"] == status


@row("35", "a text of an error has up to 64 KiB, and is found as failed")
def _(p):
    text = "failed: " + "x" * (65536 - 8)
    save_task(p, completionStatus=text)
    assert task_of(p)["completionStatus"] == text
    assert found(p, completionStatus="failed") == ["t"]
    save_task(p, "longer", 422, completionStatus=text + "x")


@row("16,42", "completionStatus and updatedAt can be updated")
def _(p):
    save_task(p)
    task = save_task(p, completionStatus="success", updatedAt=2000)
    assert task_of(p) == task


@row("42", "the rest of a task can't be updated")
def _(p):
    save_task(p)
    for members in ({"systemPrompt": "other"}, {"createdAt": 1}, {"parentTaskId": "t2"}):
        save_task(p, "t2")
        save_task(p, status=409, updatedAt=2000, **members)
    assert task_of(p)["updatedAt"] == 1000


@row("228-244 (argued)", "further members of a task are refused, and so is a missing systemPrompt")
def _(p):
    save_task(p, status=422, metadata={})
    p.invoke("ldg:task:save", {"task": {"id": "t", "createdAt": 1, "updatedAt": 1}}, 422)


@row("228-244", "numbers: integral floats are integers, fractions of times are cut")
def _(p):
    save_task(p, createdAt=1000.0, updatedAt=1000.75)
    assert task_of(p) == {"id": "t", "systemPrompt": "You count birds.", "createdAt": 1000, "updatedAt": 1000}
    save_message(p, timestamp=1000.9)
    save_call(p, createdAt=1000.5, updatedAt=1e3)
    assert (messages_of(p)["messages"][0]["timestamp"], calls_of(p)[0]["createdAt"]) == (1000, 1000)


@row("246-255", "a save answers {success}")
def _(p):
    task = {"id": "t", "systemPrompt": "", "createdAt": 1, "updatedAt": 1}
    assert p.invoke("ldg:task:save", {"task": task}) == {"success": True}


@row("257", "a save creates and updates; the same save again changes nothing")
def _(p):
    for updated, completion in ((2000, "failed: x"), (3000, "success"), (3000, "success")):
        save_task(p, completionStatus=completion, updatedAt=updated)
    assert task_of(p)["completionStatus"] == "success"


@row("257 (argued)", "a save with an older updatedAt does not reopen a finished task")
def _(p):
    save_task(p, completionStatus="success", updatedAt=2000)
    save_task(p, status=409)
    assert task_of(p)["completionStatus"] == "success"


@row("259-286", "ldg:task:get gives the task, or null")
def _(p):
    task = save_task(p)
    assert task_of(p) == task
    assert p.invoke("ldg:task:get", {"taskId": "nobody"}) == {"task": None}


# --- queries of tasks ---


def some_tasks(p):
    """a to d, made at 1000 to 4000; b is a child of a, and c has ended."""
    save_task(p, "a", createdAt=1000)
    save_task(p, "b", createdAt=2000, updatedAt=2000, parentTaskId="a")
    save_task(p, "c", createdAt=3000, updatedAt=3000, completionStatus="success")
    save_task(p, "d", createdAt=4000, updatedAt=4000)


QUERIES = [
    ("327-343", "all tasks without a filter, newest first (744)", {}, "dcba"),
    ("300,218,345-354", "the text null finds active tasks", {"completionStatus": "null", "limit": 10}, "dba"),
    ("288,218", "a completionStatus finds its tasks", {"completionStatus": "success"}, "c"),
    ("303,219", "subtasks of a parent", {"parentTaskId": "a"}, "b"),
    ("307-314,217", "between two times, both inclusive", {"fromTime": 2000, "toTime": 3000}, "cb"),
    ("307-314", "a fraction of a time is cut", {"fromTime": 2000.9, "toTime": 3000.2}, "cb"),
    ("307-314", "times before 1970 and after the year 9999", {"fromTime": -5, "toTime": 1e15}, "dcba"),
    ("307-314", "a toTime before 1970 finds nothing", {"toTime": -1}, ""),
    ("315-319", "limit", {"limit": 2}, "dc"),
    ("315-319", "a limit that is an integral float", {"limit": 2.0}, "dc"),
    ("315", "a limit below 1 counts as 1", {"limit": 0}, "d"),
    ("315", "... and so does a negative one", {"limit": -3}, "d"),
    ("315", "a limit above the maximum counts as the maximum", {"limit": 1000000}, "dcba"),
    ("320-324", "offset", {"offset": 1, "limit": 2}, "cb"),
    ("320-324", "an offset behind the end", {"offset": 4}, ""),
    ("320-324", "a negative offset counts as 0", {"offset": -1}, "dcba"),
]


def test_queries():
    @once
    def project():
        p = Project()
        some_tasks(p)
        return p

    def check(filters, wanted):
        answer = query(project(), **filters)
        assert [task["id"] for task in answer["tasks"]] == list(wanted), answer
        every = query(project(), **{name: value for name, value in filters.items() if name not in ("limit", "offset")})
        assert answer["total"] == every["total"] == len(every["tasks"]), answer
    for lines, requires, filters, wanted in QUERIES:
        yield f"ledger:{lines} {requires}", lambda filters=filters, wanted=wanted: check(filters, wanted)


@row("315-319", "the default limit is 100, and the total counts all tasks")
def _(p):
    tasks = [{"kind": "task", "id": f"t{n}", "system_prompt": "", "created_at": n, "updated_at": n} for n in range(130)]
    p.request("POST", "/import", "\n".join(map(json.dumps, tasks)).encode(), Content_Type="application/x-ndjson")
    answer = query(p)
    assert (len(answer["tasks"]), answer["total"], answer["tasks"][0]["id"]) == (100, 130, "t129"), answer


# --- calls ---


@row("46-58", "a call has the ten fields, the times as numbers")
def _(p):
    call = task_with_call(p, status="completed", endMessageId="m", updatedAt=2000, details='{"n":3}')
    assert calls_of(p) == [call]


@row("60-65", "the status of a call is pending, in_progress, completed or failed, and no other")
def _(p):
    task_with_call(p)
    for status in ("pending", "in_progress", "completed", "failed"):
        p.invoke("ldg:call:save", {"call": {**calls_of(p)[0], "id": status, "status": status}})
    p.invoke("ldg:call:save", {"call": {**calls_of(p)[0], "id": "odd", "status": "done"}}, 422)
    assert len(calls_of(p)) == 5


@row("17,67,387", "status, details, updatedAt and endMessageId of a call can be updated")
def _(p):
    call = task_with_call(p)
    save_message(p, "end", timestamp=2000)
    for changes in ({"status": "in_progress", "updatedAt": 1500},
                    {"status": "completed", "updatedAt": 2000, "details": '"3"', "endMessageId": "end"}):
        call.update(changes)
        p.invoke("ldg:call:save", {"call": call})
        assert calls_of(p) == [call]


@row("67,387 (argued)", "the status of a call only goes forward")
def _(p):
    call = task_with_call(p)
    for status, answer in (("completed", 200), ("in_progress", 409)):
        p.invoke("ldg:call:save", {"call": {**call, "status": status, "updatedAt": 2000}}, answer)
    assert calls_of(p)[0]["status"] == "completed"


@row("67", "the rest of a call can't be updated")
def _(p):
    call = task_with_call(p)
    for members in ({"abilityName": "x:y"}, {"parameters": "[]"}, {"createdAt": 1}):
        p.invoke("ldg:call:save", {"call": {**call, "updatedAt": 2000, **members}}, 409)
    assert calls_of(p) == [call]


@row("52,54", "parameters and details are texts of JSON, kept as they are")
def _(p):
    call = task_with_call(p, parameters='{ "q" : 1.50 }', details='[1e400]')
    assert calls_of(p) == [call]
    for member in ("parameters", "details"):
        p.invoke("ldg:call:save", {"call": {**call, "id": "c2", member: "no JSON"}}, 422)


@row("389-416,216", "ldg:call:list gives the calls of a task")
def _(p):
    task_with_call(p)
    save_call(p, "c2", createdAt=2000, updatedAt=2000)
    assert [call["id"] for call in calls_of(p)] == ["c", "c2"]
    assert p.invoke("ldg:call:list", {"taskId": "nobody"}) == {"calls": []}


# --- messages ---


@row("71-79", "a message has the five fields, the timestamp as a number")
def _(p):
    save_task(p)
    message = save_message(p)
    assert messages_of(p) == {"messages": [message], "total": 1}


@row("81-86", "the role of a message is system, user or assistant, and no other")
def _(p):
    save_task(p)
    for role in ("system", "user", "assistant"):
        save_message(p, role, role=role)
    save_message(p, "tool", 422, role="tool")
    assert [message["role"] for message in messages_of(p)["messages"]] == ["system", "user", "assistant"]


@row("420-448", "ldg:msg:save answers {success, messageId}")
def _(p):
    save_task(p)
    message = {"id": "m", "taskId": "t", "role": "user", "content": "**hi**", "timestamp": 1}
    assert p.invoke("ldg:msg:save", {"message": message}) == {"success": True, "messageId": "m"}


@row("450", "the same id with other content is an error, and the first content stays")
def _(p):
    save_task(p)
    message = save_message(p)
    for members in ({"content": "other"}, {"role": "system"}, {"timestamp": 2}):
        save_message(p, status=409, **members)
    assert messages_of(p)["messages"] == [message]


@row("450 (argued)", "the same message again is a success, so that retries are free")
def _(p):
    save_task(p)
    save_message(p)
    save_message(p)
    assert messages_of(p)["total"] == 1


@row("452-482,215", "ldg:msg:list is ordered by timestamp, with limit, offset and total")
def _(p):
    save_task(p)
    for name, timestamp in (("late", 3000), ("early", 1000), ("middle", 2000)):
        save_message(p, name, timestamp=timestamp)
    names = ["early", "middle", "late"]
    for page, wanted in (({}, names), ({"limit": 2}, names[:2]), ({"limit": 1, "offset": 1}, names[1:2]), ({"offset": 3}, []),
                         ({"limit": 0}, names[:1]), ({"offset": -1}, names), ({"limit": 1000000}, names), ({"limit": 2.0}, names[:2])):
        answer = messages_of(p, **page)
        assert ([message["id"] for message in answer["messages"]], answer["total"]) == (wanted, 3), (page, answer)


# --- relations, tables ---


@row("90-103", "calls and messages need their task, a call its messages, a task its parent")
def _(p):
    save_message(p, status=404)
    save_task(p, status=404, parentTaskId="nobody")
    save_task(p)
    save_call(p, expect=404)
    save_message(p)
    save_call(p, expect=404, endMessageId="nobody")
    save_call(p)


COLUMNS = {
    "tasks": "task_id parent_task_id completion_status system_prompt created_at updated_at",
    "calls": "call_id task_id ability_name parameters status details created_at updated_at start_message_id end_message_id",
    "messages": "message_id task_id role ts",
}


@row("113-202 (argued)", "tables with the document's columns; ids have their table's name, the text of a message is a card")
def _(p):
    task_with_call(p)
    for table, columns in COLUMNS.items():
        rows = psql(dsn(), f"SELECT {columns.replace(' ', ', ')} FROM cardbox.{table} WHERE tenant_id = '{p.name}'")
        assert rows.count("\n") == 1, rows
    assert "hi" in psql(dsn(), "SELECT c.content FROM cardbox.messages m JOIN cardbox.cards c ON c.tenant_id = m.tenant_id"
                               f" AND c.card_id = m.message_id WHERE m.tenant_id = '{p.name}' ORDER BY m.ts")


@row("127-130,163-165,196-198,760", "indexes for the queries of the document; by updated_at there is none (argued)")
def _(_p):
    names = psql(dsn(), "SELECT indexdef FROM pg_indexes WHERE schemaname = 'cardbox' AND tablename IN ('tasks', 'calls', 'messages')")
    for index in (r"tasks\b.*\(tenant_id, created_at", r"tasks\b.*parent_task_id", r"tasks\b.*completion_status", r"calls\b.*\(tenant_id, task_id",
                  r"calls\b.*status", r"messages\b.*\(tenant_id, task_id, ts"):
        assert re.search(index, names), (index, names)
    assert not re.search(r"tasks\b.*\(tenant_id, updated_at", names), names


@row("220", "calls in progress of a task")
def _(p):
    task_with_call(p, status="in_progress")
    assert psql(dsn(), f"SELECT call_id FROM cardbox.calls WHERE tenant_id = '{p.name}' AND status = 'in_progress' AND task_id = 't'") == "c\n"


@row("655-695", "cancelling a task sets its updatedAt and those of its open calls")
def _(p):
    task_with_call(p, status="in_progress")
    assert p.invoke("task:cancel", {"taskId": "t", "reason": "no more"}) == {"success": True}
    call = calls_of(p)[0]
    assert call["status"] == "failed" and call["updatedAt"] > 1000, call
    assert task_of(p)["updatedAt"] > 1000


@row("610-653", "a task with its messages is saved whole (over HTTP by task:spawn)")
def _(p):
    task = p.invoke("task:spawn", {"goal": "count", "systemPrompt": "You count."})["taskId"]
    said = p.invoke("ldg:msg:list", {"taskId": task})["messages"]
    assert [(message["role"], message["content"]) for message in said] == [("system", "You count."), ("user", "count")], said


@row("852-886", "a whole life: task, messages, call, end")
def _(p):
    call = task_with_call(p)
    save_message(p, "end", role="assistant", timestamp=2000)
    p.invoke("ldg:call:save", {"call": {**call, "status": "completed", "endMessageId": "end", "updatedAt": 2000}})
    save_task(p, completionStatus="success", updatedAt=3000)
    assert (task_of(p)["completionStatus"], messages_of(p)["total"], calls_of(p)[0]["status"]) == ("success", 2, "completed")


def test_rows():
    yield from row.cases()


if __name__ == "__main__":
    cardbox_test.main(globals())

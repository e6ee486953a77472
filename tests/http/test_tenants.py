#!/usr/bin/env python3
"""Two projects with the same ids, each with a token of its own that may do all there: no answer, on any
route and by any ability, tells of the other's, and no change, nor what the collector makes of it, reaches
them; by ids that only the other has, too."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, as_role, cardbox, cardboxd, dsn, json_lines, once, psql, url

BOX = "01970000-0000-7000-8000-0000000000%02x"
TIME = "2025-01-02T03:04:05Z"
# What both have; what only b has; what nobody has.
BOTH = {"name": "same", "box": BOX % 1}
OF_B = {"name": "of-b", "box": BOX % 2}
OF_NOBODY = {"name": "none", "box": BOX % 3}
QUERIES = {"/diff": "?a=c&b=d&lines=9999", "/context": "?format=openai", "/boxes/{box_id}": "?at_version=1",
           "/search": "?q=secret+of",
           **dict.fromkeys(("/tree", "/leaves", "/branch-points", "/labels", "/children", "/path"), "?lines=9999")}


def secret(project):
    return f"secret of {project}"


@once
def server():
    return Server(dsn(), auth=True)


@once
def headers():
    """By project."""
    made = {}
    for project in "ab":
        done = cardbox("token", "create", "--dsn", dsn(), "--name", project, "--tenant", project, "--scope",
                       "read,write,tasks,admin")
        made[project] = {"Authorization": "Bearer " + done.stdout.strip(), "Content-Type": "application/json"}
    cardbox_test.await_(lambda: all(server().get(url(project, "cards"), made[project]).status == 200 for project in made))
    return made


def ask(project, method, path, value=None):
    body = value if isinstance(value, (bytes, type(None))) else json.dumps(value).encode()
    return server().request(method, path, body, headers()[project])


def ability(project, name):
    return url(project, "abilities", name)


# --- what is there ---


def entries(said):
    return [{"id": name, "parentId": parent, "timestamp": TIME, "type": kind, "content": said}
            for name, parent, kind in (("a", None, "user"), ("b", "a", "assistant"), ("c", "b", "user"),
                                       ("d", "b", "user"))] + [
        {"id": "e", "parentId": "d", "timestamp": TIME, "type": "label", "targetId": "c", "label": said}]


def task_of(name, said, **members):
    return {"id": name, "systemPrompt": said, "createdAt": 1000, "updatedAt": 1000, **members}


def filling(project, ids):
    """Requests that make one of each thing: those that were there before stay as they are."""
    name, said = ids["name"], secret(project)
    message = {"id": f"{name}-message", "taskId": name, "role": "user", "content": said, "timestamp": 1000}
    call = {"id": f"{name}-call", "taskId": name, "abilityName": "card:get", "parameters": json.dumps(said),
            "status": "completed", "details": json.dumps(said), "createdAt": 1000, "updatedAt": 1000,
            "startMessageId": message["id"]}
    for content in (f"first {said}", said):
        yield "POST", url(project, "cards"), {"card_id": name, "content": content, "type": "tool.result",
                                              "tool_call_id": name}
    yield "POST", url(project, "boxes"), {"box_id": ids["box"], "card_ids": [name, said]}
    yield "POST", url(project, "boxes", ids["box"], "append"), {"card_ids": [said] * 70}
    yield "PUT", url(project, "sessions", name), {"dialect": "plain"}
    yield "POST", url(project, "sessions", name, "entries"), {"entries": entries(said)}
    for open_or_not in (f"{name}-open", name):
        yield "POST", ability(project, "ldg:task:save"), {"task": task_of(open_or_not, said)}
    yield "POST", ability(project, "ldg:msg:save"), {"message": message}
    yield "POST", ability(project, "ldg:msg:save"), {"message": {**message, "taskId": f"{name}-open", "id": f"{name}-2"}}
    yield "POST", ability(project, "ldg:call:save"), {"call": call}
    yield "POST", ability(project, "ldg:task:save"), {"task": task_of(name, said, completionStatus="success", updatedAt=2000)}


def fill(project, ids):
    for request in filling(project, ids):
        answer = ask(project, *request)
        assert answer.status == 200, (request, answer)
    cardbox_test.await_(lambda: int(psql(dsn(), "SELECT count(*) FROM cardbox.search_queue")) == 0)


# --- what is asked ---


def patterns(*methods):
    """(method, path) of each route of a project."""
    for line in cardboxd("--routes").stdout.splitlines():
        method, pattern, _ = line.split()
        if method in methods and pattern.startswith("/projects/{project_id}"):
            yield method, pattern


def path_of(pattern, project, ids):
    named = {"project_id": project, "card_id": ids["name"], "box_id": ids["box"], "session_id": ids["name"],
             "entry_id": "b", "task_id": ids["name"], "ability_id": "card:get"}
    return re.sub(r"\{(\w+)\}", lambda place: named[place[1]], pattern)


@once
def abilities():
    """Each with its description."""
    listed = ask("a", "GET", url("a", "abilities")).json()["abilities"]
    return [ask("a", "GET", ability("a", one["id"])).json() for one in listed]


def reads(project, ids):
    """Every route and every ability that reads."""
    name, box = ids["name"], ids["box"]
    for method, pattern in patterns("GET"):
        query = next((QUERIES[end] for end in QUERIES if pattern.endswith(end)), "")
        yield method, path_of(pattern, project, ids) + query, None
    for query in (f"tool_call_id={name}", "type=tool.result", "meta.type=tool.result"):
        yield "GET", url(project, "cards") + "?" + query, None
    yield "POST", url(project, "cards", "batch"), {"card_ids": [name]}
    yield "POST", url(project, "boxes", "batch"), {"box_ids": [box], "hydrate": True, "limit": 9}
    yield "POST", ability(project, "task:active"), {}
    values = {"card_id": name, "card_ids": [name], "box_id": box, "session_id": name, "entry_id": "b", "a": "c", "b": "d",
              "taskId": name, "parentTaskId": name, "tool_call_ids": [name], "abilityId": "card:get", "moduleName": "card",
              "lines": 9999, "goals": True, "q": "secret of"}
    for one in abilities():
        members = one["inputSchema"]["properties"]
        optional = ("lines", "tool_call_ids", "goals")
        wanted = [*one["inputSchema"].get("required", []), *(member for member in optional if member in members)]
        if one["tags"] == ["read"]:
            yield "POST", ability(project, one["id"]), {member: values[member] for member in wanted}


def answers(project, ids, good=True):
    """By request: the status and the text."""
    told = {}
    for request in reads(project, ids):
        answer = ask(project, *request)
        assert answer.status == 200 if good else answer.status in (200, 404), (request, answer)
        told[json.dumps(request)] = (answer.status, answer.body.decode())
    return told


def changes(project, ids):
    """Every route and every ability that changes something, the last of them what deletes."""
    name, box = ids["name"], ids["box"]
    card = {"card_id": name, "content": "other", "restore": True}
    entry = {"id": "x", "type": "user", "content": "other"}
    message = {"id": f"{name}-x", "taskId": f"{name}-open", "role": "user", "content": "other", "timestamp": 1}
    answer = {"format": "openai", "messages": {"role": "assistant", "content": "other"}, "usage": {"prompt_tokens": 1}, "create": False}
    row = {"kind": "card", "card_id": name, "content": "imported"}
    yield "POST", "/cards", card
    yield "POST", "/import", json_lines(row, {**row, "tenant_id": "b"}, {"kind": "box", "box_id": box, "card_ids": ["x"]})
    yield "POST", "/boxes", {"box_id": box}
    yield "PUT", "/boxes/{box_id}", {"card_ids": ["x"] * 70}
    yield "POST", "/boxes/{box_id}/append", {"card_ids": ["x"]}
    yield "POST", "/boxes/{box_id}/fork", {}
    yield "PUT", "/sessions/{session_id}", {}
    yield "POST", "/sessions/{session_id}/entries", {"entry": entry}
    yield "POST", "/sessions/{session_id}/messages", answer
    yield "POST", "/sessions/{session_id}/import", json_lines(*entries("other"), {**entry, "id": "y", "parentId": "a"})
    yield "PUT", "/sessions/{session_id}/head", {"entry_id": "b"}
    yield "POST", "/sessions/{session_id}/fork", {}
    for ability_id, value in {
            "card:add": card, "card:add_many": {"cards": [{"card_id": name, "content": "another"}]},
            "card:from_entry": {"session_id": name, "entry_id": "a"},
            "box:create": {"box_id": box}, "box:append": {"box_id": box, "card_ids": ["y"]},
            "box:replace": {"box_id": box, "card_ids": ["y"]}, "box:fork": {"box_id": box},
            "session:create": {"session_id": name}, "session:append": {"session_id": name, "entries": [{**entry, "id": "z"}]},
            "session:add": {"session_id": name, **answer},
            "card:from_entry": {"session_id": name, "entry_id": "a", "card_id": f"{name}-a"},
            "session:head": {"session_id": name, "entry_id": "a"}, "session:fork": {"session_id": name},
            "ldg:task:save": {"task": task_of(f"{name}-open", secret(project), updatedAt=3000)},
            "ldg:msg:save": {"message": message},
            "ldg:call:save": {"call": {"id": f"{name}-y", "taskId": f"{name}-open", "abilityName": "x", "parameters": "1",
                                       "status": "pending", "details": "{}", "createdAt": 1, "updatedAt": 1,
                                       "startMessageId": message["id"]}},
            "task:active": {}, "task:spawn": {"goal": "other", "parentTaskId": f"{name}-open"},
            "task:send": {"receiverId": f"{name}-open", "message": "other"},
            "task:cancel": {"taskId": f"{name}-open", "reason": "other"}, "task:finish": {"taskId": f"{name}-open"},
            "card:delete": {"card_id": name}, "box:delete": {"box_id": box}, "session:delete": {"session_id": name}}.items():
        yield "POST", "/abilities/" + ability_id, value
    for pattern in ("/cards/{card_id}", "/boxes/{box_id}", "/sessions/{session_id}"):
        yield "DELETE", pattern, None
    yield "POST", "/boxes/{box_id}/seal", {}  # a sealed box can't be deleted, so this comes last
    yield "POST", "/abilities/box:seal", {"box_id": box}


def rows(project):
    """What the tables have of a project: a sum by table."""
    tables = psql(dsn(), "SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t"
                         " USING (table_schema, table_name) WHERE c.table_schema = 'cardbox' AND c.column_name = 'tenant_id'"
                         " AND t.table_type = 'BASE TABLE'").split()
    assert len(tables) > 15, tables
    return psql(dsn(), " UNION ALL ".join(
        f"SELECT '{table}', count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM cardbox.{table} t"
        f" WHERE tenant_id = '{project}'" for table in tables) + " ORDER BY 1")


# --- cases ---


def test_no_answer_tells_of_another():
    fill("a", BOTH)
    alone = answers("a", BOTH)
    assert sum(secret("a") in text for _, text in alone.values()) > 40, alone
    fill("b", BOTH)
    fill("b", OF_B)
    for request, answer in answers("a", BOTH).items():
        assert answer == alone[request], (request, answer, alone[request])
    for request, (_, text) in answers("b", BOTH).items():
        assert secret("a") not in text, (request, text)


def test_what_only_another_has_is_not_there():
    """What is answered is what nobody's id is answered."""
    none = answers("a", OF_NOBODY, good=False)
    for request, (status, text) in answers("a", OF_B, good=False).items():
        for member, value in OF_B.items():
            request, text = (said.replace(value, OF_NOBODY[member]) for said in (request, text))
        assert (status, text) == none[request], (request, status, text)


def test_no_change_reaches_another():
    before, said = rows("b"), answers("b", BOTH)
    left = {pattern for _, pattern in patterns("POST", "PUT", "DELETE") if not pattern.endswith("/batch")}
    called = {one["id"] for one in abilities() if one["tags"] != ["read"]}
    for ids in (OF_B, BOTH):
        for method, pattern, value in changes("a", ids):
            answer = ask("a", method, path_of("/projects/{project_id}" + pattern, "a", ids), value)
            wanted = (200,) if ids is BOTH else (200, 404, 409, 410)
            assert answer.status in (*wanted, *((409,) if pattern == "/boxes" or "box:create" in pattern else ()),
                                     *((404, 410) if method == "DELETE" or "seal" in pattern else ())), (method, pattern, value, answer)
            left.discard("/projects/{project_id}" + pattern)
            called.discard(pattern.removeprefix("/abilities/"))
    assert left == {"/projects/{project_id}/abilities/{ability_id}"} and not called, (left, called)
    assert rows("b") == before
    cardbox("gc", "--dsn", as_role(dsn(), "cardbox_app"), "--retention-days", "0")
    assert rows("b") == before and answers("b", BOTH) == said


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

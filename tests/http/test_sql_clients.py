#!/usr/bin/env python3
"""Programs of others, in any language, that read tables and write by functions or, as the tables' owner, by SQL: what they
write is what a server reads, at once, also if it has the card in its cache."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, at_end, once, psql, url

ROLE = f"sql_client_{os.getpid()}"
BOX = "00000000-0000-7000-8000-00000000000a"
TYPES = ("task.instruction", "agent.thought", "tool.call", "tool.result", "task.deliverable", "sys.profile",
         "sys.rendered_prompt", "sys.tools", "meta.parent_pointer", "task.result_fields", "another")


@once
def database():
    """A database role that is granted the project `mine` and no other."""
    dsn = Postgres.shared().database()
    psql(dsn, f"CREATE ROLE {ROLE} LOGIN IN ROLE cardbox_worker; INSERT INTO cardbox.tenant_grants (tenant_id, role_name)"
              f" VALUES ('mine', '{ROLE}')")
    at_end(lambda: psql(as_role(dsn, "postgres"), f"DROP ROLE {ROLE}"))
    return dsn


@once
def server():
    started = Server(database())
    at_end(started.kill)
    return started


def run(sql, role=ROLE):
    """(what the statement returns, SQLSTATE and message of its error)"""
    done = subprocess.run(["psql", as_role(database(), role), "-XqAt", "-v", "VERBOSITY=verbose", "-c", sql], capture_output=True, text=True)
    error = done.stderr.splitlines()[0].removeprefix("ERROR:  ") if done.returncode else ""
    return done.stdout.strip(), error


def refused(sql, start, role=ROLE):
    returned, error = run(sql, role)
    assert error.startswith(start) and not returned, (sql, returned, error)


def done(sql, expected, role=ROLE):
    returned, error = run(sql, role)
    assert (returned, error) == (expected, ""), (sql, returned, error)


def test_a_card():
    add = """SELECT cardbox.add_card('mine', 'a', '{"text": "%s"}', '{"type": "agent.thought"}')"""
    done(add % "one", "inserted")
    done(add % "one", "unchanged")
    card = server().get(url("mine", "cards", "a")).json()
    assert (card["content"], card["metadata"]) == ({"text": "one"}, {"type": "agent.thought", "role": "assistant"}), card
    done(add % "two", "repaired")
    assert server().get(url("mine", "cards", "a")).json()["content"] == {"text": "two"}
    refused((add % "three").replace(", '{\"type", ", strict => true, metadata => '{\"type"), "CB409: card a exists with other content")
    assert server().request("DELETE", url("mine", "cards", "a")).status == 200
    refused(add % "two", "CB410: card a was deleted or has expired")
    done((add % "two")[:-1] + ", restore => true)", "restored")


def test_other_members_of_a_card():
    done("SELECT cardbox.add_card('mine', 'sealed', '1', NULL, ttl_seconds => 3600, created_at => '2020-01-02 03:04:05Z', sealed => true,"
         " restore => true, tool_calls => '[]')", "inserted")
    done("SELECT expires_at - created_at, metadata FROM cardbox.cards WHERE tenant_id = 'mine' AND card_id = 'sealed'", "01:00:00|{}")
    done("SELECT cardbox.add_card('mine', 'for ever', '\"x\"', ttl_seconds => 0, sealed => true, tool_call_id => 'call',"
         " metadata => '{\"type\": \"tool.result\", \"role\": \"user\"}')", "inserted")
    assert server().get(url("mine", "cards", "for ever")).json()["metadata"]["role"] == "user"
    refused("SELECT cardbox.add_card('mine', 'for ever', '2')", "CB409: card for ever exists")
    refused("SELECT cardbox.add_card('mine', 'second', '2', '{\"type\": \"tool.result\"}', tool_call_id => 'call')",
            "CB409: the tool.result of call call is card for ever")


def test_the_same_card_over_http_is_unchanged():
    """The role that the function adds is the role that the SDK adds."""
    for name in TYPES:
        done(f"""SELECT cardbox.add_card('mine', 'of {name}', '"x"', '{{"type": "{name}"}}')""", "inserted")
        answer = server().post(url("mine", "cards"), {"card_id": f"of {name}", "type": name, "content": "x"})
        assert answer.json()["outcome"] == "unchanged", (name, answer)


def test_bad_cards():
    for values in ("'', '1'", "NULL, '1'", "repeat('i', 513), '1'", "E'a\\nb', '1'", "E'a\\x7f', '1'", "'b', NULL", "'b', '1', '[]'", "'b', '1', 'null'",
                   "'b', '1', '{}', '{}'", "'b', '1', '{}', tool_call_id => ''", "'b', '1', ttl_seconds => -1",
                   "'b', '1', jsonb_build_object('step_id', repeat('s', 1025))", "'b', '1', created_at => 'infinity'",
                   "'b', ('\"' || repeat('x', 67108864) || '\"')::json"):
        refused(f"SELECT cardbox.add_card('mine', {values})", "22023: ")
    refused("SELECT cardbox.add_card('mine', 'b', '{')", "22P02: invalid input syntax for type json")
    assert server().get(url("mine", "cards", "b")).status == 404


def test_depth():
    """The limit is that of a card over HTTP. Brackets in strings do not count."""
    levels, text = '[{"a":' * 64 + "1" + "}]" * 64, json.dumps(['["\\{' * 300, '"[[' * 200])
    for name, content, expected, status in (("levels", levels, "inserted", 200), ("text", text, "inserted", 200),
                                            ("too deep", f"[{levels}]", "22023: content has more than 128", 413)):
        returned, error = run(f"SELECT cardbox.add_card('mine', '{name}', $a${content}$a$)")
        assert (returned or error).startswith(expected), (name, returned, error)
        body = f'{{"card_id": "{name}", "content": {content}}}'
        answer = server().request("POST", url("mine", "cards"), body, {"Content-Type": "application/json"})
        assert answer.status == status and (status != 200 or answer.json()["outcome"] == "unchanged"), (name, answer)
    for value in (f"'{{\"a\": {'[' * 128}{']' * 128}}}'", f"tool_calls => '{'[' * 129}{']' * 129}'"):
        refused(f"SELECT cardbox.add_card('mine', 'b', '1', {value})", "22023: ")


def test_a_box():
    append = f"SELECT * FROM cardbox.append_to_box('mine', '{BOX}', "
    refused(append + "'{a}')", "CB404: box not found")
    done(f"SELECT outcome FROM cardbox.create_box('mine', '{BOX}')", "1")
    done(append + "'{a,b}', append_key => 'k')", "appended|2|2")
    done(append + "'{a}', expected_version => 2)", "appended|3|3")
    done(append + "'{a,b}', append_key => 'k')", "unchanged|2|2")
    refused(append + "'{c}', append_key => 'k')", "CB409: the append key was used for other ids: the box is at version 3")
    refused(append + "'{c}', 1)", "CB409: the box has changed: it is at version 3")
    done(append + "ARRAY(SELECT 'c' || i FROM generate_series(1, 100) AS i))", "appended|4|103")
    box = server().get(url("mine", "boxes", BOX)).json()
    assert box["card_ids"][:4] == ["a", "b", "a", "c1"] and box["length"] == 103, box
    done(f"SELECT card_ids ->> 102 FROM cardbox.boxes WHERE tenant_id = 'mine' AND box_id = '{BOX}'", "c100")


def test_bad_boxes():
    refused("SELECT cardbox.create_box('mine', NULL)", "22023: a new box needs an id")
    for parent in BOX, BOX.upper():
        refused(f"SELECT cardbox.create_box('mine', '{BOX}', '[]', '[\"x\", \"{parent}\"]')", "22023: a new box needs an id")


def test_bad_tasks():
    def create(task="'t'", messages="""'[{"id": "m", "role": "user", "metadata": {}}]'""", contents="ARRAY['1'::json]"):
        return f"SELECT cardbox.create_task('mine', {task}, '{{}}', '\"\"', {messages}, {contents})"
    for task in "NULL", "''", "E'a\\tb'", "repeat('x', 513)":
        refused(create(task), "22023: task_id must be")
    for bad in ("NULL", "'[]'", "'{}'", "'1'"):
        refused(create(messages=bad), "22023: a new task needs messages")
    for bad in ("NULL", "'{}'", "ARRAY['1', '2']::json[]"):
        refused(create(contents=bad), "22023: a new task needs messages")
    for bad in "null", r'"a\tb"', '""':
        refused(create(messages=f"""'[{{"id": {bad}, "role": "user", "metadata": {{}}}}]'"""), "22023: the id of a message must be")
    done(create(), "1")
    for status in ("NULL", "''", "E'a\\x01'", "'null'", "repeat('x', 65537)"):
        refused(f"SELECT cardbox.finish_task('mine', 't', {status})", "22023: a finished task needs a completion status")
    done("SELECT cardbox.finish_task('mine', 't', E'done:\\n\\tall')", "3")


def test_bad_appends():
    for values in ("'{}'", "NULL", "'{NULL}'", "ARRAY['']", "ARRAY[repeat('i', 513)]", "ARRAY[E'\\t']", "array_fill('x'::text, '{10001}')",
                   "'{x}', 0", "'{x}', append_key => ''", "'{x}', append_key => E'\\n'"):
        refused(f"SELECT cardbox.append_to_box('mine', '{BOX}', {values})", "22023: ")
    refused("SELECT cardbox.append_to_box('mine', NULL, '{x}')", "22023: ")
    refused("SELECT cardbox.append_to_box('mine', 'x', '{x}')", "22P02: invalid input syntax for type uuid")


def test_a_project_that_is_not_granted():
    """Neither a write nor a read; the message does not depend on what the project has."""
    done("SELECT cardbox.add_card('other', 'a', '1')", "inserted", "cardbox_app")
    for call in ("add_card('other', 'a', '1')", "add_card('nobody', 'a', '{}', '[]')", f"append_to_box('other', '{BOX}', '{{a}}')",
                 f"create_box('other', '{BOX}')"):
        refused(f"SELECT cardbox.{call}", f'42501: role "{ROLE}" may not write to project')
    done("SELECT count(*) FROM cardbox.cards WHERE tenant_id = 'other'", "0")
    refused("INSERT INTO cardbox.cards (tenant_id, card_id, content) VALUES ('mine', 'b', '1')", "42501: permission denied")


def test_the_owner_inserts():
    """The statement of the source document, by the role that owns the tables and by the service's role."""
    for role in ("cardbox", "cardbox_app"):
        done("SET search_path = cardbox; INSERT INTO cards (tenant_id, card_id, content, metadata)"
             f""" VALUES ('owner', '{role}', '"one"', '{{"type": "agent.thought"}}')""", "", role)
        card = server().get(url("owner", "cards", role)).json()
        assert (card["content"], card["type"], card["sealed"]) == ("one", "agent.thought", False), card
        done(f"SELECT age(clock_timestamp(), created_at) < '1 h' AND etag > 0 FROM cardbox.cards WHERE tenant_id = 'owner' AND card_id = '{role}'", "t", role)


def test_the_owner_updates():
    """Each reader has the new content: one card, batches, boxes and contexts."""
    done("SELECT cardbox.add_card('owner', 'changing', '\"v0\"', '{\"type\": \"task.instruction\"}'), (cardbox.create_box('owner', "
         f"'{BOX}', '[\"changing\"]')).outcome", "inserted|1", "cardbox")
    reads = (("GET", url("owner", "cards", "changing"), None, lambda body: body["content"]),
             ("POST", url("owner", "cards", "batch"), {"card_ids": ["changing"]}, lambda body: body["cards"][0]["content"]),
             ("POST", url("owner", "boxes", "batch"), {"box_ids": [BOX], "hydrate": True}, lambda body: body["boxes"][0]["hydrated_cards"][0]["content"]),
             ("GET", url("owner", "boxes", BOX, "cards"), None, lambda body: body[0]["content"]),
             ("GET", url("owner", "boxes", BOX, "context") + "?format=openai", None, lambda body: body["messages"][0]["content"]))
    tags = set()
    for version in range(4):
        if version > 0:
            done(f"""UPDATE cardbox.cards SET content = '"v{version}"' WHERE tenant_id = 'owner' AND card_id = 'changing'""", "", "cardbox")
        for _ in range(2):
            for method, path, body, content in reads:
                answer = server().request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
                assert content(answer.json()) == f"v{version}", (version, method, path, answer)
        tags.add(server().get(url("owner", "cards", "changing")).header("ETag"))
    assert len(tags) == 4, tags


if __name__ == "__main__":
    cardbox_test.main()

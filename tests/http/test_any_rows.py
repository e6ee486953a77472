#!/usr/bin/env python3
"""Whatever the rows of the tables say, the server answers: as the tables' owner, without their constraints, one
column after the other receives extreme values, and everything that reads is asked. The server stays alive, answers
soon and says clearly what it can't give. Columns and types are those of information_schema, so that a new column
is tried without a change here."""

import http.client
import json
import os
import random
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Connection, Postgres, Server, json_lines, once, session_url as session, url

SOON_S = 8
MEMORY_KB = 800 << 10
SEED = int(os.environ.get("CARDBOX_ROWS_SEED", "1"))
# Each value is followed by every fifth of the reads, another fifth the next time; 1: by all, in some minutes.
EVERY = int(os.environ.get("CARDBOX_ROWS_EVERY", "5"))
NOT_OURS = ("migrations", "functions")  # they say whether the server fits the database

# What the store says of rows that contradict each other. All other 5xx are failures.
DELIBERATE = ("the session's stored tree is corrupt", "the box is damaged")

# Of a box that is sent page by page, a page in the middle may turn out to lack ids: then the answer breaks off.
MAY_BE_CUT = ("card_box_segments", "card_box_chains", "turn")

ODD_JSON = ["null", "[]", "{}", "1", "-1e300", '"x"', '""', "true", '[1,null,{},["x"]]', '[null]', '[["x"]]', '["x",1]',
            '{"text":1,"type":[],"role":{},"__type__":null,"message":[],"id":7}',
            '{"role":"assistant","content":[{"type":"toolCall"}],"tool_calls":[null,1,{"id":{}}]}',
            '{"firstKeptEntryId":{},"firstKeptEntryIndex":1e9,"summary":[]}', "[" * 100 + "]" * 100,
            json.dumps("x" * 20_000), json.dumps(["x"] * 100)]
VALUES = {
    "bigint": ["-9223372036854775808", "9223372036854775807", "-1", "0", "1", "255", "256000", "6400000000"],
    "integer": ["-2147483648", "2147483647", "-1", "0", "1", "255", "256000", "2147483646"],
    "text": ["", "x", "null", "\x01\n\r\t\"\\", "\u00e4\U0001f600", "x" * 600, "x" * 20_000, "a", "cancelled"],
    "name": ["x"],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "json": [*ODD_JSON, '"\\u0000"', '"\\ud800"', '{"a":1,"a":2}', '{ "a" :\n1 }', "1e400"],
    "jsonb": ODD_JSON,
    "timestamp with time zone": ["-infinity", "infinity", "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59+00",
                                 "1970-01-01 00:00:00+00"],
    "date": ["-infinity", "infinity", "4714-11-24 BC", "5874897-12-31", "1970-01-01"],
    "boolean": ["true", "false"],
    "numeric": ["NaN", "-Infinity", "Infinity", "-1.5", "0", "1e300"],
    "bytea": ["\\x", "\\x00", "\\xff0a00", "\\x" + "7b" * 20_000],
    "ARRAY": ["{}", "{NULL}", "{x}", "{{a},{b}}"],
}


# --- the rows ---


def entry(name, parent=None, kind="user", **members):
    return {"id": name, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", "type": kind, **members}


PLAIN = json_lines(entry("a", content="hi"), entry("b", "a", "assistant", content="ok",
                   toolCalls=[{"id": "c1", "name": "t", "params": {}}]),
                   entry("c", "b", "tool_result", toolCallId="c1", output="o", success=True),
                   entry("d", "b", content="other"), entry("late", "nowhere", content="late"),
                   entry("x", "y", content="x"), entry("y", "x", content="y")) + b"no JSON\n"
MESSAGE = {"role": "user", "content": "hi"}
PI = json_lines({"type": "session", "version": 3, "id": "pi", "timestamp": "2025-01-02T03:04:05Z", "cwd": "/"},
                *({"type": kind, "id": name, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", **more}
                  for kind, name, parent, more in (
                      ("model_change", "a", None, {"provider": "p", "modelId": "m"}),
                      ("thinking_level_change", "b", "a", {"thinkingLevel": "low"}),
                      ("message", "c", "b", {"message": MESSAGE}),
                      ("message", "d", "c", {"message": {**MESSAGE, "role": "assistant", "content": []}}),
                      ("compaction", "e", "d", {"summary": "s", "firstKeptEntryId": "d", "tokensBefore": 1}),
                      ("label", "f", "e", {"targetId": "c", "label": "mark"}),
                      ("session_info", "g", "f", {"name": "name"}),
                      ("message", "h", "c", {"message": MESSAGE}))))
BOX, FORK, LONG = (f"01970000-0000-7000-8000-00000000000{n}" for n in range(3))
CARDS = ("call", "result", "note", "old", "part")


def post(path, value):
    answer = plain().post(path, value)
    assert answer.status < 300, (path, answer)
    return answer.json()


@once
def dsn():
    return Postgres.shared().database()


@once
def plain():
    """A server for making the rows."""
    return Server(dsn())


def ability(name, **given):
    return post(url("p", "abilities", name), given)


def make_rows():
    cards = [{"card_id": name, "content": {"__type__": "TextContent", "text": name},
              "metadata": {"role": "user", "type": "note", "step_id": "s"}} for name in CARDS]
    cards[0].update(tool_calls=[{"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
                    metadata={"role": "assistant", "type": "agent.thought"})
    cards[1].update(tool_call_id="c1", metadata={"role": "tool", "type": "tool.result"}, ttl_seconds=100000)
    post(url("p", "cards"), {"cards": cards})
    post(url("p", "cards"), {"cards": [{**cards[3], "content": {"again": 1}}]})
    ids = [CARDS[at % 5] for at in range(150)]
    post(url("p", "boxes"), {"box_id": BOX, "card_ids": ids[:70]})
    post(url("p", "boxes", BOX, "append"), {"card_ids": ["call", "result", "gone"]})
    post(url("p", "boxes", BOX, "fork"), {"box_id": FORK})
    post(url("p", "boxes", FORK, "append"), {"card_ids": ids})
    post(url("p", "boxes"), {"box_id": LONG, "card_ids": ids[:100] * 100})
    post(url("p", "boxes", LONG, "append"), {"card_ids": ids})
    for name, lines in (("plain", PLAIN), ("pi", PI)):
        done = plain().request("POST", session(name, "import"), lines, {"Content-Type": "application/x-ndjson"})
        assert done.status == 200, done
    post(session("pi", "fork"), {"session_id": "fork"})
    appended = plain().request("POST", session("plain", "entries"), json.dumps(
        {"entries": [{"type": "user", "id": "n", "content": "more"}]}), {"Content-Type": "application/json",
                                                              "Idempotency-Key": "key"})
    assert appended.status == 200, appended


def make_ledger():
    load = cardbox_test.load
    rows = [{"kind": "task", "id": "done", "completion_status": "success", "system_prompt": "", "created_at": 1,
             "updated_at": 2},
            {"kind": "task", "id": "open", "parent_task_id": "done", "completion_status": None, "system_prompt": "s",
             "created_at": 3, "updated_at": 4}]
    rows += [{"kind": "message", "id": f"{task}-{role}", "task_id": task, "role": role, "content": "said", "timestamp": 5}
             for task in ("done", "open") for role in ("user", "assistant")]
    rows += [{"kind": "call", "id": f"call-{task}", "task_id": task, "ability_name": "t", "parameters": "{}",
              "status": "completed", "details": "{}", "created_at": 6, "updated_at": 7,
              "start_message_id": f"{task}-assistant", "end_message_id": None} for task in ("done", "open")]
    status, _, said = load(dsn(), *rows)
    assert status == 0, said


# --- the tables ---


@once
def owner():
    """The tables' owner, without anything that would keep a row out."""
    make_rows()
    make_ledger()
    plain().stop()
    with_all = Postgres.shared().psql
    with_all(dsn(), """
        INSERT INTO cardbox.task_chunks VALUES ('p', 'open', 'm', 1, '"piece"');
        INSERT INTO cardbox.card_box_orphans VALUES ('p', gen_random_uuid(), false);
        INSERT INTO cardbox.sessions (tenant_id, session_id, state, version, created_at, updated_at)
        VALUES ('p', 'deleted', 'deleted', 1, now(), now());
        INSERT INTO cardbox.task_channels (tenant_id) VALUES ('p') ON CONFLICT DO NOTHING;
        INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('p', 'nobody');
        CREATE SCHEMA saved AUTHORIZATION cardbox;
        DO $$
        DECLARE r record;
        BEGIN
            FOR r IN SELECT conrelid::regclass AS source, conname FROM pg_constraint
                      WHERE connamespace = 'cardbox'::regnamespace AND contype = 'f' LOOP
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', r.source, r.conname);
            END LOOP;
            FOR r IN SELECT CASE WHEN conrelid = 0 THEN 'DOMAIN ' || contypid::regtype ELSE 'TABLE ' || conrelid::regclass END AS source,
                            conname
                       FROM pg_constraint
                      WHERE connamespace = 'cardbox'::regnamespace AND contype = 'c' LOOP
                EXECUTE format('ALTER %s DROP CONSTRAINT %I', r.source, r.conname);
            END LOOP;
            FOR r IN SELECT oid::regclass AS source, relname FROM pg_class
                      WHERE relnamespace = 'cardbox'::regnamespace AND relkind = 'r' LOOP
                EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER, NO FORCE ROW LEVEL SECURITY', r.source);
                EXECUTE format('CREATE TABLE saved.%I AS TABLE %s', r.relname, r.source);
                EXECUTE format('ALTER TABLE saved.%I OWNER TO cardbox', r.relname);
            END LOOP;
        END $$""")
    return Connection(dsn(), "cardbox")


@once
def columns():
    """(table, column, type, whether it may be NULL) of all that can be written."""
    rows = Postgres.shared().psql(
        dsn(), "SELECT table_name, column_name, data_type, is_nullable = 'YES' FROM information_schema.columns"
               " JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = 'cardbox'"
               " AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' ORDER BY 1, ordinal_position")
    found = [row.split("|") for row in rows.splitlines()]
    assert len(found) > 150, found
    return [(table, column, kind, null == "t") for table, column, kind, null in found if table not in NOT_OURS]


def values(kind, may_be_null):
    assert kind in VALUES, f"no values are known for the type {kind}"
    return [*VALUES[kind], *([None] if may_be_null else [])]


def write(table, column, value):
    """Into all rows of the table; where a key forbids that, into one of them. False: into none."""
    change = f"UPDATE cardbox.{table} SET {column} = {cardbox_test.literal(value)}"
    for where in ("", f" WHERE ctid = (SELECT max(ctid) FROM cardbox.{table})"):
        owner().send(change + where)
        if "ERROR:  " not in owner().receive():
            return True
    return False


def restore(table):
    names = ", ".join(column for of, column, *_ in columns() if of == table)
    owner().run(f"BEGIN; DELETE FROM cardbox.{table};"
                f" INSERT INTO cardbox.{table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM saved.{table}; COMMIT")


# --- what is asked ---


def of_cards():
    for name in CARDS[:4]:
        yield "GET", url("p", "cards", name), None
        yield "GET", url("p", "cards", name, "revisions"), None
    yield "GET", url("p", "cards", "note", "boxes"), None
    for query in ("", "?limit=2", "?type=note", "?step_id=s", "?meta.role=user"):
        yield "GET", url("p", "cards") + query, None
    yield "POST", url("p", "cards", "batch"), {"card_ids": list(CARDS)}
    for name, given in (("card:get", {"card_id": "call"}), ("card:list", {}), ("card:batch", {"card_ids": list(CARDS)}),
                        ("card:boxes", {"card_id": "note"}), ("card:revisions", {"card_id": "old"})):
        yield "POST", url("p", "abilities", name), given


def of_boxes():
    yield "GET", url("p", "boxes"), None
    yield "GET", url("p", "boxes") + "?limit=1", None
    for box in (BOX, FORK):
        for rest in ("", "?at_version=1", "?at_length=65", "?at_time=2100-01-01T00:00:00Z", "?offset=60&limit=10", "/cards",
                     "/cards?offset=3&limit=100", "/log", "/log?limit=1", "/context", "/context?tail=3&format=entries", "/context?limit=3&format=entries",
                     "/context?format=anthropic"):
            yield "GET", url("p", "boxes", box) + rest, None
    for rest in ("", "?at_version=2", "?offset=10000", "/cards?limit=1"):
        yield "GET", url("p", "boxes", LONG) + rest, None
    for more in ({}, {"hydrate": True, "limit": 80}):
        yield "POST", url("p", "boxes", "batch"), {"box_ids": [BOX, FORK], **more}
    for name in ("box:get", "box:cards", "box:context", "box:log"):
        yield "POST", url("p", "abilities", name), {"box_id": BOX}
    yield "POST", url("p", "abilities", "box:list"), {}


def of_sessions():
    yield "GET", session(), None
    for name, one, other in (("plain", "c", "d"), ("pi", "g", "h")):
        for rest in ("", "/tree", "/tree?lines=100&preview=100", "/tree?limit=1", "/leaves", "/branch-points", "/labels", "/path",
                     "/path?limit=2", f"/entries/{one}", f"/entries/{one}/path", "/entries/b/children",
                     f"/diff?a={one}&b={other}", "/context", f"/context?leaf={one}&format=anthropic",
                     f"/context?format=entries&repair=off&compare={other}", "/export", f"/export?leaf={one}"):
            yield "GET", session(name) + rest, None
    both = {"session_id": "pi"}
    for name, given in (("session:get", both), ("session:tree", both), ("session:leaves", both), ("session:path", both),
                        ("session:labels", both), ("session:branch_points", both), ("session:context", both),
                        ("session:entry", {**both, "entry_id": "c"}), ("session:children", {**both, "entry_id": "c"}),
                        ("session:diff", {**both, "a": "g", "b": "h"}), ("session:list", {})):
        yield "POST", url("p", "abilities", name), given


def of_ledger():
    for task in ("done", "open"):
        for name in ("ldg:call:list", "ldg:msg:list", "ldg:task:get"):
            yield "POST", url("p", "abilities", name), {"taskId": task}
    for given in ({}, {"goals": True, "state": True}, {"parentTaskId": "done"}, {"completionStatus": "success"}):
        yield "POST", url("p", "abilities", "ldg:task:query"), given
    yield "POST", url("p", "abilities", "task:active"), {}
    yield "STREAM", url("p", "tasks", "done", "stream"), None
    yield "STREAM", url("p", "tasks", "open", "stream"), None


def of_all():
    for path in ("/projects", url("p", "export"), url("p", "abilities"), url("p", "abilities", "box:get"), "/readyz",
                 "/metrics", "/version"):
        yield "GET", path, None
    for name, given in (("bus:abilities", {}), ("bus:list", {}), ("bus:schema", {"abilityId": "box:get"})):
        yield "POST", url("p", "abilities", name), given


READS = {"card": of_cards, "session": of_sessions, "task": of_ledger, "calls": of_ledger, "messages": of_ledger}


def reads_of(table):
    """What may see a row of a table."""
    groups = [of_boxes] if table.startswith("card_box") else [of_cards] if table.startswith("card") else []
    groups += [of_boxes, of_sessions, of_ledger] if table == "cards" else []
    groups += [READS[part] for part in ("session", "task", "calls", "messages") if table.startswith(part)]
    asked = {json.dumps(one): one for group in [*groups, of_all] for one in group()}
    return list(asked.values())


def table_of(change):
    return change.replace(".", " ").split()[0]


class Asker:
    """One connection to the server, made again where the server closes it."""

    def __init__(self, to):
        self.to = to
        self.seen = {}
        self.client = None

    def once_more(self, method, path, body):
        if self.client is None:
            self.client = self.to.client(SOON_S)
        headers = {"Content-Type": "application/json"}
        connection, deadline = self.client.connection, time.monotonic() + SOON_S
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply, pieces = connection.getresponse(), []
        while piece := reply.read1(1 << 16):
            pieces.append(piece)
            assert time.monotonic() < deadline, "an answer without end"
        if reply.length:
            raise http.client.IncompleteRead(b"".join(pieces))
        reply.read()  # it is over: the connection may be used again
        return cardbox_test.Response(reply.status, reply.getheaders(), b"".join(pieces))

    def stream(self, path):
        """The first events, without an end: the head must come."""
        with socket.create_connection(("127.0.0.1", self.to.port), timeout=SOON_S) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            status = int(connection.recv(64).split()[1])
        assert status < 500, (path, status)

    def ask_all(self, reads, of):
        """What is wrong with the answers."""
        problems = []
        for method, path, body in reads:
            try:
                self.ask(method, path, body, of)
            except AssertionError as error:
                problems.append(str(error)[:400])
                assert self.to.alive(), f"the server ended: {problems}\n{self.to.log()[-3000:]}"
        return problems

    def ask(self, method, path, body, of):
        began = time.monotonic()
        try:
            if method == "STREAM":
                self.stream(path)
                return
            answer = self.once_more(method, path, body)
        except (OSError, AssertionError, http.client.HTTPException) as error:
            self.client = None
            if isinstance(error, http.client.IncompleteRead) and LONG in path and table_of(of) in MAY_BE_CUT:
                return
            raise AssertionError(f"{of}: {method} {path} {body}: {error!r}") from error
        assert time.monotonic() - began < SOON_S, (of, method, path, body)
        if answer.header("Connection", "") == "close":
            self.client = None
        self.check(answer, of, method, path, body)

    def check(self, answer, of, method, path, body):
        try:
            self.check_body(answer, of, method, path, body)
        except ValueError as error:
            at = getattr(error, "pos", 0)
            near = getattr(error, "doc", "")[max(at - 60, 0):at + 60]
            raise AssertionError(f"{of}: {method} {path} {body}: {error}: {near!r}") from error

    def check_body(self, answer, of, method, path, body):
        if answer.header("Content-Type", "").startswith("application/x-ndjson") and path.endswith("p/export"):
            for line in answer.body.splitlines():
                json.loads(line)
        elif answer.header("Content-Type", "").startswith("application/json"):
            detail = json.loads(answer.body)
            said = detail["detail"] if answer.status >= 400 else None
            message = said["error_message"] if isinstance(said, dict) else str(said)[:60]
            fine = answer.status < 500 or message.startswith(DELIBERATE)
            assert fine, f"{of}: {method} {path} {body}: {answer}"
            if answer.status >= 400:
                self.seen.setdefault((answer.status, message[:70]), (of, path))


def new_server():
    owner()
    return Server(dsn(), "--database-timeout-ms", "10000", "--request-read-timeout-ms", "10000")


def check_end(to):
    assert to.alive()
    assert LIGHT or to.peak_rss_kb() < MEMORY_KB, to.peak_rss_kb()
    to.stop()


def try_columns(to, wanted):
    asker, problems, written = Asker(to), [], 0
    for table, column, kind, may_be_null in wanted:
        for value in values(kind, may_be_null)[::3 if LIGHT else 1]:
            if not write(table, column, value):
                continue
            written += 1
            of = f"{table}.{column} = {str(value)[:40]!r}"
            problems += asker.ask_all(reads_of(table)[written % EVERY::EVERY], of)
            restore(table)
            if len(problems) > 20:
                break
    if os.environ.get("CARDBOX_ROWS_VERBOSE"):
        for key, where in sorted(asker.seen.items()):
            print(key, where)
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:20])
    return written


def test_each_column():
    """One case a table."""
    owner()
    found = columns()
    for table in sorted({table for table, *_ in found}):

        def one(table=table):
            if table == "tokens":  # with any, all else would be 401
                owner().run("INSERT INTO cardbox.tokens (token_id, name, hash, scopes) OVERRIDING SYSTEM VALUE"
                            " VALUES (1, 'one', sha256('x'), '{read}'); INSERT INTO saved.tokens TABLE cardbox.tokens")
            to = new_server()
            assert try_columns(to, [row for row in found if row[0] == table]) > 0
            check_end(to)
            if table == "tokens":
                owner().run("TRUNCATE cardbox.tokens, saved.tokens")
        yield table, one


def test_all_together():
    """Every table has odd values at once, each row its own."""
    to, chance = new_server(), random.Random(SEED)
    # Without the record of `cardbox migrate` a new connection finds a database that is not migrated.
    tables = sorted({table for table, *_ in columns()}
                    - {"tokens", "token_changes", "tenant_grants", "migrations", "functions"})
    asker, problems = Asker(to), []
    for turn in range(2 if LIGHT else 3):
        for table, column, kind, may_be_null in columns():
            if table in tables and chance.random() < 0.3:
                write(table, column, chance.choice(values(kind, may_be_null)))
        for table in tables:
            problems += asker.ask_all(reads_of(table), f"turn {turn}")
        for table in tables:
            restore(table)
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:20])
    check_end(to)


if __name__ == "__main__":
    cardbox_test.main()

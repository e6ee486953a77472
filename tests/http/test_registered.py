#!/usr/bin/env python3
"""Registered abilities: their definitions, calls of their URLs, and what a URL can do wrong."""

import concurrent.futures
import json
import os
import socket
import subprocess
import sys
import threading
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, WAIT_S, Server, as_role, await_, cardbox, database, dsn, holding, literal, once, psql
from outside_server import OutsideServer, Reply

JSON = {"Content-Type": "application/json"}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        "additionalProperties": False}
ANY = {}


@once
def server():
    return Server(dsn(), "--abilities-allow-private")


@once
def echo():
    return OutsideServer(lambda request: {"text": request.json["text"].upper()})


def definition(url=None, **members):
    return {"description": "Makes a text louder", "inputSchema": TEXT, "outputSchema": TEXT,
            "url": echo().url if url is None else url, **members}


def path(ability, project="acme"):
    return f"/projects/{project}/abilities/{ability}"


def put(ability, value, project="acme", expect=200, at=None, headers=None):
    answer = (at or server()).request("PUT", path(ability, project), json.dumps(value).encode(), {**JSON, **(headers or {})})
    assert answer.status == expect, (answer.status, answer.body[:500])
    return answer.json()


def call(ability, value, project="acme", expect=200, at=None, headers=None, **options):
    answer = (at or server()).post(path(ability, project), value, headers, **options)
    assert answer.status == expect, (answer.status, answer.body[:500])
    return answer.json()


def failed(ability, value, status, words, **options):
    detail = call(ability, value, expect=status, **options)["detail"]
    assert detail["error_code"] == "unknown_failure" and words in detail["error_message"], detail
    return detail["error_message"]


def cpu_seconds(of):
    """CPU time of a server so far."""
    with open(f"/proc/{of.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def scripted(script, **members):
    """The id of a new ability that a server with this script implements, and the server."""
    outside = OutsideServer(script)
    ability = f"out:{uuid.uuid4().hex[:12]}"
    put(ability, definition(outside.url, inputSchema=ANY, outputSchema=ANY, **members))
    return ability, outside


def refused(value, words, ability="mem:retrieve", status=422):
    answer = put(ability, value, expect=status)
    assert words in json.dumps(answer), answer
    return answer


# --- definitions ---


def test_register_and_describe():
    made = put("mem:store:text", definition(headers={"Authorization": "Bearer s3cret"}, timeoutMs=1234))
    assert made == {"id": "mem:store:text", "moduleName": "mem", "abilityName": "store:text",
                    "description": "Makes a text louder", "inputSchema": TEXT, "outputSchema": TEXT,
                    "tags": ["write"], "unchecked": [], "url": echo().url, "timeoutMs": 1234}, made
    assert server().get(path("mem:store:text")).json() == made
    again = put("mem:store:text", definition(description="other"))
    assert again["description"] == "other" and again["timeoutMs"] == 30000, again
    deleted = server().request("DELETE", path("mem:store:text"))
    assert deleted.json() == {"ability_id": "mem:store:text", "deleted": True}
    for method in "GET", "DELETE":
        gone = server().request(method, path("mem:store:text"))
        assert gone.status == 404 and gone.json()["detail"]["error_code"] == "invalid_ability", gone.body


def test_headers_are_never_answered():
    put("mem:secret", definition(headers={"X-Key": "s3cret-word"}))
    answers = [server().get(path("mem:secret")), server().get("/projects/acme/abilities"),
               server().get("/projects/acme/export"),
               server().post(path("bus:inspect"), {"abilityId": "mem:secret"}),
               server().post(path("bus:schema"), {"abilityId": "mem:secret"})]
    answers.append(server().request("PUT", path("mem:secret"), json.dumps(definition(headers={"X-Key": "s3cret-word"})).encode(), JSON))
    for answer in answers:
        assert answer.status == 200 and b"s3cret" not in answer.body, answer.body


def test_unchecked_keywords():
    made = put("mem:partial", definition(inputSchema={"type": "object", "pattern": "x", "if": {}},
                                         outputSchema={"pattern": "y", "weird \"name\"": 1}))
    assert made["unchecked"] == ["pattern", "if", "weird \"name\""], made
    assert server().get(path("mem:partial")).json()["unchecked"] == made["unchecked"]


def test_bad_ids():
    for ability in ("mem", "mem:", ":x", "a:b:c:d", "a::b", "m%20m:x", "m.m:x", "x" * 58 + ":yz", "%C3%BC:x"):
        answer = put(ability, definition(), expect=422)
        assert "ability_id" in json.dumps(answer), answer
    put("x" * 57 + ":yz", definition())


def test_built_in_modules():
    for ability in ("card:get", "card:fly", "bus:x", "ldg:task:save", "ldg:x", "task:spawn", "session:x", "box:a:b"):
        refused(definition(), "built-in", ability, 409)
        answer = server().request("DELETE", path(ability))
        assert answer.status == 409 and answer.json()["detail"]["hint"] == "a built-in ability can't be deleted", answer
    put("cards:get", definition())


def test_bad_definitions():
    refused({}, "missing")
    for member in ("description", "inputSchema", "outputSchema", "url"):
        value = definition()
        del value[member]
        assert [fault["loc"] for fault in refused(value, "missing")["detail"]["faults"]] == [["body", member]]
    refused(definition(more=1), "more")
    for schema, words in (({"properties": {"a": {"type": "strin"}}}, "/properties/a/type: is not the name of a type"),
                          ({"$ref": "#/nothing"}, "/$ref"), ({"required": "x"}, "/required"),
                          ({"required": ["x"] * 257}, "/required: has over 256 names")):
        for member in ("inputSchema", "outputSchema"):
            answer = refused(definition(**{member: schema}), words)
            assert answer["detail"]["faults"][0]["loc"] == ["body", member], answer
    refused(definition(inputSchema=True), "inputSchema")
    for url in ("", "x", "ftp://example.com/", "file:///etc/passwd", "http://", "http://u:p@example.com/", "//example.com",
                "http:/a", "http:///a", "http://exa mple.com/", "http://example.com/\n", "unix:/tmp/x", "http://example.com/" + "x" * 2048):
        refused(definition(url), "url")
    for headers in ([], {"a": 1}, {"a": ""}, {"a": "x\r\nb: c"}, {"a b": "c"}, {"": "c"}, {"a:": "c"}, {"a": " c"},
                    {"a": "\u00fc"}, {"Content-Type": "x"}, {"content-length": "1"}, {"HOST": "x"}, {"X-Call-ID": "x"},
                    {"x_project_id": "x"}, {"X-Call_Id": "x"},
                    {"Transfer-Encoding": "chunked"}, {"a": "x" * 4097}, {f"h{i}": "x" for i in range(33)}):
        refused(definition(headers=headers), "headers")
    for timeout in (0, -1, 600001, "1", 1.5, True):
        refused(definition(timeoutMs=timeout), "timeoutMs")
    assert put("mem:timeout", definition(timeoutMs=2.0))["timeoutMs"] == 2


def test_size():
    small = {**TEXT, "description": "x" * 60000}
    put("mem:large", definition(inputSchema=small))
    answer = put("mem:large", definition(inputSchema={**TEXT, "description": "x" * 65536}), expect=413)
    assert "65536 bytes" in answer["detail"]["error_message"], answer


def test_number_of_abilities():
    """At most 200 a project; a replacement still works."""
    psql(dsn(), "INSERT INTO cardbox.abilities (tenant_id, ability_id, description, input_schema, output_schema, url, headers,"
                " timeout_ms, unchecked) SELECT 'full', 'm:a' || i, '', '{}', '{}', 'http://x.test/', '{}', 1, '[]'"
                " FROM generate_series(1, 199) AS i")
    put("n:b", definition(), "full")
    put("n:c", definition(), "full", expect=409)
    put("m:a1", definition(), "full")
    listed = server().get("/projects/full/abilities").json()["abilities"]
    assert len([a for a in listed if a["moduleName"] in "mn"]) == 200
    server().request("DELETE", path("m:a1", "full"))
    put("n:new", definition(), "full")
    put("n:other", definition(), "else")


def test_projects_do_not_wait_for_each_other():
    saved = "SELECT cardbox.save_ability('holder', 'a:b', '', '{}', '{}', 'http://x.test/', '{}', 1, '[]', 200)"
    with holding(dsn(), saved):
        put("a:b", definition(), "free")


def test_bus_shows_them():
    for ability in ("zoo:feed", "zoo:count:all", "ark:open"):
        put(ability, definition(), "bus")
    modules = [(m["name"], m["abilityCount"]) for m in call("bus:list", {}, "bus")["modules"]]
    assert modules[0] == ("bus", 4) and modules[-2:] == [("ark", 1), ("zoo", 2)], modules
    shown = call("bus:abilities", {"moduleName": "zoo"}, "bus")["abilities"]
    assert shown == [{"id": "zoo:count:all", "name": "count:all", "description": "Makes a text louder", "isStream": False},
                     {"id": "zoo:feed", "name": "feed", "description": "Makes a text louder", "isStream": False}], shown
    assert call("bus:schema", {"abilityId": "ark:open"}, "bus") == {"abilityId": "ark:open", "inputSchema": TEXT, "outputSchema": TEXT}
    meta = call("bus:inspect", {"abilityId": "ark:open"}, "bus")["meta"]
    assert meta == {"id": "ark:open", "moduleName": "ark", "abilityName": "open", "description": "Makes a text louder",
                    "inputSchema": TEXT, "outputSchema": TEXT, "tags": ["write"]}, meta
    done = cardbox("ability", "invoke", "--dsn", dsn(), "--project", "bus", "bus:list", "{}")
    assert "\"ark\"" in done.stdout, done.stdout


def test_other_tenants():
    """An ability of one project can neither be seen nor called from another."""
    put("own:thing", definition(), "one")
    for seen in (server().get("/projects/two/abilities").body, server().post(path("bus:list", "two"), {}).body,
                 server().post(path("bus:abilities", "two"), {"moduleName": "own"}).body):
        assert b"own:" not in seen and b'"name":"own"' not in seen, seen
    assert server().get(path("own:thing", "two")).status == 404
    assert server().request("DELETE", path("own:thing", "two")).status == 404
    for ability, value, code in (("own:thing", {"text": "x"}, "invalid_ability"), ("bus:schema", {"abilityId": "own:thing"}, "error"),
                                 ("bus:inspect", {"abilityId": "own:thing"}, "error")):
        assert call(ability, value, "two", 404)["detail"]["error_code"] == code
    assert call("own:thing", {"text": "x"}, "one") == {"text": "X"}
    put("own:thing", definition(description="of two"), "two")
    assert server().get(path("own:thing", "one")).json()["description"] == "Makes a text louder"


def test_workers_roles():
    """A worker's role reads the abilities of its projects, and can write none."""
    put("own:read", definition(headers={"X-Key": "k"}), "granted")
    put("own:read", definition(), "ungranted")
    role = f"worker_{uuid.uuid4().hex[:8]}"
    psql(dsn(), f"CREATE ROLE {role} LOGIN IN ROLE cardbox_worker;"
                f"INSERT INTO cardbox.tenant_grants (role_name, tenant_id) VALUES ({literal(role)}, 'granted')")
    seen = psql(dsn(), f"SET ROLE {role}; SELECT DISTINCT tenant_id, headers ->> 'X-Key' FROM cardbox.abilities")
    assert seen.split() == ["granted|k"], seen
    for sql in ("DELETE FROM cardbox.abilities", "UPDATE cardbox.abilities SET url = 'http://x.test/'",
                "SELECT cardbox.save_ability('granted', 'a:b', '', '{}', '{}', 'http://x.test/', '{}', 1, '[]', 200)"):
        done = subprocess.run(["psql", as_role(dsn(), role), "-XqAt", "-c", sql], capture_output=True, text=True, check=False)
        assert done.returncode != 0 and "permission denied" in done.stderr, (sql, done)


def test_scopes():
    open_server = server()
    dsn_ = database()
    guarded = Server(dsn_, "--abilities-allow-private", auth=True)
    guarded.await_ready()
    tokens = {scope: json.loads(cardbox("token", "create", "--dsn", dsn_, "--name", scope, "--tenant", "acme",
                                        "--scope", scope, "--json").stdout)["token"] for scope in ("read", "write", "tasks", "admin")}
    bearer = {scope: {**JSON, "Authorization": f"Bearer {token}"} for scope, token in tokens.items()}
    await_(lambda: guarded.get(path("card:get"), bearer["admin"]).status == 403)  # the newest token is known
    body = json.dumps(definition()).encode()
    for scope in ("read", "write", "tasks"):
        assert guarded.request("PUT", path("mem:x"), body, bearer[scope]).status == 403
        assert guarded.request("DELETE", path("mem:x"), None, bearer[scope]).status == 403
    assert guarded.request("PUT", path("mem:x", "other"), body, bearer["admin"]).status == 403
    assert guarded.request("PUT", path("mem:x"), body, bearer["admin"]).status == 200
    shown = guarded.get(path("mem:x"), bearer["read"])
    assert shown.status == 200 and "url" not in shown.json() and echo().url.encode() not in shown.body, shown.body
    for scope, status in (("read", 403), ("write", 200), ("tasks", 403), ("admin", 403)):
        assert guarded.request("POST", path("mem:x"), b'{"text": "a"}', bearer[scope]).status == status, scope
    assert "url" in open_server.get("/projects/acme/abilities/" + scripted(lambda _: 1)[0]).json()


def test_read_only_server():
    only = Server(dsn(), "--read-only", "--abilities-allow-private")
    put("mem:ro", definition())
    assert only.request("PUT", path("mem:ro"), json.dumps(definition()).encode(), JSON).status == 403
    assert only.request("DELETE", path("mem:ro")).status == 403
    call("mem:ro", {"text": "x"}, expect=403, at=only)
    assert only.get(path("mem:ro")).status == 200


# --- calls ---


def test_call():
    ability, outside = scripted(lambda request: {"got": request.json}, headers={"X-Key": "k 1", "Authorization": "Bearer b"})
    value = {"text": "ü 😀", "n": 1.50}
    answer = server().post(path(ability), value, {"X-Call-Id": "call 1%", "X-Caller-Id": "task-1"})
    assert answer.status == 200 and answer.json() == {"got": value} and answer.header("Content-Type") == "application/json", answer.body
    request, = outside.requests
    assert (request.method, request.path, request.text) == ("POST", "/", json.dumps(value).encode())
    assert {name: request.headers[name] for name in ("Content-Type", "X-Call-Id", "X-Caller-Id", "X-Project-Id", "X-Key", "Authorization")} == {
        "Content-Type": "application/json", "X-Call-Id": "call 1%", "X-Caller-Id": "task-1", "X-Project-Id": "acme",
        "X-Key": "k 1", "Authorization": "Bearer b"}, request.headers.items()
    answer = server().request("POST", path(ability), None, JSON)
    assert answer.json() == {"got": {}}, answer.body
    assert uuid.UUID(outside.requests[1].headers["X-Call-Id"]) and outside.requests[1].headers["X-Caller-Id"] is None


def test_long_calls():
    """Neither the time limit of the database nor that of idle clients ends a call."""
    short = Server(dsn(), "--abilities-allow-private", "--database-timeout-ms", "1000", "--idle-timeout-s", "1")
    ability, outside = scripted(lambda _: {"late": outside.stopped.wait(3)})
    assert call(ability, {}, at=short) == {"late": False}


def test_project_ids_in_headers():
    ability, outside = scripted(lambda _: {})
    value = definition(outside.url, inputSchema=ANY, outputSchema=ANY)
    put(ability, value, "a%20b%C3%BC%25c")
    call(ability, {}, "a%20b%C3%BC%25c")
    assert outside.requests[-1].headers["X-Project-Id"] == "a%20b%C3%BC%25c"


def test_input_is_validated():
    count = len(echo().requests)
    put("mem:loud", definition())
    detail = call("mem:loud", {"text": 1, "more": 2}, expect=422)["detail"]
    assert detail["error_code"] == "validation_failed" and '/text: expected "string"' in detail["error_message"], detail
    assert [fault["loc"] for fault in detail["faults"]] == [["body", "text"], ["body", "more"]], detail
    assert call("mem:loud", {"text": None}, expect=422)["detail"]["error_code"] == "validation_failed"
    assert server().request("POST", path("mem:loud"), b"{", JSON).status == 400
    assert len(echo().requests) == count
    assert call("mem:loud", {"text": "x"}) == {"text": "X"}


def test_stored_headers_are_checked():
    """A row of the database is outside input: a header that PUT refuses is not sent either."""
    ability, outside = scripted(lambda _: {})
    for headers in ({"X-Key": "x" * 20000}, {"X-Key": "a\r\nX-Other: b"}, {"X Key": "b"}, {"Host": "x"}, {"X-Key": 1},
                    {f"h{i}": "x" for i in range(33)}):
        psql(dsn(), f"UPDATE cardbox.abilities SET headers = {literal(json.dumps(headers))} WHERE ability_id = {literal(ability)}")
        failed(ability, {}, 502, "stored headers of the ability are not valid")
    assert not outside.requests


def test_other_statuses():
    replies = [Reply(500, b'{"error": "no\x01\xff \xc3\xbc"}'), Reply(404), Reply(204), Reply(201, b"{}"), Reply(301, Location=echo().url),
               Reply(307, b"x" * 5000, Location=echo().url), Reply(503, b"y" * 3000000)]
    count = len(echo().requests)
    ability, _ = scripted(lambda request: replies[request.json])
    for number, reply in enumerate(replies):
        message = failed(ability, number, 502, f"status {reply.status}")
        assert len(message) < 400, message
    assert "no ? ü" in failed(ability, 0, 502, "500")
    assert len(echo().requests) == count, "a redirect was followed"


def test_bad_outputs():
    outputs = [b"", b"{", b"nothing", b"\xff", b"{}{}", b"[" * 1000 + b"]" * 1000]
    ability, _ = scripted(lambda request: Reply(200, outputs[request.json]))
    for number in range(len(outputs)):
        failed(ability, number, 502, "not valid JSON")
    outside = OutsideServer(lambda _: {"text": 5})
    put("out:wrong", definition(outside.url))
    assert '/text: expected "string"' in failed("out:wrong", {"text": "x"}, 502, "violates its schema")


def test_large_outputs():
    def script(request):
        return Reply(200, b'"' + b"x" * request.json + b'"')
    ability, _ = scripted(script)
    most = 4 * 1024 * 1024
    assert len(call(ability, most - 2)) == most - 2
    failed(ability, most - 1, 502, "limit of 4194304 bytes")
    failed(ability, 50_000_000, 502, "limit of 4194304 bytes")
    outside = OutsideServer(lambda request: Reply(200, b"[" + b"1," * request.json + b"1]"))
    put("out:numbers", definition(outside.url, inputSchema=ANY, outputSchema={"items": {"type": "integer"}}))
    many = 200_000 if LIGHT else 2_000_000
    assert len(call("out:numbers", many)) == many + 1


def test_slow_validation():
    """A schema that is slow to check ends the call, and blocks nobody. How many steps it may need depends on the value."""
    slow = {"items": {"not": {}, "enum": [f"v{i}" for i in range(5000)]}}
    outside = OutsideServer(lambda request: Reply(200, b"[" + b'"v4999",' * 400_000 + b'"v4999"]'))
    put("out:heavy", definition(outside.url, inputSchema=ANY, outputSchema=slow))
    failed("out:heavy", {}, 502, "the check needs too many steps")
    nested = {"$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(20)}, "$ref": "#/$defs/d0"}
    nested["$defs"]["d20"] = {"type": "string"}
    quick = OutsideServer(lambda request: Reply(200, b"1"))
    put("out:nested", definition(quick.url, inputSchema=nested, outputSchema=ANY))
    answer = server().post(path("out:nested"), 1)
    assert answer.status == 422 and b"the check needs too many steps" in answer.body, answer
    put("out:nested", definition(quick.url, inputSchema=ANY, outputSchema=nested))
    before = cpu_seconds(server())
    for _ in range(20):
        failed("out:nested", {}, 502, "the check needs too many steps")
    assert cpu_seconds(server()) - before < 20, "a call took over a second of a core"


def send_slowly(outside, request, pause=0.02, size=1000):
    request.connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
    for _ in range(size):
        request.connection.sendall(b" ")
        if outside[0].stopped.wait(pause):
            return


def test_slow_answers():
    """A time limit holds for the whole answer: bytes that come slowly do not lengthen it."""
    outside = []
    outside.append(OutsideServer(lambda request: send_slowly(outside, request) if request.json else outside[0].stopped.wait(20)))
    put("out:slow", definition(outside[0].url, inputSchema=ANY, outputSchema=ANY, timeoutMs=300))
    for value in (True, False):
        failed("out:slow", value, 504, "within 300 ms")


def test_answers_that_break():
    def cut(request):
        request.connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n{")
        request.connection.shutdown(socket.SHUT_RDWR)
    ability, outside = scripted(cut)
    failed(ability, {}, 502, "can't be called")
    outside.script = lambda request: request.connection.sendall(b"no http at all\r\n\r\n")
    failed(ability, {}, 502, "can't be called")
    outside.stop()
    message = failed(ability, {}, 502, "can't be called")
    assert "127.0.0.1" not in message and str(outside.port) not in message, message
    put("out:nowhere", definition("http://nothing.invalid/secret"))
    message = failed("out:nowhere", {"text": "x"}, 502, "can't be called")
    assert "invalid" not in message and "secret" not in message, message


def test_private_addresses():
    """Without the option no private address is called, whatever name it has; no proxy of the environment either."""
    outside = OutsideServer(lambda _: {})
    os.environ["http_proxy"] = os.environ["ALL_PROXY"] = outside.url
    try:
        closed = Server(dsn())
        opened = Server(dsn(), "--abilities-allow-private")
    finally:
        del os.environ["http_proxy"], os.environ["ALL_PROXY"]
    for url in (outside.url, f"http://localhost:{outside.port}/", f"http://127.1:{outside.port}/", f"http://[::ffff:127.0.0.1]:{outside.port}/",
                f"http://2130706433:{outside.port}/", f"http://0x7f000001:{outside.port}/", f"http://0.0.0.0:{outside.port}/",
                "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[::1]/", "http://[fd00::1]/", "http://[fe80::1]/"):
        put("out:private", definition(url, inputSchema=ANY, outputSchema=ANY, timeoutMs=5000))
        assert "--abilities-allow-private" in failed("out:private", {}, 502, "not public", at=closed), url
    assert not outside.requests
    put("out:private", definition("http://127.0.0.1:1/", inputSchema=ANY, outputSchema=ANY))
    failed("out:private", {}, 502, "can't be called", at=opened)
    assert not outside.requests, "a proxy was used"


def test_slow_urls_do_not_block():
    """A project with slow URLs reaches its limit; its reads and the abilities of others go on."""
    small = Server(dsn(), "--abilities-allow-private", "--ability-calls-max", "4", "--project-ability-calls-max", "2")
    release = threading.Event()
    slow = OutsideServer(lambda _: release.wait(WAIT_S) and {})
    for project in "slow1", "slow2", "slow3":
        put("out:wait", definition(slow.url, inputSchema=ANY, outputSchema=ANY), project)
    put("out:echo", definition(), "quick")
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        waiting = [pool.submit(call, "out:wait", {}, "slow1", at=small) for _ in range(2)]
        await_(lambda: len(slow.requests) == 2)
        full = small.post(path("out:wait", "slow1"), {})
        assert full.status == 503 and full.header("Retry-After") and "of this project" in full.json()["detail"]["error_message"], full.body
        assert small.get("/projects/slow1/cards").status == 200
        assert call("bus:list", {}, "slow1", at=small)
        assert call("out:echo", {"text": "a"}, "quick", at=small) == {"text": "A"}
        assert small.metric("cardbox_ability_calls") == 2
        waiting.append(pool.submit(call, "out:wait", {}, "slow2", at=small))
        await_(lambda: len(slow.requests) == 3)
        full = call("out:wait", {}, "slow2", 503, at=small)["detail"]  # the last thread is for another project
        assert "of this project" in full["error_message"], full
        waiting.append(pool.submit(call, "out:wait", {}, "slow3", at=small))
        await_(lambda: len(slow.requests) == 4)
        full = call("out:echo", {"text": "a"}, "quick", 503, at=small)["detail"]
        assert full["error_code"] == "unavailable" and "of this project" not in full["error_message"], full
        release.set()
        assert [done.result() for done in waiting] == [{}] * 4
    assert call("out:echo", {"text": "a"}, "quick", at=small) == {"text": "A"}
    assert small.metric("cardbox_ability_calls") == 0 and small.metric("cardbox_ability_calls_total") >= 6
    assert small.metric('cardbox_errors_total{error_code="unavailable",reason="ability_calls_full"') == 3


def test_clients_that_leave():
    """The call of a client that leaves is given up, so its slot becomes free."""
    small = Server(dsn(), "--abilities-allow-private", "--project-ability-calls-max", "1")
    outside = OutsideServer(lambda request: outside.stopped.wait(WAIT_S) and {} if request.json else {})
    put("out:left", definition(outside.url, inputSchema=ANY, outputSchema=ANY))
    with socket.create_connection(("127.0.0.1", small.port)) as connection:
        connection.sendall(b"POST /projects/acme/abilities/out:left HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Type: application/json\r\nContent-Length: 4\r\n\r\ntrue")
        await_(lambda: len(outside.requests) == 1)
        assert small.post(path("out:left"), False).status == 503
    await_(lambda: small.post(path("out:left"), False).status == 200)


def test_stop():
    """A server that stops ends the calls at its drain timeout, and those of a second signal at once."""
    for options, again in ((("--drain-timeout-ms", "100"), False), ((), True)):
        small = Server(dsn(), "--abilities-allow-private", *options)
        outside = OutsideServer(lambda _: outside.stopped.wait(WAIT_S) and {})
        put("out:stop", definition(outside.url, inputSchema=ANY, outputSchema=ANY, timeoutMs=600000))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(small.post, path("out:stop"), {})
            await_(lambda: len(outside.requests) == 1)
            if again:
                small.process.terminate()
                await_(lambda: "stopping" in small.log())
            small.stop(20)
            answer = waiting.result()
            assert answer.status == 503 and "stopping" in answer.json()["detail"]["error_message"], answer.body


def test_deleted_while_it_runs():
    release = threading.Event()
    ability, outside = scripted(lambda _: release.wait(WAIT_S) and {"done": True})
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(call, ability, {})
        await_(lambda: len(outside.requests) == 1)
        assert server().request("DELETE", path(ability)).status == 200
        release.set()
        assert waiting.result() == {"done": True}
    call(ability, {}, expect=404)


def test_sdk_does_not_call_them():
    """The SDK has no HTTP client; the message says where the ability can be invoked."""
    put("mem:sdk", definition())
    done = cardbox("ability", "invoke", "--dsn", dsn(), "--project", "acme", "mem:sdk", '{"text": "x"}', check=False)
    assert done.returncode == 1 and "over HTTP" in done.stderr, done.stderr
    assert """cardbox ability invoke bus:abilities '{"moduleName":"mem"}'""" in done.stderr and "ability list" not in done.stderr
    done = cardbox("ability", "invoke", "--dsn", dsn(), "--project", "acme", "nothing", check=False)
    assert done.returncode == 1 and 'there is no ability "nothing"; see `cardbox ability list`' in done.stderr, done.stderr


if __name__ == "__main__":
    cardbox_test.main()

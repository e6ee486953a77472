#!/usr/bin/env python3
"""openapi/: the YAML is clean, the JSON is the same document, and both say what cardboxd does."""

import json
import os
import re
import subprocess
import sys
import urllib.parse

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "openapi"))
import build  # noqa: E402
import cardbox_test  # noqa: E402
import npm  # noqa: E402
from cardbox_test import CARDBOXD  # noqa: E402

# The last line of releases that runs on Debian 12's node 18.
LINTER = "@redocly/cli@1.34.20"
NPM_FOLDER = os.path.join(cardbox_test.ROOT, "build", "npm")
OPENAPI = os.path.join(cardbox_test.ROOT, "openapi")
SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")
SAMPLE_SESSION = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample_session.jsonl")
BOX = "01970000-0000-7000-8000-00000000000"
METHODS = ("get", "post", "put", "patch", "delete", "head", "options")


def document():
    with open(os.path.join(OPENAPI, "cardbox.json"), encoding="utf-8") as text:
        return json.load(text)


def run(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=240,
                          env={**os.environ, **(env or {})})
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def linter():
    """The linter's program."""
    return os.path.join(npm.install(NPM_FOLDER, LINTER), ".bin", "redocly")


def test_json_is_the_yaml():
    run(os.path.join(OPENAPI, "build.py"), "--check")


def test_lint():
    # recommended-strict: what would be a warning is an error.
    run(linter(), "lint", "--extends=recommended-strict", os.path.join(OPENAPI, "cardbox.json"),
        env={"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"})


def test_errors_have_bodies():
    """From an answer without a body, generated clients conclude that `data` may be missing although there is no `error`."""
    root = document()
    for path, item in root["paths"].items():
        for method, operation in item.items():
            for status, answer in operation["responses"].items() if method in METHODS and path not in ("/", "/ui") else ():
                answer = Checker(root).resolve(answer)
                assert "content" in answer or status[0] in "23", f"{method.upper()} {path} {status}"


def test_version_is_the_header_s():
    header = os.path.join(cardbox_test.ROOT, "include", "cardbox", "version.h")
    with open(header, encoding="utf-8") as text:
        assert f'CARDBOX_VERSION       "{document()["info"]["version"]}"' in text.read()


def test_content_classes():
    """Each is named where somebody who writes a card looks for it, with what it needs."""
    with open(os.path.join(cardbox_test.ROOT, "src", "model", "content", "class.c"), encoding="utf-8") as text:
        classes = re.findall(r'\.name = "(\w+Content)"', text.read())
    said = document()["components"]["schemas"]["NewCard"]["properties"]["content"]["description"]
    assert len(classes) == 14 and set(re.findall(r"\w+Content\b", said)) == set(classes), said


def is_ability(path):
    """Whether a path is that of one built-in ability: the server has one route for all of them."""
    return path.startswith(ABILITIES + "/") and path != AN_ABILITY


def test_routes():
    documented = {f"{method.upper()} {path}" for path, item in document()["paths"].items()
                  for method in item if method in METHODS and not is_ability(path)}
    routes = [line.rpartition(" ") for line in run(CARDBOXD, "--routes").splitlines()]
    served = {route for route, _, _ in routes}
    # HEAD goes with every GET; the document says so in one sentence. /ui/ is described with its files.
    served = {line for line in served if not line.startswith("HEAD ") and line != "GET /ui/"}
    assert documented == served, f"only documented: {documented - served}, " \
                                 f"only served: {served - documented}"
    for route, _, scope in routes:
        method, path = route.split()
        if path == "/ui/":
            continue
        operation = document()["paths"][path][method.lower()]
        scopes = ["read", "write", "tasks"] if scope == "ability" else [scope]
        security = [] if scope == "open" else [{"token": [name]} for name in scopes] + [{}]
        assert operation["security"] == security, f"{route}: security must be {security}"
        if scope != "open":
            assert {"401", "403"} <= set(operation["responses"]), f"{route} lacks 401 or 403"


# --- what a live server answers, against the schemas ---


class Checker:
    """JSON Schema, and of objects that their members are documented and stand in that order."""

    TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
             "null": type(None)}

    def __init__(self, root):
        self.root = root

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.root
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = target
        return node

    def check(self, value, schema, where="body"):
        schema = self.resolve(schema)
        for alternatives in ("anyOf", "oneOf"):
            if alternatives in schema:
                self.check_any(value, schema[alternatives], where)
        if "const" in schema:
            assert value == schema["const"], f"{where}: {value!r}"
        if "enum" in schema:
            assert value in schema["enum"], f"{where}: {value!r} is not documented"
        self.check_type(value, schema.get("type"), where)
        if isinstance(value, dict) and schema.get("type") == "object":
            self.check_object(value, schema, where)
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                self.check(item, schema["items"], f"{where}[{index}]")

    def check_any(self, value, schemas, where):
        faults = []
        for schema in schemas:
            try:
                return self.check(value, schema, where)
            except AssertionError as fault:
                faults.append(str(fault))
        raise AssertionError(f"{where}: {faults}")

    def check_type(self, value, types, where):
        if types is None:
            return
        types = [types] if isinstance(types, str) else types
        fits = any(isinstance(value, self.TYPES[name])
                   and not (name == "integer" and isinstance(value, bool)) for name in types)
        assert fits, f"{where}: {value!r} is none of {types}"

    def check_object(self, value, schema, where):
        properties = schema.get("properties", {})
        missing = [name for name in schema.get("required", []) if name not in value]
        assert not missing, f"{where} lacks {missing}"
        if properties and "additionalProperties" not in schema:
            unknown = [name for name in value if name not in properties]
            assert not unknown, f"{where}: {unknown} are not documented"
        order = [name for name in properties if name in value]
        assert [name for name in value if name in properties] == order, f"{where}: {list(value)}"
        for name, member in properties.items():
            if name in value:
                self.check(value[name], member, f"{where}.{name}")

    def check_response(self, operation, response, head=False):
        described = operation["responses"].get(str(response.status))
        assert described, f"status {response.status} is not documented"
        described = self.resolve(described)
        for name, header in described.get("headers", {}).items():
            if response.header(name) or not self.resolve(header).get("x-sometimes"):
                assert response.header(name), f"{response.status} lacks {name}"
        media = described["content"].get(response.header("Content-Type", "").split(";")[0])
        assert media, f"{response.header('Content-Type')} is not documented"
        if not head:
            is_json = response.header("Content-Type").startswith("application/json")
            said = response.json() if is_json else response.body.decode()
            self.check(said, media["schema"])
            jsonschema.Draft202012Validator({**media["schema"], "components": self.root["components"]}).validate(said)


CARD = "/projects/{project_id}/cards/{card_id}"
CARDS = "/projects/{project_id}/cards/batch"
A_BOX = "/projects/{project_id}/boxes/{box_id}"
BOX_CARDS = "/projects/{project_id}/boxes/{box_id}/cards"
BOX_CONTEXT = "/projects/{project_id}/boxes/{box_id}/context"
BOXES = "/projects/{project_id}/boxes/batch"
SESSIONS = "/projects/{project_id}/sessions"
SESSION = SESSIONS + "/{session_id}"
ENTRY = SESSION + "/entries/{entry_id}"
A_SESSION = "/projects/demo/sessions/s"
CHAT = "/projects/demo/sessions/chat/messages"
IMAGE = "data:image/png;base64,iVBORw0KGgo="
OPENAI = [
    {"role": "developer", "content": "be brief"}, {"role": "system", "content": [{"type": "text", "text": "be kind"}]},
    {"role": "user", "name": "ann", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": IMAGE}}]},
    {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":"}},
        {"id": "c2", "type": "custom", "custom": {"name": "g", "input": "x"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "r"}]},
    {"role": "tool", "tool_call_id": "c2", "content": "s"}, {"role": "assistant", "refusal": "no", "tool_calls": []}]
ANTHROPIC = [
    {"role": "user", "content": "and?"},
    {"id": "msg", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use", "usage": {"input_tokens": 1},
     "content": [{"type": "thinking", "thinking": "", "signature": "S"}, {"type": "text", "text": "t", "citations": [{"x": 1}]},
                 {"type": "tool_use", "id": "c3", "name": "f", "input": {}}, {"type": "server_tool_use", "id": "v", "name": "w", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c3", "is_error": True, "content": [
        {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}]}]}]
RESPONSES = [
    {"role": "user", "content": "more"}, {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "E"},
    {"type": "function_call", "id": "fc", "call_id": "c4", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c4", "output": "done"}, {"type": "web_search_call", "id": "ws", "status": "completed"}]
EXPORT = "/projects/{project_id}/export"
IMPORT = "/projects/{project_id}/import"
ALL_CARDS = "/projects/{project_id}/cards"
ALL_BOXES = "/projects/{project_id}/boxes"
TASK_STREAM = "/projects/{project_id}/tasks/{task_id}/stream"
ABILITIES = "/projects/{project_id}/abilities"
AN_ABILITY = ABILITIES + "/{ability_id}"
MEMORY = {"description": "Finds what was said", "url": "http://127.0.0.1:9/", "outputSchema": {"pattern": "x"},
          "inputSchema": {"type": "object", "required": ["topic"]}, "headers": {"X-Key": "k"}}
A_CARD = "/projects/demo/cards/a"
BOX_4 = "/projects/demo/boxes/" + BOX + "4"
BOX_5 = "/projects/demo/boxes/" + BOX + "5"
NO_BOX = "/projects/demo/boxes/" + BOX + "9"

# method, documented path, path, JSON body, status
REQUESTS = [
    ("GET", CARD, "/projects/demo/cards/demo-001-instruction", None, 200),
    ("GET", CARD, "/projects/demo/cards/demo-003-tools", None, 200),
    ("GET", CARD, "/projects/demo/cards/demo-005-thought", None, 200),
    ("GET", CARD, "/projects/demo/cards/demo-007-result", None, 200),
    ("GET", CARD, "/projects/demo/cards/demo-015-file", None, 200),
    ("GET", CARD, "/projects/demo/cards/nothing", None, 404),
    ("GET", CARD, "/projects/demo/cards/", None, 404),
    ("GET", CARD, "/projects/demo/cards/%00", None, 400),
    ("GET", CARD, "/projects/demo/cards/%zz", None, 400),
    ("PUT", CARD, "/projects/demo/cards/demo-001-instruction", {}, 405),
    ("POST", CARDS, "/projects/demo/cards/batch", {"card_ids": ["demo-013-thought", "no"]}, 200),
    ("POST", CARDS, "/projects/demo/cards/batch", {}, 200),
    ("POST", CARDS, "/projects/demo/cards/batch", {"card_ids": [str(i) for i in range(101)]}, 400),
    ("POST", CARDS, "/projects/demo/cards/batch", {"card_ids": ["a", 3]}, 422),
    ("POST", CARDS, "/projects/demo/cards/batch", None, 422),
    ("GET", A_BOX, "/projects/demo/boxes/" + BOX + "1", None, 200),
    ("GET", A_BOX, "/projects/demo/boxes/" + BOX + "3", None, 200),
    ("GET", A_BOX, NO_BOX, None, 404),
    ("GET", A_BOX, "/projects/demo/boxes/nothing", None, 404),
    ("GET", A_BOX, "/projects/demo/boxes/%ff", None, 400),
    ("GET", A_BOX, "/projects/demo/boxes/" + BOX + "1?at_version=1", None, 200),
    ("GET", A_BOX, "/projects/demo/boxes/" + BOX + "1?at_time=x", None, 422),
    ("POST", A_BOX, NO_BOX, None, 405),
    ("GET", BOX_CARDS, "/projects/demo/boxes/" + BOX + "1/cards", None, 200),
    ("GET", BOX_CARDS, "/projects/demo/boxes/" + BOX + "1/cards?limit=3", None, 200),
    ("GET", BOX_CARDS, "/projects/demo/boxes/" + BOX + "1/cards?limit=x", None, 422),
    ("GET", BOX_CARDS, NO_BOX + "/cards", None, 404),
    ("POST", BOXES, "/projects/demo/boxes/batch", {"box_ids": [BOX + "1", "nothing"]}, 200),
    ("POST", BOXES, "/projects/demo/boxes/batch", {"box_ids": [BOX + "3"], "hydrate": True}, 200),
    ("POST", BOXES, "/projects/demo/boxes/batch", {"box_ids": [str(i) for i in range(101)]}, 400),
    ("POST", BOXES, "/projects/demo/boxes/batch", {"limit": []}, 422),
    ("GET", "/projects/{project_id}/search", "/projects/demo/search?q=disk", None, 200),
    ("GET", "/projects/{project_id}/usage", "/projects/demo/usage?by=model", None, 200),
    ("GET", EXPORT, "/projects/demo/export", None, 200),
    ("GET", EXPORT, "/projects/nothing/export", None, 200),
    ("GET", EXPORT, "/projects/%00/export", None, 400),
    ("POST", IMPORT, "/projects/demo/import", {"kind": "card", "card_id": "a", "content": 1}, 200),
    ("POST", IMPORT, "/projects/demo/import", {"kind": "card"}, 200),
    ("PUT", IMPORT, "/projects/demo/import", {}, 405),
    ("POST", ALL_CARDS, "/projects/demo/cards", {"card_id": "a", "content": 1}, 200),
    ("POST", ALL_CARDS, "/projects/demo/cards", {"card_id": "a", "content": 2}, 200),
    ("POST", ALL_CARDS, "/projects/demo/cards", {"cards": [{"content": 1}]}, 200),
    ("POST", ALL_CARDS, "/projects/demo/cards", {"cards": [{"content": 1}] * 1001}, 400),
    ("POST", ALL_CARDS, "/projects/demo/cards", {"card_id": "a", "content": 3, "strict": True}, 409),
    ("POST", ALL_CARDS, "/projects/demo/cards",
     {"cards": [{"card_id": "a", "content": 3}], "strict": True}, 409),
    ("POST", ALL_CARDS, "/projects/demo/cards", {"contents": 1}, 422),
    ("GET", ALL_CARDS, "/projects/demo/cards?limit=2&type=tool.result", None, 200),
    ("GET", ALL_CARDS, "/projects/demo/cards?typ=x", None, 422),
    ("GET", CARD + "/revisions", A_CARD + "/revisions", None, 200),
    ("GET", CARD + "/revisions", "/projects/demo/cards/no/revisions", None, 404),
    ("GET", CARD + "/boxes", "/projects/demo/cards/demo-001-instruction/boxes?limit=1", None, 200),
    ("DELETE", CARD, A_CARD, None, 200),
    ("DELETE", CARD, "/projects/demo/cards/no", None, 404),
    ("POST", ALL_CARDS, "/projects/demo/cards", {"card_id": "a", "content": 2}, 410),
    ("POST", ALL_BOXES, "/projects/demo/boxes", {"box_id": BOX + "4", "card_ids": ["a"]}, 200),
    ("POST", ALL_BOXES, "/projects/demo/boxes", {"box_id": BOX + "4"}, 409),
    ("POST", ALL_BOXES, "/projects/demo/boxes", {"box_id": 4}, 422),
    ("GET", "/projects", "/projects?limit=1", None, 200),
    ("GET", "/projects/{project_id}", "/projects/demo", None, 200),
    ("GET", ALL_BOXES, "/projects/demo/boxes?limit=2", None, 200),
    ("GET", ALL_BOXES, "/projects/demo/boxes?cursor=x", None, 422),
    ("POST", A_BOX + "/append", BOX_4 + "/append", {"card_ids": ["b"]}, 200),
    ("POST", A_BOX + "/append", BOX_4 + "/append", {"card_ids": ["b"], "expected_version": 9}, 409),
    ("POST", A_BOX + "/append", BOX_4 + "/append", {"card_ids": []}, 422),
    ("POST", A_BOX + "/append", NO_BOX + "/append", {"card_ids": ["b"]}, 404),
    ("PUT", A_BOX, BOX_4, {"card_ids": ["c"]}, 200),
    ("PUT", A_BOX, BOX_4, {"card_ids": ["c"], "expected_version": 9}, 409),
    ("PUT", A_BOX, BOX_4, {}, 422),
    ("POST", A_BOX + "/fork", BOX_4 + "/fork", {"at_version": 1}, 200),
    ("POST", A_BOX + "/fork", BOX_4 + "/fork", {"at_version": 9}, 404),
    ("POST", A_BOX + "/fork", BOX_4 + "/fork", {"at_version": 1, "at_length": 1}, 422),
    ("GET", A_BOX + "/log", BOX_4 + "/log", None, 200),
    ("GET", A_BOX + "/log", NO_BOX + "/log", None, 404),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "1/context", None, 200),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "1/context?format=anthropic", None, 200),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "2/context?format=entries&tail=1", None, 200),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "1/context?format=messages", None, 200),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "2/context?limit=100&token_budget=100000", None, 200),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "2/context?token_budget=0", None, 422),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "1/context?format=x", None, 422),
    ("GET", BOX_CONTEXT, NO_BOX + "/context", None, 404),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "1/context?then=" + BOX + "2@1&then=" + BOX + "4", None, 200),
    ("GET", BOX_CONTEXT, "/projects/demo/boxes/" + BOX + "1/context?then=x", None, 422),
    ("POST", ALL_BOXES, "/projects/demo/boxes", {"box_id": BOX + "5", "card_ids": ["a"]}, 200),
    ("POST", A_BOX + "/seal", BOX_5 + "/seal", {}, 200),
    ("POST", A_BOX + "/seal", BOX_5 + "/seal", {"x": 1}, 422),
    ("POST", A_BOX + "/seal", NO_BOX + "/seal", {}, 404),
    ("POST", A_BOX + "/append", BOX_5 + "/append", {"card_ids": ["b"]}, 409),
    ("PUT", A_BOX, BOX_5, {"card_ids": ["b"]}, 409),
    ("DELETE", A_BOX, BOX_5, None, 409),
    ("DELETE", A_BOX, BOX_4, None, 200),
    ("DELETE", A_BOX, NO_BOX, None, 404),
    ("PUT", A_BOX, BOX_4, {"card_ids": ["c"]}, 410),
    ("GET", ABILITIES, "/projects/demo/abilities", None, 200),
    ("GET", ABILITIES, "/projects/demo/abilities?x=1", None, 422),
    ("GET", AN_ABILITY, "/projects/demo/abilities/card:add", None, 200),
    ("GET", AN_ABILITY, "/projects/demo/abilities/card:fly", None, 404),
    ("PUT", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", MEMORY, 200),
    ("PUT", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", {**MEMORY, "inputSchema": {"type": "x"}}, 422),
    ("PUT", AN_ABILITY, "/projects/demo/abilities/card:fly", MEMORY, 409),
    ("PUT", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", {**MEMORY, "description": "x" * 65536}, 413),
    ("GET", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", None, 200),
    ("POST", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", {}, 422),
    ("POST", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", {"topic": "birds"}, 502),
    ("DELETE", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", None, 200),
    ("DELETE", AN_ABILITY, "/projects/demo/abilities/mem:retrieve", None, 404),
    ("DELETE", AN_ABILITY, "/projects/demo/abilities/card:get", None, 409),
    ("POST", AN_ABILITY, "/projects/demo/abilities/card:get", {"card_id": "demo-003-tools"}, 200),
    ("POST", AN_ABILITY, "/projects/demo/abilities/card:get", {"card_id": "no"}, 404),
    ("POST", AN_ABILITY, "/projects/demo/abilities/card:get", {}, 422),
    ("POST", AN_ABILITY, "/projects/demo/abilities/card:get?x=1", {}, 422),
    ("POST", AN_ABILITY, "/projects/demo/abilities/box:append",
     {"box_id": BOX + "1", "card_ids": ["a"], "expected_version": 9}, 409),
    ("POST", AN_ABILITY, "/projects/demo/abilities/box:append",
     {"box_id": BOX + "1", "card_ids": ["a"]}, 200),
    ("POST", AN_ABILITY, "/projects/demo/abilities/box:replace",
     {"box_id": BOX + "4", "card_ids": ["a"]}, 410),
    ("POST", ALL_BOXES, "/projects/demo/boxes", {"box_id": BOX + "4"}, 410),
    ("POST", A_BOX + "/fork", "/projects/demo/boxes/" + BOX + "1/fork", {"box_id": BOX + "4"}, 410),
    ("PUT", SESSION, A_SESSION, {"dialect": "plain"}, 200),
    ("PUT", SESSION, A_SESSION, {"strict": True}, 409),
    ("PUT", SESSION, A_SESSION, {"dialect": "x"}, 422),
    ("POST", SESSION + "/entries", A_SESSION + "/entries", {"entries": [
        {"id": "e1", "type": "user", "content": "a"}, {"id": "e2", "type": "user", "content": "b"},
        {"id": "e3", "parentId": "e1", "type": "user", "content": "c"}]}, 200),
    ("POST", SESSION + "/entries", A_SESSION + "/entries", {"entry": {"type": "user", "content": "d"}}, 200),
    ("POST", SESSION + "/entries", A_SESSION + "/entries", {"entry": {"id": "e1", "type": "x"}}, 409),
    ("POST", SESSION + "/entries", A_SESSION + "/entries",
     {"entry": {"id": "f", "type": "x", "parentId": "no"}}, 404),
    ("POST", SESSION + "/entries", A_SESSION + "/entries", {"entry": {}}, 422),
    ("GET", SESSIONS, "/projects/demo/sessions", None, 200),
    ("GET", SESSIONS, "/projects/demo/sessions?cursor=x", None, 422),
    ("GET", SESSION, A_SESSION, None, 200),
    ("GET", SESSION, "/projects/demo/sessions/no", None, 404),
    ("GET", SESSION + "/tree", A_SESSION + "/tree?lines=1000&limit=2", None, 200),
    ("GET", SESSION + "/tree", "/projects/demo/sessions/no/tree", None, 404),
    ("GET", SESSION + "/leaves", A_SESSION + "/leaves", None, 200),
    ("GET", SESSION + "/branch-points", A_SESSION + "/branch-points", None, 200),
    ("GET", SESSION + "/labels", A_SESSION + "/labels", None, 200),
    ("GET", ENTRY, A_SESSION + "/entries/e2", None, 200),
    ("GET", ENTRY, A_SESSION + "/entries/no", None, 404),
    ("GET", ENTRY + "/children", A_SESSION + "/entries/e1/children", None, 200),
    ("GET", ENTRY + "/path", A_SESSION + "/entries/e2/path?limit=1", None, 200),
    ("GET", SESSION + "/path", A_SESSION + "/path?limit=1&preview=true", None, 200),
    ("GET", SESSION + "/path", "/projects/demo/sessions/no/path", None, 404),
    ("GET", SESSION + "/diff", A_SESSION + "/diff?a=e2&b=e3&preview=true", None, 200),
    ("GET", SESSION + "/diff", A_SESSION + "/diff?a=e2", None, 422),
    ("GET", SESSION + "/diff", A_SESSION + "/diff?a=e2&b=no", None, 404),
    ("GET", SESSION + "/context", A_SESSION + "/context?compare=e2", None, 200),
    ("GET", SESSION + "/context", A_SESSION + "/context?format=entries&leaf=e3", None, 200),
    ("GET", SESSION + "/context", A_SESSION + "/context?format=anthropic", None, 200),
    ("GET", SESSION + "/context", A_SESSION + "/context?format=messages", None, 200),
    ("GET", SESSION + "/context", A_SESSION + "/context?format=responses", None, 200),
    ("GET", SESSION + "/context", A_SESSION + "/context?leaf=no", None, 404),
    ("POST", SESSION + "/messages", CHAT, {"format": "openai", "messages": OPENAI, "model": "m", "usage": {"total_tokens": 1}}, 200),
    ("POST", SESSION + "/messages", CHAT, {"format": "anthropic", "messages": ANTHROPIC, "create": None}, 200),
    ("POST", SESSION + "/messages", CHAT, {"format": "responses", "messages": RESPONSES}, 200),
    ("POST", SESSION + "/messages", CHAT, {"format": "xml", "messages": []}, 422),
    ("POST", SESSION + "/messages", CHAT, {"format": "openai", "messages": OPENAI, "expected_version": 99}, 409),
    ("POST", SESSION + "/messages", "/projects/demo/sessions/no/messages", {"format": "openai", "messages": OPENAI, "create": False}, 404),
    *(("GET", SESSION + "/context", f"/projects/demo/sessions/chat/context?format={one}{more}", None, 200)
      for one in ("openai", "anthropic", "responses", "messages", "entries") for more in ("", "&repair=off", "&limit=20")),
    ("PUT", SESSION + "/head", A_SESSION + "/head", {"entry_id": "e2"}, 200),
    ("PUT", SESSION + "/head", A_SESSION + "/head", {"entry_id": "e2", "expected_head": "e3"}, 409),
    ("POST", SESSION + "/fork", A_SESSION + "/fork", {"session_id": "t", "entry_id": "e1"}, 200),
    ("POST", SESSION + "/fork", A_SESSION + "/fork", {"session_id": "t"}, 409),
    ("GET", SESSION + "/export", A_SESSION + "/export", None, 200),
    ("GET", SESSION + "/export", A_SESSION + "/export?leaf=e2", None, 200),
    ("GET", SESSION + "/export", "/projects/demo/sessions/no/export", None, 404),
    ("GET", SESSION + "/export", A_SESSION + "/export?leav=x", None, 422),
    ("POST", SESSION + "/import", "/projects/demo/sessions/i/import",
     {"id": "e1", "parentId": "gone", "type": "user", "content": "a"}, 200),
    ("POST", SESSION + "/import", "/projects/demo/sessions/i/import", [1], 400),
    ("POST", SESSION + "/import", "/projects/demo/sessions/i/import?force=true", [1], 200),
    ("POST", SESSION + "/import", "/projects/demo/sessions/a/import?format=anthropic", [{"role": "user", "content": "x"}], 200),
    ("POST", SESSION + "/import", "/projects/demo/sessions/a/import?format=entries", [{"role": "user", "content": "x"}], 422),
    ("GET", SESSION + "/export", "/projects/demo/sessions/a/export?format=anthropic", None, 200),
    ("GET", SESSION + "/export", "/projects/demo/sessions/a/export?format=entries", None, 422),
    ("POST", SESSION + "/import", "/projects/demo/sessions/i/import", {"type": "session", "id": "h"}, 409),
    ("PUT", SESSION + "/head", A_SESSION + "/head", {"entry_id": "no"}, 404),
    ("POST", SESSION + "/fork", A_SESSION + "/fork", {"entry_id": "no"}, 404),
    ("DELETE", SESSION, "/projects/demo/sessions/t", None, 200),
    ("DELETE", SESSION, "/projects/demo/sessions/t", None, 404),
    ("PUT", SESSION, "/projects/demo/sessions/t", {}, 410),
    ("POST", SESSION + "/fork", A_SESSION + "/fork", {"session_id": "t"}, 410),
    ("POST", SESSION + "/import", "/projects/demo/sessions/t/import", {"id": "e1", "type": "user", "content": "a"}, 410),
    ("POST", SESSION + "/import", "/projects/demo/sessions/u/import", {"type": "event", "data": 1}, 400),
    ("POST", SESSION + "/entries", "/projects/demo/sessions/t/entries",
     {"entry": {"type": "user", "content": "a"}, "create": {"dialect": "plain"}}, 410),
    ("POST", SESSION + "/entries", "/projects/demo/sessions/t/entries",
     {"entry": {"type": "user", "content": "a"}, "create": {"restore": True}}, 200),
    ("DELETE", SESSION, "/projects/demo/sessions/t", None, 200),
    ("POST", SESSION + "/messages", "/projects/demo/sessions/t/messages", {"format": "openai", "messages": OPENAI}, 410),
    ("PUT", A_BOX, NO_BOX, {"card_ids": [], "expected_version": 3}, 404),
    ("POST", A_BOX + "/fork", "/projects/demo/boxes/" + BOX + "1/fork", {"box_id": BOX + "2"}, 409),
    ("POST", AN_ABILITY, "/projects/demo/abilities/ldg:task:save",
     {"task": {"id": "done", "systemPrompt": "", "createdAt": 1, "updatedAt": 1}}, 200),
    ("POST", AN_ABILITY, "/projects/demo/abilities/ldg:msg:save",
     {"message": {"id": "said", "taskId": "done", "role": "user", "content": "x", "timestamp": 1}}, 200),
    ("DELETE", CARD, "/projects/demo/cards/said", None, 409),
    ("POST", AN_ABILITY, "/projects/demo/abilities/task:cancel", {"taskId": "done", "reason": "x"}, 200),
    ("GET", TASK_STREAM, "/projects/demo/tasks/done/stream", None, 200),
    ("GET", TASK_STREAM, "/projects/demo/tasks/no/stream", None, 404),
    ("GET", TASK_STREAM, "/projects/demo/tasks/no/stream?x=1", None, 422),
    ("GET", "/healthz", "/healthz", None, 200),
    ("GET", "/health", "/health", None, 200),
    ("GET", "/readyz", "/readyz", None, 200),
    ("GET", "/version", "/version", None, 200),
    ("GET", "/metrics", "/metrics", None, 200),
    ("GET", "/docs", "/docs", None, 200),
    ("GET", "/", "/", None, 308),
    ("GET", "/ui", "/ui", None, 308),
    ("GET", "/ui/{file}", "/ui/", None, 200),
    ("GET", "/ui/{file}", "/ui/app.js", None, 200),
    ("GET", "/ui/{file}", "/ui/base.css", None, 200),
    ("GET", "/ui/{file}", "/ui/icon.svg", None, 200),
    ("GET", "/ui/{file}", "/ui/nothing", None, 404),
    ("GET", "/openapi.json", "/openapi.json", None, 200),
    ("POST", "/healthz", "/healthz", {}, 405),
]


def send(server, method, path, body):
    if body is None:
        return server.request(method, path)
    return server.request(method, path, json.dumps(body), {"Content-Type": "application/json"})


def checked(server, checker, method, described, path, body, status):
    response = send(server, method, path, body)
    assert response.status == status, response
    item = checker.root["paths"][described]
    operation = item.get(method.lower()) or item.get("get") or item["post"]
    checker.check_response(operation, response)
    if method == "GET":
        checker.check_response(operation, server.request("HEAD", path), head=True)


def test_a_server_answers_as_documented():
    dsn = cardbox_test.Postgres.shared().database()
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "demo", SAMPLE)
    server = cardbox_test.Server(dsn)
    server.await_ready()
    checker = Checker(document())
    for request in REQUESTS:
        method, _, path, _, status = request
        name = f"{method} {path[:70]} {status}"
        yield name, lambda request=request: checked(server, checker, *request)
    yield from every_operation(server, checker)
    yield "If-Match", lambda: check_if_match(server, checker)
    yield "the end of a stream", lambda: check_end_of_stream(server, checker)
    yield "broken HTTP", lambda: check_broken_http(server)
    yield "served bytes", lambda: check_bytes(server)
    yield "stop", server.stop


def test_abilities_are_those_of_the_server():
    """Each built-in ability is an operation with the schemas that the server has for it."""
    server = cardbox_test.Server(cardbox_test.Postgres.shared().database())
    server.await_ready()
    paths = document()["paths"]
    listed = [one["id"] for one in server.get("/projects/p/abilities").json()["abilities"]]
    assert {f"{ABILITIES}/{name}" for name in listed} == {path for path in paths if is_ability(path)}
    for name in listed:
        ability, operation = server.get(f"/projects/p/abilities/{name}").json(), paths[f"{ABILITIES}/{name}"]["post"]
        bodies = {"input": operation["requestBody"], "output": operation["responses"]["200"]}
        for which, body in bodies.items():
            said, known = body["content"]["application/json"]["schema"], ability[which + "Schema"]
            for pointer in build.TYPED.get(name, {}):  # lists whose items only the document types
                where, _, member, _ = pointer.split("/")
                if where == which:
                    assert "$ref" in said["properties"][member].pop("items"), name
                    known["properties"][member].pop("items", None)
            assert said == known, name
        assert operation["description"] == ability["description"], name
    server.stop()


# --- the requests that the document shows, of the sample that `cardbox dev` loads ---

# The cursor of a page comes from the page before; and the sample has no task.
NOT_OF_THE_SAMPLE = {"cursor", "task_id"}
ORDER = ("get", "post", "put", "delete")  # what takes away comes last


def examples_of(checker, described, item, method):
    """Paths with queries, and bodies with their types: with nothing that may be left out, then with each such parameter
    that has an example."""
    operation = item[method]
    parameters = [checker.resolve(one) for one in item.get("parameters", []) + operation.get("parameters", [])]
    if any(one["in"] == "path" and one["name"] in NOT_OF_THE_SAMPLE for one in parameters):
        return
    path = described.format(**{one["name"]: one["example"] for one in parameters if one["in"] == "path"})
    if described.endswith("/seal"):
        path = path.replace(BOX + "1", BOX + "2")  # the examples of PUT and DELETE change box 1
    asked = [one for one in parameters if one["in"] == "query" and one["name"] not in NOT_OF_THE_SAMPLE]
    least = [one for one in asked if one.get("required")]
    for more in [[], *([one] for one in asked if one not in least and "example" in one)]:
        query = urllib.parse.urlencode([(one["name"], str(one["example"]).lower() if one["example"] in (True, False)
                                         else one["example"]) for one in least + more], doseq=True)
        content = checker.resolve(operation.get("requestBody", {})).get("content", {None: {}})
        for kind, media in content.items():
            bodies = [checker.resolve(one)["value"] for one in media.get("examples", {}).values()] or [media.get("example")]
            for body in bodies:
                yield path + (f"?{query}" if query else ""), kind, body


def test_what_it_shows_can_be_asked():
    dsn = cardbox_test.Postgres.shared().database()
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "demo", SAMPLE)
    cardbox_test.cardbox("session", "import", "--dsn", dsn, "--project", "demo", SAMPLE_SESSION)
    server = cardbox_test.Server(dsn)
    server.await_ready()
    checker = Checker(document())

    def asked(operation, method, path, kind, body):
        data = None if body is None else body if isinstance(body, str) else json.dumps(body)
        answer = server.request(method.upper(), path, data, {"Content-Type": kind} if kind else {})
        assert answer.status in (200, 308), (data, answer)
        checker.check_response(operation, answer)

    for method in ORDER:
        for described, item in checker.root["paths"].items():
            if is_ability(described):
                continue
            for path, kind, body in examples_of(checker, described, item, method) if method in item else ():
                yield (f"{method.upper()} {path[:70]} {kind or ''}",
                       lambda known=(item[method], method, path, kind, body): asked(*known))
    yield "stop", server.stop


# --- what holds of every operation, by what the document says of it ---

# Of the documented statuses, those that other tests provoke, or that nobody can at will: no token
# or a poor one, too much, our own faults, a database that is away; and in an import a deletion.
ELSEWHERE = {"401", "403", "413", "500", "503", "504", "default"}
NEVER_ASKED = {("post", SESSION + "/import", "404")}
PATHS = {"project_id": "demo", "card_id": "demo-001-instruction", "box_id": BOX + "1", "session_id": "s",
         "entry_id": "e2", "ability_id": "card:get", "task_id": "done", "file": "app.js"}
# The original's reads pass over what they do not know.
LENIENT = {("get", CARD), ("post", CARDS), ("get", A_BOX), ("get", BOX_CARDS), ("post", BOXES)}


def every_operation(server, checker):
    asked = {(method.lower(), described, str(status)) for method, described, _, _, status in REQUESTS}
    for described, item in checker.root["paths"].items():
        for method in item:
            if method not in METHODS:
                continue
            one = Operation(server, checker, described, method)
            for status, provoke in one.provocations().items():
                asked.add((method, described, status))
                yield f"{method.upper()} {described[:60]} {status}", provoke
            yield f"{method.upper()} {described[:60]} parameters", one.check_parameters
    def check_all():
        documented = {(method, described, status) for described, item in checker.root["paths"].items()
                      for method in item if method in METHODS for status in item[method]["responses"]}
        left = {one for one in documented - asked - NEVER_ASKED if one[2] not in ELSEWHERE}
        # tests/http/test_abilities.py has the answers of all abilities, validated by their schemas.
        left = {one for one in left if not is_ability(one[1])}
        # Of a path without parameters it is broken HTTP, which has a case below, as these two have.
        left = {one for one in left if one[2] != "400" or "{" in one[1]}
        assert left == {*((method, path, "412") for method, path, _ in IF_MATCH), ("get", TASK_STREAM, "204")}, left
    yield "all that is documented", check_all


class Operation:
    def __init__(self, server, checker, described, method):
        self.server, self.checker, self.described, self.method = server, checker, described, method
        item = checker.root["paths"][described]
        self.operation = item[method]
        self.parameters = [checker.resolve(one) for one in item.get("parameters", []) + self.operation.get("parameters", [])]
        self.path = described.format(**PATHS)

    def provocations(self):
        """By status, how to have it answered."""
        ways = {"304": self.unchanged, "405": self.wrong_method, "415": self.wrong_type, "421": self.wrong_host}
        if "{" in self.described:
            ways["400"] = self.bad_escape
        if (self.method, self.described) not in LENIENT:
            ways["422"] = self.unknown_parameter
        if self.method == "get" and self.described != SESSION + "/diff":
            ways["404"] = self.nothing_there
        return {status: way for status, way in ways.items() if status in self.operation["responses"]}

    def ask(self, status, path=None, method=None, headers=None):
        body = b"{}" if "requestBody" in self.operation else None
        headers = {**({"Content-Type": "application/json"} if body else {}), **(headers or {})}
        answer = self.server.request(method or self.method.upper(), path or self.path, body, headers)
        assert answer.status == status, answer
        if status != 304:
            self.checker.check_response(self.operation, answer)
        return answer

    def bad_escape(self):
        self.ask(400, self.described.format(**{name: "%00" for name in PATHS}))

    def wrong_host(self):
        self.ask(421, headers={"Host": "evil.example"})

    def wrong_method(self):
        answer = self.ask(405, method="PATCH")
        allowed = {one.strip() for one in answer.header("Allow").split(",")}
        assert self.method.upper() in allowed, answer

    def wrong_type(self):
        self.ask(415, headers={"Content-Type": "text/csv"})

    def unknown_parameter(self):
        faults = self.ask(422, self.path + "?no_such_parameter=1").json()["detail"]["faults"]
        assert ("extra_forbidden", ["query", "no_such_parameter"]) in [(one["type"], one["loc"]) for one in faults], faults

    def nothing_there(self):
        self.ask(404, self.described.format(**{**{name: "nothing" for name in PATHS}, "box_id": BOX + "9"}))

    def unchanged(self):
        tag = self.ask(200).header("ETag")
        answer = self.ask(304, headers={"If-None-Match": tag})
        assert answer.header("ETag") == tag and not answer.body, answer

    def check_parameters(self):
        """None of those in the document is unknown to the server, with the example that it has there."""
        names = [one for one in self.parameters if one["in"] == "query"]
        for one in names:
            value = one.get("example", "x")
            name = one["name"].replace("KEY", "color")
            query = urllib.parse.urlencode({name: str(value).lower() if isinstance(value, bool) else value})
            answer = self.server.request(self.method.upper(), f"{self.path}?{query}",
                                         b"{}" if "requestBody" in self.operation else None,
                                         {"Content-Type": "application/json"})
            detail = answer.json()["detail"] if answer.status == 422 else []
            faults = detail.get("faults", []) if isinstance(detail, dict) else detail
            assert not any(fault["type"] == "extra_forbidden" for fault in faults), (query, answer)


IF_MATCH = [("put", A_BOX, b'{"card_ids":[]}'), ("post", A_BOX + "/append", b'{"card_ids":["demo-001-instruction"]}'),
            ("post", SESSION + "/entries", b'{"entry":{"type":"user","content":"x"}}'),
            ("post", SESSION + "/messages", b'{"format":"openai","messages":{"role":"user","content":"x"}}'),
            ("put", SESSION + "/head", b'{"entry_id":"e2"}')]


def check_if_match(server, checker):
    headers = {"Content-Type": "application/json", "If-Match": '"99-x"'}
    for method, described, body in IF_MATCH:
        answer = server.request(method.upper(), described.format(**PATHS), body, headers)
        assert answer.status == 412, (described, answer)
        checker.check_response(checker.root["paths"][described][method], answer)


def check_end_of_stream(server, checker):
    path = "/projects/demo/tasks/done/stream"
    last = [line[4:] for line in server.get(path).body.decode().split("\n") if line.startswith("id: ")][-1]
    answer = server.request("GET", path, headers={"Last-Event-ID": last})
    assert answer.status == 204 and not answer.body, answer
    assert "204" in checker.root["paths"][TASK_STREAM]["get"]["responses"]


def check_broken_http(server):
    too_long = b"GET /" + b"a" * 300000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    for status, request in ((505, b"GET / HTTP/3.0\r\nHost: x\r\n\r\n"), (414, too_long)):
        answer = server.raw(request)
        assert answer.startswith(b"HTTP/1.1 %d " % status), answer[:200]
        assert b"<html>" in answer and b"Connection: close" in answer, answer[:200]
    two_hosts = server.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n")
    assert b"HTTP/1.1 400 " in two_hosts and b'"bad_request"' in two_hosts, two_hosts


def check_bytes(server):
    with open(os.path.join(OPENAPI, "cardbox.json"), "rb") as text:
        assert server.get("/openapi.json").body.strip() == text.read().strip()


if __name__ == "__main__":
    cardbox_test.main()

"""Helpers of the tests of both clients: a proxy that loses answers, a server that is killed, a model for agent loops."""

import contextlib
import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading

import cardbox_test
import npm
from cardbox_test import WAIT_S, Server, Skip, at_end, dsn, free_port, once

PYTHON_CLIENT = os.path.join(cardbox_test.ROOT, "openapi", "clients", "python")
TYPESCRIPT_CLIENT = os.path.join(cardbox_test.ROOT, "openapi", "clients", "typescript")
TOOLS = os.path.join(cardbox_test.ROOT, "build", "clients")
NODE_TYPES = "@types/node@20.19.8"
VENDORS = ["openai@6.30.1", "@anthropic-ai/sdk@1.14.0"]
QUESTION = "What time is it?"
TOOLS_OF_LOOPS = [{"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}]


@once
def manifest():
    with open(os.path.join(TYPESCRIPT_CLIENT, "package.json"), encoding="utf-8") as text:
        return json.load(text)


@once
def modules():
    """The node_modules with the tools of the client."""
    tools = [f"{name}@{version}" for name, version in manifest()["devDependencies"].items()]
    try:
        subprocess.run(["node", "--version"], check=True, capture_output=True)
        return npm.install(TOOLS, *tools, NODE_TYPES, *VENDORS)
    except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
        raise Skip(f"no packages of npm: {error}") from None


def run_node(*command, **options):
    return subprocess.run(["node", *command], capture_output=True, text=True, timeout=cardbox_test.WAIT_S, **options)


def compile_project(folder, *options):
    return run_node(os.path.join(modules(), "typescript", "lib", "tsc.js"), "-p", folder, *options)


def generate_types():
    """Makes src/schema.ts, as `npm install` does in the folder of the client."""
    words = manifest()["scripts"]["generate"].split()
    assert words[0] == "openapi-typescript" and words[-1] == "src/schema.ts", words
    done = run_node(os.path.join(modules(), "openapi-typescript", "bin", "cli.js"), *words[1:], cwd=TYPESCRIPT_CLIENT)
    assert done.returncode == 0, done.stdout + done.stderr


def source_digest():
    """A digest of the files from which the client is compiled."""
    digest, client = hashlib.sha256(), pathlib.Path(TYPESCRIPT_CLIENT)
    for path in [client / "package.json", client / "tsconfig.json", client / ".." / ".." / "cardbox.json", *sorted(client.glob("src/*.ts"))]:
        digest.update(b"" if path.name == "schema.ts" else path.read_bytes())
    return digest.hexdigest()[:16]


@once
def compiled():
    """The folder of the compiled client, below build/. It is compiled again only if a source has changed."""
    folder = os.path.join(TOOLS, "compiled")
    stamp = os.path.join(folder, source_digest())
    modules()
    with open(os.path.join(TOOLS, ".compiling"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two tests may call it at the same time
        if not os.path.exists(stamp):
            shutil.rmtree(folder, ignore_errors=True)
            generate_types()
            done = compile_project(TYPESCRIPT_CLIENT, "--outDir", folder)
            assert done.returncode == 0, done.stdout
            pathlib.Path(stamp).touch()
    return folder


@once
def package():
    """A folder with the compiled client, and with packages that programs find from there."""
    folder = cardbox_test.temp_dir()
    found = os.path.join(folder, "node_modules", "cardbox")
    os.makedirs(found)
    shutil.copy(os.path.join(TYPESCRIPT_CLIENT, "package.json"), found)
    shutil.copytree(compiled(), os.path.join(found, "dist"))
    for name in os.listdir(modules()):
        if not name.startswith("."):
            os.symlink(os.path.join(modules(), name), os.path.join(folder, "node_modules", name))
    return folder


def programs_of_guide(path, language):
    """The programs in a guide."""
    with open(os.path.join(cardbox_test.ROOT, path), encoding="utf-8") as text:
        return re.findall(rf"```{language}\n(.*?)```", text.read(), re.S)


def loops_of_guide(replaced=("", "")):
    """The files of the guide's loops for other APIs than chat completions: anthropic.ts and responses.ts."""
    folder, paths = cardbox_test.temp_dir(), []
    for name, program in zip(("anthropic", "responses"), programs_of_guide("openapi/README.md", "ts"), strict=True):
        paths.append(os.path.join(folder, f"{name}.ts"))
        with open(paths[-1], "w", encoding="utf-8") as text:
            text.write(program.replace(*replaced))
    return paths


def compile_programs(*sources, checks=True):
    """The folder of these compiled programs. The compiler is strict. `checks`: it checks the types."""
    folder = os.path.join(package(), f"programs-{len(os.listdir(package()))}")
    os.makedirs(folder)
    for source in sources:
        shutil.copy(source, folder)
    settings = {"compilerOptions": {"strict": True, "target": "es2022", "module": "nodenext", "types": ["node"], "noEmitOnError": True,
                                    "skipLibCheck": True}}
    for name, value in (("tsconfig.json", settings), ("package.json", {"type": "module"})):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as text:
            json.dump(value, text)
    done = compile_project(folder, *([] if checks else ["--noCheck"]))
    assert done.returncode == 0, done.stdout
    return folder


class Proxy:
    """Passes each request on to the server, on a connection of its own, and loses some answers.

    `lose`: the number of next answers that are dropped after the server has sent them. `sent`: the bytes that the client
    gets instead of a dropped answer, before the connection ends. `statuses`: the statuses, with a
    Retry-After in seconds or None, of the next answers, which do not come from the server. `requests`: the first
    line of each request.
    """

    def __init__(self, port):
        self.target = port
        self.lose = 0
        self.sent = b""
        self.statuses = []
        self.requests = []
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                proxy.on_request(f"{self.command} {self.path}")
                proxy.requests.append(f"{self.command} {self.path}")
                if proxy.statuses:
                    status, after = proxy.statuses.pop(0)
                    self._answer(status, {} if after is None else {"Retry-After": str(after)}, b"not of CardBox")
                    return
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                with cardbox_test.Client(proxy.target) as client:
                    answer = client.request(self.command, self.path, body or None, headers)
                if proxy.lose > 0:
                    proxy.lose -= 1
                    self.close_connection = True
                    self.wfile.write(proxy.sent)
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self._answer(answer.status, {"Content-Type": answer.header("Content-Type", "")}, answer.body)

            do_GET = do_POST = do_PUT = do_DELETE = handle_one

            def _answer(self, status, headers, body):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        at_end(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def on_request(self, line):
        """Called with the first line of each request."""


class KilledServer:
    """A server that is killed up to five times, and each time started again at the same port, until `stop`."""

    def __init__(self):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = Server(dsn(), port=self.port)
        self.kills = 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while self.kills < 5:
            self.server.await_ready()
            if self.stopping.wait(0.04):  # short, so that the clients have not finished
                return
            self.server.kill()
            self.kills += 1
            self.server = Server(dsn(), port=self.port)

    def stop(self):
        self.stopping.set()
        self.thread.join(WAIT_S)
        self.server.await_ready()


class LoopModel:
    """A model for agent loops, as chat completions without streaming: it calls the first tool, then answers with its result.

    `on_request` is called before each answer. `always`: the message that is every answer.
    """

    def __init__(self, on_request=lambda: None, always=None):
        self.requests = []
        self.always = always
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.requests.append(body)
                on_request()
                answer = json.dumps({"choices": [{"message": model.answer(body)}]}).encode()
                self.send_response(200 if self.path == "/v1/chat/completions" else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                with contextlib.suppress(OSError):  # the loop was killed
                    self.end_headers()
                    self.wfile.write(answer)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        at_end(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, body):
        """The next message of the model. Like the APIs of models, it accepts no call without a result."""
        if self.always is not None:
            return self.always
        last = body["messages"][-1]
        calls = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or []]
        if calls != [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]:
            return {"role": "assistant", "content": "refused: a call has no result"}
        if last["role"] == "tool":
            return {"role": "assistant", "content": f"The tool returned {last['content']}.", "tool_calls": None}  # as some APIs do
        call = {"id": f"call_{len(body['messages'])}", "type": "function",
                "function": {"name": body["tools"][0]["function"]["name"], "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


class Loop:
    """A program with an agent loop, and its session."""

    def __init__(self, source, port):
        """`source`: the text of a program, in TypeScript if it imports by `from "cardbox"`, else in Python."""
        typescript = 'from "cardbox"' in source
        path = os.path.join(cardbox_test.temp_dir(), "agent.ts" if typescript else "agent.py")
        with open(path, "w", encoding="utf-8") as text:
            text.write(source)
        self.command = ["node", os.path.join(compile_programs(path), "agent.js")] if typescript else [sys.executable, "-B", path]
        self.port = port
        self.project, self.session = re.search(r'project\("(.*?)"\)\.session\("(.*?)"\)', source).groups()

    def start(self, model, turn):
        """Starts the program. It asks the model."""
        environment = {**os.environ, "MODEL_URL": model.url, "MODEL": "scripted", "MODEL_KEY": "k", "PYTHONPATH": PYTHON_CLIENT}
        return subprocess.Popen([*self.command, turn, QUESTION], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=environment)

    def run(self, model, turn):
        """Runs the program. Returns its exit status, its output and its error output."""
        process = self.start(model, turn)
        try:
            output, errors = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()
        return process.returncode, output, errors

    def add(self, *messages, key=None):
        """Adds messages to the session with the bytes that the clients send, as a process that died did. With a key: and tools."""
        body = {"format": "openai", "messages": messages, **({} if key is None else {"tools": TOOLS_OF_LOOPS})}
        with cardbox_test.Client(self.port) as client:
            answer = client.request("POST", cardbox_test.session_url(self.session, "messages", project=self.project),
                                    json.dumps(body, separators=(",", ":")),
                                    {"Content-Type": "application/json", **({} if key is None else {"Idempotency-Key": key})})
        assert answer.status == 200, answer

    def count(self):
        """The number of the session's messages."""
        with cardbox_test.Client(self.port) as client:
            answer = client.request("GET", cardbox_test.session_url(self.session, "export", project=self.project))
        return sum(json.loads(line)["type"] == "message" for line in answer.body.splitlines()) if answer.status == 200 else 0


def check_new_turn(loop):
    """The second run of the same turn stores nothing, and does not ask the model."""
    model, before, results = LoopModel(), loop.count(), []
    for _ in range(2):
        results.append(loop.run(model, f"turn-{model.url}"))
        assert results[-1][0] == 0 and results[-1][1].startswith("The tool returned "), results
        assert loop.count() == before + 4, (before, loop.count(), results)
    assert results[0] == results[1] and len(model.requests) == 2, (results, len(model.requests))


def check_killed_loop(loop):
    """The loop is killed at its first and at its third request to the model, and started again. The turn is stored once."""
    process, before = [], loop.count()
    model = LoopModel(on_request=lambda: process[0].kill() if len(model.requests) in (1, 3) else None)
    for _ in range(5):
        process[:] = [loop.start(model, f"turn-{model.url}")]
        output, _ = process[0].communicate(timeout=WAIT_S)
        if process[0].returncode == 0:
            break
    assert output.strip() and len(model.requests) == 4 and loop.count() == before + 4, (output, loop.count(), len(model.requests))


def asks(text):
    return {"role": "user", "content": text}


def calls(*ids, name="clock", arguments="{}"):
    functions = [{"id": one, "type": "function", "function": {"name": name, "arguments": arguments}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def check_loop_after_a_dead_turn(loop):
    """An earlier turn died before its tool ran. The next turn goes on: the dead call gets a synthetic result."""
    loop.add(asks("?"), calls("d1"), key="dead-turn")
    status, output, errors = loop.run(LoopModel(), "turn-after")
    assert (status, output[:18]) == (0, "The tool returned "), (output, errors)


def check_loop_between_two_tools(loop):
    """The loop died when one of two calls had a result. It runs the tool of the other call, and only this one."""
    loop.add(asks(QUESTION), key="parallel")
    loop.add(calls("functions.clock:0", "p2"), {"role": "tool", "tool_call_id": "functions.clock:0", "content": "first"})
    before, model = loop.count(), LoopModel()
    status, output, errors = loop.run(model, "parallel")
    assert (status, output[:18]) == (0, "The tool returned "), (output, errors)
    results = [message["content"] for message in model.requests[0]["messages"] if message["role"] == "tool"][-2:]
    assert results[0] == "first" and results[1] in output and "No result" not in output, (results, output)
    assert loop.count() == before + 2 and len(model.requests) == 1, (loop.count(), model.requests)


def check_two_processes(loop):
    """Two processes run the same turn at the same time. The turn is stored once, and both print its answer."""
    both = threading.Barrier(2)

    def meet():
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(5)
    model, before = LoopModel(on_request=meet), loop.count()
    processes = [loop.start(model, f"turn-{model.url}") for _ in range(2)]
    outputs = [process.communicate(timeout=WAIT_S) for process in processes]
    assert outputs[0] == outputs[1] and outputs[0][0].startswith("The tool returned "), outputs
    assert loop.count() == before + 4 and len(model.requests) == 4, (before, loop.count(), len(model.requests))


NO_ANSWERS = [({"content": None, "refusal": "I can't help with that."}, "I can't help with that."), ({"content": ""}, None),
              ({"content": "\n"}, None), ({"content": None}, None), ({"content": None, "tool_calls": []}, None),
              ({"content": " \u3000\u2003 "}, None), ({"content": "It is"}, "It is")]


def check_loop_without_an_answer(loop):
    """The model refuses, or says nothing. The loop ends, also if it is started again, and the next turn goes on."""
    for number, (said, printed) in enumerate(NO_ANSWERS):
        model = LoopModel(always={"role": "assistant", **said})
        for _ in range(2 if number < 2 else 1):
            status, output, errors = loop.run(model, f"nothing-{number}")
            assert status == 0 and (output == f"{printed}\n" or printed is None and output.strip() in ("", "None", "null", "undefined")), \
                (said, status, output, errors)
        assert len(model.requests) == 1, (said, len(model.requests))
    assert loop.run(LoopModel(), "something")[1].startswith("The tool returned ")


def check_loop_with_odd_calls(loop):
    """The calls have broken arguments, a long id, or a name that is no tool: each call gets a result, and the turn ends."""
    odd = [calls("b1", arguments='{"a": '), calls("chatcmpl-tool-0123456789abcdef0123456789abcdef"), calls("u1", name="clocks")]
    for number, message in enumerate(odd):
        model = LoopModel()
        model.answer = lambda body, message=message: (
            message if body["messages"][-1]["role"] == "user" else {"role": "assistant", "content": "The end."})
        status, output, errors = loop.run(model, f"odd-{number}")
        assert (status, output) == (0, "The end.\n") and len(model.requests) == 2, (message, output, errors)


def check_program(source, port):
    """Checks the agent loop of a guide."""
    loop = Loop(source, port)
    for check in (check_new_turn, check_killed_loop, check_loop_after_a_dead_turn, check_loop_between_two_tools, check_two_processes,
                  check_loop_without_an_answer, check_loop_with_odd_calls):
        check(loop)


def entries_of(port, session):
    """The JSON of all entries of a session of the project p, in the order of their lines."""
    with cardbox_test.Client(port) as client:
        text = client.request("GET", cardbox_test.session_url(session, "export")).body
    return [json.loads(line) for line in text.splitlines()]


def check_turns(port, project_sessions, turns):
    """Each session has the entries of its turns exactly once, in order, as one chain."""
    for session in project_sessions:
        found = entries_of(port, session)
        assert [entry["content"] for entry in found] == [f"{session} {n}" for n in range(turns)], (session, found[-3:])
        assert [entry.get("parentId") for entry in found[1:]] == [entry["id"] for entry in found[:-1]], session

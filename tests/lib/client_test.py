"""What the tests of both clients share: a proxy that loses answers, a server that is killed, a model for agent loops."""

import http.server
import json
import os
import socket
import subprocess
import threading

import cardbox_test
from cardbox_test import WAIT_S, Server, at_end, dsn, free_port

PYTHON_CLIENT = os.path.join(cardbox_test.ROOT, "openapi", "clients", "python")
TYPESCRIPT_CLIENT = os.path.join(cardbox_test.ROOT, "openapi", "clients", "typescript")


class Proxy:
    """Passes each request on to the server, on a connection of its own, and loses some answers.

    `lose`: the number of next answers that are dropped after the server has sent them. `statuses`: the statuses, with a
    Retry-After in seconds or None, of the next answers, which do not come from the server. `requests`: the first
    line of each request.
    """

    def __init__(self, port):
        self.target = port
        self.lose = 0
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
        while self.kills < 5 and not self.stopping.wait(0.3):
            self.server.kill()
            self.kills += 1
            self.server = Server(dsn(), port=self.port)

    def stop(self):
        self.stopping.set()
        self.thread.join(WAIT_S)
        self.server.await_ready()


class LoopModel:
    """A model for agent loops, as chat completions without streaming: it calls the first tool, then answers with its result.

    `on_request` is called before each answer.
    """

    def __init__(self, on_request=lambda: None):
        self.requests = []
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
                self.end_headers()
                self.wfile.write(answer)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        at_end(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, body):
        last = body["messages"][-1]
        if last["role"] == "tool":
            return {"role": "assistant", "content": f"The tool returned {last['content']}."}
        call = {"id": f"call_{len(body['messages'])}", "type": "function",
                "function": {"name": body["tools"][0]["function"]["name"], "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def check_loop(command, environment, count):
    """Runs an agent loop twice with the same turn. The second run stores nothing. `count` returns the number of stored entries.

    `command`: the loop's command, without the arguments for the turn and the question. Returns its output.
    """
    model = LoopModel()
    outputs, counts = [], []
    for _ in range(2):
        done = subprocess.run([*command, "turn-1", "What time is it?"], capture_output=True, text=True, timeout=WAIT_S,
                              env={**os.environ, "MODEL_URL": model.url, "MODEL": "scripted", "MODEL_KEY": "none", **environment})
        assert done.returncode == 0 and done.stdout.strip(), f"{done.stdout}{done.stderr}"
        outputs.append(done.stdout)
        counts.append(count())
    assert outputs[0] == outputs[1] and counts == [4, 4], (outputs, counts)
    assert len(model.requests) == 2, len(model.requests)
    return outputs[0]


def check_killed_loop(command, environment, count):
    """Kills an agent loop at each of its requests to the model, and starts it again. The turn is stored once."""
    process = []
    model = LoopModel(on_request=lambda: process[0].kill() if len(model.requests) in (1, 3) else None)
    for _ in range(5):
        process[:] = [subprocess.Popen([*command, "turn-1", "What time is it?"], stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, "MODEL_URL": model.url, "MODEL": "scripted", **environment})]
        output, _ = process[0].communicate(timeout=WAIT_S)
        if process[0].returncode == 0:
            break
    assert output.startswith("The tool returned") and len(model.requests) == 4 and count() == 4, (output, count())


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

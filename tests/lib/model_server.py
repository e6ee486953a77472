"""A small OpenAI-compatible server with scripted answers: chat completions, streamed.

    server = ModelServer(lambda request: says("hello"))

The function gets each Request and returns a reply: says(), calls(), refuses(), breaks(), hangs(), or a
list of replies: each attempt of the same conversation gets the next one. The messages of every request
are checked by the rules of the API. Violations are collected in `faults`, and check() raises them.
"""

import http.server
import json
import sys
import threading
import time

import llm_rules
from cardbox_test import at_end, await_


class Request:
    """A request: text, body, headers, and properties that scripts use for decisions."""

    def __init__(self, text, headers):
        self.text = text.decode()
        self.body = body = json.loads(text)
        self.headers = headers
        self.messages = body.get("messages", [])
        self.at = time.monotonic()

    def said(self, role):
        return [message["content"] for message in self.messages if message["role"] == role]

    @property
    def user(self):
        return self.said("user")[-1]

    @property
    def results(self):
        """What tools gave, since the last message of a user."""
        last = max(i for i, message in enumerate(self.messages) if message["role"] == "user")
        return [message["content"] for message in self.messages[last:] if message["role"] == "tool"]

    @property
    def answered(self):
        """How often the model has spoken since the last message of a user."""
        last = max(i for i, message in enumerate(self.messages) if message["role"] == "user")
        return sum(message["role"] == "assistant" for message in self.messages[last:])


# --- replies ---


class Reply:
    status = 200
    plain = None      # the bytes of an answer that is no stream
    headers = {}
    cut = False       # the connection is closed in the middle of the stream
    hang = False      # nothing more comes
    pause = 0         # seconds between chunks
    before = 0        # seconds before anything
    until = None      # what is waited for before anything
    done = True       # [DONE] at the end
    linger = False    # after [DONE] the answer does not end

    def __init__(self, chunks=(), **members):
        self.chunks = list(chunks)
        self.__dict__.update(members)


def chunk(delta, finish=None, **more):
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def pieces(text, size=4):
    return [text[i:i + size] for i in range(0, len(text), size)]


def usage():
    return {"id": "chatcmpl-1", "choices": [],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, "cost": 0.5}}


def says(text, finish="stop", **members):
    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": piece}) for piece in pieces(text)]
    return Reply([*chunks, chunk({}, finish), usage()], **members)


def calls(*wanted, text=None, **members):
    """A reply with tool calls: (name, arguments) each. Arguments are a value, or a str that is sent unchanged."""
    chunks = [chunk({"role": "assistant", "content": text})]
    for index, (name, arguments) in enumerate(wanted):
        given = arguments if isinstance(arguments, str) else json.dumps(arguments)
        chunks.append(chunk({"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function",
                                             "function": {"name": name, "arguments": ""}}]}))
        chunks += [chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
                   for piece in pieces(given)]
    return Reply([*chunks, chunk({}, "tool_calls"), usage()], **members)


def refuses(status, message="no", **headers):
    return Reply([{"error": {"message": message, "type": "error"}}], status=status,
                 headers={name.replace("_", "-"): value for name, value in headers.items()})


def breaks(how, text="half of it"):
    """A stream that breaks after some text: cut, junk, error, end (without a finish) or silence."""
    chunks = [chunk({"content": piece}) for piece in pieces(text)]
    if how == "junk":
        return Reply([*chunks, "{\"choices\": [junk"])
    if how == "error":
        return Reply([*chunks, {"error": {"message": "overloaded", "type": "server_error"}}])
    if how == "end":
        return Reply(chunks)
    return Reply(chunks, cut=how == "cut", hang=how == "silence")


def hangs():
    """Accepts the request and never answers."""
    return Reply(hang=True, status=None)


# --- the rules of the API ---


def message_faults(messages, id_max):
    """The faults of these messages that OpenAI's API would reject."""
    try:
        llm_rules.openai(messages, id_max)
    except AssertionError as fault:
        yield str(fault)
    for number, message in enumerate(messages):
        if message["role"] == "tool" and not isinstance(message["content"], str):
            yield f"messages[{number}] is no text"
    if not messages or messages[-1]["role"] not in ("user", "tool"):
        yield "there is nothing to answer"


def request_faults(request, id_max):
    body = request.body
    yield from message_faults(request.messages, id_max)
    if body.get("stream") is not True or body.get("stream_options") != {"include_usage": True}:
        yield "it is no stream with usage"
    if not body.get("model"):
        yield "no model"
    if "tools" in body and not body["tools"]:
        yield "an empty list of tools"
    for tool in body.get("tools", []):
        function = tool.get("function", {})
        if tool.get("type") != "function" or not llm_rules.NAME.match(function.get("name", "")):
            yield f"a bad tool {tool}"
        if function.get("parameters", {}).get("type") != "object":
            yield f"bad parameters of {function.get('name')}"


# --- the server ---


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        model = self.server.model
        if self.path != "/v1/chat/completions":
            self._plain(404, {}, json.dumps({"error": {"message": "no such path"}}).encode())
            return
        try:
            self._answer(model, model.take(Request(body, self.headers)))
        except (BrokenPipeError, ConnectionResetError):
            model.broken_off += 1

    def _plain(self, status, headers, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _hang(self, model):
        """Until the client goes or the server stops."""
        self.connection.settimeout(0.05)
        while not model.stopped.is_set():
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        model.broken_off += 1
        self.close_connection = True

    def _answer(self, model, reply):
        model.stopped.wait(reply.before)
        if reply.until is not None:
            await_(reply.until)
        if reply.status is None:
            self._hang(model)
            return
        if reply.plain is not None:
            self._plain(reply.status, reply.headers, reply.plain)
            return
        if reply.status != 200:
            self._plain(reply.status, reply.headers, json.dumps(reply.chunks[0]).encode())
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for item in reply.chunks:
            data = item if isinstance(item, str) else json.dumps(item)
            self._chunk(b"data: " + data.encode() + b"\n\n")
            model.stopped.wait(reply.pause)
        if reply.hang:
            self._hang(model)
        elif reply.cut:
            self.close_connection = True
        else:
            if reply.done:
                self._chunk(b"data: [DONE]\n\n")
            if reply.linger:
                self._hang(model)
                return
            self.wfile.write(b"0\r\n\r\n")


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            self.model.faults.append(f"an answer failed: {error!r}")


class ModelServer:
    def __init__(self, script, id_max=40):
        self.script = script
        self.id_max = id_max  # the most characters of a call's id
        self.requests = []
        self.faults = []
        self.broken_off = 0  # answers whose client went away
        self.stopped = threading.Event()
        self._attempts = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        at_end(self._end)

    def _end(self):
        self.stop()
        self.check()

    def stop(self):
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def take(self, request):
        with self._lock:
            self.requests.append(request)
            self.faults += request_faults(request, self.id_max)
            try:
                reply = self.script(request)
            except Exception as error:  # a script that does not know: the test must hear of it
                self.faults.append(f"the script failed: {error!r}")
                return refuses(400, f"the script failed: {error!r}")
            if not isinstance(reply, list):
                return reply
            key = json.dumps(request.messages)
            number = self._attempts.get(key, 0)
            self._attempts[key] = number + 1
            return reply[min(number, len(reply) - 1)]

    def check(self):
        assert not self.faults, self.faults[:5]


class ToolServer(ModelServer):
    """A server for tools with a URL. Requests to it are not checked by the rules of models."""

    def take(self, request):
        self.requests.append(request)
        return self.script(request)

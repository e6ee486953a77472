"""Strict stubs of the APIs of OpenAI (chat completions, responses) and Anthropic (messages), for loops of agents.

The question of turn N is "turn N KIND", and the answers follow from it. A stub accepts only what the API accepts: its
members, calls with their results, texts that are not empty. It also refuses a request in which a message is not as it was
given, or in which an earlier request's messages have changed. Such a request is answered with 400, and is in `faults`.

A server also answers GET /turn/N with the question and the settings of a turn, and POST /tool with the output of a tool.
"""

import collections
import contextlib
import http.server
import json
import re
import threading

from cardbox_test import at_end

IMAGE = "iVBORw0KGgo="
IMAGE_URL = f"data:image/png;base64,{IMAGE}"
NO_RESULT = "No result provided"  # of a call of a turn that was abandoned
BIG = '{"n": 9007199254740993, "x": 1.10}'
CUT = '{"n": 90071'
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def mended(arguments):
    """The arguments of a call as they are sent: a text that is no JSON object stands in an object."""
    with contextlib.suppress(ValueError):
        if isinstance(json.loads(arguments), dict):
            return arguments
    return json.dumps({"arguments": arguments}, separators=(",", ":"))


def take_results(calls, results):
    """Checks that each call has one result."""
    assert sorted(calls) == sorted(one for one, _ in results), f"calls {calls} and results {results} are not pairs"
    assert all(output for _, output in results), f"an empty result: {results}"
    return dict(results)


def members(value, required, *optional):
    assert set(required) <= set(value) <= {*required, *optional}, f"members of {value}"


class OpenAI:
    path, list_name, end_of_cut = "/v1/chat/completions", "messages", "length"
    kinds = ("text thinking parallel image refusal empty null nocalls cut cutcall broken kimi vllm unknown abandoned").split()
    how = {"system": "Be brief.", "tools": [{"type": "function", "function": {"name": "clock", "parameters": SCHEMA}}],
           "parameters": {"temperature": 0.5}}
    ids = {"kimi": "functions.clock:{1}", "vllm": "chatcmpl-tool-0123456789abcdef0123456789abcd{0:02x}"}

    @staticmethod
    def question(n, kind):
        text = f"turn {n} {kind}"
        if kind != "image":
            return {"role": "user", "content": text}
        return {"role": "user", "content": [{"type": "text", "text": text},
                                            {"type": "image_url", "image_url": {"url": IMAGE_URL, "detail": "low"}}]}

    @classmethod
    def answers(cls, n, kind):
        def call(number, arguments=BIG):
            name = cls.ids.get(kind, "call_{0}_{1}").format(n, 10 * n + number)
            return {"id": name, "type": "function", "function": {"name": "clock", "arguments": arguments}}

        def says(text, **more):
            return {"role": "assistant", "content": text, "refusal": None, "annotations": [], **more}
        end = says(f"The answer of turn {n}.")
        return {"thinking": [says(None, reasoning_content=f"hm {n}", tool_calls=[call(0)]), {**end, "reasoning_content": ""}],
                "parallel": [says("I call.", tool_calls=[call(0), call(1), call(2)]), says(None, tool_calls=[call(3)]), end],
                "kimi": [says("", tool_calls=[call(0), call(1)]), end], "vllm": [says(None, tool_calls=[call(0)]), end],
                "refusal": [says(None, refusal="I can't.")], "empty": [says("")], "null": [says(None)],
                "nocalls": [says("Yes.", tool_calls=[])], "cut": [says(f"The answer of tu {n}")],
                "cutcall": [says(None, tool_calls=[call(0), call(1, CUT)]), end], "broken": [says(None, tool_calls=[call(0, "[1]")]), end],
                "abandoned": [says(None, tool_calls=[call(0), call(1)]), end],
                "unknown": [says("text", x_new={"deep": [1.5, None]}, extra_content={"google": {"thought_signature": "s"}})]}.get(kind, [end])

    @staticmethod
    def sent(answer):
        """An answer as a request has it."""
        answer = json.loads(json.dumps(answer))
        if answer.get("tool_calls") == []:
            del answer["tool_calls"]
        for call in answer.get("tool_calls", []):
            call["function"]["arguments"] = mended(call["function"]["arguments"])
        if answer["content"] is None and "tool_calls" not in answer:
            answer["content"] = ""
        return [answer]

    @staticmethod
    def calls(answer):
        return {call["id"]: call["function"]["arguments"] for call in answer.get("tool_calls", [])}

    @staticmethod
    def wrap(message, end):
        return {"id": "c", "object": "chat.completion", "model": "stub", "created": 1, "usage": {"prompt_tokens": 1, "completion_tokens": 1},
                "choices": [{"index": 0, "finish_reason": end or "stop", "logprobs": None, "message": message}]}

    @classmethod
    def check_settings(cls, body):
        members(body, ("model", "messages", "tools", "temperature"))
        assert body["messages"][0] == {"role": "system", "content": cls.how["system"]} and body["tools"] == cls.how["tools"], body
        return body["messages"][1:]

    @classmethod
    def split(cls, messages):
        """For each turn: the question, and each answer with the outputs of its calls. AssertionError: a rule is broken."""
        turns = []
        for message in messages:
            role = message["role"]
            if role == "user":
                turns.append((message, []))
            elif role == "tool":
                members(message, ("role", "tool_call_id", "content"))
                assert turns[-1][1], f"a result without a call: {message}"
                turns[-1][1][-1][1].append((message["tool_call_id"], message["content"]))
            else:
                assert role == "assistant" and (message["content"] is not None or message.get("tool_calls")), message
                assert message.get("tool_calls") != [] and all(isinstance(json.loads(one), dict) for one in cls.calls(message).values()), message
                turns[-1][1].append((message, []))
        return [(question, [([answer], take_results(cls.calls(answer), results)) for answer, results in steps]) for question, steps in turns]


class Responses:
    path, list_name, end_of_cut = "/v1/responses", "input", "incomplete"
    kinds = "text thinking parallel image refusal empty cut cutcall cutthought cutlater broken builtin unknown abandoned".split()
    how = {"system": "Be brief.", "tools": [{"type": "function", "name": "clock", "parameters": SCHEMA, "strict": False}],
           "parameters": {"store": False}}

    @staticmethod
    def question(n, kind):
        text = f"turn {n} {kind}"
        if kind != "image":
            return {"type": "message", "role": "user", "content": text}
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text},
                                                               {"type": "input_image", "detail": "low", "image_url": IMAGE_URL}]}

    @staticmethod
    def answers(n, kind):
        def call(number, arguments=BIG):
            return {"type": "function_call", "id": f"fc_{n}_{number}", "call_id": f"call_{n}_{number}", "name": "clock",
                    "arguments": arguments, "status": "completed"}

        def says(part, **more):
            return {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed", "content": [part], **more}

        def text(what):
            return {"type": "output_text", "text": what, "annotations": [], "logprobs": []}
        thinks = {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": f"secret {n}"}
        end = [says(text(f"The answer of turn {n}."))]
        return {"thinking": [[thinks, call(0)], [{**thinks, "id": f"rs_{n}_1"}, *end]],
                "parallel": [[call(0), call(1), call(2)], [call(3)], end],
                "refusal": [[says({"type": "refusal", "refusal": "I can't."})]], "cutthought": [[thinks]],
                "cutlater": [[thinks, call(0), {**thinks, "id": f"rs_{n}_1"}, {**thinks, "id": f"rs_{n}_2"}], end],
                "cut": [[says(text("The ans"), status="incomplete")]], "cutcall": [[call(0), {**call(1, CUT), "status": "incomplete"}], end],
                "broken": [[call(0, "")], end], "empty": [[says(text(""))]], "abandoned": [[thinks, call(0), call(1)], end],
                "builtin": [[{"type": "web_search_call", "id": f"ws_{n}", "status": "completed", "action": {"type": "search", "query": "q"}}, *end]],
                "unknown": [[{**thinks, "x_new": 1}, *end]]}.get(kind, [end])

    @staticmethod
    def sent(answer):
        items = json.loads(json.dumps(answer))
        while items and items[-1]["type"] == "reasoning":
            items.pop()
        for item in items:
            if item["type"] == "function_call":
                item["arguments"] = mended(item["arguments"]) if item["arguments"] else "{}"
        return items

    @staticmethod
    def calls(items):
        return {item["call_id"]: item["arguments"] for item in items if item["type"] == "function_call"}

    @staticmethod
    def wrap(items, end):
        return {"id": "resp", "object": "response", "created_at": 1, "model": "stub", "status": end or "completed", "output": items,
                "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}

    @classmethod
    def check_settings(cls, body):
        members(body, ("model", "input", "instructions", "tools", "store"))
        assert body["instructions"] == cls.how["system"] and body["tools"] == cls.how["tools"] and body["store"] is False, body
        return body["input"]

    @classmethod
    def split(cls, items):
        turns, goes_on = [], False
        for item in items:
            kind = item["type"]
            if kind == "message" and item["role"] == "user":
                turns.append((item, []))
            elif kind == "function_call_output":
                members(item, ("type", "call_id", "output"))
                assert turns[-1][1], f"an output without a call: {item}"
                turns[-1][1][-1][1].append((item["call_id"], item["output"]))
            else:
                assert kind != "function_call" or isinstance(json.loads(item["arguments"]), dict), item
                if not goes_on:
                    turns[-1][1].append(([], []))
                turns[-1][1][-1][0].append(item)
            goes_on = kind != "function_call_output" and not (kind == "message" and item["role"] == "user")
        for _, steps in turns:
            assert all(answer[-1]["type"] != "reasoning" for answer, _ in steps), "reasoning without the item that must follow it"
        return [(question, [(answer, take_results(cls.calls(answer), results)) for answer, results in steps]) for question, steps in turns]


class Anthropic:
    path, list_name, end_of_cut = "/v1/messages", "messages", "max_tokens"
    kinds = "text thinking parallel image refusal empty blank blanks cut cutthought redacted builtin unknown abandoned".split()
    how = {"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
           "tools": [{"name": "clock", "input_schema": SCHEMA}], "parameters": {"max_tokens": 1000}}

    @staticmethod
    def question(n, kind):
        text = f"turn {n} {kind}"
        if kind != "image":
            return {"role": "user", "content": text}
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}}
        return {"role": "user", "content": [image, {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]}

    @staticmethod
    def answers(n, kind):
        def call(number):
            return {"type": "tool_use", "id": f"toolu_{n}_{number}", "name": "clock", "input": {"n": number}}

        def text(what, **more):
            return {"type": "text", "text": what, **more}
        thinks = {"type": "thinking", "thinking": "" if n % 2 else f"hm {n}", "signature": f"signature {n}"}
        end, search = [text(f"The answer of turn {n}.")], {"id": f"srvtoolu_{n}", "name": "web_search"}
        return {"thinking": [[thinks, call(0)], [thinks, *end]],
                "parallel": [[text("I call."), call(0), call(1), call(2)], [thinks, call(3)], end],
                "refusal": [[text("I can't.")]], "empty": [[]], "cut": [[text("The ans")]], "cutthought": [[thinks]],
                "blank": [[text("\n\n"), thinks, call(0)], [text(""), *end]], "blanks": [[text(""), text(" \n")]],
                "redacted": [[{"type": "redacted_thinking", "data": f"data {n}"}, call(0)], end],
                "abandoned": [[thinks, call(0), call(1)], end],
                "builtin": [[{"type": "server_tool_use", **search, "input": {"query": "q"}},
                             {"type": "web_search_tool_result", "tool_use_id": search["id"], "content": []}, *end]],
                "unknown": [[text("text", citations=None, x_new=[n])]]}.get(kind, [end])

    @staticmethod
    def sent(content):
        blocks = [block for block in content if block["type"] != "text" or block["text"].strip()]
        while blocks and "thinking" in blocks[-1]["type"]:
            blocks.pop()
        return blocks

    @staticmethod
    def calls(blocks):
        return {block["id"]: block["input"] for block in blocks if block["type"] == "tool_use"}

    @staticmethod
    def wrap(content, end):
        return {"id": "msg", "type": "message", "role": "assistant", "model": "stub", "content": content, "stop_reason": end or "end_turn",
                "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}

    @classmethod
    def check_settings(cls, body):
        members(body, ("model", "messages", "system", "tools", "max_tokens"))
        assert {name: body[name] for name in ("system", "tools")} == {name: cls.how[name] for name in ("system", "tools")}, body
        return body["messages"]

    @classmethod
    def check_blocks(cls, message):
        members(message, ("role", "content"))
        assert message["role"] in ("user", "assistant") and message["content"], f"an empty content: {message}"
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
        assert all(block["text"].strip() for block in blocks if block["type"] == "text"), f"an empty text: {message}"
        assert message["role"] == "user" or "thinking" not in blocks[-1]["type"], f"the final block is thinking: {message}"
        return blocks

    @classmethod
    def split(cls, messages):
        turns, waiting, combined = [], {}, []
        for message in messages:
            blocks, role = cls.check_blocks(message), message["role"]
            if role == "user" and all(block["type"] != "tool_result" for block in blocks):
                blocks = [{"type": "question", "message": message}]
            if combined and combined[-1][0] == role:  # as the API does
                combined[-1][1].extend(blocks)
            else:
                combined.append((role, list(blocks)))
        assert combined[-1][0] == "user", "the last message is an answer"
        for number, (role, blocks) in enumerate(combined):
            assert role == ("user", "assistant")[number % 2], "the first message is the user's"
            if role == "assistant":
                turns[-1][1].append((blocks, {}))
                waiting = cls.calls(blocks)
                continue
            results = [block for block in blocks if block["type"] == "tool_result"]
            assert results == blocks[:len(results)], "results come first"
            taken = take_results(waiting, [(block["tool_use_id"], output_of(block)) for block in results])
            if taken:
                turns[-1][1][-1][1].update(taken)
            turns += [(block["message"], []) for block in blocks[len(results):]]
        return turns


def output_of(block):
    members(block, ("type", "tool_use_id", "content"), "is_error")
    content = block["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


APIS = {"openai": OpenAI, "responses": Responses, "anthropic": Anthropic}


class VendorServer:
    """A stub of one API. `asked` counts the requests for each answer (turn, number), and `ran` the runs of each call.

    `is_loose`: the program has settings and a tool of its own, which are not checked.
    """

    def __init__(self, api, is_loose=False):
        self.api, self.is_loose, self.faults = api, is_loose, []
        self.asked, self.ran = collections.Counter(), collections.Counter()
        self.before, self.lock = [], threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.do_POST()

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, answer = outer.answer(self.path, json.loads(body or b"{}"))
                text = json.dumps(answer).encode()
                self.send_response(status)
                for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(text)))):
                    self.send_header(name, value)
                with contextlib.suppress(OSError):  # the program was killed
                    self.end_headers()
                    self.wfile.write(text)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        at_end(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def kind(self, n):
        return self.api.kinds[n % len(self.api.kinds)]

    def answer(self, path, body):
        with self.lock:
            try:
                if path.startswith("/turn/"):
                    n = int(path.rpartition("/")[2])
                    return 200, {"question": self.api.question(n, self.kind(n)), "how": self.api.how, "kind": self.kind(n)}
                if path == "/tool":
                    self.ran[body["id"]] += 1
                    return 200, {"output": f"result of {body['id']}"}
                assert path == self.api.path, path
                return 200, self.reply(body)
            except Exception as fault:  # pylint: disable=broad-exception-caught
                self.faults.append(repr(fault)[:2000])
                return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": repr(fault)}}

    def reply(self, body):
        messages = body[self.api.list_name]
        assert messages[:len(self.before)] == self.before, f"the request {self.before} was changed: {messages}"
        turns = self.api.split(messages if self.is_loose else self.api.check_settings(body))
        for turn in turns:
            number, kind = self.check_turn(*turn, turn is turns[-1])
        self.before = messages
        step = len(turns[-1][1])
        self.asked[number, step] += 1
        return self.api.wrap(self.api.answers(number, kind)[step], self.api.end_of_cut if kind.startswith("cut") and step == 0 else None)

    def check_turn(self, question, steps, is_last):
        """The messages of a turn are those that the stub and the program gave. Returns the number and the kind of the turn."""
        number, kind = re.search(r"turn (\d+) (\w+)", json.dumps(question)).groups()
        number = int(number)
        assert question == self.api.question(number, kind), f"{question} is not the question"
        answers = self.api.answers(number, kind)
        sent = [one for one in map(self.api.sent, answers) if one]
        count = len(steps) if is_last else 1 if kind == "abandoned" else len(sent)
        assert [answer for answer, _ in steps] == sent[:count], f"turn {number} {kind}: {steps} instead of {sent[:count]}"
        for said, (_, results) in zip(answers, steps):
            for call, output in results.items():
                assert self.is_loose or output == self.output(said, call, kind), (number, kind, call, output)
        return number, kind

    def output(self, said, call, kind):
        """The output that the program gives as the result of a call."""
        arguments = self.api.calls(said)[call]
        if kind == "abandoned":
            return NO_RESULT
        try:
            json.loads(arguments if isinstance(arguments, str) else "{}")
        except ValueError:
            return f"the arguments are no JSON: {arguments}"
        return f"result of {call}"

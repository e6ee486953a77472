"""Strict stubs of the APIs of OpenAI (chat completions, responses) and Anthropic (messages), for loops with the official packages.

The question of the user is "turn N KIND", and the answers follow from it. A request that the API would reject, or in which
an earlier answer is not as the stub gave it, is answered with 400, and is in `faults`.
"""

import http.server
import json
import re
import threading

from cardbox_test import at_end

IDS = {"kimi": ["functions.clock:0", "functions.clock:1"], "vllm": ["chatcmpl-tool-0123456789abcdef0123456789abcd%02x"]}
ODD = ("empty", "broken")  # their answers may be changed by repairs


class OpenAI:
    path, kinds = "/v1/chat/completions", "text,thinking,parallel,image,refusal,empty,cut,broken,kimi,vllm,unknown".split(",")

    @staticmethod
    def answers(n, kind):
        def call(number, arguments='{"n": 9007199254740993}'):
            ids = IDS.get(kind, ["call_%d_%d"])[number % len(IDS.get(kind, [0]))]
            one = ids % ((n, number) if ids.count("%") == 2 else n) if "%" in ids else ids.replace(":", f":{n}")
            return {"id": one, "type": "function", "function": {"name": "clock", "arguments": arguments}}

        def says(text, **more):
            return {"role": "assistant", "content": text, "refusal": None, "annotations": [], **more}
        end = says(f"The answer of turn {n}.")
        return {"thinking": [says(None, reasoning_content=f"hm {n}", tool_calls=[call(0)]), end],
                "parallel": [says("I call.", tool_calls=[call(0), call(1), call(2)]), end],
                "kimi": [says("", tool_calls=[call(0), call(1)]), end], "vllm": [says(None, tool_calls=[call(0)]), end],
                "refusal": [says(None, refusal="I can't.")], "empty": [says("")], "cut": [says(f"The answer of tu {n}")],
                "broken": [says(None, tool_calls=[call(0, '{"n": ')]), end],
                "unknown": [says("text", x_new={"deep": [1.5, None]}, extra_content={"google": {"thought_signature": "s"}})]}.get(kind, [end])

    @staticmethod
    def wrap(message):
        return {"id": "c", "object": "chat.completion", "model": "stub", "created": 1, "usage": {"prompt_tokens": 1, "completion_tokens": 1},
                "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}]}

    @staticmethod
    def split(body):
        """For each turn: the text of the question, and the answers. Raises AssertionError for a rule that is broken."""
        turns, waiting = [], []
        for message in body["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] in waiting and message["content"], f"a result without a call: {message}"
                waiting.remove(message["tool_call_id"])
                continue
            assert not waiting, f"calls without a result: {waiting}"
            if message["role"] == "user":
                content = message["content"]
                turns.append((content if isinstance(content, str) else content[0]["text"], []))
                continue
            calls = message.get("tool_calls")
            assert calls is None or calls and all(isinstance(json.loads(c["function"]["arguments"]), dict) for c in calls), calls
            waiting = [call["id"] for call in calls or []]
            turns[-1][1].append(message)
        assert not waiting, f"calls without a result: {waiting}"
        return turns


class Responses:
    path, kinds = "/v1/responses", "text,thinking,parallel,image,refusal,cut,broken,empty,unknown".split(",")

    @staticmethod
    def answers(n, kind):
        def call(number, arguments='{"n": 9007199254740993}'):
            return {"type": "function_call", "id": f"fc_{n}_{number}", "call_id": f"call_{n}_{number}", "name": "clock",
                    "arguments": arguments, "status": "completed"}

        def says(part, **more):
            return {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed", "content": [part], **more}
        thinks = {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": f"secret {n}"}
        end = [says({"type": "output_text", "text": f"The answer of turn {n}.", "annotations": [], "logprobs": []})]
        return {"thinking": [[thinks, call(0)], end], "parallel": [[call(0), call(1), call(2)], end],
                "refusal": [[says({"type": "refusal", "refusal": "I can't."})]],
                "cut": [[says({"type": "output_text", "text": "The ans", "annotations": []}, status="incomplete")]],
                "broken": [[call(0, '{"n": ')], end],
                "empty": [[says({"type": "output_text", "text": "", "annotations": []})]],
                "unknown": [[{**thinks, "x_new": 1}, *end]]}.get(kind, [end])

    @staticmethod
    def wrap(items):
        return {"id": "resp", "object": "response", "created_at": 1, "model": "stub", "status": "completed", "output": items,
                "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}

    @staticmethod
    def split(body):
        turns, waiting, reasoning, results = [], [], False, True
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind == "function_call_output":
                assert item["call_id"] in waiting and item["output"], f"an output without a call: {item}"
                waiting.remove(item["call_id"])
                results = True
                continue
            if kind == "message" and item["role"] == "user":
                assert not waiting and not reasoning, (waiting, reasoning)
                content = item["content"]
                turns.append((content if isinstance(content, str) else content[0]["text"], []))
                results = True
                continue
            if kind == "function_call":
                assert isinstance(json.loads(item["arguments"]), dict), item
                waiting.append(item["call_id"])
            reasoning = kind == "reasoning"
            if results:
                turns[-1][1].append([])
            results = False
            turns[-1][1][-1].append(item)
        assert not waiting and not reasoning, f"no tool output found for {waiting}"
        return turns


class Anthropic:
    path, kinds = "/v1/messages", "text,thinking,parallel,image,refusal,empty,cut,redacted,unknown".split(",")

    @staticmethod
    def answers(n, kind):
        def call(number):
            return {"type": "tool_use", "id": f"toolu_{n}_{number}", "name": "clock", "input": {"n": number}}
        thinks = {"type": "thinking", "thinking": "" if n % 2 else f"hm {n}", "signature": f"signature {n}"}
        end = [{"type": "text", "text": f"The answer of turn {n}."}]
        return {"thinking": [[thinks, call(0)], [thinks, *end]], "parallel": [[*end, call(0), call(1), call(2)], end],
                "refusal": [[{"type": "text", "text": "I can't."}]], "empty": [[]], "cut": [[{"type": "text", "text": "The ans"}]],
                "redacted": [[{"type": "redacted_thinking", "data": f"data {n}"}, call(0)], end],
                "unknown": [[{"type": "text", "text": "text", "citations": None, "x_new": [n]}]]}.get(kind, [end])

    @staticmethod
    def wrap(content):
        return {"id": "msg", "type": "message", "role": "assistant", "model": "stub", "content": content, "stop_reason": "end_turn",
                "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}

    @staticmethod
    def split(body):
        turns, waiting, combined = [], [], []
        for message in body["messages"]:
            assert set(message) == {"role", "content"} and message["content"], f"members or an empty content: {message}"
            content = message["content"]
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            if combined and combined[-1][0] == message["role"] == "user":  # as the API does
                combined[-1][1].extend(blocks)
            else:
                combined.append((message["role"], list(blocks)))
        for number, (role, blocks) in enumerate(combined):
            assert role == ("user", "assistant")[number % 2], "two answers in a row"
            if role == "assistant":
                turns[-1][1].append(blocks)
                waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
                continue
            results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            assert sorted(results) == sorted(waiting), f"tool_use without a tool_result: {waiting} {results}"
            assert all(block["type"] == "tool_result" for block in blocks[:len(results)]), "results come first"
            turns += [(block["text"], []) for block in blocks if block["type"] == "text"]
        return turns


class VendorServer:
    def __init__(self, api):
        self.api, self.faults, self.requests = api, [], 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                status, answer = outer.answer(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        at_end(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path, body):
        self.requests += 1
        try:
            assert path == self.api.path, path
            turns = self.api.split(body)
            for text, given in turns:
                self.check_answers(text, given, is_last=text is turns[-1][0])
            number, kind = re.fullmatch(r"turn (\d+) (\w+)", turns[-1][0]).groups()
            return 200, self.api.wrap(self.api.answers(int(number), kind)[len(turns[-1][1])])
        except Exception as fault:  # pylint: disable=broad-exception-caught
            self.faults.append(repr(fault)[:1000])
            return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": repr(fault)}}

    def check_answers(self, text, given, is_last):
        """The answers of a turn are those that the stub gave."""
        number, kind = re.fullmatch(r"turn (\d+) (\w+)", text).groups()
        expected = self.api.answers(int(number), kind)
        if kind in ODD:
            assert len(given) <= len(expected), (text, given)
            return
        expected = expected[:len(given)] if is_last else expected
        assert given == expected, f"{text}: {given} instead of {expected}"

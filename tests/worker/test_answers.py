#!/usr/bin/env python3
"""Answers of models, in the shapes in which servers send them: the following request has the message with every member
that the stream brought, and the ids that the model gave. Also what a model may do wrong in an answer."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, await_, cardbox, literal, load, once, temp_dir
from model_server import ModelServer, Reply, calls, chunk, says, usage
from worker_test import Project, Worker, tools_file

CLOCK = {"name": "clock", "description": "The time", "command": ["cat"]}
FAIL = {"name": "fail", "description": "Fails", "command": ["sh", "-c", "exit 3"]}


def streams(*deltas, finish="tool_calls"):
    return Reply([*(chunk(delta) for delta in deltas), chunk({}, finish), usage()])


def sends(message, finish="tool_calls"):
    """An answer that is not streamed. `message` may be JSON."""
    text = message if isinstance(message, str) else json.dumps(message)
    return Reply(plain=b'{"id": "x", "choices": [{"index": 0, "message": %s, "finish_reason": "%s"}]}' % (
        text.encode(), finish.encode()))


def call(index, identity, arguments='{"n": 1}', name="clock", **members):
    """A call in one delta."""
    return {"index": index, "id": identity, "type": "function",
            "function": {"name": name, "arguments": arguments}, **members}


def called(identity, arguments='{"n": 1}', name="clock", **members):
    """The same call in a message."""
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}, **members}


def answer(*tool_calls, content=None, **members):
    return {"role": "assistant", "content": content, **members, "tool_calls": list(tool_calls)}


@once
def shared():
    """A database, and a server for contexts."""
    dsn = Postgres.shared().database()
    return dsn, Server(as_role(dsn, "cardbox_app"))


def run(model, *options, tools=(CLOCK, FAIL), status="success", id_max=64):
    """Runs a task of a project of its own to its end. Returns (project, task, model server)."""
    project = Project(f"p{os.urandom(6).hex()}", shared()[0])
    server = ModelServer(model, id_max)
    task = project.spawn("what time is it?")
    worker = Worker(project, server, tools_file(*tools), *options)
    ended = project.await_end(task)
    worker.stop()
    server.check()
    assert ended == status, (ended, project.texts(task))
    return project, task, server


def first_then(reply, last="noon"):
    """A model that gives `reply`, and then answers the results of its calls."""
    return lambda request: reply if request.answered == 0 else says(last)


def messages_after(reply, **options):
    """The messages of the second request, after those of the first one, and the project and task."""
    project, task, server = run(first_then(reply), **options)
    assert len(server.requests) == 2, server.requests
    return server.requests[1].messages[len(server.requests[0].messages):], project, task


# --- whole messages ---

DEEPSEEK = streams(
    {"role": "assistant", "content": None, "reasoning_content": ""}, {"content": None, "reasoning_content": "It asks "},
    {"content": None, "reasoning_content": "for the \u00e9 time."}, {"content": "I look", "reasoning_content": None},
    {"tool_calls": [call(0, "call_00_x", "")]}, {"tool_calls": [{"index": 0, "function": {"arguments": '{"n": 1}'}}]})
OPENROUTER = streams(
    {"role": "assistant", "content": "", "reasoning": "Hm", "reasoning_details": [
        {"type": "reasoning.text", "text": "Hm", "format": "anthropic-claude-v1", "index": 0}]},
    {"content": "", "reasoning": ", so", "reasoning_details": [
        {"type": "reasoning.text", "text": ", so", "format": "anthropic-claude-v1", "index": 0}]},
    {"content": "", "reasoning_details": [
        {"type": "reasoning.text", "signature": "U0lH", "format": "anthropic-claude-v1", "index": 0}]},
    {"content": "", "reasoning_details": [
        {"type": "reasoning.encrypted", "data": "RU5D", "id": "rs_1", "format": "openai-responses-v1", "index": 0}]},
    {"content": None, "tool_calls": [call(0, "toolu_01")]}, {"role": "assistant", "content": ""})
GEMINI = streams(
    {"role": "assistant", "tool_calls": [
        call(0, "function-call-7", extra_content={"google": {"thought_signature": "c2ln"}})]},
    {"role": "assistant", "tool_calls": [call(1, "function-call-8")]})
KIMI = streams(
    {"role": "assistant", "content": "", "reasoning_content": "two"},
    {"tool_calls": [call(0, "functions.clock:0", "")]}, {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
    {"tool_calls": [call(1, "functions.clock:1", "{}")]})
VLLM_ID = "chatcmpl-tool-0123456789abcdef0123456789abcdef"
VLLM = streams({"role": "assistant", "content": "", "reasoning": "R", "reasoning_content": "R"},
               {"reasoning": "S", "reasoning_content": "S"}, {"tool_calls": [call(0, VLLM_ID)]})
UNKNOWN = streams({"role": "assistant", "content": "x", "news": {"a": [1.50, 18446744073709551615], "b": "one "}},
                  {"news": {"b": "two", "c": None}, "annotations": [{"type": "url_citation"}]},
                  {"tool_calls": [call(0, "c1", odd={"p": 1})]})
PLAIN = {"tool_calls": [{"function": {"arguments": '{"n": 1}', "name": "clock", "x": 1}, "id": "c1", "type": "function"}],
         "content": "Look", "reasoning_content": "why", "role": "assistant", "refusal": None}

SHAPES = {
    "deepseek": (DEEPSEEK, answer(called("call_00_x"), content="I look",
                                  reasoning_content="It asks for the \u00e9 time.")),
    "openrouter": (OPENROUTER, answer(called("toolu_01"), reasoning="Hm, so", reasoning_details=[
        {"type": "reasoning.text", "text": "Hm, so", "format": "anthropic-claude-v1", "index": 0, "signature": "U0lH"},
        {"type": "reasoning.encrypted", "data": "RU5D", "id": "rs_1", "format": "openai-responses-v1", "index": 0}])),
    "gemini": (GEMINI, answer(called("function-call-7", extra_content={"google": {"thought_signature": "c2ln"}}),
                              called("function-call-8"))),
    "kimi": (KIMI, answer(called("functions.clock:0", "{}"), called("functions.clock:1", "{}"),
                          reasoning_content="two")),
    "vllm": (VLLM, answer(called(VLLM_ID), reasoning="RS", reasoning_content="RS")),
    "unknown": (UNKNOWN, answer(called("c1", odd={"p": 1}), content="x", news={
        "a": [1.5, 18446744073709551615], "b": "one two", "c": None}, annotations=[{"type": "url_citation"}])),
    "plain": (sends(PLAIN), PLAIN),
}


def test_answers_come_back_whole():
    for name, (reply, expected) in SHAPES.items():
        def check(reply=reply, expected=expected):
            (message, *results), project, task = messages_after(reply)
            assert message == expected, message
            ids = [one["id"] for one in expected["tool_calls"]]
            assert [one["tool_call_id"] for one in results] == ids, results
            assert [one["role"] for one in results] == ["tool"] * len(ids)
            stored = project.rows("SELECT c.content, c.metadata FROM cardbox.cards c WHERE c.tenant_id = "
                                  f"{literal(project.name)} AND c.tool_calls IS NOT NULL")[0]
            assert stored["content"] == {"__type__": "MessageContent", "format": "openai", "message": expected,
                                         "text": expected["content"] or ""}, stored
            assert stored["metadata"]["type"] == "agent.thought" and stored["metadata"]["role"] == "assistant"
        yield name, check


def test_an_answer_that_is_not_streamed_keeps_its_bytes():
    text = '{ "content" : "L\\u006fok",  "role": "assistant", "n": 1.50, "tool_calls": [%s] }' % json.dumps(called("c1"))
    _, _, server = run(first_then(sends(text)))
    assert text in server.requests[1].text, server.requests[1].text


def test_the_ledger_has_ids_of_its_own():
    """Lists of messages and calls are the same as before: the text, and calls with ids of the ledger."""
    _, project, task = messages_after(KIMI)
    said = next(m for m in project.messages(task) if m["tool_calls"])
    stored = [made["call_id"] for made in project.calls(task)]
    assert [one["id"] for one in said["tool_calls"]] == stored and len(stored[0]) == 36, (said, stored)
    assert said["tool_calls"] == [called(identity, "{}") for identity in stored]
    listed = project.invoke("ldg:msg:list", {"taskId": task})["messages"]
    said = [m["content"] for m in listed if m["role"] == "assistant"]
    assert (said[0], said[-1]) == ("", "noon"), listed
    assert [made["id"] for made in project.invoke("ldg:call:list", {"taskId": task})["calls"]] == stored


def test_requests_equal_contexts():
    for name in ("openrouter", "kimi", "plain"):
        def check(reply=SHAPES[name][0]):
            project, task, server = run(first_then(reply))
            http = shared()[1]
            box = project.invoke("ldg:task:get", {"taskId": task})["task"]["boxId"]
            version = [m["metadata"]["box_version"] for m in project.messages(task) if "box_version" in m["metadata"]][-1]
            context = http.get(f"/projects/{project.name}/boxes/{box}/context?format=openai&at_version={version}")
            assert context.json()["messages"] == server.requests[-1].messages
        yield name, check


def test_tokens_are_counted():
    """The numbers are in the metadata of the answer and in the sums of the project, also if there is no total."""
    counted = [{"prompt_tokens": 90, "completion_tokens": 8, "prompt_tokens_details": {"cached_tokens": 64}},
               {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}]

    def model(request):
        number = len(asked)
        asked.append(request)
        return Reply([chunk({"content": "a", **({} if number else {"tool_calls": [call(0, "c1")]})}), chunk({}, "stop"),
                      {"choices": [], "usage": counted[min(number, 1)]}])

    asked = []
    project, task, _ = run(model)
    assert [m["metadata"]["usage"] for m in project.messages(task) if "usage" in m["metadata"]] == [
        {"prompt_tokens": 90, "completion_tokens": 8, "cached_tokens": 64}, counted[1]]
    summed, = shared()[1].get(f"/projects/{project.name}/usage?by=model").json()["items"]
    assert [summed[name] for name in ("model", "input_tokens", "cached_input_tokens", "output_tokens")] == [
        "scripted", 100, 64, 9], summed


# --- ids ---


def results_by_call(messages):
    """The arguments of each call, with the result of its id. The tool gives its arguments back."""
    made = {one["id"]: json.loads(one["function"]["arguments"]) for one in messages[0]["tool_calls"]}
    given = {one["tool_call_id"]: json.loads(one["content"]) for one in messages[1:]}
    return made, given


def test_empty_and_repeated_ids():
    """The model could not tell such calls apart, so it gets their ids of the ledger."""
    cases = {"empty": ("", ""), "repeated": ("x", "x"), "some": ("", "y", "y", "z")}
    for name, ids in cases.items():
        def check(ids=ids):
            reply = streams({"role": "assistant", "content": None, "tool_calls": [
                call(i, identity, json.dumps({"n": i})) for i, identity in enumerate(ids)]})
            messages, project, task = messages_after(reply)
            made, given = results_by_call(messages)
            assert made == given and sorted(value["n"] for value in made.values()) == list(range(len(ids))), messages
            assert len(messages) == 1 + len(ids) and ("z" in made) == ("z" in ids), messages
        yield name, check


def test_missing_ids():
    reply = streams({"role": "assistant", "tool_calls": [{"index": 0, "function": {"name": "clock", "arguments": "{}"}}]})
    messages, _, _ = messages_after(reply)
    assert len(messages[1]["tool_call_id"]) == 36, messages


def test_ids_that_repeat_in_each_answer():
    """The first call keeps the id. The beginning of the context never changes."""
    project, task, server = run(lambda request: streams(
        {"tool_calls": [call(0, "call_0", json.dumps({"n": request.answered}))]}) if request.answered < 3 else says("noon"))
    last = server.requests[-1].messages
    made = [one for message in last if message["role"] == "assistant" for one in message["tool_calls"]]
    assert made[0]["id"] == "call_0" and len({one["id"] for one in made}) == 3, made
    for before, after in zip(server.requests, server.requests[1:]):
        assert after.messages[:len(before.messages)] == before.messages


# --- arguments ---


def test_broken_arguments():
    """The model reads why the call failed, and strict servers get an object."""
    cases = {"open": ('{"a": ', {"arguments": '{"a": '}), "list": ("[1]", {"arguments": "[1]"}),
             "text": ("noon", {"arguments": "noon"}), "blank": (" ", {})}
    for name, (arguments, expected) in cases.items():
        def check(arguments=arguments, expected=expected):
            messages, project, task = messages_after(streams({"tool_calls": [call(0, "c1", arguments)]}))
            sent, = messages[0]["tool_calls"]
            assert json.loads(sent["function"]["arguments"]) == expected, messages
            assert "the arguments are no JSON object" in messages[1]["content"], messages
            made, = project.calls(task)
            assert made["status"] == "failed" and made["parameters"] == arguments, made
        yield name, check


def test_half_a_surrogate_in_arguments():
    messages, _, _ = messages_after(streams({"tool_calls": [call(0, "c1", '{"a": "\\ud800"}')]}))
    assert json.loads(messages[0]["tool_calls"][0]["function"]["arguments"]) == {"a": "\ufffd"}, messages


def test_a_call_that_is_cut():
    """The model may try once more."""
    cut = streams({"content": "I write", "tool_calls": [call(0, "c1", '{"text": "long')]}, finish="length")

    def model(request):
        return [cut, streams({"tool_calls": [call(0, "c2")]}), says("short")][request.answered]

    project, task, server = run(model)
    assert "its length limit" in server.requests[1].messages[-1]["content"], server.requests[1].messages
    assert project.texts(task)[-1] == ("assistant", "short")


def test_calls_that_are_always_cut():
    project, task, server = run(
        lambda request: streams({"tool_calls": [call(0, f"c{request.answered}", '{"text": "long')]}, finish="length"),
        "--max-iterations", "1000", status="failed: the model stopped at its length limit")
    assert len(server.requests) == 2 and len(project.calls(task)) == 1, project.texts(task)


def test_a_name_that_the_model_made_up():
    """The call fails, and strict servers get a name that they accept."""
    for name in ("functions.clock", "clock<|channel|>json", "no such", "x" * 100):
        def check(name=name):
            messages, project, task = messages_after(streams({"tool_calls": [call(0, "c1", name=name)]}))
            assert "there is no tool" in messages[1]["content"], messages
            assert project.calls(task)[0]["ability"] == name
        yield name[:20], check


def test_images_of_tools():
    """Blocks of MCP reach the model as text and images."""
    shot = [{"type": "text", "text": "a shot"}, {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]
    tool = {"name": "shoot", "description": "", "command": ["echo", json.dumps(shot)]}
    asked = []

    def model(request):
        asked.append(request)
        return calls(("shoot", {})) if len(asked) == 1 else says("seen")

    _, _, server = run(model, tools=[tool])
    result, image = server.requests[1].messages[-2:]
    assert result["role"] == "tool" and result["content"] == "a shot", result
    assert image["content"][-1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}, image


# --- the end ---


def test_an_empty_last_answer():
    """After successful calls there may be nothing to say. People read that the answer was empty."""
    for name, reply in (("empty", says("")), ("blank", says(" \n")), ("null", streams({"content": None}, finish="stop"))):
        def check(reply=reply):
            project, task, server = run(lambda request: calls(("clock", {})) if request.answered == 0 else reply)
            assert len(server.requests) == 2
            assert project.texts(task)[-1] == ("assistant", "(The model's last answer has no text.)")
        yield name, check


def test_an_empty_answer_after_a_failed_call():
    project, task, server = run(lambda request: calls(("fail", {})) if request.answered == 0 else says(""),
                                "--model-retries", "1", status="failed: the model's answer is empty (after 2 attempts)")
    assert len(server.requests) == 3


def test_a_refusal():
    reply = streams({"role": "assistant", "content": "", "refusal": None}, {"refusal": "I can't "},
                    {"refusal": "do that"}, finish="stop")
    project, task, server = run(lambda request: reply)
    assert len(server.requests) == 1 and project.texts(task)[-1] == ("assistant", "I can't do that")


# --- other workers and programs ---


def test_calls_that_never_ran():
    """The worker stops during the first of two calls. The next one reports that the second call has no result."""
    project = Project(f"p{os.urandom(6).hex()}", shared()[0])
    slow = {"name": "slow", "description": "", "command": ["sleep", "1000"], "timeout_ms": 900000}
    server = ModelServer(lambda request: says("noon") if request.results else calls(("slow", {}), ("clock", {})))
    task = project.spawn("go")
    worker = Worker(project, server, tools_file(slow, CLOCK))
    await_(lambda: any(made["status"] == "in_progress" for made in project.calls(task)))
    worker.signal()
    await_(lambda: worker.events("stopping"))
    worker.signal()
    worker.wait()
    other = Worker(project, server, tools_file(slow, CLOCK))
    project.await_status(task, "success")
    other.stop()
    server.check()
    results = [m["content"] for m in server.requests[-1].messages if m["role"] == "tool"]
    assert "Worker stopped during execution" in results[0] and results[1] == "No result provided", results


def test_answers_of_older_workers():
    """Their cards have texts, and the calls of the cards have the ids of the ledger."""
    project = Project(f"p{os.urandom(6).hex()}", shared()[0])
    task = project.spawn("go")
    messages = [{"id": name, "task": task, "role": "assistant", "metadata": {"type": "agent.thought"}}
                for name in ("said", "called")]
    messages[0]["tool_calls"] = [called("call-1")]
    done = {"id": "call-1", "task": task, "ability": "clock", "status": "completed", "start": "called", "end": "called"}
    texts = ",".join(literal(json.dumps({"__type__": "TextContent", "text": text})) + "::json" for text in ("I look", "..."))
    project.psql(
        f"SELECT * FROM cardbox.save_ledger({literal(project.name)}, '[]', NULL, {literal(json.dumps(messages))}::jsonb, "
        f"ARRAY[{texts}], {literal(json.dumps([done]))}::jsonb, ARRAY['\"{{}}\"'::json], ARRAY['\"eleven\"'::json])")
    server = ModelServer(lambda request: says("noon"))
    worker = Worker(project, server, tools_file(CLOCK))
    project.await_status(task, "success")
    worker.stop()
    server.check()
    assert server.requests[0].messages == [
        {"role": "assistant", "content": "I look", "tool_calls": [called("call-1")]},
        {"role": "tool", "tool_call_id": "call-1", "content": "eleven"},
        {"role": "user", "content": "go"}], server.requests[0].messages


def test_tasks_are_exported_and_imported():
    """An export has the text of a message beside its card. Both are imported, and a second time nothing changes."""
    project, task, _ = run(first_then(DEEPSEEK))
    file = os.path.join(temp_dir(), "project.ndjson")
    cardbox("export", "--dsn", project.dsn, "--project", project.name, file)
    with open(file, encoding="utf-8") as exported:
        rows = exported.read().splitlines()
    copy = Project("copy", Postgres.shared().database())
    for _ in range(2):
        status, counts, said = load(copy.dsn, *rows, project=copy.name)
        assert status == 0 and not said and counts["messages"]["refused"] == 0, (counts, said)
    assert counts["messages"]["unchanged"] == len(project.messages(task)), counts
    assert copy.texts(task) == project.texts(task)
    assert [m["tool_calls"] for m in copy.messages(task)] == [m["tool_calls"] for m in project.messages(task)]


if __name__ == "__main__":
    cardbox_test.main()

"""What the APIs of OpenAI (chat completions and responses) and Anthropic (messages) ask of a list of messages.

Written from their published rules, over the JSON that would be sent; knows nothing of how CardBox
builds a context. openai(messages), responses(items) and anthropic(messages, system) raise AssertionError with the
rule that is broken.
"""

import json
import re

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
ANTHROPIC_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def openai(messages, id_max=40):
    """`id_max`: the most characters of a call's id. Other servers of this API than OpenAI's accept longer ids."""
    assert isinstance(messages, list), "messages must be an array"
    open_calls, seen = set(), set()
    for number, message in enumerate(messages):
        try:
            _openai_message(message, open_calls, seen, id_max)
        except AssertionError as fault:
            raise AssertionError(f"openai, message {number}: {fault}: {message}") from None
    assert not open_calls, f"openai: the last calls must be answered: {open_calls}"


def _openai_message(message, open_calls, seen, id_max):
    role = message["role"]
    assert role in ("system", "user", "assistant", "tool"), "unknown role"
    if role == "tool":
        call = message["tool_call_id"]
        assert call in open_calls, "a tool's message must answer a call right before it, once"
        open_calls.remove(call)
        _openai_content(message["content"], role)
        return
    assert not open_calls, f"calls {open_calls} must be answered before the next message"
    calls = message.get("tool_calls")
    if role != "assistant" or calls is None:
        assert calls is None, "only assistants make calls"
        _openai_content(message["content"], role)
        return
    if message["content"] is not None:
        _openai_content(message["content"], role)
    assert calls, "tool_calls may not be empty"
    for call in calls:
        assert 0 < len(call["id"]) <= id_max, f"a call's id has 1 to {id_max} characters"
        assert call["id"] not in seen, "ids of calls must be unique"
        if call["type"] == "custom":
            assert isinstance(call["custom"]["input"], str), "the input of a custom call is a string"
            call = {**call, "type": "function", "function": {"name": call["custom"]["name"], "arguments": ""}}
        assert call["type"] == "function", "a call is a function's or custom"
        assert NAME.match(call["function"]["name"]), "a function's name has a pattern"
        assert isinstance(call["function"]["arguments"], str), "arguments are a string"
        seen.add(call["id"])
        open_calls.add(call["id"])


def _openai_content(content, role):
    if isinstance(content, str):
        assert content, "content may not be empty"
        return
    assert isinstance(content, list) and content, "content must be text or parts"
    for part in content:
        if part["type"] == "text":
            assert part["text"], "a text part may not be empty"
            continue
        assert role == "user", "only users have images and files"
        if part["type"] == "file":
            assert part["file"]["filename"] and part["file"]["file_data"].startswith("data:"), "a file has data"
        else:
            assert part["type"] == "image_url" and part["image_url"]["url"], "an image needs a url"


def responses(items):
    assert isinstance(items, list), "input must be an array"
    open_calls, seen = {}, set()
    for number, item in enumerate(items):
        try:
            _responses_item(item, open_calls, seen)
        except AssertionError as fault:
            raise AssertionError(f"responses, item {number}: {fault}: {item}") from None
    assert not open_calls, f"responses: no tool output found for {open_calls}"


OUTPUTS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}


def _responses_item(item, open_calls, seen):
    kind = item["type"]
    if kind in OUTPUTS:
        assert 0 < len(item["call_id"]) <= 64, "a call's id has 1 to 64 characters"
        assert item["call_id"] not in seen, "ids of calls must be unique"
        assert NAME.match(item["name"]), "a function's name has a pattern"
        if kind == "function_call":
            assert isinstance(json.loads(item["arguments"]), dict), "arguments are an object"
        seen.add(item["call_id"])
        open_calls[item["call_id"]] = OUTPUTS[kind]
    elif kind in OUTPUTS.values():
        assert open_calls.pop(item["call_id"], None) == kind, "an output must answer a call before it, once"
        if item["output"] != []:
            _responses_content(item["output"], "user")
    else:
        assert kind == "message" and item["role"] in ("system", "developer", "user", "assistant"), "unknown item"
        _responses_content(item["content"], item["role"])


def _responses_content(content, role):
    if isinstance(content, str):
        assert content, "content may not be empty"
        return
    assert content, "content must be text or parts"
    for part in content:
        if part["type"] in ("input_text", "output_text"):
            assert part["text"] and (part["type"] == "output_text") == (role == "assistant"), "a text's type"
        elif part["type"] == "input_image":
            assert part["image_url"], "an image needs a url"
        else:
            assert part["type"] == "input_file" and (part.get("file_url") or part["file_data"]), "unknown part"


def anthropic(messages, system=None):
    assert isinstance(messages, list), "messages must be an array"
    if system is not None:
        assert system, "the system may not be empty"
        for block in system:
            assert block["type"] == "text" and block["text"].strip(), "system blocks must have text"
    open_calls, seen = set(), set()
    for number, message in enumerate(messages):
        try:
            _anthropic_message(message, number, open_calls, seen)
        except AssertionError as fault:
            raise AssertionError(f"anthropic, message {number}: {fault}: {message}") from None
    assert not open_calls, "anthropic: each tool_use must have a tool_result in the next message"


def _anthropic_message(message, number, open_calls, seen):
    assert message["role"] == ("user", "assistant")[number % 2], "roles alternate, the user begins"
    assert isinstance(message["content"], list) and message["content"], "content may not be empty"
    if message["role"] == "user":
        _anthropic_user(message["content"], open_calls)
    else:
        _anthropic_assistant(message["content"], open_calls, seen)


def _anthropic_user(blocks, open_calls):
    others = False
    for block in blocks:
        if block["type"] == "tool_result":
            assert not others, "tool_result blocks come first"
            _anthropic_result(block, open_calls)
            continue
        others = True
        _anthropic_text_or_image(block)
    assert not open_calls, "each tool_use must have a tool_result in the next message"


def _anthropic_result(block, open_calls):
    assert block["tool_use_id"] in open_calls, "a tool_result must answer the message before, once"
    open_calls.remove(block["tool_use_id"])
    for part in block.get("content", []):
        _anthropic_text_or_image(part)
        assert part["type"] == "text" or not block.get("is_error"), "an error holds text only"


def _anthropic_text_or_image(block):
    if block["type"] == "text":
        assert block["text"].strip(), "text blocks must be non-empty"
        return
    assert block["type"] in ("image", "document"), "unknown block"
    source = block["source"]
    if source["type"] == "url":
        assert source["url"], "an image's url may not be empty"
        return
    assert source["type"] == "base64" and source["data"], "an image has data"
    assert source["media_type"] in (*IMAGE_TYPES, "application/pdf"), "a media type"


def _anthropic_assistant(blocks, open_calls, seen):
    assert not open_calls, "each tool_use must have a tool_result in the next message"
    last = blocks[-1]
    assert "thinking" not in last["type"], "the final block may not be thinking"
    assert last["type"] != "text" or last["text"] == last["text"].rstrip(), \
        "final assistant content cannot end with white space"
    for block in blocks:
        if block["type"] == "tool_use":
            assert ANTHROPIC_CALL_ID.match(block["id"]), "a tool_use's id has a pattern"
            assert block["id"] not in seen, "ids of tool_use must be unique"
            assert NAME.match(block["name"]), "a tool's name has a pattern"
            assert isinstance(block["input"], dict), "input must be an object"
            seen.add(block["id"])
            open_calls.add(block["id"])
        elif block["type"] == "thinking":
            assert block["signature"], "thinking needs its signature"
        elif block["type"] == "redacted_thinking":
            assert block["data"], "redacted thinking needs its data"
        else:
            assert block["type"] == "text" and block["text"].strip(), "text must be non-empty"


def check(context):
    """A context as CardBox answers it: in the formats of the APIs its messages keep their rules."""
    if context["format"] == "openai":
        openai(context["messages"])
    elif context["format"] == "responses":
        responses(context["messages"])
    elif context["format"] == "anthropic":
        anthropic(context["messages"], context.get("system"))
    assert len(context["digests"]) == len(context["messages"]), "a digest for each prefix"
    assert len(set(context["digests"])) == len(context["digests"]), "prefixes differ"

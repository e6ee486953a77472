#!/usr/bin/env python3
"""What users of other stores and of model servers have reported as failures: contexts of sessions are right here. The
numbers F.. are those of the list of these reports."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from api_session import FORMATS, PNG, add, add_raw, append, call, context, pi, refusal, stored, user
from cardbox_test import ask, server
from cardbox_test import session_url as url


def thinking_of_pi(name, content, **members):
    append(name, pi("user", content="q"), pi("assistant", content=[*content, {
        "type": "toolCall", "id": "t1", "name": "f", "arguments": {}}], **members),
        pi("toolResult", toolCallId="t1", content=[{"type": "text", "text": "r"}]), dialect="pi")
    return {form: context(name, "format=" + form) for form in FORMATS}


def test_signed_thinking():
    """F02, F03: whole, also with an empty text; sent if Anthropic is named, or nothing."""
    named = [{"api": "anthropic-messages"}, {"provider": "anthropic"}, {"model": "claude-x"}, {"api": "bedrock-converse-stream"},
             {"api": "anthropic-vertex"}, {"provider": "amazon-bedrock", "model": "eu.anthropic.claude-x"},
             {"provider": "google-vertex-anthropic", "model": "x"}, {}]
    for i, members in enumerate(named):
        for text in ("", "hm"):
            block = {"type": "thinking", "thinking": text, "thinkingSignature": "SIG"}
            made = thinking_of_pi(f"signed-{i}-{text}", [block], **members)["anthropic"]
            assert made["messages"][1]["content"] == [
                {"type": "thinking", "thinking": text, "signature": "SIG"},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {}}], (members, made)
    redacted = {"type": "thinking", "thinking": "", "thinkingSignature": "DATA", "redacted": True}
    made = thinking_of_pi("signed-redacted", [redacted, redacted], provider="anthropic")["anthropic"]
    assert made["messages"][1]["content"][:2] == [{"type": "redacted_thinking", "data": "DATA"}] * 2, made
    for i, members in enumerate(({"api": "google"}, {"api": "openai-responses"}, {"provider": "google", "model": "gemini"})):
        for text in ("", "hm"):
            other = thinking_of_pi(f"signed-other-{i}-{text}", [{"type": "thinking", "thinking": text, "thinkingSignature": "SIG"}], **members)
            for form in FORMATS:
                assert [one["what"] for one in other[form]["report"]["left_out"]] == ["thinking"], other[form]
                assert "SIG" not in json.dumps(other[form]["messages"])


def test_reasoning_content():
    """F05: thinking that was a member of a message of chat completions is this member again."""
    for member in ("reasoning_content", "reasoning", "reasoning_text"):
        blocks = [{"type": "thinking", "thinking": text, "thinkingSignature": member} for text in ("R1\n\u00e9", "R2")]
        made = thinking_of_pi("reason-" + member, blocks, api="openai-completions")
        message = made["openai"]["messages"][1]
        assert message[member] == "R1\n\u00e9\nR2" and list(message) == ["role", "content", member, "tool_calls"], message
        assert made["openai"]["report"]["left_out"] == []
        for form in ("anthropic", "responses"):
            assert "R1" not in json.dumps(made[form]["messages"])
            assert [one["what"] for one in made[form]["report"]["left_out"]] == ["thinking"] * 2, made[form]
    empty = [{"type": "thinking", "thinking": "", "thinkingSignature": "reasoning_content"}]
    assert thinking_of_pi("reason-empty", empty, api="openai-completions")["openai"]["messages"][1]["reasoning_content"] == ""
    for name, api, signature in (("api", "openai-responses", "reasoning_content"), ("name", "openai-completions", "content")):
        blocks = [{"type": "thinking", "thinking": "R1", "thinkingSignature": signature}]
        made = thinking_of_pi("reason-not-" + name, blocks, api=api)["openai"]
        assert set(made["messages"][1]) == {"role", "content", "tool_calls"}, made
        assert [one["what"] for one in made["report"]["left_out"]] == ["thinking"]
    # As a server has returned it, it comes back, and other formats say that they have no place for it.
    for i, members in enumerate(({"reasoning_content": "R"}, {"reasoning": "R", "reasoning_details": [{"type": "x", "text": "R"}]})):
        add(f"reason-own-{i}", "openai", [user(), {"role": "assistant", "content": "a", **members}])
        assert context(f"reason-own-{i}")["messages"][1] == {"role": "assistant", "content": "a", **members}
        for form in ("anthropic", "responses"):
            assert [one["what"] for one in context(f"reason-own-{i}", "format=" + form)["report"]["left_out"]] == list(members)
    # A message that has nothing else is left out, and the report says so.
    append("reason-alone", pi("user", content="q"), pi("assistant", api="openai-completions", content=[
        {"type": "thinking", "thinking": "R", "thinkingSignature": "reasoning"}]), dialect="pi")
    report = context("reason-alone")["report"]
    assert [one["what"] for one in report["left_out"]] == ["thinking"] and report["repairs"][0]["repair"] == "empty_message"


def test_broken_arguments():
    """F06b: valid JSON goes out, and a repair says so; also in the same format."""
    for i, (arguments, sent) in enumerate((('{"a": ', {"arguments": '{"a": '}), ("[1]", {"arguments": "[1]"}), ("", {}), (" ", {}),
                                           ("null", {"arguments": "null"}), ('{"a":1}x', {"arguments": '{"a":1}x'}))):
        append(f"broken-{i}", {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [
            {"id": "c", "name": "f", "params": arguments}]}, {"type": "tool_result", "toolCallId": "c", "output": "r"})
        add(f"broken-own-{i}", "openai", [user(), {"role": "assistant", "content": None, "tool_calls": [call("c", arguments)]},
                                          {"role": "tool", "tool_call_id": "c", "content": "r"}])
        for name in (f"broken-{i}", f"broken-own-{i}"):
            made = context(name)
            assert json.loads(made["messages"][1]["tool_calls"][0]["function"]["arguments"]) == sent, (arguments, made)
            items = context(name, "format=responses")
            assert json.loads(items["messages"][1]["arguments"]) == sent
            assert context(name, "format=anthropic")["messages"][1]["content"][0]["input"] == sent
            wanted = [] if (arguments == "" and name == f"broken-{i}") else ["arguments"]
            assert [one["repair"] for one in made["report"]["repairs"]] in (wanted, ["arguments"]), (arguments, made["report"])


def test_broken_arguments_elsewhere():
    """F06b: calls of pi, calls in entries of their own, items of responses, and halves of surrogate pairs."""
    broken = '{"a": '
    append("broken-pi", pi("user", content="q"), pi("assistant", content=[{"type": "toolCall", "id": "c", "name": "f", "arguments": broken}]),
           pi("toolResult", toolCallId="c", content=[{"type": "text", "text": "r"}]), dialect="pi")
    append("broken-tool", {"type": "user", "content": "q"}, {"type": "tool", "toolCallId": "c", "name": "f", "params": broken},
           {"type": "tool_result", "toolCallId": "c", "output": "r"})
    add("broken-items", "responses", [user(), {"type": "function_call", "call_id": "c", "name": "f", "arguments": broken},
                                      {"type": "function_call_output", "call_id": "c", "output": "r"}])
    for name in ("broken-pi", "broken-tool", "broken-items"):
        sent = {"arguments": broken}
        made = {form: context(name, "format=" + form) for form in FORMATS}
        assert json.loads(made["openai"]["messages"][1]["tool_calls"][0]["function"]["arguments"]) == sent, made
        assert json.loads(made["responses"]["messages"][1]["arguments"]) == sent
        assert made["anthropic"]["messages"][1]["content"][0]["input"] == sent
        assert all("arguments" in [one["repair"] for one in made[form]["report"]["repairs"]] for form in ("openai", "responses")), made
    for i, arguments in enumerate(('{"a":"\\ud83d"}', '{"\\udc00":1}')):  # escapes inside the arguments
        add(f"half-{i}", "openai", [user(), {"role": "assistant", "content": None, "tool_calls": [call("c", arguments)]},
                                    {"role": "tool", "tool_call_id": "c", "content": "r"}])
        made = context(f"half-{i}")
        assert "\ufffd" in json.dumps(json.loads(made["messages"][1]["tool_calls"][0]["function"]["arguments"]), ensure_ascii=False), made
        assert [one["repair"] for one in made["report"]["repairs"]] == ["arguments"]


def test_ids_of_calls():
    """F07: ids of other servers are kept; where an API refuses them, others derive from them, and results match both."""
    for i, one in enumerate(("functions.clock:0", "x" * 46, "a b")):
        append(f"ids-{i}", {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [{"id": one, "name": "f", "params": {}}]})
        made = context(f"ids-{i}")
        assert made["messages"][1]["tool_calls"][0]["id"] == made["messages"][2]["tool_call_id"] == made["open_calls"][0]["id"] == one
        other = context(f"ids-{i}", "format=anthropic")
        shown = other["open_calls"][0]["id"]
        assert re.fullmatch("[A-Za-z0-9_-]{1,64}", shown) and other["messages"][1]["content"][0]["id"] == shown
        assert (shown == one) == (one == "x" * 46)
        add(f"ids-{i}", "anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": shown, "content": "r"}]})
        made = context(f"ids-{i}")
        assert made["open_calls"] == [] and made["messages"][2] == {"role": "tool", "tool_call_id": one, "content": "r"}, made
        assert made["report"]["repairs"] == []
    for i, one in enumerate(("functions.f:0", "call_1|fc_2", "\u00e9:1", "x" * 65, "x" * 300)):
        append(f"ids-tool-{i}", {"type": "user", "content": "q"}, {"type": "tool", "toolCallId": one, "name": "f", "params": {}},
               {"type": "tool_result", "toolCallId": one, "output": "r"})
        add(f"ids-own-{i}", "openai", [user(), {"role": "assistant", "content": None, "tool_calls": [call(one)]},
                                       {"role": "tool", "tool_call_id": one, "content": "r"}])
        for name in (f"ids-tool-{i}", f"ids-own-{i}"):
            made = context(name)["messages"]
            assert made[1]["tool_calls"][0]["id"] == made[2]["tool_call_id"] == one, made
            made = context(name, "format=anthropic")["messages"]
            shown = made[1]["content"][0]["id"]
            assert re.fullmatch("[A-Za-z0-9_-]{1,64}", shown) and made[2]["content"][0]["tool_use_id"] == shown, made
            made = context(name, "format=responses")["messages"]
            assert len(made[1]["call_id"]) <= 64 and made[1]["call_id"] == made[2]["call_id"] and (len(one) > 64 or made[1]["call_id"] == one)


def blocks_of(output, **members):
    """What each format makes of the output of a tool."""
    name = f"output-{blocks_of.count}"
    blocks_of.count += 1
    append(name, {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [{"id": "c", "name": "f", "params": {}}]},
           {"id": "r", "type": "tool_result", "toolCallId": "c", "output": output, **members})
    made = {form: context(name, "format=" + form) for form in FORMATS}
    return made["anthropic"]["messages"][2]["content"][0], made


blocks_of.count = 0


def test_outputs_of_mcp():
    """F09: blocks are blocks, not a text of JSON. Other arrays and objects stay text."""
    text, image = {"type": "text", "text": "shot"}, {"type": "image", "data": PNG, "mimeType": "image/png"}
    sent = [text, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]
    for output in ([text, image], {"content": [text, image]}, {"content": [text, image], "isError": False}):
        block, made = blocks_of(output)
        assert block["content"] == sent and "is_error" not in block, block
        openai = made["openai"]["messages"]
        assert openai[2]["content"] == "shot" and openai[3]["content"][1]["image_url"]["url"] == "data:image/png;base64," + PNG, openai
        assert made["responses"]["messages"][2]["output"] == [
            {"type": "input_text", "text": "shot"}, {"type": "input_image", "image_url": "data:image/png;base64," + PNG}]
        assert all(one["report"]["left_out"] == [] for one in made.values()), made
    block, made = blocks_of({"content": [text], "isError": True, "structuredContent": {"a": 1}})
    assert block["is_error"] is True and block["content"] == [text], block
    assert all(one["report"]["left_out"] == [{"entry": "r", "what": "structuredContent"}] for one in made.values()), made
    block, made = blocks_of({"content": [text, image], "isError": True})
    llm_rules.anthropic(made["anthropic"]["messages"])
    assert PNG in json.dumps(made["openai"]["messages"]) and PNG in json.dumps(made["responses"]["messages"])
    assert [one["repair"] for one in made["anthropic"]["report"]["repairs"]] == ["dropped_block"]
    block, made = blocks_of([{"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
                             {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "image/png", "blob": PNG}},
                             {"type": "resource_link", "uri": "file:///c", "name": "c"}])
    assert block["content"][0] == {"type": "text", "text": "inside"} and block["content"][1] == sent[1], block
    assert json.loads(block["content"][2]["text"])["uri"] == "file:///c"
    block, made = blocks_of([text, {"type": "audio", "data": PNG, "mimeType": "audio/wav"}])
    assert block["content"] == [text] and made["openai"]["report"]["repairs"] == [{"repair": "dropped_block", "entry": "r", "message": 2}]
    for output in (image, {"type": "image", "source": sent[1]["source"]},
                   [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + PNG}}]):
        block, made = blocks_of(output)
        assert block["content"] == sent[1:] and PNG in made["openai"]["messages"][3]["content"][1]["image_url"]["url"], block
    for output in ([], [1], ["a"], [text, 1], [{"type": "text"}], [{"text": "a"}], {"content": []}, {"content": "a"}, {"content": [1]},
                   [{"type": "row", "text": "a"}]):
        block, made = blocks_of(output)
        assert block["content"] == [{"type": "text", "text": json.dumps(output)}], (output, block)


def test_results_of_cards():
    """F09: the same of ToolResultContent, and of cards of the type tool.result."""
    text, image = {"type": "text", "text": "shot"}, {"type": "image", "data": PNG, "mimeType": "image/png"}
    own = {"__type__": "ToolResultContent", "status": "success", "result": [text, image], "after_execution": "terminate"}
    for i, content in enumerate((own, {**own, "result": {"content": [text, image]}}, {"status": "success", "result": [text, image]})):
        call_id = f"call-of-{i}"
        cards = [{"card_id": f"ask-{i}", "content": "q", "metadata": {"type": "user"}},
                 {"card_id": f"call-{i}", "content": {"tool_name": "f", "arguments": {}}, "metadata": {"type": "tool.call"},
                  "tool_call_id": call_id},
                 {"card_id": f"result-{i}", "content": content, "metadata": {"type": "tool.result"}, "tool_call_id": call_id}]
        ask("POST", "/projects/p/cards", {"cards": cards})
        box = ask("POST", "/projects/p/boxes", {"card_ids": [one["card_id"] for one in cards]}).json()["box_id"]
        made = ask("GET", f"/projects/p/boxes/{box}/context?format=anthropic").json()
        assert made["messages"][-1]["content"][0]["content"] == [
            text, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}], made
        assert (made["next"], made["open_calls"]) == ("model", [])


def test_notes_on_old_leaves():
    """F10: what no model sees does not move the head to another branch."""
    for name, note in (("metadata", {"type": "metadata"}), ("label", {"type": "label", "targetId": "a1", "label": "x"}),
                       ("settings", {"type": "settings", "tools": []}), ("session_info", {"type": "session_info", "name": "n"})):
        append("note-" + name, {"id": "u1", "type": "user", "content": "q"}, {"id": "a1", "type": "assistant", "content": "a"},
               {"id": "u2", "type": "user", "content": "r"}, {"id": "a2", "type": "assistant", "content": "b"})
        append("note-" + name, {"id": "exit", "parentId": "a1", **note})
        made = context("note-" + name)
        assert made["leaf"] == "a2" and len(made["messages"]) == 4, (name, made)


def test_notes_of_pi_on_old_leaves():
    """F10: also settings and unknown types, appended or imported."""
    notes = ({"type": "label", "targetId": "a1", "label": "x"}, {"type": "custom", "customType": "x"}, {"type": "session_info", "name": "n"},
             {"type": "model_change", "provider": "p", "modelId": "m"}, {"type": "thinking_level_change", "thinkingLevel": "off"},
             {"type": "next_year"})
    told = [{"id": name, "parentId": before, **pi(role, content=[{"type": "text", "text": name}])}
            for name, before, role in (("u1", None, "user"), ("a1", "u1", "assistant"), ("u2", "a1", "user"), ("a2", "u2", "assistant"))]
    for i, note in enumerate(notes):
        exit_note = {"id": "exit", "parentId": "a1", **note}
        append(f"note-pi-{i}", *told, dialect="pi")
        append(f"note-pi-{i}", exit_note, dialect="pi")
        body = "".join(json.dumps(line) + "\n" for line in [*told, exit_note]).encode()
        ask_import(f"note-import-{i}", body)
        for name in (f"note-pi-{i}", f"note-import-{i}"):
            made = context(name)
            assert made["leaf"] == "a2" and len(made["messages"]) == 4, (note, made)


def ask_import(session, body):
    made = server().request("POST", url(session, "import"), body, {"Content-Type": "application/x-ndjson"})
    assert made.status == 200, made


def test_images_in_budgets():
    """F11, F04: an image counts as 1,600 tokens, and only what fits is read."""
    image = {"type": "image", "data": "A" * (1 << 20), "mimeType": "image/png"}
    append("shots", {"type": "user", "content": [{"type": "text", "text": "q"}, image]})
    made = context("shots", "token_budget=200000")
    assert 1600 < made["report"]["token_estimate"]["tokens"] < 1700 and len(made["messages"]) == 1
    assert context("shots", "token_budget=1500", 422)
    for i in range(11):
        entries = [{"id": f"u{i}", "type": "user", "content": [{**image, "data": "A" * (3200 << 10)}]},
                   {"id": f"a{i}", "type": "assistant", "content": "seen"}]
        append("album", *entries)
    append("album", {"id": "now", "type": "user", "content": "and now?"})
    assert context("album", "", 413)["detail"]["error_code"] == "too_large"
    made = context("album", "limit=2")
    assert [one["content"] for one in made["messages"]] == ["seen", "and now?"]
    assert made["path_length"] == 23 and made["report"]["omitted_messages"] == 21, made["report"]
    made = context("album", "token_budget=5000")
    assert 3200 < made["report"]["token_estimate"]["tokens"] <= 5000 and made["messages"][-1]["content"] == "and now?"
    # The same of a fork. A compaction makes the whole context possible.
    fork = ask("POST", url("album", "fork"), {}).json()["session_id"]
    assert len(context(fork, "limit=2")["messages"]) == 2 and context(fork, "", 413)
    append("album", {"id": "short", "type": "compaction", "summary": "eleven images", "firstKeptEntryId": "a10"})
    made = context("album")["messages"]
    assert "eleven images" in made[0]["content"] and [one["content"] for one in made[1:]] == ["seen", "and now?"]


def test_images_of_apis_in_budgets():
    """F11: images in the forms of the APIs, in results, and PDFs."""
    data = "A" * (1 << 20)
    url_of = "data:image/png;base64," + data
    source = {"type": "base64", "media_type": "image/png", "data": data}
    cases = (("openai", {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url_of}}]}),
             ("responses", {"role": "user", "content": [{"type": "input_image", "image_url": url_of}]}),
             ("anthropic", {"role": "user", "content": [{"type": "image", "source": source}]}),
             ("anthropic", {"role": "user", "content": [{"type": "document", "source": {**source, "media_type": "application/pdf"}}]}))
    for i, (form, message) in enumerate(cases):
        add(f"shot-{i}", form, message)
        for other in FORMATS:
            made = context(f"shot-{i}", f"format={other}&token_budget=20000")
            tokens = made["report"]["token_estimate"]["tokens"]
            assert (1600 <= tokens < 1700) if i < 3 else (12000 < tokens < 14000), (form, other, tokens)
    append("shot-result", {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [{"id": "c", "name": "f", "params": {}}]},
           {"type": "tool_result", "toolCallId": "c", "output": [{"type": "image", "data": data, "mimeType": "image/png"}]})
    for form in FORMATS:
        assert context("shot-result", f"format={form}&token_budget=2000")["report"]["token_estimate"]["tokens"] < 1800


def test_large_images():
    """F17: the largest images that APIs take are stored, and the hint of a larger request is a way."""
    data = "A" * (5 << 20) + "A" * ((5 << 20) // 3 // 4 * 4)  # 5 MiB as base64
    append("large", {"type": "user", "content": [{"type": "image", "data": data, "mimeType": "image/png"}]})
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + data}}
    add("large", "openai", {"role": "user", "content": [image, image]})
    assert len(context("large")["messages"][1]["content"]) == 2
    for path, body in (("entries", {"entry": {"type": "user", "content": [{"type": "image", "data": data * 3, "mimeType": "image/png"}]}}),
                       ("messages", {"format": "openai", "messages": {"role": "user", "content": [image] * 3}})):
        detail = ask("POST", url("large", path), body, 413).json()["detail"]
        assert "--body-max" in detail["error_message"] and "larger --body-max" in detail["hint"], detail


def test_what_appends_refuse():
    """F14, F21, F25, F28."""
    said = refusal(append("refused", {"role": "developer", "content": "Be brief."}, status=422))[0][1]
    assert "POST .../messages" in said, said
    for kind in ("developer", "function", "model", "human", "ai"):
        assert "POST .../messages" in refusal(append("refused", {"type": kind, "content": "x"}, status=422))[0][1]
    for entry in ({"role": "system", "content": "x"}, {"role": "function", "name": "f", "content": "x"},
                  {"type": "message", "role": "developer", "content": "x"}):
        assert "POST .../messages" in refusal(append("refused", entry, status=422))[0][1], entry
    append("unknown-types", {"type": "user", "content": "q"}, {"id": "h", "type": "thought", "content": "x"}, {"id": "i", "type": "a b", "text": "x"})
    for form in (*FORMATS, "messages", "entries"):
        report = context("unknown-types", "format=" + form)["report"]
        assert report["left_out"] == [{"entry": "h", "what": "thought"}, {"entry": "i", "what": "a b"}], (form, report)
    said = refusal(append("refused", {"id": "g", "type": "user", "content": "a"}, {"id": "g", "type": "assistant", "content": "b"},
                          status=422))[0][1]
    assert "entries[0] and entries[1] have the id \"g\"" in said, said
    block, made = blocks_of(None)
    assert block["content"] == [{"type": "text", "text": "(no output)"}], made


def test_speakers():
    """F25: the name of who speaks reaches the model in each format."""
    add("names", "openai", {**user("hi"), "name": "alice"})
    assert context("names")["messages"][0]["name"] == "alice"
    assert context("names", "format=responses")["messages"][0]["content"] == "alice:\nhi"
    assert "alice" in json.dumps(context("names", "format=anthropic")["messages"])
    append("names-plain", {"type": "system", "name": "desk", "content": "s"}, {"type": "user", "name": "alice", "content": "hi"},
           {"type": "user", "name": "bob \u00e9", "content": [{"type": "text", "text": "and me"}]},
           {"type": "assistant", "name": "helper", "content": "ok"})
    made = context("names-plain")
    assert [(one["name"], one["content"]) for one in made["messages"]] == [
        ("desk", "s"), ("alice", "hi"), ("bob__", "and me"), ("helper", "ok")], made
    assert [one["content"] for one in context("names-plain", "format=responses")["messages"]] == [
        "desk:\ns", "alice:\nhi", "bob \u00e9:\nand me", "helper:\nok"]
    made = context("names-plain", "format=anthropic")
    assert [block["text"] for one in made["messages"] for block in one["content"]] == ["alice:\nhi", "bob \u00e9:\nand me", "helper:\nok"]
    assert [one["what"] for one in made["report"]["left_out"]] == ["name"], made["report"]


def test_large_integers():
    """F15: arguments are text, and numbers of other formats keep their digits."""
    add_raw("digits", "openai", '[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":'
            '"function","function":{"name":"f","arguments":"{\\"id\\":2512292042121000001}"}}]}]')
    append("digits-plain", {"type": "user", "content": "q"}, {"type": "assistant", "toolCalls": [
        {"id": "c", "name": "f", "params": '{"id":2512292042121000001}'}]})
    for name in ("digits", "digits-plain"):
        for form in FORMATS:
            body = ask("GET", url(name, "context") + "?format=" + form).body
            assert body.count(b"2512292042121000001") == 2, (name, form, body)
    numbers = '{"id":2512292042121000001,"x":1.0,"y":-0,"z":1e400}'
    raw = '{"entries":[%s],"create":{"dialect":"pi"}}' % ",".join(
        '{"type":"message","message":{"role":"%s","content":%s}}' % one for one in (
            ("user", '"q"'), ("assistant", '[{"type":"toolCall","id":"c","name":"f","arguments":%s}]' % numbers)))
    made = server().request("POST", url("digits-pi", "entries"), raw.encode(), {"Content-Type": "application/json"})
    assert made.status == 200, made
    add_raw("digits-anthropic", "anthropic", '[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"c",'
            '"name":"f","input":%s}]}]' % numbers)
    for name in ("digits-pi", "digits-anthropic"):
        for form in FORMATS:
            body = ask("GET", url(name, "context") + "?format=" + form).body.decode()
            assert numbers in body or json.dumps(numbers) in body, (name, form, body)


def test_one_result():
    """A call has one result: the last successful one, else the last. Results of several appends join their answer."""
    answer = {"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ("a", "b")]}

    def result(call_id, text, **members):
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text, **members}]}

    add("results", "anthropic", [user(), answer, result("b", "1", is_error=True), result("a", "2"), result("b", "3"),
                                 result("b", "4", is_error=True)])
    made = context("results", "format=anthropic")
    assert [one["role"] for one in made["messages"]] == ["user", "assistant", "user"]
    assert [(one["tool_use_id"], one["content"]) for one in made["messages"][2]["content"]] == [("a", "2"), ("b", "3")], made
    assert {"merged", "second_result"} <= {one["repair"] for one in made["report"]["repairs"]}
    assert [one["content"] for one in context("results")["messages"][2:]] == ["2", "3"]


if __name__ == "__main__":
    cardbox_test.main(globals())

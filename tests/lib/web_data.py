"""What the browser tests of the pages share: data of boxes, cards and sessions, a server that has them, and
helpers that open its pages. The data are the demo, and contents that try to be more than text."""

import json
import os
import re
import urllib.parse

import cardbox_test
from browser import no_complaints, page
from cardbox_test import Postgres, Server, once

SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")
ENTER, ESCAPE = "\ue007", "\ue00c"  # as WebDriver has them
BOX = "01970000-0000-7000-8000-0000000000b1"
EVIL_BOX = "01970000-0000-7000-8000-0000000000b2"
LONG_BOX = "01970000-0000-7000-8000-0000000000b3"
HUGE_BOX = "01970000-0000-7000-8000-0000000000b4"
HOLED_BOX = "01970000-0000-7000-8000-0000000000b5"

# Ways to make HTML, script or network of a text. `document.pwned` is what they would set.
HOSTILE = [
    "<script>document.pwned=1</script>", "<img src=x onerror='document.pwned=1'>",
    "<svg onload=document.pwned=1>", "\"><iframe srcdoc='<script>parent.document.pwned=1</script>'>",
    "<a href='javascript:document.pwned=1'>click</a>", "<style>*{display:none}</style>",
    "<base href='https://evil.example/'>", "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "</textarea></details></article><h1 id=main>mine</h1>", "${document.pwned=1}{{document.pwned=1}}",
    "<img src=https://evil.example/pixel.gif>", "__proto__", "constructor",
]
UNSEEN = "\u202egnp.exe\u202c \u2066x\u2069 \u200bz \ufeff \U000e0041 \x07 \x9b"


def hostile_cards():
    """Every hostile text in every place that a writer of cards chooses."""
    for number, text in enumerate(HOSTILE):
        yield {"card_id": f"{number}-{text[:200]}", "content": {"__type__": "TextContent", "text": text},
               "metadata": {"type": text, "role": text, "author_id": text, "agent_turn_id": text,
                            text: {text: text}},
               "tool_calls": [{"id": text, "function": {"name": text, "arguments": text}}]}
        yield {"card_id": f"json-{number}", "content": {text: [text, {text: text}]},
               "tool_call_id": text, "metadata": {"type": "tool.result", "role": "tool"}}
        yield {"card_id": f"call-{number}", "content": {
            "__type__": "ToolCallContent", "tool_name": text, "arguments": {text: text},
            "status": text}}
        yield {"card_id": f"result-{number}", "content": {
            "__type__": "ToolResultContent", "status": text, "after_execution": "suspend",
            "result": text, "error": {"code": text, "message": text}}}
        yield {"card_id": f"file-{number}", "content": {
            "__type__": "FileContent", "uri": "javascript:document.pwned=1", "checksum": text,
            "etag": text}}
        yield {"card_id": f"message-{number}", "content": {"__type__": "MessageContent", "format": "anthropic", "message": {
            "role": "assistant", "content": [{"type": "text", "text": text}, {"type": "tool_use", "id": text, "name": text,
                                                                               "input": {text: text}}, {"type": text, text: text}]}}}
    yield {"card_id": "unseen", "content": {"__type__": "TextContent", "text": UNSEEN}}


# Contents that have the name of a class and not its shape.
BENT = [
    {"__type__": "TextContent", "text": {"no": "text"}}, {"__type__": "ToolContent", "tools": [None]},
    {"__type__": "ToolResultContent", "status": 3}, {"__type__": "FieldsSchemaContent", "fields": "x"},
    {"__type__": "MultiFileContent", "files": [1]}, {"__type__": "FileContent"},
    {"__type__": "MessageContent", "message": {"content": [None, {"type": "text"}, {"type": "tool_result", "content": 3}], "tool_calls": [None]}},
    {"__type__": "JsonContent"}, [], 0, "a bare text", {"length": -1}, {"__type__": "constructor"},
]


def rows():
    cards = [{"kind": "card", **card} for card in hostile_cards()]
    cards += [{"kind": "card", "card_id": f"bent-{number}", "content": content,
               "tool_calls": [None, 3, {}], "metadata": {"role": 3, "agent_turn_id": []}}
              for number, content in enumerate(BENT)]
    ids = [card["card_id"] for card in cards]
    return [*cards, {"kind": "box", "box_id": EVIL_BOX, "card_ids": [*ids, "gone"]},
            {"kind": "box", "box_id": HUGE_BOX, "card_ids": ["bent-1", "bent-9"] * 10500},
            {"kind": "box", "box_id": HOLED_BOX, "card_ids": ["bent-1", "gone"] * 10500}]


def many():
    """More than fit one page of a list."""
    for number in range(60):
        yield {"kind": "card", "card_id": f"many-{number}", "content": f"text {number}"}
        yield {"kind": "box", "box_id": f"01970000-0000-7000-8000-0000000001{number:02}",
               "card_ids": [f"many-{number}"]}


def in_file(all_rows):
    path = os.path.join(cardbox_test.temp_dir(), "rows")
    with open(path, "w", encoding="utf-8") as out:
        for row in all_rows:
            out.write(json.dumps(row) + "\n")
    return path


@once
def dsn():
    return Postgres.shared().database()


@once
def server():
    with_project = ("--dsn", dsn(), "--project", "demo")
    for path in (SAMPLE, in_file(rows())):
        cardbox_test.cardbox("import", *with_project, path)
    cardbox_test.cardbox("import", "--dsn", dsn(), "--project", "many", in_file(many()))
    cardbox_test.cardbox("box", "create", *with_project, "--id", BOX, "demo-001-instruction",
                         "demo-002-profile")
    for ids in (["demo-005-thought", "demo-006-call"], ["demo-007-result"], ["not-there"],
                ["demo-013-thought"]):
        cardbox_test.cardbox("box", "append", *with_project, BOX, *ids)
    cardbox_test.cardbox("box", "create", *with_project, "--id", LONG_BOX,
                         *(f"demo-{n:03}" for n in range(300)), "demo-013-thought")
    made = Server(dsn())
    made.await_ready()
    return made


# --- pages ---


def visit(path):
    """Opens a place of the inspector afresh; returns the browser."""
    browser = page()
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{server().port}{path}")
    return browser


def box(identifier, **query):
    return f"/ui/#/demo/box/{identifier}" + ("?" + urllib.parse.urlencode(query) if query else "")


def ids_shown(browser):
    return browser.run("return [...document.querySelectorAll('main .cards > .card')].map((one) => "
                       "one.dataset.card)")


def await_version(browser, text):
    browser.wait("return document.querySelector('.said')?.innerText.startsWith(arguments[0]) && "
                 "!document.querySelector('main').hasAttribute('aria-busy')", text)


def press_now(browser):
    browser.run("[...document.querySelectorAll('.controls button')]"
                ".find((one) => one.innerText === 'Now').click()")


def entries_shown(browser):
    return browser.run("return [...document.querySelectorAll('.entry')].map((one) => one.dataset.entry)")


def await_in_sight(browser, selector):
    """Waits until it is whole in the window. A page scrolls for some frames, while rows get their heights."""
    browser.wait("const at = document.querySelector(arguments[0]).getBoundingClientRect();"
                 "return at.top >= 0 && at.bottom <= innerHeight", selector)


def check_inert(browser):
    """The page has no element of a card's making, nothing ran, and nothing was asked of others. A link to others is
    one of Markdown: one can read where it leads, and it takes nothing along."""
    assert browser.run("return document.pwned") is None
    foreign = browser.run("""
        return [...document.querySelectorAll('main *, #panel *')].filter((one) =>
            /^(SCRIPT|IMG|IFRAME|SVG|STYLE|BASE|META|OBJECT|EMBED|FORM|LINK)$/i.test(one.tagName) ||
            [...one.attributes].some(({name}) => /^on|^src|^style$/.test(name) && one.tagName !== 'BUTTON') ||
            (one.tagName === 'A' && !one.getAttribute('href').startsWith('#/') && !(
                /^(https?:\\/\\/|mailto:)/.test(one.getAttribute('href')) && one.rel === 'noopener noreferrer nofollow' &&
                one.closest('.markdown') && one.parentNode.textContent.includes(one.getAttribute('href')))))
            .map((one) => one.outerHTML.slice(0, 200))""")
    assert foreign == [], foreign
    asked = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    own = f"http://127.0.0.1:{server().port}/"
    assert all(name.startswith(own) for name in asked), asked
    no_complaints(browser)


# --- sessions ---


@once
def put_session():
    """A session with two branches, a label, the head on the first; what entries say is hostile."""
    def send(method, path, body):
        answer = server().request(method, f"/projects/demo/sessions/{path}", json.dumps(body),
                                  {"Content-Type": "application/json"})
        assert answer.status == 200, answer
    said = lambda text: {"role": "user", "content": text}
    send("PUT", "evil%20%3Cb%3E", {"dialect": "pi"})
    send("POST", "evil%20%3Cb%3E/entries", {"entries": [
        {"id": f"h{number}", "type": "message", "message": said(text)}
        for number, text in enumerate(HOSTILE)]})
    send("PUT", "tree", {"dialect": "pi"})
    send("POST", "tree/entries", {"entries": [
        {"id": "a", "type": "message", "message": said("the question")},
        {"id": "b", "type": "message", "message": {"role": "assistant", "content": [
            {"type": "text", "text": "I look"},
            {"type": "toolCall", "id": "c1", "name": "read_log", "arguments": {}}]}},
        {"id": "c", "parentId": "a", "type": "message", "message": said("another way")},
        {"id": "l", "type": "label", "targetId": "a", "label": "the start"},
        {"id": "m", "parentId": "l", "type": "model_change", "modelId": "a model of a long name"},
        {"id": "r", "parentId": "b", "type": "message", "timestamp": "2026-01-02T03:04:05Z",
         "message": {"role": "toolResult", "toolCallId": "c1", "content": [
             {"type": "text", "text": "the long log " + "x" * 15000}]}}]})
    send("PUT", "tree/head", {"entry_id": "b"})


@once
def put_long_session():
    """A session with a name and more entries than are asked for at once, and a fork of it."""
    said = [{"id": f"01970000-0000-7000-8000-0000000{n:05}", "type": "message",
             "message": {"role": "user", "content": f"step {n}"}} for n in range(1300)]
    said[0] = {"id": said[0]["id"], "type": "session_info", "name": "A long one"}
    for method, path, body in (
            ("PUT", "long", {"dialect": "pi"}),
            ("POST", "long/entries", {"entries": said[:650]}), ("POST", "long/entries", {"entries": said[650:]}),
            ("POST", "long/fork", {"session_id": "of-long"})):
        answer = server().request(method, f"/projects/demo/sessions/{path}", json.dumps(body),
                                  {"Content-Type": "application/json"})
        assert answer.status in (200, 201), answer
    return [one["id"] for one in said]

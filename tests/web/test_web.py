#!/usr/bin/env python3
"""The pages /ui/ and /docs: how their files are served, and what a browser makes of them, above all
of cards that try to be more than text."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import Browser, no_complaints, page
from cardbox_test import Postgres, Server, once

WEB = os.path.join(cardbox_test.ROOT, "src", "web")
SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
PLACES = {"index.html": "/ui/", "docs.html": "/docs"}
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


def sources():
    """The pages: not the picture of README.md."""
    return sorted(name for name in os.listdir(WEB) if not name.startswith(".") and not name.endswith(".png"))


def place(name):
    return PLACES.get(name, f"/ui/{name}")


def read(name):
    with open(os.path.join(WEB, name), "rb") as text:
        return text.read()


# --- the data ---


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
    yield {"card_id": "unseen", "content": {"__type__": "TextContent", "text": UNSEEN}}


# Contents that have the name of a class and not its shape.
BENT = [
    {"__type__": "TextContent", "text": {"no": "text"}}, {"__type__": "ToolContent", "tools": [None]},
    {"__type__": "ToolResultContent", "status": 3}, {"__type__": "FieldsSchemaContent", "fields": "x"},
    {"__type__": "MultiFileContent", "files": [1]}, {"__type__": "FileContent"},
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
def server():
    dsn = Postgres.shared().database()
    with_project = ("--dsn", dsn, "--project", "demo")
    for path in (SAMPLE, in_file(rows())):
        cardbox_test.cardbox("import", *with_project, path)
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "many", in_file(many()))
    cardbox_test.cardbox("box", "create", *with_project, "--id", BOX, "demo-001-instruction",
                         "demo-002-profile")
    for ids in (["demo-005-thought", "demo-006-call"], ["demo-007-result"], ["not-there"],
                ["demo-013-thought"]):
        cardbox_test.cardbox("box", "append", *with_project, BOX, *ids)
    cardbox_test.cardbox("box", "create", *with_project, "--id", LONG_BOX,
                         *(f"demo-{n:03}" for n in range(300)), "demo-013-thought")
    made = Server(dsn)
    made.await_ready()
    return made


# --- files ---


def test_files_are_served():
    for name in sources():
        yield name, lambda name=name: check_file(name)


def check_file(name):
    path = place(name)
    answer = server().get(path)
    assert answer.status == 200 and answer.body == read(name), answer
    assert answer.header("Content-Type") == TYPES[os.path.splitext(name)[1]], answer.headers
    assert answer.header("Content-Security-Policy") == POLICY, answer.headers
    assert answer.header("X-Content-Type-Options") == "nosniff", answer.headers
    assert answer.header("Cache-Control") == "no-cache", answer.headers
    tag = answer.header("ETag")
    assert re.fullmatch(r'"[0-9a-f]+"', tag), tag
    again = server().get(path, {"If-None-Match": tag})
    assert again.status == 304 and again.body == b"", again
    assert again.header("Content-Security-Policy") == POLICY, again.headers
    head = server().request("HEAD", path)
    assert head.status == 200 and head.body == b"" and head.header("ETag") == tag, head


def test_other_places():
    assert server().get("/ui").status == 308 and server().get("/ui").header("Location") == "ui/"
    for path in ("/ui//", "/ui/no.js", "/ui/docs.html", "/ui/index.html", "/ui/app.js/", "/ui/..",
                 "/docs/", "/ui/..%2fapp.js", "/ui/%0a"):
        answer = server().get(path)
        assert answer.status == 404 and answer.json()["detail"] == "Not Found", path
    assert server().request("POST", "/ui/").status == 405


def test_nothing_is_loaded_from_elsewhere():
    for name in sources():
        text = read(name).decode().replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"(?<!:)//[a-z0-9-]+\.|https?:|@import|url\(", text), name


def test_texts_can_become_nothing_else():
    """No way from a text to HTML or to a program, and nothing that the policy would refuse."""
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|srcdoc|"
                           r"new Function|createContextualFragment|DOMParser|setTimeout\(['\"`]")
    inline = re.compile(rb"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", re.I)
    for name in sources():
        assert not forbidden.search(read(name).decode()), name
        if name.endswith((".html", ".svg")):
            assert not inline.search(read(name)), name


def test_links_between_files():
    """What a page or module names exists."""
    for name in sources():
        for found in re.findall(r"from '\./([^']+)'|(?:src|href)=\"(?:ui/)?([\w.-]+\.\w+)\"",
                                read(name).decode()):
            target = found[0] or found[1]
            assert target in sources() or target == "openapi.json", (name, target)


def test_modules_parse():
    if not shutil.which("node"):
        raise cardbox_test.Skip("node is not installed")
    for name in sources():
        if name.endswith(".js"):
            done = subprocess.run(["node", "--check", "--input-type=module"], input=read(name),
                                  capture_output=True, timeout=60)
            assert done.returncode == 0, f"{name}: {done.stderr.decode()}"


# --- in a browser ---


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


def test_projects_are_offered():
    """To whoever may see all of them; else one types a name, which nothing is in the way of."""
    browser = visit("/ui/")
    browser.wait("return document.querySelectorAll('.projects .box-link').length >= 2")
    shown = browser.texts(".projects .box-link")
    demo = next(at for at, one in enumerate(shown) if one.startswith("demo\n"))
    listed = {one["project_id"]: one for one in server().get("/projects").json()["projects"]}
    assert f"{listed['demo']['boxes']} boxes" in shown[demo], shown
    assert listed["many"]["capped"] or f"{listed['many']['cards']:,} cards" in "".join(shown), shown
    browser.run("document.querySelectorAll('.projects .box-link')[arguments[0]].click()", demo)
    browser.await_text(BOX)
    assert browser.run("return location.hash").startswith("#/demo")
    browser.run("localStorage.clear()")
    no_complaints(browser)


def test_a_project_without_boxes():
    """It is led to what it has."""
    server().request("PUT", "/projects/talks/sessions/one", b'{"dialect":"plain"}', {"Content-Type": "application/json"})
    browser = visit("/ui/")
    browser.wait("return document.querySelector('.projects [href=\"#/talks/sessions\"]')")
    browser.run("document.querySelector('.projects [href=\"#/talks/sessions\"]').click()")
    browser.wait("return location.hash === '#/talks/sessions'")
    browser.click("#to-boxes")
    browser.await_text("It has sessions.")
    assert browser.run("return [...document.querySelectorAll('#boxes a')].map((one) => one.hash)") == ["#/talks/sessions"]
    browser.run("localStorage.clear()")
    no_complaints(browser)


def test_inspector_shows_boxes():
    browser = visit("/ui/")
    browser.type("#project", "demo\n")
    browser.wait("return document.querySelectorAll('.box-link').length >= 5")
    assert BOX in browser.text() and "7 cards" in browser.text(), browser.text()
    second = browser.texts(".box-link[data-box='01970000-0000-7000-8000-000000000002']")
    assert ", with a parent, " in second[0], second  # made of one, not forked
    browser.click(f".box-link[data-box='{BOX}']")
    await_version(browser, "Version 5 of 5 (now)")
    assert browser.run("return document.querySelector('.box-link[aria-current]').dataset.box") == BOX
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{server().port}/ui/")
    browser.await_text(BOX)  # the project is remembered
    browser.click("#project")
    browser.type("#project", "many\n")  # what is typed takes its place
    browser.wait("return location.hash === '#/many/boxes'")
    browser.wait("return document.querySelectorAll('.box-link').length === 50")
    assert browser.run("return document.documentElement.scrollHeight <= innerHeight"), "nothing to scroll"
    no_complaints(browser)


def test_a_conversation():
    browser = visit(box(BOX))
    await_version(browser, "Version 5 of 5 (now): appended 1 card")
    assert ids_shown(browser) == ["demo-001-instruction", "demo-002-profile", "demo-005-thought",
                                  "demo-006-call", "demo-007-result", "not-there",
                                  "demo-013-thought"]
    text = browser.text()
    assert "The nightly backup of the orders database failed" in text and "maria" in text
    assert "db-2 sent no answer within 30 s" in text and "turn-1" in text
    assert browser.texts(".card.missing .badge") == ["missing"]
    assert browser.texts(".pair") == ["call #1", "call #1", "answers call #1"]
    assert browser.texts(".card.added .id") == ["demo-013-thought"]
    no_complaints(browser)


def test_the_timeline():
    """Each version shows what there was, with what it added marked."""
    browser = visit(box(BOX, version=2))
    await_version(browser, "Version 2 of 5: appended 2 cards")
    assert ids_shown(browser)[2:] == ["demo-005-thought", "demo-006-call"]
    assert browser.texts(".card.added footer .id") == ["demo-005-thought", "demo-006-call"]
    assert "no result here" in browser.text()
    browser.type(".slider", "\ue014")  # the arrow to the right
    await_version(browser, "Version 3 of 5: appended 1 card")
    assert ids_shown(browser)[-1] == "demo-007-result" and "no result here" not in browser.text()
    assert browser.run("return location.hash").endswith(f"{BOX}?version=3")
    browser.type(".slider", "\ue011")  # Home: the first one
    await_version(browser, "Version 1 of 5: created with 2 cards")
    assert ids_shown(browser) == ["demo-001-instruction", "demo-002-profile"]
    press_now(browser)
    await_version(browser, "Version 5 of 5 (now)")
    browser.run("document.querySelector('[data-card=demo-007-result] footer button').click()")
    await_version(browser, "Version 2 of 5")
    no_complaints(browser)


def test_a_box_that_grows():
    """What comes while one looks is there at a click, also a card that was missing."""
    post = lambda path, value: server().post("/projects/demo/" + path, value)
    made = post("boxes", {"card_ids": ["demo-001-instruction", "late"]}).json()["box_id"]
    browser = visit(box(made))
    await_version(browser, "Version 1 of 1")
    assert browser.texts(".card.missing .badge") == ["missing"]
    assert post("cards", {"card_id": "late", "content": {"text": "here I am"}}).status == 200
    assert post(f"boxes/{made}/append", {"card_ids": ["demo-013-thought"]}).status == 200
    press_now(browser)
    await_version(browser, "Version 2 of 2 (now): appended 1 card")
    assert "here I am" in browser.text() and not browser.texts(".card.missing")
    no_complaints(browser)


def test_what_a_model_gets():
    """The messages in each format, as of a version, with what was repaired."""
    browser = visit(box(BOX, version=2))
    await_version(browser, "Version 2 of 5")
    browser.click("[data-do='context']")
    browser.await_text("1 repair")
    assert browser.run("return location.hash").endswith(f"/context/{BOX}?version=2")
    roles = browser.texts("main .cards .role")
    assert roles[-1] == "tool" and "assistant" in roles, roles
    browser.run("document.querySelector('.repairs').open = true")
    assert "a call without a result got one: demo-00" in browser.text(), browser.text()
    browser.click("[data-format='anthropic']")
    browser.wait("return document.querySelector('main .cards .role')?.innerText === 'user'")
    assert "No result provided" in browser.text() and "read_log" in browser.text()
    browser.click("input[type=checkbox]")
    browser.await_text("Nothing had to be repaired")
    assert "No result provided" not in browser.text()
    browser.click("[data-format='entries']")
    browser.await_text("demo-001-instruction")
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{server().port}/ui/#/demo/context/{EVIL_BOX}")
    browser.wait("return document.querySelectorAll('main .cards .card').length > 10")
    assert not browser.run("return Boolean(document.pwned)")
    no_complaints(browser)


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


def test_sessions():
    put_session()
    browser = visit("/ui/#/demo/sessions")
    browser.wait("return document.querySelector('[data-session=tree]')")
    browser.click("[data-session='tree']")
    browser.wait("return document.querySelectorAll('.entry').length === 6")
    rows = browser.run("return [...document.querySelectorAll('.entry')].map((one) => "
                       "[one.dataset.entry, one.dataset.level])")
    assert rows == [["a", "0"], ["b", "1"], ["r", "1"], ["c", "1"], ["l", "1"],
                    ["m", "1"]], rows
    assert browser.texts(".entry .badge") == ["the start", "2 branches", "head"]
    assert "→ read_log" in browser.text() and "another way" in browser.text()
    assert browser.texts(".entry .role") == ["user", "assistant", "result", "user", "label", "setting"]
    browser.await_text("the long log")
    assert browser.texts("[data-entry='r'] .time") == ["03:04:05"]
    assert browser.texts("header.top [aria-current]") == ["Sessions"]
    assert browser.run("return document.getElementById('project').value") == "demo"
    browser.click("[data-entry='b'] [data-do='context']")
    browser.await_text("1 repair")
    assert browser.texts("main .cards .role") == ["user", "assistant", "tool"]
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{server().port}/ui/#/demo/session/evil%20%3Cb%3E")
    browser.wait(f"return document.querySelectorAll('.entry').length === {len(HOSTILE)}")
    assert browser.run("return document.pwned") is None
    browser.open(f"http://127.0.0.1:{server().port}/ui/#/demo/session/nothing")
    browser.await_text("No such session")
    assert all("404" in one for one in browser.complaints())


def test_an_entry_in_the_panel():
    """Its text, the tools that it calls, and its JSON."""
    put_session()
    browser = visit("/ui/#/demo/session/tree?entry=b")
    browser.wait("return document.querySelector('#panel details')")
    shown = browser.run("return document.querySelector('#panel').innerText")
    assert "I look" in shown and "→ read_log" in shown and '"entry_id": "b"' in shown, shown
    browser.click("#panel-close")
    browser.wait("return document.querySelector('#panel').hidden")
    no_complaints(browser)


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


def entries_shown(browser):
    return browser.run("return [...document.querySelectorAll('.entry')].map((one) => one.dataset.entry)")


def in_sight(browser, selector):
    return browser.run("const at = document.querySelector(arguments[0]).getBoundingClientRect();"
                       "return at.top >= 0 && at.bottom <= innerHeight", selector)


def press_more(browser):
    browser.run("window.scrollTo(0, 0); document.querySelector('main .wide').click()")


def test_an_entry_of_a_long_session():
    """The page that holds it is shown, with it marked; from there one goes both ways."""
    ids = put_long_session()
    browser = visit(f"/ui/#/demo/session/long?at={ids[1015]}")
    browser.wait("return document.querySelector('.entry[aria-current]')")
    assert browser.texts(".entry[aria-current] .says") == ["step 1015"]
    assert in_sight(browser, ".entry[aria-current]")
    assert entries_shown(browser) == ids[915:]
    assert browser.texts("main .wide") == ["Earlier entries"]
    press_more(browser)
    browser.wait("return document.querySelectorAll('.entry').length === 885")
    assert in_sight(browser, f".entry[data-entry='{ids[920]}']"), "one stays where one was"
    press_more(browser)
    browser.wait("return document.querySelectorAll('.entry').length === 1300")
    assert entries_shown(browser) == ids and browser.texts("main .wide") == []
    browser = visit(f"/ui/#/demo/session/long?at={ids[3]}")
    browser.wait("return document.querySelectorAll('.entry').length === 500")
    assert entries_shown(browser) == ids[:500] and browser.texts("main .wide") == ["Later entries"]
    browser.run("window.asks = window.fetch; window.fetch = () => Promise.reject(new TypeError('no'))")
    press_more(browser)
    browser.await_text("the server does not answer")
    browser.run("window.fetch = window.asks; const more = document.querySelector('main .wide'); more.click(); more.click()")
    browser.wait("return document.querySelectorAll('.entry').length === 1000")
    assert entries_shown(browser) == ids[:1000], "pressed twice, a page comes once"
    assert browser.texts("main .notice") == []
    no_complaints(browser)
    visit("/ui/#/demo/session/long?at=nothing").await_text("No such entry")
    assert all("404" in one for one in browser.complaints())


def test_what_a_session_is_called():
    """One with a name shows its id, too; its head, its parent and each entry's whole id are at hand."""
    ids = put_long_session()
    browser = visit("/ui/#/demo/session/long")
    browser.wait("return document.querySelectorAll('.entry').length === 500")
    assert "A long one" in browser.texts("h1")[0]
    assert browser.texts(".facts .id") == ["long", ids[-1]]
    row = f".entry[data-entry='{ids[7]}'] "
    assert browser.texts(row + "a .id") == ["0197…00000007"]
    assert browser.run("return document.querySelector(arguments[0]).title", row + ".id") == ids[7]
    browser.run("navigator.clipboard.writeText = async (text) => { document.copied = text; }")
    browser.type(row + "[data-do=copy]", ENTER)
    assert browser.wait("return document.copied") == ids[7]
    browser.wait("return document.querySelector(arguments[0]).innerText === 'Copied'", row + "[data-do=copy]")
    browser.click("[data-do=head]")
    browser.wait("return document.querySelector('.entry[aria-current]')")
    assert browser.texts(".entry[aria-current] .badge") == ["head"] and in_sight(browser, ".entry[aria-current]")
    browser.run("window.scrollTo(0, 0)")
    browser.click(".facts [data-do=context]")
    browser.await_text("1,299 messages")
    browser = visit("/ui/#/demo/session/of-long")
    browser.wait("return document.querySelector('[data-do=parent]')")
    browser.click("[data-do=parent]")
    browser.wait("return document.querySelector('.facts .id').innerText === 'long'")
    assert browser.run("return location.hash") == "#/demo/session/long"
    no_complaints(browser)


def test_sessions_when_narrow():
    """No row of a tree stands out of the page, and no word of it in another."""
    put_session()
    with Browser(width=450) as browser:
        browser.open(f"http://127.0.0.1:{server().port}/ui/")
        browser.run("location.hash = '#/demo/session/tree'")
        browser.await_text("the long log")
        assert browser.run("return document.getElementById('project').value") == "demo"
        out = browser.run(
            "return [...document.querySelectorAll('.entry')].filter((row) => "
            "row.scrollWidth > row.clientWidth || [...row.children].some((one) => "
            "one.getBoundingClientRect().right > innerWidth)).map((row) => row.innerText)")
        assert out == [], out
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")


def test_forking():
    browser = visit(box(BOX, version=3))
    await_version(browser, "Version 3 of 5")
    browser.run("window.asked = []; const ask = fetch; window.fetch = async (url, how) => {"
                "const answer = await ask(url, how);"
                "asked.push([how.method, how.headers['Cardbox-Lsn'], answer.headers.get('Cardbox-Lsn')]); return answer; }")
    browser.click("[data-do=fork]")
    browser.wait("return document.querySelector('dialog[open] [data-do=confirm]')")
    browser.click("[data-do=confirm]")
    await_version(browser, "Version 1 of 1 (now): forked with 5 cards")
    (_, before, place), *reads = browser.run("return asked")
    assert before is None and place and reads, reads
    assert all(given == place and there is None for _, given, there in reads), reads  # a standby must be as far
    assert BOX in browser.texts(".facts a")[0]
    made = browser.run("return location.hash").rsplit("/", 1)[1]
    assert made != BOX
    stored = server().get(f"/projects/demo/boxes/{made}").json()
    assert stored["parent_ids"] == [BOX] and len(stored["card_ids"]) == 5, stored
    no_complaints(browser)


def test_forking_a_session():
    """From an entry in the middle, by keyboard; and what refuses it is said."""
    put_session()
    browser = visit("/ui/#/demo/session/tree")
    row = ".entry[data-entry='b'] "
    browser.wait("return document.querySelector(arguments[0])", row)
    browser.type(row + "[data-do=fork]", ENTER)
    browser.wait("return document.querySelector('dialog[open] [data-do=confirm]')")
    asked = browser.texts("dialog[open] p")[0]
    assert "the path to b of the session tree," in asked and "the project demo " in asked, asked
    browser.click("[data-do=confirm]")
    browser.wait("return document.querySelector('[data-do=parent]')")
    made = browser.run("return decodeURIComponent(location.hash)").rsplit("/", 1)[1]
    stored = server().get(f"/projects/demo/sessions/{made}").json()
    assert (stored["forked_from"], stored["entries"]) == ("tree", 2), stored
    assert not browser.run("return document.querySelector('dialog[open]')")
    visit("/ui/#/demo/session/tree")
    browser.wait("return document.querySelector(arguments[0])", row + "[data-do=fork]")
    browser.run("window.fetch = async () => new Response('{\"detail\":{\"error_message\":\"no more\"}}', {status: 403})")
    browser.type(row + "[data-do=fork]", ENTER)
    browser.wait("return document.querySelector('dialog[open] [data-do=confirm]')")
    browser.click("[data-do=confirm]")
    browser.wait("return document.querySelector('dialog[open] .failure').innerText === 'no more'")
    browser.type("dialog[open] button", ESCAPE)
    browser.wait("return !document.querySelector('dialog[open]')")
    no_complaints(browser)


def test_dialogs_end_with_their_page():
    put_session()
    browser = visit("/ui/#/demo/session/tree")
    fork = ".entry[data-entry='b'] [data-do=fork]"
    browser.wait("return document.querySelector(arguments[0])", fork)
    for button in (fork, "#token-button"):
        browser.click(button)
        browser.wait("return document.querySelector('dialog[open]')")
        browser.run("location.hash = document.body.dataset.view === 'session' ? '#/demo/sessions' : '#/demo/tasks'")
        browser.wait("return !document.querySelector('dialog[open]')")
    no_complaints(browser)


def test_leaving_a_project():
    """What was shown of it goes, and what is still loaded for it is not drawn over what comes."""
    browser = visit(box(BOX, card="demo-002-profile"))
    browser.wait("return document.querySelector('#panel .fields')")
    browser.run("window.held = []; window.real = fetch; window.fetch = async (...given) => {"
                "  await new Promise((go) => { held.push(go); }); return real(...given); };"
                "location.hash = arguments[0]", box(LONG_BOX, card="demo-002-profile")[len("/ui/"):])
    browser.wait("return held.length > 0 && document.querySelector('main').innerText === 'Loading …'")
    browser.run("location.hash = '#/'")
    browser.await_text("Which project?")
    assert browser.run("return document.querySelector('#panel').hidden")
    browser.run("for (const go of held) go(); window.fetch = real")
    browser.wait("return document.querySelectorAll('.projects .box-link').length >= 2")
    assert "Loading" not in browser.text() and not browser.texts(".timeline"), browser.text()
    browser.run("return fetch('../healthz')")
    assert not browser.texts(".timeline"), browser.text()
    browser.run("localStorage.clear()")
    no_complaints(browser)


def test_leaving_a_box_that_loads():
    """What comes after it is not drawn as faint as what is about to change."""
    browser = visit(box(BOX))
    await_version(browser, "Version 5 of 5")
    browser.run("window.real = fetch; window.fetch = (url, { signal }) => new Promise((_, fail) =>"
                "  signal.addEventListener('abort', () => fail(new DOMException('', 'AbortError'))));"
                "const slider = document.querySelector('.slider'); slider.value = 2;"
                "slider.dispatchEvent(new Event('input'))")
    browser.wait("return document.querySelector('main').hasAttribute('aria-busy')")
    browser.run("window.fetch = window.real; location.hash = '#/demo/cards'")
    browser.wait("return document.querySelectorAll('.cards .card').length > 0")
    assert not browser.run("return document.querySelector('main').hasAttribute('aria-busy')")
    no_complaints(browser)


def test_folding_branches():
    """By keyboard, which stays where it is; what is below is counted, and comes back."""
    put_session()
    browser = visit("/ui/#/demo/session/tree")
    browser.wait("return document.querySelectorAll('.entry').length === 6")
    assert entries_shown(browser) == ["a", "b", "r", "c", "l", "m"]
    assert browser.texts("[data-do=fold]") == ["▾", "▾"]
    for entry, shown, words in (("c", ["a", "b", "r", "c"], "▸ 2 more"), ("b", ["a", "b", "c"], "▸ 1 more"),
                                ("c", ["a", "b", "c", "l", "m"], "▾")):
        button = f".entry[data-entry='{entry}'] [data-do=fold]"
        browser.type(button, ENTER)
        assert entries_shown(browser) == shown and browser.texts(button) == [words]
        assert browser.run("return document.activeElement === document.querySelector(arguments[0])", button)
    no_complaints(browser)


def test_a_card_in_full():
    browser = visit(box(BOX))
    await_version(browser, "Version 5 of 5")
    browser.click("[data-card=demo-007-result] footer .id")
    browser.wait("return document.querySelector('#panel .fields')")
    assert "trace-orders-backup" in browser.run("return document.querySelector('#panel').innerText")
    browser.run("for (const part of document.querySelectorAll('#panel details')) part.open = true")
    browser.wait("return document.querySelector('#panel').innerText.includes(arguments[0])", BOX)
    browser.wait("return document.querySelector('#panel').innerText.includes('never said anything')")
    raw = browser.run("return [...document.querySelectorAll('#panel pre')].at(-1).innerText")
    assert json.loads(raw) == server().get("/projects/demo/cards/demo-007-result").json()
    browser.click("#panel-close")
    browser.wait("return document.querySelector('#panel').hidden")
    await_version(browser, "Version 5 of 5")
    no_complaints(browser)


def test_a_card_beside_a_box():
    """The address has both, whichever changes, and the card can be closed."""
    browser = visit(box(BOX, card="demo-007-result"))
    await_version(browser, "Version 5 of 5")
    browser.wait("return document.querySelector('#panel .fields')")
    assert browser.run("return location.hash").endswith("?card=demo-007-result")
    browser.run("document.querySelector('.mark').click()")
    await_version(browser, "Version 1 of 5")
    assert browser.run("return [...new URLSearchParams(location.hash.split('?')[1])].sort()") == [
        ["card", "demo-007-result"], ["version", "1"]]
    browser.click("#panel-close")
    browser.wait("return document.querySelector('#panel').hidden")
    await_version(browser, "Version 1 of 5")
    no_complaints(browser)


def test_search():
    browser = visit("/ui/#/demo/cards?type=agent.thought&meta.agent_turn_id=turn-2")
    browser.wait("return document.querySelectorAll('main .card').length > 0")
    assert ids_shown(browser) == ["demo-008-thought"]
    browser.type("[name=role]", "user\n")
    browser.await_text("Nothing found")
    browser.type("[name=id]", "demo-010-result\n")
    browser.await_text("No space left on device")
    no_complaints(browser)


def test_pages():
    browser = visit("/ui/#/many/cards")
    for selector in (".box-link", "main .card"):
        browser.wait("return document.querySelectorAll(arguments[0]).length === 50", selector)
        browser.run("document.querySelector(arguments[0]).parentNode.querySelector('.wide').click()",
                    selector)
        browser.wait("return document.querySelectorAll(arguments[0]).length === 60", selector)
        parent = "document.querySelector(arguments[0]).parentNode"
        assert browser.run(f"return {parent}.querySelector('.wide')", selector) is None
    assert len(set(ids_shown(browser))) == 60
    no_complaints(browser)


def test_a_long_box():
    browser = visit(box(LONG_BOX))
    await_version(browser, "Version 1 of 1")
    assert len(ids_shown(browser)) == 60 and ids_shown(browser)[-1] == "demo-013-thought"
    browser.click("button.wide")
    browser.wait("return document.querySelectorAll('main .cards > .card').length === 180")
    no_complaints(browser)


def test_huge_boxes():
    """Their end alone is loaded; but all ids where some in it are missing. Places are right."""
    for identifier, whole in ((HUGE_BOX, False), (HOLED_BOX, True)):
        browser = visit(box(identifier))
        await_version(browser, "Version 1 of 1")
        assert browser.texts("main .position")[-1] == "21000"
        assert len(ids_shown(browser)) == 60
        asked = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
        assert any("/cards?at_version=1&limit=500" in name for name in asked), asked
        assert any(name.endswith(identifier + "?at_version=1") for name in asked) == whole
    assert ids_shown(browser)[-1] == "gone" and browser.texts(".missing .position")[-1] == "21000"
    no_complaints(browser)


def test_hostile_cards_are_text():
    browser = visit(box(EVIL_BOX))
    await_version(browser, "Version 1 of 1")
    while browser.run("return Boolean(document.querySelector('button.wide'))"):
        count = len(ids_shown(browser))
        browser.click("button.wide")
        browser.wait("return document.querySelectorAll('main .cards > .card').length > arguments[0]",
                     count)
    assert ids_shown(browser)[:-1] == [row["card_id"] for row in rows() if row["kind"] == "card"]
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    browser.run("for (const one of document.querySelectorAll('.pair')) one.click()")
    check_inert(browser)
    text = browser.text()
    for hostile in HOSTILE:
        assert hostile in text, hostile
    for unseen in ("U+202E", "U+2066", "U+200B", "U+FEFF", "U+E0041", "U+0007", "U+009B"):
        assert unseen in browser.texts(".unseen"), unseen
    assert "\u202e" not in browser.run("return document.documentElement.outerHTML")


def check_inert(browser):
    """The page has no element of a card's making, nothing ran, and nothing was asked of others."""
    assert browser.run("return document.pwned") is None
    foreign = browser.run("""
        return [...document.querySelectorAll('main *, #panel *')].filter((one) =>
            /^(SCRIPT|IMG|IFRAME|SVG|STYLE|BASE|META|OBJECT|EMBED|FORM|LINK)$/i.test(one.tagName) ||
            [...one.attributes].some(({name}) => /^on|^src|^style$/.test(name) && one.tagName !== 'BUTTON') ||
            (one.tagName === 'A' && !one.getAttribute('href').startsWith('#/')))
            .map((one) => one.outerHTML.slice(0, 200))""")
    assert foreign == [], foreign
    asked = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    own = f"http://127.0.0.1:{server().port}/"
    assert all(name.startswith(own) for name in asked), asked
    no_complaints(browser)


def test_hostile_card_in_full():
    card = next(hostile_cards())
    browser = visit("/ui/#/demo/card/" + urllib.parse.quote(card["card_id"], safe=""))
    browser.wait("return document.querySelector('main .fields')")
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    browser.await_text(EVIL_BOX)
    check_inert(browser)


def test_exact_numbers():
    exact = '{"big":12345678901234567890123,"exact":1.10,"huge":1e400}'
    body = '{"card_id":"exact","content":' + exact + "}"
    answer = server().request("POST", "/projects/demo/cards", body,
                              {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    browser = visit("/ui/#/demo/card/exact")
    browser.await_text("12345678901234567890123")
    shown = browser.texts("main .content pre")[0]
    assert "1.10" in shown and "1e400" in shown, shown


def test_long_texts():
    """A card may hold 64 MiB: of text in lines, what is 24 is read."""
    browser = visit("/ui/")
    script = "return import('./json.js').then(({ parse }) => parse(JSON.stringify('a line\\n'.repeat(arguments[0]))).length)"
    assert browser.run(script, 3 << 20) == 7 * (3 << 20)


def test_what_is_not_there():
    browser = visit(box("01970000-0000-7000-8000-00000000dead"))
    browser.await_text("No such box")
    visit("/ui/#/demo/card/nothing").await_text("No such card")
    visit("/ui/#/nobody-s-project").await_text("Nothing is in this project yet")
    for address in ("bogus", "bogus/id", f"boxes/{BOX}/bogus", "constructor/id"):
        visit(f"/ui/#/demo/{address}").await_text("No such page")
    browser.complaints()  # the 404s are logged


def test_paths_of_the_api_are_places():
    """Who knows the path of a thing has typed its address."""
    for path, view in ((f"boxes/{BOX}", "box"), (f"boxes/{BOX}/context", "context"), ("sessions/long", "session"),
                       ("sessions/long/context", "session-context"), ("tasks/nothing", "task"),
                       ("cards/exact", "card"), ("cards/", "cards")):
        visit(f"/ui/#/demo/{path}").wait("return document.body.dataset.view === arguments[0]", view)
    browser = visit(f"/ui/#/demo/boxes/{BOX}")
    browser.await_text("demo-001-instruction")
    browser.complaints()  # the task that is not there is logged


def test_a_server_with_tokens():
    """It asks for a token, which stays in the tab and goes out as a bearer's."""
    dsn = Postgres.shared().database()
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "demo", SAMPLE)
    made = cardbox_test.cardbox("token", "create", "--dsn", dsn, "--name", "web", "--tenant", "demo",
                                "--json")
    guarded = Server(dsn, auth=True)
    browser = page()
    browser.complaints()
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{guarded.port}/ui/")
    browser.await_text("Which project?")
    browser.wait("return performance.getEntriesByType('resource').some((one) => one.name.includes('/projects?'))")
    assert not browser.texts(".projects a") and "token" not in browser.texts("main")[0]
    browser.open(f"http://127.0.0.1:{guarded.port}/ui/#/demo")
    browser.await_text("This server asks for a token")
    browser.run("document.querySelector('#boxes .notice button').click()")
    browser.type("#token", json.loads(made.stdout)["token"] + "\n")
    browser.wait("return document.querySelectorAll('.box-link').length >= 3")
    assert browser.run("return [document.cookie, JSON.stringify(localStorage)].join()."
                       "includes(sessionStorage.getItem('cardbox.token'))") is False
    assert "Token is set" in browser.text()
    browser.click(".box-link")
    await_version(browser, "Version 1 of 1")
    browser.click("[data-do=fork]")
    browser.click("[data-do=confirm]")
    browser.wait("return document.querySelector('dialog[open] .failure')?.innerText")
    browser.complaints()  # the 401s and the 403 are logged
    guarded.stop()


def test_docs():
    browser = visit("/docs")
    browser.await_text("/projects/{project_id}/boxes/{box_id}/cards")
    operations = server().get("/openapi.json").json()["paths"]
    count = sum(method in ("get", "put", "post", "delete") for item in operations.values()
                for method in item)
    assert len(browser.texts(".operation")) == count
    assert not any("undefined" in text or "[object" in text for text in browser.texts(".operation"))
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    assert "agent.thought" in browser.run("return document.querySelector('#getCard').innerText")
    forms = browser.run("return document.querySelector('#addCards .media').innerText")
    assert "Either NewCardAlone" in forms and "or NewCards" in forms, forms
    browser.wait("return document.querySelectorAll('article table table').length > 100")
    narrow = browser.run("return [...document.querySelectorAll('article tr > *')].filter((one) => "
                         "one.clientWidth < 150).map((one) => one.closest('tr').innerText)")
    assert narrow == [], narrow[:3]
    starts = browser.run("return [...new Set([...document.querySelectorAll('#contents a > :last-child')]"
                         ".map((one) => one.getBoundingClientRect().left))]")
    assert len(starts) == 1, starts
    browser.type("#filter", "hydrate missing_box_ids")
    browser.wait("return document.querySelectorAll('.operation:not([hidden])').length === 1")
    assert browser.texts("#found") == ["1 found"]
    browser.type("#filter", "\ue00c")  # Escape
    browser.wait("return !document.querySelector('.operation[hidden]')")
    assert len(browser.texts("#contents .step")) > 2 * count
    broken = browser.run("return [...document.querySelectorAll('.step')].filter((one) => "
                         "one.getClientRects().length > 1).map((one) => one.innerText)")
    assert broken == [], broken
    assert browser.run("return [...document.querySelectorAll('#contents a')].every((one) => "
                       "one.scrollWidth <= one.clientWidth)")
    no_complaints(browser)


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

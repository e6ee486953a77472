#!/usr/bin/env python3
"""Every kind of page and of control of the inspector is used in a browser, at two widths, light and dark: with the
demo, in an empty project, and with contents that try to be more than text. CARDBOX_WEB_MATRIX=whole clicks each kind of
control at each width and in both colour schemes; by default, it is clicked once, and nothing with hostile contents."""

import json
import os
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import page
from cardbox_test import Postgres, Server, once
from demo import put_demo
from walker import HOME, TYPED, Walker
from web_data import BOX, HOSTILE, UNSEEN, in_file, rows

WHOLE = os.environ.get("CARDBOX_WEB_MATRIX") == "whole"
EVIL = "<img src=x onerror=document.pwned=1>\u202egnp"  # a project's name may be anything
ENTRIES, BOX_CARDS, BOX_VERSIONS = 20_000, 100_000, 3_000
REQUESTS_MAX, ELEMENTS_MAX = 20, 12_000  # of a page; each card in sight of an old version needs a request
TURN_REQUESTS_MAX = 45  # the number of a turn is counted on its path, by pages of 500
GIANT = "W" * 300_000


@once
def dsn():
    return Postgres.shared().database()


@once
def server():
    made = Server(dsn())
    made.await_ready()
    return made


def send(method, project, path, body):
    answer = server().request(method, f"/projects/{urllib.parse.quote(project, safe='')}/{path}", json.dumps(body),
                              {"Content-Type": "application/json"})
    assert answer.status in (200, 201), answer
    return answer.json()


def put_hostile(project):
    cardbox_test.cardbox("import", "--dsn", dsn(), "--project", project, in_file(rows()))
    texts = [*HOSTILE, UNSEEN, "# <b>bold</b> [link](javascript:document.pwned=1) ![](https://evil.example/x.png)", GIANT]
    said = [{"id": f"h{at}", "type": "message", "message": {"role": "user" if at % 2 else "assistant", "content": text}}
            for at, text in enumerate(texts)]
    name = urllib.parse.quote(HOSTILE[1], safe="")
    send("PUT", project, f"sessions/{name}", {"dialect": "pi"})
    send("POST", project, f"sessions/{name}/entries", {"entries": [
        {"id": "info", "type": "session_info", "name": HOSTILE[0] + UNSEEN}, *said,
        {"id": "branch", "parentId": "h1", "type": "message", "message": {"role": "user", "content": GIANT}},
        {"id": "label", "type": "label", "targetId": "h1", "label": HOSTILE[0]}]})
    task = send("POST", project, "abilities/task:spawn", {"goal": HOSTILE[0], "systemPrompt": GIANT})["taskId"]
    for at, text in enumerate(texts):
        message = f"01970000-0000-7000-8000-0000000009{at:02}"
        now = int(time.time() * 1000)
        send("POST", project, "abilities/ldg:msg:save", {"message": {
            "id": message, "taskId": task, "role": "assistant", "content": text, "timestamp": now}})
        if len(text) < 200 and text != UNSEEN:
            send("POST", project, "abilities/ldg:call:save", {"call": {
                "id": f"{task}-{at}", "taskId": task, "abilityName": text, "parameters": json.dumps({text: text}),
                "status": "failed", "details": json.dumps({"error": text}), "createdAt": now, "updatedAt": now,
                "startMessageId": message}})


def walk(start, belongs, follow=WHOLE, clicks=True):
    browser = page()
    browser.open(f"http://127.0.0.1:{server().port}/ui/")
    browser.run("localStorage.clear(); sessionStorage.clear()")
    walker = Walker(browser, f"http://127.0.0.1:{server().port}", WHOLE, follow, clicks)
    walker.walk(start, belongs)
    print(f"{start}: {len(walker.pages)} kinds of pages, {len(walker.clicked)} kinds of controls", flush=True)
    assert not walker.problems, f"{len(walker.problems)} problems, printed above"
    return walker


def of(project):
    """The pages of a project and those that belong to none."""
    name = urllib.parse.quote(project, safe="!'()*~")
    return lambda kind: kind.split("/")[0].split("?")[0] in ("", name)


def test_the_demo():
    put_demo(lambda ability, value: send("POST", "demo", f"abilities/{ability}", value))
    walker = walk("/ui/", of("demo"), True)
    for view in ("box", "session", "task", "cards", "context"):
        assert any(f"demo/{view}" in kind for kind in walker.pages), (view, sorted(walker.pages))


def test_an_empty_project():
    walk("/ui/#/empty", of("empty"))


def test_hostile_contents():
    put_hostile(EVIL)
    walk(f"/ui/#/{urllib.parse.quote(EVIL, safe='')}", of(EVIL), clicks=WHOLE)


def test_docs():
    browser = page()
    walker = Walker(browser, f"http://127.0.0.1:{server().port}", WHOLE)
    walker.look("/docs")
    browser.type("#filter", "hydrate missing_box_ids")
    browser.wait("return document.querySelectorAll('.operation:not([hidden])').length === 1")
    walker.set((400, "dark"))
    for one in ("h3 a", "details:not([open]) > summary"):
        browser.click(f".operation:not([hidden]) {one}")
        walker.settle(one)
    browser.type("#filter", TYPED)
    browser.await_text("Nothing found")
    walker.settle("/docs without results")
    assert not walker.problems, f"{len(walker.problems)} problems, printed above"


@once
def put_large():
    """A session of 20,000 entries, and a box of 100,000 cards with 3,000 versions."""
    cards = [{"kind": "card", "card_id": f"c{at}", "content": f"card {at}", "metadata": {"role": "user"}} for at in range(1000)]
    big = {"kind": "box", "box_id": BOX, "card_ids": [f"c{at % 1000}" for at in range(BOX_CARDS - BOX_VERSIONS + 1)]}
    cardbox_test.cardbox("import", "--dsn", dsn(), "--project", "large", in_file([*cards, big]))
    send("PUT", "large", "sessions/long", {"dialect": "pi"})
    ids = [f"e{at}" for at in range(ENTRIES)]
    for at in range(0, ENTRIES, 1000):
        send("POST", "large", "sessions/long/entries", {"entries": [
            {"id": one, "type": "message", "message": {"role": "user", "content": f"entry {one}"}} for one in ids[at:at + 1000]]})
    with server().client() as client:
        for at in range(BOX_VERSIONS - 1):
            answer = client.request("POST", f"/projects/large/boxes/{BOX}/append", json.dumps({"card_ids": [f"c{at % 1000}"]}),
                                    {"Content-Type": "application/json"})
            assert answer.status == 200, answer


def opened(walker, path, done):
    """Opens a page; how many requests it has sent, and how many elements it has."""
    walker.browser.open("about:blank")
    walker.open(path)
    walker.browser.wait(done)
    return walker.browser.run("return [walk.requests, document.querySelectorAll('*').length]")


def test_large_data():
    """However large a thing is, its page asks for a page of it, and shows a page of it."""
    put_large()
    walker = Walker(page(), f"http://127.0.0.1:{server().port}")
    walker.set((1400, "light"))
    cards = "return document.querySelectorAll('main .card').length > 20"
    entries = "return document.querySelectorAll('main .entry').length > 20"
    for path, done in (("", "return document.querySelector('main').innerText.length > 20"), (f"/box/{BOX}", cards),
                       (f"/box/{BOX}?version=1500", cards), (f"/context/{BOX}", cards), ("/cards", cards),
                       ("/sessions", "return document.body.innerText.includes('long')"), ("/session/long", entries),
                       ("/session/long?at=e19000", entries), ("/session-context/long", cards)):
        requests, elements = opened(walker, f"/ui/#/large{path}", done)
        print(f"{path}: {requests} requests, {elements} elements", flush=True)
        limit = TURN_REQUESTS_MAX if "?at=" in path else REQUESTS_MAX
        assert requests <= limit and elements <= ELEMENTS_MAX, (path, requests, elements)
    walker.open(f"/ui/#/large/box/{BOX}")
    walker.browser.type(".slider", HOME)
    walker.browser.await_text(f"of {BOX_VERSIONS:,}" if "3,000" in walker.browser.text() else f"of {BOX_VERSIONS}")
    walker.settle("the first version")
    assert walker.browser.run("return document.querySelectorAll('*').length") <= ELEMENTS_MAX
    assert not walker.problems, f"{len(walker.problems)} problems, printed above"


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

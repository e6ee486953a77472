#!/usr/bin/env python3
"""The inspector's sessions: the list, the tree of one session, its entries, and forks."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints, page
from cardbox_test import once
from web_data import (ENTER, ESCAPE, HOSTILE, await_in_sight, entries_shown, put_long_session, put_session, rows,
                      server, visit)


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
    leaves = browser.run("return [...document.querySelectorAll('.entry [data-do=context]')].map((one) => "
                         "new URLSearchParams(one.hash.split('?')[1]).get('leaf'))")
    assert leaves == ["a", "a", "r", "c", "l", "m"], "an answer was made of what is before it"
    browser.click("[data-entry='r'] [data-do='context']")
    browser.wait("return document.querySelectorAll('main .cards .card').length === 3")
    assert browser.texts("main .cards .role") == ["user", "assistant", "tool"]
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{server().port}/ui/#/demo/session/evil%20%3Cb%3E")
    browser.wait(f"return document.querySelectorAll('.entry').length === {len(HOSTILE)}")
    assert browser.run("return document.pwned") is None
    browser.open(f"http://127.0.0.1:{server().port}/ui/#/demo/session/nothing")
    browser.await_text("No such session")
    browser.open("about:blank")  # ends its other requests
    assert all("404" in one for one in browser.complaints())


def test_an_entry_in_the_panel():
    """Its text, the tools that it calls, and its JSON."""
    put_session()
    browser = visit("/ui/#/demo/session/tree?entry=b")
    browser.wait("return document.querySelector('#panel details')")
    browser.run("document.querySelector('#panel details').open = true")
    shown = browser.run("return document.querySelector('#panel').innerText")
    assert "I look" in shown and '"entry_id": "b"' in shown, shown
    assert browser.texts("#panel .call .tool") == ["read_log"]
    browser.click("#panel-close")
    browser.wait("return document.querySelector('#panel').hidden")
    browser.wait("return document.querySelectorAll('.entry').length === 6")
    browser.run("document.activeElement.blur()")
    browser.type("body", "j")
    browser.type(":focus", ENTER)
    browser.wait("return location.hash.endsWith('?entry=a')")
    no_complaints(browser)


def press_more(browser):
    """When rows have come, the page scrolls in each of four frames, see seen.js: a click before the last is undone."""
    browser.run("window.framesLeft = 5; (function step() { if (--window.framesLeft > 0) requestAnimationFrame(step); })()")
    browser.wait("return window.framesLeft === 0")
    browser.run("window.scrollTo(0, 0); document.querySelector('main .wide').click()")


def test_an_entry_of_a_long_session():
    """The page that holds it is shown, with it marked; from there one goes both ways."""
    ids = put_long_session()
    browser = visit(f"/ui/#/demo/session/long?at={ids[1015]}")
    browser.wait("return document.querySelector('.entry[aria-current]')")
    await_in_sight(browser, ".entry[aria-current]")
    browser.await_texts(".entry[aria-current] .says", ["step 1015"])  # rows out of sight have no text yet
    assert entries_shown(browser) == ids[915:]
    assert browser.texts("main .wide") == ["Earlier entries"]
    press_more(browser)
    browser.wait("return document.querySelectorAll('.entry').length === 885")
    await_in_sight(browser, f".entry[data-entry='{ids[920]}']")  # one stays where one was
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


def test_a_long_session_opens_at_its_end():
    """From there, every entry can be reached: the oldest, the line with a number, and page by page."""
    ids = put_long_session()
    browser = visit("/ui/#/demo/session/long")
    browser.wait("return document.querySelectorAll('.entry').length === 500")
    assert entries_shown(browser) == ids[800:]
    await_in_sight(browser, f".entry[data-entry='{ids[-1]}']")
    browser.await_texts(f".entry[data-entry='{ids[-1]}'] .turn-mark", ["turn 1299"])
    assert browser.texts(".turn-links [aria-current]") == ["1299"]
    browser.click("[data-do=oldest]")
    browser.wait("return document.querySelector('.entry')?.dataset.entry === arguments[0]", ids[0])
    assert entries_shown(browser) == ids[:500] and browser.texts("main .wide") == ["Later entries"]
    assert browser.run("return scrollY") == 0
    browser.type("[name=line]", "701" + ENTER)  # the header is line 1
    browser.wait("return document.querySelector('.entry')?.dataset.entry === arguments[0]", ids[699])
    assert entries_shown(browser) == ids[699:1199] and browser.texts("main .wide") == ["Earlier entries", "Later entries"]
    browser.click("[data-do=newest]")
    browser.wait("return document.querySelector('.entry')?.dataset.entry === arguments[0]", ids[800])
    await_in_sight(browser, f".entry[data-entry='{ids[-1]}']")
    visit("/ui/#/demo/session/long?from=99999").wait("return document.querySelectorAll('.entry').length === 1")
    assert entries_shown(browser) == ids[-1:]
    visit("/ui/#/demo/session/long?from=x").wait("return document.querySelectorAll('.entry').length === 500")
    assert entries_shown(browser) == ids[:500]
    no_complaints(browser)


def test_times():
    """The dialect plain has times in milliseconds, and pi as texts. An entry without one has the time at which it was stored."""
    for dialect, entries in (("plain", [{"id": "n", "type": "user", "content": "number", "timestamp": 1795874326465},
                                        {"id": "none", "type": "user", "content": "none"}]),
                             ("pi", [{"id": "s", "type": "message", "timestamp": "2026-11-28T14:38:46.465Z",
                                      "message": {"role": "user", "content": "text"}}])):
        answer = server().post(f"/projects/demo/sessions/times-{dialect}/entries", {"create": {"dialect": dialect}, "entries": entries})
        assert answer.status == 200, answer
    browser = visit("/ui/#/demo/session/times-plain")
    browser.wait("return document.querySelectorAll('.entry').length === 2")
    stored = [entry["appended_at"] for entry in server().get("/projects/demo/sessions/times-plain/tree").json()["entries"]]
    browser.await_texts(".entry .time", ["13:58:46", stored[1][11:19]])
    title = browser.run("return document.querySelector('.entry .time').title")
    assert title.startswith("2026-11-28 13:58:46.465 UTC, stored " + stored[0][:10]), title
    browser = visit("/ui/#/demo/session/times-pi")
    browser.await_texts(".entry .time", ["14:38:46"])
    no_complaints(browser)


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def put_answers(form, *messages, **more):
    answer = server().post(f"/projects/demo/sessions/answers-{form}/messages", {"format": form, "messages": list(messages), **more})
    assert answer.status == 200, answer


def test_answers_of_models():
    """The model, the tokens and the cost of an answer, its calls with their arguments, the open ones, images, and the tools."""
    tool = {"type": "function", "function": {"name": "read_log", "description": "reads a log", "parameters": {"type": "object"}}}
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "read_log", "arguments": json.dumps({"lines": n})}} for n in (20, 40)]
    put_answers("openai", {"role": "user", "content": [{"type": "text", "text": "Look"},
                                                       {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]},
                {"role": "assistant", "content": None, "tool_calls": calls}, {"role": "tool", "tool_call_id": "c20", "content": "full"},
                tools=[tool], model="gpt-5", usage={"prompt_tokens": 1200, "completion_tokens": 34, "cost": 0.0125})
    put_answers("anthropic", {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]},
                {"role": "assistant", "model": "claude", "content": [{"type": "text", "text": "Seen."}],
                 "usage": {"input_tokens": 5, "cache_read_input_tokens": 10, "output_tokens": 1}})
    browser = visit("/ui/#/demo/session/answers-openai")
    browser.wait("return document.querySelectorAll('.entry').length === 4")
    assert browser.texts(".entry .answer") == ["gpt-5 1,234 tokens, cost 0.0125"], browser.texts(".entry .answer")
    assert browser.texts(".entry .role") == ["settings", "user", "assistant", "result"]
    said = browser.texts(".entry .says")
    assert said[1] == "Look (image)" and said[2] == '→ read_log {"lines": 20}, read_log {"lines": 40}', said
    browser.await_texts(".open-calls .tool", ["read_log"])
    assert "1 open call" in browser.text() and '{"lines": 40}' in browser.texts(".open-calls")[0]
    assert "1,234 tokens, cost 0.0125" in browser.texts(".facts")[0]
    entry = browser.run("return document.querySelectorAll('.entry')[1].dataset.entry")
    for address, place in ((f"answers-openai?entry={entry}", "#panel"), ("answers-openai/", "main")):
        view = "session" if place == "#panel" else "session-context"
        browser = visit(f"/ui/#/demo/{view}/{address.rstrip('/')}")
        shown = f"document.querySelector('{place} img.shown')"
        browser.wait(f"return {shown}?.complete && {shown}.naturalWidth === 1")
        no_complaints(browser)
    browser.run("document.querySelector('[data-part=tools]').open = true")
    assert "reads a log" in browser.texts("[data-part=tools]")[0] and "1 open call" in browser.text()
    browser = visit("/ui/#/demo/session-context/answers-anthropic?format=responses")
    browser.wait("return document.querySelector('main img.shown')?.naturalWidth === 1")
    browser = visit("/ui/#/demo/sessions")
    browser.wait("return document.querySelector('[data-session=answers-anthropic] .usage')")
    assert browser.run("return document.querySelector('[data-session=answers-anthropic] .usage').title") == "15 in, of these 10 cached, 1 out"
    no_complaints(browser)


def test_images_that_are_none():
    """An image with an address is not loaded; what is no image of a known type is named."""
    urls = ["https://evil.example/pixel.gif", "data:image/svg+xml;base64,PHN2Zz4=", "data:image/png;base64,<script>", "javascript:document.pwned=1"]
    put_answers("openai", {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}} for url in urls]}, parent_id=None)
    entry = server().get("/projects/demo/sessions/answers-openai").json()["head_entry_id"]
    browser = visit(f"/ui/#/demo/session/answers-openai?entry={entry}")
    browser.await_text("An image: https://evil.example/pixel.gif")
    assert browser.run("return document.querySelectorAll('#panel img').length") == 0
    assert browser.run("return document.pwned") is None
    no_complaints(browser)


def test_what_a_session_is_called():
    """One with a name shows its id, too; its head, its parent and each entry's whole id are at hand."""
    ids = put_long_session()
    browser = visit("/ui/#/demo/session/long?from=1")
    browser.wait("return document.querySelectorAll('.entry').length === 500")
    assert "A long one" in browser.texts("h1")[0]
    assert browser.texts(".facts .id") == ["long", "0197…00001299"]
    row = f".entry[data-entry='{ids[7]}'] "
    assert browser.texts(row + "> .id") == ["0197…00000007"]
    assert browser.run("return document.querySelector(arguments[0]).title", row + ".id") == ids[7]
    browser.run("navigator.clipboard.writeText = async (text) => { document.copied = text; }")
    width = "return document.querySelector(arguments[0]).getBoundingClientRect().width.toFixed()"
    before = browser.run(width, row + "[data-do=copy]")
    browser.type(row + "[data-do=copy]", ENTER)
    assert browser.wait("return document.copied") == ids[7]
    browser.wait("return document.querySelector(arguments[0]).innerText === 'Copied'", row + "[data-do=copy]")
    assert browser.run(width, row + "[data-do=copy]") == before
    browser.click("[data-do=head]")
    browser.wait("return document.querySelector('.entry[aria-current]')")
    await_in_sight(browser, ".entry[aria-current]")
    browser.await_texts(".entry[aria-current] .badge", ["head"])
    browser.run("window.scrollTo(0, 0)")
    browser.click(".session-tools [data-do=context]")
    browser.await_text("1,299 messages")
    browser = visit("/ui/#/demo/session/of-long")
    browser.wait("return document.querySelector('[data-do=parent]')")
    browser.click("[data-do=parent]")
    browser.wait("return document.querySelector('.facts .id').innerText === 'long'")
    assert browser.run("return location.hash") == "#/demo/session/long"
    no_complaints(browser)


@once
def put_turns():
    """A session without a name: nine turns of a question, a call, its result and an answer; after the sixth, the
    user has also asked something else. The head is the end of the nine."""
    said = []
    def add(identifier, parent, message):
        said.append({"id": identifier, "parentId": parent, "type": "message", "message": message})
        return identifier
    def turn(number, parent, mark=""):
        last = add(f"u{number}{mark}", parent, {"role": "user", "content": f"This is question {number}{mark}. And **more** of it"})
        last = add(f"c{number}{mark}", last, {"role": "assistant", "content": [
            {"type": "toolCall", "id": f"k{number}{mark}", "name": "look", "arguments": {"n": number}}]})
        last = add(f"r{number}{mark}", last, {"role": "toolResult", "toolCallId": f"k{number}{mark}", "content": [
            {"type": "text", "text": f"found {number}{mark}"}]})
        return add(f"a{number}{mark}", last, {"role": "assistant", "content": f"Answer {number}{mark}"})
    last, sixth = None, None
    for number in range(1, 10):
        last = turn(number, last)
        sixth = last if number == 6 else sixth
    turn(7, sixth, "-other")
    for method, path, body in (("PUT", "turns", {"dialect": "pi"}), ("POST", "turns/entries", {"entries": said}),
                               ("PUT", "turns/head", {"entry_id": last})):
        answer = server().request(method, f"/projects/demo/sessions/{path}", json.dumps(body),
                                  {"Content-Type": "application/json"})
        assert answer.status == 200, answer


def marked(browser):
    return browser.wait("return document.querySelector('.entry[aria-current]')?.dataset.entry")


def test_turns():
    """A turn is found by its number; from there one goes to what the model got, to a retry and to where else."""
    put_turns()
    browser = visit("/ui/#/demo/session/turns")
    browser.wait("return document.querySelectorAll('.entry').length === 40")
    assert browser.texts("h1") == ["This is question 1."]
    assert browser.run("return document.title").startswith("This is question 1. · demo")
    browser.wait("return document.querySelectorAll('.turn-links button').length === 9")
    assert browser.texts(".turn-links button") == [str(n) for n in range(1, 10)]
    marks = browser.run("return [...document.querySelectorAll('.entry[data-turn]')].map((one) => "
                        "one.dataset.entry + ' ' + one.querySelector('.turn-mark').innerText)")
    assert [f"u{n} turn {n}" for n in range(1, 10)] + ["u7-other turn 7"] == marks, marks
    browser.click(".turn-links [data-turn='7']")
    assert marked(browser) == "u7"
    await_in_sight(browser, ".entry[aria-current]")
    assert browser.texts(".turn-links [aria-current]") == ["7"]
    elsewhere = browser.run("return document.querySelector('.entry[aria-current] [data-do=elsewhere]').hash")
    assert elsewhere == "#/demo/search?of=u7&in=turns", elsewhere
    browser.click(".entry[aria-current] [data-do=retry]")
    browser.wait("return document.querySelector('dialog[open] [data-do=confirm]')")
    browser.click("[data-do=confirm]")
    browser.wait("return document.querySelector('[data-do=parent]')")
    browser.wait("return document.querySelectorAll('.turn-links button').length === 7")
    assert browser.run("return [...document.querySelectorAll('.entry')].at(-1).dataset.entry") == "u7"
    browser = visit("/ui/#/demo/session/turns?turn=8")
    assert marked(browser) == "u8"
    browser.run("document.activeElement.blur()")
    browser.type("body", "\ue014")  # the arrow to the right
    browser.wait("return document.querySelector('.entry[aria-current]')?.dataset.entry === 'u9'")
    browser.type(".turns [name=turn]", "2" + ENTER)
    browser.wait("return document.querySelector('.entry[aria-current]')?.dataset.entry === 'u2'")
    browser.click(".entry[aria-current] [data-do=context]")
    browser.wait("return document.querySelectorAll('main .cards .card').length === 5")
    visit("/ui/#/demo/session/turns?turn=12").await_text("no turn 12 on the path to the head: it has 9")
    no_complaints(browser)


def test_turns_of_a_long_session():
    """Their numbers are known also where the beginning is not shown."""
    ids = put_long_session()
    browser = visit(f"/ui/#/demo/session/long?at={ids[1015]}")
    browser.wait("return document.querySelector('.turn-links [aria-current]')")
    assert browser.texts(".turn-links [aria-current]") == ["1015"]
    assert browser.texts(".entry[aria-current] .turn-mark") == ["turn 1015"]
    visit("/ui/#/demo/session/long?turn=1200")
    assert marked(browser) == ids[1200] and browser.texts(".turn-links [aria-current]") == ["1200"]
    assert len(browser.texts(".turn-links button")) == 60
    no_complaints(browser)


def test_two_branches():
    put_turns()
    browser = visit("/ui/#/demo/session/turns")
    browser.wait("return document.querySelector('[data-do=branches]')")
    browser.click("[data-do=branches]")
    rows = lambda name: browser.run("return [...document.querySelectorAll(`[data-branch=${arguments[0]}] .entry`)]"
                                    ".map((one) => one.dataset.entry)", name)
    browser.wait("return document.querySelectorAll('.branch').length === 3")
    assert rows("common") == ["a5", "u6", "c6", "r6", "a6"]
    assert rows("a") == [f"{kind}{n}" for n in (7, 8, 9) for kind in "ucra"]
    assert rows("b") == [f"{kind}7-other" for kind in "ucra"]
    tops = lambda: browser.run("return ['a', 'b'].map((name) => "
                               "document.querySelector(`[data-branch=${name}]`).getBoundingClientRect().top)")
    assert tops()[0] == tops()[1], "side by side"
    browser.click("[data-branch=common] .wide")
    browser.wait("return document.querySelectorAll('[data-branch=common] .entry').length === 24")
    assert rows("common")[:5] == ["u1", "c1", "r1", "a1", "u2"] and not browser.texts("[data-branch=common] .wide")
    browser.run("const b = document.querySelector('select[name=b]'); b.value = 'a9'; b.dispatchEvent(new Event('change'))")
    browser.wait("return document.querySelector('[data-branch=b]')?.innerText.includes('It ends there.')")
    assert rows("a") == []
    with browser.narrow():
        visit("/ui/#/demo/session/turns?a=a7-other&b=a9")
        browser.wait("return document.querySelectorAll('.branch').length === 3")
        assert tops()[0] < tops()[1], "below each other"
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    put_session()
    visit("/ui/#/demo/session/evil%20%3Cb%3E?branches=all").await_text("This session has one branch so far")
    visit("/ui/#/demo/session/evil%20%3Cb%3E").wait("return document.querySelector('.entry')")
    assert browser.texts("[data-do=branches]") == []
    visit("/ui/#/demo/session/turns?a=a9&b=nothing").await_text("No such entry")
    assert all("404" in one for one in browser.complaints())


def test_many_entries_of_branches():
    """Those of a long branch come page by page."""
    ids = put_long_session()
    for path, body in (("entries", {"entries": [{"id": "aside", "parentId": ids[9], "type": "message",
                                                 "message": {"role": "user", "content": "aside"}}]}),
                       ("head", {"entry_id": ids[-1]})):
        answer = server().request("POST" if path == "entries" else "PUT", f"/projects/demo/sessions/of-long/{path}",
                                  json.dumps(body), {"Content-Type": "application/json"})
        assert answer.status == 200, answer
    browser = visit("/ui/#/demo/session/of-long?branches=all")
    browser.wait("return document.querySelectorAll('.branch').length === 3")
    rows = "return [...document.querySelectorAll('[data-branch=a] .entry')].map((one) => one.dataset.entry)"
    assert browser.run(rows) == ids[10:110]
    browser.click("[data-branch=a] .wide")
    browser.wait("return document.querySelectorAll('[data-branch=a] .entry').length === 200")
    assert browser.run(rows) == ids[10:210]
    assert "1,290 entries" in browser.texts("[data-branch=a] h2")[0]
    no_complaints(browser)


def test_search_within_a_session():
    """Hits are marked, and each leads to its entry among the others."""
    put_turns()
    path = "/projects/demo/search?q=question+4&session_id=turns"
    cardbox_test.await_(lambda: server().get(path).json()["hits"])
    browser = visit("/ui/#/demo/session/turns")
    browser.wait("return document.querySelector('.in-session [name=q]')")
    browser.type(".in-session [name=q]", "question 4" + ENTER)
    browser.wait("return document.querySelector('[data-hit=u4] mark')")
    assert browser.run("return [...document.querySelectorAll('[data-hit]')].map((one) => one.dataset.hit)") == ["u4"]
    assert browser.texts("[data-hit=u4] mark") == ["question", "4"]
    browser.click("[data-hit=u4] .whole")
    assert marked(browser) == "u4" and browser.texts(".turn-links [aria-current]") == ["4"]
    browser.run("window.scrollTo(0, 0)")
    browser.click("[data-do=found]")
    browser.wait("return document.querySelector('[data-hit=u4]')")
    browser.click("[data-do=tree]")
    browser.wait("return document.querySelectorAll('.entry').length === 40")
    visit("/ui/#/demo/session/turns?q=nothingofthis").await_text("No entry of this session has all of these words.")
    no_complaints(browser)


def test_sessions_when_narrow():
    """No row of a tree stands out of the page, and no word of it in another."""
    put_session()
    browser = page()
    with browser.narrow():
        visit("/ui/#/demo/session/tree")
        browser.await_text("the long log")
        assert browser.run("return document.getElementById('project').value") == "demo"
        out = browser.run(
            "return [...document.querySelectorAll('.entry')].filter((row) => "
            "row.scrollWidth > row.clientWidth || [...row.children].some((one) => "
            "one.getBoundingClientRect().right > innerWidth)).map((row) => row.innerText)")
        assert out == [], out
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")


def test_folding_branches():
    """By keyboard, which stays where it is; what is below is counted, and comes back."""
    put_session()
    browser = visit("/ui/#/demo/session/tree")
    browser.wait("return document.querySelectorAll('.entry').length === 6")
    assert entries_shown(browser) == ["a", "b", "r", "c", "l", "m"]
    browser.await_texts("[data-do=fold]", ["▾", "▾"])
    for entry, shown, words in (("c", ["a", "b", "r", "c"], "▸ 2 more"), ("b", ["a", "b", "c"], "▸ 1 more"),
                                ("c", ["a", "b", "c", "l", "m"], "▾")):
        button = f".entry[data-entry='{entry}'] [data-do=fold]"
        browser.type(button, ENTER)
        browser.await_texts(button, [words])
        assert entries_shown(browser) == shown
        assert browser.run("return document.activeElement === document.querySelector(arguments[0])", button)
    no_complaints(browser)


def test_context_with_a_large_image():
    """The largest that a model's API takes."""
    image = {"type": "image", "data": "A" * (7 << 20), "mimeType": "image/png"}
    answer = server().post("/projects/demo/sessions/image/entries", {"create": {"dialect": "plain"}, "entries": [
        {"type": "user", "id": "shot", "content": [{"type": "text", "text": "What is this?"}, image]}]})
    assert answer.status == 200, answer
    browser = visit("/ui/#/demo/session-context/image")
    browser.wait("return document.querySelector('main img.shown')?.src.length > 7 << 20")
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
    assert "the project demo gets from the session tree the entries up to b, and then your message, if" in asked, asked
    browser.click("[data-do=confirm]")
    browser.wait("return document.querySelector('[data-do=parent]')")
    made = browser.run("return decodeURIComponent(location.hash)").rsplit("/", 1)[1].split("?")[0]
    assert not browser.texts("[data-fact=next]"), "nobody waits for an answer"
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


def test_retrying_a_turn_with_another_message():
    """The message replaces that of the turn, whose text can be edited; the new session says what comes next."""
    put_session()
    browser = visit("/ui/#/demo/session/tree")
    fork = ".entry[data-entry='c'] [data-do=retry]"
    browser.wait("return document.querySelector(arguments[0])", fork)
    browser.type(fork, ENTER)
    browser.wait("return document.querySelector('dialog[open] textarea')")
    assert browser.run("return document.querySelector('dialog textarea').value") == "another way"
    assert "the entries before c, and then the message below" in browser.texts("dialog[open] p")[0]
    assert browser.texts("dialog[open] [data-fact=next]")[0].startswith("CardBox calls no model: your agent reads")
    browser.run("document.querySelector('dialog textarea').value = 'another question'")
    browser.click("[data-do=confirm]")
    browser.wait("return document.querySelector('[data-do=parent]')")
    browser.await_text("another question")
    browser.await_text("your agent reads What a model gets and appends the answer to this session.")
    made = browser.run("return decodeURIComponent(location.hash)").rsplit("/", 1)[1].split("?")[0]
    messages = server().get(f"/projects/demo/sessions/{made}/context?format=openai").json()["messages"]
    replaced = server().get("/projects/demo/sessions/tree/context?format=openai&leaf=c").json()["messages"]
    assert messages == [*replaced[:-1], {"role": "user", "content": "another question"}], messages
    browser.click("[data-fact=next] a")
    browser.wait("return [...document.querySelectorAll('[data-message]')].at(-1)?.innerText.includes('another question')")
    no_complaints(browser)


def test_retrying_the_first_message():
    """The message of a new session replaces it, in both dialects. An unchanged message is kept."""
    put_session()
    first = {"id": "first", "type": "user", "content": "old"}
    answer = server().post("/projects/demo/sessions/first-plain/entries", {"create": {"dialect": "plain"}, "entries": [
        first, {"id": "second", "type": "assistant", "content": "an answer"}]})
    assert answer.status == 200, answer
    browser = visit("/ui/")
    for session, entry, old in (("first-plain", "first", "old"), ("tree", "a", "the question")):
        for new in ("new", old):
            visit(f"/ui/#/demo/session/{session}")
            retry = f".entry[data-entry='{entry}'] [data-do=retry]"
            browser.wait("return document.querySelector(arguments[0])", retry)
            browser.type(retry, ENTER)
            browser.wait("return document.querySelector('dialog[open] textarea')?.value === arguments[0]", old)
            assert f"gets from the session {session} only the message below, which you can change" in browser.texts("dialog[open] p")[0]
            browser.run("document.querySelector('dialog textarea').value = arguments[0]", new)
            browser.click("[data-do=confirm]")
            browser.wait("return location.hash.includes('made=retry') && document.querySelectorAll('.entry').length === 1")
            made = browser.run("return decodeURIComponent(location.hash)").rsplit("/", 1)[1].split("?")[0]
            messages = server().get(f"/projects/demo/sessions/{made}/context?format=openai").json()["messages"]
            assert messages == [{"role": "user", "content": new}], messages
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


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""The inspector's boxes: the list, the timeline of versions, cards, what a model gets of a box, and forks."""

import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints
from web_data import (BOX, EVIL_BOX, HOLED_BOX, HOSTILE, HUGE_BOX, LONG_BOX, await_version, box, check_inert,
                      hostile_cards, ids_shown, press_now, rows, server, visit)


def test_inspector_shows_boxes():
    browser = visit("/ui/")
    browser.type("#project", "demo\n")
    browser.await_text("Newest work")
    browser.click("#to-boxes")
    browser.wait("return document.title === 'Boxes · demo · CardBox' && document.querySelectorAll('.row').length >= 5")
    second = browser.texts("[data-box='01970000-0000-7000-8000-000000000002']")[0]
    assert ", a fork of 0197…00000001, " in second, second
    row = browser.texts(f"[data-box='{BOX}']")[0]
    assert row.startswith("The nightly backup of the orders database failed") and "7 cards" in row, row
    browser.click(f"[data-box='{BOX}'] .whole")
    await_version(browser, "Version 5 of 5 (now)")
    assert browser.texts("header.top [aria-current]") == ["Boxes"]
    browser.open("about:blank")
    browser.open(f"http://127.0.0.1:{server().port}/ui/")
    browser.await_text("Newest work")  # the project is remembered
    browser.click("#project")
    browser.type("#project", "many\n")  # what is typed takes its place
    browser.wait("return location.hash === '#/many'")
    browser.await_text("60 boxes")
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


def test_messages_of_apis():
    """Their texts, thinking and calls are shown as those of other cards, and a call is paired with its result."""
    post = lambda path, value: server().post("/projects/demo/" + path, value)
    said = {"m-ask": ("openai", {"role": "user", "content": [{"type": "text", "text": "Is all *well*?"}]}),
            "m-call": ("openai", {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look_around", "arguments": '{"at": "db"}'}}]}),
            "m-seen": ("openai", {"role": "tool", "tool_call_id": "c1", "content": "it *is*"}),
            "m-said": ("anthropic", {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "S"},
                                                                      {"type": "text", "text": "It is."},
                                                                      {"type": "tool_use", "id": "t", "name": "rest", "input": {}}]})}
    post("cards", {"cards": [{"card_id": name, "content": {"__type__": "MessageContent", "format": form, "message": message}}
                             for name, (form, message) in said.items()]})
    made = post("boxes", {"card_ids": list(said)}).json()["box_id"]
    browser = visit(box(made))
    await_version(browser, "Version 1 of 1")
    assert browser.texts(".card .content") == ["Is all well?\n\nAs text", "", "it *is*", "thinking\n\nIt is.\n\nrest t\n{}"]
    assert browser.texts(".pair") == ["call #1", "answers call #1"] and "look_around" in browser.text()
    assert browser.texts(".card .role") == ["user", "assistant", "tool", "assistant"]
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


def test_versions_that_are_none():
    """An address may name anything: the box is then shown as it is now."""
    for version in ("2.5", "-1", "0", "1e9", "abc"):
        browser = visit(box(BOX, version=version))
        await_version(browser, "Version 5 of 5")
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
    assert "a call without a result got one: demo…" in browser.text(), browser.text()
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


def test_forking():
    browser = visit(box(BOX, version=3))
    await_version(browser, "Version 3 of 5")
    browser.run("window.asked = []; const ask = fetch; window.fetch = async (url, how) => {"
                "const one = [how.headers['Cardbox-Lsn'], null]; asked.push(one); const answer = await ask(url, how);"
                "one[1] = answer.headers.get('Cardbox-Lsn');"
                "if (one[1] && !window.fork) [window.fork, window.asked] = [one, []]; return answer; }")
    browser.click("[data-do=fork]")
    browser.wait("return document.querySelector('dialog[open] [data-do=confirm]')")
    browser.click("[data-do=confirm]")
    await_version(browser, "Version 1 of 1 (now): forked with 5 cards")
    (before, place), reads = browser.run("return [fork, asked]")  # the reads that began after it was answered
    assert before is None and place and reads, reads
    assert all(given == place and there is None for given, there in reads), reads  # a standby must be as far
    assert browser.run("return document.querySelector('.facts a bdi').title") == BOX
    made = browser.run("return location.hash").rsplit("/", 1)[1]
    assert made != BOX
    stored = server().get(f"/projects/demo/boxes/{made}").json()
    assert stored["parent_ids"] == [BOX] and len(stored["card_ids"]) == 5, stored
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


def test_a_long_box():
    browser = visit(box(LONG_BOX))
    await_version(browser, "Version 1 of 1")
    assert len(ids_shown(browser)) == 60 and ids_shown(browser)[-1] == "demo-013-thought"
    browser.click("button.wide")
    browser.wait("return document.querySelectorAll('main .cards > .card').length === 180")
    no_complaints(browser)


def test_back():
    """Back shows the card that was in sight, and the version from which one jumped."""
    browser = visit(box(LONG_BOX))
    await_version(browser, "Version 1 of 1")
    top = "return Math.round(document.querySelector('[data-card=demo-270]').getBoundingClientRect().top)"
    browser.run("scrollTo(0, 0); document.querySelector('[data-card=demo-270]').scrollIntoView({ block: 'center' })")
    before = browser.run(top)
    browser.click("[data-do=context]")
    browser.wait("return document.body.dataset.view === 'context'")
    browser.run("history.back()")
    browser.wait(f"return document.querySelector('[data-card=demo-270]') && (() => {{ {top} }})() === arguments[0]", before)
    browser = visit(box(BOX))
    await_version(browser, "Version 5 of 5")
    browser.run("document.querySelector('[data-card=demo-007-result] footer button').click()")
    await_version(browser, "Version 2 of 5")
    browser.run("history.back()")
    await_version(browser, "Version 5 of 5")
    no_complaints(browser)


def test_where_else():
    """Where the words of a card are, and which boxes hold the card."""
    browser = visit(box(BOX, version=2))
    await_version(browser, "Version 2 of 5")
    browser.run("document.querySelector('[data-card=demo-006-call] [data-do=elsewhere]').click()")
    browser.wait(f"return document.querySelector('[data-part=boxes] [data-box=\"{BOX}\"]')")
    browser.wait("return document.querySelector('main .rows:last-child').childElementCount > 0")
    browser.click("[data-part=boxes] h2 a")
    browser.wait("return document.body.dataset.view === 'card'")
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


def test_the_context_of_a_huge_box():
    """Of a box that is too long for a context, the last cards are shown."""
    browser = visit(box(HUGE_BOX).replace("/box/", "/context/"))
    browser.await_text("of the last 2000 cards")
    assert browser.wait("return document.querySelectorAll('main .cards .card').length") > 10
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


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

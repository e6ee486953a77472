#!/usr/bin/env python3
"""The inspector's sessions: the list, the tree of one session, its entries, and forks."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints, page
from web_data import (ENTER, ESCAPE, HOSTILE, entries_shown, in_sight, put_long_session, put_session, rows,
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
    assert browser.texts("[data-do=fold]") == ["▾", "▾"]
    for entry, shown, words in (("c", ["a", "b", "r", "c"], "▸ 2 more"), ("b", ["a", "b", "c"], "▸ 1 more"),
                                ("c", ["a", "b", "c", "l", "m"], "▾")):
        button = f".entry[data-entry='{entry}'] [data-do=fold]"
        browser.type(button, ENTER)
        assert entries_shown(browser) == shown and browser.texts(button) == [words]
        assert browser.run("return document.activeElement === document.querySelector(arguments[0])", button)
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


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

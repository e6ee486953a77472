#!/usr/bin/env python3
"""The pages /ui/ and /docs in a browser: projects, lists, addresses, tokens, and the API's document."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints, page
from cardbox_test import Postgres, Server
from web_data import BOX, ENTER, LONG_BOX, SAMPLE, await_version, box, ids_shown, server, visit


def test_projects_are_offered():
    """To whoever may see all of them; else one types a name, which nothing is in the way of."""
    browser = visit("/ui/")
    browser.wait("return document.querySelectorAll('.projects .row').length >= 2")
    shown = browser.texts(".projects .row")
    demo = next(at for at, one in enumerate(shown) if one.startswith("demo\n"))
    listed = {one["project_id"]: one for one in server().get("/projects").json()["projects"]}
    assert f"{listed['demo']['boxes']} boxes" in shown[demo], shown
    assert listed["many"]["capped"] or f"{listed['many']['cards']:,} cards" in "".join(shown), shown
    browser.run("document.querySelectorAll('.projects .row a')[arguments[0]].click()", demo)
    browser.await_text("Newest work")
    assert browser.run("return location.hash") == "#/demo"
    browser.run("localStorage.clear()")
    no_complaints(browser)


def suggested(browser):
    return browser.run("return [...document.querySelectorAll('#projects option')].map((one) => one.value)")


def test_projects_are_suggested():
    """The field suggests all projects. The link to their list is visible at every width."""
    server().request("PUT", "/projects/never-opened/sessions/one", b'{"dialect":"plain"}', {"Content-Type": "application/json"})
    browser = visit("/ui/#/demo")
    browser.await_text("Newest work")
    browser.run("document.querySelector('#project').focus()")
    browser.wait("return document.querySelector('#projects option[value=never-opened]')")
    assert {"demo", "many"} <= set(suggested(browser)) and len(set(suggested(browser))) == len(suggested(browser))
    for width in (1400, 1000, 400):
        with browser.narrow(width):
            seen = browser.run("const at = document.querySelector('#to-projects').getBoundingClientRect();"
                               "return document.elementFromPoint(at.left + 2, at.top + at.height / 2)?.id")
            assert seen == "to-projects", (width, seen)
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), width
    browser.click("#to-projects")
    browser.await_text("Which project?")
    browser.wait("return [...document.querySelectorAll('.projects .row')].some((one) => one.innerText.startsWith('never-opened'))")
    browser.run("localStorage.clear()")
    no_complaints(browser)


def test_many_projects():
    """The list of projects has pages."""
    for number in range(101):
        server().request("PUT", f"/projects/of-many-{number}/sessions/one", b'{"dialect":"plain"}', {"Content-Type": "application/json"})
    browser = visit("/ui/")
    browser.wait("return document.querySelectorAll('.projects .row').length === 100")
    browser.click(".projects .wide")
    browser.wait("return document.querySelectorAll('.projects .row').length > 101 && !document.querySelector('.projects .wide')")
    browser.run("document.querySelector('#project').focus()")
    browser.wait("return document.querySelectorAll('#projects option').length > 101")
    no_complaints(browser)


def test_no_frame_around_the_page():
    """The main part gets the focus, so that keys work, and looks as before."""
    browser = visit("/ui/#/demo")
    browser.await_text("Newest work")
    browser.type("body", "/")
    browser.type(":focus", "\ue00c")  # Escape
    focus = browser.run("const main = document.querySelector('main');"
                        "return [document.activeElement === main, getComputedStyle(main).outlineStyle]")
    assert focus == [True, "none"], focus
    browser = visit("/docs")
    browser.wait("return document.querySelector('.operation')")
    browser.run("document.querySelector('.skip').focus(); document.querySelector('.skip').click()")
    assert browser.run("return getComputedStyle(document.querySelector('main')).outlineStyle") == "none"
    no_complaints(browser)


def test_ages_grow():
    browser = visit("/ui/#/demo")
    browser.await_text("Newest work")
    browser.run("const real = Date.now; Date.now = () => real() + 3 * 3600_000")
    browser.wait("const all = [...document.querySelectorAll('main time')];"
                 "return all.some((one) => one.innerText.endsWith(' h ago'))")
    no_complaints(browser)


def test_a_project_without_boxes():
    server().request("PUT", "/projects/talks/sessions/one", b'{"dialect":"plain"}', {"Content-Type": "application/json"})
    browser = visit("/ui/#/talks")
    browser.wait("return document.querySelector('[data-session=one]')")
    browser.click("#to-boxes")
    browser.await_text("No boxes")
    browser.run("localStorage.clear()")
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
    browser.wait("return document.querySelectorAll('.projects .row').length >= 2")
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


def test_cards_by_their_members():
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
    for view, selector in (("boxes", "main .row"), ("cards", "main .card")):
        browser.run("location.hash = '#/many/' + arguments[0]", view)
        browser.wait("return document.querySelectorAll(arguments[0]).length === 50", selector)
        browser.run("document.querySelector(arguments[0]).parentNode.querySelector('.wide').click()",
                    selector)
        browser.wait("return document.querySelectorAll(arguments[0]).length === 60", selector)
        parent = "document.querySelector(arguments[0]).parentNode"
        assert browser.run(f"return {parent}.querySelector('.wide')", selector) is None
    assert len(set(ids_shown(browser))) == 60
    no_complaints(browser)


def test_long_texts():
    """A card may hold 64 MiB: of text in lines, what is 24 is read."""
    browser = visit("/ui/")
    script = "return import('./json.js').then(({ parse }) => parse(JSON.stringify('a line\\n'.repeat(arguments[0]))).length)"
    assert browser.run(script, 3 << 20) == 7 * (3 << 20)


def test_what_is_not_there():
    browser = visit(box("01970000-0000-7000-8000-00000000dead"))
    browser.await_text("No such box")
    visit("/ui/#/demo/card/nothing").await_text("No such card")
    visit("/ui/#/nobody-s-project").await_text("This project has nothing yet")
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
    browser.await_text("This server asks for a token")
    browser.click(".projects .notice button")
    browser.type("#token", json.loads(made.stdout)["token"] + "\n")
    browser.wait("return document.querySelectorAll('.projects .row').length === 1")
    browser.click(".projects .row a")
    browser.wait("return document.querySelectorAll('[data-box]').length >= 3")
    assert browser.run("return [document.cookie, JSON.stringify(localStorage)].join()."
                       "includes(sessionStorage.getItem('cardbox.token'))") is False
    assert "Token ✓" in browser.text()
    browser.click("[data-box] .whole")
    await_version(browser, "Version 1 of 1")
    browser.click("[data-do=fork]")
    browser.click("[data-do=confirm]")
    browser.wait("return document.querySelector('dialog[open] .failure')?.innerText")
    browser.complaints()  # the 401s and the 403 are logged
    guarded.stop()


def lay_out(browser, how):
    """`visible`: all operations have a layout at once, which is faster than one after the other. `auto`: as in the page."""
    browser.run("for (const one of document.querySelectorAll('.operation')) one.style.contentVisibility = arguments[0]", how)


def test_docs():
    browser = visit("/docs")
    browser.await_text("/projects/{project_id}/boxes/{box_id}/cards")
    operations = server().get("/openapi.json").json()["paths"]
    count = sum(method in ("get", "put", "post", "delete") for item in operations.values()
                for method in item)
    texts = browser.run("return [...document.querySelectorAll('.operation')].map((one) => one.textContent)")
    assert len(texts) == count
    assert not any("undefined" in text or "[object" in text for text in texts)
    browser.run("for (const one of [...document.querySelectorAll('.operation')].slice(0, 12))"  # all take seconds
                "  for (const part of one.querySelectorAll('details')) part.open = true")
    assert "agent.thought" in browser.run("return document.querySelector('#getCard').textContent")
    forms = browser.run("return document.querySelector('#addCards .media').textContent")
    assert "Either NewCardAlone" in forms and "or NewCards" in forms, forms
    browser.wait("return document.querySelectorAll('article table table').length > 10")
    lay_out(browser, "visible")
    narrow = browser.run("return [...document.querySelectorAll('article tr > *')].filter((one) => "
                         "one.checkVisibility() && one.clientWidth < 150).map((one) => one.closest('tr').innerText)")
    assert narrow == [], narrow[:3]
    lay_out(browser, "auto")
    starts = browser.run("return [...new Set([...document.querySelectorAll('#contents a > :last-child')]"
                         ".map((one) => one.getBoundingClientRect().left))]")
    assert len(starts) == 1, starts
    in_sight = "const top = document.querySelector(':target')?.getBoundingClientRect().top; return top >= 0 && top < 100"
    for words, operation in (("append", "appendToBox"), ("append session", "appendToSession"), ("session:append", "sessionAppend"),
                             ("create box", "createBox"), ("getcard", "getCard"), ("fork", "forkBox"), ("tree", "listSessionTree")):
        browser.run("const field = document.querySelector('#filter'); field.value = arguments[0];"
                    "field.dispatchEvent(new Event('input'))", words)
        browser.type("#filter", ENTER)
        browser.wait("return location.hash === arguments[0]", f"#{operation}")
        browser.wait(in_sight)
        assert browser.run("return document.querySelector('#contents [aria-current]').hash") == f"#{operation}"
    browser.run("document.querySelector('#filter').value = ''")
    visit("/docs#moveSessionHead").wait(in_sight)
    browser.type("#filter", "hydrate missing_box_ids")
    browser.wait("return document.querySelectorAll('.operation:not([hidden])').length === 1")
    assert browser.texts("#found") == ["1 found"]
    browser.type("#filter", "\ue00c")  # Escape
    browser.wait("return !document.querySelector('.operation[hidden]')")
    assert len(browser.texts("#contents .step")) > 2 * count
    lay_out(browser, "visible")
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

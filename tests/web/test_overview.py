#!/usr/bin/env python3
"""The inspector's overview of a project, its search, its keyboard, and the programs that write a first entry."""

import json
import os
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import client_test
from browser import no_complaints
from cardbox_test import Postgres, once
from demo import put_demo
from web_data import ESCAPE, HOSTILE, dsn, put_session, server, visit


def ask(ability, **value):
    answer = server().post(f"/projects/demo/abilities/{ability}", value)
    assert answer.status == 200, answer
    return answer.json()


def press(browser, key):
    browser.run("(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', "
                "{ key: arguments[0], bubbles: true, cancelable: true }))", key)


def focused(browser):
    return browser.run("return document.activeElement.innerText")


# --- the overview ---


@once
def put_work():
    put_session()
    said = {"role": "user", "content": "Why is it slow? I have no idea."}
    failed = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "overloaded"}
    for method, path, body in (("PUT", "unnamed", {"dialect": "pi"}), ("POST", "unnamed/entries", {"entries": [
            {"id": "a", "type": "message", "message": said}, {"id": "b", "type": "message", "message": failed}]})):
        answer = server().request(method, f"/projects/demo/sessions/{path}", json.dumps(body), {"Content-Type": "application/json"})
        assert answer.status == 200, answer
    answer = server().post("/projects/demo/sessions/quoted/entries", {
        "create": {"dialect": "plain"}, "entries": [{"type": "user", "content": "Why does it print (error) twice?"}]})
    assert answer.status == 200, answer
    task = ask("task:spawn", goal="Mend the backups. They are broken.", systemPrompt="You mend.")["taskId"]
    Postgres.shared().psql(dsn(), "UPDATE cardbox.tasks SET completion_status = 'failed: too often', wake_at = NULL"
                           f" WHERE task_id = '{task}'")
    return task


def test_overview():
    """What there is, what failed, and the newest work by what it says, with few requests."""
    task = put_work()
    browser = visit("/ui/#/demo")
    browser.await_text("Newest work")
    assert browser.run("return document.title") == "demo · CardBox"
    assert browser.texts("header.top [aria-current]") == ["Overview"]
    counts = server().get("/projects/demo").json()
    assert browser.texts("[data-count=boxes]") == [f"{counts['boxes']} boxes"]
    assert "1 failed" in browser.texts("[data-count=tasks]")[0]
    assert browser.texts("[data-part=Failed] .whole") == ["Mend the backups."]
    shown = browser.texts("[data-part=Failed] .row")[0]
    assert "failed" in shown and "too often" in shown, shown
    session = browser.texts("[data-session=unnamed]")[0]
    assert session.startswith("Why is it slow?\n") and "assistant: (error) overloaded" in session, session
    assert browser.texts("[data-session=unnamed] .badge.bad") == ["error"]
    assert browser.texts("[data-session=quoted] .last") == ["user: Why does it print (error) twice?"]
    kinds = browser.texts("[data-part='Newest work'] .kind")
    assert {"session", "task", "box"} == set(kinds), kinds
    asked = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)"
                        ".filter((name) => name.includes('/projects/'))")
    assert len(asked) == 7, asked
    browser.run("document.querySelector(arguments[0]).click()", f"[data-part=Failed] [data-task='{task}'] .whole")
    browser.wait("return location.hash === arguments[0]", f"#/demo/task/{task}")
    no_complaints(browser)


def test_rows():
    """All of a row is its link; its actions are seen by whoever points at it or has the focus in it."""
    put_work()
    browser = visit("/ui/#/demo/boxes")
    browser.wait("return document.querySelectorAll('.row').length > 3")
    seen = "return getComputedStyle(document.querySelector('.row .actions')).opacity"
    points = browser.run("return matchMedia('(hover: hover)').matches")  # a browser without a mouse shows them
    assert browser.run(seen) == ("0" if points else "1")
    browser.run("document.querySelector('.row .whole').focus()")
    assert browser.run(seen) == "1"
    browser.run("navigator.clipboard.writeText = async (text) => { document.copied = text; };"
                "document.querySelector('.row [data-do=copy]').click()")
    assert browser.wait("return document.copied") == browser.run("return document.querySelector('.row').dataset.box")
    middle = browser.run("const at = document.querySelectorAll('.row')[2].getBoundingClientRect();"
                         "const one = document.elementFromPoint(at.left + at.width / 2, at.bottom - 3); one.click();"
                         "return document.querySelectorAll('.row')[2].dataset.box")
    browser.wait("return location.hash === arguments[0]", f"#/demo/box/{middle}")
    browser.wait("return document.querySelector('.timeline')")
    no_complaints(browser)


# --- the keyboard ---


def test_keyboard():
    put_work()
    browser = visit("/ui/#/demo")
    browser.await_text("Newest work")
    names = browser.texts("main .row .whole")
    press(browser, "j")
    assert focused(browser) == names[0]
    for key, wanted in (("j", names[1]), ("j", names[2]), ("k", names[1])):
        press(browser, key)
        assert focused(browser) == wanted, (key, focused(browser))
    press(browser, "?")
    browser.wait("return document.querySelector('#help-dialog[open]')")
    assert {"j", "k", "/", "?"} <= set(browser.texts("#help-dialog kbd")), browser.texts("#help-dialog kbd")
    browser.type("#help-dialog button", ESCAPE)
    browser.wait("return !document.querySelector('dialog[open]')")
    press(browser, "/")
    assert browser.run("return document.activeElement.id") == "search"
    press(browser, "j")  # a letter of what is typed
    assert browser.run("return document.activeElement.id") == "search"
    browser.type("#search", ESCAPE)
    assert browser.run("return document.activeElement.id") == "main"
    press(browser, "j")
    hash_before = browser.run("return location.hash")
    press(browser, "o")
    browser.wait("return location.hash !== arguments[0]", hash_before)
    browser = visit("/ui/#/demo/cards")
    browser.wait("return document.querySelectorAll('main .card').length > 3")
    press(browser, "j")
    press(browser, "j")
    assert browser.run("return document.activeElement === document.querySelectorAll('main .card')[1]")
    no_complaints(browser)


# --- search ---


HITS = [{"kind": "entry", "id": "b", "session_id": "tree", "created_at": "2026-01-02T03:04:05Z", "role": "assistant",
         "snippet": "a \U0001f600 backup of the backup", "offsets": [[4, 10], [18, 24]]},
        {"kind": "message", "id": "m 1", "task_id": "t/1", "created_at": "2026-01-02T03:04:05Z", "snippet": HOSTILE[0],
         "offsets": [[0, 7]]},
        {"kind": "card", "id": "demo-007-result", "created_at": "2026-01-02T03:04:05Z", "type": HOSTILE[1],
         "snippet": HOSTILE[8], "offsets": []}]


def test_search():
    """From any page; hits are marked where they match, and lead to where it was said."""
    put_work()
    browser = visit("/ui/#/demo/boxes")
    browser.wait("return document.querySelectorAll('.row').length > 3")
    browser.run("window.asked = []; window.real = fetch; window.fetch = async (url, how) => {"
                "  if (!url.pathname.endsWith('/search')) return real(url, how);"
                "  asked.push(Object.fromEntries(url.searchParams));"
                "  const hits = url.searchParams.has('cursor') ? arguments_[0].slice(2) : arguments_[0].slice(0, 2);"
                "  return new Response(JSON.stringify({ hits, cursor: url.searchParams.has('cursor') ? null : 'next' })); };"
                "window.arguments_ = arguments", HITS)
    browser.type("#search", "backup logs\n")
    browser.wait("return document.querySelectorAll('[data-hit]').length === 2")
    assert browser.run("return location.hash") == "#/demo/search?q=backup+logs"
    assert browser.run("return document.title") == "Search: backup logs · demo · CardBox"
    assert browser.texts("[data-hit=b] mark") == ["backup", "backup"]
    assert browser.texts("[data-hit=b] .whole") == [HITS[0]["snippet"]]
    browser.click("main button.wide")
    browser.wait("return document.querySelectorAll('[data-hit]').length === 3")
    links = browser.run("return [...document.querySelectorAll('[data-hit] .whole')].map((one) => one.hash)")
    assert links == ["#/demo/session/tree?at=b", "#/demo/task/t%2F1?at=m+1", "#/demo/card/demo-007-result"], links
    check_inert_texts(browser)
    browser.click("[data-kind=entry]")
    browser.wait("return asked.at(-1).kind === 'entry'")
    browser.click("main summary")
    browser.type("[name=created_after]", "2026-11-27\n")
    browser.wait("return asked.at(-1).created_after === '2026-11-27T00:00:00Z'")
    browser.wait("return document.querySelectorAll('[data-hit]').length === 2")
    browser.run("document.querySelector('[name=created_after]').value = ''")
    browser.type("[name=role]", "assistant\n")
    browser.wait("return asked.at(-1).role === 'assistant'")
    assert browser.run("return asked.at(-1)") == {"q": "backup logs", "kind": "entry", "role": "assistant"}
    browser.wait("return document.querySelectorAll('[data-hit]').length === 2")
    browser.run("window.fetch = window.real; document.querySelector('[data-hit=b] .whole').click()")
    browser.wait("return document.querySelector('.entry[aria-current]')")
    assert browser.run("return document.querySelector('#search').value") == ""
    no_complaints(browser)


def links_elsewhere(browser, address):
    """The addresses behind "Where else" on a page, and the messages that have none."""
    browser.run("document.querySelector('main').replaceChildren(); location.hash = arguments[0]", address)
    browser.wait("return document.querySelector('main [data-do=elsewhere]') && !document.querySelector('main[aria-busy]')")
    return browser.run("const all = [...document.querySelectorAll('main :is(.card, .entry)')];"
                       "const linkOf = (one) => one.querySelector('[data-do=elsewhere]')?.hash;"
                       "return [all.map(linkOf).filter(Boolean), all.filter((one) => !linkOf(one)).map((one) => one.innerText)]")


DEMO_BOXES = [f"01970000-0000-7000-8000-00000000000{n}" for n in (1, 4)]
DEMO_PAGES = [f"#/shop/{page}" for page in [
    *(f"box/{box}" for box in DEMO_BOXES), *(f"context/{box}" for box in DEMO_BOXES),
    f"context/{DEMO_BOXES[0]}?format=anthropic",
    *(f"{view}/{session}" for view in ("session", "session-context") for session in ("demo-session", "demo-session-plain")),
    "session-context/demo-session?format=anthropic", "task/demo-task-done"]]


def put_in_shop(ability, value):
    answer = server().post(f"/projects/shop/abilities/{ability}", value)
    assert answer.status == 200, (ability, answer)


@once
def put_shop():
    put_demo(put_in_shop)


def test_where_else_finds_the_message():
    """The words of each message find at least the message, wherever it is shown."""
    put_shop()
    put_in_shop("card:add", {"card_id": "last", "content": "zygote"})
    await_hit("shop", "zygote")  # all before it is indexed too
    browser = visit("/ui/#/shop/boxes")
    browser.wait("return document.querySelectorAll('.row').length > 3")
    links = set()
    for address in DEMO_PAGES:
        found, without = links_elsewhere(browser, address)
        links |= set(found)
        assert len(found) > len(without) // 2, (address, without)
    assert len(links) > 60, len(links)
    lost = []
    for address in sorted(links):
        browser.run("document.querySelector('main').replaceChildren(); location.hash = arguments[0]", address)
        ready = "document.querySelector('[data-itself]') || document.querySelector('main [data-part=hits] .notice')"
        browser.wait(f"const more = document.querySelector('[data-part=hits] button.wide:enabled'); if ({ready}) return true;"
                     "more?.click(); return false")
        words = browser.texts("h1")[0].removeprefix("Where else: ").split()
        if browser.texts("[data-itself] .badge") != ["this message"] or not 0 < len(words) <= 10:
            lost.append((address, browser.texts("h1")))
    assert not lost, lost
    no_complaints(browser)


def test_a_box_has_one_name():
    """In lists, on its page, in its context, and where the boxes with a card are listed."""
    put_shop()
    box, name = "01970000-0000-7000-8000-000000000002", "Yes: 338 GB are free, and the next dump needs about 250 GB."
    for address, link in (("/ui/#/shop/boxes", f"[data-box='{box}'] a"), (f"/ui/#/shop/box/{box}", "h1 span:not(.faint)"),
                          (f"/ui/#/shop/context/{box}", "h1 a"), ("/ui/#/shop/search?of=demo-039-deliverable", f"[data-box='{box}'] a")):
        browser = visit(address)
        browser.wait("return document.querySelector(arguments[0])?.innerText === arguments[1]", link, name)
        no_complaints(browser)
    assert browser.run("return document.querySelector(arguments[0]).hash", f"[data-box='{box}'] a") == f"#/shop/box/{box}?at=demo-039-deliverable"
    browser.click(f"[data-box='{box}'] a")
    browser.wait("return location.hash.startsWith('#/shop/box/') && document.querySelector('main [data-card=demo-039-deliverable]')")


def test_nowhere_else():
    put_work()
    alone = {"type": "user", "content": [{"type": "text", "text": "Quokkas\nset the \"zymurgy\" C:\\new\\table 备份每天都失败了吗 today."}]}
    mark = {"type": "assistant", "content": "", "toolCalls": [{"id": "c", "name": "look", "params": {}}]}
    answer = server().post("/projects/demo/sessions/alone/entries", {"create": {"dialect": "plain"}, "entries": [
        {"id": "one", **alone}, {"id": "two", **mark}]})
    assert answer.status == 200, answer
    await_hit("demo", "zymurgy")
    browser = visit("/ui/#/demo/search?of=one&in=alone")
    browser.await_text("No other text in this project has all of these words.")
    assert browser.texts("[data-itself] .badge") == ["this message"]
    assert browser.run("return document.title").startswith("Where else: Quokkas set the zymurgy 备份每天都失败了 today")
    browser = visit("/ui/#/demo/search?of=two&in=alone")
    browser.await_text("It has no text")
    browser = visit("/ui/#/demo/search?q=demo-nothing-7")
    browser.await_text("Nothing found")
    links = browser.run("return [...document.querySelectorAll('[data-part=ids] a')].map((one) => one.hash)")
    assert links == [f"#/demo/{view}/demo-nothing-7" for view in ("card", "session", "box", "task")], links
    browser = visit("/ui/#/demo/search?q=demo+nothing")
    browser.await_text("Nothing found")
    assert browser.texts("[data-part=ids]") == []
    no_complaints(browser)


def await_hit(project, words):
    """Waits until the server has indexed a text with these words."""
    deadline = time.monotonic() + cardbox_test.WAIT_S
    while not server().get(f"/projects/{project}/search?q={quoted(words)}").json()["hits"]:
        assert time.monotonic() < deadline, words
        time.sleep(0.1)


def check_inert_texts(browser):
    """As check_inert, in a page whose requests are not the browser's own."""
    assert browser.run("return document.pwned") is None
    assert not browser.run("return document.querySelector('main script, main img, main h1#main')")
    assert HOSTILE[0] in browser.text() and HOSTILE[8] in browser.text()


# --- the first entry ---


def programs(browser):
    """The programs that the page of an empty project shows."""
    browser.await_text("This project has nothing yet")
    found = {}
    for at, name in enumerate(browser.texts(".chips .chip")):
        browser.run("document.querySelectorAll('.chips .chip')[arguments[0]].click()", at)
        found[name] = browser.run("return document.querySelector('pre[data-program]').textContent")
    return found


FILES = {"curl": "first.sh", "TypeScript": "first.ts", "Python": "first.py", "C": "first.c"}


def command_of(language, path):
    """The program, ready to run."""
    if language == "TypeScript":
        return ["node", os.path.join(client_test.compile_programs(path), "first.js")]
    if language == "C":
        library, binary = os.path.join(cardbox_test.BUILD, "lib"), path.removesuffix(".c")
        subprocess.run(["cc", "-Wall", "-Werror", "-I", os.path.join(cardbox_test.ROOT, "include"), path, "-o", binary,
                        "-L", library, "-lcardbox", f"-Wl,-rpath,{library}"], check=True)
        return [binary]
    return {"curl": ["sh", path], "Python": [sys.executable, "-B", path]}[language]


def test_first_entry():
    """Each program that is shown writes the entry, and the page shows its session then."""
    for language in FILES:
        yield language, lambda language=language: check_program(language)


def quoted(project):
    return urllib.parse.quote(project, safe="")


def check_program(language):
    project = f"it's \"a\" <b> \\n ü ?? {language}"  # a name that the languages write in different ways
    visit(f"/ui/#/{quoted(project)}/cards").await_text("None in this project so far.")
    browser = visit(f"/ui/#/{quoted(project)}")
    browser.await_text("This project has nothing yet")
    browser.run("[...document.querySelectorAll('.chip')].find((one) => one.innerText === arguments[0]).click()", language)
    path = os.path.join(cardbox_test.temp_dir(), FILES[language])
    with open(path, "w", encoding="utf-8") as out:
        out.write(browser.run("return document.querySelector('pre[data-program]').textContent"))
    done = subprocess.run(command_of(language, path), capture_output=True, text=True, timeout=cardbox_test.WAIT_S,
                          env={**os.environ, "CARDBOX_DSN": dsn(), "PYTHONPATH": client_test.PYTHON_CLIENT})
    context = server().get(f"/projects/{quoted(project)}/sessions/first/context?format=openai")
    assert context.status == 200, (context, done)
    assert context.json()["messages"] == [{"role": "user", "content": "Hello, CardBox."}], (context, done)
    browser.await_text("1 session")  # without being asked
    browser.wait("return document.querySelector('[data-session=first] .whole')?.innerText === 'Hello, CardBox.'")
    no_complaints(browser)


def test_first_lines_are_whole():
    """The programs that an empty project shows are not cut off at the right."""
    browser = visit("/ui/#/empty")
    browser.await_text("For an agent loop of your own, begin with a session:")
    for width in (1400, 400):
        with browser.narrow(width):
            for at in range(len(FILES)):
                browser.run("document.querySelectorAll('.chips .chip')[arguments[0]].click()", at)
                cut = browser.run("const pre = document.querySelector('pre[data-program]'); return pre.scrollWidth - pre.clientWidth")
                assert cut <= 0, (width, at, cut)
    no_complaints(browser)


def test_cards_alone():
    """A project with nothing but a card shows it, and the command that makes a box of it."""
    card = {"card_id": "hello", "type": "task.instruction", "content": {"__type__": "TextContent", "text": "Hello, CardBox."}}
    assert server().post("/projects/alone/cards", card).status == 200
    browser = visit("/ui/#/alone")
    browser.wait("return document.querySelector('[data-card=hello]')?.innerText.includes('Hello, CardBox.')")
    subprocess.run(["sh", "-c", browser.run("return document.querySelector('main pre').textContent")], check=True,
                   capture_output=True, timeout=cardbox_test.WAIT_S)
    browser = visit("/ui/#/alone")
    browser.wait("return document.querySelector('[data-box] .whole')?.innerText === 'Hello, CardBox.'")
    no_complaints(browser)


def test_tokens_by_day():
    """A project whose answers have a usage shows the last days; any other project shows no chart."""
    for tokens in (1000, 500):
        answer = server().post("/projects/tokens/sessions/s/messages", {
            "format": "openai", "messages": {"role": "assistant", "content": "a"}, "usage": {"prompt_tokens": tokens, "completion_tokens": 1}})
        assert answer.status == 200, answer
    browser = visit("/ui/#/tokens")
    browser.wait("return document.querySelectorAll('[data-part=usage] [data-day]').length === 30")
    assert "1,502 tokens in the last 30 days" in browser.text()
    heights = browser.run("return [...document.querySelectorAll('[data-day]')].map((one) => one.offsetHeight)")
    assert sorted(heights)[-2] <= 1 < sorted(heights)[-1], heights
    assert browser.run("return [...document.querySelectorAll('[data-day]')].filter((one) => one.title.includes('1,500 in, 2 out')).length") == 1
    answer = server().post("/projects/no-tokens/sessions/s/messages", {"format": "openai", "messages": {"role": "user", "content": "q"}})
    assert answer.status == 200, answer
    browser = visit("/ui/#/no-tokens")
    browser.await_text("1 session")
    assert browser.run("return document.querySelector('[data-part=usage]')") is None
    no_complaints(browser)


def test_when_narrow():
    put_work()
    browser = visit("/ui/")
    with browser.narrow():
        for address in ("#/demo", "#/demo/boxes", "#/demo/search?q=backup", f"#/{quoted('nothing here')}", "#/"):
            browser.run("document.querySelector('main').replaceChildren(); location.hash = arguments[0]", address)
            browser.wait("return document.querySelector('main :is(.row, .tile, .notice, pre)')")
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), address
    browser.complaints()


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

#!/usr/bin/env python3
"""The inspector's boxes over time: turns, the versions of parents, messages of one's own, requests as commands,
cards that were changed later; and contexts with the cards that they come from."""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints
from web_data import await_version, ids_shown, server, visit

PROJECT = "it's $(touch /tmp/pwned) <b>"  # its name stands in commands
QUOTED = "it's%20%24(touch%20%2Ftmp%2Fpwned)%20%3Cb%3E"
LEFT, RIGHT = "\ue012", "\ue014"  # as WebDriver has the arrows


def send(method, path, body=None, status=200):
    data = None if body is None else json.dumps(body)
    answer = server().request(method, f"/projects/{QUOTED}/{path}", data, {"Content-Type": "application/json"})
    assert answer.status == status, (path, answer)
    return answer.json()


def text(card_id, role, says, turn=None, **more):
    return {"card_id": card_id, "content": {"__type__": "TextContent", "text": says},
            "metadata": {"role": role, **({"agent_turn_id": turn} if turn else {})}, **more}


def make_box(*ids):
    return send("POST", "boxes", {"card_ids": list(ids)})["box_id"]


def append(box, *ids, **more):
    return send("POST", f"boxes/{box}/append", {"card_ids": list(ids), **more})


def fork(box, **at):
    return send("POST", f"boxes/{box}/fork", at)["box_id"]


def show(box, **query):
    more = "&".join(f"{name}={value}" for name, value in query.items())
    return visit(f"/ui/#/{QUOTED}/boxes/{box}" + (f"?{more}" if more else ""))


def turns(count, name="t"):
    """A box with a turn of two cards for each number, and its versions."""
    send("POST", "cards", {"cards": [
        text(f"{name}-{number}-{role}", role, f"{role} {number} of {name}", f"turn {number}")
        for number in range(count) for role in ("user", "assistant")]})
    box = make_box(f"{name}-0-user", f"{name}-0-assistant")
    for number in range(1, count):
        append(box, f"{name}-{number}-user")
        append(box, f"{name}-{number}-assistant")
    return box


def test_turns():
    """The slider says the turn and what is newest. Arrows step, and a list leads to the turns."""
    browser = show(turns(9))
    await_version(browser, "Version 17 of 17 (now): appended 1 card")
    assert browser.texts(".newest") == ["turn 8 · assistant: assistant 8 of t"]
    browser.wait("return document.querySelectorAll('.timeline option').length > 8")
    options = browser.texts(".timeline option")
    assert "turn 7 · v14 · user: user 7 of t" in options and len(options) == 10, options
    browser.run("const all = document.querySelector('.timeline select'); all.value = '14';"
                "all.dispatchEvent(new Event('change'))")
    await_version(browser, "Version 14 of 17")
    assert ids_shown(browser)[-1] == "t-7-user"
    browser.run("document.activeElement.blur()")
    browser.type("body", LEFT)
    await_version(browser, "Version 13 of 17")
    browser.type("body", RIGHT)
    browser.type("body", RIGHT)
    await_version(browser, "Version 15 of 17")
    assert browser.run("return document.querySelectorAll('.mark.begins').length") == 9
    browser.run("document.querySelectorAll('.mark')[2].click()")
    await_version(browser, "Version 3 of 17")
    no_complaints(browser)


def test_parents():
    """The versions of parents stand before those of a fork, also of a fork of a fork."""
    parent = turns(4, "p")
    middle = fork(parent, at_version=4)
    send("POST", "cards", text("own", "user", "my own"))
    append(middle, "own")
    child = fork(middle)
    append(parent, "own")  # after the fork: not part of its history
    browser = show(child)
    browser.wait("return document.querySelector('.slider')?.max === '7'")
    await_version(browser, "Version 1 of 1 (now): forked with 6 cards")
    assert browser.texts(".said")[0].endswith("after 6 versions of its parents")
    assert browser.run("return document.querySelectorAll('.mark.parent').length") == 6
    browser.run("document.querySelectorAll('.mark')[3].click()")
    await_version(browser, "Version 4 of 8")
    assert browser.texts("[data-fact=parent]") and ids_shown(browser)[-1] == "p-2-user"
    assert browser.run("return location.hash").endswith(f"?of={parent}&version=4")
    hash_there = browser.run("return location.hash")
    browser = visit("/ui/" + hash_there)  # the address leads there again
    await_version(browser, "Version 4 of 8")
    assert browser.run("return document.querySelector('.slider').value") == "4"
    assert browser.run("return document.querySelector('[data-do=append]').hidden")
    browser.click("[data-do=fork]")
    browser.wait("return document.querySelector('dialog[open]')")
    browser.click("[data-do=confirm]")
    await_version(browser, "Version 1 of 1 (now): forked with 5 cards")
    made = browser.run("return location.hash").rsplit("/", 1)[1]
    assert send("GET", f"boxes/{made}")["parent_ids"] == [parent]
    browser.click("#to-boxes")  # where it stands at once
    browser.wait("return document.querySelector('[data-box]')")
    assert browser.run("return document.querySelector('[data-box]').dataset.box") == made
    no_complaints(browser)


def test_parents_that_changed():
    """The fork's version of the parent is found by its list, if the parent was replaced since; one that is deleted is
    said to be lost, and a fork of a part of a version begins after the versions that it has."""
    parent = turns(3, "r")
    send("PUT", f"boxes/{parent}", {"card_ids": ["r-0-user", "r-1-user", "r-2-user"], "expected_version": 5})
    append(parent, "r-0-user", "r-1-user")
    early = fork(parent, at_version=2)
    browser = show(early)
    browser.wait("return document.querySelector('.slider')?.max === '3'")
    part = fork(parent, at_length=4)
    browser = show(part)
    browser.wait("return document.querySelector('.slider')?.max === '7'")
    lost = fork(part)
    send("DELETE", f"boxes/{parent}")
    browser = show(lost)
    browser.await_text("whose history is not there any more")
    await_version(browser, "Version 1 of 1 (now)")
    assert browser.run("return document.querySelector('.slider').max") == "2"
    complaints = [one for one in browser.complaints() if f"{parent}/log" not in one]  # it is asked for, and is gone
    assert complaints == [], complaints


def write_message(browser, words, role="user"):
    browser.wait("return document.querySelector('dialog[open] textarea')")
    browser.run("document.querySelector('dialog select').value = arguments[0]", role)
    browser.type("dialog textarea", words)
    browser.click("[data-do=confirm]")


def test_append_a_message():
    """It becomes a card at the end. If the box has changed, nothing is appended, and the text is kept."""
    box = turns(2, "a")
    browser = show(box)
    await_version(browser, "Version 3 of 3")
    browser.click("[data-do=append]")
    write_message(browser, "Go <b>on</b>.", "assistant")
    await_version(browser, "Version 4 of 4 (now): appended 1 card")
    newest = send("GET", f"boxes/{box}/cards")[-1]
    assert (newest["content"], newest["metadata"]["role"]) == ({"text": "Go <b>on</b>."}, "assistant"), newest
    assert browser.texts(".newest") == ["assistant: Go <b>on</b>."]
    log = send("GET", f"boxes/{box}/log")["log"]
    assert log[0]["append_key"] == newest["card_id"] and log[0]["added"] == 1
    browser.click("[data-do=append]")
    append(box, "a-0-user")
    write_message(browser, "second")
    browser.await_text("The box has changed from version 4 to 5")
    assert browser.run("return document.querySelector('dialog textarea').value") == "second"
    await_version(browser, "Version 5 of 5 (now)")
    browser.click("[data-do=confirm]")
    await_version(browser, "Version 6 of 6 (now)")
    assert len(send("GET", f"boxes/{box}")["card_ids"]) == 7
    complaints = [one for one in browser.complaints() if "409" not in one]
    assert complaints == [], complaints


def test_retry():
    """A fork with a message has the cards of the version that a mark leads to, and the message."""
    browser = show(turns(9, "y"))
    await_version(browser, "Version 17 of 17")
    browser.wait("return [...document.querySelectorAll('.mark')].some((one) => one.title.includes('turn 7'))")
    browser.run("[...document.querySelectorAll('.mark')].find((one) => one.title.includes('turn 7')).click()")
    await_version(browser, "Version 14 of 17")
    browser.click("[data-do=fork]")
    write_message(browser, "try again")
    await_version(browser, "Version 2 of 2 (now): appended 1 card")
    made = browser.run("return location.hash").rsplit("/", 1)[1]
    ids = send("GET", f"boxes/{made}")["card_ids"]
    assert len(ids) == 16 and ids[-2] == "y-7-user", ids
    browser.wait("return document.querySelector('.slider').max === '16'")
    no_complaints(browser)


def test_editing_a_message():
    """A retry from a message has its text. Unchanged, the fork ends with the same card, else with another one."""
    box = turns(2, "e")
    for words, last in ((None, "e-1-user"), ("changed", None)):
        browser = show(box)
        await_version(browser, "Version 3 of 3")
        browser.wait("return document.querySelector('[data-card=e-1-user] [data-do=retry]')")
        browser.click("[data-card=e-1-user] [data-do=retry]")
        browser.wait("return document.querySelector('dialog[open] textarea')")
        old = browser.run("return document.querySelector('dialog textarea').value")
        assert old == send("GET", "cards/e-1-user")["content"]["text"], old
        assert " gets the first 2 cards of the box " in browser.texts("dialog[open] p")[0]
        if words:
            browser.run("document.querySelector('dialog textarea').value = ''")
            browser.type("dialog textarea", words)
        browser.click("[data-do=confirm]")
        browser.await_text("your agent reads What a model gets and appends the answer to this box.")
        made = browser.run("return document.querySelector('[data-fact=next] a').hash").split("/")[3]
        ids = send("GET", f"boxes/{made}")["card_ids"]
        assert len(ids) == 3 and ids[:2] == send("GET", f"boxes/{box}")["card_ids"][:2], ids
        assert ids[-1] == last or (last is None and send("GET", f"cards/{ids[-1]}")["content"]["text"] == words), ids
        no_complaints(browser)


def test_sealed():
    box = turns(2, "s")
    send("POST", f"boxes/{box}/seal", {})
    browser = show(box)
    await_version(browser, "Version 4 of 4 (now): sealed with 4 cards")
    assert browser.texts("[data-fact=sealed]") == ["sealed: it can never change"]
    assert browser.run("return document.querySelector('[data-do=append]').hidden")
    assert not browser.run("return document.querySelector('.added')")
    no_complaints(browser)


def test_the_task_of_a_box():
    """The box links to its task, with a badge for a router only."""
    for is_router in (True, False):
        made = send("POST", "abilities/task:spawn", {"goal": "answer", "router": is_router})["taskId"]
        send("POST", "cards", {"cards": [{**text(f"task-{is_router}", "user", "answer"),
                                          "metadata": {"role": "user", "task_id": made}}]})
        browser = show(make_box(f"task-{is_router}"))
        assert browser.wait("return document.querySelector('.facts a[href*=\"/task/\"]')?.hash").endswith(made)
        browser.wait("return performance.getEntriesByType('resource').some((one) => one.name.endsWith('ldg:task:get')"
                     " || one.name.endsWith('ldg%3Atask%3Aget'))")
        if is_router:
            browser.wait("return document.querySelector('[data-fact=router]')")
        else:
            assert not browser.texts("[data-fact=router]")
        no_complaints(browser)


def commands(browser):
    browser.run("document.querySelector('.commands').open = true")
    return browser.run("return [...document.querySelectorAll('.command pre')].map((one) => one.textContent)")


def run_shell(command, **env):
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=30, check=True,
                          env={"PATH": os.environ["PATH"], **env}).stdout


def test_commands():
    """They do in a shell what they say, whatever the project is called, and never have the token in them."""
    box = turns(2, "c")
    browser = show(box, version=2)
    await_version(browser, "Version 2 of 3")
    read, cards, context, forked = commands(browser)
    assert json.loads(run_shell(read)) == send("GET", f"boxes/{box}?at_version=2")
    assert len(json.loads(run_shell(cards))) == 3
    assert len(json.loads(run_shell(context))["messages"]) == 3
    assert json.loads(run_shell(forked))["length"] == 3
    assert not os.path.exists("/tmp/pwned")
    browser.run("sessionStorage.setItem('cardbox.token', 'secret-token')")
    browser.run("document.querySelectorAll('.mark')[2].click()")
    await_version(browser, "Version 3 of 3 (now)")
    appended = commands(browser)[3]
    assert "secret-token" not in browser.text() and "$CARDBOX_TOKEN" in appended
    browser.run("sessionStorage.removeItem('cardbox.token')")
    # A server that asks for no token ignores one.
    run_shell(appended, CARDBOX_TOKEN="anything")
    assert send("GET", f"boxes/{box}")["version"] == 4
    no_complaints(browser)


def test_changed_later():
    """A card that said something else at a version is marked there, also at the newest, and not after its change."""
    send("POST", "cards", {"cards": [text("fixed", "user", "before"), text("same", "user", "always")]})
    box = make_box("fixed")
    append(box, "same")
    time.sleep(0.01)
    send("POST", "cards", text("fixed", "user", "after"))
    time.sleep(0.01)
    append(box, "same")
    browser = show(box, version=2)
    browser.await_text("changed later")
    assert browser.run("return [...document.querySelectorAll('[data-fact=changed]')].map((one) => "
                       "one.closest('.card').dataset.card)") == ["fixed"]
    browser.run("document.querySelector('[title=\"one version on\"]').click()")
    await_version(browser, "Version 3 of 3 (now)")
    assert not browser.run("return document.querySelector('[data-fact=changed]')")
    no_complaints(browser)


# --- contexts ---


def put_context():
    """A box whose context needs repairs of several kinds."""
    call = lambda name, call_id: {"card_id": name, "type": "tool.call", "tool_call_id": call_id, "content": {
        "__type__": "ToolCallContent", "tool_name": "find", "arguments": {"q": name}, "status": "called"}}
    send("POST", "cards", {"cards": [
        text("who", "system", "be brief"), text("ask", "user", "Find the cause. Now."), text("think", "assistant", "I look"),
        call("call-1", "c1"), call("call-2", "c2"), text("late", "tool", "found", tool_call_id="c1"),
        text("wait", "user", "wait"), text("lost", "tool", "whose?", tool_call_id="c9"),
        {"card_id": "tools", "type": "sys.tools", "metadata": {"role": "system"}, "content": {
            "__type__": "ToolContent", "tools": [{"name": "find", "description": "finds <i>things</i>"}]}}]})
    return make_box("who", "tools", "lost", "ask", "think", "call-1", "call-2", "wait", "late")


def sources(browser):
    return browser.run("return [...document.querySelectorAll('[data-message]')].map((one) => "
                       "[...one.querySelectorAll('footer [data-source]')].map((link) => link.dataset.source))")


def test_contexts():
    """Each message links to its cards, repairs are marked where they are, and tools are shown."""
    box = put_context()
    browser = visit(f"/ui/#/{QUOTED}/boxes/{box}/context")
    browser.await_text("3 repairs, marked at their messages")
    assert sources(browser) == [["who"], ["ask"], ["think", "call-1", "call-2"], ["late"], [], ["wait"]]
    marks = browser.run("return [...document.querySelectorAll('main .cards [data-repair]')].map((one) => [one.dataset.repair,"
                        "one.closest('[data-message]')?.dataset.message ?? one.parentNode.dataset.before])")
    assert marks == [["orphan_result", "1"], ["moved_result", "3"], ["synthetic_result", "4"]], marks
    browser.await_texts("h1 a", ["Find the cause."])
    assert browser.texts("[data-part=tools] summary") == ["Tools, called: find 2 times"]
    browser.click("[data-part=tools] summary")
    browser.await_text("finds <i>things</i>")
    browser.run("document.querySelector('[data-source=late]').click()")
    browser.wait("return document.querySelector('#panel .fields')?.innerText.includes('late')")
    browser.click("[data-format=anthropic]")
    browser.wait("return document.querySelectorAll('[data-message]').length === 3")
    assert sources(browser) == [["ask"], ["think", "call-1", "call-2"], ["late", "wait"]]
    assert browser.texts(".role-system [data-source]") == ["who"]
    browser.click("[data-format=messages]")
    browser.wait("return document.querySelectorAll('[data-message]').length === 5")
    no_complaints(browser)


def copied(browser, selector):
    browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    browser.run("document.querySelector(arguments[0]).click()", selector)
    return browser.wait("return window.copied")


def test_copies():
    """What is copied is what the API has, as a whole and as one message; the command gets it again."""
    box = put_context()
    for form in ("openai", "anthropic", "messages", "entries"):
        browser = visit(f"/ui/#/{QUOTED}/boxes/{box}/context?format={form}")
        browser.wait("return document.querySelector('[data-message]')")
        answer = send("GET", f"boxes/{box}/context?format={form}")
        whole = json.loads(copied(browser, ".facts [data-do=copy]"))
        expected = {"system": answer["system"], "messages": answer["messages"]} if "system" in answer else answer["messages"]
        assert whole == expected, whole
        assert json.loads(copied(browser, "[data-message='1'] [data-do=copy]")) == answer["messages"][1]
        assert json.loads(run_shell(copied(browser, ".facts [data-do=copy] + [data-do=copy]"))) == answer
    no_complaints(browser)


def test_contexts_step():
    box = turns(3, "x")
    browser = visit(f"/ui/#/{QUOTED}/boxes/{box}/context?version=2")
    browser.wait("return document.querySelectorAll('[data-message]').length === 3")
    browser.type("body", RIGHT)
    browser.wait("return document.querySelectorAll('[data-message]').length === 4")
    browser.type("body", LEFT)
    browser.wait("return document.querySelectorAll('[data-message]').length === 3")
    no_complaints(browser)


# --- large boxes ---


def test_many_versions():
    """Thousands of versions: only those around the present one have marks and are loaded."""
    send("POST", "cards", {"cards": [text(f"m-{number}", "user", f"words {number}", f"turn {number}") for number in range(50)]})
    box = make_box("m-0")
    server_append = f"boxes/{box}/append"
    for number in range(1500):
        send("POST", server_append, {"card_ids": [f"m-{number % 50}"]})
    browser = show(fork(box))
    browser.wait("return document.querySelector('.slider')?.max === '1502'")
    browser.wait("return document.querySelectorAll('.timeline option').length > 50")
    assert browser.run("return document.querySelectorAll('.mark').length") == 120
    browser.run("const one = document.querySelector('.slider'); one.value = 700; one.dispatchEvent(new Event('input'))")
    await_version(browser, "Version 700 of 1501")
    assert ids_shown(browser)[-1] == "m-48"
    asked = browser.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert len([name for name in asked if "/log" in name]) < 40, len(asked)
    no_complaints(browser)


def test_when_narrow():
    browser = show(turns(3, "n"))
    browser.set_viewport(400, 800)
    await_version(browser, "Version 5 of 5")
    browser.run("document.querySelector('.commands').open = true")
    assert browser.run("return document.documentElement.scrollWidth <= 400")
    browser.click("[data-do=append]")
    browser.wait("return document.querySelector('dialog[open] textarea')")
    assert browser.run("const at = document.querySelector('dialog').getBoundingClientRect();"
                       "return at.left >= 0 && at.right <= 400 && at.bottom <= 800")
    browser = visit(f"/ui/#/{QUOTED}/boxes/{put_context()}/context")
    browser.wait("return document.querySelector('[data-message]')")
    assert browser.run("return document.documentElement.scrollWidth <= 400")
    no_complaints(browser)


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()

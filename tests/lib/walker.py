"""Walks through the inspector in a browser: opens each kind of page that links lead to, and clicks each kind of control
on it. Everything that is wrong anywhere becomes a line of `problems`, with the page and the control."""

import os
import re

import cardbox_test

WIDTHS = {400: 800, 1400: 900}  # and their heights
# With sanitizers, each width is looked at in one of the colour schemes.
SETTINGS = [(400, "light"), (1400, "dark"), (400, "dark"), (1400, "light")][:2 if cardbox_test.LIGHT else 4]
PAGES_MAX = 40  # of one walk
TYPED = "<img src=x onerror=document.pwned=1>"
ENTER, SHIFT, TAB, RIGHT, HOME = "\ue007", "\ue008", "\ue004", "\ue014", "\ue011"
TEXTS = ("text", "search", "password", "textarea", "url", "number")


def script():
    with open(os.path.join(cardbox_test.ROOT, "tests", "lib", "walker.js"), encoding="utf-8") as text:
        return text.read()


class Walker:
    tops = set()  # kinds of controls of the top, which is the same on all pages, that were clicked by any walker

    def __init__(self, browser, root, whole=False, follow=True, clicks=True):
        """Pages are checked at all SETTINGS; controls are clicked at one of them or, if `whole`, at all. Links are
        clicked only if `follow`; the pages that they lead to are opened anyway. Without `clicks` pages are only checked."""
        self.browser, self.root, self.whole, self.follow, self.clicks = browser, root, whole, follow, clicks
        self.problems = {}
        self.clicked = set()  # kinds of other controls
        self.pages = {}  # kind of page -> its hash
        browser.on_each_page(script())
        browser.open("about:blank")

    # --- one page ---

    def note(self, where, found):
        """A problem that differs from an earlier one only in ids and numbers is the same problem."""
        for one in found:
            kind = re.sub(r"[\da-f-]{8,}|\d+", "#", one)
            if kind not in self.problems:
                self.problems[kind] = f"{where}: {one}"
                print(self.problems[kind][:500], flush=True)

    def settle(self, where, typed=False):
        """Waits until the page is loaded. A text that was `typed` may name nothing on the server."""
        found = self.browser.run("return walk.idle().then(walk.check)")
        self.note(where, [one for one in found if not (typed and re.match("status (404|409|422) ", one))])

    def set(self, setting):
        self.browser.set_viewport(setting[0], WIDTHS[setting[0]])
        self.browser.set_colors(setting[1])

    def open(self, path):
        if self.browser.run("return location.pathname + location.hash") == path:
            self.browser.reload()
        else:
            self.browser.open(self.root + path)
        self.settle(path)

    def look(self, path):
        """Checks a page at all widths and in all colours."""
        self.open(path)
        for width, colors in SETTINGS:
            self.set((width, colors))
            self.note(f"{path} at {width} px, {colors}", self.browser.run("return walk.check()"))
        self.browser.type(".skip", TAB)
        self.note(path, self.browser.run("return walk.checkControls()"))

    # --- controls ---

    def use(self, control):
        """Does with a control what people do. Returns whether a text was typed."""
        browser, one = self.browser, "[data-walk]"
        kind, tag, type_ = control["kind"], control["tag"], control["type"]
        if tag in ("INPUT", "TEXTAREA") and type_ in TEXTS:
            browser.run("document.querySelector('[data-walk]').value = ''")
            browser.type(one, TYPED if "project" not in kind else "demo")
            if tag == "INPUT":
                browser.type(one, ENTER)
            return True
        if tag == "SELECT":
            for at in range(browser.run("return document.querySelector('[data-walk]').options.length")):
                if not browser.run("const one = document.querySelector('[data-walk]'); if (!one) return false;"
                                   "one.selectedIndex = arguments[0];"
                                   "one.dispatchEvent(new Event('input', { bubbles: true }));"
                                   "return one.dispatchEvent(new Event('change', { bubbles: true }))", at):
                    break
                self.settle(kind)
        elif control["skip"]:
            browser.type(one, ENTER)
        elif type_ == "range":
            browser.type(one, HOME)
            browser.type(one, RIGHT)
        else:
            browser.click(one)
        return False

    def mark(self, path, before, kind):
        """Whether the control is there; `before` are the controls that lead to it on a fresh page."""
        mark = "return walk.mark(...arguments)"
        if self.browser.run(mark, kind, path, bool(before)):
            return True
        self.open(path)
        for step in before:
            if not self.browser.run(mark, step, path, False):
                return False
            self.browser.click("[data-walk]")
            self.settle(f"{path} {step}")
        return self.browser.run(mark, kind, path, bool(before))

    def act(self, path, control, before=(), again=3):
        kind = control["kind"]
        where = f"{path} {' '.join([*before, kind])}"
        if not self.mark(path, before, kind):
            return
        try:
            typed = self.use(control)
        except AssertionError as error:
            if "no such element" in str(error) and again:  # the page has replaced the control
                self.act(path, control, before, again - 1)
            else:
                self.note(where, [str(error).split("\n", 1)[0]])
            return
        self.settle(where, typed or bool(before))
        if not before and self.browser.run("return Boolean(document.querySelector('dialog[open]'))"):
            self.browser.type("dialog[open] :is(button, input)", SHIFT)
            self.note(where, self.browser.run("return walk.checkControls()"))
            for inner in self.browser.run("return walk.controls()"):
                self.act(path, inner, (kind,))

    def click_all(self, path, mark=""):
        """Clicks each kind of control once in a walk, and those of the top once in all walks."""
        for control in self.browser.run("return walk.controls()"):
            key = mark + control["kind"]
            if not self.whole and re.search(r"^\S+ \S+ (a |button button copy)", key):
                key = key.split(" ", 2)[2]  # does the same in all views
            clicked = self.tops if control["kind"].startswith("top ") else self.clicked
            if key not in clicked and self.is_ours(control):
                clicked.add(key)
                self.act(path, control)

    def is_ours(self, control):
        """Links to other hosts and to files are not followed."""
        return control["tag"] != "A" or self.follow and re.fullmatch(re.escape(self.root) + r"/(ui/|docs)(#.*)?", control["href"])

    # --- all pages ---

    def walk(self, start, belongs=lambda kind: True):
        """From `start` to every kind of page that belongs to the walk, in the order of their distance."""
        queue, visited = [start], 0
        while queue and len(self.pages) < PAGES_MAX:
            path = queue.pop(0)
            self.look(path)
            for kind, link in self.browser.run("return walk.links()").items():
                if kind not in self.pages and belongs(kind):
                    self.pages[kind] = link
                    queue.append(f"/ui/{link}")
            visited += 1
            settings = SETTINGS if self.whole else SETTINGS[visited % len(SETTINGS):][:1]
            for setting in settings if self.clicks else ():
                self.set(setting)
                self.open(path)
                self.click_all(path, f"{setting} " if self.whole else "")
            self.note(path, [one for one in self.browser.complaints() if "the server responded with a status of 4" not in one])
            assert len(self.browser.windows()) == 1, f"{path} opened a window"

#!/usr/bin/env python3
"""The files of the pages /ui/ and /docs: how they are served, and what they may contain."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, once

WEB = os.path.join(cardbox_test.ROOT, "src", "web")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
POLICY = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
PLACES = {"index.html": "/ui/", "docs.html": "/docs"}


@once
def server():
    made = Server(Postgres.shared().database())
    made.await_ready()
    return made


def sources():
    """The pages: not the picture of README.md."""
    return sorted(name for name in os.listdir(WEB) if not name.startswith(".") and not name.endswith(".png"))


def place(name):
    return PLACES.get(name, f"/ui/{name}")


def read(name):
    with open(os.path.join(WEB, name), "rb") as text:
        return text.read()


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
        assert not re.search(r"(?<!:)//[a-z0-9-]+\.|https?:|@import|\burl\(", text), name


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
    modules = {name: read(name).decode() for name in sources() if name.endswith(".js")}
    program = ("for (const [name, text] of Object.entries(JSON.parse(require('fs').readFileSync(0))))"
               "  new (require('vm').SourceTextModule)(text, { identifier: name })")
    done = subprocess.run(["node", "--no-warnings", "--experimental-vm-modules", "-e", program],
                          input=json.dumps(modules).encode(), capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()


# --- colours ---

BACKGROUNDS = ("paper", "sheet", "accent-soft")
TEXTS = ("ink", "faint", "accent", "good", "bad", "warn", "system", "user", "assistant", "tool")
PAIRS = [*((text, under) for text in TEXTS for under in BACKGROUNDS), ("accent-ink", "accent"), ("good", "good-soft"),
         ("bad", "bad-soft"), ("warn", "note"), ("word", "note"), ("ink", "line"),
         *((text, "paper") for text in ("key", "string", "number", "word"))]


def luminance(color):
    digits = color[1:] if len(color) == 7 else "".join(2 * one for one in color[1:])
    parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colors_have_contrast():
    """As WCAG AA requires: 4.5 between a text and what is behind it, 3 between the edge of a field and what is around."""
    light, dark = re.findall(r":root \{(.*?)\}", read("base.css").decode(), re.S)
    for name, text in (("light", light), ("dark", dark)):
        colors = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", text))
        for pair in PAIRS:
            assert contrast(*(colors[one] for one in pair)) >= 4.5, (name, pair)
        for under in ("paper", "sheet"):
            assert contrast(colors["field"], colors[under]) >= 3, (name, under)


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()
